#pragma once
#include <tilewright/import/contraction.hpp>
#include <utility>

// Kernels that compute an element of one tensor at a time become a part of the kernel that makes this tensor.
namespace tilewright::imported {

namespace detail {

/// Whether each access of a tensor in a kernel of one stage is at the element that the kernel computes.
inline bool reads_own_element(layer const& of, ir::stage const& stage, ir::label const& tensor) {
    computation_view const nodes = nodes_of(of);
    for (ir::node const& one : of.nodes) {
        if (one.op != operation::access || one.name != tensor) continue;
        if (one.argument_count != stage.rank) return false;
        for (int dimension = 0; dimension < stage.rank; ++dimension) {
            ir::node const& index = nodes[one.arguments[dimension]];
            if (index.op != operation::axis_value || index.name != stage.axes[dimension].name) return false;
        }
    }
    return true;
}

/// The last stage of a kernel. Nothing where an index of its target is no axis.
inline std::optional<ir::stage> last_stage_of(layer const& of) {
    computation_view const nodes = nodes_of(of);
    std::vector<ir::stage> const stages = stages_of(nodes);
    if (stages.empty()) return std::nullopt;
    ir::stage const& last = stages.back();
    for (int dimension = 0; dimension < last.rank; ++dimension) {
        if (nodes[nodes[last.target].argument(dimension)].op != operation::axis_value) return std::nullopt;
    }
    return last;
}

/// A kernel with the stage of another one, which reads its result at the element that it computes. Nothing where it is not that simple.
inline std::optional<layer> fused(layer const& maker, layer const& reader) {
    constexpr double most_written_out = 10'000;
    if (maker.rescaled || reader.rescaled || !reader.inner.empty()) return std::nullopt;
    auto const reading = last_stage_of(reader);
    ir::label const& tensor = maker.nodes.back().name;
    if (!reading || reading->first != 0 || reading->reduces() || !reads_own_element(reader, *reading, tensor)) return std::nullopt;
    layer made = maker;
    auto last = last_stage_of(made);
    // Positions in the sums have a term for each of their loops and for each of the kernel's.
    bool const sums_are_inside = last && last->axis_count + last->rank <= most_terms;
    if (last && last->reduces() && made.inner.empty() && sums_are_inside) made = with_sums_apart(made), last = last_stage_of(made);
    if (!last || last->reduces() || last->start >= 0 || last->rank != reading->rank) return std::nullopt;
    for (int dimension = 0; dimension < last->rank; ++dimension) {
        if (last->axes[dimension].extent != reading->axes[dimension].extent) return std::nullopt;
    }
    std::int16_t const body = made.nodes.back().arguments[1], target = made.nodes.back().arguments[0];
    made.nodes.pop_back();
    made.nodes[static_cast<std::size_t>(target)].name = reading->output;
    made.nodes[static_cast<std::size_t>(target)].type = reading->type;
    made.nodes = rewritten(
        reader.nodes,
        [&](std::vector<ir::node>& to, ir::node const& one, int at) {
            if (one.op == operation::access && one.name == tensor) return body;
            if (at == reading->target) return target;
            int const axis = one.op == operation::axis_value ? reading->find(one.name) : -1;
            if (axis >= 0) return to[static_cast<std::size_t>(target)].arguments[axis];
            return put(to, one);
        },
        std::move(made.nodes));
    if (made.nodes.size() > most_nodes || written_out(made.nodes) > most_written_out) return std::nullopt;
    if (stages_of(nodes_of(made)).empty()) return std::nullopt;
    made.name = reader.name;
    made.added.reset();
    made.made_for = maker.made_for + ", " + reader.made_for;
    return made;
}

/// A kernel that makes bytes of sums, with the stage of another one that adds its bytes to others: three stages, of which the second
/// rescales. Nothing where it is no such pair, or the addition reads the bytes at other elements than it computes.
inline std::optional<layer> fused_with_addition(layer const& maker, layer const& reader) {
    ir::label const& tensor = maker.nodes.back().name;
    auto const last = last_stage_of(maker), reading = last_stage_of(reader);
    if (maker.parts.count(tensor.str()) != 0 || !maker.rescaled || !maker.rescaled_in.empty() || maker.inner.size() != 1 ||
        !maker.inner[0].element || !last || last->rank == 0 || last->reduces())
        return std::nullopt;
    if (!reader.added || !reader.inner.empty() || !reading || reading->first != 0 || reading->reduces() ||
        !reads_own_element(reader, *reading, tensor) || last->rank != reading->rank)
        return std::nullopt;
    for (int dimension = 0; dimension < last->rank; ++dimension) {
        if (last->axes[dimension].extent != reading->axes[dimension].extent) return std::nullopt;
    }
    layer made = maker;
    ir::label const bytes("s1");
    for (ir::node& one : made.nodes) {
        if (one.op == operation::axis_value && last->find(one.name) >= 0)
            one.name = ir::label((bytes.str() + "_" + one.name.str()).c_str());
        if (one.op != operation::axis_value && one.name == tensor) one.name = bytes;
    }
    made.nodes = rewritten(
        reader.nodes,
        [&](std::vector<ir::node>& to, ir::node one, int) {
            int const axis = one.op == operation::axis_value ? reading->find(one.name) : -1;
            if (axis >= 0) one.name = last->axes[axis].name;
            if (one.op == operation::access && one.name == tensor) one.name = bytes;
            return put(to, one);
        },
        std::move(made.nodes));
    if (made.nodes.size() > most_nodes || stages_of(nodes_of(made)).size() != 3) return std::nullopt;
    for (auto const& [name, begin] : reader.parts) {
        if (made.parts.emplace(name, begin).first->second != begin) return std::nullopt;
    }
    made.inner.push_back({bytes, last->axes[last->rank - 1].name, true});
    made.rescaled_in = bytes;
    made.added = reader.added;
    made.name = reader.name;
    made.strip_of = reader.strip_of;
    made.made_for = maker.made_for + ", " + reader.made_for;
    return made;
}

/// Whether one kernel makes a tensor for another one alone.
inline bool makes_for_one(layers const& of, layer const& maker, layer const& reader) {
    ir::label const& tensor = maker.nodes.back().name;
    auto const uses = [&](layer const& one) { return accesses(one, tensor); };
    bool const is_output = std::any_of(of.outputs.begin(), of.outputs.end(), [&](stored const& one) { return one.name == tensor; });
    // The one that makes it, and the one that reads it.
    return !is_output && uses(reader) && std::count_if(of.all.begin(), of.all.end(), uses) == 2;
}

}  // namespace detail

/// The same network, where what is computed of single elements, such as an activation or the sum with a residual, is a part of the kernel
/// that makes them, if no other kernel reads them.
inline layers with_elements_fused(layers of) {
    for (std::size_t at = 0; at < of.all.size(); ++at) {
        for (std::size_t before = at; before-- > 0;) {
            if (!detail::makes_for_one(of, of.all[before], of.all[at])) continue;
            auto made = detail::fused(of.all[before], of.all[at]);
            if (!made) continue;
            of.all[at] = std::move(*made);
            of.all.erase(of.all.begin() + static_cast<std::ptrdiff_t>(before));
            --at;
            before = at;
        }
    }
    return of;
}

}  // namespace tilewright::imported
