#include "kernels/halves.hpp"

#include <tilewright/emulate/semantics.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Tensors of float16 and bfloat16, in generated code with and without lanes, and by instructions and transfers that are emulated.

using namespace tilewright;
using namespace halves;

namespace {

template <class Half>
void check(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, emulated<unit<Half>>());
}
template <class Half>
void check_all() {
    check<Half>(on_unit<Half>);
    check<Half>(odd_on_unit<Half>);
    check<Half>(row_loaded<Half>);
    check<Half>(stage_kept<Half>);
    check<Half>(schedule(scaled<Half>, unit<Half>));
    check<Half>(schedule(scaled<Half>, unit<Half>).split(x, xo, xi, 16).vectorize(xi));
    check<Half>(schedule(signs<Half>, unit<Half>).split(x, xo, xi, 16).vectorize(xi));
}

constexpr axis all{"all", 65536}, outer{"outer"}, lane{"lane"};
constexpr tensor<float> F{"F"};

/// Of every number of 16 bits the float, and of that the number again; what is no number may become another one that is none.
template <class Half>
void check_every_number() {
    constexpr auto there = F(all) = cast<float>(A<Half>(all));
    constexpr auto back = D<Half>(all) = cast<Half>(F(all));
    constexpr auto less = D<Half>(all) = cast<Half>(F(all) * 0.75f);
    Halide::Buffer<std::uint16_t> numbers(65536), made(65536);
    Halide::Buffer<float> floats(65536);
    for (int at = 0; at < 65536; ++at) numbers(at) = static_cast<std::uint16_t>(at);
    auto const value = [&](Halide::Buffer<std::uint16_t> const& of, int at) { return float(std::bit_cast<Half>(of(at))); };
    for (int lanes : {1, 16}) {
        auto const run = [&](computation_view what, Halide::Buffer<> const& in, Halide::Buffer<> out) {
            schedule s(what, unit<Half>);
            if (lanes > 1) s.split(all, outer, lane, lanes).vectorize(lane);
            halide::jit_kernel kernel(make_plan(s), &emulated<unit<Half>>());
            kernel.run({in}, out);
        };
        int wrong = 0;
        run(there.view(), numbers, floats);
        for (int at = 0; at < 65536; ++at)
            wrong += std::isnan(floats(at)) ? !std::isnan(value(numbers, at)) : floats(at) != value(numbers, at);
        run(back.view(), floats, made);
        for (int at = 0; at < 65536; ++at) wrong += std::isnan(floats(at)) ? !std::isnan(value(made, at)) : made(at) != at;
        run(less.view(), floats, made);
        for (int at = 0; at < 65536; ++at)
            wrong += std::isnan(floats(at)) ? !std::isnan(value(made, at)) : made(at) != Half(floats(at) * 0.75f).bits;
        INFO(lanes << " lanes");
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("kernels with tensors of float16") { check_all<float16>(); }
TEST_CASE("kernels with tensors of bfloat16") { check_all<bfloat16>(); }
TEST_CASE("every number of 16 bits is converted in generated code as it is in C++") {
    check_every_number<float16>();
    check_every_number<bfloat16>();
}
