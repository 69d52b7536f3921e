#pragma once
#include <optional>
#include <tilewright/base/label_text.hpp>
#include <tilewright/compute/stage.hpp>
#include <tilewright/import/layers.hpp>
#include <tilewright/import/value.hpp>
#include <utility>

// Sums of products: what tensor instructions compute.
namespace tilewright::imported {

/// A loop of a contraction.
struct contracted_loop {
    ir::label name;
    std::int64_t extent = 1;
    unsigned in_data = 0, in_weights = 0;  ///< the dimensions of each factor that it moves along: a bit for each
};

/// A kernel of which the first stage sums products of two tensors, in the words of a product of matrices: m are loops of the result that
/// move in `data` alone, n those that move in `weights` alone, batch those that move in both. Loops that are summed are taps of a window,
/// or else k: a tap moves in `data` along a dimension that an m moves along.
struct contraction {
    ir::label data, weights;                ///< the factors; where one of them is a constant, `weights` is
    ir::label sums;                         ///< what the stage makes: `result`, where nothing is computed of a sum
    ir::label finished;                     ///< what is computed of a sum: `result`, where nothing is added to that
    ir::label result;                       ///< of the kernel
    std::vector<contracted_loop> all = {};  ///< loops of the result, in the order of its dimensions
    std::vector<contracted_loop> batch = {}, m = {}, n = {}, taps = {}, k = {};
    std::vector<ir::label> unit = {};  ///< loops of one iteration that the sums have for an instruction: see `with_unit_loop`
    ir::label unit_of_result = {};     ///< the one of them that the result has as well, by its name there; empty: none
    scalar_type element = scalar_type::literal, sum = scalar_type::literal;
    bool starts_from_value = false;  ///< such as a bias: the sums do not start from 0

