#pragma once
#include <functional>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/by_value.hpp>
#include <tilewright/halide/index_value.hpp>
#include <tilewright/halide/names.hpp>
#include <tilewright/halide/tool_subject.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <utility>

// Where things are in generated code: values of loops, steps of rings, addresses.
namespace tilewright::halide {

/// The suffix of a buffer's name in the name of the variable that holds its address.
inline constexpr char const* address_suffix = ".address";
/// The suffix of a buffer's name if an element of it is passed by value; the operand's position follows.
inline constexpr char const* value_suffix = ".value";
/// The name of a remark in the program: a call with a text, which stands before the code that it is about.
inline constexpr char const* remark_name = "tilewright.remark";
/// The name of the call across which memory accesses must not move.
inline constexpr char const* fence_name = "tilewright_fence";

/// The part of a plan that is emitted: all of it or, if it only waits from some step on, the steps before, or the waits.
enum class plan_part : std::uint8_t { whole, begin, complete };

/// What the generated code is for, and how it finds its surroundings.
struct emission {
    binding to = binding::emulated;
    /// Emulated: the value of type handle that names the emulated machine in every call.
    Halide::Expr machine;
    Halide::Target target;
    /// Emulated: loops that stay code report every access, for `emulator::check`.
    bool checked = false;
    /// Device: the addresses of memories that have none of their own, as numbers of 64 bits, by position in the machine.
    std::map<int, Halide::Expr> pools = {};
    /// Device: the byte of such a memory that its address is of, by position; none: its first.
    std::map<int, std::int64_t> first_bytes = {};
    /// Arguments are typed pointers: who calls the code has checked them, and defines the extents that are left to run time.
    bool plain_arguments = false;
    /// Functions get registers of a C type by value: the code is C.
    bool passes_values = false;
    plan_part part = plan_part::whole;
    /// What is remarked in front of a step, by its position in the plan; empty: nothing.
    std::function<std::string(int)> remark{};
};

/// Expressions for the places of a plan.
class code_places {
  public:
    static constexpr char const* core_name = "this.core";

    code_places(plan_value const& plan, code_names names, emission how) : plan_(plan), names_(std::move(names)), how_(std::move(how)) {
        if (plan.cores > 1 && how_.to == binding::device && !how_.plain_arguments)
            throw std::invalid_argument("the code of a kernel for several cores is C source");
        argument_list const list = arguments_of(plan);
        for (int at = 0; at < list.pool_count && how_.to == binding::device; ++at) {
            int const memory_at = list.pools[at];
            if (how_.pools.count(memory_at) == 0)
                throw std::invalid_argument("memory `" + plan.where->memories[memory_at].name.str() +
                                            "` has no address, and none is given");
        }
        if (how_.to == binding::device) values_ = value_buffers_of(plan, how_.passes_values);
    }

  protected:
    static constexpr char const* machine_name = "emulated.machine";
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;
    using loop_value = std::function<Expr(int)>;

