#pragma once
#include <set>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/tile_code.hpp>
#include <tilewright/plan/check/issue_cycles.hpp>

// The loop program as Halide IR.
namespace tilewright::halide {

class emitter : code_tiles {
  public:
    using code_tiles::core_name;

    /// @throws std::logic_error when the plan does not have the part that is asked for
    emitter(plan_value const& plan, code_names names, emission how) : code_tiles(plan, std::move(names), std::move(how)) {
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
        if (plan_.cores > 1 && how_.to == binding::emulated && !how_.plain_arguments)
            whole = LetStmt::make(core_name, call(Halide::Int(32), "tilewright_emulated_core", {machine_handle()}), whole);
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
            std::size_t const before = sequence.size();
            led_by_ = s.core;
            switch (s.kind) {
                case step_kind::loop: sequence.push_back(loop(at)); break;
                case step_kind::start: sequence.push_back(start(plan_.movements[s.what])); break;
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
                case step_kind::signal:
                case step_kind::await: sequence.push_back(told(plan_.messages[s.what], s.kind == step_kind::signal)); break;
                case step_kind::barrier: sequence.push_back(barrier()); break;
                case step_kind::clean:
                case step_kind::invalidate: sequence.push_back(kept_up(plan_.upkeeps[s.what], s.kind == step_kind::clean)); break;
                default: throw std::logic_error("a step of the program that this back end does not know");
            }
            if (plan_.cores > 1 && !shared_ && ir::is_led(s))
                sequence[before] = IfThenElse::make(core_number() == static_cast<int>(s.core), sequence[before]);
        }
        return sequence.empty() ? Evaluate::make(0) : Block::make(sequence);
    }

