#pragma once
#include <Halide.h>

namespace tilewright::halide {

/// The machine that this process runs on, for code compiled at run time; HL_JIT_TARGET overrides it.
///
/// Halide 14 takes every processor with AVX-512 and bfloat16 for a Sapphire Rapids, and then uses half-precision instructions that others
/// (Zen 4, Zen 5) do not have: that feature is left out.
inline Halide::Target jit_target() {
    return Halide::get_jit_target_from_environment().without_feature(Halide::Target::AVX512_SapphireRapids);
}

}  // namespace tilewright::halide
