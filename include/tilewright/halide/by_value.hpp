#pragma once
#include <set>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/expression.hpp>

// Registers that functions of the machine take and return by value: variables of a C type that the user's header defines.
namespace tilewright::halide {

/// What the program calls a function of registers: its name, the register that it makes or 0, then its arguments.
inline constexpr char const* value_call_name = "tilewright.value_call";
/// A register of a buffer: the buffer's name, the element where it begins, elements in a register.
inline constexpr char const* register_name = "tilewright.register";
/// An address that such a function only reads from.
inline constexpr char const* read_address_name = "tilewright.read_address";

/// The buffers of a plan that are variables of their registers' C type.
struct value_buffers {
    std::set<int> all;

    bool holds(int buffer_at) const { return all.count(buffer_at) != 0; }
};

/// @param by_value  whether the code can pass registers: C source can, object code cannot
/// @throws std::invalid_argument when functions are given registers and cannot be, with the buffer and its memory
inline value_buffers value_buffers_of(plan_value const& plan, bool by_value) {
    std::set<int> by_code;
    value_buffers found;
    auto const touch = [&](int at, bool called) {
        if (at < 0) return;
        buffer const& b = plan.buffers[at];
        if (b.kind != buffer_kind::argument && plan.where->memories[b.memory].registers > 0) (called ? found.all : by_code).insert(at);
    };
    for (int at = 0; at < plan.bodies.size(); ++at) {
        body const& b = plan.bodies[at];
        bool const called = b.kind == body_kind::intrinsic;
        plan.each_use(b, [&](use const& u, bool, bool) { touch(u.buffer, called); });
    }
    for (int at = 0; at < plan.movements.size(); ++at) {
        movement const& m = plan.movements[at];
        bool const called = m.transfer >= 0 && plan.where->transfers[m.transfer].core_name.empty();
        touch(m.source, called), touch(m.destination, called);
    }
    for (int at : found.all) {
        buffer const& b = plan.buffers[at];
        memory const& file = plan.where->memories[b.memory];
        auto const refuse = [&](std::string const& why) {
            throw std::invalid_argument("`" + b.name.str() + "` is in registers of `" + file.name.str() + "`, " + why);
        };
        if (!file.passes_values()) refuse("which have no address that a function could be given, and no C type");
        if (!by_value) refuse("which functions take by value: that is C source, object code cannot do it");
        if (by_code.count(at) != 0) refuse("which functions take by value, and loops that stay code use it, too");
        std::int64_t const row = b.rank > 0 ? b.extents[b.rank - 1] * bytes_of(b.type) : 0;
        if (row % file.register_bytes() != 0 || row == 0)
            refuse("in rows of " + std::to_string(row) + " bytes, which are not whole registers of " +
                   std::to_string(file.register_bytes()));
        if (b.parts() > 1) refuse("which functions take by value, in " + std::to_string(b.parts()) + " versions or blocks");
    }
    return found;
}

/// @param held  the buffer in registers that the operand at `position` lies in
/// @throws std::invalid_argument when a step takes more or less of it than a register
inline void check_one_register(plan_value const& plan, intrinsic_description const& what, int position, buffer const& held) {
    label const& tensor = what.operands[position].tensor;
    computation_view const view = plan.where->view(what.semantics);
    stage s;
    read_stage(view, 0, s);
    std::int64_t rows = 1, row = 1;
    for (int node = 0; node < view.count; ++node) {
        if (view[node].op != operation::access || view[node].name != tensor) continue;
        rows = row = 1;
        for (int dimension = 0; dimension < view[node].argument_count; ++dimension) {
            stage_index const index = index_of(view, s, node, dimension);
            std::int64_t extent = 1;
            for (int axis = 0; axis < s.axis_count; ++axis) {
                extent += (index.coefficients[axis] < 0 ? -index.coefficients[axis] : index.coefficients[axis]) * (s.axes[axis].extent - 1);
            }
            (dimension + 1 == view[node].argument_count ? row : rows) *= extent;
        }
    }
    memory const& file = plan.where->memories[held.memory];
    std::int64_t const lanes = file.register_bytes() / bytes_of(held.type);
    if (rows == 1 && row == lanes) return;
    throw std::invalid_argument("`" + what.name.str() + "` takes " + std::to_string(rows) + " x " + std::to_string(row) + " elements of `" +
                                tensor.str() + "`, and not the " + std::to_string(lanes) + " of a register of `" + file.name.str() + "`");
}

}  // namespace tilewright::halide
