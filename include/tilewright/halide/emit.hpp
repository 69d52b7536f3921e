#pragma once
#include <tilewright/halide/blocks.hpp>
#include <tilewright/halide/checked.hpp>
#include <tilewright/halide/transfer_call.hpp>

// The loop program as Halide IR.
namespace tilewright::halide {

class emitter : code_transfers {
  public:
    emitter(plan_value const& plan, code_names names, emission how) : code_transfers(plan, std::move(names), std::move(how)) {}

    /// The whole program, with the addresses of its buffers bound in front.
    Halide::Internal::Stmt program() {
        using namespace Halide::Internal;
        int at = 0;
        Stmt whole = steps(at);
        if (how_.to == binding::emulated)
            whole = Block::make(whole, checked(call(Halide::Int(32), "tilewright_emulate_end", {machine_handle()})));
        if (keeps_counts()) whole = with_counts(whole);
        for (int position = 0; how_.checked && how_.to == binding::emulated && position < plan_.buffers.size(); ++position) {
            if (plan_.buffers[static_cast<std::size_t>(position)].kind == buffer_kind::argument)
                whole = Block::make(Evaluate::make(argument_call(position)), whole);
        }
        for (int position = plan_.buffers.size() - 1; position >= 0; --position) {
            buffer const& b = plan_.buffers[static_cast<std::size_t>(position)];
            if (b.kind == buffer_kind::argument) continue;
            std::string const& name = name_of_buffer(position);
            if (b.versions == 1) whole = LetStmt::make(name, reinterpret_to_handle(part_address(position, 0)), whole);
            for (int part = b.parts() - 1; part >= 0; --part)
                whole = LetStmt::make(name_of_part(position, part), address_of_planned(b, part), whole);
        }
        if (how_.to == binding::emulated) whole = LetStmt::make(machine_name, how_.machine, whole);
        return plan_.run_time_extents == 0 ? whole : with_extents(whole);
    }

  private:
    Stmt steps(int& at) {
        using namespace Halide::Internal;
        std::vector<Stmt> sequence;
        for (; at < plan_.steps.size(); ++at) {
            step const& s = plan_.steps[static_cast<std::size_t>(at)];
            if (s.kind == step_kind::end) break;
            switch (s.kind) {
                case step_kind::loop: {
                    variable const& v = plan_.variables[static_cast<std::size_t>(s.what)];
                    // Past the end of an axis, transfers of other iterations may still have to be started: those loops go on.
                    bool const goes_on = holds_ring_steps(at);
                    if (goes_on) going_on_.push_back(s.what);
                    Stmt inside = steps(++at);
                    if (!goes_on) inside = within_limits({s.what}, loop_values(), inside);
                    std::vector<Stmt> loops;
                    for (std::int64_t i = 0; v.unrolled && i < v.extent; ++i)
                        loops.push_back(LetStmt::make(name_of_variable(s.what), static_cast<int>(i), inside));
                    if (!v.unrolled)
                        loops.push_back(
                            For::make(name_of_variable(s.what), 0, trips_of(s.what), ForType::Serial, Halide::DeviceAPI::None, inside));
                    if (goes_on) going_on_.pop_back();
                    sequence.push_back(goes_on ? Block::make(loops) : within_limits(going_on_, loop_values(), Block::make(loops)));
                    break;
                }
                case step_kind::start: {
                    movement const& m = plan_.movements[static_cast<std::size_t>(s.what)];
                    std::vector<int> loops = going_on_;
                    for (int loop = 0; m.at.ring >= 0 && loop < ring_of(m.at).loop_count; ++loop) {
                        int const moved = ring_of(m.at).loops[static_cast<std::size_t>(loop)];
                        if (std::find(loops.begin(), loops.end(), moved) == loops.end()) loops.push_back(moved);
                    }
                    sequence.push_back(where_there_is(m.at, within_limits(loops, loop_values_at(m.at), transfer_call(m))));
                    break;
                }
                case step_kind::wait: {
                    ring_step const& until = plan_.waits[static_cast<std::size_t>(s.what)];
                    sequence.push_back(where_there_is(until, wait_call(until)));
                    break;
                }
                case step_kind::push:
                case step_kind::pop: {
                    ring_step const& passed = plan_.waits[static_cast<std::size_t>(s.what)];
                    sequence.push_back(where_there_is(passed, s.kind == step_kind::push ? push(passed) : pop(passed)));
                    break;
                }
                case step_kind::fence: sequence.push_back(checked(call(Halide::Int(32), "tilewright_fence", {}))); break;
                case step_kind::compute:
                    sequence.push_back(within_limits(going_on_, loop_values(), compute(plan_.bodies[static_cast<std::size_t>(s.what)])));
                    break;
                default: throw std::logic_error("a step of the program that this back end does not know");
            }
        }
        return sequence.empty() ? Evaluate::make(0) : Block::make(sequence);
    }

