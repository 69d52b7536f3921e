#include "stages.hpp"

#include <algorithm>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>

namespace oracle {

using tilewright::axis_extent;
using tilewright::computation_view;
using tilewright::operation;
using tilewright::ir::label;
using tilewright::ir::node;

namespace {

[[noreturn]] void refuse(std::string const& why) { throw std::invalid_argument("oracle: " + why); }

bool is_a_reduction(operation op) {
    return op == operation::reduce_sum || op == operation::reduce_maximum || op == operation::reduce_minimum;
}

bool is_affine(computation_view what, int at) {
    node const& n = what[at];
    switch (n.op) {
        case operation::constant:
        case operation::axis_value: return true;
        case operation::add:
        case operation::subtract: return is_affine(what, n.argument(0)) && is_affine(what, n.argument(1));
        case operation::multiply:
            for (int side : {0, 1}) {
                if (what[n.argument(side)].op == operation::constant) return is_affine(what, n.argument(1 - side));
            }
            return false;
        default: return false;
    }
}

/// The nodes below `root` and itself, in the order in which they were written. @param indices  with those of accesses that are affine; all
/// others are values
std::vector<int> nodes_below(computation_view what, int root, bool indices) {
    std::vector<int> pending{root}, found;
    while (!pending.empty()) {
        int const at = pending.back();
        pending.pop_back();
        if (std::find(found.begin(), found.end(), at) != found.end()) continue;
        found.push_back(at);
        node const& n = what[at];
        if (n.op == operation::constant) continue;
        for (int argument = 0; argument < n.argument_count; ++argument) {
            int part = n.argument(argument);
            if (n.op == operation::access) {
                if (what[part].op == operation::within) part = what[part].argument(0);
                if (!indices && is_affine(what, part)) continue;
            }
            pending.push_back(part);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::int64_t extent_of(node const& axis, std::vector<axis_extent> const& given) {
    for (axis_extent const& one : given) {
        if (one.name == axis.name) return one.extent;
    }
    return tilewright::run_time_extent::is_kept_in(axis.value) ? 0 : axis.value;  // 0: not known yet
}

std::size_t position_of(stage const& s, label const& name) {
    for (std::size_t at = 0; at < s.loops.size(); ++at) {
        if (s.loops[at].name == name) return at;
    }
    refuse("no axis " + name.str() + " in the stage of " + s.output.str());
}

void add_to(affine& sum, computation_view what, stage const& s, int at, std::int64_t factor) {
    node const& n = what[at];
    switch (n.op) {
        case operation::constant: sum.constant += factor * n.value; return;
        case operation::axis_value: {
            std::size_t const loop = position_of(s, n.name);
            for (affine::term& known : sum.terms) {
                if (known.loop == loop) return void(known.factor += factor);
            }
            sum.terms.push_back({loop, factor});
            return;
        }
        case operation::add:
        case operation::subtract:
            add_to(sum, what, s, n.argument(0), factor);
            add_to(sum, what, s, n.argument(1), n.op == operation::add ? factor : -factor);
            return;
        case operation::multiply:
            for (int side : {0, 1}) {
                if (what[n.argument(side)].op != operation::constant) continue;
                return add_to(sum, what, s, n.argument(1 - side), factor * what[n.argument(side)].value);
            }
            [[fallthrough]];
        default: refuse("an index that is not affine, in the stage of " + s.output.str());
    }
}

/// Whether two accesses are the same element of one tensor, at plain axes.
bool is_same_element(computation_view what, int left, int right) {
    node const &a = what[left], &b = what[right];
    if (b.op != operation::access || a.name != b.name || a.argument_count != b.argument_count) return false;
    for (int dimension = 0; dimension < a.argument_count; ++dimension) {
        node const &i = what[a.argument(dimension)], &j = what[b.argument(dimension)];
        if (j.op != operation::axis_value || i.name != j.name) return false;
    }
    return true;
}

/// What stands on the right of a stage, as the table of stages in the reference lists it.
void read_value(computation_view what, int value, stage& s, std::vector<int>& named) {
    node const& root = what[value];
    auto const take_reduction = [&](int at) {
        node const& reduce = what[at];
        s.reduction = reduce.op;
        s.body = reduce.argument(0);
        for (int argument = 1; argument < reduce.argument_count; ++argument) named.push_back(reduce.argument(argument));
    };
    if (is_a_reduction(root.op)) return take_reduction(value);
    if (root.argument_count == 2) {
        int const sides[] = {root.argument(0), root.argument(1)};
        for (int side : {0, 1}) {
            if (root.op != operation::add || !is_same_element(what, s.target, sides[side])) continue;
            s.continues = true;
            s.reduction = operation::reduce_sum;
            if (what[sides[1 - side]].op == operation::reduce_sum) take_reduction(sides[1 - side]);
            else s.body = sides[1 - side];
            return;
        }
        operation const fitting = root.op == operation::add       ? operation::reduce_sum
                                  : root.op == operation::maximum ? operation::reduce_maximum
                                  : root.op == operation::minimum ? operation::reduce_minimum
                                                                  : operation::constant;
        for (int side : {0, 1}) {
            if (fitting == operation::constant || what[sides[side]].op != fitting) continue;
            s.start = sides[1 - side];
            return take_reduction(sides[side]);
        }
    }
    s.body = value;
}

stage read_stage(computation_view what, int store, std::vector<axis_extent> const& extents) {
    stage s;
    s.store = store;
    s.target = what[store].argument(0);
    node const& target = what[s.target];
    s.output = target.name;
    s.rank = static_cast<std::size_t>(target.argument_count);
    for (int dimension = 0; dimension < target.argument_count; ++dimension) {
        node const& axis = what[target.argument(dimension)];
        if (axis.op != operation::axis_value) refuse("the target of " + s.output.str() + " is not indexed by plain axes");
        s.loops.push_back({axis.name, extent_of(axis, extents)});
    }
    std::vector<int> named;
    read_value(what, what[store].argument(1), s, named);
    auto const is_known = [&](label const& name) {
        return std::any_of(s.loops.begin(), s.loops.end(), [&](loop const& l) { return l.name == name; });
    };
    for (int at : named.empty() && s.reduces() ? nodes_below(what, s.body, true) : named) {
        if (what[at].op == operation::axis_value && !is_known(what[at].name))
            s.loops.push_back({what[at].name, extent_of(what[at], extents)});
    }
    s.body_nodes = nodes_below(what, s.body, false);
    if (s.start >= 0) s.start_nodes = nodes_below(what, s.start, false);
    for (std::vector<int> const* nodes : {&s.body_nodes, &s.start_nodes}) {
        for (int at : *nodes) {
            if (is_a_reduction(what[at].op) || what[at].op == operation::invalid) refuse("a stage that cannot be: " + s.output.str());
            if (what[at].op != operation::access) continue;
            read r{at, what[at].name, {}, {}};
            for (int dimension = 0; dimension < what[at].argument_count; ++dimension) {
                int index = what[at].argument(dimension);
                if (what[index].op == operation::within) {
                    r.padded.push_back(what[index].value);
                    index = what[index].argument(0);
                    if (!is_affine(what, index)) {
                        r.indices.emplace_back().value = index;
                        continue;
                    }
                }
                add_to(r.indices.emplace_back(), what, s, index, 1);
            }
            s.reads.push_back(r);
        }
    }
    return s;
}

}  // namespace

std::vector<stage> stages_of(computation_view what, std::vector<axis_extent> const& extents) {
    std::vector<stage> all;
    for (int at = 0; at < what.count; ++at) {
        if (what[at].op == operation::store) all.push_back(read_stage(what, at, extents));
    }
    if (all.empty()) refuse("no stages");
    // An axis of an intermediate tensor whose extent nobody gives goes as far as later stages read.
    for (std::size_t at = all.size(); at-- > 0;) {
        for (std::size_t dimension = 0; dimension < all[at].loops.size(); ++dimension) {
            loop& open = all[at].loops[dimension];
            for (std::size_t later = at + 1; later < all.size() && dimension < all[at].rank && open.extent < 1; ++later) {
                std::int64_t furthest = 0;
                for (read const& r : all[later].reads) {
                    if (r.tensor != all[at].output) continue;
                    affine const& index = r.indices[dimension];
                    std::int64_t last = index.constant;
                    for (affine::term const& t : index.terms)
                        if (t.factor > 0) last += t.factor * (all[later].loops[t.loop].extent - 1);
                    furthest = std::max(furthest, last + 1);
                }
                open.extent = -std::max(-open.extent, furthest);
            }
            if (open.extent < 0) open.extent = -open.extent;
            if (open.extent == 0) refuse("the extent of axis " + open.name.str() + " is not known");
        }
    }
    return all;
}

}  // namespace oracle
