#pragma once
#include <tilewright/import/fuse.hpp>
#include <tilewright/import/kernels.hpp>

// What a network keeps from one run to the next.
namespace tilewright::imported {

namespace detail {

/// Whether a run can write `after` where it finds `before`: the kernel that writes it comes after all others that read `before`, and reads
/// at most the element there that it writes.
inline bool can_overwrite(layers const& of, ir::label const& before, ir::label const& after) {
    bool written = false;
    for (layer const& one : of.all) {
        bool const reads = accesses(one, before);
        bool const writes = one.nodes.back().name == after;
        if (reads && written) return false;
        if (writes && reads) {
            auto const last = one.inner.empty() ? last_stage_of(one) : std::nullopt;
            if (!last || last->reduces() || !reads_own_element(one, *last, before)) return false;
        }
        written = written || writes;
    }
    return true;
}

/// Kernels that write a tensor elsewhere, and one that copies it to its place.
class state_copies : public kernel_list {
  public:
    explicit state_copies(layers of) { result = std::move(of); }

    void copy(std::size_t number, stored const& after) {
        stored const elsewhere{numbered("kept", number), after.type, after.extents};
        for (layer& one : result.all) {
            for (ir::node& node : one.nodes) {
                if (node.name == after.name && (node.op == operation::access || node.op == operation::store)) node.name = elsewhere.name;
            }
        }
        for (std::optional<view>& one : result.tensors) {
            if (one && one->of.name == after.name) one->of.name = elsewhere.name;
        }
        made_for = "state " + after.name.str();
        view const all = whole_of(elsewhere);
        space const loops = loops_over({all}, all.shape());
        store(after.name, loops, imported::at(all, loops));
        result.all.back().name = numbered("keep", number);
    }
};

}  // namespace detail

/// The same network, where what the next run reads can take the place of what this run reads: where a kernel would overwrite what is still
/// needed, another one copies it at the end.
inline layers with_states_kept(layers of) {
    if (!of.refused.empty()) return of;
    detail::state_copies made(std::move(of));
    std::vector<state> const states = made.result.states;
    for (std::size_t at = 0; at < states.size(); ++at) {
        stored const &before = made.result.inputs[states[at].input], after = made.result.outputs[states[at].output];
        if (before.type != after.type || before.extents != after.extents) {
            made.result.refused.push_back("state `" + before.name.str() + "=" + after.name.str() +
                                          "`: " + std::string(name_of(before.type)) + " " + text_of(before.extents) + " is read, " +
                                          std::string(name_of(after.type)) + " " + text_of(after.extents) + " is written");
        } else if (!detail::can_overwrite(made.result, before.name, after.name)) {
            made.copy(at, after);
        }
    }
    return std::move(made.result);
}

}  // namespace tilewright::imported
