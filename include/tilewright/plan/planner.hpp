#pragma once
#include <tilewright/plan/arguments.hpp>
#include <tilewright/plan/machine_check.hpp>
#include <tilewright/plan/nest.hpp>
#include <tilewright/plan/placement.hpp>
#include <tilewright/plan/program.hpp>

namespace tilewright {

namespace detail {

/// Names that generated code takes over, and scalar parameters, which share them with tensors.
constexpr void check_names(planning& p) {
    computation_view const& what = p.plan.what;
    int parameters = 0;
    for (int at = 0; at < what.count && !p.refused(); ++at) {
        node const& n = what[at];
        if (n.op != operation::access && n.op != operation::parameter && n.op != operation::axis_value) continue;
        p.check_name(n.name);
        if (!is_identifier(n.name)) p.refuse(verdict_kind::ill_formed, rule::no_identifier, {n.name});
        if (n.op != operation::parameter) continue;
        bool known = false;
        for (int before = 0; before < what.count; ++before) {
            node const& other = what[before];
            if (other.name != n.name || other.op == operation::axis_value || other.op == operation::store) continue;
            if (other.op != operation::parameter) p.refuse(verdict_kind::ill_formed, rule::name_of_two_things, {n.name});
            if (other.type != n.type) p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {n.name});
            known |= before < at;
        }
        if (!known) ++parameters;
    }
    if (parameters > argument_list::most_parameters) p.refuse_capacity("parameters", parameters, argument_list::most_parameters);
}

constexpr void read_stages(planning& p) {
    plan_value& plan = p.plan;
    for (int first = 0; first < plan.what.count && !p.refused();) {
        stage s;
        stage_mistake const wrong = read_stage(plan.what, first, s);
        if (wrong) return p.refuse_ill_formed(wrong, s.output);
        if (p.producer_of(s.output) >= 0) return p.refuse(verdict_kind::ill_formed, rule::computed_by_two_stages, {s.output});
        double iterations = 1;
        for (int axis = 0; axis < s.axis_count; ++axis) iterations *= static_cast<double>(s.axes[static_cast<std::size_t>(axis)].extent);
        p.limited(iterations, plan_value::most_iterations, "iterations", s.output);
        first = s.store + 1;
        p.keep(plan.stages, plan.stage_count, s, "stages");
    }
    if (!p.refused()) check_names(p);
    for (int s = 0; s + 1 < plan.stage_count && !p.refused(); ++s) {
        bool read = false;
        for (int consumer = s + 1; consumer < plan.stage_count; ++consumer) {
            p.each_access(consumer, [&](int node) { read |= plan.what[node].name == p.stage_at(s).output; });
        }
        if (!read) return p.refuse(verdict_kind::ill_formed, rule::never_read, {p.stage_at(s).output});
    }
}

/// Reads the directives that place stages and stage tensors; loops are left to `build_loops`.
constexpr void read_directives(planning& p) {
    schedule const& of = *p.of;
    machine const& where = of.where();
    if (of.directive_count() > schedule::most_directives) return p.refuse_capacity("directives", of.directive_count(), schedule::most_directives);
    if (of.name_count() > schedule::most_names) return p.refuse_capacity("names in directives", of.name_count(), schedule::most_names);
    int current = p.plan.stage_count - 1;
    int last_staging = -1, last_stored = -1;
    for (int at = 0; at < of.directive_count() && !p.refused(); ++at) {
        directive const& d = of.directive_at(at);
        int const ordinal = at + 1;
        auto const name = [&](int position) { return of.name_at(d, position); };
        bool const makes_loops = d.kind == directive_kind::split || d.kind == directive_kind::tile || d.kind == directive_kind::fuse;
        for (int position = 0; position < d.name_count; ++position) {
            p.check_name(name(position), ordinal);
            if (makes_loops && !is_identifier(name(position))) p.refuse(verdict_kind::ill_formed, rule::no_identifier, {name(position)}, ordinal);
        }
        if (p.refused()) return;
        auto const stage_named = [&](label const& tensor) {
            int const s = p.producer_of(tensor);
            if (s < 0) p.refuse(verdict_kind::unknown_tensor, rule::not_computed, {tensor}, ordinal);
            return s;
        };
        auto const conflict = [&](label const& what) { p.refuse(verdict_kind::conflicting_directives, ordinal).names = {what, name_of(d.kind)}; };
        auto const misplaced = [&] { p.refuse(verdict_kind::misplaced_directive, rule::behind_no_staging, {name(0)}, ordinal); };
        auto const memory_named = [&](label const& memory_name) {
            int const position = where.memories.find(memory_name);
            if (position < 0) p.refuse(verdict_kind::unknown_part, ordinal).names = {memory_name, where.name};
            return static_cast<std::int16_t>(position);
        };
        switch (d.kind) {
            case directive_kind::stage: current = stage_named(name(0)); break;
            case directive_kind::compute_at: {
                int const s = stage_named(name(0));
                if (s < 0) break;
                if (p.placed(s).at_ordinal != 0) return conflict(name(0));
                p.placed(s).at_loop = name(1);
                p.placed(s).at_ordinal = static_cast<std::int16_t>(ordinal);
                break;
            }
            case directive_kind::store_in: {
                int const s = stage_named(name(0));
                if (s < 0) break;
                if (p.placed(s).store_ordinal != 0) return conflict(name(0));
                p.placed(s).store_memory = memory_named(name(1));
                p.placed(s).store_ordinal = static_cast<std::int16_t>(ordinal);
                last_stored = s;
                last_staging = -1;
                break;
            }
            case directive_kind::cache_read:
            case directive_kind::cache_write: {
                bool const writes = d.kind == directive_kind::cache_write;
                bool used = writes && p.stage_at(current).output == name(0);
                if (!writes) p.each_access(current, [&](int node) { used |= p.plan.what[node].name == name(0); });
                if (!used) {
                    rule const missing = writes ? rule::not_computed_by_the_stage : rule::not_read_by_the_stage;
                    p.refuse(verdict_kind::unknown_tensor, missing, {name(0), p.stage_at(current).output}, ordinal);
                    break;
                }
                last_staging = p.keep(p.stagings, p.staging_count,
                                      staging{.stage = static_cast<std::int16_t>(current), .writes = writes, .tensor = name(0),
                                              .memory = memory_named(name(1)), .ordinal = static_cast<std::int16_t>(ordinal)},
                                      "staged buffers");
                break;
            }
            case directive_kind::at:
                if (last_staging < 0) return misplaced();
                if (p.staging_at(last_staging).loop_ordinal != 0) return conflict(p.staging_at(last_staging).tensor);
                p.staging_at(last_staging).loop = name(0);
                p.staging_at(last_staging).loop_ordinal = static_cast<std::int16_t>(ordinal);
                break;
            case directive_kind::by: {
                auto const transfer_at = static_cast<std::int16_t>(where.transfers.find(name(0)));
                if (transfer_at < 0) p.refuse(verdict_kind::unknown_part, ordinal).names = {name(0), where.name};
                if (last_staging < 0 && last_stored < 0) return misplaced();
                if (last_staging >= 0) {
                    if (p.staging_at(last_staging).transfer >= 0) return conflict(p.staging_at(last_staging).tensor);
                    p.staging_at(last_staging).transfer = transfer_at;
                    p.staging_at(last_staging).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                } else {
                    if (p.placed(last_stored).transfer >= 0) return conflict(p.stage_at(last_stored).output);
                    p.placed(last_stored).transfer = transfer_at;
                    p.placed(last_stored).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                }
                break;
            }
            default: break;
        }
    }
}

/// A buffer that the plan gives an address: its box from the forms of its first element and its extents.
constexpr int add_planned(planning& p, label const& tensor, int memory_at, scalar_type type, box const& whole, int ordinal) {
    memory const& m = p.of->where().memories[memory_at];
    if (m.capacity <= 0) {
        p.refuse(verdict_kind::no_memory, ordinal).names = {tensor, m.name};
        return 0;
    }
    buffer b{.name = dotted(tensor, m.name), .tensor = tensor, .kind = buffer_kind::staged, .memory = static_cast<std::int16_t>(memory_at), .type = type,
             .rank = static_cast<std::int16_t>(whole.rank), .ordinal = static_cast<std::int16_t>(ordinal)};
    // A tensor staged twice in one memory: a number tells its buffers apart.
    for (int at = 0, again = 2; at < p.plan.buffer_count; ++at) {
        if (p.buffer_at(at).name != b.name) continue;
        char const number[] = {static_cast<char>(again < 10 ? '0' + again : 'a' + again - 10), '\0'};
        ++again;
        b.name = dotted(dotted(tensor, m.name), number);
        at = -1;
    }
    double bytes = bytes_of(type);
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        b.extents[d] = whole.extents[d];
        bytes *= static_cast<double>(whole.extents[d]);
    }
    b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    int const at = p.add(b);
    for (int dimension = 0; dimension < whole.rank && !p.refused(); ++dimension) {
        p.box_at[static_cast<std::size_t>(at)][static_cast<std::size_t>(dimension)] = p.keep(whole.at[static_cast<std::size_t>(dimension)]);
    }
    return at;
}

