#pragma once
#include <functional>
#include <optional>
#include <string>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/tune/space.hpp>
#include <vector>

namespace tilewright::tune {

/// The operands of a kernel, after it ran: for a check of the user's own. Tensors are dense and row-major.
struct operand_view {
    std::string tensor;
    void* first = nullptr;  ///< the element of the lowest index that the kernel uses
    std::int64_t elements = 0;
    scalar_type type = scalar_type::literal;
    bool is_result = false;

    /// @throws std::invalid_argument when the elements have another type
    template <class Element>
    Element* as() const {
        if (type != scalar_type_of<Element>()) throw std::invalid_argument("`" + tensor + "` has elements of type " + name_of(type));
        return static_cast<Element*>(first);
    }
};

/// What is tuned: a schedule with numbers left open. Any computation, on any machine.
struct problem {
    std::string name;       ///< an identifier; of the C function, too, that a command gets
    problem_shape shape{};  ///< what winners are kept by, with the name and the processor
    space configurations;
    /// The schedule of a configuration. Computation and machine must outlive the tuner; the machine is the same for all.
    std::function<schedule(configuration const&)> scheduled;
    /// Of a plan: those that cost least are measured first. Must be the same in every process.
    std::function<double(plan_value const&)> cost = by_cycles{};

    // The rest is for measuring.

    /// `&semantics_of<npu>`: what the emulator needs of the machine. Without it, only processor and command measure.
    semantics_table const* semantics = nullptr;
    /// Numbers for extents that the schedule leaves to run time.
    std::vector<axis_extent> extents{};
    /// Values of scalar parameters, in the order of their first use.
    std::vector<double> scalars{};
    /// Fills operands before the first run. Without it, they hold whole numbers from -3 to 3.
    std::function<void(operand_view const&)> fill{};
    /// Whether the result is right, given all operands. Without it, it is compared with the same computation without a schedule.
    std::function<bool(std::vector<operand_view> const&)> check{};
    /// Without `check`: how far floats of the result may lie from what is expected, as a share of the largest of them.
    double tolerance = 1e-4;
    /// For the processor: Halide's target; without one, this computer's.
    std::string target{};
    /// Whether a command gets the kernel as C; otherwise it gets the configuration alone.
    bool c_source = true;
    /// Headers that this C source includes first.
    std::vector<std::string> c_includes{};
};

/// One configuration with its plan.
struct candidate {
    configuration what;
    schedule how;
    plan_value const& plan;   ///< what code is made of
    plan_value const& sized;  ///< likewise, at the extents that the problem says
    std::string plan_hash;
};

}  // namespace tilewright::tune
