#pragma once
#include <tilewright/reference/onnx_unary.hpp>

// Windows of signals, as sums of cosines.
namespace tilewright::reference::of_onnx {

/// a - b * cos(x) + c * cos(2 * x), with a period of as many elements as the operand says, or one less where not `periodic`.
inline elements cosine_window(call const& of, double a, double b, double c) {
    std::int64_t const size = integers_of(single(of.operand(0)))[0], period = of.integer("periodic", 1) != 0 ? size : size - 1;
    require(size > 0 && period > 0, "a window without a period");
    constexpr double turn = 6.28318530717958647692;
    std::vector<double> made;
    for (std::int64_t at = 0; at < size; ++at) {
        double const x = turn * static_cast<double>(at) / static_cast<double>(period);
        made.push_back(a - b * std::cos(x) + c * std::cos(2 * x));
    }
    return cast_to(of_reals(element_type::float64, {size}, made), type_of(of.integer("output_datatype", 1)));
}
inline elements hann_window(call const& of) { return cosine_window(of, 0.5, 0.5, 0); }
inline elements hamming_window(call const& of) { return cosine_window(of, 25.0 / 46, 21.0 / 46, 0); }
inline elements blackman_window(call const& of) { return cosine_window(of, 0.42, 0.5, 0.08); }

}  // namespace tilewright::reference::of_onnx
