#include <bit>
#include <cmath>
#include <limits>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>

#include "compiled.hpp"

// Zeros of two signs, infinities and what is no number, in C as everywhere: see tests/kernels/floats.cpp.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, near{.name = "near", .base = 64, .capacity = 4_KiB};
constexpr auto load = transfer("load", dram, near);
constexpr auto where = machine("where", dram, near, load);
constexpr axis x{"x", 64}, k{"k", 4};
constexpr tensor<float> A{"A"}, B{"B"}, C{"C"}, T{"T"};
constexpr tensor<std::int8_t> E{"E"};
constexpr float none = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
constexpr float values[8] = {-0.0f, 0.0f, none, -1.5f, 2.5f, infinite, -infinite, 1e-40f};

bool same(float one, float other) {
    return (std::isnan(one) && std::isnan(other)) || std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other);
}

/// Compiles a kernel in lanes and as scalars; `expected(first, second)` of every pair of values, or of row `at` of a table.
template <class T, class Expected>
void check_in_c(computation_view what, Expected const& expected) {
    for (bool in_lanes : {false, true}) {
        schedule s(what, where);
        if (in_lanes) s.vectorize(x, 8);
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
        REQUIRE(!plan->refusal);
        kernels::operand_data data = kernels::random_operands(*plan, 1);
        for (std::size_t which = 0; which < data.inputs.size(); ++which) {
            auto* const elements = static_cast<float*>(data.inputs[which].data());
            for (std::size_t at = 0; at < data.inputs[which].number_of_elements(); ++at)
                elements[at] = values[which == 0 ? (at / 8 + at / 64) % 8 : at % 8];
        }
        for (c_kernels::compiler const& with : c_kernels::compilers) {
            c_kernels::c_kernel const kernel(s, *plan, emulated<where>(), with);
            INFO(with.name << "\n" << kernel.text().source);
            Halide::Buffer<> result = data.output.copy();
            CHECK(kernel.run(*plan, data, result, {}) == 0);
            int wrong = 0;
            for (int at = 0; at < 64; ++at) {
                auto const wanted = expected(data, at);
                auto const made = static_cast<T const*>(result.data())[at];
                wrong += same(static_cast<float>(made), static_cast<float>(wanted)) ? 0 : 1;
            }
            CHECK(wrong == 0);
        }
    }
}

}  // namespace

TEST_CASE("floats that differ between processors have one value in C", "[long]") {
    auto const a = [](kernels::operand_data const& d, int at) { return d.in<float>(0)[at]; };
    auto const b = [](kernels::operand_data const& d, int at) { return d.in<float>(1)[at]; };
    constexpr auto least = C(x) = min(A(x), B(x));
    check_in_c<float>(least.view(), [&](auto const& d, int at) { return b(d, at) < a(d, at) ? b(d, at) : a(d, at); });
    constexpr auto most = C(x) = max(A(x), B(x));
    check_in_c<float>(most.view(), [&](auto const& d, int at) { return a(d, at) < b(d, at) ? b(d, at) : a(d, at); });
    constexpr auto chosen = C(x) = select(A(x) != B(x), select(A(x) <= B(x), 1.0f, cast<float>(2.0f)), select(!(A(x) < 1.0f), A(x), B(x)));
    check_in_c<float>(chosen.view(), [&](auto const& d, int at) {
        float const one = a(d, at), other = b(d, at);
        return one != other ? (one <= other ? 1.0f : 2.0f) : !(one < 1.0f) ? one : other;
    });
    constexpr auto zeros = C(x) = max(A(x) - -0.0f, 0.0f);
    check_in_c<float>(zeros.view(), [&](auto const& d, int at) { return a(d, at) < 0.0f ? 0.0f : a(d, at) + 0.0f; });
    constexpr auto reduced = C(x) = maximum(k, T(k, x));
    check_in_c<float>(reduced.view(), [&](auto const& d, int at) {
        float all = -infinite;
        for (int row = 0; row < 4; ++row) all = all < a(d, 64 * row + at) ? a(d, 64 * row + at) : all;
        return all;
    });
    constexpr auto bytes = E(x) = saturating_cast<std::int8_t>(A(x));
    check_in_c<std::int8_t>(bytes.view(), [&](auto const& d, int at) {
        float const v = a(d, at);
        return std::isnan(v) || v < -128 ? -128 : v > 127 ? 127 : static_cast<int>(v);
    });
    // exp of what is no number, of infinities and of zeros; what is between is as in the object.
    constexpr auto power = C(x) = exp(select(A(x) == 2.5f || A(x) == -1.5f, cast<float>(0.0f), A(x)));
    check_in_c<float>(power.view(), [&](auto const& d, int at) {
        float const v = a(d, at);
        return std::isnan(v) ? v : v == infinite ? infinite : v == -infinite ? 0.0f : 1.0f;
    });
}