/// Arguments in the order in which the computation names them, the result last.
constexpr void add_arguments(planning& p) {
    auto const agree = [&](tilewright::node const& n, int rank, scalar_type type) {
        if (rank != n.argument_count) p.refuse(verdict_kind::ill_formed, rule::used_with_two_ranks, {n.name});
        if (type != n.type) p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {n.name});
    };
    auto const add = [&](int node, bool written) {
        tilewright::node const& n = p.plan.what[node];
        for (int at = 0; at < p.plan.buffer_count; ++at) {
            if (p.buffer_at(at).tensor == n.name) return agree(n, p.buffer_at(at).rank, p.buffer_at(at).type);
        }
        p.add(buffer{.name = n.name, .tensor = n.name, .written = written, .type = n.type, .rank = static_cast<std::int16_t>(n.argument_count),
                     .alignment = bytes_of(n.type), .dense_from = static_cast<std::uint8_t>(n.argument_count > 0 ? n.argument_count - 1 : 0)});
    };
    for (int s = 0; s < p.plan.stage_count; ++s) {
        p.each_access(s, [&](int node) {
            tilewright::node const& n = p.plan.what[node];
            int const producer = p.producer_of(n.name);
            if (producer < 0) add(node, false);
            else if (producer >= s) p.refuse(verdict_kind::ill_formed, rule::computed_too_late, {p.stage_at(s).output, n.name});
            else agree(n, p.stage_at(producer).rank, p.stage_at(producer).type);
        });
    }
    int const last = p.plan.stage_count - 1;
    if (p.refused() || p.placed(last).store_memory >= 0) return;
    add(p.stage_at(last).target, true);
    p.placed(last).home = static_cast<std::int16_t>(p.plan.buffer_count - 1);
}

