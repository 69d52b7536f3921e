#pragma once
#include <tilewright/plan/nest.hpp>
#include <tilewright/plan/placement.hpp>
#include <tilewright/plan/program.hpp>

namespace tilewright {

namespace detail {

/// Descriptions whose parts do not fit together, or ask for what plans do not do yet.
constexpr void check_machine(planning& p) {
    machine const& m = p.of->where();
    auto const fit = [&](auto const& list, char const* name) {
        if (list.count > list.most) p.refuse_capacity(name, list.count, list.most);
    };
    fit(m.memories, "memories");
    fit(m.engines, "engines");
    fit(m.cores, "cores");
    fit(m.transfers, "transfers");
    fit(m.intrinsics, "intrinsics");
    if (m.semantics_count > machine::most_nodes) p.refuse_capacity("nodes of semantics", m.semantics_count, machine::most_nodes);
    auto const not_honoured = [&](label const& part, char const* what) { p.refuse(verdict_kind::not_honoured).names = {part, what}; };
    auto const known = [&](int position, label const& part) {
        if (position < 0) p.refuse(verdict_kind::unknown_part).names = {part, m.name};
    };
    auto const called = [&](device_call const& call, int operands) {
        if (call.count > device_call::most_arguments) p.refuse_capacity("arguments of a call", call.count, device_call::most_arguments);
        if (operands > intrinsic_description::most_operands) p.refuse_capacity("operands", operands, intrinsic_description::most_operands);
    };
    for (int at = 0; at < m.memories.size(); ++at) {
        if (m.memories[at].name.cut()) p.refuse_capacity("letters of a name", label::longest + 1, label::longest);
        if (m.memories[at].banks != 1) not_honoured(m.memories[at].name, "banks");
    }
    for (int at = 0; at < m.cores.size(); ++at) {
        if (m.cores[at].count != 1) not_honoured(m.cores[at].name, "several cores");
    }
    for (int at = 0; at < m.transfers.size(); ++at) {
        transfer_description const& t = m.transfers[at];
        if (t.name.cut() || t.call.symbol.cut()) p.refuse_capacity("letters of a name", label::longest + 1, label::longest);
        if (t.is_asynchronous) not_honoured(t.name, "asynchronous");
        known(m.memories.find(t.source), t.source);
        known(m.memories.find(t.destination), t.destination);
        if (!t.engine_name.empty()) known(m.engines.find(t.engine_name), t.engine_name);
        called(t.call, 0);
    }
    for (int at = 0; at < m.intrinsics.size(); ++at) {
        intrinsic_description const& i = m.intrinsics[at];
        if (i.name.cut() || i.call.symbol.cut()) p.refuse_capacity("letters of a name", label::longest + 1, label::longest);
        if (!i.engine_name.empty()) known(m.engines.find(i.engine_name), i.engine_name);
        called(i.call, i.operand_count);
        for (int o = 0; o < i.operand_count && o < i.most_operands; ++o) {
            known(m.memories.find(i.operands[static_cast<std::size_t>(o)].memory_name), i.operands[static_cast<std::size_t>(o)].memory_name);
        }
        for (int a = 0; a < i.call.count && a < device_call::most_arguments; ++a) {
            call_argument const& argument = i.call.arguments[static_cast<std::size_t>(a)];
            bool const of_operand = argument.is == role::address || argument.is == role::stride;
            if ((of_operand && argument.operand < 0) || (!of_operand && argument.is != role::literal)) {
                p.refuse(verdict_kind::unknown_part).names = {i.name, "the arguments of its call"};
            }
        }
    }
}

constexpr void read_stages(planning& p) {
    plan_value& plan = p.plan;
    for (int first = 0; first < plan.what.count && !p.refused();) {
        stage s;
        stage_mistake const wrong = read_stage(plan.what, first, s);
        if (wrong.rule != nullptr) {
            p.refuse_ill_formed(wrong.rule, wrong.about, s.output);
            return;
        }
        if (p.producer_of(s.output) >= 0) return p.refuse_ill_formed("a tensor is computed by two stages", s.output, s.output);
        first = s.store + 1;
        p.keep(plan.stages, plan.stage_count, s, "stages");
    }
    for (int at = 0; at < plan.what.count; ++at) {
        if (plan.what[at].name.cut()) p.refuse_capacity("letters of a name", label::longest + 1, label::longest);
    }
    for (int s = 0; s + 1 < plan.stage_count; ++s) {
        bool read = false;
        for (int consumer = s + 1; consumer < plan.stage_count; ++consumer) {
            p.each_access(consumer, [&](int node) { read |= plan.what[node].name == p.stage_at(s).output; });
        }
        if (!read) return p.refuse_ill_formed("no later stage reads what it computes", p.stage_at(s).output, p.stage_at(s).output);
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
        for (int position = 0; position < d.name_count; ++position) {
            if (name(position).cut()) return p.refuse_capacity("letters of a name", label::longest + 1, label::longest, ordinal);
        }
        auto const stage_named = [&](label const& tensor) {
            int const s = p.producer_of(tensor);
            if (s < 0) p.refuse(verdict_kind::unknown_tensor, ordinal).names = {tensor};
            return s;
        };
        auto const conflict = [&](label const& what) { p.refuse(verdict_kind::conflicting_directives, ordinal).names = {what, name_of(d.kind)}; };
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
                    p.refuse(verdict_kind::unknown_tensor, ordinal).names = {name(0)};
                    break;
                }
                last_staging = p.keep(p.stagings, p.staging_count,
                                      staging{.stage = static_cast<std::int16_t>(current), .writes = writes, .tensor = name(0),
                                              .memory = memory_named(name(1)), .ordinal = static_cast<std::int16_t>(ordinal)},
                                      "staged buffers");
                break;
            }
            case directive_kind::at:
                if (last_staging < 0 || p.staging_at(last_staging).loop_ordinal != 0) return conflict(name(0));
                p.staging_at(last_staging).loop = name(0);
                p.staging_at(last_staging).loop_ordinal = static_cast<std::int16_t>(ordinal);
                break;
            case directive_kind::by: {
                auto const transfer_at = static_cast<std::int16_t>(where.transfers.find(name(0)));
                if (transfer_at < 0) p.refuse(verdict_kind::unknown_part, ordinal).names = {name(0), where.name};
                if (last_staging >= 0) {
                    if (p.staging_at(last_staging).transfer >= 0) return conflict(name(0));
                    p.staging_at(last_staging).transfer = transfer_at;
                    p.staging_at(last_staging).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                } else if (last_stored >= 0 && p.placed(last_stored).transfer < 0) {
                    p.placed(last_stored).transfer = transfer_at;
                    p.placed(last_stored).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                } else return conflict(name(0));
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
        char const number[] = {static_cast<char>('0' + again++), '\0'};
        b.name = dotted(dotted(tensor, m.name), number);
        at = -1;
    }
    b.bytes = bytes_of(type);
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        b.extents[d] = whole.extents[d];
        b.bytes *= whole.extents[d];
    }
    if (b.name.cut()) p.refuse_capacity("letters of a name", label::longest + 1, label::longest, ordinal);
    int const at = p.add(b);
    for (int dimension = 0; dimension < whole.rank && !p.refused(); ++dimension) {
        p.box_at[static_cast<std::size_t>(at)][static_cast<std::size_t>(dimension)] = p.keep(whole.at[static_cast<std::size_t>(dimension)]);
    }
    return at;
}