    /// Whether a transfer of a ring is started or waited for inside the loop that begins at a step.
    bool holds_ring_steps(int loop_step) const {
        int depth = 0;
        for (int at = loop_step; at < plan_.steps.size(); ++at) {
            step const& s = plan_.steps[static_cast<std::size_t>(at)];
            depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
            if (depth == 0) return false;
            if (s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop) return true;
            if (s.kind == step_kind::start && plan_.movements[static_cast<std::size_t>(s.what)].at.ring >= 0) return true;
        }
        return false;
    }
    /// An iteration of a loop that lies beyond an end does nothing.
    Stmt within_limits(std::vector<int> const& loops, loop_value const& values, Stmt const& what) const {
        Expr within = Halide::Internal::const_true();
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[static_cast<std::size_t>(at)];
            if (std::find(loops.begin(), loops.end(), l.loop) == loops.end()) continue;
            within = within && Halide::Internal::simplify(form_value(plan_, l.form, values) < static_cast<int>(l.bound));
        }
        return Halide::Internal::is_const_one(within) ? what : Halide::Internal::IfThenElse::make(within, what);
    }

    Stmt compute(body const& b) const {
        using namespace Halide::Internal;
        if (b.kind != body_kind::intrinsic) {
            auto const code = [&](bool whole) {
                Stmt lowered = lower_tile_body(plan_, b, names_, how_.target, whole);
                lowered = across_blocks(b, lowered);
                if (how_.checked) lowered = with_reports(b, lowered);
                lowered = with_versions(b, lowered);
                return how_.to == binding::emulated ? Block::make(code_cost(b, whole), lowered) : lowered;
            };
            Expr const whole = is_whole(plan_, b, loop_values());
            if (is_const_one(whole)) return code(true);
            return is_const_zero(whole) ? code(false) : IfThenElse::make(whole, code(true), code(false));
        }
        Stmt rest = intrinsic_call(b.intrinsic, b.operands);
        if (b.first_intrinsic < 0) return rest;
        Stmt const first = intrinsic_call(b.first_intrinsic, b.first_operands);
        if (b.first_loop_count == 0) return first;
        Expr at_first = Variable::make(Halide::Int(32), name_of_variable(b.first_loops[0])) == 0;
        for (int position = 1; position < b.first_loop_count; ++position) {
            at_first =
                at_first && Variable::make(Halide::Int(32), name_of_variable(b.first_loops[static_cast<std::size_t>(position)])) == 0;
        }
        return IfThenElse::make(at_first, first, rest);
    }

