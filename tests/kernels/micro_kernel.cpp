#include "kernels/micro_kernel.hpp"

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/systolic.hpp"

// Instructions that cover up to so many elements: the last step covers what is left, and touches nothing beyond.

using namespace tilewright;

namespace {

/// The sums in the order of k, as a C programmer writes them.
void product(kernels::operand_data const& d, int rows, int columns, int depth) {
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            float sum = 0;
            for (int l = 0; l < depth; ++l) sum += d.in<float>(0)[i * depth + l] * d.in<float>(1)[l * columns + j];
            d.out<float>()[i * columns + j] = sum;
        }
    }
}

}  // namespace

TEST_CASE("a micro kernel of 6 x 16 sums on the caller's matrices") {
    auto const by_hand = [](kernels::operand_data const& d) { product(d, 75, 53, 85); };
    kernels::check_kernel(plan<micro_kernel::whole_reductions>, emulated<micro_kernel::cpu>(), by_hand);
    kernels::check_kernel(plan<micro_kernel::blocked>, emulated<micro_kernel::cpu>(), by_hand);
    kernels::check_kernel(plan<micro_kernel::apart>, emulated<micro_kernel::cpu>(), by_hand);
    // 2 x 4 blocks of 4 x 2 steps, the last of which are left out where there is nothing: 13 rows of steps, 4 columns, no loop over k.
    static_assert(plan<micro_kernel::whole_reductions>.calls(micro_kernel::first_product) == 13 * 4);
    static_assert(plan<micro_kernel::whole_reductions>.calls(micro_kernel::next_product) == 0);
}
TEST_CASE("what a step covers has no room but what there is") {
    // A tile of B has 32 columns, and none is made for the 11 that a last step of 16 would reach beyond 53.
    constexpr plan_value const& made = plan<micro_kernel::whole_reductions>;
    CHECK(made.buffers[0].extents[0] == 75);
    CHECK(made.peak(micro_kernel::panels) == 85 * 32 * 4);
}
TEST_CASE("a micro kernel at extents that are left to run time") {
    constexpr plan_value const& open = plan<micro_kernel::open_blocked>;
    kernels::compiled_kernel kernel(open, emulated<micro_kernel::cpu>());
    for (auto const& [rows, columns, depth] : {std::array{75, 53, 85}, {1, 1, 1}, {6, 16, 32}, {20, 40, 33}, {7, 41, 31}}) {
        auto const at = std::make_unique<plan_value>(open.at({{"open_m", rows}, {"open_n", columns}, {"open_k", depth}}));
        kernels::operand_data const made = kernel.check(*at);
        kernels::operand_data const by_hand = kernels::random_operands(*at, 17);
        product(by_hand, rows, columns, depth);
        CHECK(kernels::same_bits(made.output, by_hand.output));
    }
}
