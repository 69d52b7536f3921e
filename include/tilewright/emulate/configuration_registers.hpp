#pragma once
#include <bit>
#include <cstring>
#include <string>
#include <tilewright/machine/machine.hpp>
#include <vector>

namespace tilewright::emulation {

/// An element as an argument of a C function: of floating point, its bits.
inline std::int64_t argument_of(scalar_type type, void const* element) {
    return visit_scalar(type, [element]<class T>(T value) -> std::int64_t {
        std::memcpy(&value, element, sizeof value);
        if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(value);
        else if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::int64_t>(value);
        else return static_cast<std::int64_t>(value);
    });
}

/// What the configurations of a machine are set to. What a call needs is worked out from the call itself: the plan is not asked.
class configuration_registers {
  public:
    explicit configuration_registers(machine const& what) : what_(what) { reset(); }

    void reset() {
        counts_.assign(static_cast<std::size_t>(what_.configurations.size()), 0);
        forget();
    }
    /// A kernel finds nothing that another one has set.
    void forget() { values_.assign(static_cast<std::size_t>(what_.configurations.size()), {}); }
    void set(int at, std::int64_t const* values) {
        values_[at].assign(values, values + what_.configurations[at].value_count);
        ++counts_[at];
    }
    std::int64_t sets(int at) const { return counts_[at]; }

    /// What is not set as a call of a transfer needs it, in words; empty when all is. @param shape see `emulator::transfer`
    std::string missing(transfer_description const& t, std::int64_t const* shape) const {
        return missing(t, [&](call_argument const& a) -> std::int64_t {
            std::int64_t const dimensions = shape[3];
            bool const present = a.dimension >= 1 && a.dimension <= dimensions;
            std::int64_t const* const along = shape + 7 + 3 * (dimensions - a.dimension);
            std::int64_t elements = shape[0];
            for (std::int64_t d = 0; d < dimensions; ++d) elements *= shape[7 + 3 * d];
            switch (a.is) {
                case role::bytes: return elements * shape[1];
                case role::row_bytes: return shape[0] * shape[1];
                case role::extent: return a.dimension == 0 ? shape[0] : present ? along[0] : 1;
                case role::pad_before:
                case role::pad_after: {
                    std::int64_t const* const pads = shape + 7 + 3 * dimensions + 1 + (a.is == role::pad_after ? 1 : 0);
                    return a.dimension == 0 ? pads[0] : present ? pads[2 * (dimensions - a.dimension + 1)] : 0;
                }
                case role::pad_value: return shape[7 + 3 * dimensions];
                case role::source_stride: return present ? along[1] : 0;
                case role::destination_stride: return present ? along[2] : 0;
                default: return 0;
            }
        });
    }
    /// @param operands see `emulator::intrinsic`
    std::string missing(intrinsic_description const& i, std::int64_t const* operands, std::int64_t const* extents) const {
        return missing(i, [&](call_argument const& a) -> std::int64_t {
            if (a.is == role::covered) return extents[a.dimension];
            if (a.is == role::value) {
                computation_view const view = what_.view(i.semantics);
                int at = 0;
                while (view[at].op != operation::access || view[at].name != i.operands[a.operand].tensor) ++at;
                auto const address = static_cast<std::uintptr_t>(operands[a.operand * (2 + max_rank)]);
                return argument_of(view[at].type, reinterpret_cast<void const*>(address));
            }
            return a.is == role::stride ? operands[a.operand * (2 + max_rank) + 2 + a.dimension] : 0;
        });
    }

  private:
    template <class Description, class Value>
    std::string missing(Description const& part, Value const& value_of) const {
        for (int at = part.settings.first; at < part.settings.first + part.settings.count; ++at) {
            required_setting const& wanted = what_.settings[at];
            auto const& set = values_[what_.configurations.find(wanted.configuration_name)];
            if (set.empty()) return part.name.str() + " uses " + wanted.configuration_name.str() + ", which was never set";
            for (int v = 0; v < wanted.count; ++v) {
                call_argument const& a = wanted.values[v];
                std::int64_t const need = a.is == role::literal ? a.value : value_of(a) / (a.value > 1 ? a.value : 1);
                if (need == set[v]) continue;
                return part.name.str() + " uses value " + std::to_string(v) + " of " + wanted.configuration_name.str() +
                       ", which is set to " + std::to_string(set[v]) + " where it needs " + std::to_string(need);
            }
        }
        return {};
    }

    machine const& what_;
    std::vector<std::vector<std::int64_t>> values_;
    std::vector<std::int64_t> counts_;
};

}  // namespace tilewright::emulation
