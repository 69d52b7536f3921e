#pragma once
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "fuzz/library.hpp"
#include "fuzz/recipe.hpp"

/// What the library is given for a drawn case.
namespace fuzz {

/// Nodes as the operators of the compute language make them, for expressions whose size is not known to the compiler.
class node_writer {
  public:
    node_writer(std::vector<tensor> const& tensors, std::vector<parameter> const& parameters)
        : tensors_(tensors), parameters_(parameters) {}

    void write(stage const& s) {
        int const target = write_target(s);
        int value = 0;
        auto const reduced = [&] { return write_reduction(s); };
        if (s.start || s.continues) {
            auto const begins = [&] { return s.continues ? write_target(s) : write(*s.start, s); };
            operation const step = s.reduction == operation::reduce_maximum   ? operation::maximum
                                   : s.reduction == operation::reduce_minimum ? operation::minimum
                                                                              : operation::add;
            int const first = s.start_leads ? begins() : reduced(), second = s.start_leads ? reduced() : begins();
            value = push({.op = step, .type = type_of(s.output)}, {first, second});
        } else {
            value = reduced();
        }
        push({.op = operation::store, .type = type_of(s.output), .name = name_of(s.output)}, {target, value});
    }
    std::vector<ir::node> take() { return std::move(nodes_); }

  private:
    scalar_type type_of(int which) const { return tensors_.at(static_cast<std::size_t>(which)).type; }
    ir::label name_of(int which) const { return ir::label(tensors_.at(static_cast<std::size_t>(which)).name.c_str()); }

    int push(ir::node n, std::vector<int> const& arguments = {}) {
        n.argument_count = static_cast<std::int8_t>(arguments.size());
        for (std::size_t at = 0; at < arguments.size(); ++at) n.arguments[at] = static_cast<std::int16_t>(arguments[at]);
        nodes_.push_back(n);
        return static_cast<int>(nodes_.size()) - 1;
    }
    static std::int64_t kept_extent(axis const& a) {
        return !a.open ? a.extent : a.most > 0 ? std::int64_t{dynamic.up_to(a.most)} : std::int64_t{dynamic};
    }
    int write_axis(stage const& s, int which) {
        axis const& a = s.axes.at(static_cast<std::size_t>(which));
        return push({.op = operation::axis_value, .type = scalar_type::int32, .name = ir::label(a.name.c_str()), .value = kept_extent(a)});
    }
    int write_number(std::int64_t number) { return push({.op = operation::constant, .type = scalar_type::int32, .value = number}); }
    int write_target(stage const& s) {
        std::vector<int> axes;
        for (int at = 0; at < s.rank; ++at) axes.push_back(write_axis(s, at));
        return push({.op = operation::access, .type = type_of(s.output), .name = name_of(s.output)}, axes);
    }
    int write_reduction(stage const& s) {
        if (s.reduction == operation::constant || (s.continues && s.axes.size() == static_cast<std::size_t>(s.rank)))
            return write(s.body, s);
        std::vector<int> arguments;
        for (int at = s.rank; at < static_cast<int>(s.axes.size()) && s.named; ++at) arguments.push_back(write_axis(s, at));
        int const body = write(s.body, s);
        arguments.insert(arguments.begin(), body);
        return push({.op = s.reduction, .type = type_of(s.output)}, arguments);
    }
    int write_index(index const& i, stage const& s) {
        using enum operation;
        int sum = -1;
        auto const combine = [&](operation op, int a, int b) { return push({.op = op, .type = scalar_type::int32}, {a, b}); };
        for (index::term const& t : i.terms) {
            bool const subtracts = sum >= 0 && t.factor == -1;
            int part = -1;
            if (t.factor == 1 || subtracts) part = write_axis(s, t.axis);
            else {
                int const factor = write_number(t.factor);
                part = combine(multiply, factor, write_axis(s, t.axis));
            }
            sum = sum < 0 ? part : combine(subtracts ? subtract : add, sum, part);
        }
        if (sum < 0) return write_number(i.constant);
        if (i.constant == 0) return sum;
        int const offset = write_number(i.constant);
        return combine(add, sum, offset);
    }
    int write(value const& v, stage const& s) {
        ir::node n{.op = v.op, .type = v.type};
        switch (v.op) {
            case operation::constant: n.value = v.number; return push(n);
            case operation::parameter: n.name = ir::label(parameters_.at(static_cast<std::size_t>(v.which)).name.c_str()); return push(n);
            case operation::axis_value: return write_axis(s, v.which);
            case operation::access: {
                tensor const& of = tensors_.at(static_cast<std::size_t>(v.which));
                std::vector<int> indices;
                for (std::size_t d = 0; d < v.at.size(); ++d) {
                    int const computed = v.at[d].computed;
                    int at = computed < 0 ? write_index(v.at[d], s) : write(v.arguments.at(static_cast<std::size_t>(computed)), s);
                    if (v.padded) {
                        std::string const name = "p" + std::to_string(v.which) + "_" + std::to_string(d);
                        at = push({.op = operation::within,
                                   .type = scalar_type::int32,
                                   .name = ir::label(name.c_str()),
                                   .value = of.padded_to.at(d)},
                                  {at});
                    }
                    indices.push_back(at);
                }
                n.name = ir::label(of.name.c_str());
                n.type = of.type;
                if (v.padded) n.value = v.number;
                return push(n, indices);
            }
            case operation::invalid: return write_call(library_functions().at(static_cast<std::size_t>(v.which)), v, s);
            default: {
                std::vector<int> arguments;
                for (value const& part : v.arguments) arguments.push_back(write(part, s));
                return push(n, arguments);
            }
        }
    }
    /// The nodes that a function is made of, its arguments in place of what stands in for them. An argument stands as often as it is used,
    /// as it does where the function is called in C++.
    int write_call(library_function const& f, value const& v, stage const& s) {
        std::vector<int> position(f.nodes.size());
        for (std::size_t at = 0; at < f.nodes.size(); ++at) {
            ir::node n = f.nodes[at];
            bool stands_in = false;
            for (std::size_t argument = 0; argument < f.of.size(); ++argument) {
                auto const& mine = f.stand_ins[argument];
                if (std::find(mine.begin(), mine.end(), static_cast<int>(at)) == mine.end()) continue;
                position[at] = write(v.arguments.at(argument), s);
                stands_in = true;
            }
            if (stands_in) continue;
            for (int argument = 0; argument < n.argument_count && n.op != operation::constant; ++argument) {
                std::int16_t& of = n.arguments[argument];
                of = static_cast<std::int16_t>(position[of]);
            }
            nodes_.push_back(n);
            position[at] = static_cast<int>(nodes_.size()) - 1;
        }
        return position.back();
    }