    /// The loop that opens at a step. @post `at` is its end
    Stmt loop(int& at) {
        using namespace Halide::Internal;
        int const opened = at, which = plan_.steps[at].what;
        variable const& v = plan_.variables[which];
        // Past the end of an axis, transfers of other iterations may still have to be started: those loops go on.
        bool const goes_on = plan_.holds_ring_steps(at);
        if (goes_on) going_on_.push_back(which);
        open_.push_back(which);
        shared_ |= v.distributed;
        Stmt inside = steps(++at);
        if (Stmt const asked = asked_in(which, open_); asked.defined()) inside = Block::make(asked, inside);
        open_.pop_back();
        if (v.distributed) shared_ = false;
        inside = with_registers(inside, opened, at);
        if (!goes_on) inside = within_limits({which}, loop_values(), inside);
        std::vector<Stmt> loops;
        for (std::int64_t i = 0; v.unrolled && i < v.extent; ++i)
            loops.push_back(LetStmt::make(name_of_variable(which), static_cast<int>(i), inside));
        if (v.distributed) {
            Stmt const share = LetStmt::make(name_of_variable(which),
                                             Halide::Internal::simplify(core_number() - static_cast<int>(plan_.first_core)), inside);
            loops.push_back(of_cores_with_shares(share));
        }
        if (!v.unrolled && !v.distributed)
            loops.push_back(For::make(name_of_variable(which), 0, trips_of(which),
                                      v.parallel && how_.to == binding::device ? ForType::Parallel : ForType::Serial,
                                      Halide::DeviceAPI::None, inside));
        if (goes_on) going_on_.pop_back();
        return goes_on ? Block::make(loops) : within_limits(going_on_, loop_values(), Block::make(loops));
    }
    /// What the cores do that have shares of a loop; the others do nothing.
    Stmt of_cores_with_shares(Stmt share) const {
        using Halide::Internal::IfThenElse;
        if (plan_.end_core < plan_.cores) share = IfThenElse::make(core_number() < static_cast<int>(plan_.end_core), share);
        if (plan_.first_core > 0) share = IfThenElse::make(core_number() >= static_cast<int>(plan_.first_core), share);
        return share;
    }
    /// All cores wait for each other.
    Stmt barrier() const {
        if (how_.to == binding::emulated) return checked(call(Halide::Int(32), "tilewright_emulate_barrier", {machine_handle()}));
        return on_each_kind(0, plan_.cores,
                            [&](int core) { return checked(call_between_cores(barrier_call_of(plan_.where->core_at(core)), {})); });
    }
    /// What one of the cores from `first` up to `end` does that runs the code: by its kind, where kinds differ in that.
    /// @param made  `made(core)`: what a core does, and all of its kind do
    template <class Make>
    Stmt on_each_kind(int first, int end, Make const& made) const {
        machine const& where = *plan_.where;
        Stmt chosen, next;
        for (int kind = where.kind_of(end - 1); kind >= where.kind_of(first); --kind) {
            Stmt const own = made(where.first_core(kind));
            if (!chosen.defined()) chosen = own;
            else if (!Halide::Internal::equal(own, next))
                chosen = Halide::Internal::IfThenElse::make(core_number() < where.first_core(kind + 1), own, chosen);
            next = own;
        }
        return chosen;
    }
    /// A step of an intrinsic, by the one of its name that a core has.
    Stmt step_of(intrinsic_form const& form, unsigned sets) const {
        auto const own = [&](int core) { return set_up(tilewright::detail::form_on(plan_, form, core), sets); };
        return shared_ ? on_each_kind(plan_.first_core, plan_.end_core, own) : own(led_by_);
    }
    /// The caches of the cores that run the code are cleaned, or invalidated, by a call for each range of bytes.
    Stmt kept_up(upkeep const& u, bool cleans) const {
        using Halide::Internal::simplify;
        buffer const& b = plan_.buffers[u.buffer];
        std::vector<Stmt> calls;
        auto const add = [&](Expr const& address, Expr const& bytes, Expr const& counted) {
            calls.push_back(upkeep_call(b, cleans, address, bytes, counted));
        };
        if (b.kind == buffer_kind::argument) {
            touched_range const range = range_of_argument(u.buffer);
            Expr elements = wide(bytes_of(b.type));
            for (int dimension = 0; dimension < b.rank; ++dimension) elements = elements * extent_touched(u.buffer, dimension);
            add(simplify(range.address), simplify(range.bytes), simplify(elements));
        }
        for (int part = 0; b.kind != buffer_kind::argument && part < (u.of_version ? b.blocks : b.parts()); ++part)
            add(u.of_version ? current_version(u.buffer, loop_values(), part) : part_address(u.buffer, part), wide(b.part_bytes()),
                wide(b.part_bytes()));
        return Halide::Internal::Block::make(calls);
    }
    /// @param counted  the bytes whose lines count as cycles: an argument counts as dense
    Stmt upkeep_call(buffer const& b, bool cleans, Expr const& address, Expr const& bytes, Expr const& counted) const {
        if (how_.to == binding::emulated)
            return checked(call(Halide::Int(32), cleans ? "tilewright_emulate_clean" : "tilewright_emulate_invalidate",
                                {machine_handle(), static_cast<int>(b.memory), address, bytes, counted}));
        auto const own = [&](int core) {
            device_call const described = (cleans ? clean_call_of : invalidate_call_of)(plan_.where->core_at(core));
            std::vector<Expr> arguments;
            for (int at = 0; at < described.count; ++at) {
                call_argument const& a = described.arguments[at];
                arguments.push_back(a.is == role::source  ? reinterpret_to_handle(address)
                                    : a.is == role::bytes ? bytes
                                    : a.is == role::core  ? plan_.cores > 1 ? Halide::cast<std::int64_t>(core_number()) : wide(0)
                                                          : wide(a.value));
            }
            return checked(call(Halide::Int(32), described.symbol.str(), arguments));
        };
        return shared_       ? on_each_kind(plan_.first_core, plan_.end_core, own)
               : led_by_ < 0 ? on_each_kind(0, plan_.cores, own)
                             : own(led_by_);
    }
    /// A signal to another core, or a wait for one.
    Stmt told(message const& m, bool sends) const {
        using namespace Halide::Internal;
        int const peer = sends ? m.to : m.from, queue = m.queue;
        char const* const emulated = sends ? "tilewright_emulate_signal" : "tilewright_emulate_await";
        core const& of = plan_.where->core_at(sends ? m.from : m.to);
        Stmt const told =
            checked(how_.to == binding::emulated ? call(Halide::Int(32), emulated, {machine_handle(), peer, queue})
                                                 : call_between_cores(sends ? signal_call_of(of) : await_call_of(of), m, peer));
        if (m.loop < 0) return told;
        return IfThenElse::make(Variable::make(Halide::Int(32), name_of_variable(m.loop)) >= static_cast<int>(m.first), told);
    }
    Expr call_between_cores(device_call const& described, message const& m, int peer = 0) const {
        std::vector<Expr> arguments;
        for (int at = 0; at < described.count; ++at) {
            call_argument const& a = described.arguments[at];
            Expr const core = Halide::cast<std::int64_t>(core_number());
            switch (a.is) {
                case role::core: arguments.push_back(core); break;
                case role::peer: arguments.push_back(wide(peer)); break;
                case role::queue: arguments.push_back(wide(m.queue)); break;
                default: arguments.push_back(wide(a.is == role::literal ? a.value : 0)); break;
            }
        }
        return call(Halide::Int(32), described.symbol.str(), arguments);
    }
    /// The code of a transfer, under the condition that its step exists.
    Stmt start(movement const& m) const {
        std::vector<int> loops = going_on_;
        for (int at = 0; m.at.ring >= 0 && at < ring_of(m.at).loop_count; ++at) {
            int const moved = ring_of(m.at).loops[at];
            if (std::find(loops.begin(), loops.end(), moved) == loops.end()) loops.push_back(moved);
        }
        return where_there_is(m.at, within_limits(loops, loop_values_at(m.at), moved(m)));
    }