/// Arguments in the order in which the computation names them, the result last.
constexpr void add_arguments(planning& p) {
    auto const add = [&](int node, bool written) {
        tilewright::node const& n = p.plan.what[node];
        for (int at = 0; at < p.plan.buffer_count; ++at) {
            if (p.buffer_at(at).tensor == n.name) {
                if (p.buffer_at(at).rank != n.argument_count) p.refuse_ill_formed("a tensor is indexed with two ranks", n.name, n.name);
                if (p.buffer_at(at).type != n.type) p.refuse_ill_formed("a tensor has two element types", n.name, n.name);
                return;
            }
        }
        p.add(buffer{.name = n.name, .tensor = n.name, .written = written, .type = n.type, .rank = static_cast<std::int16_t>(n.argument_count),
                     .alignment = bytes_of(n.type), .dense_from = static_cast<std::uint8_t>(n.argument_count > 0 ? n.argument_count - 1 : 0)});
    };
    for (int s = 0; s < p.plan.stage_count; ++s) {
        p.each_access(s, [&](int node) {
            int const producer = p.producer_of(p.plan.what[node].name);
            if (producer < 0) add(node, false);
            else if (producer >= s) p.refuse_ill_formed("a stage reads what a later stage computes", p.plan.what[node].name, p.stage_at(s).output);
            else if (p.stage_at(producer).rank != p.plan.what[node].argument_count) p.refuse_ill_formed("a tensor is indexed with two ranks", p.plan.what[node].name, p.stage_at(s).output);
            else if (p.stage_at(producer).type != p.plan.what[node].type) p.refuse_ill_formed("a tensor has two element types", p.plan.what[node].name, p.stage_at(s).output);
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
        for (int t = s + 1; t < p.plan.stage_count && place.at_stage < 0; ++t) {
            int const position = p.nest_at(t).position_of(place.at_loop);
            if (position < 0) continue;
            place.at_stage = static_cast<std::int16_t>(t);
            place.level = p.nest_at(t).axis_of_loop(position).variable;
            place.outer_depth = p.placed(t).outer_depth + position + 1;
            place.path = p.placed(t).path;
        }
        if (place.at_stage < 0) {
            p.refuse(verdict_kind::unknown_axis, place.at_ordinal).names = {place.at_loop, last ? st.output : p.stage_at(s + 1).output};
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
                p.refuse(verdict_kind::loop_order, place.at_ordinal).names = {place.at_loop, p.stage_at(consumer).output};
                return;
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
                v.facts = {fact{tilewright::dimension, dimension}, fact{from, low}, fact{to, high}, fact{limit, st.axes[d].extent - 1}};
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
        p.refuse(verdict_kind::no_memory, place.at_ordinal).names = {st.output, "no store_in"};
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
        b.bytes = bytes_of(b.type);
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            b.minimum[d] = whole.at[d].constant;
            b.extents[d] = whole.extents[d];
            b.bytes *= whole.extents[d];
        }
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
                p.refuse(verdict_kind::loop_order, st.loop_ordinal).names = {loop.name, p.of->where().intrinsics[p.nest_at(st.stage).intrinsic].name};
                return;
            }
        }
        if (st.writes) {
            for (int position = 0; position < st.depth; ++position) {
                variable const& loop = p.var(place.path[static_cast<std::size_t>(position)]);
                if (!loop.reduction || position < place.outer_depth) continue;
                p.refuse(verdict_kind::loop_order, st.loop_ordinal).names = {loop.name, st.tensor};
                return;
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
            directed |= a.unrolled || a.vectorized;
        }
        if (directed) p.refuse(verdict_kind::conflicting_directives, place.transfer_ordinal).names = {p.stage_at(s).output, "by"};
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
    if (!p.refused()) plan.total_cycles = count_cycles(plan);
    return plan;
}

}  // namespace tilewright
