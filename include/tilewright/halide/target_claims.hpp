#pragma once
#include <Halide.h>

#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/runtime/processor.h>

// What a machine says that it has, beside what the code of a target can use.
namespace tilewright::halide {

namespace detail {

/// Registers that code for a target uses; 0 where it is not known here.
struct target_registers {
    int vector_bytes = 0, vectors = 0;
};
inline target_registers registers_of(Halide::Target const& target) {
    using Halide::Target;
    if (target.arch == Target::X86) {
        bool const avx512 = target.features_any_of(
            {Target::AVX512, Target::AVX512_KNL, Target::AVX512_Skylake, Target::AVX512_Cannonlake, Target::AVX512_SapphireRapids});
        if (avx512) return {64, target.bits == 64 ? 32 : 8};
        return {target.features_any_of({Target::AVX, Target::AVX2}) ? 32 : 16, target.bits == 64 ? 16 : 8};
    }
    if (target.arch == Target::ARM && target.bits == 64 && !target.features_any_of({Target::SVE, Target::SVE2})) return {16, 32};
    return {};
}
/// Whether `a * b + c` with one rounding is an instruction; true where it is not known here.
inline bool has_fused_multiply_add(Halide::Target const& target) {
    if (target.arch == Halide::Target::X86) return target.has_feature(Halide::Target::FMA);
    return target.arch != Halide::Target::ARM || target.bits == 64;
}

/// The first feature that `tilewright_can_run` does not know, of architectures whose processors it asks.
inline std::string unknown_feature(Halide::Target const& target) {
    using Halide::Target;
    if (target.arch != Target::X86 && !(target.arch == Target::ARM && target.bits == 64)) return {};
    for (int at = 0; at < Target::FeatureEnd; ++at) {
        auto const feature = static_cast<Target::Feature>(at);
        if (!target.has_feature(feature)) continue;
        std::string const name = Target::feature_to_name(feature);
        if (tilewright_feature_needs(name.data(), name.size()) == TILEWRIGHT_NOWHERE) return name;
    }
    return {};
}

}  // namespace detail

/// What of a machine a target cannot do, and the way out; empty: it can do all that is known here.
///
/// Asked are: fused multiply-adds of its cores; size and number of the registers of its register files; addresses of memories, which need
/// as many bits as pointers have; and whether the features, and the instructions of its cores, are ones that the kernel's entry can ask a
/// processor for.
inline std::string missing_in_target(machine const& m, Halide::Target const& target) {
    std::string const refused = "machine `" + m.name.str() + "` cannot be compiled for target " + target.to_string() + ": ";
    if (std::string const name = detail::unknown_feature(target); !name.empty())
        return refused + "whether a processor has feature `" + name +
               "` is not asked here, so the kernel could not refuse to run without it";
    for (int at = 0; at < m.cores.size(); ++at) {
        std::string const needed = m.cores[at].instructions.str();
        if ((tilewright_features_need(needed.c_str()) & TILEWRIGHT_NOWHERE) != 0)
            return refused + "core `" + m.cores[at].name.str() + "` needs instructions `" + needed +
                   "`, which no processor is asked for: take names of runtime/processor.h, joined by `-`";
    }
    if (m.host().fused_multiply_add && !detail::has_fused_multiply_add(target))
        return refused + "core `" + m.host().name.str() +
               "` has fused multiply-adds, and the target has none: add the feature fma, or take a machine without";
    detail::target_registers const has = detail::registers_of(target);
    for (int at = 0; at < m.memories.size(); ++at) {
        memory const& one = m.memories[at];
        if (one.registers > 0 && has.vectors > 0) {
            if (one.register_bytes() > has.vector_bytes)
                return refused + "the registers of `" + one.name.str() + "` have " + std::to_string(one.register_bytes()) +
                       " bytes, those of the target " + std::to_string(has.vector_bytes) +
                       ": add the feature that has them, or take a machine with shorter ones";
            if (one.registers > has.vectors)
                return refused + "`" + one.name.str() + "` has " + std::to_string(one.registers) + " registers, the target " +
                       std::to_string(has.vectors) + ": take a machine with fewer";
        }
        for (int bank = 0; bank < one.banks && one.has_address() && one.capacity > 0 && target.bits == 32; ++bank) {
            std::uint64_t const last = one.bank_base(bank) + static_cast<std::uint64_t>(one.bank_capacity()) - 1;
            if (!one.is_numbered() && last > UINT32_MAX)
                return refused + "memory `" + one.name.str() + "` reaches beyond the 32 bits of the target's addresses";
        }
    }
    return {};
}

}  // namespace tilewright::halide
