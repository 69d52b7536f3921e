#pragma once
#include <tilewright/import/contraction.hpp>
#include <tilewright/import/rescaling.hpp>
#include <tilewright/import/value.hpp>

// Layers of bytes in the forms that instructions declare to compute: what differs by layer is a tensor, and no number.
namespace tilewright::imported::detail {

/// The bias of rescaled sums, which is what they start from: a tensor along the channels, a number, or nothing. `is_plain`: it is one of
/// these.
struct plain_bias {
    ir::label tensor{};
    std::int64_t number = 0;
    bool is_plain = false;

    plain_bias(computation_view nodes, ir::stage const& sums) {
        for (int at = sums.start_first; sums.start >= 0 && at <= sums.start; ++at) {
            if (nodes[at].op == operation::access) tensor = nodes[at].name;
        }
        bool const is_number = sums.start >= 0 && nodes[sums.start].op == operation::constant;
        if (is_number) number = nodes[sums.start].value;
        is_plain = sums.start < 0 || is_number ||
                   (nodes[sums.start].op == operation::access && nodes[sums.start].argument_count == 1 &&
                    nodes[nodes[sums.start].argument(0)].op == operation::axis_value);
    }
};

/// The stages of a layer from one on, counted from its first node.
inline std::vector<ir::node> stages_after(computation_view nodes, ir::stage const& before) {
    int const first = before.store + 1;
    std::vector<ir::node> made(nodes.nodes + first, nodes.nodes + nodes.count);
    for (ir::node& one : made) {
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at)
            one.arguments[at] = static_cast<std::int16_t>(one.arguments[at] - first);
    }
    return made;
}

/// The same layer, where what is computed of sums is `rescaled_bytes` of tensors, or `scaled_bytes` where scales are floats. Nothing where
/// it is no such layer: see `layer::rescaled`.
///
/// @param make_constant  is given the ending of a name and numbers, and returns the name of a constant
template <class MakeConstant>
std::optional<layer> finished_by_tensors(layer const& of, MakeConstant const& make_constant) {
    computation_view const before = nodes_of(of);
    ir::stage sums, last;
    std::string const own = of.rescaled_in.empty() ? "" : "_" + of.rescaled_in.str(), prefix = own.empty() ? "" : own.substr(1) + "_";
    if (!of.rescaled || of.inner.size() != (own.empty() ? 1 : 2) || read_stage(before, 0, sums) || read_stage(before, sums.store + 1, last))
        return std::nullopt;
    rescaling const& numbers = *of.rescaled;
    int const channel = last.find(ir::label((prefix + numbers.channel.str()).c_str()));
    if (channel < 0 || channel >= last.rank || (own.empty() ? last.store + 1 != before.count : last.output != of.rescaled_in))
        return std::nullopt;
    plain_bias const bias(before, sums);
    if (!bias.is_plain) return std::nullopt;
    auto const along_channels = [&](char const* ending, auto all) {
        all.resize(static_cast<std::size_t>(last.axes[channel].extent), all.empty() ? 0 : all[0]);
        return make_constant(own + ending, all);
    };
    ir::label const bias_tensor = bias.tensor.empty() ? along_channels("_bias", std::vector<std::int64_t>{bias.number}) : bias.tensor;
    bool const in_floats = !numbers.scales.empty();
    std::vector<value> indices;
    for (int axis = 0; axis < last.rank; ++axis) indices.push_back(along(last.axes[axis].name, last.axes[axis].extent));
    auto const in32 = scalar_type::int32, limit = in_floats ? scalar_type::float32 : in32;
    auto const of_channel = [&](ir::label const& tensor, scalar_type type) {
        return element(tensor, type, {indices[static_cast<std::size_t>(channel)]});
    };
    auto const single = [&](char const* ending, std::int64_t one, scalar_type type) {
        ir::label const made = type == in32 ? make_constant(own + ending, std::vector{one})
                                            : make_constant(own + ending, std::vector{static_cast<float>(one)});
        return element(made, type, {number(std::int64_t{0}, in32)});
    };
    std::vector<argument> const given{{"s", element(sums.output, in32, indices)},
                                      {"b", of_channel(bias_tensor, in32)},
                                      {"l", single("_low", numbers.low, limit)},
                                      {"u", single("_high", numbers.high, limit)},
                                      {"z", single("_zero", numbers.zero_point, in32)}};
    auto const with = [&](auto const& form, std::vector<argument> scales) {
        scales.insert(scales.end(), given.begin(), given.end());
        return imported::apply(form, scales);
    };
    parameter<std::int32_t> const s{"s"}, b{"b"}, z{"z"};
    auto const whole = [&] {
        if (in_floats) {
            parameter<float> const m{"m"}, l{"l"}, u{"u"};
            return with(scaled_bytes(s + b, m, l, u, z), {{"m", of_channel(along_channels("_scale", numbers.scales), limit)}});
        }
        parameter<std::int32_t> const m{"m"}, h{"h"}, l{"l"}, u{"u"};
        return with(rescaled_bytes(s, b, m, h, l, u, z), {{"m", of_channel(along_channels("_multiplier", numbers.multipliers), in32)},
                                                          {"h", of_channel(along_channels("_shift", numbers.shifts), in32)}});
    }();
    layer made = starting_from_zero(of);
    ir::stage first;
    read_stage(nodes_of(made), 0, first);
    made.nodes.resize(static_cast<std::size_t>(first.store) + 1);
    append(made.nodes, stage_of(element(last.output, last.type, indices), whole));
    append(made.nodes, stages_after(before, last));
    made.rescaled.reset();
    return made;
}

