#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/compute/functions.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"

// A kernel has one C source, whatever was generated before it in the same process.

using namespace tilewright;

TEST_CASE("C source is the same bytes however often and in whatever order kernels are generated") {
    constexpr memory dram{.name = "dram"}, near{.name = "near", .capacity = 64_KiB};
    constexpr core cpu{.name = "cpu"};
    constexpr auto copy = transfer("copy", dram, near).on(cpu), back = transfer("back", near, dram).on(cpu);
    static constexpr auto host = machine("host", dram, near, cpu, copy, back);
    constexpr axis x{"x", 20}, y{"y", 13}, r{"r", 3}, t{"t", 8}, f{"f"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"};
    constexpr tensor<std::int32_t> A{"A"}, B{"B"}, C{"C"};
    constexpr tensor<std::int8_t> Q{"Q"};
    auto const bordered = C(x, y) = sum(r, t, padded(A(x, y), 1)(x + r - 1, y + t - 3) * B(r, t));
    auto const divided = Q(x, y) = saturating_cast<std::int8_t>((A(x, y) * B(x, y) + 5) / 7 + (A(x, y) * B(x, y) + 5) % 9);
    auto const greatest = C(x, y) = maximum(r, t, A(x, 2 * y + r) * (r + t % 4) + t / 2);
    std::vector<schedule> const kernels{
        schedule(bordered, host).tile(x, y, xo, yo, xi, yi, 8, 4).cache_read(A, near).at(yo).cache_write(C, near).at(yo),
        schedule(divided, host).tile(x, y, xo, yo, xi, yi, 8, 4).unroll(yi).cache_read(A, near).at(yo),
        schedule(greatest, host).split(y, yo, yi, 4).vectorize(yi).unroll(r),
        schedule(greatest, host).fuse(r, t, f).vectorize(f),
    };
    std::map<std::size_t, std::string> first;
    auto const generate = [&](std::size_t at) {
        INFO("kernel " << at);
        auto const plan = std::make_unique<plan_value>(make_plan(kernels[at]));
        INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
        REQUIRE(!plan->refusal);
        std::string const source = halide::c_source(kernels[at], *plan, {.name = "kernel", .to = halide::binding::emulated}).source;
        CHECK(first.try_emplace(at, source).first->second == source);
    };
    for (int time = 0; time < 2; ++time) {
        for (std::size_t at = 0; at < kernels.size(); ++at) generate(at);
        for (std::size_t at = kernels.size(); at-- > 0;) generate(at);
        // Halide counts the names that it gives: so many that they have another length.
        for (int name = 0; name < 100; ++name) Halide::Internal::unique_name('t');
    }
}
