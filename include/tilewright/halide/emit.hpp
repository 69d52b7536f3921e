#pragma once
#include <algorithm>
#include <tilewright/halide/blocks.hpp>
#include <tilewright/halide/checked.hpp>
#include <tilewright/halide/tile_body.hpp>

// The loop program as Halide IR.
namespace tilewright::halide {

enum class binding { emulated, device };

/// What the generated code is for, and how it finds its surroundings.
struct emission {
    binding to = binding::emulated;
    /// Emulated: the value of type handle that names the emulated machine in every call.
    Halide::Expr machine;
    Halide::Target target;
    /// Emulated: loops that stay code report every access, for `emulator::check`.
    bool checked = false;
};

class emitter {
  public:
    emitter(plan_value const& plan, code_names names, emission how) : plan_(plan), names_(std::move(names)), how_(std::move(how)) {
        if (how_.to != binding::device) return;
        for (int at = 0; at < plan.buffers.size(); ++at) {
            buffer const& b = plan.buffers[static_cast<std::size_t>(at)];
            memory const& m = plan.where->memories[b.memory];
            if (b.kind != buffer_kind::argument && !m.has_address()) {
                throw std::invalid_argument("memory `" + m.name.str() + "` has no base address: the device binding needs one");
            }
        }
    }

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
    static constexpr char const* machine_name = "emulated.machine";
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

    std::string const& name_of_buffer(int at) const { return names_.buffers[static_cast<std::size_t>(at)]; }
    std::string const& name_of_variable(int at) const { return names_.variables[static_cast<std::size_t>(at)]; }
    static Expr wide(std::int64_t value) { return Halide::Internal::make_const(Halide::Int(64), value); }
    static Expr reinterpret_to_handle(Expr const& address) { return Halide::reinterpret(Halide::Handle(), address); }
    Expr machine_handle() const { return Halide::Internal::Variable::make(Halide::Handle(), machine_name); }
    static Expr call(Halide::Type type, std::string const& symbol, std::vector<Expr> const& arguments) {
        return Halide::Internal::Call::make(type, symbol, arguments, Halide::Internal::Call::Extern);
    }
    std::string name_of_part(int buffer_at, int part) const {
        return name_of_buffer(buffer_at) + ".address" +
               (plan_.buffers[static_cast<std::size_t>(buffer_at)].parts() == 1 ? "" : "." + std::to_string(part));
    }
    Expr part_address(int buffer_at, int part) const {
        return Halide::Internal::Variable::make(Halide::UInt(64), name_of_part(buffer_at, part));
    }
    Expr address_of_planned(buffer const& b, int part) const {
        memory const& m = plan_.where->memories[b.memory];
        int const bank = b.bank_of(part, m.banks);
        std::int64_t const offset = b.offset_of(part, m.banks);
        if (how_.to == binding::device)
            return Halide::Internal::make_const(Halide::UInt(64), m.bank_base(bank) + static_cast<std::uint64_t>(offset));
        Expr const base = call(Halide::UInt(64), "tilewright_emulated_base", {machine_handle(), static_cast<int>(b.memory), bank});
        return base + Halide::Internal::make_const(Halide::UInt(64), offset);
    }
    Expr given(int variable_at) const { return Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(variable_at)); }
    /// How often a loop runs.
    Expr trips_of(int loop) const {
        variable const& v = plan_.variables[static_cast<std::size_t>(loop)];
        if (v.trips >= 0) return given(v.trips);
        int const most = static_cast<int>(v.extent);
        return v.first_of < 0 ? Expr(most) : Halide::min(most, steps_of(plan_.rings[static_cast<std::size_t>(v.first_of)]));
    }
    Expr steps_of(ring const& r) const {
        if (!r.run_time) return static_cast<int>(r.steps);
        Expr steps = 1;
        for (int at = 0; at < r.loop_count; ++at) steps = steps * trips_of(r.loops[static_cast<std::size_t>(at)]);
        return Halide::Internal::simplify(steps);
    }
    /// The number of a step of a ring: where extents are left to run time, counted from the outermost of its loops inwards.
    Expr step_value(ring const& r, affine const& form, std::function<Expr(int)> const& loops) const {
        if (!r.run_time || form.count == 0 || form.first != r.step.first) return form_value(plan_, form, loops);
        Expr number = 0;
        for (int at = 0; at < r.loop_count; ++at) {
            int const loop = r.loops[static_cast<std::size_t>(at)];
            number = number * trips_of(loop) + loops(loop);
        }
        return Halide::Internal::simplify(number + static_cast<int>(form.constant));
    }
    Expr step_value(ring_step const& at) const { return step_value(ring_of(at), at.step, loop_values()); }

