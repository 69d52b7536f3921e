#pragma once
#include <bit>
#include <cstring>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/intrinsic_call.hpp>
#include <tilewright/emulate/transfer_call.hpp>
#include <tilewright/machine/machine.hpp>
#include <type_traits>

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

    /// What is not set as a call of a transfer needs it, in words; empty when all is.
    std::string missing(transfer_description const& t, transfer_call const& call) const {
        return missing(t, [&](call_argument const& a) -> std::int64_t {
            bool const present = a.dimension >= 1 && a.dimension <= call.dimensions();
            switch (a.is) {
                case role::bytes: {
                    std::int64_t bytes = call.row_bytes();
                    for (int dimension = 1; dimension <= call.dimensions(); ++dimension) bytes *= call.extent(dimension);
                    return bytes;
                }
                case role::row_bytes: return call.row_bytes();
                case role::element_bytes: return call.destination_size();
                case role::extent: return a.dimension == 0 || present ? call.extent(a.dimension) : 1;
                case role::pad_before:
                case role::pad_after: return a.dimension == 0 || present ? call.pads(a.dimension)[a.is == role::pad_after ? 1 : 0] : 0;
                case role::pad_value: return call.border()[0];
                case role::source_stride: return present ? call.source_stride(a.dimension) : 0;
                case role::destination_stride: return present ? call.destination_stride(a.dimension) : 0;
                default: return 0;
            }
        });
    }
    std::string missing(intrinsic_description const& i, intrinsic_call const& call) const {
        return missing(i, [&](call_argument const& a) -> std::int64_t {
            if (a.is == role::covered) return call.extents[a.dimension];
            if (a.is == role::value) {
                computation_view const view = what_.view(i.semantics);
                int at = 0;
                while (view[at].op != operation::access || view[at].name != i.operands[a.operand].tensor) ++at;
                return argument_of(view[at].type, call.addresses[a.operand]);
            }
            return a.is == role::stride ? call.strides_of(a.operand)[a.dimension] : 0;
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
    ir::list<ir::list<std::int64_t>> values_;
    ir::list<std::int64_t> counts_;
};

}  // namespace tilewright::emulation
