#pragma once
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
};

class emitter {
  public:
    emitter(plan_value const& plan, code_names names, emission how) : plan_(plan), names_(std::move(names)), how_(std::move(how)) {
        if (how_.to != binding::device) return;
        for (int at = 0; at < plan.buffers.size(); ++at) {
            buffer const& b = plan.buffers[static_cast<std::size_t>(at)];
            memory const& m = plan.where->memories[b.memory];
            if (b.kind != buffer_kind::argument && m.base == no_address) {
                throw std::invalid_argument("memory `" + m.name.str() + "` has no base address: the device binding needs one");
            }
        }
    }

    /// The whole program, with the addresses of its buffers bound in front.
    Halide::Internal::Stmt program() {
        using namespace Halide::Internal;
        int at = 0;
        Stmt whole = steps(at);
        for (int position = plan_.buffers.size() - 1; position >= 0; --position) {
            buffer const& b = plan_.buffers[static_cast<std::size_t>(position)];
            if (b.kind == buffer_kind::argument) continue;
            std::string const& name = name_of_buffer(position);
            whole = LetStmt::make(name, reinterpret_to_handle(Variable::make(Halide::UInt(64), name + ".address")), whole);
            whole = LetStmt::make(name + ".address", address_of_planned(b), whole);
        }
        if (how_.to == binding::emulated) whole = LetStmt::make(machine_name, how_.machine, whole);
        return whole;
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
    Expr address_of_planned(buffer const& b) const {
        memory const& m = plan_.where->memories[b.memory];
        if (how_.to == binding::device)
            return Halide::Internal::make_const(Halide::UInt(64), m.base + static_cast<std::uint64_t>(b.offset));
        Expr const base = call(Halide::UInt(64), "tilewright_emulated_base", {machine_handle(), static_cast<int>(b.memory)});
        return base + Halide::Internal::make_const(Halide::UInt(64), b.offset);
    }
    std::function<Expr(int)> loop_values() const {
        return [this](int v) -> Expr { return Halide::Internal::Variable::make(Halide::Int(32), name_of_variable(v)); };
    }
    /// Address of an element, from its index per dimension, as a number.
    Expr element_address_bits(int buffer_at, fixed_array<affine, max_rank> const& at) const {
        buffer const& b = plan_.buffers[static_cast<std::size_t>(buffer_at)];
        std::string const& name = name_of_buffer(buffer_at);
        Expr elements = wide(0);
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            Expr const index = form_value(plan_, at[static_cast<std::size_t>(dimension)], loop_values()) - minimum_of(b, name, dimension);
            elements = elements + Halide::cast<std::int64_t>(index) * Halide::cast<std::int64_t>(stride_of(b, name, dimension));
        }
        Expr const bytes = Halide::Internal::simplify(elements * wide(bytes_of(b.type)));
        Expr const base = b.kind == buffer_kind::argument
                              ? Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name))
                              : Halide::Internal::Variable::make(Halide::UInt(64), name + ".address");
        return Halide::Internal::is_const_zero(bytes) ? base : base + Halide::cast<std::uint64_t>(bytes);
    }
    Expr element_address(int buffer_at, fixed_array<affine, max_rank> const& at) const {
        return reinterpret_to_handle(element_address_bits(buffer_at, at));
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
                    Stmt const inside = steps(++at);
                    if (v.unrolled) {
                        for (std::int64_t i = 0; i < v.extent; ++i)
                            sequence.push_back(LetStmt::make(name_of_variable(s.what), static_cast<int>(i), inside));
                    } else {
                        sequence.push_back(For::make(name_of_variable(s.what), 0, static_cast<int>(v.extent), ForType::Serial,
                                                     Halide::DeviceAPI::None, inside));
                    }
                    break;
                }
                case step_kind::start: sequence.push_back(transfer_call(plan_.movements[static_cast<std::size_t>(s.what)])); break;
                case step_kind::fence: sequence.push_back(checked(call(Halide::Int(32), "tilewright_fence", {}))); break;
                case step_kind::compute: sequence.push_back(compute(plan_.bodies[static_cast<std::size_t>(s.what)])); break;
                default: throw std::logic_error("a step of the program that this back end does not know");
            }
        }
        return sequence.empty() ? Evaluate::make(0) : Block::make(sequence);
    }

    /// A call that returns an error code; a code other than 0 ends the kernel, which returns it.
    static Stmt checked(Expr const& device_call) {
        using namespace Halide::Internal;
        Expr const status = Variable::make(Halide::Int(32), "status");
        return LetStmt::make("status", device_call, AssertStmt::make(status == 0, status));
    }

    Stmt transfer_call(movement const& m) const {
        transfer_description const& t = plan_.where->transfers[m.transfer];
        Expr const source = m.source < 0 ? reinterpret_to_handle(Halide::Internal::make_const(Halide::UInt(64), 0))
                                         : element_address(m.source, m.source_at);
        Expr const destination = element_address(m.destination, m.destination_at);
        std::int64_t const size = bytes_of(plan_.buffers[static_cast<std::size_t>(m.destination)].type);
        if (how_.to == binding::emulated) {
            std::vector<Expr> shape{wide(m.row_elements), wide(size),
                                    wide(m.source < 0 ? 0 : bytes_of(plan_.buffers[static_cast<std::size_t>(m.source)].type)),
                                    wide(m.dimension_count)};
            for (int position = 0; position < m.dimension_count; ++position) {
                movement_dimension const& d = m.dimensions[static_cast<std::size_t>(position)];
                shape.push_back(wide(d.extent));
                shape.push_back(byte_stride(m.source, d.source_dimension, d.source_factor));
                shape.push_back(byte_stride(m.destination, d.destination_dimension, d.destination_factor));
            }
            return checked(call(Halide::Int(32), "tilewright_emulate_transfer",
                                {machine_handle(), static_cast<int>(m.transfer), source, destination, structure(shape)}));
        }
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
                case role::bytes: arguments.push_back(wide(m.bytes)); break;
                case role::row_bytes: arguments.push_back(wide(m.row_elements * size)); break;
                case role::extent: arguments.push_back(wide(a.dimension == 0 ? m.row_elements : d.extent)); break;
                case role::source_stride:
                    arguments.push_back(byte_stride(m.source, present ? d.source_dimension : -1, d.source_factor));
                    break;
                case role::destination_stride:
                    arguments.push_back(byte_stride(m.destination, present ? d.destination_dimension : -1, d.destination_factor));
                    break;
                default: arguments.push_back(wide(a.value)); break;
            }
        }
        return checked(call(Halide::Int(32), described.symbol.str(), arguments));
    }

    Stmt compute(body const& b) const {
        using namespace Halide::Internal;
        if (b.kind != body_kind::intrinsic) {
            Stmt code = lower_tile_body(plan_, b, names_, how_.target);
            return how_.to == binding::emulated ? Block::make(code_cost(b), code) : code;
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
        std::vector<Expr> arguments;
        if (how_.to == binding::emulated) {
            std::vector<Expr> all;
            for (int position = 0; position < what.operand_count; ++position) {
                all.push_back(Halide::cast<std::int64_t>(element_address_bits(operand(position).buffer, operand(position).at)));
                for (int dimension = 0; dimension < max_rank; ++dimension) all.push_back(stride(position, dimension));
            }
            return checked(call(Halide::Int(32), "tilewright_emulate_intrinsic", {machine_handle(), intrinsic_at, structure(all)}));
        }
        device_call const described = call_of(*plan_.where, what);
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[static_cast<std::size_t>(position)];
            if (a.is == role::address) arguments.push_back(element_address(operand(a.operand).buffer, operand(a.operand).at));
            else if (a.is == role::stride) arguments.push_back(stride(a.operand, a.dimension));
            else arguments.push_back(wide(a.value));
        }
        return checked(call(Halide::Int(32), described.symbol.str(), arguments));
    }

    static Expr structure(std::vector<Expr> const& values) {
        return Halide::Internal::Call::make(Halide::Handle(), Halide::Internal::Call::make_struct, values,
                                            Halide::Internal::Call::Intrinsic);
    }

    /// Tells the emulator what a tile body that stays code is going to do.
    Stmt code_cost(body const& b) const {
        auto const count = [&](std::int64_t iterations, operation_counts const& c) {
            return Halide::Internal::Evaluate::make(
                call(Halide::Int(32), "tilewright_emulate_code",
                     {machine_handle(), wide(iterations), c.load, c.store, c.arithmetic, c.multiply, c.divide, c.convert}));
        };
        std::int64_t all = 1, pure = 1;
        for (int position = 0; position < b.loop_count; ++position) {
            variable const& v = plan_.variables[static_cast<std::size_t>(b.loops[static_cast<std::size_t>(position)])];
            all *= v.extent;
            pure *= v.reduction ? 1 : v.extent;
        }
        Stmt counted = count(all, b.counts);
        if (b.kind == body_kind::reduction) counted = Halide::Internal::Block::make(count(pure, {.store = 1}), counted);
        return counted;
    }

    plan_value const& plan_;
    code_names names_;
    emission how_;
};

}  // namespace tilewright::halide
