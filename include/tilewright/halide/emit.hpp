#pragma once
#include <set>
#include <tilewright/halide/checked.hpp>
#include <tilewright/halide/copy_code.hpp>
#include <tilewright/plan/check/issue_cycles.hpp>
#include <tilewright/plan/loops/tile_rest.hpp>

// The loop program as Halide IR.
namespace tilewright::halide {

class emitter : code_copies {
  public:
    /// @throws std::logic_error when the plan does not have the part that is asked for
    emitter(plan_value const& plan, code_names names, emission how) : code_copies(plan, std::move(names), std::move(how)) {
        if (how_.part == plan_part::whole) return;
        int const wait = first_wait_of(plan_);
        if (wait < 0) throw std::logic_error("a kernel that is to begin and to be completed is more than that");
        (how_.part == plan_part::begin ? end_ : first_) = wait;
    }

    /// The program, or the part of it, with the addresses of its buffers bound in front.
    Halide::Internal::Stmt program() {
        using namespace Halide::Internal;
        int at = first_;
        Stmt whole = steps(at);
        if (how_.to == binding::emulated && how_.part != plan_part::begin)
            whole = Block::make(whole, checked(call(Halide::Int(32), "tilewright_emulate_end", {machine_handle()})));
        whole = with_registers(whole, -1, plan_.steps.size());
        if (keeps_counts()) whole = with_counts(whole);
        bool const tells = how_.checked && how_.to == binding::emulated && how_.part != plan_part::complete;
        for (int position = 0; tells && position < plan_.buffers.size(); ++position) {
            if (plan_.buffers[position].kind == buffer_kind::argument) whole = Block::make(Evaluate::make(argument_call(position)), whole);
        }
        for (int position = plan_.buffers.size() - 1; position >= 0; --position) {
            buffer const& b = plan_.buffers[position];
            if (b.kind == buffer_kind::argument || is_in_registers(position)) continue;
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
        for (; at < end_; ++at) {
            step const& s = plan_.steps[at];
            if (s.kind == step_kind::end) break;
            if (std::string const text = how_.remark ? how_.remark(at) : std::string(); !text.empty())
                sequence.push_back(Evaluate::make(call(Halide::Int(32), remark_name, {Expr(text)})));
            switch (s.kind) {
                case step_kind::loop: {
                    variable const& v = plan_.variables[s.what];
                    // Past the end of an axis, transfers of other iterations may still have to be started: those loops go on.
                    bool const goes_on = plan_.holds_ring_steps(at);
                    if (goes_on) going_on_.push_back(s.what);
                    open_.push_back(s.what);
                    int const opened = at;
                    Stmt inside = steps(++at);
                    if (Stmt const asked = asked_in(s.what, open_); asked.defined()) inside = Block::make(asked, inside);
                    open_.pop_back();
                    inside = with_registers(inside, opened, at);
                    if (!goes_on) inside = within_limits({s.what}, loop_values(), inside);
                    std::vector<Stmt> loops;
                    for (std::int64_t i = 0; v.unrolled && i < v.extent; ++i)
                        loops.push_back(LetStmt::make(name_of_variable(s.what), static_cast<int>(i), inside));
                    if (!v.unrolled)
                        loops.push_back(For::make(name_of_variable(s.what), 0, trips_of(s.what),
                                                  v.parallel && how_.to == binding::device ? ForType::Parallel : ForType::Serial,
                                                  Halide::DeviceAPI::None, inside));
                    if (goes_on) going_on_.pop_back();
                    sequence.push_back(goes_on ? Block::make(loops) : within_limits(going_on_, loop_values(), Block::make(loops)));
                    break;
                }
                case step_kind::start: {
                    movement const& m = plan_.movements[s.what];
                    std::vector<int> loops = going_on_;
                    for (int loop = 0; m.at.ring >= 0 && loop < ring_of(m.at).loop_count; ++loop) {
                        int const moved = ring_of(m.at).loops[loop];
                        if (std::find(loops.begin(), loops.end(), moved) == loops.end()) loops.push_back(moved);
                    }
                    sequence.push_back(where_there_is(m.at, within_limits(loops, loop_values_at(m.at), moved(m))));
                    break;
                }
                case step_kind::wait: {
                    ring_step const& until = plan_.waits[s.what];
                    sequence.push_back(where_there_is(until, wait_call(until)));
                    break;
                }
                case step_kind::push:
                case step_kind::pop: {
                    ring_step const& passed = plan_.waits[s.what];
                    sequence.push_back(where_there_is(passed, s.kind == step_kind::push ? push(passed) : pop(passed)));
                    break;
                }
                case step_kind::configure: sequence.push_back(configure(plan_.settings[s.what])); break;
                case step_kind::fence: sequence.push_back(checked(call(Halide::Int(32), fence_name, {}))); break;
                case step_kind::compute: sequence.push_back(within_limits(going_on_, loop_values(), compute(plan_.bodies[s.what]))); break;
                default: throw std::logic_error("a step of the program that this back end does not know");
            }
        }
        return sequence.empty() ? Evaluate::make(0) : Block::make(sequence);
    }

    /// Buffers in registers that live between two steps of the program, and not only in a loop there, are made around what stands there.
    Stmt with_registers(Stmt inside, int from, int to) {
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& b = plan_.buffers[at];
            if (!is_in_registers(at) || b.born <= from || b.dead > to || !made_.insert(at).second) continue;
            int const elements = static_cast<int>(b.bytes / bytes_of(b.type));
            inside = Halide::Internal::Allocate::make(name_of_buffer(at), stored_type(b.type), Halide::MemoryType::Stack, {elements},
                                                      Halide::Internal::const_true(), inside);
        }
        return inside;
    }
    /// An iteration of a loop that lies beyond an end does nothing.
    Stmt within_limits(std::vector<int> const& loops, loop_value const& values, Stmt const& what) const {
        Expr within = Halide::Internal::const_true();
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[at];
            if (std::find(loops.begin(), loops.end(), l.loop) == loops.end()) continue;
            within = within && Halide::Internal::simplify(form_value(plan_, l.form, values) < static_cast<int>(l.bound));
        }
        return Halide::Internal::is_const_one(within) ? what : Halide::Internal::IfThenElse::make(within, what);
    }

