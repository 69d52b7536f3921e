#pragma once
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "comparison.hpp"

/// A library that is loaded by itself: several have the same functions under the same names.
class lone_library {
  public:
    explicit lone_library(char const* path) : path_(path), library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
    }
    lone_library(lone_library const&) = delete;

    /// @throws std::runtime_error when it has no such function
    template <class Function>
    Function* function(char const* name) const {
        auto* const found = reinterpret_cast<Function*>(dlsym(library_, name));
        if (found == nullptr) throw std::runtime_error(path_ + " has no " + name);
        return found;
    }

  private:
    std::string path_;
    void* library_;
};

/// The single-precision product of a BLAS library.
class blas_library : public lone_library {
  public:
    explicit blas_library(char const* path) : lone_library(path), sgemm_(function<product>("cblas_sgemm")) {}

    /// c = a * b, all dense and row-major: rows x depth, depth x columns, rows x columns.
    void multiply(int rows, int columns, int depth, float const* a, float const* b, float* c) const {
        constexpr int row_major = 101, not_transposed = 111;
        sgemm_(row_major, not_transposed, not_transposed, rows, columns, depth, 1, a, depth, b, columns, 0, c, columns);
    }

  private:
    using product = void(int, int, int, int, int, int, float, float const*, int, float const*, int, float, float*, int);
    product* sgemm_;
};

namespace openblas {

/// The cores whose kernels have the instructions of a level. Left alone, this library does not know the newest processors.
constexpr char const* core_for(peers::level at) { return at == peers::level::same_instructions ? "Haswell" : "SkylakeX"; }

inline void ask(peers::environment& into, peers::level at) {
    into.emplace_back("OPENBLAS_CORETYPE", core_for(at));
    into.emplace_back("OPENBLAS_NUM_THREADS", "1");
}
/// What it says that it runs. @throws std::runtime_error when that is not what it was asked for
inline std::string runs(lone_library const& library, peers::level at) {
    std::string const core = library.function<char*()>("openblas_get_corename")();
    std::string const threads = std::to_string(library.function<int()>("openblas_get_num_threads")());
    std::string const build = library.function<char*()>("openblas_get_config")();
    peers::expect("OpenBLAS", core_for(at), core);
    peers::expect("OpenBLAS", "threads: 1", "threads: " + threads);
    return build.substr(0, build.find(' ', build.find(' ') + 1)) + ": " + core + ", threads: " + threads;
}

}  // namespace openblas

namespace blis {

/// Its architectures for a level. Left alone, this library takes its generic kernels on processors that it does not know.
constexpr char const* architecture_for(peers::level at) { return at == peers::level::same_instructions ? "haswell" : "skx"; }

/// It wants the number of an architecture, which differs between its versions, and tells their names.
inline void ask(peers::environment& into, lone_library const& library, peers::level at) {
    auto* const name_of = library.function<char const*(int)>("bli_arch_string");
    constexpr int most = 20;  // Of x86, they stand at the front.
    for (int number = 0; number < most; ++number) {
        if (std::string(name_of(number)) == architecture_for(at)) into.emplace_back("BLIS_ARCH_TYPE", std::to_string(number));
    }
    into.emplace_back("BLIS_NUM_THREADS", "1");
}
/// What it says that it runs, once it has multiplied: before that, it does not know.
/// @throws std::runtime_error when that is not what it was asked for
inline std::string runs(blas_library const& library, peers::level at) {
    float const one = 1;
    float product = 0;
    library.multiply(1, 1, 1, &one, &one, &product);
    std::string const architecture = library.function<char const*(int)>("bli_arch_string")(library.function<int()>("bli_arch_query_id")());
    std::string const threads = std::to_string(library.function<long()>("bli_thread_get_num_threads")());
    peers::expect("BLIS", architecture_for(at), architecture);
    peers::expect("BLIS", "threads: 1", "threads: " + threads);
    return "BLIS " + std::string(library.function<char const*()>("bli_info_get_version_str")()) + ": " + architecture +
           ", threads: " + threads;
}

}  // namespace blis