/// Where stage `s` stands, how large it is there, and its loops.
constexpr void place_stage(planning& p, int s) {
    stage const& st = p.stage_at(s);
    stage_placement& place = p.placed(s);
    bool const last = s == p.plan.stage_count - 1;
    if (place.at_ordinal != 0) {
        if (last) return p.refuse(verdict_kind::misplaced_directive, rule::without_consumer, {st.output}, place.at_ordinal);
        for (int t = s + 1; t < p.plan.stage_count && place.at_stage < 0; ++t) {
            int const position = p.nest_at(t).position_of(place.at_loop);
            if (position < 0) continue;
            place.at_stage = static_cast<std::int16_t>(t);
            place.level = p.nest_at(t).axis_of_loop(position).variable;
            place.outer_depth = p.placed(t).outer_depth + position + 1;
            place.path = p.placed(t).path;
        }
        if (place.at_stage < 0) {
            p.refuse(verdict_kind::unknown_axis, place.at_ordinal).names = {place.at_loop, p.stage_at(s + 1).output};
            return;
        }
    }
    // The box that its consumers need: they must all stand inside the same loops.
    box needed{.rank = st.rank};
    for (int consumer = s + 1; consumer < p.plan.stage_count; ++consumer) {
        bool inside = true;
        for (int depth = 0; depth < place.outer_depth; ++depth) {
            inside &= depth < p.placed(consumer).path_length && p.placed(consumer).path[static_cast<std::size_t>(depth)] == place.path[static_cast<std::size_t>(depth)];
        }
        p.each_access(consumer, [&](int node) {
            if (p.plan.what[node].name != st.output || p.refused()) return;
            if (!inside) {
                return p.refuse(verdict_kind::loop_order, rule::read_outside, {place.at_loop, p.stage_at(consumer).output}, place.at_ordinal);
            }
            int const wrong = widen(p, needed, consumer, node, place.outer_depth);
            if (wrong >= 0) return refuse_box(p, st.output, wrong, consumer, place.outer_depth, place.at_ordinal);
            box all;
            if (widen(p, all, consumer, node, 0) >= 0) return;
            for (int dimension = 0; dimension < st.rank; ++dimension) {
                auto const d = static_cast<std::size_t>(dimension);
                std::int64_t const low = all.at[d].constant, high = low + all.extents[d] - 1;
                if (low >= 0 && high < st.axes[d].extent) continue;
                verdict& v = p.refuse(verdict_kind::outside_domain);
                v.names = {st.output};
                v.facts = {fact{fact_kind::dimension, dimension}, fact{fact_kind::from, low}, fact{fact_kind::to, high}, fact{fact_kind::limit, st.axes[d].extent - 1}};
            }
        });
    }
    if (p.refused()) return;
    if (last || place.at_stage < 0) {
        for (int dimension = 0; dimension < st.rank; ++dimension) {
            needed.at[static_cast<std::size_t>(dimension)] = {};
            needed.extents[static_cast<std::size_t>(dimension)] = st.axes[static_cast<std::size_t>(dimension)].extent;
        }
    }
    std::array<std::int64_t, stage::most_axes> extents{};
    for (int position = 0; position < st.axis_count; ++position) {
        auto const d = static_cast<std::size_t>(position);
        extents[d] = position < st.rank ? needed.extents[d] : st.axes[d].extent;
    }
    build_loops(p, s, extents);
    nest& n = p.nest_at(s);
    if (!p.refused() && n.intrinsic >= 0) {
        matching found;
        if (!match_intrinsic(p, s, n.intrinsic, found)) {
            for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
                nest_axis& covered = n.axes[static_cast<std::size_t>(found.loop_of_axis[static_cast<std::size_t>(axis)])];
                covered.lane_extent = found.semantics.axes[static_cast<std::size_t>(axis)].extent;
            }
        }
    }
    if (!p.refused()) finish_loops(p, s);
    for (int position = 0; position < st.axis_count && !p.refused(); ++position) {
        linear& value = place.axis_values[static_cast<std::size_t>(position)];
        value = value_of(p, s, position);
        if (position < st.rank) value.add(needed.at[static_cast<std::size_t>(position)]);
    }
    if (p.refused() || place.home >= 0) return;
    if (place.store_memory < 0) {
        p.refuse(verdict_kind::no_memory, place.at_ordinal).names = {st.output};
        return;
    }
    place.home = static_cast<std::int16_t>(add_planned(p, st.output, place.store_memory, st.type, needed, place.store_ordinal));
    if (last) p.buffer_at(place.home).kind = buffer_kind::result;
}