    bool finishes() const { return !(sums == result); }  ///< something is computed of each sum
    /// The loop of the stage that makes the sums which stands for a loop of the result.
    ir::label in_sums(ir::label const& loop) const { return finishes() ? ir::label((sums.str() + "_" + loop.str()).c_str()) : loop; }
    bool adds() const { return !(finished == result); }  ///< something is added to what is computed of each sum
    /// Likewise of the stage that makes what is computed of a sum.
    ir::label in_finished(ir::label const& loop) const { return adds() ? ir::label((finished.str() + "_" + loop.str()).c_str()) : loop; }
    std::int64_t summed() const {
        std::int64_t count = 1;
        for (auto const* const loops : {&taps, &k}) {
            for (contracted_loop const& one : *loops) count *= one.extent;
        }
        return count;
    }
    std::int64_t products() const {
        std::int64_t count = summed();
        for (contracted_loop const& one : all) count *= one.extent;
        return count;
    }
};

namespace detail {

inline ir::label with_ending(ir::label const& name, char const* ending) { return ir::label((name.str() + ending).c_str()); }
inline computation_view nodes_of(layer const& of) { return {of.nodes.data(), static_cast<int>(of.nodes.size())}; }
/// All stages of a kernel; none if one of them cannot be read.
inline std::vector<ir::stage> stages_of(computation_view nodes) {
    std::vector<ir::stage> made;
    for (int first = 0; first < nodes.count; first = made.back().store + 1) {
        if (read_stage(nodes, first, made.emplace_back())) return {};
    }
    return made;
}

/// The access that a factor is, perhaps after conversions; -1: it is none.
inline int access_of(computation_view nodes, int at) {
    while (nodes[at].op == operation::cast) at = nodes[at].argument(0);
    return nodes[at].op == operation::access ? at : -1;
}
/// Whether an axis moves an access, along which of its dimensions: a bit for each.
inline unsigned moves(computation_view nodes, ir::stage const& in, int access, int axis) {
    unsigned dimensions = 0;
    for (int dimension = 0; dimension < nodes[access].argument_count; ++dimension) {
        if (index_of(nodes, in, access, dimension).coefficients[axis] != 0) dimensions |= 1u << dimension;
    }
    return dimensions;
}

}  // namespace detail

/// A layer as a contraction. Nothing where it is none.
///
/// @param is_constant  whether a tensor is a constant
template <class IsConstant>
std::optional<contraction> contraction_of(layer const& of, IsConstant const& is_constant) {
    if (of.inner.size() > (of.rescaled_in.empty() ? 1 : 2)) return std::nullopt;
    computation_view const nodes = detail::nodes_of(of);
    ir::stage stage;
    if (read_stage(nodes, 0, stage) || stage.reduction != operation::reduce_sum) return std::nullopt;
    bool const is_last = stage.store + 1 == nodes.count;
    if (is_last != of.inner.empty() || (!is_last && !of.inner[0].element)) return std::nullopt;
    ir::node const& product = nodes[stage.body];
    if (product.op != operation::multiply) return std::nullopt;
    int data = detail::access_of(nodes, product.argument(0)), weights = detail::access_of(nodes, product.argument(1));
    if (data < 0 || weights < 0 || nodes[data].name == nodes[weights].name) return std::nullopt;
    if (is_constant(nodes[data].name) && !is_constant(nodes[weights].name)) std::swap(data, weights);

    ir::label const result = nodes[nodes.count - 1].name;
    contraction made{.data = nodes[data].name,
                     .weights = nodes[weights].name,
                     .sums = stage.output,
                     .finished = of.rescaled_in.empty() ? result : of.rescaled_in,
                     .result = result};
    made.element = nodes[data].type, made.sum = stage.type, made.starts_from_value = stage.start >= 0;
    unsigned rows = 0;  // dimensions of `data` that an m moves along
    std::size_t const prefix = is_last ? 0 : made.sums.str().size() + 1;
    auto const loop_at = [&](int axis) {
        return contracted_loop{stage.axes[axis].name, stage.axes[axis].extent, detail::moves(nodes, stage, data, axis),
                               detail::moves(nodes, stage, weights, axis)};
    };
    for (int axis = 0; axis < stage.rank; ++axis) {
        contracted_loop one = loop_at(axis);
        if (one.in_data == 0 && one.in_weights == 0 && one.extent == 1 && !is_last) {
            made.unit.push_back(one.name);
            ir::label const in_result(one.name.str().substr(prefix).c_str());
            ir::stage last;
            if (!read_stage(nodes, stage.store + 1, last) && last.find(in_result) >= 0) made.unit_of_result = in_result;
            continue;
        }
        one.name = ir::label(one.name.str().substr(prefix).c_str());
        made.all.push_back(one);
        (one.in_data == 0 ? made.n : one.in_weights == 0 ? made.m : made.batch).push_back(one);
        if (one.in_data != 0 && one.in_weights == 0) rows |= one.in_data;
    }
    for (int axis = stage.rank; axis < stage.axis_count; ++axis) {
        contracted_loop const one = loop_at(axis);
        ((one.in_data & rows) != 0 ? made.taps : made.k).push_back(one);
    }
    return made;
}

/// The same layer, where each element that is summed is multiplied by an element of `factor`, which has a dimension for each loop that is
/// summed. Nothing where sums are no sums of elements, or there are more loops than a tensor can have dimensions.
///
/// @param factor  gets its type and its extents
inline std::optional<layer> multiplied_by(layer const& of, stored& factor) {
    computation_view const nodes = detail::nodes_of(of);
    ir::stage sums;
    if (of.inner.size() > 1 || read_stage(nodes, 0, sums) || sums.reduction != operation::reduce_sum) return std::nullopt;
    int const data = detail::access_of(nodes, sums.body), count = sums.axis_count - sums.rank;
    if (data < 0 || count > max_rank) return std::nullopt;
    factor.type = nodes[data].type;
    layer made = of;
    made.nodes = detail::rewritten(of.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
        if (at >= sums.store || one.op != operation::reduce_sum) return detail::put(to, one);
        ir::node element{.op = operation::access, .type = factor.type, .name = factor.name};
        for (int axis = sums.rank; axis < sums.axis_count; ++axis) {
            ir::stage_axis const& loop = sums.axes[axis];
            factor.extents.push_back(loop.extent);
            element.arguments[element.argument_count++] =
                detail::put(to, {.op = operation::axis_value, .type = scalar_type::int32, .name = loop.name, .value = loop.extent});
        }
        std::int16_t by = detail::put(to, element);
        if (sums.type != factor.type)
            by = detail::put(to, {.op = operation::cast, .type = sums.type, .argument_count = 1, .arguments = {by}});
        one.arguments[0] =
            detail::put(to, {.op = operation::multiply, .type = sums.type, .argument_count = 2, .arguments = {one.arguments[0], by}});
        return detail::put(to, one);
    });
    return made;
}

/// The same layer, where a sum starts from 0 and what it started from is added to it afterwards. Only where something is computed of each
/// sum: `finishes()`.
inline layer starting_from_zero(layer const& of) {
    computation_view const nodes = detail::nodes_of(of);
    ir::stage stage;
    if (read_stage(nodes, 0, stage) || stage.start < 0 || of.inner.empty()) return of;
    // What sums start from, on its own, with the axes of the stage that finishes them.
    std::string const finished = of.rescaled_in.empty() ? "" : of.rescaled_in.str() + "_";
    std::vector<ir::node> start(nodes.nodes + stage.start_first, nodes.nodes + stage.start + 1);
    for (ir::node& one : start) {
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at)
            one.arguments[at] = static_cast<std::int16_t>(one.arguments[at] - stage.start_first);
        if (one.op == operation::axis_value)
            one.name = ir::label((finished + one.name.str().substr(stage.output.str().size() + 1)).c_str());
    }
    layer made = of;
    made.nodes = detail::rewritten(of.nodes, [&](std::vector<ir::node>& to, ir::node const& one, int at) {
        if (stage.is_in_start(at)) return std::int16_t{-1};
        // The sum instead of what adds the start to it.
        bool const starts_left = nodes[at].argument(0) == stage.start, starts_right = nodes[at].argument(1) == stage.start;
        bool const adds = at < stage.store && one.op == operation::add && one.argument_count == 2 && (starts_left || starts_right);
        if (adds) return one.arguments[starts_left ? 1 : 0];
        std::int16_t const sum = detail::put(to, one);
        if (at < stage.store || one.op != operation::access || one.name != stage.output) return sum;
        std::int16_t const added = detail::append(to, start);
        return detail::put(to, {.op = operation::add, .type = one.type, .argument_count = 2, .arguments = {added, sum}});
    });
    return made;
}

