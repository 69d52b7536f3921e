#pragma once
#include <tilewright/base/label.hpp>
#include <tilewright/base/positions.hpp>
#include <tilewright/plan/ir/linear.hpp>

// Loops, and other numbers that indices are linear in.
namespace tilewright::ir {

enum class variable_kind : std::uint8_t {
    loop,       // a loop of the program or of a tile body
    component,  // (fused / divisor) % modulus of a fused loop
    lane,       // the part of a tensorized loop that one step of the intrinsic covers
    extent,     // of an axis, as run time decides; `extent` is the most that it can be
    count,      // of tiles, fused / divisor, which follows from such an extent; likewise
    element,    // an index that an expression of the computation gives: any number from 0 to extent - 1, by the element of a padded tensor
};

/// Something that indices are linear in.
struct variable {
    label name{};
    std::int64_t extent = 1;
    variable_kind kind = variable_kind::loop;
    bool reduction = false;
    bool unrolled = false;
    bool vectorized = false;
    bool parallel = false;     ///< its iterations run on several threads
    bool distributed = false;  ///< its iterations are the shares of the cores: each core runs one of them
    variable_id trips =
        no_variable;             ///< loop: the extent or count that it runs over at run time, `extent` being the most; -1: always `extent`
    std::int16_t first_of = -1;  ///< loop: the ring whose first steps it counts; at run time there may be fewer of them
    affine fused{};  ///< component: the value of the fused loop; count: the extent that has the tiles, plus a tile less one element
    std::int64_t divisor = 1;
    std::int64_t modulus = 0;  ///< 0: none
    node_id value = no_node;   ///< element: the expression
};

}  // namespace tilewright::ir
