#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "fuzz/outcome.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// A case that is planned, run in every way, and compared with the oracle.
class trial {
  public:
    explicit trial(drawn_case const& of);
    trial(trial const&) = delete;
    ~trial();

    drawn_case const& what() const;
    /// Plans it, looks at the plan, and asks the oracle what it must give. Only what agrees is run.
    outcome plan();
    /// Compiled while the process runs, on the emulated machine: however engines get on, with every access checked, with calls that fail.
    /// @param quick  of a kernel for several cores, only with every access watched
    outcome run(bool quick = false);
    /// The C source of the kernel as `NAME.h`, `NAME.c` and a caller in a folder.
    /// @return the C files; none where C has no such operation
    /// @throws what the library throws
    std::vector<std::string> write_c(std::filesystem::path const& folder, std::string const& name) const;
    /// The functions that were compiled from it, in a library that is loaded.
    outcome run_c(void* library, std::string const& name);

  private:
    struct inside;
    std::unique_ptr<inside> inside_;
};

/// C sources compiled under sanitizers, all by one call of the compiler. @return the loaded library
/// @throws std::runtime_error with what the compiler says
void* compile_c(std::filesystem::path const& folder, std::vector<std::string> const& files);

/// Which of the calls of transfers in a run are made to fail, one in each further run, counted from 1: all of a few, and of many some, from
/// the first to the last.
std::vector<std::int64_t> failing_calls(std::int64_t calls);

/// All of it for one case, in this process.
outcome try_case(drawn_case const& of, bool with_c);

}  // namespace fuzz
