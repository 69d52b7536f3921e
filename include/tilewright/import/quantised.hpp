#pragma once
#include <tilewright/import/fixed_point.hpp>
#include <tilewright/import/windows.hpp>

// What a network of TensorFlow Lite says of the operands of a node, and results as it wants them.
namespace tilewright::imported::detail::tflite {

inline network::tensor const& tensor_of(lowering const& of, network::tensor_id id) { return of.from.tensors[static_cast<std::size_t>(id)]; }
inline network::tensor const& operand_tensor(lowering const& of, std::size_t at) {
    if (!of.has(at)) throw not_imported("operand " + std::to_string(at) + " is missing");
    return tensor_of(of, of.node->inputs[at]);
}
inline network::tensor const& result_tensor(lowering const& of, std::size_t at = 0) {
    if (!of.wants(at)) throw not_imported("result " + std::to_string(at) + " is missing");
    return tensor_of(of, of.node->outputs[at]);
}

/// One scale and zero point for all elements.
struct quantisation {
    float scale = 1;
    std::int64_t zero_point = 0;

    friend bool operator==(quantisation const&, quantisation const&) = default;
};
inline quantisation quantisation_of(network::tensor const& of) {
    if (!of.quantised || of.quantised->scales.empty()) throw not_imported("tensor " + network::shown(of.name) + " has no scale");
    if (of.quantised->scales.size() > 1) throw not_imported("tensor " + network::shown(of.name) + " has a scale for each channel");
    if (!(of.quantised->scales[0] > 0)) throw not_imported("tensor " + network::shown(of.name) + " has a scale of 0");
    return {of.quantised->scales[0], of.quantised->zero_points.empty() ? 0 : of.quantised->zero_points[0]};
}
inline quantisation operand_quantisation(lowering const& of, std::size_t at) { return quantisation_of(operand_tensor(of, at)); }
inline quantisation result_quantisation(lowering const& of, std::size_t at = 0) { return quantisation_of(result_tensor(of, at)); }

inline bool is_float32(network::tensor const& of) { return of.type == network::element_type::float32; }
inline bool is_int8(network::tensor const& of) { return of.type == network::element_type::int8; }
inline std::string type_text(network::tensor const& of) { return network::type_text(of.type, of.type_name); }
/// Whether a node computes floats; if not, it computes int8.
inline bool computes_floats(lowering const& of, std::initializer_list<std::size_t> operands) {
    network::tensor const& result = result_tensor(of);
    for (std::size_t const at : operands) {
        if (operand_tensor(of, at).type != result.type)
            throw not_imported("from " + type_text(operand_tensor(of, at)) + " to " + type_text(result));
    }
    if (!is_float32(result) && !is_int8(result)) throw not_imported("of elements of " + type_text(result));
    return is_float32(result);
}
/// An operator that moves elements does not rescale them.
inline void need_same_quantisation(lowering const& of, std::size_t operand, std::size_t result = 0) {
    network::tensor const &from = operand_tensor(of, operand), &to = result_tensor(of, result);
    if (from.type != to.type) throw not_imported("from " + type_text(from) + " to " + type_text(to));
    if (!is_int8(from)) return;
    bool const plain = (!from.quantised || from.quantised->scales.empty()) && (!to.quantised || to.quantised->scales.empty());
    if (!plain && !(quantisation_of(from) == quantisation_of(to)))
        throw not_imported("of tensors of different scales or zero points, which this operator does not rescale");
}

/// The fused activation of a node.
inline std::string activation_of(lowering const& of) { return word(of, "fused_activation_function", "NONE"); }
inline bounds result_bounds(lowering const& of) {
    quantisation const result = result_quantisation(of);
    return bounds_of(activation_of(of), result.scale, result.zero_point);
}
/// A float after an activation.
inline value activated(std::string const& activation, value const& x) {
    auto const from = [&](double low) { return larger_of(x, like(x, low)); };
    if (activation == "NONE") return x;
    if (activation == "RELU") return from(0);
    if (activation == "RELU6") return smaller_of(from(0), like(x, 6));
    if (activation == "RELU_N1_TO_1") return smaller_of(from(-1), like(x, 1));
    throw not_imported("activation " + activation);
}
/// Likewise, after the fused activation.
inline value activated(lowering const& of, value const& x) { return activated(activation_of(of), x); }

inline value in32(std::int64_t of) { return number(of, scalar_type::int32); }

/// `lowering::note_rescaling` of the fixed point that a layer has.
inline void note_rescaling(lowering& of, value const& channel, std::vector<fixed_scale> const& scales, quantisation const& out,
                           bounds const& within) {
    rescaling numbers{.low = within.low - out.zero_point, .high = within.high - out.zero_point, .zero_point = out.zero_point};
    for (fixed_scale const& one : scales) numbers.multipliers.push_back(one.multiplier), numbers.shifts.push_back(-one.shift);
    of.note_rescaling(channel, std::move(numbers));
}

/// Where a window stands along each of two dimensions, by SAME or VALID.
inline window window_over(lowering const& of, shape const& extents, shape const& kernel) {
    auto const by = [&](char const* name) { return limited(integer(of, name, 1), 1, most_extent, name); };
    for (std::int64_t const one : kernel) limited(one, 1, most_extent, "a filter");
    window made{.kernel = kernel,
                .strides = {by("stride_h"), by("stride_w")},
                .dilations = {by("dilation_h_factor"), by("dilation_w_factor")},
                .before = {0, 0},
                .after = {0, 0}};
    bool const same = word(of, "padding", "") == "SAME";
    for (std::size_t at = 0; at < 2; ++at) {
        std::int64_t const reach = (kernel[at] - 1) * made.dilations[at] + 1, stride = made.strides[at];
        std::int64_t const count = same ? (extents[at] + stride - 1) / stride : (extents[at] - reach + stride) / stride;
        if (count < 1) throw not_imported("a window that is larger than what it moves over");
        std::int64_t const all = same ? std::max<std::int64_t>(0, (count - 1) * stride + reach - extents[at]) : 0;
        made.before[at] = all / 2, made.after[at] = all - all / 2;
        made.result.push_back(count);
    }
    return made;
}

}  // namespace tilewright::imported::detail::tflite