/// The least box of every argument that holds all that the kernel touches.
constexpr void size_arguments(planning& p) {
    for (int at = 0; at < p.plan.buffer_count; ++at) {
        buffer& b = p.buffer_at(at);
        if (b.kind != buffer_kind::argument) continue;
        box whole{.rank = b.rank};
        for (int s = 0; s < p.plan.stage_count; ++s) {
            p.each_access(s, [&](int node) {
                if (p.plan.what[node].name == b.tensor) widen(p, whole, s, node, 0);
            }, true);
        }
        double bytes = bytes_of(b.type);
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            b.minimum[d] = whole.at[d].constant;
            b.extents[d] = whole.extents[d];
            bytes *= static_cast<double>(whole.extents[d]);
        }
        b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    }
}

/// Whether a loop variable is one that the stage's intrinsic covers.
constexpr bool is_covered(planning& p, int s, int variable_at) {
    nest const& n = p.nest_at(s);
    for (int at = 0; at < n.covered_count; ++at) {
        if (n.axes[static_cast<std::size_t>(n.covered[static_cast<std::size_t>(at)])].variable == variable_at) return true;
    }
    return false;
}

/// The level and the box of every staged buffer, and what it is a part of.
constexpr void place_stagings(planning& p) {
    for (int at = 0; at < p.staging_count && !p.refused(); ++at) {
        staging& st = p.staging_at(at);
        stage_placement const& place = p.placed(st.stage);
        if (st.loop_ordinal != 0) {
            int depth = -1;
            for (int position = 0; position < place.path_length; ++position) {
                if (p.var(place.path[static_cast<std::size_t>(position)]).name == st.loop) depth = position + 1;
            }
            if (depth < 0) {
                p.refuse(verdict_kind::unknown_axis, st.loop_ordinal).names = {st.loop, p.stage_at(st.stage).output};
                return;
            }
            st.depth = static_cast<std::int16_t>(depth);
            st.level = place.path[static_cast<std::size_t>(depth - 1)];
            variable const& loop = p.var(st.level);
            if (p.nest_at(st.stage).intrinsic >= 0 && is_covered(p, st.stage, st.level)) {
                label const& intrinsic_name = p.of->where().intrinsics[p.nest_at(st.stage).intrinsic].name;
                return p.refuse(verdict_kind::loop_order, rule::inside_the_intrinsic, {loop.name, intrinsic_name}, st.loop_ordinal);
            }
        }
        if (st.writes) {
            for (int position = 0; position < st.depth; ++position) {
                variable const& loop = p.var(place.path[static_cast<std::size_t>(position)]);
                if (!loop.reduction || position < place.outer_depth) continue;
                return p.refuse(verdict_kind::loop_order, rule::inside_a_reduction, {loop.name, st.tensor}, st.loop_ordinal);
            }
        }
        box whole;
        scalar_type type{};
        p.each_access(st.stage, [&](int node) {
            bool const mine = p.plan.what[node].name == st.tensor && (node == p.stage_at(st.stage).target) == st.writes;
            if (!mine || p.refused()) return;
            type = p.plan.what[node].type;
            int const wrong = widen(p, whole, st.stage, node, st.depth);
            if (wrong >= 0) refuse_box(p, st.tensor, wrong, st.stage, st.depth, st.loop_ordinal != 0 ? st.loop_ordinal : st.ordinal);
        }, true);
        if (p.refused()) return;
        // What is stored is the whole box. A stage that continues has loaded it first.
        coverage const written = cover(p, st.stage, st.depth);
        if (st.writes && !p.stage_at(st.stage).continues && written.computed != written.spanned) {
            p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {st.loop, st.tensor}, st.loop_ordinal);
            p.plan.refusal.facts = {fact{fact_kind::have, written.computed}, fact{fact_kind::need, written.spanned}};
            return;
        }
        st.buffer = static_cast<std::int16_t>(add_planned(p, st.tensor, st.memory, type, whole, st.ordinal));
    }
}