    /// Makes the buffers in registers that live between two steps of the program, and not only in a loop there, around the code between.
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
    /// Makes an iteration of a loop that lies beyond an end do nothing.
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
            Stmt made = tile_code(b, open_);
            if (how_.to == binding::emulated) {
                Expr const whole = is_whole(plan_, b, loop_values());
                Stmt const cost = is_const_one(whole)    ? code_cost(b, true)
                                  : is_const_zero(whole) ? code_cost(b, false)
                                                         : IfThenElse::make(whole, code_cost(b, true), code_cost(b, false));
                made = Block::make(cost, made);
            }
            return b.first_loop_count == 0 ? made : IfThenElse::make(at_first(b), made);
        }
        Stmt rest = step_of(form_of_rest(b), b.sets);
        if (b.first_intrinsic < 0) return rest;
        Stmt const first = step_of(form_of_first(b), b.first_sets);
        if (b.first_loop_count == 0) return first;
        return IfThenElse::make(at_first(b), first, rest);
    }
    /// Where a body's reduction begins.
    Expr at_first(body const& b) const {
        Expr begins = Halide::Internal::const_true();
        for (int position = 0; position < b.first_loop_count; ++position)
            begins = begins && Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(b.first_loops[position])) == 0;
        return Halide::Internal::simplify(begins);
    }

    int first_ = 0, end_ = plan_.steps.size();  ///< the steps that are emitted
    std::set<int> made_;                        ///< buffers in registers that there is an allocation for
    std::vector<int> open_;                     ///< the loops of the program around, outermost first
    bool shared_ = false;                       ///< whether a distributed loop stands around
    int led_by_ = 0;                            ///< otherwise: the core that runs the step
    std::vector<int> going_on_;                 ///< the loops around that limits do not skip
};

}  // namespace tilewright::halide
