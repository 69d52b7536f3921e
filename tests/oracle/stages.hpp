#pragma once
#include "oracle.hpp"

/// The stages of a computation as plain lists.
namespace oracle {

/// An axis of a stage, from 0 to extent - 1.
struct loop {
    tilewright::ir::label name{};
    std::int64_t extent = 0;
};

/// constant + the sum of factor * axis; or a value, which is then all of it.
struct affine {
    int value = -1;  ///< the node; -1: none
    struct term {
        std::size_t loop = 0;
        std::int64_t factor = 0;
    };
    std::int64_t constant = 0;
    std::vector<term> terms;
};

/// An access of a stage's value.
struct read {
    int node = 0;
    tilewright::ir::label tensor{};
    std::vector<affine> indices;
    std::vector<std::int64_t> padded;  ///< the extents outside which the border stands; empty: none
};

/// target(axes of the target) = start, then one step of the reduction for all positions of the others
struct stage {
    int store = 0, target = 0;
    tilewright::ir::label output{};
    std::size_t rank = 0;
    std::vector<loop> loops;                                            ///< the target's, then the reduction's from outside to inside
    tilewright::operation reduction = tilewright::operation::constant;  ///< `constant`: none
    bool continues = false;                                             ///< starts from the contents of the target
    int body = 0, start = -1;
    std::vector<int> body_nodes, start_nodes;  ///< what is computed, in order; no indices
    std::vector<read> reads;

    bool reduces() const { return reduction != tilewright::operation::constant; }
};

/// @throws std::invalid_argument
std::vector<stage> stages_of(tilewright::computation_view what, std::vector<tilewright::axis_extent> const& extents);

}  // namespace oracle
