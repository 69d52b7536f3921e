#pragma once
#include <tilewright/import/quantised_products.hpp>
#include <tilewright/import/walk.hpp>

namespace tilewright::imported {

/// The operators of TensorFlow Lite that are imported, by name.
inline std::span<operator_entry const> tflite_operators() {
    using namespace detail::tflite;
    static constexpr operator_entry all[] = {
        {"CONV_2D", convolve},
        {"DEPTHWISE_CONV_2D", convolve_channels},
        {"FULLY_CONNECTED", connect_fully},
    };
    return all;
}

}  // namespace tilewright::imported