/// The buffer that stage `s` uses for `tensor` when nothing at a level deeper than `depth` counts; at one level, the earlier directive is further out.
constexpr int buffer_for(planning& p, int s, label const& tensor, bool writes, int depth, int before) {
    int const producer = p.producer_of(tensor);
    int found = -1, found_depth = -1;
    for (int at = 0; at < p.staging_count; ++at) {
        staging const& st = p.staging_at(at);
        if (st.stage != s || st.writes != writes || st.tensor != tensor) continue;
        if (st.depth > depth || (st.depth == depth && at >= before) || st.depth < found_depth) continue;
        found = st.buffer;
        found_depth = st.depth;
    }
    if (found >= 0) return found;
    if (producer >= 0) return p.placed(producer).home;
    for (int at = 0; at < p.plan.buffer_count; ++at) {
        if (p.buffer_at(at).tensor == tensor && p.buffer_at(at).kind == buffer_kind::argument) return at;
    }
    return -1;
}

/// An axis that is used as a value, not in an index, is a use without a buffer.
constexpr void bind_axis_values(planning& p, int s, int at) {
    node const& n = p.plan.what[at];
    if (n.op == operation::axis_value && p.plan.use_at(at) == nullptr && !p.refused()) {
        use u{.node = static_cast<std::int16_t>(at)};
        u.at[0] = p.keep(p.placed(s).axis_values[static_cast<std::size_t>(p.stage_at(s).find(n.name))]);
        p.add(u);
    }
    if (n.op == operation::access || n.op == operation::constant) return;
    for (int argument = 0; argument < n.argument_count; ++argument) bind_axis_values(p, s, n.argument(argument));
}