/// The same layer, where what its last stage computes of two elements is `added_bytes` of them and of tensors with one element each.
/// Nothing where it is no such layer: see `layer::added`.
///
/// @param make_constant  as for `finished_by_tensors`
template <class MakeConstant>
std::optional<layer> added_by_tensors(layer const& of, MakeConstant const& make_constant) {
    computation_view const before = nodes_of(of);
    std::vector<ir::stage> const stages = stages_of(before);
    if (!of.added || stages.empty() || stages.back().reduces()) return std::nullopt;
    ir::stage const& last = stages.back();
    std::vector<value> read;  // its elements
    for (int at = last.target + 1; at < last.store; ++at) {
        if (before[at].op != operation::access) continue;
        value one{subtree(before, at)};
        if (std::none_of(read.begin(), read.end(), [&](value const& known) { return known.nodes == one.nodes; })) read.push_back(one);
    }
    if (read.size() != 2) return std::nullopt;
    adding const& numbers = *of.added;
    std::vector<argument> given{{"l", read[0]}, {"r", read[1]}};
    parameter<std::int8_t> const l{"l"}, r{"r"};
    using in32 = parameter<std::int32_t>;
    auto const with = [&](char const* name, std::int64_t number) {
        ir::label const tensor = make_constant(std::string("_") + name, std::vector{number});
        given.push_back({name, element(tensor, scalar_type::int32, {imported::number(std::int64_t{0}, scalar_type::int32)})});
        return in32{name};
    };
    in32 const lz = with("lz", numbers.zero_points[0]), lm = with("lm", numbers.multipliers[0]), ls = with("ls", numbers.shifts[0]),
               rz = with("rz", numbers.zero_points[1]), rm = with("rm", numbers.multipliers[1]), rs = with("rs", numbers.shifts[1]),
               m = with("m", numbers.multiplier), s = with("s", numbers.shift), low = with("low", numbers.low),
               high = with("high", numbers.high), zero = with("zero", numbers.zero_point);
    value const target{subtree(before, last.target)};
    layer made = of;
    made.nodes.resize(static_cast<std::size_t>(last.first));
    append(made.nodes, stage_of(target, imported::apply(added_bytes(l, r, lz, lm, ls, rz, rm, rs, m, s, low, high, zero), given)));
    made.added.reset();
    return made;
}

}  // namespace tilewright::imported::detail
