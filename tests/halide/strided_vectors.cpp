#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "guarded.hpp"
#include "halide/copying_host.hpp"

// Vectors read with strides read what they take, and nothing beside it: operands and memories lie between pages that cannot be touched.

using namespace tilewright;
using copying::host, copying::near;

namespace {

constexpr int length = 20;
constexpr axis x{"x", length}, xo{"xo"}, xi{"xi"};

enum class binding : std::uint8_t { native, emulated, checked };

/// out[x] = in[step * x + first], where `in` has the elements from the lowest index that is read to the highest one, and no more.
template <class T>
void check(int step, int first, int lanes, bool staged, guarded::side at, binding to) {
    INFO(step << " x + " << first << " by " << lanes << ", staged " << staged << ", binding " << static_cast<int>(to));
    constexpr tensor<T> in{"in"}, out{"out"};
    auto const read = out(x) = in(step * x + first);
    schedule s(read, host);
    s.split(x, xo, xi, lanes).vectorize(xi);
    if (staged) s.cache_read(in, near).at(xo);
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    int const reach = std::abs(step) * (length - 1) + 1, lowest = step < 0 ? first + step * (length - 1) : first;
    guarded::array<T> const given(static_cast<std::size_t>(reach), at), made(length, at);
    for (int i = 0; i < reach; ++i) given[i] = static_cast<T>(i * 7 + 3);

    std::vector<guarded::array<std::byte>> pools;
    std::vector<void*> addresses;
    for (int pool = 0; pool < ir::arguments_of(*plan).pool_count; ++pool) {
        pools.emplace_back(static_cast<std::size_t>(plan->peak(near).value), at);
        addresses.push_back(pools.back().data());
    }
    emulator on(host, {});
    halide::jit_kernel kernel = to == binding::native ? halide::jit_kernel(*plan, addresses)  //
                                                      : halide::jit_kernel(*plan, &on, to == binding::checked);
    Halide::Buffer<> from(Halide::type_of<T>(), given.data(), {reach}), into(Halide::type_of<T>(), made.data(), {length});
    from.raw_buffer()->dim[0].min = lowest;
    if (to == binding::checked) on.check(*plan);
    kernel.run({from}, into);
    CHECK(on.error() == "");
    int wrong = 0;
    for (int i = 0; i < length; ++i) wrong += made[i] != given[step * i + first - lowest] ? 1 : 0;
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("vectors with strides touch nothing in front of their first element, and nothing after their last one") {
    for (guarded::side const at : {guarded::side::beginning, guarded::side::end}) {
        for (int step : {1, 2, 3, 4, 5, -1, -2, -3, -4}) check<std::int32_t>(step, std::abs(step) - 1, 8, false, at, binding::native);
        for (int step : {2, 3, 4, -2}) {
            check<std::int8_t>(step, 1, 20, false, at, binding::native);
            check<std::int32_t>(step, 0, 4, true, at, binding::native);
        }
        // Lanes that are no power of two, more of them than a vector has, and elements of 2 and 8 bytes.
        check<std::int16_t>(2, 1, 5, true, at, binding::native);
        check<double>(3, 2, 10, true, at, binding::native);
        check<float>(4, 3, 2, false, at, binding::native);
        check<bool>(2, 1, 10, false, at, binding::native);
        check<std::int32_t>(3, 2, 10, true, at, binding::emulated);
        check<std::int32_t>(4, 3, 5, false, at, binding::checked);
    }
}

namespace {

/// The indices of the loads and stores in a statement.
struct indices : Halide::Internal::IRVisitor {
    using IRVisitor::visit;
    std::vector<std::string> found;
    void visit(Halide::Internal::Load const* op) override { add(op->index); }
    void visit(Halide::Internal::Store const* op) override { IRVisitor::visit(op), add(op->index); }
    void add(Halide::Expr const& index) {
        std::ostringstream text;
        text << index;
        found.push_back(text.str());
    }
};

/// Of `to[first + stride * lane] = from[first + stride * lane]` for 8 lanes, after the pass.
std::vector<std::string> indices_of(Halide::Expr const& first, int stride) {
    using namespace Halide::Internal;
    Halide::Expr const index = Ramp::make(first, stride, 8);
    Halide::Expr const load = Load::make(Halide::Int(32, 8), "from", index, {}, {}, const_true(8), {});
    indices all;
    halide::strided_vectors(Halide::Target("x86-64-linux-avx2")).mutate(Store::make("to", load, index, {}, const_true(8), {})).accept(&all);
    return all.found;
}

}  // namespace

TEST_CASE("a load with a stride is as many dense ones as its elements reach over, and the last one ends with them") {
    Halide::Expr const b = Halide::Internal::Variable::make(Halide::Int(32), "b");
    CHECK(indices_of(b, 2) == std::vector<std::string>{"ramp(b, 1, 8)", "ramp(b + 7, 1, 8)", "ramp(b, 2, 8)"});
    CHECK(indices_of(b, 3) == std::vector<std::string>{"ramp(b, 1, 8)", "ramp(b + 8, 1, 8)", "ramp(b + 14, 1, 8)", "ramp(b, 3, 8)"});
    CHECK(indices_of(b, 5) == std::vector<std::string>{"ramp(b, 5, 8)", "ramp(b, 5, 8)"});
}
TEST_CASE("vectors that run backwards are turned round, so that LLVM is told where they are") {
    CHECK(indices_of(7, -1) == std::vector<std::string>{"ramp(0, 1, 8)", "ramp(0, 1, 8)"});
    CHECK(indices_of(35, -5) == std::vector<std::string>{"ramp(0, 5, 8)", "ramp(0, 5, 8)"});
}
