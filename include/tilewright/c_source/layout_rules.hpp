#pragma once
#include <string>
#include <tilewright/plan/ir/plan_value.hpp>

// How the arguments of a kernel must lie, in words.
namespace tilewright::halide::detail {

/// "dimensions 1 to 3 without gaps, the stride of dimension 0 a multiple of 256, at a multiple of 64 bytes": how an argument must lie.
inline std::string layout_rules(ir::buffer const& b) {
    std::string text;
    auto const add = [&](std::string const& rule) { text += (text.empty() ? "" : ", ") + rule; };
    if (b.rank > 1 && b.dense_from == b.rank - 1) add("the last dimension without gaps");
    if (b.rank > 1 && b.dense_from < b.rank - 1)
        add(b.dense_from == 0 ? "without gaps"
                              : "dimensions " + std::to_string(b.dense_from) + " to " + std::to_string(b.rank - 1) + " without gaps");
    for (int d = 0; d < b.dense_from; ++d) {
        std::int64_t const multiple = b.stride_multiples[d];
        std::int64_t const longest = b.longest_strides[d];
        if (multiple > 1) add("the stride of dimension " + std::to_string(d) + " a multiple of " + std::to_string(multiple));
        if (longest > 0) add("the stride of dimension " + std::to_string(d) + " at most " + std::to_string(longest));
    }
    if (is_half(b.type)) add(std::string(name_of(b.type)) + " as its 16 bits");
    if (b.alignment > bytes_of(b.type)) add("at a multiple of " + std::to_string(b.alignment) + " bytes");
    return text;
}

}  // namespace tilewright::halide::detail
