#pragma once
#include <utility>

#include "catch.hpp"
#include "oracle/oracle.hpp"

/// Puts a question to the oracle in few words: operands are lists of numbers in the order in which the computation reads them.
namespace oracle {

template <class T, class Computation>
std::vector<T> elements_of(Computation const& what, std::vector<std::vector<T>> const& inputs,
                           std::vector<parameter_value> const& parameters = {}, std::vector<tilewright::axis_extent> const& extents = {}) {
    std::vector<tensor_box> const boxes = inputs_of(what.view(), extents);
    REQUIRE(boxes.size() == inputs.size());
    std::vector<operand> operands;
    for (std::size_t at = 0; at < boxes.size(); ++at) {
        REQUIRE(boxes[at].elements() == static_cast<std::int64_t>(inputs[at].size()));
        operands.emplace_back(boxes[at], inputs[at].data());
    }
    result const made = evaluate(what.view(), operands, parameters, extents);
    CHECK(made.is_defined());
    return {made.as<T>(), made.as<T>() + made.box.elements()};
}

}  // namespace oracle
