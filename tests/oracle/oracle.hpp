#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tilewright/compute/tensor.hpp>
#include <vector>

/// What a computation must give: an interpreter of the compute language, value by value as docs/reference/compute.md says.
///
/// It reads the nodes of a computation and nothing else of the library: it shares no code with planner, generated code or emulator, so
/// that a mistake of theirs is none of its own. It is slow, and written to be checked by reading.
namespace oracle {

inline constexpr int most_dimensions = 6;

/// A tensor with the box that it covers: elements [minimum, minimum + extent) along each dimension.
struct tensor_box {
    tilewright::ir::label name{};
    tilewright::scalar_type type = tilewright::scalar_type::literal;
    int rank = 0;
    std::array<std::int64_t, most_dimensions> minimum{}, extents{};

    std::int64_t elements() const;
    std::int64_t bytes() const { return elements() * tilewright::bytes_of(type); }
    /// In elements, of a dense row-major array of this box.
    std::array<std::int64_t, most_dimensions> dense_strides() const;
};

/// A tensor in the caller's memory. `data` points to the element at the lowest indices.
struct operand {
    tensor_box box;
    void const* data = nullptr;
    std::array<std::int64_t, most_dimensions> strides{};  ///< in elements

    operand(tensor_box const& of, void const* elements) : box(of), data(elements), strides(of.dense_strides()) {}
    operand(tensor_box const& of, void const* elements, std::array<std::int64_t, most_dimensions> const& with_strides)
        : box(of), data(elements), strides(with_strides) {}
};

/// The value of a parameter.
struct parameter_value {
    tilewright::ir::label name{};
    tilewright::scalar_type type = tilewright::scalar_type::literal;
    std::uint64_t bits = 0;

    template <class T>
    parameter_value(tilewright::ir::label const& of, T value) : name(of), type(tilewright::scalar_type_of<T>()) {
        std::memcpy(&bits, &value, sizeof value);  // of a little-endian machine
    }
};

/// What the language leaves to the user to avoid.
enum class mishap_kind : std::uint8_t {
    overflow,    // of signed integers of 32 and 64 bits
    shift,       // by less than 0, or by as many bits as the type has or more
    conversion,  // of a floating-point number to an integer that does not have it
};

/// Where something undefined was met, and how often. It was computed even where a `select` then takes the other side.
struct mishap {
    mishap_kind kind = mishap_kind::overflow;
    tilewright::operation in = tilewright::operation::constant;
    tilewright::ir::label stage{};
    std::int64_t times = 0;
};
std::string to_string(mishap const& what);

/// The tensor that a computation gives, dense and row-major.
struct result {
    tensor_box box;
    std::vector<std::byte> bytes;
    std::vector<bool> defined;    ///< of each element: no undefined value went into it
    std::vector<mishap> mishaps;  ///< in the order in which they were met first

    bool is_defined() const { return mishaps.empty(); }
    /// Whether every element is, whatever was met where `select` does not take it.
    bool has_defined_elements() const;
    template <class T>
    T const* as() const {
        return reinterpret_cast<T const*>(bytes.data());
    }
};

/// What is not in the computation itself.
struct manner {
    /// An intrinsic's reduction continues from the contents of a target that it `updates`. In a kernel, and in what is `written`, it starts
    /// from its identity.
    bool updates = false;
    /// On a core with fused multiply-adds, a sum of products of floating point rounds each `s + a * b` once.
    bool fuses = false;
};

/// The tensors that a computation reads and does not compute, in order of appearance, each with the smallest box that has what is read.
///
/// @param extents  of axes that are left to run time
/// @throws std::invalid_argument when an extent is missing, or when the nodes are not a computation
std::vector<tensor_box> inputs_of(tilewright::computation_view what, std::vector<tilewright::axis_extent> const& extents = {});
/// The tensor that the last stage computes.
tensor_box output_of(tilewright::computation_view what, std::vector<tilewright::axis_extent> const& extents = {});
/// Whether the last stage continues from the contents of its target.
bool continues(tilewright::computation_view what);
/// The parameters in order of appearance; the bits are 0.
std::vector<parameter_value> parameters_of(tilewright::computation_view what);

/// Computes all stages, and gives what the last one does.
///
/// Reductions run over their axes in the order in which these appear, the last one innermost; floating point is rounded in that order.
///
/// @param operands    found by name: every input; and the tensor of the last stage where it continues from its contents
/// @param parameters  found by name
/// @throws std::invalid_argument when an operand, a parameter or an extent is missing or has another type or rank
/// @throws std::out_of_range when an element is read that an operand or a stage does not have. Where a stage before the last reads beyond
///                           an operand, what it computes there is not defined: the caller need not have what nobody asks for
result evaluate(tilewright::computation_view what, std::vector<operand> const& operands,
                std::vector<parameter_value> const& parameters = {}, std::vector<tilewright::axis_extent> const& extents = {},
                manner const& how = {});

}  // namespace oracle
