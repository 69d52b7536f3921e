#include <climits>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "halide/copying_host.hpp"

// What Halide would conclude from a value, and must not: that a minimum needs no more of its loop, that an axis or an argument is not
// needed because a value does not depend on it. Expected values come from plain loops.

using namespace tilewright;
using copying::host, copying::near;

namespace {

constexpr int rows = 4, columns = 16, others = 3;
constexpr axis x{"x", rows}, r{"r", columns}, q{"q", others}, f{"f"}, ro{"ro"}, ri{"ri"};
constexpr tensor<std::int32_t> A{"A"}, B{"B"}, C{"C"};
constexpr tensor<bool> M{"M"};

constexpr int a_values[rows] = {5, -3, 11, 0};
constexpr int b_value(int i, int j) { return (i * 7 + j * 5) % 9 - 2; }
constexpr bool m_value(int i) { return i % 2 == 0; }

/// The schedule is planned, and its kernel gives `expected` as it is, with every access checked, as code of this processor, and as the
/// algorithm without the plan.
void check(schedule const& s, std::vector<int> const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    std::vector<Halide::Buffer<>> inputs;
    for (int at = 0; at < plan->buffers.size(); ++at) {
        ir::buffer const& b = plan->buffers[at];
        if (b.kind != ir::buffer_kind::argument || b.written) continue;
        if (b.tensor == "A") {
            Halide::Buffer<int> a(rows);
            std::copy_n(a_values, rows, a.data());
            inputs.push_back(a);
        } else if (b.tensor == "B") {
            Halide::Buffer<int> matrix(columns, rows);
            for (int i = 0; i < rows; ++i) {
                for (int j = 0; j < columns; ++j) matrix(j, i) = b_value(i, j);
            }
            inputs.push_back(matrix);
        } else {
            Halide::Buffer<bool> m(rows);
            for (int i = 0; i < rows; ++i) m(i) = m_value(i);
            inputs.push_back(m);
        }
    }
    std::vector<std::vector<std::byte>> memories(static_cast<std::size_t>(ir::arguments_of(*plan).pool_count),
                                                 std::vector<std::byte>(64 * 1024));
    std::vector<void*> pools;
    for (auto& one : memories) pools.push_back(one.data());
    emulator on(host, {});
    auto const run = [&](char const* how, halide::jit_kernel&& kernel) {
        INFO(how);
        Halide::Buffer<int> result(rows);
        result.fill(1);
        kernel.run(inputs, result);
        CHECK(on.error() == "");
        CHECK(std::vector<int>(result.begin(), result.end()) == expected);
    };
    run("emulated", halide::jit_kernel(*plan, &on));
    on.check(*plan);
    run("checked", halide::jit_kernel(*plan, &on, true));
    on.stop_checking();
    run("native", halide::jit_kernel(*plan, pools));
    run("unplanned", halide::jit_kernel(*plan, nullptr));
}
/// The least, or the greatest, value of each row, in plain loops.
template <class Value>
std::vector<int> extremes(bool greatest, Value const& value) {
    std::vector<int> found;
    for (int i = 0; i < rows; ++i) {
        int best = greatest ? INT_MIN : INT_MAX;
        for (int j = 0; j < columns; ++j) best = greatest ? std::max(best, value(i, j)) : std::min(best, value(i, j));
        found.push_back(best);
    }
    return found;
}

}  // namespace

