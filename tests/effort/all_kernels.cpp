#include "kernels/features.hpp"
#include "kernels/schedules.hpp"

// Every kernel of the tests, planned in the compiler. clang stops after as many steps as the test allows for one plan.

template <auto const&... Schedules>
constexpr bool all_planned = ((tilewright::plan<Schedules>.cycles() > 0) && ...);

namespace kernels {
static_assert(all_planned<matmul_nn_on_dsp, matmul_nt_on_dsp, matmul_tn_on_dsp, matmul_tt_on_dsp, matmul_continuing_on_dsp, conv1d_on_dsp,
                          conv2d_on_dsp, blur_on_dsp, blur_in_turn, row_max_on_dsp, row_min_on_dsp, outer_product_on_dsp,
                          contraction_on_dsp, select_on_dsp>);
}
namespace features {
static_assert(
    all_planned<matmul_by_dots, matmul_by_mac, conv_by_mac, matmul_by_fma, widened_by_dma, transposed_by_dma, constant_by_dma,
                scaled_on_core, neighbours_on_core, sum_all_on_core, rank_six_on_core, wrapped_on_core, divided_on_core, chain_on_core>);
}