    std::vector<tensor> const& tensors_;
    std::vector<parameter> const& parameters_;
    std::vector<ir::node> nodes_;
};

/// A case as values of the library, which point at each other.
struct built_case {
    std::vector<ir::node> nodes{};
    machine where{};
    schedule made{computation_view{}, where};

    built_case() = default;
    built_case(built_case const&) = delete;
};

namespace detail {

template <std::size_t... At>
void reorder_as(schedule& made, std::vector<std::string> const& order, std::index_sequence<At...>) {
    if constexpr (sizeof...(At) < 14) {
        if (order.size() > sizeof...(At)) return reorder_as(made, order, std::make_index_sequence<sizeof...(At) + 1>());
    }
    made.reorder(loop_name(order.at(At).c_str())...);
}
template <std::size_t... At>
void tensorize_as(schedule& made, std::vector<std::string> const& loops, intrinsic_description const& by, std::index_sequence<At...>) {
    if constexpr (sizeof...(At) < 8) {
        if (loops.size() > sizeof...(At) + 1) return tensorize_as(made, loops, by, std::make_index_sequence<sizeof...(At) + 1>());
    }
    made.tensorize(loop_name(loops.at(0).c_str()), loop_name(loops.at(At + 1).c_str())..., by);
}
template <int Rank = 0>
void layout_as(schedule& made, int rank, index_map_list const& list) {
    if constexpr (Rank <= max_rank) {
        if (rank != Rank) return layout_as<Rank + 1>(made, rank, list);
        [&]<std::size_t... D>(std::index_sequence<D...>) {
            made.layout([&](std::enable_if_t<(D < max_rank), box_index>...) { return list; });
        }
        (std::make_index_sequence<Rank>{});
    }
}

/// A stage of an instruction or a transfer, in the form that parts of machines are made of.
inline semantics_nodes semantics_of_stage(std::vector<tensor> const& tensors, stage const& does) {
    std::vector<parameter> const none;
    node_writer writer(tensors, none);
    writer.write(does);
    std::vector<ir::node> const nodes = writer.take();
    semantics_nodes made;
    made.count = static_cast<int>(nodes.size());
    for (std::size_t at = 0; at < nodes.size() && at < max_semantics; ++at) made.nodes[at] = nodes[at];
    return made;
}
/// `d(e) = number`
inline semantics_nodes semantics_of_fill(fill const& of) {
    std::vector<tensor> const tensors{{.name = "d", .type = of.type}};
    stage const does{.axes = {{.name = "e"}}, .rank = 1, .body = {.type = of.type, .number = of.number}};
    return semantics_of_stage(tensors, does);
}

inline required_setting setting_of(used_registers const& of) {
    required_setting made{.configuration_name = ir::label(of.configuration.c_str())};
    for (used_registers::value const& v : of.values)
        made.push(call_argument{v.is, v.is == role::covered ? static_cast<std::int8_t>(v.operand) : v.dimension,
                                v.is == role::covered ? std::int8_t{-1} : static_cast<std::int8_t>(v.operand), v.literal});
    return made;
}

inline intrinsic intrinsic_of(instruction const& i) {
    intrinsic made(ir::label(i.name.c_str()), computation<1>{});
    made.does = semantics_of_stage(i.tensors, i.does);
    for (std::size_t at = 0; at < i.tensors.size(); ++at) {
        any_tensor const operand{ir::label(i.tensors[at].name.c_str()), i.tensors[at].type};
        memory const where{.name = ir::label(i.memories.at(at).c_str())};
        if (static_cast<int>(at) != i.does.output) made.reads(operand, where);
        else if (i.updates) made.updates(operand, where);
        else made.writes(operand, where);
        if (static_cast<int>(at) == i.in_place) made.in_place(operand);
    }
    if (!i.engine.empty()) made.on(engine{.name = ir::label(i.engine.c_str())});
    if (i.asynchronous) made.asynchronous();
    for (used_registers const& used : i.uses) made.protocol.push(setting_of(used));
    made.flexible_axes = static_cast<std::uint16_t>(i.flexible);
    made.costs = i.costs;
    return made;
}

}  // namespace detail

inline machine build_machine(machine_parts const& parts) {
    machine made(ir::label("drawn"));
    for (memory const& m : parts.memories) made.add(m);
    for (engine const& e : parts.engines) made.add(e);
    for (tilewright::tokens const& t : parts.tokens) made.add(t);
    for (core const& c : parts.cores) made.add(c);
    for (configuration const& c : parts.configurations) made.add(c);
    for (move const& m : parts.transfers) {
        transfer whole = m.what;
        for (used_registers const& used : m.uses) whole.protocol.push(detail::setting_of(used));
        if (m.fills) whole.does = detail::semantics_of_fill(*m.fills);
        made.add(whole);
    }
    for (instruction const& i : parts.instructions) made.add(detail::intrinsic_of(i));
    return made;
}

inline std::unique_ptr<built_case> build(drawn_case const& of) {
    auto made = std::make_unique<built_case>();
    node_writer writer(of.tensors, of.parameters);
    for (stage const& s : of.stages) writer.write(s);
    made->nodes = writer.take();
    made->where = build_machine(of.where);
    made->made = schedule(computation_view{made->nodes.data(), static_cast<int>(made->nodes.size())}, made->where);
    schedule& s = made->made;
    for (directive const& d : of.directives) {
        using enum directive_kind;
        auto const name = [&](std::size_t at) { return loop_name(d.names.at(at).c_str()); };
        auto const memory_at = [&](std::size_t at) { return memory{.name = ir::label(d.names.at(at).c_str())}; };
        any_tensor spoken_of{};
        if (d.tensor >= 0) {
            tensor const& t = of.tensors.at(static_cast<std::size_t>(d.tensor));
            spoken_of = {ir::label(t.name.c_str()), t.type};
        }
        switch (d.kind) {
            case directive_kind::stage: s.stage(spoken_of); break;
            case split: s.split(name(0), name(1), name(2), d.numbers.at(0)); break;
            case tile: s.tile(name(0), name(1), name(2), name(3), name(4), name(5), d.numbers.at(0), d.numbers.at(1)); break;
            case fuse: s.fuse(name(0), name(1), name(2)); break;
            case reorder: detail::reorder_as(s, d.names, std::make_index_sequence<2>()); break;
            case unroll: d.numbers.empty() ? s.unroll(name(0)) : s.unroll(name(0), d.numbers[0]); break;
            case vectorize: d.numbers.empty() ? s.vectorize(name(0)) : s.vectorize(name(0), d.numbers[0]); break;
            case parallel: s.parallel(name(0)); break;
            case on: s.on(core{.name = ir::label(d.names.at(0).c_str())}, static_cast<int>(d.numbers.at(0))); break;
            case distribute: {
                core const among{.name = ir::label(d.names.at(1).c_str())};
                d.numbers.empty() ? s.distribute(name(0), among) : s.distribute(name(0), among, d.numbers[0]);
                break;
            }
            case compute_at: s.compute_at(spoken_of, name(0)); break;
            case store_in: s.store_in(spoken_of, memory_at(0)); break;
            case reads: s.reads(spoken_of, memory_at(0)); break;
            case writes: s.writes(spoken_of, memory_at(0)); break;
            case cache_read: s.cache_read(spoken_of, memory_at(0)); break;
            case cache_write: s.cache_write(spoken_of, memory_at(0)); break;
            case at: s.at(name(0)); break;
            case by: s.by(transfer_description{.name = ir::label(d.names.at(0).c_str())}); break;
            case buffers: s.buffers(d.numbers.at(0)); break;
            case prefetch: d.names.empty() ? s.prefetch(d.numbers.at(0)) : s.prefetch(d.numbers.at(0), name(0)); break;
            case in_bank: s.in_bank(d.numbers.at(0)); break;
            case layout: {
                index_map_list list{.arguments = d.coordinates};
                for (layout_part const& p : d.layout) {
                    box_index part{.dimension = p.dimension};
                    if (p.below > 0) part = part % p.below;
                    if (p.step > 1) part = part / p.step;
                    if (list.count < index_map_list::most) list.indices[list.count] = part;
                    ++list.count;
                    if (d.separates && list.count == 1) ++list.count;
                }
                detail::layout_as(s, d.coordinates, list);
                break;
            }
            case tensorize:
                detail::tensorize_as(s, {d.names.begin() + 1, d.names.end()}, {.name = ir::label(d.names.at(0).c_str())},
                                     std::make_index_sequence<0>());
                break;
        }
    }
    return made;
}

}  // namespace fuzz
