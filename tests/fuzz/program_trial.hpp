#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fuzz/outcome.hpp"
#include "program/program_recipe.hpp"

namespace fuzz {

/// Whether the case of a seed is a program: kernels on several agents, some of them aside, copies by engines, tensors that are spilled.
constexpr bool is_program(std::uint64_t seed) { return seed % 8 == 5; }
programs::recipe draw_program(std::uint64_t seed);

/// A program that is planned, run in every way, and compared with the oracle.
class program_trial {
  public:
    /// @param seed  of engines that get on at random
    program_trial(programs::recipe const& of, std::uint64_t seed);
    program_trial(program_trial const&) = delete;
    ~program_trial();

    /// Plans it and looks at the plan; compiled while the process runs, runs it however engines get on, with calls that fail, and with
    /// every access checked.
    outcome run();
    /// Its C, compiled under sanitizers, on the emulated machines. Only what agreed is run.
    outcome run_c();

  private:
    struct inside;
    std::unique_ptr<inside> inside_;
};

/// All of it for one program, in this process.
outcome try_program(programs::recipe const& of, std::uint64_t seed, bool with_c);

}  // namespace fuzz
