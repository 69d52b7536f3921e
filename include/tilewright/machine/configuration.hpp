#pragma once
#include <tilewright/machine/call.hpp>

namespace tilewright {

/// Registers that one C function sets, and that later calls of transfers and intrinsics use: a stride, a scale, an activation.
///
/// `configuration("config_ld")` is set by `int config_ld(int64_t value)`. A transfer or intrinsic that uses it says by
/// `.uses(config_ld, argument::source_stride(1))` what it must be set to; the plan sets it where that changes.
struct configuration {
    static constexpr int most_values = 4;  ///< that one call sets

    ir::label name{};        ///< by which errors and reports name it
    int value_count = 1;     ///< that one call sets
    bool per_agent = false;  ///< in a program: every agent that works aside has one of its own
    device_call set_call{};  ///< without a symbol: `int NAME(int64_t value_0, …)`

    constexpr configuration() = default;
    /// Registers that the C function `called` sets to so many values, at most 4.
    constexpr configuration(ir::label called, int values = 1) : name(called), value_count(values) {}

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("values", value_count, 1, most_values);
    }
    /// The C function that sets it: settings, each once, and literals, in order.
    template <class... Arguments>
    constexpr configuration& calls(ir::label symbol, Arguments const&... arguments) {
        set_call = {.symbol = symbol};
        (set_call.push(arguments), ...);
        return *this;
    }
    /// In a program, every agent that works aside has registers of its own. Without, those of one name, or set by one call, are the same.
    constexpr configuration& of_each_agent() {
        per_agent = true;
        return *this;
    }

    friend constexpr bool operator==(configuration const&, configuration const&) = default;
};

constexpr device_call set_call_of(configuration const& c) {
    device_call call = c.set_call;
    if (call.symbol.empty()) call.symbol = c.name;
    if (call.count > 0) return call;
    for (int value = 0; value < c.value_count; ++value) call.push(argument::setting(value));
    return call;
}

/// Whether code cannot tell two configurations apart: they have one name, or are set by the same call.
constexpr bool is_same_configuration(configuration const& a, configuration const& b) {
    return a.name == b.name || is_same_call(set_call_of(a), set_call_of(b));
}

/// What a configuration must be set to when a part is called.
struct required_setting {
    ir::label configuration_name{};                                   ///< which configuration
    fixed_array<call_argument, configuration::most_values> values{};  ///< literals, or strides and extents of the call
    int count = 0;                                                    ///< more than `most_values` marks an overflow

    /// One more value.
    constexpr void push(call_argument const& what) {
        if (count < configuration::most_values) values[count] = what;
        ++count;
    }

    friend constexpr bool operator==(required_setting const&, required_setting const&) = default;
};

/// The calls of one step of a transfer or intrinsic after the first one, and the settings that it uses, while they stand beside the part.
struct part_protocol {
    static constexpr int most = 3;  ///< calls, and settings, of one part

    fixed_array<device_call, most> more_calls{};     ///< in their order
    int more_call_count = 0;                         ///< above `most` it marks an overflow, refused by the planner
    fixed_array<required_setting, most> settings{};  ///< what must be configured
    int setting_count = 0;                           ///< likewise

    /// One more call, after those before.
    constexpr void push(device_call const& call) {
        if (more_call_count < most) more_calls[more_call_count] = call;
        ++more_call_count;
    }
    /// One more setting.
    constexpr void push(required_setting const& setting) {
        if (setting_count < most) settings[setting_count] = setting;
        ++setting_count;
    }
};

}  // namespace tilewright
