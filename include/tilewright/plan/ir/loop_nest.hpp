#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

// The loops of a stage, as directives make them.
namespace tilewright::detail {

using namespace ir;

/// A loop of a stage while directives are applied: a leaf is a loop of the nest, others were split or fused.
struct nest_axis {
    enum class role : std::uint8_t { leaf, split, fused };

    label name{};
    std::int64_t extent = 1;
    role is = role::leaf;
    bool reduction = false;
    bool unrolled = false;
    bool vectorized = false;
    bool parallel = false;
    bool distributed = false;         ///< each core runs one iteration
    std::int16_t marked_ordinal = 0;  ///< the directive that unrolls, vectorizes or distributes it, or makes it parallel
    std::int64_t lane_extent = 0;     ///< of a tensorized loop: elements that one step covers
    bool flexible = false;            ///< likewise: at most; the last step covers what is left
    std::int16_t outer = -1;          ///< split: the two parts; fused: the fused axis
    std::int16_t inner = -1;
    std::int64_t factor = 1;             ///< split: extent of the inner part; fused: divisor
    std::int64_t modulus = 0;            ///< fused: 0 for the outer of the two
    variable_id variable = no_variable;  ///< leaf and fused component, once the nest is complete
    variable_id lane = no_variable;
    variable_id trips = no_variable;  ///< the variable that gives its extent at run time, `extent` being the most; -1: always `extent`
};

/// The loops of one stage.
struct nest {
    static constexpr int most = 28;

    part_pool<nest_axis, most> axes{};
    fixed_array<std::int16_t, body::most_loops> order{};  ///< the leaves, outermost first
    int depth = 0;
    std::int16_t intrinsic = -1;
    std::int16_t intrinsic_ordinal = 0;
    fixed_array<std::int16_t, max_rank> covered{};  ///< tensorized axes, in the order they were named
    int covered_count = 0;
    bool partial = false;  ///< a tile or a step of its intrinsic does not divide its extent

    constexpr nest_axis& axis_of_loop(int position) { return axes.slots[order.elements[position]].part; }
    constexpr nest_axis const& axis_of_loop(int position) const { return axes.slots[order.elements[position]].part; }
    constexpr int position_of(label const& name) const {
        for (int position = 0; position < depth; ++position) {
            nest_axis const& a = axes.slots[order.elements[position]].part;
            if (a.name.words.elements[0] == name.words.elements[0] && a.name == name) return position;
        }
        return -1;
    }
};

}  // namespace tilewright::detail