/// The same layer, where the sums are a stage of their own, which the result is a copy of. Only where nothing is computed of each sum.
inline layer with_sums_apart(layer const& of) {
    computation_view const nodes = detail::nodes_of(of);
    ir::stage stage;
    if (read_stage(nodes, 0, stage) || !of.inner.empty() || stage.store + 1 != nodes.count) return of;
    layer made = of;
    ir::label const sums("s0");
    std::string const prefix = sums.str() + "_";
    for (ir::node& one : made.nodes) {
        if (one.op == operation::axis_value) one.name = ir::label((prefix + one.name.str()).c_str());
    }
    ir::node& target = made.nodes[static_cast<std::size_t>(stage.target)];
    ir::node& store = made.nodes[static_cast<std::size_t>(stage.store)];
    target.name = store.name = sums;
    // result(i, j) = sums(i, j)
    ir::node read = target, written = target;
    for (int axis = 0; axis < stage.rank; ++axis) {
        made.nodes.push_back(
            {.op = operation::axis_value, .type = scalar_type::int32, .name = stage.axes[axis].name, .value = stage.axes[axis].extent});
        read.arguments[axis] = written.arguments[axis] = static_cast<std::int16_t>(made.nodes.size() - 1);
    }
    written.name = stage.output;
    made.nodes.push_back(written), made.nodes.push_back(read);
    auto const last = static_cast<std::int16_t>(made.nodes.size() - 1);
    ir::node whole = nodes[stage.store];
    whole.arguments[0] = static_cast<std::int16_t>(last - 1), whole.arguments[1] = last;
    made.nodes.push_back(whole);
    made.inner.push_back({sums, stage.axes[stage.rank - 1].name, true});
    return made;
}

/// The same layer, where the sums have one more loop, of one iteration: for an instruction that has an axis which the layer has no loop
/// for. Only where something is computed of each sum.
///
/// @param of_result  the result has that loop as well, and a first dimension for it
inline layer with_unit_loop(layer const& of, bool of_result = false) {
    computation_view const nodes = detail::nodes_of(of);
    ir::stage stage;
    if (read_stage(nodes, 0, stage) || of.inner.size() != 1 || stage.rank >= max_rank) return of;
    std::string const ending = "unit" + std::to_string(stage.rank);
    // Axes stand in the order of the target's dimensions, so this one is the first of a stage.
    ir::node const in_sums = along(detail::with_ending(stage.output, ("_" + ending).c_str()), 1).nodes[0];
    ir::node const in_result = along(ir::label(ending.c_str()), 1).nodes[0];
    std::int16_t unit = -1;  // that axis in the stage that is written
    layer made = of;
    made.nodes = detail::rewritten(of.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
        if (at == 0) unit = detail::put(to, in_sums);
        if (at == stage.store + 1) unit = of_result ? detail::put(to, in_result) : std::int16_t{-1};
        bool const is_result = of_result && at > stage.store && one.name == of.nodes.back().name;
        if (one.op != operation::access || (one.name != stage.output && !is_result)) return detail::put(to, one);
        std::int16_t const index = unit >= 0 ? unit : detail::put(to, {.op = operation::constant, .type = scalar_type::int32});
        for (int argument = one.argument_count++; argument > 0; --argument) one.arguments[argument] = one.arguments[argument - 1];
        one.arguments[0] = index;
        return detail::put(to, one);
    });
    return made;
}

/// The same layer, where dimension d of a tensor that it reads is its dimension `order[d]`.
inline layer reading_reordered(layer const& of, ir::label const& tensor, ir::label const& by_name, std::vector<int> const& order) {
    layer made = of;
    for (ir::node& one : made.nodes) {
        if (one.op != operation::access || one.name != tensor) continue;
        auto const before = one.arguments;
        for (std::size_t at = 0; at < order.size(); ++at) one.arguments[static_cast<int>(at)] = before[order[at]];
        one.name = by_name;
    }
    return made;
}

}  // namespace tilewright::imported