constexpr void bind_accesses(planning& p) {
    constexpr int innermost = 1 << 10;
    for (int at = 0; at < p.staging_count; ++at) {
        staging& st = p.staging_at(at);
        st.outward = static_cast<std::int16_t>(buffer_for(p, st.stage, st.tensor, st.writes, st.depth, at));
    }
    for (int s = 0; s < p.plan.stage_count && !p.refused(); ++s) {
        p.each_access(s, [&](int node) {
            bool const writes = node == p.stage_at(s).target;
            use u{.node = static_cast<std::int16_t>(node),
                  .buffer = static_cast<std::int16_t>(buffer_for(p, s, p.plan.what[node].name, writes, innermost, innermost))};
            for (int dimension = 0; dimension < p.plan.what[node].argument_count; ++dimension) {
                auto const d = static_cast<std::size_t>(dimension);
                linear at = p.index_form(s, node, dimension);
                at.add(p.form_of(p.box_at[static_cast<std::size_t>(u.buffer)][d]), -1);
                u.at[d] = p.keep(at);
            }
            if (!p.refused()) p.add(u);
        }, true);
        bind_axis_values(p, s, p.stage_at(s).body);
    }
}

/// The program holds every loop that something is staged or computed in, all loops of a tensorized stage, and what stands around them.
constexpr void choose_owned_loops(planning& p) {
    for (int s = 0; s < p.plan.stage_count; ++s) {
        stage_placement& place = p.placed(s);
        nest const& n = p.nest_at(s);
        if (n.intrinsic >= 0) place.owned = n.depth;
        auto const hold = [&](int level) {
            for (int position = 0; position < n.depth; ++position) {
                if (n.axis_of_loop(position).variable == level && place.owned < position + 1) place.owned = position + 1;
            }
        };
        for (int at = 0; at < p.staging_count; ++at) hold(p.staging_at(at).level);
        for (int t = 0; t < s; ++t) hold(p.placed(t).level);
    }
}

