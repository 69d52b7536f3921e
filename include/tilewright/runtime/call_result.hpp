#pragma once
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/layout_rules.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/runtime/argument_error.h>

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
    return "`" + name + "` is used from " + name + "[" + from + "] to " + name + "[" + to + "], " + std::to_string(elements) +
           " elements, but ";
}

/// What a code of a kernel's entry says of the argument at that position, or of the kernel.
inline std::string text_of_code(ir::plan_value const& plan, int code) {
    ir::argument_list const list = ir::arguments_of(plan);
    int const kind = (-code - 2000) / 100, position = (-code - 2000) % 100;
    if (code > TILEWRIGHT_ARGUMENT_ERROR(1, 0) || kind > TILEWRIGHT_UNKNOWN_EXTENT)
        return "a device function, or the emulated machine, returned " + std::to_string(code);
    bool const is_tensor = position < list.tensor_count;
    std::string name, rules;
    if (is_tensor) {
        ir::buffer const& b = plan.buffers[list.tensors[position]];
        name = "`" + b.tensor.str() + "`";
        rules = halide::detail::layout_rules(b);
    } else if (position < list.tensor_count + list.pool_count) {
        name = "memory `" + plan.where->memories[list.pools[position - list.tensor_count]].name.str() + "`";
    }
    std::string const wanted = rules.empty() ? "" : "; it must lie so: " + rules;
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
        case TILEWRIGHT_WRONG_PROCESSOR: return "this processor has the instructions of no target that the kernel was compiled for";
        default: return "the call names an extent that the kernel does not leave to run time";
    }
}

/// @param code  that the function of a kernel has returned
inline call_result result_of(ir::plan_value const& plan, int code) { return {code, code == 0 ? std::string() : text_of_code(plan, code)}; }

}  // namespace detail
}  // namespace tilewright
