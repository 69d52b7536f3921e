#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/copy_code.hpp>
#include <tilewright/machine/call_limits.hpp>

// Calls of intrinsics: their settings and their arguments.
namespace tilewright::halide {

class code_intrinsics : public code_copies {
  protected:
    using code_copies::code_copies;

    /// A call of an intrinsic, after the settings that each call makes for itself.
    Stmt set_up(intrinsic_form const& form, unsigned sets) const {
        part_range const& uses = plan_.where->intrinsics[form.intrinsic].settings;
        std::vector<Stmt> all;
        for (int which = 0; which < uses.count; ++which) {
            if ((sets >> which & 1) == 0) continue;
            required_setting const& setting = plan_.where->settings[uses.first + which];
            std::vector<Expr> values;
            for (int at = 0; at < setting.count; ++at) values.push_back(argument_of(form, setting.values[at]));
            all.push_back(configure(plan_.where->configurations.find(setting.configuration_name), values));
        }
        all.push_back(intrinsic_call(form));
        return with_values(form, Halide::Internal::Block::make(all));
    }

  private:
    operand_use const& operand_of(intrinsic_form const& form, int position) const { return plan_.operands[form.operands + position]; }
    Expr stride_of_operand(operand_use const& o, int dimension) const {
        return element_stride(o.buffer, o.dimension[dimension], o.factor[dimension]);
    }
    /// How many elements of an axis of the intrinsic a step covers.
    Expr covered(intrinsic_form const& form, int axis) const {
        Expr extent;
        for (int at = form.extents; at < form.extents + form.extent_count; ++at) {
            step_extent const& e = plan_.step_extents[at];
            if (e.axis != axis) continue;
            if (!extent.defined()) extent = wide(e.most);
            if (e.weight == 0) continue;
            Expr const left = wide(e.bound + e.weight - 1) - Halide::cast<std::int64_t>(form_value(plan_, e.form, loop_values()));
            extent = Halide::min(extent, left / wide(e.weight));
        }
        return Halide::Internal::simplify(extent);
    }
    Expr argument_of(intrinsic_form const& form, call_argument const& a) const {
        switch (a.is) {
            case role::address: {
                operand_use const& o = operand_of(form, a.operand);
                if (values_.holds(o.buffer)) return register_at(o.buffer, o.at, loop_values());
                label const& seen = plan_.where->intrinsics[form.intrinsic].operands[a.operand].memory_name;
                return address_argument(o.buffer, seen, element_address_bits(o.buffer, o.at, loop_values()), a);
            }
            case role::stride: return in_units(stride_of_operand(operand_of(form, a.operand), a.dimension), a);
            case role::covered: return covered(form, a.dimension);
            case role::value: return value_of(form, a.operand);
            default: return wide(a.value);
        }
    }
    /// The element that an operand without dimensions has, as an argument has it. @pre `with_values` is around it
    Expr value_of(intrinsic_form const& form, int position) const {
        using namespace Halide::Internal;
        operand_use const& o = operand_of(form, position);
        Halide::Type const type = type_of(plan_.buffers[o.buffer].type);
        Expr const loaded =
            Load::make(type, name_of_value(o.buffer, position), 0, Halide::Buffer<>(), Parameter(), const_true(), ModulusRemainder());
        Expr const bits = type.is_float() ? Halide::reinterpret(Halide::UInt(type.bits()), loaded) : loaded;
        return Halide::cast<std::int64_t>(bits);
    }
    std::string name_of_value(int buffer_at, int position) const {
        return name_of_buffer(buffer_at) + value_suffix + std::to_string(position);
    }
    /// Gives the operands that a call, or what it is configured with, has by value a pointer.
    Stmt with_values(intrinsic_form const& form, Stmt what) const {
        fixed_array<bool, intrinsic_description::most_operands> passed{};
        intrinsic_description called = plan_.where->intrinsics[form.intrinsic];
        // The emulator is given addresses: it reads for itself what the function would be passed.
        if (how_.to == binding::emulated) called.call.count = called.more_calls.count = 0;
        tilewright::detail::each_value(*plan_.where, called, [&](call_argument const& a) {
            if (a.is == role::value) passed[a.operand] = true;
        });
        for (int position = 0; position < intrinsic_description::most_operands; ++position) {
            if (!passed[position]) continue;
            operand_use const& o = operand_of(form, position);
            Expr const address = reinterpret_to_handle(element_address_bits(o.buffer, o.at, loop_values()));
            what = Halide::Internal::LetStmt::make(name_of_value(o.buffer, position), address, what);
        }
        return what;
    }

    Stmt intrinsic_call(intrinsic_form const& form) const {
        intrinsic_description const& what = plan_.where->intrinsics[form.intrinsic];
        auto const given = [&](Stmt const& start) {
            return what.is_asynchronous ? started(plan_.where->engines.find(what.engine_name), wide(0), start, Expr()) : start;
        };
        if (how_.to == binding::emulated) {
            std::vector<Expr> all;
            for (int position = 0; position < what.operand_count; ++position) {
                operand_use const& o = operand_of(form, position);
                all.push_back(Halide::cast<std::int64_t>(encoded(o.buffer, element_address_bits(o.buffer, o.at, loop_values()))));
                all.push_back(wide(o.buffer));
                for (int dimension = 0; dimension < max_rank; ++dimension) all.push_back(stride_of_operand(o, dimension));
            }
            int const last = form.extents + form.extent_count - 1;
            for (int axis = 0; last >= form.extents && axis <= plan_.step_extents[last].axis; ++axis) all.push_back(covered(form, axis));
            return given(checked(call(Halide::Int(32), "tilewright_emulate_intrinsic",
                                      {machine_handle(), static_cast<int>(form.intrinsic), structure(all)})));
        }
        if (tilewright::passes_values(*plan_.where, what)) return call_on_registers(form);
        std::vector<Stmt> calls;
        each_call(*plan_.where, what, [&](device_call const& described) {
            std::vector<Expr> arguments;
            for (int position = 0; position < described.count; ++position) {
                arguments.push_back(argument_of(form, described.arguments[position]));
            }
            calls.push_back(checked(call(Halide::Int(32), described.symbol.str(), arguments)));
        });
        return given(Halide::Internal::Block::make(calls));
    }

    /// A function that is given registers by value, and returns the one that it makes.
    Stmt call_on_registers(intrinsic_form const& form) const {
        intrinsic_description const& what = plan_.where->intrinsics[form.intrinsic];
        Expr made;
        for (int position = 0; position < what.operand_count; ++position) {
            operand_use const& o = operand_of(form, position);
            operand_constraint const& declared = what.operands[position];
            if (!values_.holds(o.buffer)) continue;
            check_one_register(plan_, what, position, plan_.buffers[o.buffer]);
            if (declared.is != direction::reads) made = register_at(o.buffer, o.at, loop_values());
        }
        device_call const described = call_of(*plan_.where, what);
        std::vector<Expr> arguments;
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[position];
            Expr const given = argument_of(form, a);
            bool const reads = a.is == role::address && given.type().is_handle() && !values_.holds(operand_of(form, a.operand).buffer) &&
                               what.operands[a.operand].is == direction::reads && !what.operands[a.operand].in_place;
            arguments.push_back(reads ? only_read(given) : given);
        }
        return value_call(described.symbol, made, arguments);
    }
};

}  // namespace tilewright::halide
