#pragma once
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/tensor.hpp>

namespace tilewright::kernel {

/// Softmax of every row of floats [rows][columns]: the largest of a row, the powers of e relative to it, their sum, and their quotients.
/// `largest`, `powers` and `total` need memories: store_in, and compute_at at `row` for one row at a time.
template <std::int64_t Rows, std::int64_t Columns>
struct softmax {
    static constexpr axis row{"row", Rows}, column{"column", Columns};
    // Rows of the other stages, by names of their own: `row` is the loop of the last one.
    static constexpr axis largest_row{"largest_row", Rows}, powers_row{"powers_row", Rows}, total_row{"total_row", Rows};
    static constexpr tensor<float> in{"in"}, largest{"largest"}, powers{"powers"}, total{"total"}, out{"out"};
    static constexpr auto what = stages(largest(largest_row) = maximum(column, in(largest_row, column)),
                                        powers(powers_row, column) = exp(in(powers_row, column) - largest(powers_row)),
                                        total(total_row) += powers(total_row, column), out(row, column) = powers(row, column) / total(row));
};

}  // namespace tilewright::kernel