/// Refuses totals that numbers cannot hold, before they are counted.
constexpr void limit_totals(planning& p) {
    plan_value const& plan = p.plan;
    double times = 1, cycles = 0, bytes = 0;
    for (int at = 0; at < plan.step_count; ++at) {
        step const& s = plan.steps[static_cast<std::size_t>(at)];
        if (s.kind == step_kind::loop) times *= static_cast<double>(p.var(s.what).extent);
        if (s.kind == step_kind::end) times /= static_cast<double>(p.var(s.what).extent);
        if (s.kind == step_kind::start) {
            movement const& m = plan.movements[static_cast<std::size_t>(s.what)];
            cycles += times * static_cast<double>(m.cycles);
            bytes += times * static_cast<double>(m.bytes);
        }
        if (s.kind == step_kind::compute) {
            body const& b = plan.bodies[static_cast<std::size_t>(s.what)];
            cycles += times * static_cast<double>(b.cycles > b.first_cycles ? b.cycles : b.first_cycles);
        }
    }
    label const& output = p.stage_at(plan.stage_count - 1).output;
    p.limited(cycles, plan_value::most_total, "cycles", output);
    p.limited(bytes, plan_value::most_total, "bytes moved", output);
}

constexpr std::int64_t count_cycles(plan_value const& plan) {
    std::int64_t total = 0;
    plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        if (s.kind == step_kind::start) total += times * plan.movements[static_cast<std::size_t>(s.what)].cycles;
        if (s.kind != step_kind::compute) return;
        body const& b = plan.bodies[static_cast<std::size_t>(s.what)];
        bool const has_first = b.first_intrinsic >= 0;
        total += (has_first ? times - first_times : times) * b.cycles + (has_first ? first_times * b.first_cycles : 0);
    });
    return total;
}

/// A stage that a transfer carries out has no loops of its own to direct.
constexpr void check_transfer_stages(planning& p) {
    for (int s = 0; s < p.plan.stage_count && !p.refused(); ++s) {
        stage_placement const& place = p.placed(s);
        if (place.transfer < 0) continue;
        bool directed = place.owned > 0 || p.nest_at(s).count != p.stage_at(s).axis_count;
        for (int at = 0; at < p.staging_count; ++at) directed |= p.staging_at(at).stage == s;
        for (int position = 0; position < p.nest_at(s).depth; ++position) {
            nest_axis const& a = p.nest_at(s).axis_of_loop(position);
            directed |= a.unrolled || a.vectorized || p.nest_at(s).order[static_cast<std::size_t>(position)] != position;
        }
        if (directed) p.refuse(verdict_kind::misplaced_directive, rule::without_loops, {p.stage_at(s).output}, place.transfer_ordinal);
    }
}

}  // namespace detail

/// Plans a schedule: boxes, addresses and the loop program, or the first verdict.
///
/// The same function serves the compiler (through `plan<S>`) and tools at run time.
constexpr plan_value make_plan(schedule const& of) {
    using namespace detail;
    planning p(of);
    plan_value& plan = p.plan;
    check_machine(p);
    if (!p.refused()) read_stages(p);
    if (!p.refused()) read_directives(p);
    if (!p.refused()) add_arguments(p);
    for (int s = plan.stage_count - 1; s >= 0 && !p.refused(); --s) place_stage(p, s);
    if (!p.refused()) size_arguments(p);
    if (!p.refused()) place_stagings(p);
    if (!p.refused()) bind_accesses(p);
    if (!p.refused()) choose_owned_loops(p);
    if (!p.refused()) check_transfer_stages(p);
    program_writer writer{p};
    for (int s = 0; s < plan.stage_count && !p.refused(); ++s) {
        if (p.placed(s).at_stage < 0) writer.write_root(s);
    }
    if (p.refused()) return plan;
    std::array<std::int16_t, plan_value::most_buffers> levels{};
    levels.fill(-1);
    for (int s = 0; s < plan.stage_count; ++s) levels[static_cast<std::size_t>(p.placed(s).home)] = p.placed(s).level;
    for (int at = 0; at < p.staging_count; ++at) levels[static_cast<std::size_t>(p.staging_at(at).buffer)] = p.staging_at(at).level;
    set_lifetimes(p, levels);
    if (!p.refused()) place_buffers(p);
    if (!p.refused()) add_fences(p);
    if (!p.refused()) limit_totals(p);
    if (!p.refused()) plan.total_cycles = count_cycles(plan);
    return plan;
}

}  // namespace tilewright