TEST_CASE("a minimum or maximum over an axis that its value moves with sees every step") {
    auto const least = C(x) = minimum(r, A(x) + r);
    auto const plus = extremes(false, [](int i, int j) { return a_values[i] + j; });
    check(schedule(least, host), plus);
    check(schedule(least, host).reorder(r, x).vectorize(x), plus);
    check(schedule(least, host).vectorize(r, 4), plus);
    check(schedule(least, host).unroll(r), plus);
    check(schedule(least, host).split(r, ro, ri, 5).cache_write(C, near).at(x), plus);
    auto const greatest_less = C(x) = maximum(r, A(x) - r);
    check(schedule(greatest_less, host), extremes(true, [](int i, int j) { return a_values[i] - j; }));
    auto const least_chosen = C(x) = minimum(r, select(A(x) < r, r, 100));
    check(schedule(least_chosen, host), extremes(false, [](int i, int j) { return a_values[i] < j ? j : 100; }));
    auto const greatest_twice = C(x) = maximum(r, 2 * r - A(x));
    check(schedule(greatest_twice, host), extremes(true, [](int i, int j) { return 2 * j - a_values[i]; }));
    auto const least_product = C(x) = minimum(r, (B(x, r) - r) * (A(x) - r));
    check(schedule(least_product, host), extremes(false, [](int i, int j) { return (b_value(i, j) - j) * (a_values[i] - j); }));
    auto const greatest_step = C(x) = maximum(r, r);
    check(schedule(greatest_step, host), extremes(true, [](int, int j) { return j; }));
}
TEST_CASE("a reduction repeats what does not move with its axis") {
    std::vector<int> repeated, continued, both;
    for (int a : a_values) {
        repeated.push_back(columns * a);
        continued.push_back(1 + columns * a);
        both.push_back(columns * others * a);
    }
    auto const sums = C(x) = sum(r, A(x));
    check(schedule(sums, host), repeated);
    check(schedule(sums, host).cache_write(C, near).at(x), repeated);
    check(schedule(sums, host).vectorize(r).cache_write(C, near).at(x), repeated);
    check(schedule(sums, host).unroll(r).cache_write(C, near).at(x), repeated);
    check(schedule(sums, host).reorder(r, x).cache_read(A, near).at(r), repeated);
    auto const more = C(x) = C(x) + sum(r, A(x));
    check(schedule(more, host).cache_write(C, near).at(x), continued);
    auto const sums_of_both = C(x) = sum(q, r, A(x));
    check(schedule(sums_of_both, host).vectorize(r).cache_read(A, near).at(q), both);
}
TEST_CASE("lanes of several axes, or of parts of one, are added up") {
    std::vector<int> sums, greatest;
    for (int i = 0; i < rows; ++i) {
        int sum = 0, most = INT_MIN;
        for (int j = 0; j < columns; ++j) {
            for (int k = 0; k < others; ++k) {
                int const value = b_value(i, j) * (k + j % 4) + j / 2;
                sum += value, most = std::max(most, value);
            }
        }
        sums.push_back(sum), greatest.push_back(most);
    }
    auto const value = B(x, r) * (q + r % 4) + r / 2;
    auto const total = C(x) = sum(q, r, value);
    check(schedule(total, host).vectorize(r), sums);
    check(schedule(total, host).fuse(q, r, f).vectorize(f), sums);
    check(schedule(total, host).vectorize(q).vectorize(r).cache_write(C, near).at(x), sums);
    auto const most = C(x) = maximum(q, r, value);
    check(schedule(most, host).fuse(q, r, f).vectorize(f), greatest);
}
TEST_CASE("an argument that a value does not depend on is still one") {
    std::vector<int> const zeros(rows, 0), as_given(std::begin(a_values), std::end(a_values));
    auto const nothing = C(x) = A(x) * 0;
    check(schedule(nothing, host), zeros);
    check(schedule(nothing, host).cache_read(A, near), zeros);
    auto const unchanged = C(x) = A(x) + B(x, 0) % 1;
    check(schedule(unchanged, host).cache_read(B, near), as_given);
    auto const chosen = C(x) = select(M(x) || !M(x), A(x), 7);
    check(schedule(chosen, host).cache_read(M, near), as_given);
}
TEST_CASE("a staged tensor of truth values has its border") {
    std::vector<int> expected;
    for (int i = 0; i < rows; ++i) expected.push_back(i == 0 || m_value(i - 1) ? a_values[i] : -1);
    auto const masked = C(x) = select(padded(M(x), true)(x - 1), A(x), -1);
    check(schedule(masked, host).cache_read(M, near), expected);
    check(schedule(masked, host).split(x, ro, ri, 2).cache_read(M, near).at(ro), expected);
}