    Stmt compute(body const& b) const {
        using namespace Halide::Internal;
        if (b.kind != body_kind::intrinsic) {
            Stmt made = tile_code(b);
            if (how_.to == binding::emulated) {
                Expr const whole = is_whole(plan_, b, loop_values());
                Stmt const cost = is_const_one(whole)    ? code_cost(b, true)
                                  : is_const_zero(whole) ? code_cost(b, false)
                                                         : IfThenElse::make(whole, code_cost(b, true), code_cost(b, false));
                made = Block::make(cost, made);
            }
            return b.first_loop_count == 0 ? made : IfThenElse::make(at_first(b), made);
        }
        Stmt rest = set_up(form_of_rest(b), b.sets);
        if (b.first_intrinsic < 0) return rest;
        Stmt const first = set_up(form_of_first(b), b.first_sets);
        if (b.first_loop_count == 0) return first;
        return IfThenElse::make(at_first(b), first, rest);
    }

    /// The code of a tile body: one form for whole tiles, and others for partial ones. Where these always have as much of an axis, their
    /// loops have constant extents, too; otherwise every iteration asks for itself.
    Stmt tile_code(body const& b) const {
        using namespace Halide::Internal;
        std::vector<limit> ends;                     // that can lie inside of the tile
        std::vector<std::vector<tile_part>> pieces;  // of the partial tiles of each
        for (limit const& l : limits_of(plan_, b, false)) {
            tilewright::detail::tile_rest const rest = tilewright::detail::rest_of_tile(plan_, l, b);
            if (rest.constant && rest.values == 0) continue;
            ends.push_back(l);
            pieces.push_back(pieces_of(b, l, rest));
        }
        // What a stage computes for a reader of a border can lie outside as a whole.
        bool const outside = computes_for_border() && !is_const_one(is_whole(plan_, b, loop_values()));
        bool const constant = !outside && !end_one_loop(pieces) && ends.size() <= 3 &&
                              std::none_of(pieces.begin(), pieces.end(), [](auto const& p) { return p.empty(); });
        auto const lower = [&](tile_part const& part) {
            Stmt lowered = across_blocks(buffers_of(b), lower_tile_body(plan_, b, names_, how_.target, part, how_.checked));
            lowered = with_asking(b, part, lowered);
            if (how_.checked) lowered = with_reports(b, lowered);
            return with_versions(buffers_of(b), lowered);
        };
        // Most tiles meet no border, and need not look for it.
        bool reads_borders = false;
        plan_.each_use(b, [&](use const& u, bool, bool) { reads_borders |= plan_.is_guarded(u.node); });
        bool const apart = reads_borders && how_.to == binding::device && !how_.plain_arguments;
        Expr const inside = apart ? is_all_inside(plan_, b, loop_values()) : const_false();
        auto const code = [&](tile_part const& part) {
            if (part.guarded || is_const_zero(inside)) return lower(part);
            tile_part without_border = part;
            without_border.inside = true;
            return is_const_one(inside) ? lower(without_border) : IfThenElse::make(inside, lower(without_border), lower(part));
        };
        if (!constant) {
            Expr const whole = is_whole(plan_, b, loop_values());
            Stmt const guarded = code({.ranges = {}, .guarded = true, .goes_on = false});
            return is_const_zero(whole) ? guarded : IfThenElse::make(whole, code({}), guarded);
        }
        auto const choose = [&](auto const& self, std::size_t end, std::vector<tile_part> const& parts) -> Stmt {
            if (end == ends.size()) {
                std::vector<Stmt> sequence;
                for (tile_part const& part : parts) sequence.push_back(code(part));
                return Block::make(sequence);
            }
            std::vector<tile_part> partial;
            for (tile_part const& part : parts) {
                for (tile_part const& piece : pieces[end]) {
                    partial.push_back(part);
                    partial.back().ranges.insert(piece.ranges.begin(), piece.ranges.end());
                    partial.back().goes_on |= piece.goes_on;
                }
            }
            Expr const whole = is_whole(plan_, ends[end], b, loop_values());
            if (is_const_zero(whole)) return self(self, end + 1, partial);
            return IfThenElse::make(whole, self(self, end + 1, parts), self(self, end + 1, partial));
        };
        return choose(choose, 0, {{}});
    }
    /// The code of a tile body, whose loops ask for what is copied later where copies leave that to them.
    Stmt with_asking(body const& b, tile_part const& part, Stmt code) const {
        using namespace Halide::Internal;
        struct ask_in_loop : IRMutator {
            using IRMutator::visit;
            std::string loop;
            Stmt asked;
            bool found = false;
            Stmt visit(For const* op) override {
                if (op->name != loop) return IRMutator::visit(op);
                found = true;
                return For::make(op->name, op->min, op->extent, op->for_type, op->device_api, Block::make(asked, op->body));
            }
        };
        std::vector<int> around = open_;
        for (int at = 0; at < b.loop_count && b.kind != body_kind::identity; ++at) {
            int const v = b.loops[at];
            variable const& loop = plan_.variables[v];
            if (loop.unrolled || loop.vectorized) continue;  // no loop is left, and none can ask
            around.push_back(v);
            ask_in_loop asking;
            asking.loop = name_of_variable(v);
            asking.asked = asked_in(v, around);
            if (!asking.asked.defined()) continue;
            code = asking.mutate(code);
            // Of a loop of one iteration nothing but its value is left.
            int const first = part.of(v, loop).first;
            if (!asking.found) code = Block::make(LetStmt::make(asking.loop, first, asking.asked), code);
        }
        return code;
    }
    /// Whether a tensor that a stage computes is read outside its extents.
    bool computes_for_border() const {
        bool found = false;
        for (int at = 0; at < plan_.paddings.size(); ++at) {
            label const& tensor = plan_.what[plan_.paddings[at].node].name;
            for (int s = 0; s < plan_.stages.size(); ++s) found |= plan_.stages[s].output == tensor;
        }
        return found;
    }
    /// The pieces that the loops of a partial tile fall into, in their order: all iterations of the outermost that are whole, then what is
    /// left of those inside. None where a partial tile does not always have as much, or where pieces would change the order of a sum.
    std::vector<tile_part> pieces_of(body const& b, limit const& l, tilewright::detail::tile_rest const& rest) const {
        std::vector<tile_part> pieces;
        if (!rest.constant) return pieces;
        tile_part before;  // iterations of the loops further out that are whole
        std::int64_t left = rest.values;
        for (int at = 0; at < rest.loop_count && left > 0; ++at) {
            int const loop = rest.loops[at];
            int const whole = static_cast<int>(left / rest.steps[at]);
            left %= rest.steps[at];
            if (whole > 0) {
                pieces.push_back(before);
                pieces.back().ranges[loop] = {0, whole};
                pieces.back().goes_on = l.reduction && pieces.size() > 1;
            }
            before.ranges[loop] = {whole, 1};
        }
        int reductions = 0;
        for (int at = 0; at < b.loop_count; ++at) reductions += plan_.variables[b.loops[at]].reduction ? 1 : 0;
        bool const reorders = l.reduction && pieces.size() > 1 && reductions > rest.loop_count;
        return reorders ? std::vector<tile_part>() : pieces;
    }

