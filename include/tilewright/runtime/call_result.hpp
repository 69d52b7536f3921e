#pragma once
#include <initializer_list>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/layout_rules.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/runtime/argument_error.h>
#include <utility>

// What a call gives back: the code of the kernel, and the same in words.
namespace tilewright {

/// What `call` returns. It is the code wherever an int is asked for: `if (int const code = call<S>(function, a, b); code != 0) …`.
///
/// The code is 0; or -(2000 + 100 * kind + position), with the kinds of tilewright/runtime/argument_error.h, when an argument or an extent
/// is refused: then nothing is written; or the code of a device function that failed.
struct [[nodiscard]] call_result {
    int code = 0;
    std::string
        message{};  ///< why, with names and numbers: "`in` is used from in[0] to in[15], 16 elements, but 12 are given"; empty for 0

    operator int() const { return code; }
};

namespace detail {

inline call_result refuse_argument(int kind, int position, std::string message) {
    return {TILEWRIGHT_ARGUMENT_ERROR(kind, position), std::move(message)};
}

/// "`in` is used from in[-1] to in[16], 18 elements, but "
inline std::string use_text(ir::buffer const& b) {
    std::string from, to;
    std::int64_t elements = 1;
    for (int d = 0; d < b.rank; ++d) {
        from += (d > 0 ? ", " : "") + std::to_string(b.minimum[d]);
        to += (d > 0 ? ", " : "") + std::to_string(b.minimum[d] + b.extents[d] - 1);
        elements *= b.extents[d];
    }
    std::string const name = b.tensor.str();
    if (b.rank == 0) return "`" + name + "` is one element, but ";
    return "`" + name + "` is used from " + name + "[" + from + "] to " + name + "[" + to + "], " + std::to_string(elements) +
           " elements, but ";
}

/// What codes can be about: the tensors and the memories that a kernel takes.
struct told_arguments {
    ir::buffer const* tensors = nullptr;
    int tensor_count = 0;
    ir::label const* pools = nullptr;
    int pool_count = 0;
};

/// What a code of a kernel's entry says of the argument at that position, or of the kernel.
/// @param others  of plans that the function may run instead: an argument must lie as all of them need it
inline std::string text_of_code(told_arguments const& of, int code, std::initializer_list<told_arguments> others = {}) {
    bool const is_refusal = code <= TILEWRIGHT_ARGUMENT_ERROR(1, 0) && code > TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_UNKNOWN_EXTENT, 0);
    int const kind = is_refusal ? (-code - 2000) / 100 : 0, position = is_refusal ? (-code - 2000) % 100 : 0;
    bool const is_of_kernel = kind == TILEWRIGHT_WRONG_CORE || kind == TILEWRIGHT_WRONG_PROCESSOR;
    if (!is_refusal || (!is_of_kernel && position >= of.tensor_count + of.pool_count))
        return "a device function, or the emulated machine, returned " + std::to_string(code);
    std::string name, rules;
    if (position < of.tensor_count) {
        ir::buffer const& b = of.tensors[position];
        name = "`" + b.tensor.str() + "`";
        rules = halide::detail::layout_rules(b);
        for (told_arguments const& other : others) {
            std::string const theirs = halide::detail::layout_rules(other.tensors[position]);
            if (!theirs.empty() && theirs != rules) rules += (rules.empty() ? "" : "; and so: ") + theirs;
        }
    } else if (position < of.tensor_count + of.pool_count) {
        name = "memory `" + of.pools[position - of.tensor_count].str() + "`";
    }
    std::string const wanted = rules.empty() ? "" : "; the kernel needs: " + rules;
    switch (kind) {
        case TILEWRIGHT_NULL_BUFFER:
        case TILEWRIGHT_NULL_HOST: return name + " is null";
        case TILEWRIGHT_WRONG_TYPE: return name + " has another element type";
        case TILEWRIGHT_WRONG_RANK: return name + " has another rank";
        case TILEWRIGHT_WRONG_EXTENT:
            return name + " has other extents than the kernel uses, or more than 2^31 - 1 elements from first to last";
        case TILEWRIGHT_WRONG_STRIDE: return name + " has strides with which elements overlap, or which the kernel does not take" + wanted;
        case TILEWRIGHT_MISALIGNED: return name + " is not aligned" + wanted;
        case TILEWRIGHT_OVERLAP: return name + " shares bytes with the result";
        case TILEWRIGHT_RUN_TIME_EXTENT: return "an extent of " + name + " is less than 1, or more than the kernel takes";
        case TILEWRIGHT_WRONG_CORE: return "the kernel runs on no core of this number";
        default: return "this processor has the instructions of no target that the kernel was compiled for";
    }
}

/// @param code  that the function of a kernel has returned
inline call_result result_of(told_arguments const& of, int code, std::initializer_list<told_arguments> others = {}) {
    return {code, code == 0 ? std::string() : text_of_code(of, code, others)};
}

}  // namespace detail
}  // namespace tilewright
