#pragma once
#include <Halide.h>

#include <stdexcept>

#include "oracle/oracle.hpp"

/// Questions to the oracle about Halide's buffers, whose first dimension is the contiguous one: the oracle's last.
namespace oracle {

inline tilewright::scalar_type type_of(Halide::Type const& type) {
    using enum tilewright::scalar_type;
    for (tilewright::scalar_type one : {int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64}) {
        bool const same = type.is_float() ? is_float(one) : !is_float(one) && type.is_uint() == is_unsigned(one);
        if (type.bits() > 1 && same && type.bits() == 8 * tilewright::bytes_of(one)) return one;
    }
    if (type.is_bool()) return boolean;
    throw std::invalid_argument("no type of the language");
}

/// @param type  of the language: what has 16 bits may be bits of a float
inline operand operand_of(tilewright::ir::label const& name, Halide::Buffer<> const& buffer, tilewright::scalar_type type) {
    if (type_of(buffer.type()) != as_generated(type)) throw std::invalid_argument("a buffer has another type than its tensor");
    tensor_box box{name, type, buffer.dimensions(), {}, {}};
    std::array<std::int64_t, most_dimensions> strides{};
    for (int d = 0; d < box.rank; ++d) {
        auto const& dimension = buffer.dim(box.rank - 1 - d);
        auto const at = static_cast<std::size_t>(d);
        box.minimum[at] = dimension.min();
        box.extents[at] = dimension.extent();
        strides[at] = dimension.stride();
    }
    return {box, buffer.data(), strides};
}

/// @param inputs      in the order in which the computation reads them
/// @param contents    of the result, from which it may continue
/// @param parameters  in the order in which they appear
inline result evaluate(tilewright::computation_view what, std::vector<Halide::Buffer<>> const& inputs, Halide::Buffer<> const& contents,
                       std::vector<double> const& parameters = {}, std::vector<tilewright::axis_extent> const& extents = {},
                       manner const& how = {}) {
    std::vector<tensor_box> const boxes = inputs_of(what, extents);
    if (boxes.size() != inputs.size()) throw std::invalid_argument("another number of inputs is read");
    std::vector<operand> operands;
    for (std::size_t at = 0; at < boxes.size(); ++at) operands.push_back(operand_of(boxes[at].name, inputs[at], boxes[at].type));
    tensor_box const made = output_of(what, extents);
    operands.push_back(operand_of(made.name, contents, made.type));
    std::vector<parameter_value> values = parameters_of(what);
    for (std::size_t at = 0; at < values.size(); ++at) {
        double const given = parameters.at(at);
        values[at] =
            tilewright::visit_scalar(values[at].type, [&]<class T>(T) { return parameter_value(values[at].name, static_cast<T>(given)); });
    }
    return evaluate(what, operands, values, extents, how);
}

}  // namespace oracle
