#pragma once
#include <optional>
#include <string>
#include <tilewright/schedule/schedule.hpp>
#include <vector>

/// Cases that are drawn: a case is a plain value, and everything else follows from it: what runs, what is printed, and what is left of it
/// when it is made smaller.
namespace fuzz {

using namespace tilewright;

/// An index over the axes of a stage: `constant + sum of factor * axis`; or what an argument of the access computes.
struct index {
    struct term {
        int axis = 0;  ///< position in the stage
        std::int64_t factor = 1;
    };
    std::int64_t constant = 0;
    std::vector<term> terms{};
    int computed = -1;  ///< the argument; -1: none
};

/// An expression. One whose operation is `invalid` calls a function of `library_functions`.
struct value {
    operation op = operation::constant;
    scalar_type type = scalar_type::int32;
    std::vector<value> arguments{};  ///< access: the indices that are computed
    std::int64_t number = 0;         ///< constant, of floating point the bits of a double; padded access: the border, likewise
    int which = -1;                  ///< access: the tensor; axis_value: the axis of the stage; parameter, invalid: which of these
    std::vector<index> at{};         ///< access
    bool padded = false;             ///< access: outside of `tensor::padded_to`, it is the border
};

struct tensor {
    std::string name;
    scalar_type type = scalar_type::int32;
    std::int64_t magnitude = 100;           ///< of what it holds: integers from -magnitude (or 0) to magnitude
    bool special = false;                   ///< floating point: some elements are NaN, infinite or -0.0
    bool exact = true;                      ///< floating point: multiples of one half, whose sums are exact in any order
    std::vector<std::int64_t> padded_to{};  ///< its extents, where a padded access names them
};

struct axis {
    std::string name;
    std::int64_t extent = 1;  ///< that it runs with
    std::int64_t most = 0;    ///< left to run time: its upper bound; 0: it has none
    bool open = false;        ///< left to run time
};

struct stage {
    int output = 0;            ///< tensor
    std::vector<axis> axes{};  ///< those of the target, then those that are reduced
    int rank = 0;
    operation reduction = operation::constant;  ///< `constant`: none
    bool named = true;                          ///< the reduced axes are listed: `sum(k, …)`; else `+=`
    bool continues = false;
    bool start_leads = false;  ///< what the reduction starts from, or continues, stands in front of it
    std::optional<value> start{};
    value body{};
};

struct parameter {
    std::string name;
    scalar_type type = scalar_type::int32;
    double given = 0;
};

/// A part of a coordinate of a box, as in `layout`: coordinate % below / step.
struct layout_part {
    int dimension = 0;
    std::int64_t below = 0;  ///< 0: no remainder
    std::int64_t step = 1;
};

struct directive {
    directive_kind kind = directive_kind::split;
    std::vector<std::string> names{};
    std::vector<std::int64_t> numbers{};
    int tensor = -1;  ///< that it speaks of
    std::vector<layout_part> layout{};
    int coordinates = 0;     ///< of the box that a layout is for
    bool separates = false;  ///< the first part of the layout chooses the block
};

/// What a configuration must be set to when a part is called.
struct used_registers {
    struct value {
        role is = role::literal;
        std::int8_t dimension = 0;  ///< of a stride or an extent
        int operand = -1;           ///< of an instruction, whose stride it is; of a covered axis, which
        std::int64_t literal = 0;
    };
    std::string configuration;
    std::vector<value> values{};
};

/// An instruction: one stage over its own axes and operands.
struct instruction {
    std::string name;
    std::vector<tensor> tensors{};
    stage does{};
    std::vector<std::string> memories{};  ///< of each of the tensors
    bool updates = false;                 ///< its result continues; else it is overwritten
    std::string engine{};                 ///< empty: none
    bool asynchronous = false;
    intrinsic_cost costs{};
    unsigned flexible = 0;  ///< a bit for each axis of which it covers up to the extent
    int in_place = -1;      ///< of the tensors, the one that the result overwrites where it lies; -1: none
    std::vector<used_registers> uses{};
};

/// A constant that a transfer fills with.
struct fill {
    std::int64_t number = 0;
    scalar_type type = scalar_type::int32;
};
struct move {
    transfer what;  ///< without `uses`
    std::optional<fill> fills{};
    std::vector<used_registers> uses{};
};

struct machine_parts {
    std::vector<memory> memories{};
    std::vector<engine> engines{};
    std::vector<tilewright::tokens> tokens{};
    std::vector<core> cores{};
    std::vector<configuration> configurations{};
    std::vector<move> transfers{};
    std::vector<instruction> instructions{};
};

/// A kernel: what it computes, on what, how, and with which data.
struct drawn_case {
    std::uint64_t seed = 0;
    std::vector<tensor> tensors{};
    std::vector<parameter> parameters{};
    std::vector<stage> stages{};
    machine_parts where{};
    std::vector<directive> directives{};

    bool computes(int which) const {
        for (stage const& s : stages) {
            if (s.output == which) return true;
        }
        return false;
    }
};

/// Calls `visit(value)` for an expression and all its parts.
template <class Value, class Visit>
void each_value(Value& root, Visit const& visit) {
    visit(root);
    for (auto& part : root.arguments) each_value(part, visit);
}
template <class Stage, class Visit>
void each_value_of(Stage& s, Visit const& visit) {
    if (s.start) each_value(*s.start, visit);
    each_value(s.body, visit);
}

}  // namespace fuzz
