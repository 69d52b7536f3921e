#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/halide/border.hpp>
#include <tilewright/halide/checked.hpp>
#include <tilewright/halide/order.hpp>
#include <tuple>

// Calls of transfers.
namespace tilewright::halide {

class code_transfers : public code_order {
  protected:
    using code_order::code_order;

    /// The elements of one of its dimensions that a call moves, from and to; -1: the row.
    struct reach {
        Expr begin, extent;
        bool clipped = false;
        Expr pad_before = wide(0), pad_after = wide(0);  ///< of them, those before and after that are border: written, not read
    };
    reach reach_of(movement const& m, int dimension) const {
        Expr begin = wide(0);
        Expr end = wide(dimension < 0 ? m.row_elements : m.dimensions[dimension].extent);
        bool clipped = false, padded = false;
        Expr first = wide(0), last = end;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[at];
            if (c.dimension != dimension || c.is == clip_kind::only || c.is == clip_kind::beyond) continue;
            Expr const here = wide(c.bound) - Halide::cast<std::int64_t>(form_value(plan_, c.form, loop_values_at(m.at)));
            bool const ends = c.is == clip_kind::end || c.is == clip_kind::border_end;
            (ends ? last : first) = ends ? Halide::min(last, here) : Halide::max(first, here);
            padded |= pads(c.is);
            if (pads(c.is)) continue;
            (ends ? end : begin) = ends ? Halide::min(end, here) : Halide::max(begin, here);
            clipped = true;
        }
        using Halide::Internal::simplify;
        reach made{simplify(begin), simplify(end - begin), clipped};
        if (padded) made.pad_before = simplify(first - begin), made.pad_after = simplify(end - last);
        return made;
    }
    /// The condition of the call: something of every dimension is left.
    Expr is_made(movement const& m, ir::list<reach> const& reaches) const {
        Expr made = Halide::Internal::const_true(), beyond;
        for (reach const& r : reaches) {
            if (r.clipped) made = made && r.extent > wide(0);
        }
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[at];
            Expr const before = form_value(plan_, c.form, loop_values_at(m.at)) < static_cast<int>(c.bound);
            if (c.is == clip_kind::only) made = made && before;
            if (c.is == clip_kind::beyond) beyond = beyond.defined() ? beyond || !before : !before;
        }
        return Halide::Internal::simplify(beyond.defined() ? made && beyond : made);
    }

    /// Of the dimensions in their order, then of the row.
    ir::list<reach> reaches_of(movement const& m) const {
        ir::list<reach> reaches;
        for (int position = 0; position < m.dimension_count; ++position) reaches.push_back(reach_of(m, position));
        reaches.push_back(reach_of(m, -1));
        return reaches;
    }
    Stmt where_made(movement const& m, ir::list<reach> const& reaches, Stmt const& what) const {
        Expr const condition = is_made(m, reaches);
        return Halide::Internal::is_const_one(condition) ? what : Halide::Internal::IfThenElse::make(condition, what);
    }
    Stmt transfer_call(movement const& m) const {
        ir::list<reach> const reaches = reaches_of(m);
        return where_made(m, reaches, set_up(m, reaches, transfer_call(m, reaches)));
    }
    /// A call after the settings that each one makes for itself.
    Stmt set_up(movement const& m, ir::list<reach> const& reaches, Stmt const& what) const {
        part_range const& uses = plan_.where->transfers[m.transfer].settings;
        std::vector<Stmt> all;
        for (int which = 0; which < uses.count; ++which) {
            if ((m.sets >> which & 1) == 0) continue;
            required_setting const& setting = plan_.where->settings[uses.first + which];
            device_call values;
            for (int at = 0; at < setting.count; ++at) values.push(setting.values[at]);
            all.push_back(
                configure(plan_.where->configurations.find(setting.configuration_name), arguments_of(values, m, reaches, Expr(), Expr())));
        }
        all.push_back(what);
        return Halide::Internal::Block::make(all);
    }
    Stmt transfer_call(movement const& m, ir::list<reach> const& reaches) const {
        transfer_description const& t = plan_.where->transfers[m.transfer];
        loop_value const loops = loop_values_at(m.at);
        Expr const nowhere = Halide::Internal::make_const(Halide::UInt(64), 0);
        auto const address_of = [&](int buffer_at, fixed_array<affine, max_rank> const& at) {
            return buffer_at < 0 || values_.holds(buffer_at) ? nowhere : element_address_bits(buffer_at, at, loops);
        };
        Expr from = address_of(m.source, m.source_at), to = address_of(m.destination, m.destination_at);
        for (int position = 0; position <= m.dimension_count; ++position) {
            reach const& along = reaches[position];
            Expr const begin = along.begin, first = Halide::Internal::simplify(begin + along.pad_before);
            if (Halide::Internal::is_const_zero(begin) && Halide::Internal::is_const_zero(first)) continue;
            bool const row = position == m.dimension_count;
            movement_dimension const d = row ? movement_dimension{} : m.dimensions[position];
            auto const behind = [&](Expr const& elements, int buffer_at, int dimension) {
                std::int64_t const size = buffer_at < 0 ? 0 : bytes_of(plan_.buffers[buffer_at].type);
                Expr const stride =
                    row ? wide(size) : byte_stride(buffer_at, dimension, buffer_at == m.source ? d.source_factor : d.destination_factor);
                return Halide::cast<std::uint64_t>(elements * stride);
            };
            if (m.source >= 0) from = from + behind(first, m.source, d.source_dimension);
            if (!Halide::Internal::is_const_zero(begin)) to = to + behind(begin, m.destination, d.destination_dimension);
        }
        Expr const row_elements = reaches.back().extent;
        Expr const tag = t.is_asynchronous ? tag_of(m.at) : wide(-1);
        std::int64_t const size = bytes_of(plan_.buffers[m.destination].type);
        if (how_.to == binding::emulated) {
            std::vector<Expr> shape{row_elements,
                                    wide(size),
                                    wide(m.source < 0 ? 0 : bytes_of(plan_.buffers[m.source].type)),
                                    wide(m.dimension_count),
                                    tag,
                                    wide(m.source),
                                    wide(m.destination)};
            for (int position = 0; position < m.dimension_count; ++position) {
                movement_dimension const& d = m.dimensions[position];
                shape.push_back(reaches[position].extent);
                shape.push_back(byte_stride(m.source, d.source_dimension, d.source_factor));
                shape.push_back(byte_stride(m.destination, d.destination_dimension, d.destination_factor));
            }
            if (t.border.is) {
                shape.push_back(border_bits(m));
                reach const& row = reaches.back();
                shape.insert(shape.end(), {row.pad_before, row.pad_after});
                for (int position = 0; position < m.dimension_count; ++position) {
                    reach const& along = reaches[position];
                    shape.insert(shape.end(), {along.pad_before, along.pad_after});
                }
            }
            if (is_dealt_out(*plan_.where, t)) shape.push_back(channel_of(m));
            if (t.is_multicast) shape.push_back(wide(plan_.cores));
            Expr const source = reinterpret_to_handle(m.source < 0 ? from : encoded(m.source, from));
            Expr const destination = reinterpret_to_handle(encoded(m.destination, to));
            return started(m, checked(call(Halide::Int(32), "tilewright_emulate_transfer",
                                           {machine_handle(), static_cast<int>(m.transfer), source, destination, structure(shape)})));
        }
        if (values_.holds(m.source) || values_.holds(m.destination)) return move_register(m, from, to);
        std::vector<Stmt> calls;
        each_call(*plan_.where, t, [&](device_call const& described) {
            calls.push_back(checked(call(Halide::Int(32), described.symbol.str(), arguments_of(described, m, reaches, from, to))));
        });
        return started(m, Halide::Internal::Block::make(calls));
    }
    /// A load into a register, a store from it, or a move from one to another. Its row is one register.
    Stmt move_register(movement const& m, Expr const& from, Expr const& to) const {
        loop_value const loops = loop_values_at(m.at);
        bool const stores = !values_.holds(m.destination);
        device_call const described = call_of(*plan_.where, plan_.where->transfers[m.transfer]);
        std::vector<Expr> arguments;
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[position];
            if (a.is == role::literal) arguments.push_back(wide(a.value));
            else if (a.is == role::destination)
                arguments.push_back(address_argument(m.destination, plan_.where->transfers[m.transfer].destination, to, a));
            else if (values_.holds(m.source)) arguments.push_back(register_at(m.source, m.source_at, loops));
            else arguments.push_back(only_read(address_argument(m.source, plan_.where->transfers[m.transfer].source, from, a)));
        }
        return value_call(described.symbol, stores ? Expr() : register_at(m.destination, m.destination_at, loops), arguments);
    }
    std::vector<Expr> arguments_of(device_call const& described, movement const& m, ir::list<reach> const& reaches, Expr const& from,
                                   Expr const& to) const {
        std::int64_t const size = bytes_of(plan_.buffers[m.destination].type);
        Expr const& row_elements = reaches.back().extent;
        Expr elements = wide(1);
        for (reach const& r : reaches) elements = elements * r.extent;
        std::vector<Expr> arguments;
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[position];
            // Dimension 0 is the row; 1 is the innermost of the others.
            int const which = m.dimension_count - a.dimension;
            bool const present = a.dimension >= 1 && which >= 0;
            movement_dimension const d = present ? m.dimensions[which] : movement_dimension{};
            switch (a.is) {
                case role::source:
                    if (m.source >= 0) arguments.push_back(address_argument(m.source, plan_.where->transfers[m.transfer].source, from, a));
                    else
                        arguments.push_back(is_numbered(plan_.where->transfers[m.transfer].source) ? wide(0) : reinterpret_to_handle(from));
                    break;
                case role::destination:
                    arguments.push_back(address_argument(m.destination, plan_.where->transfers[m.transfer].destination, to, a));
                    break;
                case role::bytes: arguments.push_back(in_units(Halide::Internal::simplify(elements * wide(size)), a)); break;
                case role::row_bytes: arguments.push_back(in_units(Halide::Internal::simplify(row_elements * wide(size)), a)); break;
                case role::element_bytes: arguments.push_back(wide(size)); break;
                case role::extent:
                    arguments.push_back(in_units(a.dimension == 0 ? row_elements : present ? reaches[which].extent : wide(1), a));
                    break;
                case role::source_stride:
                    arguments.push_back(in_units(byte_stride(m.source, present ? d.source_dimension : -1, d.source_factor), a));
                    break;
                case role::destination_stride:
                    arguments.push_back(
                        in_units(byte_stride(m.destination, present ? d.destination_dimension : -1, d.destination_factor), a));
                    break;
                case role::pad_before:
                case role::pad_after: {
                    if (a.dimension > 0 && !present) {
                        arguments.push_back(wide(0));
                        break;
                    }
                    reach const& along = a.dimension == 0 ? reaches.back() : reaches[which];
                    arguments.push_back(a.is == role::pad_before ? along.pad_before : along.pad_after);
                    break;
                }
                case role::pad_value: arguments.push_back(border_bits(m)); break;
                case role::tag: arguments.push_back(tag_of(m.at)); break;
                case role::channel: arguments.push_back(channel_of(m)); break;
                case role::cores: arguments.push_back(wide(plan_.cores)); break;
                default: arguments.push_back(wide(a.value)); break;
            }
        }
        return arguments;
    }

    /// What a call writes outside, as an argument; a call that meets no border writes nothing there.
    Expr border_bits(movement const& m) const { return wide(m.border < 0 ? 0 : argument_bits(plan_.what[m.border])); }

    /// Loops that write the border of a padded access to a box.
    Stmt fill_by_core(movement const& m, ir::list<reach> const& reaches) const {
        using namespace Halide::Internal;
        buffer const& b = plan_.buffers[m.destination];
        std::string const& name = name_of_buffer(m.destination);
        Expr index = 0;
        std::vector<std::tuple<std::string, Expr, Expr>> loops;
        Expr elements = wide(1);
        auto const add = [&](reach const& along, std::int64_t stride) {
            auto const narrow = [](Expr const& value) { return simplify(Halide::cast<std::int32_t>(value)); };
            loops.emplace_back(name + ".border" + std::to_string(loops.size()), narrow(along.begin), narrow(along.extent));
            index = index + Variable::make(Halide::Int(32), std::get<0>(loops.back())) * static_cast<int>(stride);
            elements = elements * along.extent;
        };
        for (int at = 0; at < m.dimension_count; ++at) {
            movement_dimension const& d = m.dimensions[at];
            add(reaches[at], b.stride(d.destination_dimension) * d.destination_factor);
        }
        add(reaches.back(), 1);
        Expr const border = simplify(Halide::cast(stored_type(b.type), border_of(plan_.what, m.border)));
        Stmt fill = Store::make(name, border, simplify(index), Parameter(), const_true(), ModulusRemainder());
        Expr const address = element_address_bits(m.destination, m.destination_at, loop_values_at(m.at));
        int const stage_at = plan_.stage_of(m.border);
        if (how_.checked) fill = report_accesses(fill, machine_handle(), stage_at, {{name, {m.destination, address}}}, true);
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
            fill = For::make(std::get<0>(*loop), std::get<1>(*loop), std::get<2>(*loop), ForType::Serial, Halide::DeviceAPI::None, fill);
        fill = LetStmt::make(name, reinterpret_to_handle(address), fill);
        if (how_.to != binding::emulated) return fill;
        return Block::make(
            Evaluate::make(code_call(simplify(elements),
                                     {.store = 1, .wait = static_cast<std::int32_t>(plan_.where->memories[b.memory].wait_cycles)})),
            fill);
    }
    /// Tells the emulator what loops that stay code are going to do.
    Expr code_call(Expr const& iterations, operation_counts const& c) const {
        return call(Halide::Int(32), "tilewright_emulate_code",
                    {machine_handle(), iterations, c.load, c.store, c.arithmetic, c.multiply, c.divide, c.convert, c.wait});
    }
};

}  // namespace tilewright::halide
