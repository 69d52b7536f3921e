#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/machine/configuration.hpp>
#include <tilewright/plan/ir/linear.hpp>

namespace tilewright::ir {

/// One value that a configuration is set to: a number, or a multiple of a stride of an argument.
struct setting_value {
    std::int64_t number = 0;
    std::int64_t unit = 1;         ///< what the product is counted in
    buffer_id buffer = no_buffer;  ///< the argument; -1: just the number
    std::int16_t dimension = 0;

    friend constexpr bool operator==(setting_value const&, setting_value const&) = default;
};
struct setting {
    std::int16_t configuration = -1;
    fixed_array<setting_value, tilewright::configuration::most_values> values{};

    friend constexpr bool operator==(setting const&, setting const&) = default;
};

}  // namespace tilewright::ir
