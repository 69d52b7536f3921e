#pragma once
#include <tilewright/import/chip.hpp>

namespace tilewright::imported {

/// This processor, as networks run on it without a chip of their own: plain loops. Tensors between kernels lie in `arena`, constants in
/// `weights`.
class processor {
  public:
    memory dram{.name = "dram"}, arena{.name = "arena", .capacity = 1024_MiB, .alignment = 16},
        weights{.name = "weights", .capacity = 1024_MiB, .alignment = 16};
    memory element = register_file("element", 64, 8);

  private:
    machine loops_{"processor", dram, arena, weights, element};
    agent cpu_{"cpu", loops_};

  public:
    chip const as_chip = chip("processor")
                             .inputs_in(dram)
                             .outputs_in(dram)
                             .constants_in(weights)
                             .with(cpu_, {.inner = &arena, .element = &element})
                             .loops(cpu_);

    processor() = default;
    processor(processor const&) = delete;
};

inline processor const& this_processor() {
    static processor const one;
    return one;
}

}  // namespace tilewright::imported