    /// The code of a body that tells the emulator what it touches.
    Stmt with_reports(body const& b, Stmt const& code) const {
        std::map<std::string, checked_buffer> buffers;
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& one = plan_.buffers[static_cast<std::size_t>(at)];
            std::string const& name = name_of_buffer(at);
            if (!touches(b, at)) continue;
            Expr const address = one.kind == buffer_kind::argument
                                     ? Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name))
                                     : current_version(at, loop_values());
            buffers[name] = {at, address};
        }
        return report_accesses(code, machine_handle(), b.stage, buffers);
    }
    bool touches(body const& b, int buffer_at) const {
        bool found = false;
        plan_.each_use(b, [&](use const& u, bool, bool) { found |= u.buffer == buffer_at; });
        return found;
    }
    /// The code of a body where buffers lie in several blocks.
    Stmt across_blocks(body const& b, Stmt code) const {
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& one = plan_.buffers[static_cast<std::size_t>(at)];
            if (one.blocks == 1 || !touches(b, at)) continue;
            auto const elements = [&](Expr const& block) {
                Expr const bytes = Halide::cast<std::int64_t>(current_version(at, loop_values(), block)) -
                                   Halide::cast<std::int64_t>(current_version(at, loop_values()));
                return bytes / wide(bytes_of(one.type));
            };
            code = in_blocks(code, name_of_buffer(at), static_cast<int>(one.part_bytes() / bytes_of(one.type)), elements);
        }
        return code;
    }
    /// Binds the names of the buffers that code touches to the versions that are meant at this iteration.
    Stmt with_versions(body const& b, Stmt code) const {
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            if (plan_.buffers[static_cast<std::size_t>(at)].versions == 1 || !touches(b, at)) continue;
            code = Halide::Internal::LetStmt::make(name_of_buffer(at), reinterpret_to_handle(current_version(at, loop_values())), code);
        }
        return code;
    }

    Stmt intrinsic_call(int intrinsic_at, int first_operand) const {
        intrinsic_description const& what = plan_.where->intrinsics[intrinsic_at];
        auto const operand = [&](int position) -> operand_use const& {
            return plan_.operands[static_cast<std::size_t>(first_operand + position)];
        };
        auto const stride = [&](int position, int dimension) {
            operand_use const& o = operand(position);
            return element_stride(o.buffer, o.dimension[static_cast<std::size_t>(dimension)],
                                  o.factor[static_cast<std::size_t>(dimension)]);
        };
        auto const given = [&](Stmt const& start) {
            return what.is_asynchronous ? started(plan_.where->engines.find(what.engine_name), start, Expr()) : start;
        };
        std::vector<Expr> arguments;
        if (how_.to == binding::emulated) {
            std::vector<Expr> all;
            for (int position = 0; position < what.operand_count; ++position) {
                all.push_back(
                    Halide::cast<std::int64_t>(element_address_bits(operand(position).buffer, operand(position).at, loop_values())));
                all.push_back(wide(operand(position).buffer));
                for (int dimension = 0; dimension < max_rank; ++dimension) all.push_back(stride(position, dimension));
            }
            return given(checked(call(Halide::Int(32), "tilewright_emulate_intrinsic", {machine_handle(), intrinsic_at, structure(all)})));
        }
        device_call const described = call_of(*plan_.where, what);
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[static_cast<std::size_t>(position)];
            if (a.is == role::address)
                arguments.push_back(element_address(operand(a.operand).buffer, operand(a.operand).at, loop_values()));
            else if (a.is == role::stride) arguments.push_back(stride(a.operand, a.dimension));
            else arguments.push_back(wide(a.value));
        }
        return given(checked(call(Halide::Int(32), described.symbol.str(), arguments)));
    }

    /// Tells the emulator what a tile body that stays code is going to do.
    Stmt code_cost(body const& b, bool whole) const {
        auto const count = [&](bool pure_only, operation_counts const& c) {
            return Halide::Internal::Evaluate::make(call(
                Halide::Int(32), "tilewright_emulate_code",
                {machine_handle(), iterations_of(b, pure_only, whole), c.load, c.store, c.arithmetic, c.multiply, c.divide, c.convert}));
        };
        Stmt counted = count(false, b.counts);
        if (b.kind == body_kind::reduction) counted = Halide::Internal::Block::make(count(true, {.store = 1}), counted);
        return counted;
    }

    /// How many iterations of a tile body's loops there are. Those of a partial tile are counted when it is run: see
    /// `tilewright_count_iterations`.
    Expr iterations_of(body const& b, bool pure_only, bool whole) const {
        std::vector<limit> const limits = whole ? std::vector<limit>() : limits_of(plan_, b, pure_only);
        std::map<int, int> values;  // of the loops and of parts of fused ones -> their place among the values that are counted over
        std::int64_t free = 1;      // iterations of loops that no limit speaks of
        std::vector<Expr> loops, parts, ends;
        for (int position = 0; position < b.loop_count; ++position) {
            int const loop = b.loops[static_cast<std::size_t>(position)];
            variable const& v = plan_.variables[static_cast<std::size_t>(loop)];
            if (pure_only && v.reduction) continue;
            bool limited = false;
            for (limit const& l : limits) limited |= moves(l.form, loop);
            if (!limited) free *= v.extent;
            else {
                values.emplace(loop, static_cast<int>(values.size()));
                loops.push_back(wide(v.extent));
            }
        }
        if (values.empty()) return wide(free);
        auto const add_form = [&](auto const& self, std::vector<Expr>& into, affine const& form) -> void {
            Expr outside = wide(form.constant);
            std::vector<Expr> inside;
            for (int t = 0; t < form.count; ++t) {
                term const& part = plan_.term_at(form, t);
                variable const& v = plan_.variables[static_cast<std::size_t>(part.variable)];
                if (values.count(part.variable) == 0 && v.kind == variable_kind::component) {
                    bool counted = false;
                    for (auto const& [loop, place] : values) counted |= moves(v.fused, loop);
                    if (counted) {
                        self(self, parts, v.fused);
                        parts.push_back(wide(v.divisor));
                        parts.push_back(wide(v.modulus));
                        values.emplace(part.variable, static_cast<int>(values.size()));
                    }
                }
                auto const found = values.find(part.variable);
                if (found == values.end()) {
                    outside =
                        outside + wide(part.coefficient) * Halide::cast<std::int64_t>(variable_value(plan_, part.variable, loop_values()));
                } else {
                    inside.push_back(wide(found->second));
                    inside.push_back(wide(part.coefficient));
                }
            }
            into.push_back(Halide::Internal::simplify(outside));
            into.push_back(wide(static_cast<std::int64_t>(inside.size() / 2)));
            into.insert(into.end(), inside.begin(), inside.end());
        };
        for (limit const& l : limits) {
            add_form(add_form, ends, l.form);
            ends.push_back(wide(l.bound));
        }
        std::vector<Expr> all{wide(static_cast<std::int64_t>(loops.size())), wide(static_cast<std::int64_t>(values.size() - loops.size())),
                              wide(static_cast<std::int64_t>(limits.size()))};
        for (std::vector<Expr> const* list : {&loops, &parts, &ends}) all.insert(all.end(), list->begin(), list->end());
        return wide(free) * call(Halide::Int(64), "tilewright_count_iterations", {structure(all)});
    }
    bool moves(affine const& form, int loop) const {
        linear whole;
        for (int t = 0; t < form.count; ++t) whole.add(1, plan_.term_at(form, t).variable);
        return tilewright::detail::moves_with(plan_, whole, loop);
    }

    std::vector<int> going_on_;  ///< the loops around that limits do not skip
};

}  // namespace tilewright::halide
