#pragma once
#include <dlfcn.h>

#include <stdexcept>
#include <string>

/// The single-precision product of a BLAS library, loaded by itself: several libraries have it under one name.
class blas_library {
  public:
    explicit blas_library(char const* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        sgemm_ = reinterpret_cast<function*>(dlsym(library_, "cblas_sgemm"));
        if (sgemm_ == nullptr) throw std::runtime_error(std::string(path) + " has no cblas_sgemm");
    }
    blas_library(blas_library const&) = delete;

    /// c = a * b, all dense and row-major: rows x depth, depth x columns, rows x columns.
    void multiply(int rows, int columns, int depth, float const* a, float const* b, float* c) const {
        constexpr int row_major = 101, not_transposed = 111;
        sgemm_(row_major, not_transposed, not_transposed, rows, columns, depth, 1, a, depth, b, columns, 0, c, columns);
    }

  private:
    using function = void(int, int, int, int, int, int, float, float const*, int, float const*, int, float, float*, int);
    void* library_;
    function* sgemm_;
};