    /// Whether pieces of two limits are of one loop: such do not go together.
    static bool end_one_loop(std::vector<std::vector<tile_part>> const& pieces) {
        std::set<int> ended;
        for (std::vector<tile_part> const& of_limit : pieces) {
            std::set<int> mine;
            for (tile_part const& piece : of_limit) {
                for (auto const& [loop, range] : piece.ranges) mine.insert(loop);
            }
            for (int loop : mine) {
                if (!ended.insert(loop).second) return true;
            }
        }
        return false;
    }

    /// Where a body's reduction begins.
    Expr at_first(body const& b) const {
        Expr begins = Halide::Internal::const_true();
        for (int position = 0; position < b.first_loop_count; ++position)
            begins = begins && Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(b.first_loops[position])) == 0;
        return Halide::Internal::simplify(begins);
    }
    /// The code of a body that tells the emulator what it touches.
    Stmt with_reports(body const& b, Stmt const& code) const {
        std::map<std::string, checked_buffer> buffers;
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& one = plan_.buffers[at];
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
        std::vector<int> const touched = buffers_of(b);
        return std::find(touched.begin(), touched.end(), buffer_at) != touched.end();
    }
    std::vector<int> buffers_of(body const& b) const {
        std::vector<int> found;
        plan_.each_use(b, [&](use const& u, bool, bool) {
            if (std::find(found.begin(), found.end(), u.buffer) == found.end()) found.push_back(u.buffer);
        });
        std::sort(found.begin(), found.end());
        return found;
    }

    /// A call of an intrinsic behind the settings that each call makes for itself.
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
        Expr const element =
            Load::make(type, name_of_value(o.buffer, position), 0, Halide::Buffer<>(), Parameter(), const_true(), ModulusRemainder());
        Expr const bits = type.is_float() ? Halide::reinterpret(Halide::UInt(type.bits()), element) : element;
        return Halide::cast<std::int64_t>(bits);
    }
    std::string name_of_value(int buffer_at, int position) const {
        return name_of_buffer(buffer_at) + value_suffix + std::to_string(position);
    }
    /// Gives the operands that a call, or what it is configured with, has by value a pointer.
    Stmt with_values(intrinsic_form const& form, Stmt what) const {
        std::vector<bool> passed(intrinsic_description::most_operands);
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

    /// Tells the emulator what a tile body that stays code is going to do.
    Stmt code_cost(body const& b, bool whole) const {
        auto const count = [&](bool pure_only, operation_counts const& c) {
            return Halide::Internal::Evaluate::make(code_call(iterations_of(b, pure_only, whole), c));
        };
        Stmt counted = count(false, b.counts);
        if (b.kind == body_kind::reduction) counted = Halide::Internal::Block::make(count(true, b.start_counts), counted);
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
            int const loop = b.loops[position];
            variable const& v = plan_.variables[loop];
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
                variable const& v = plan_.variables[part.variable];
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

    int first_ = 0, end_ = plan_.steps.size();  ///< the steps that are emitted
    std::set<int> made_;                        ///< buffers in registers that there is an allocation for
    std::vector<int> open_;                     ///< the loops of the program around, outermost first
    std::vector<int> going_on_;                 ///< the loops around that limits do not skip
};

}  // namespace tilewright::halide
