#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

// What configurations must be set to when transfers and intrinsics are called.
namespace tilewright::ir {

/// One value of a setting at one call. If it differs where tiles end early, each call must be set up by itself.
struct required_value {
    setting_value value{};
    bool varies = false;
};

/// A stride of a buffer in bytes, or elements, times `factor`.
constexpr setting_value stride_value(plan_value const& plan, buffer_id buffer_at, int dimension, std::int64_t factor, std::int64_t unit) {
    if (buffer_at < 0 || dimension < 0) return {};
    buffer const& b = plan.buffers[buffer_at];
    unit = unit < 1 ? 1 : unit;
    if (b.kind != buffer_kind::argument || dimension == b.rank - 1) return {b.stride(dimension) * factor / unit};
    return {factor, unit, buffer_at, static_cast<std::int16_t>(dimension)};
}

/// The border that a call writes at one end of one of its dimensions, -1 for the row; none if the call has no such dimension.
constexpr required_value pad_of(plan_value const& plan, movement const& m, int dimension, bool begins) {
    required_value found{};
    bool shortened = false;
    for (int at = m.first_clip; at < m.first_clip + m.clip_count && dimension >= -1; ++at) {
        clip const& c = plan.clips[at];
        if (c.dimension != dimension) continue;
        shortened |= shortens(c.is);
        if (c.is != (begins ? clip_kind::border_begin : clip_kind::border_end)) continue;
        std::int64_t const extent = dimension < 0 ? m.row_elements : m.dimensions[dimension].extent;
        std::int64_t const inside = c.bound - c.form.constant, pad = begins ? inside : extent - inside;
        if (pad > found.value.number) found.value.number = pad;
        found.varies |= c.form.count > 0;
    }
    found.varies |= shortened && found.value.number > 0;
    return found;
}
/// A constant as an argument of a C function: for floating point, its bits.
constexpr std::int64_t argument_bits(node const& constant) {
    double const value = __builtin_bit_cast(double, constant.value);
    if (constant.type == scalar_type::float32) return __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
    return constant.value;
}

constexpr required_value required_of(plan_value const& plan, movement const& m, call_argument const& a) {
    auto const clipped = [&](int position) {
        bool found = false;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan.clips[at];
            found |= shortens(c.is) && (position == -2 || c.dimension == position);
        }
        return found;
    };
    std::int64_t const size = bytes_of(plan.buffers[m.destination].type), unit = a.value < 1 ? 1 : a.value;
    int const position = m.dimension_count - a.dimension;
    bool const present = a.dimension >= 1 && position >= 0;
    movement_dimension const d = present ? m.dimensions[position] : movement_dimension{};
    switch (a.is) {
        case role::literal: return {{a.value}};
        case role::bytes: return {{m.bytes / unit}, clipped(-2)};
        case role::row_bytes: return {{m.row_elements * size / unit}, clipped(-1)};
        case role::element_bytes: return {{size}};
        case role::extent:
            if (a.dimension == 0) return {{m.row_elements}, clipped(-1)};
            return present ? required_value{{d.extent}, clipped(position)} : required_value{{1}};
        case role::source_stride:
            if (!present || m.source < 0) return {};
            return {stride_value(plan, m.source, d.source_dimension, d.source_factor * bytes_of(plan.buffers[m.source].type), unit)};
        case role::pad_before:
        case role::pad_after: return pad_of(plan, m, a.dimension == 0 ? -1 : present ? position : -2, a.is == role::pad_before);
        case role::pad_value: return {{m.border < 0 ? 0 : argument_bits(plan.what[m.border])}};
        case role::destination_stride:
            return present ? required_value{stride_value(plan, m.destination, d.destination_dimension, d.destination_factor * size, unit)}
                           : required_value{};
        default: return {{}, true};
    }
}
/// One of the forms of a body's intrinsic.
struct intrinsic_form {
    std::int16_t intrinsic = -1;
    std::int16_t operands = -1;  ///< see `body`
    std::int16_t extents = 0;
    std::int16_t extent_count = 0;
};
constexpr intrinsic_form form_of_rest(body const& b) { return {b.intrinsic, b.operands, b.extents, b.extent_count}; }
constexpr intrinsic_form form_of_first(body const& b) {
    return {b.first_intrinsic, b.first_operands, b.first_extents, b.first_extent_count};
}

constexpr required_value required_of(plan_value const& plan, intrinsic_form const& call, call_argument const& a) {
    if (a.is == role::literal) return {{a.value}};
    if (a.is == role::stride) {
        operand_use const& o = plan.operands[call.operands + a.operand];
        int const d = a.dimension;
        return {stride_value(plan, o.buffer, o.dimension[d], o.factor[d], a.value)};
    }
    required_value found{{}, a.is != role::covered};
    for (int at = call.extents; at < call.extents + call.extent_count; ++at) {
        step_extent const& e = plan.step_extents[at];
        if (e.axis != a.dimension) continue;
        found.value.number = e.most;
        found.varies |= e.weight > 0;
    }
    return found;
}

/// What a part's use of a configuration needs there, and whether that varies.
struct required {
    setting to{};
    bool varies = false;
};
/// `Call`: a movement, or an intrinsic_form.
template <class Call>
constexpr required required_of(plan_value const& plan, required_setting const& uses, Call const& call) {
    required found{{.configuration = static_cast<std::int16_t>(plan.where->configurations.find(uses.configuration_name))}};
    for (int at = 0; at < uses.count; ++at) {
        required_value const one = required_of(plan, call, uses.values[at]);
        found.to.values[at] = one.value;
        found.varies |= one.varies;
    }
    return found;
}

}  // namespace tilewright::ir