    /// Extents that are left to run time, read from the arguments and checked before anything runs.
    Stmt with_extents(Stmt whole) const {
        using namespace Halide::Internal;
        std::vector<Stmt> checks;
        auto const require = [&](Expr const& holds, std::string const& message) {
            checks.push_back(AssertStmt::make(holds, requirement_failed_error(holds, {Expr(message)})));
        };
        auto const size = [&](shape const& of) {
            buffer const& b = plan_.buffers[static_cast<std::size_t>(of.buffer)];
            return extent_of(b, name_of_buffer(of.buffer), of.dimension);
        };
        for (int at = 0; at < plan_.run_time_extents; ++at) {
            variable const& v = plan_.variables[static_cast<std::size_t>(at)];
            require(given(at) >= 1 && given(at) <= static_cast<int>(v.extent),
                    "the extent of axis " + v.name.str() + " is less than 1 or more than " + std::to_string(v.extent));
        }
        for (int at = 0; at < plan_.shapes.size(); ++at) {
            shape const& one = plan_.shapes[static_cast<std::size_t>(at)];
            if (!one.plain) continue;  // Halide has checked that an argument holds what is read
            buffer const& b = plan_.buffers[static_cast<std::size_t>(one.buffer)];
            term const& axis = plan_.term_at(one.end, 0);
            require(minimum_of(b, name_of_buffer(one.buffer), one.dimension) == 0 && size(one) == given(axis.variable),
                    "dimension " + std::to_string(one.dimension) + " of " + b.tensor.str() + " does not have the extent of axis " +
                        plan_.variables[static_cast<std::size_t>(axis.variable)].name.str());
        }
        for (int at = 0; at < plan_.rings.size(); ++at) {
            ring const& r = plan_.rings[static_cast<std::size_t>(at)];
            if (!r.run_time) continue;
            Expr steps = Halide::cast<double>(1);
            for (int loop = 0; loop < r.loop_count; ++loop)
                steps = steps * Halide::cast<double>(trips_of(r.loops[static_cast<std::size_t>(loop)]));
            require(steps <= Halide::Internal::make_const(Halide::Float(64), stage::most_index - most_versions),
                    "there are more steps than can be counted");
        }
        whole = Block::make(Block::make(checks), whole);
        for (int at = plan_.variables.size() - 1; at >= 0; --at) {
            variable const& v = plan_.variables[static_cast<std::size_t>(at)];
            if (v.kind == variable_kind::count) {
                Expr const counted = form_value(plan_, v.fused, loop_values()) / static_cast<int>(v.divisor);
                whole = LetStmt::make(name_of_variable(at), counted, whole);
            }
            if (v.kind == variable_kind::extent) whole = LetStmt::make(name_of_variable(at), size(shape_of_extent(plan_, at, true)), whole);
        }
        return whole;
    }
    using loop_value = std::function<Expr(int)>;
    /// The loops around have the values that they have.
    loop_value loop_values() const {
        return [this](int v) -> Expr { return Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(v)); };
    }
    /// The loops of a ring have the values that they have at step `number`.
    loop_value loop_values_at(ring const& r, Expr const& number) const {
        std::map<int, Expr> values;
        Expr inner = 1;
        for (int at = r.loop_count - 1; at >= 0; --at) {
            int const loop = r.loops[static_cast<std::size_t>(at)];
            Expr const value = Halide::Internal::is_const_one(inner) ? number : number / inner;
            values[loop] = at == 0 ? value : value % trips_of(loop);
            inner = Halide::Internal::simplify(inner * trips_of(loop));
        }
        return [values, otherwise = loop_values()](int v) -> Expr {
            auto const found = values.find(v);
            return found == values.end() ? otherwise(v) : found->second;
        };
    }
    loop_value loop_values_at(ring_step const& at) const {
        if (at.ring < 0) return loop_values();
        return loop_values_at(ring_of(at), step_value(at));
    }
    ring const& ring_of(ring_step const& at) const { return plan_.rings[static_cast<std::size_t>(at.ring)]; }
    /// Address of a block of the version that is meant where the loops have these values.
    Expr current_version(int buffer_at, loop_value const& loops, Expr const& block = 0) const {
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        if (b.parts() == 1) return part_address(buffer_at, 0);
        Expr part = block;
        if (b.versions > 1) {
            ring const& r = plan_.rings[static_cast<std::size_t>(b.ring)];
            Expr const step = step_value(r, r.step, loops);
            part = part + step % static_cast<int>(b.versions) * static_cast<int>(b.blocks);
        }
        part = Halide::Internal::simplify(part);
        if (auto const* const known = Halide::Internal::as_const_int(part)) return part_address(buffer_at, static_cast<int>(*known));
        Expr address = part_address(buffer_at, 0);
        for (int other = 1; other < b.parts(); ++other) address = Halide::select(part == other, part_address(buffer_at, other), address);
        return address;
    }
    /// In which block of its buffer an element is, by its index per dimension.
    Expr block_of(buffer const& b, fixed_array<affine, max_rank> const& at, loop_value const& loops) const {
        Expr block = 0;
        for (int dimension = 0; dimension < b.block_dimensions; ++dimension) {
            block = block * static_cast<int>(b.extents[static_cast<std::size_t>(dimension)]) +
                    form_value(plan_, at[static_cast<std::size_t>(dimension)], loops);
        }
        return block;
    }
    /// Address of an element, from its index per dimension, as a number.
    Expr element_address_bits(int buffer_at, fixed_array<affine, max_rank> const& at, loop_value const& loops) const {
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        std::string const& name = name_of_buffer(buffer_at);
        Expr elements = wide(0);
        for (int dimension = b.block_dimensions; dimension < b.rank; ++dimension) {
            Expr const index = form_value(plan_, at[static_cast<std::size_t>(dimension)], loops) - minimum_of(b, name, dimension);
            elements = elements + Halide::cast<std::int64_t>(index) * Halide::cast<std::int64_t>(stride_of(b, name, dimension));
        }
        Expr const bytes = Halide::Internal::simplify(elements * wide(bytes_of(b.type)));
        Expr const base = b.kind == buffer_kind::argument
                              ? Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name))
                              : current_version(buffer_at, loops, block_of(b, at, loops));
        return Halide::Internal::is_const_zero(bytes) ? base : base + Halide::cast<std::uint64_t>(bytes);
    }
    Expr element_address(int buffer_at, fixed_array<affine, max_rank> const& at, loop_value const& loops) const {
        return reinterpret_to_handle(element_address_bits(buffer_at, at, loops));
    }
    /// How far a kernel reaches along one dimension of an argument.
    Expr extent_touched(int buffer_at, int dimension) const {
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        Expr extent;
        for (int at = 0; at < plan_.shapes.size(); ++at) {
            shape const& one = plan_.shapes[static_cast<std::size_t>(at)];
            if (one.buffer != buffer_at || one.dimension != dimension) continue;
            Expr const end = Halide::cast<std::int64_t>(form_value(plan_, one.end, loop_values()));
            extent = extent.defined() ? Halide::max(extent, end) : end;
        }
        if (!extent.defined()) return wide(b.extents[static_cast<std::size_t>(dimension)]);
        return extent - wide(b.minimum[static_cast<std::size_t>(dimension)]);
    }
    /// Tells the emulator which bytes of an argument the kernel may touch.
    Expr argument_call(int buffer_at) const {
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        std::string const& name = name_of_buffer(buffer_at);
        Expr first = wide(0), elements = wide(1);
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            Expr const stride = Halide::cast<std::int64_t>(stride_of(b, name, dimension));
            first = first + Halide::cast<std::int64_t>(static_cast<int>(b.minimum[d]) - minimum_of(b, name, dimension)) * stride;
            elements = elements + (extent_touched(buffer_at, dimension) - 1) * stride;
        }
        std::int64_t const size = bytes_of(b.type);
        Expr const base = Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name));
        return call(Halide::Int(32), "tilewright_emulate_argument",
                    {machine_handle(), buffer_at, base + Halide::cast<std::uint64_t>(first * wide(size)), elements * wide(size)});
    }
    Expr element_stride(int buffer_at, int dimension, std::int64_t factor) const {
        if (dimension < 0) return wide(0);
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        return Halide::Internal::simplify(Halide::cast<std::int64_t>(stride_of(b, name_of_buffer(buffer_at), dimension)) * wide(factor));
    }
    Expr byte_stride(int buffer_at, int dimension, std::int64_t factor) const {
        if (buffer_at < 0) return wide(0);
        return Halide::Internal::simplify(element_stride(buffer_at, dimension, factor) *
                                          wide(bytes_of(plan_.buffers[static_cast<std::size_t>(buffer_at)].type)));
    }

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

    /// A call that returns an error code; a code other than 0 ends the kernel, which returns it when nothing is in flight any more.
    Stmt checked(Expr const& device_call) const {
        using namespace Halide::Internal;
        Expr const status = Variable::make(Halide::Int(32), "status");
        Stmt const end = AssertStmt::make(status == 0, status);
        Stmt const waits = wait_for_everything();
        return LetStmt::make("status", device_call, waits.defined() ? Block::make(IfThenElse::make(status != 0, waits), end) : end);
    }
    /// Undefined when the plan starts nothing that it has to wait for.
    Stmt wait_for_everything() const {
        std::vector<Stmt> waits;
        for (int at = 0; at < plan_.where->engines.size(); ++at) {
            if (!plan_.is_busy_aside(at)) continue;
            if (is_channel(at)) waits.push_back(Halide::Internal::Evaluate::make(wait_on(at, wide(0))));
            for (int which = 0; which < plan_.rings.size() && !is_channel(at); ++which) {
                ring const& r = plan_.rings[static_cast<std::size_t>(which)];
                for (int version = 0; version < r.versions && r.engine == at; ++version)
                    waits.push_back(Halide::Internal::Evaluate::make(wait_on(at, wide(r.first_tag + version))));
            }
        }
        for (link const* l : token_queues()) waits.push_back(pop_all(*l, false));
        return waits.empty() ? Stmt() : Halide::Internal::Block::make(waits);
    }
    /// Nothing at steps that a ring does not have.
    Stmt where_there_is(ring_step const& at, Stmt const& what) const {
        if (at.ring < 0) return what;
        if (at.only_where >= 0) {
            ring_step everywhere = at;
            everywhere.only_where = -1;
            return Halide::Internal::IfThenElse::make(variable_value(plan_, at.only_where, loop_values()) == 0,
                                                      where_there_is(everywhere, what));
        }
        Expr const number = step_value(at);
        Expr there = Halide::Internal::const_true();
        if (plan_.may_precede(at)) there = number >= 0;
        if (plan_.may_exceed(at)) there = there && number < steps_of(ring_of(at)) - static_cast<int>(at.fewer);
        return Halide::Internal::is_const_one(there) ? what : Halide::Internal::IfThenElse::make(Halide::Internal::simplify(there), what);
    }
    Expr tag_of(ring_step const& at) const {
        ring const& r = ring_of(at);
        Expr const number = step_value(at);
        return wide(r.first_tag) + Halide::cast<std::int64_t>(Halide::Internal::simplify(number % static_cast<int>(r.versions)));
    }
    Expr wait_on(int engine_at, Expr const& value) const {
        engine const& e = plan_.where->engines[engine_at];
        if (how_.to == binding::emulated) return call(Halide::Int(32), "tilewright_emulate_wait", {machine_handle(), engine_at, value});
        return call_with(wait_call_of(e), value);
    }
    /// A call whose arguments are literals, and one value.
    static Expr call_with(device_call const& described, Expr const& value) {
        std::vector<Expr> arguments;
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[static_cast<std::size_t>(position)];
            arguments.push_back(a.is == role::literal ? wide(a.value) : value);
        }
        return call(Halide::Int(32), described.symbol.str(), arguments);
    }
    Stmt wait_call(ring_step const& until) const {
        ring const& r = ring_of(until);
        if (!is_channel(r.engine)) return checked(wait_on(r.engine, tag_of(until)));
        return checked(wait_on(r.engine, count_at(job_count(r.engine)) - count_at(last_of_tag(until))));
    }

    // A channel is waited for by how many of its jobs may be pending. The code counts the jobs that it has started on such an engine, and
    // keeps the count at which the last transfer of every tag was started, and those that links mark. Of tokens it counts the pushes and
    // the pops.
    static constexpr char const* counts = "counts";
    bool is_channel(int engine_at) const { return plan_.where->engines[engine_at].completes == completion::by_channel; }
    /// Whether the core waits for some of an engine's jobs by counting them.
    bool counts_jobs(int engine_at) const {
        if (!is_channel(engine_at)) return false;
        bool waited = false;
        for (int at = 0; at < plan_.steps.size(); ++at) {
            step const& s = plan_.steps[static_cast<std::size_t>(at)];
            if (s.kind == step_kind::wait) waited |= ring_of(plan_.waits[static_cast<std::size_t>(s.what)]).engine == engine_at;
        }
        for (int at = 0; at < plan_.links.size(); ++at) {
            link const& l = plan_.links[static_cast<std::size_t>(at)];
            waited |= l.to < 0 && l.from == engine_at;
        }
        return waited;
    }
    /// A link for each queue of tokens.
    std::vector<link const*> token_queues() const {
        std::vector<link const*> found;
        for (int at = 0; at < plan_.links.size(); ++at) {
            link const& l = plan_.links[static_cast<std::size_t>(at)];
            bool known = l.to < 0;
            for (link const* other : found) known |= other->tokens == l.tokens && other->queue == l.queue;
            if (!known) found.push_back(&l);
        }
        return found;
    }
    bool keeps_counts() const {
        bool keeps = !token_queues().empty();
        for (int at = 0; at < plan_.where->engines.size(); ++at) keeps |= counts_jobs(at);
        return keeps;
    }
    int tag_count() const {
        int tags = 0;
        for (int at = 0; at < plan_.rings.size(); ++at) tags += plan_.rings[static_cast<std::size_t>(at)].versions;
        return tags;
    }
    int link_count() const {
        int steps = 0;
        for (int at = 0; at < plan_.links.size(); ++at) {
            int const ring_at = plan_.links[static_cast<std::size_t>(at)].ring;
            steps += ring_at < 0 ? 1 : plan_.rings[static_cast<std::size_t>(ring_at)].versions;
        }
        return steps;
    }
    // Which count is which.
    static Expr job_count(int engine_at) { return wide(engine_at); }
    Expr last_of_tag(ring_step const& at) const { return wide(plan_.where->engines.size()) + tag_of(at); }
    Expr last_of_link(ring_step const& at) const {
        link const& l = link_of(at);
        Expr const first = wide(plan_.where->engines.size() + tag_count() + l.first_count);
        if (l.ring < 0) return first;
        Expr const number = step_value(at);
        int const versions = plan_.rings[static_cast<std::size_t>(l.ring)].versions;
        return first + Halide::cast<std::int64_t>(Halide::Internal::simplify(number % versions));
    }
    Expr push_count(link const& l) const {
        auto const queues = token_queues();
        auto const found = std::find_if(queues.begin(), queues.end(),
                                        [&](link const* other) { return other->tokens == l.tokens && other->queue == l.queue; });
        return wide(plan_.where->engines.size() + tag_count() + link_count() + 2 * (found - queues.begin()));
    }
    Expr pop_count(link const& l) const { return push_count(l) + 1; }

    static Expr count_at(Expr const& which) {
        return Halide::Internal::Load::make(Halide::Int(64), counts, which, Halide::Buffer<>(), Halide::Internal::Parameter(),
                                            Halide::Internal::const_true(), Halide::Internal::ModulusRemainder());
    }
    static Stmt set_count(Expr const& which, Expr const& value) {
        return Halide::Internal::Store::make(counts, value, which, Halide::Internal::Parameter(), Halide::Internal::const_true(),
                                             Halide::Internal::ModulusRemainder());
    }
    Stmt with_counts(Stmt whole) const {
        using namespace Halide::Internal;
        auto const queues = token_queues();
        int const size = plan_.where->engines.size() + tag_count() + link_count() + 2 * static_cast<int>(queues.size());
        Expr const at = Variable::make(Halide::Int(32), "count");
        Stmt const clear = For::make("count", 0, size, ForType::Serial, Halide::DeviceAPI::None, set_count(at, wide(0)));
        // Where links share a queue, tokens that nobody asked for are left.
        for (link const* l : queues) {
            if (l->shared) whole = Block::make(whole, pop_all(*l, true));
        }
        return Allocate::make(counts, Halide::Int(64), Halide::MemoryType::Stack, {size}, const_true(), Block::make(clear, whole));
    }
    /// A call that gives an engine a job, counted where that is needed. `tag`: what is kept beside; undefined where there is none
    Stmt started(int engine_at, Stmt const& start, Expr const& tag) const {
        if (engine_at < 0 || !counts_jobs(engine_at)) return start;
        std::vector<Stmt> all{start, set_count(job_count(engine_at), count_at(job_count(engine_at)) + 1)};
        if (tag.defined()) all.push_back(set_count(tag, count_at(job_count(engine_at))));
        return Halide::Internal::Block::make(all);
    }
    Stmt started(movement const& m, Stmt const& start) const {
        if (!plan_.where->transfers[m.transfer].is_asynchronous) return start;
        return started(ring_of(m.at).engine, start, last_of_tag(m.at));
    }

    link const& link_of(ring_step const& at) const { return plan_.links[static_cast<std::size_t>(at.link)]; }
    Expr token_call(link const& l, bool pushes) const {
        tokens const& t = plan_.where->tokens[l.tokens];
        if (how_.to == binding::emulated)
            return call(Halide::Int(32), pushes ? "tilewright_emulate_push" : "tilewright_emulate_pop",
                        {machine_handle(), static_cast<int>(l.tokens), static_cast<int>(l.queue)});
        return call_with(pushes ? push_call_of(t) : pop_call_of(t), wide(l.queue));
    }
    Stmt push(ring_step const& at) const {
        link const& l = link_of(at);
        if (l.to < 0) return set_count(last_of_link(at), count_at(job_count(l.from)));
        std::vector<Stmt> all{checked(token_call(l, true)), set_count(push_count(l), count_at(push_count(l)) + 1)};
        if (l.shared) all.push_back(set_count(last_of_link(at), count_at(push_count(l))));
        return Halide::Internal::Block::make(all);
    }
    Stmt pop(ring_step const& at) const {
        link const& l = link_of(at);
        if (l.to < 0) return checked(wait_on(l.from, count_at(job_count(l.from)) - count_at(last_of_link(at))));
        if (l.shared) return pop_up_to(l, count_at(last_of_link(at)), true);
        return pop_one(l, true);
    }
    Stmt pop_one(link const& l, bool is_checked) const {
        Stmt const popped = set_count(pop_count(l), count_at(pop_count(l)) + 1);
        Expr const taken = token_call(l, false);
        return Halide::Internal::Block::make(popped, is_checked ? checked(taken) : Halide::Internal::Evaluate::make(taken));
    }
    /// Takes tokens until so many have been taken.
    Stmt pop_up_to(link const& l, Expr const& all, bool is_checked) const {
        Expr const missing = Halide::max(Halide::cast<std::int32_t>(all - count_at(pop_count(l))), 0);
        return Halide::Internal::For::make("token", 0, missing, Halide::Internal::ForType::Serial, Halide::DeviceAPI::None,
                                           pop_one(l, is_checked));
    }
    Stmt pop_all(link const& l, bool is_checked) const { return pop_up_to(l, count_at(push_count(l)), is_checked); }

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

    /// From where to where a call moves the elements of one of its dimensions; -1: the row.
    struct reach {
        Expr begin, extent;
        bool clipped = false;
    };
    reach reach_of(movement const& m, int dimension) const {
        Expr begin = wide(0);
        Expr end = wide(dimension < 0 ? m.row_elements : m.dimensions[static_cast<std::size_t>(dimension)].extent);
        bool clipped = false;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[static_cast<std::size_t>(at)];
            if (c.dimension != dimension || c.is == clip_kind::only || c.is == clip_kind::beyond) continue;
            Expr const here = wide(c.bound) - Halide::cast<std::int64_t>(form_value(plan_, c.form, loop_values_at(m.at)));
            (c.is == clip_kind::end ? end : begin) = c.is == clip_kind::end ? Halide::min(end, here) : Halide::max(begin, here);
            clipped = true;
        }
        return {Halide::Internal::simplify(begin), Halide::Internal::simplify(end - begin), clipped};
    }
    /// When the call is made: not when nothing of a dimension is left.
    Expr is_made(movement const& m, std::vector<reach> const& reaches) const {
        Expr made = Halide::Internal::const_true(), beyond;
        for (reach const& r : reaches) {
            if (r.clipped) made = made && r.extent > wide(0);
        }
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[static_cast<std::size_t>(at)];
            Expr const before = form_value(plan_, c.form, loop_values_at(m.at)) < static_cast<int>(c.bound);
            if (c.is == clip_kind::only) made = made && before;
            if (c.is == clip_kind::beyond) beyond = beyond.defined() ? beyond || !before : !before;
        }
        return Halide::Internal::simplify(beyond.defined() ? made && beyond : made);
    }

    Stmt transfer_call(movement const& m) const {
        // The dimensions in their order, then the row.
        std::vector<reach> reaches;
        for (int position = 0; position < m.dimension_count; ++position) reaches.push_back(reach_of(m, position));
        reaches.push_back(reach_of(m, -1));
        Stmt const made = transfer_call(m, reaches);
        Expr const condition = is_made(m, reaches);
        return Halide::Internal::is_const_one(condition) ? made : Halide::Internal::IfThenElse::make(condition, made);
    }
    Stmt transfer_call(movement const& m, std::vector<reach> const& reaches) const {
        transfer_description const& t = plan_.where->transfers[m.transfer];
        loop_value const loops = loop_values_at(m.at);
        Expr from = m.source < 0 ? Halide::Internal::make_const(Halide::UInt(64), 0) : element_address_bits(m.source, m.source_at, loops);
        Expr to = element_address_bits(m.destination, m.destination_at, loops);
        for (int position = 0; position <= m.dimension_count; ++position) {
            Expr const& begin = reaches[static_cast<std::size_t>(position)].begin;
            if (Halide::Internal::is_const_zero(begin)) continue;
            bool const row = position == m.dimension_count;
            movement_dimension const d = row ? movement_dimension{} : m.dimensions[static_cast<std::size_t>(position)];
            auto const behind = [&](int buffer_at, int dimension) {
                std::int64_t const size = buffer_at < 0 ? 0 : bytes_of(plan_.buffers[static_cast<std::size_t>(buffer_at)].type);
                Expr const stride =
                    row ? wide(size) : byte_stride(buffer_at, dimension, buffer_at == m.source ? d.source_factor : d.destination_factor);
                return Halide::cast<std::uint64_t>(begin * stride);
            };
            if (m.source >= 0) from = from + behind(m.source, d.source_dimension);
            to = to + behind(m.destination, d.destination_dimension);
        }
        Expr const source = reinterpret_to_handle(from), destination = reinterpret_to_handle(to);
        Expr const row_elements = reaches.back().extent;
        Expr const tag = t.is_asynchronous ? tag_of(m.at) : wide(-1);
        std::int64_t const size = bytes_of(plan_.buffers[static_cast<std::size_t>(m.destination)].type);
        if (how_.to == binding::emulated) {
            std::vector<Expr> shape{row_elements,
                                    wide(size),
                                    wide(m.source < 0 ? 0 : bytes_of(plan_.buffers[static_cast<std::size_t>(m.source)].type)),
                                    wide(m.dimension_count),
                                    tag,
                                    wide(m.source),
                                    wide(m.destination)};
            for (int position = 0; position < m.dimension_count; ++position) {
                movement_dimension const& d = m.dimensions[static_cast<std::size_t>(position)];
                shape.push_back(reaches[static_cast<std::size_t>(position)].extent);
                shape.push_back(byte_stride(m.source, d.source_dimension, d.source_factor));
                shape.push_back(byte_stride(m.destination, d.destination_dimension, d.destination_factor));
            }
            return started(m, checked(call(Halide::Int(32), "tilewright_emulate_transfer",
                                           {machine_handle(), static_cast<int>(m.transfer), source, destination, structure(shape)})));
        }
        Expr elements = wide(1);
        for (reach const& r : reaches) elements = elements * r.extent;
        std::vector<Expr> arguments;
        device_call const described = call_of(*plan_.where, t);
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[static_cast<std::size_t>(position)];
            // Dimension 0 is the row; 1 is the innermost of the others.
            int const which = m.dimension_count - a.dimension;
            bool const present = a.dimension >= 1 && which >= 0;
            movement_dimension const d = present ? m.dimensions[static_cast<std::size_t>(which)] : movement_dimension{};
            switch (a.is) {
                case role::source: arguments.push_back(source); break;
                case role::destination: arguments.push_back(destination); break;
                case role::bytes: arguments.push_back(Halide::Internal::simplify(elements * wide(size))); break;
                case role::row_bytes: arguments.push_back(Halide::Internal::simplify(row_elements * wide(size))); break;
                case role::extent:
                    arguments.push_back(a.dimension == 0 ? row_elements
                                        : present        ? reaches[static_cast<std::size_t>(which)].extent
                                                         : wide(1));
                    break;
                case role::source_stride:
                    arguments.push_back(byte_stride(m.source, present ? d.source_dimension : -1, d.source_factor));
                    break;
                case role::destination_stride:
                    arguments.push_back(byte_stride(m.destination, present ? d.destination_dimension : -1, d.destination_factor));
                    break;
                case role::tag: arguments.push_back(tag); break;
                default: arguments.push_back(wide(a.value)); break;
            }
        }
        return started(m, checked(call(Halide::Int(32), described.symbol.str(), arguments)));
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

    static Expr structure(std::vector<Expr> const& values) {
        return Halide::Internal::Call::make(Halide::Handle(), Halide::Internal::Call::make_struct, values,
                                            Halide::Internal::Call::Intrinsic);
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

    plan_value const& plan_;
    code_names names_;
    emission how_;
    std::vector<int> going_on_;  ///< the loops around that limits do not skip
};

}  // namespace tilewright::halide