    std::string const& name_of_buffer(int at) const { return names_.buffers[at]; }
    std::string const& name_of_variable(int at) const { return names_.variables[at]; }
    static Expr wide(std::int64_t value) { return Halide::Internal::make_const(Halide::Int(64), value); }
    static Expr reinterpret_to_handle(Expr const& address) { return Halide::reinterpret(Halide::Handle(), address); }
    /// The number of the core that runs the code.
    static Expr core_number() { return Halide::Internal::Variable::make(Halide::Int(32), core_name); }
    Expr machine_handle() const { return Halide::Internal::Variable::make(Halide::Handle(), machine_name); }
    static Expr call(Halide::Type type, std::string const& symbol, std::vector<Expr> const& arguments) {
        return Halide::Internal::Call::make(type, symbol, arguments, Halide::Internal::Call::Extern);
    }
    /// Whether a buffer is held in registers of the core that the code runs on: in the emulated binding they are a memory like others.
    bool is_in_registers(int buffer_at) const {
        buffer const& b = plan_.buffers[buffer_at];
        return how_.to == binding::device && b.kind != buffer_kind::argument && plan_.where->memories[b.memory].registers > 0;
    }
    /// The register of a buffer that begins at an element.
    Expr register_at(int buffer_at, fixed_array<affine, max_rank> const& at, loop_value const& loops) const {
        buffer const& b = plan_.buffers[buffer_at];
        Expr element = 0;
        for (int dimension = 0; dimension < b.rank; ++dimension)
            element = element + form_value(plan_, at[dimension], loops) * static_cast<int>(b.stride(dimension));
        int const lanes = static_cast<int>(plan_.where->memories[b.memory].register_bytes() / bytes_of(b.type));
        return call(Halide::Handle(), register_name, {Expr(name_of_buffer(buffer_at)), Halide::Internal::simplify(element), lanes});
    }
    /// A call of a function of registers. @param made  the register that it returns; undefined: none
    static Stmt value_call(label const& symbol, Expr const& made, std::vector<Expr> const& arguments) {
        std::vector<Expr> all{Expr(symbol.str()), made.defined() ? made : Expr(0)};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return Halide::Internal::Evaluate::make(call(Halide::Int(32), value_call_name, all));
    }
    static Expr only_read(Expr const& address) { return call(Halide::Handle(), read_address_name, {address}); }
    static Expr structure(std::vector<Expr> const& values) {
        return Halide::Internal::Call::make(Halide::Handle(), Halide::Internal::Call::make_struct, values,
                                            Halide::Internal::Call::Intrinsic);
    }
    std::string name_of_part(int buffer_at, int part) const {
        return name_of_buffer(buffer_at) + address_suffix + (plan_.buffers[buffer_at].parts() == 1 ? "" : "." + std::to_string(part));
    }
    Expr part_address(int buffer_at, int part) const {
        return Halide::Internal::Variable::make(Halide::UInt(64), name_of_part(buffer_at, part));
    }
    Expr address_of_planned(buffer const& b, int part) const {
        memory const& m = plan_.where->memories[b.memory];
        int const bank = b.bank_of(part, m.banks);
        std::int64_t const offset = b.offset_of(part, m.banks);
        if (how_.to == binding::device && m.is_pool()) {
            auto const first = how_.first_bytes.find(b.memory);
            std::int64_t const from = first == how_.first_bytes.end() ? 0 : first->second;
            return how_.pools.at(b.memory) + Halide::Internal::make_const(Halide::UInt(64), bank * m.bank_capacity() + offset - from);
        }
        // The emulator decodes numbers, too.
        if (how_.to == binding::device || m.is_numbered()) {
            Expr const at = Halide::Internal::make_const(Halide::UInt(64), m.position(bank, offset));
            return how_.to == binding::device && plan_.cores > 1 && m.has_core_bases() ? at + core_offset(m) : at;
        }
        Expr const base = call(Halide::UInt(64), "tilewright_emulated_base", {machine_handle(), static_cast<int>(b.memory), bank});
        return base + Halide::Internal::make_const(Halide::UInt(64), offset);
    }
    /// How much higher the addresses of this core's own memory are than those of core 0.
    Expr core_offset(memory const& m) const {
        auto const offset = [&](int core) { return Halide::Internal::make_const(Halide::UInt(64), m.core_offset(core)); };
        bool even = true;
        for (int core = 2; core < plan_.cores; ++core) even &= m.core_offset(core) == static_cast<std::uint64_t>(core) * m.core_offset(1);
        if (even) return Halide::cast<std::uint64_t>(core_number()) * offset(1);
        Expr chosen = offset(0);
        for (int core = 1; core < plan_.cores; ++core) chosen = Halide::select(core_number() == core, offset(core), chosen);
        return chosen;
    }
    Expr given(int variable_at) const { return Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(variable_at)); }
    /// How often a loop runs.
    Expr trips_of(int loop) const {
        variable const& v = plan_.variables[loop];
        if (v.trips >= 0) return given(v.trips);
        int const most = static_cast<int>(v.extent);
        return v.first_of < 0 ? Expr(most) : Halide::min(most, steps_of(plan_.rings[v.first_of]));
    }
    Expr steps_of(ring const& r) const {
        if (!r.run_time) return static_cast<int>(r.steps);
        Expr steps = 1;
        for (int at = 0; at < r.loop_count; ++at) steps = steps * trips_of(r.loops[at]);
        return Halide::Internal::simplify(steps);
    }
    /// The number of a step of a ring: where extents are left to run time, counted from the outermost of its loops inwards.
    Expr step_value(ring const& r, affine const& form, std::function<Expr(int)> const& loops) const {
        if (!r.run_time || form.count == 0 || form.first != r.step.first) return form_value(plan_, form, loops);
        Expr number = 0;
        for (int at = 0; at < r.loop_count; ++at) {
            int const loop = r.loops[at];
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
            buffer const& b = plan_.buffers[of.buffer];
            return extent_of(b, name_of_buffer(of.buffer), of.dimension);
        };
        for (int at = 0; !how_.plain_arguments && at < plan_.run_time_extents; ++at) {
            variable const& v = plan_.variables[at];
            require(given(at) >= 1 && given(at) <= static_cast<int>(v.extent),
                    "the extent of axis " + v.name.str() + " is less than 1 or more than " + std::to_string(v.extent));
        }
        for (int at = 0; !how_.plain_arguments && at < plan_.shapes.size(); ++at) {
            shape const& one = plan_.shapes[at];
            if (!one.plain) continue;  // Halide has checked that an argument holds what is read
            buffer const& b = plan_.buffers[one.buffer];
            term const& axis = plan_.term_at(one.end, 0);
            require(minimum_of(b, name_of_buffer(one.buffer), one.dimension) == 0 && size(one) == given(axis.variable),
                    "dimension " + std::to_string(one.dimension) + " of " + b.tensor.str() + " does not have the extent of axis " +
                        plan_.variables[axis.variable].name.str());
        }
        for (int at = 0; !how_.plain_arguments && at < plan_.rings.size(); ++at) {
            ring const& r = plan_.rings[at];
            if (!r.run_time) continue;
            Expr steps = Halide::cast<double>(1);
            for (int loop = 0; loop < r.loop_count; ++loop) steps = steps * Halide::cast<double>(trips_of(r.loops[loop]));
            require(steps <= Halide::Internal::make_const(Halide::Float(64), stage::most_index - most_versions),
                    "there are more steps than can be counted");
        }
        if (!checks.empty()) whole = Block::make(Block::make(checks), whole);
        for (int at = plan_.variables.size() - 1; at >= 0; --at) {
            variable const& v = plan_.variables[at];
            if (v.kind == variable_kind::count) {
                Expr const counted = form_value(plan_, v.fused, loop_values()) / static_cast<int>(v.divisor);
                whole = LetStmt::make(name_of_variable(at), counted, whole);
            }
            if (v.kind == variable_kind::extent && !how_.plain_arguments)
                whole = LetStmt::make(name_of_variable(at), size(shape_of_extent(plan_, at, true)), whole);
        }
        return whole;
    }
    /// The loops around have the values that they have.
    loop_value loop_values() const {
        return [this](int v) -> Expr { return Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(v)); };
    }
    /// The loops of a ring have the values that they have at step `number`.
    loop_value loop_values_at(ring const& r, Expr const& number) const {
        std::map<int, Expr> values;
        Expr inner = 1;
        for (int at = r.loop_count - 1; at >= 0; --at) {
            int const loop = r.loops[at];
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
    ring const& ring_of(ring_step const& at) const { return plan_.rings[at.ring]; }
    /// Address of a block of a buffer's version, at these values of the loops.
    Expr current_version(int buffer_at, loop_value const& loops, Expr const& block = 0) const {
        buffer const& b = plan_.buffers[buffer_at];
        if (b.parts() == 1) return part_address(buffer_at, 0);
        Expr part = block;
        if (b.versions > 1) {
            Expr const step = b.ring < 0 ? loops(b.by_loop) : step_value(plan_.rings[b.ring], plan_.rings[b.ring].step, loops);
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
            block = block * static_cast<int>(b.extents[dimension]) + form_value(plan_, at[dimension], loops);
        }
        return block;
    }
    /// Address of an element, from its index per dimension, as a number.
    Expr element_address_bits(int buffer_at, fixed_array<affine, max_rank> const& at, loop_value const& loops) const {
        buffer const& b = plan_.buffers[buffer_at];
        std::string const& name = name_of_buffer(buffer_at);
        Expr elements = wide(0);
        for (int dimension = b.block_dimensions; dimension < b.rank; ++dimension) {
            Expr const index = form_value(plan_, at[dimension], loops) - minimum_of(b, name, dimension);
            elements = elements + Halide::cast<std::int64_t>(index) * Halide::cast<std::int64_t>(stride_of(b, name, dimension));
        }
        Expr const bytes = Halide::Internal::simplify(elements * wide(bytes_of(b.type)));
        Expr const base = b.kind == buffer_kind::argument
                              ? Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name))
                              : current_version(buffer_at, loops, block_of(b, at, loops));
        return Halide::Internal::is_const_zero(bytes) ? base : base + Halide::cast<std::uint64_t>(bytes);
    }
    bool is_numbered(label const& memory_name) const {
        return plan_.where->memories[plan_.where->memories.find(memory_name)].is_numbered();
    }
    memory const& memory_of_buffer(int buffer_at) const { return plan_.where->memories[plan_.buffers[buffer_at].memory]; }
    /// An address in a buffer as a part of the machine sees it, which names the buffer's memory or a view of that.
    Expr seen_as(memory const& named, int buffer_at, Expr const& address) const {
        if (!named.is_view()) return address;
        memory const own = memory_of_buffer(buffer_at), seen = with_room(*plan_.where, named);
        std::uint64_t const moved = own.is_pool() ? 0 : seen.position(0, 0) - own.position(0, 0);
        return moved == 0 ? address : Halide::Internal::simplify(address + Halide::Internal::make_const(Halide::UInt(64), moved));
    }
    /// An address as its memory has it: a pointer, or the number that stands for it.
    Expr encoded(int buffer_at, Expr const& address) const { return encoded(memory_of_buffer(buffer_at), address); }
    static Expr encoded(memory const& m, Expr const& address) {
        if (!m.is_numbered()) return address;
        Expr const number = address / Halide::Internal::make_const(Halide::UInt(64), m.address_unit);
        return Halide::Internal::simplify(number | Halide::Internal::make_const(Halide::UInt(64), m.address_flags));
    }
    /// Likewise, as an argument of a device function, with the flags of this use.
    /// @param memory_name  where the part that is called says that it lies
    Expr address_argument(int buffer_at, label const& memory_name, Expr const& address, call_argument const& a) const {
        memory const& m = plan_.where->memories[plan_.where->memories.find(memory_name)];
        Expr const seen = seen_as(m, buffer_at, address);
        if (!m.is_numbered()) return reinterpret_to_handle(seen);
        Expr const number = encoded(m, seen) | Halide::Internal::make_const(Halide::UInt(64), a.value);
        return Halide::Internal::simplify(Halide::cast<std::int64_t>(number));
    }
    /// What is counted, in the unit that an argument asks for.
    static Expr in_units(Expr const& value, call_argument const& a) {
        return a.value == 0 ? value : Halide::Internal::simplify(value / wide(a.value));
    }
    /// How far a kernel reaches along one dimension of an argument.
    Expr extent_touched(int buffer_at, int dimension) const {
        buffer const& b = plan_.buffers[buffer_at];
        Expr extent;
        for (int at = 0; at < plan_.shapes.size(); ++at) {
            shape const& one = plan_.shapes[at];
            if (one.buffer != buffer_at || one.dimension != dimension) continue;
            Expr const end = Halide::cast<std::int64_t>(form_value(plan_, one.end, loop_values()));
            extent = extent.defined() ? Halide::max(extent, end) : end;
        }
        if (!extent.defined()) return wide(b.extents[dimension]);
        return extent - wide(b.minimum[dimension]);
    }
    /// The bytes of an argument that the kernel may touch.
    struct touched_range {
        Expr address, bytes;  ///< as numbers: of its first element, and from there to the end of its last
    };
    touched_range range_of_argument(int buffer_at) const {
        buffer const& b = plan_.buffers[buffer_at];
        std::string const& name = name_of_buffer(buffer_at);
        Expr first = wide(0), elements = wide(1);
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            Expr const stride = Halide::cast<std::int64_t>(stride_of(b, name, dimension));
            first = first + Halide::cast<std::int64_t>(static_cast<int>(b.minimum[dimension]) - minimum_of(b, name, dimension)) * stride;
            elements = elements + (extent_touched(buffer_at, dimension) - 1) * stride;
        }
        std::int64_t const size = bytes_of(b.type);
        Expr const base = Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name));
        return {base + Halide::cast<std::uint64_t>(first * wide(size)), elements * wide(size)};
    }
    /// Tells the emulator which bytes of an argument the kernel may touch.
    Expr argument_call(int buffer_at) const {
        touched_range const range = range_of_argument(buffer_at);
        return call(Halide::Int(32), "tilewright_emulate_argument",
                    {machine_handle(), buffer_at, range.address, range.bytes, plan_.buffers[buffer_at].written ? 1 : 0});
    }
    Expr element_stride(int buffer_at, int dimension, std::int64_t factor) const {
        if (dimension < 0) return wide(0);
        buffer const& b = plan_.buffers[buffer_at];
        return Halide::Internal::simplify(Halide::cast<std::int64_t>(stride_of(b, name_of_buffer(buffer_at), dimension)) * wide(factor));
    }
    Expr byte_stride(int buffer_at, int dimension, std::int64_t factor) const {
        if (buffer_at < 0) return wide(0);
        return Halide::Internal::simplify(element_stride(buffer_at, dimension, factor) * wide(bytes_of(plan_.buffers[buffer_at].type)));
    }

    plan_value const& plan_;
    code_names names_;
    emission how_;
    value_buffers values_;
};

}  // namespace tilewright::halide
