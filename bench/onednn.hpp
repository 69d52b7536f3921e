#pragma once
#include <dlfcn.h>
#include <dnnl.h>
#include <dnnl_debug.h>

#include <string>

#include "comparison.hpp"

namespace peers {

/// What oneDNN is told: as many threads as ours, and the instructions of a level.
inline environment onednn_asks(level at) {
    environment made{{"OMP_NUM_THREADS", "1"}, {"OMP_DYNAMIC", "false"}};
    if (at == level::same_instructions) made.emplace_back("ONEDNN_MAX_CPU_ISA", "AVX2");
    return made;
}

/// What oneDNN says that it runs, as a line of a table.
/// @throws std::runtime_error when it has more threads or other instructions than it was asked for
inline std::string onednn_runs(level at) {
    dnnl_version_t const* const version = dnnl_version();
    dnnl_cpu_isa_t const has = dnnl_get_effective_cpu_isa();
    std::string const instructions = dnnl_cpu_isa2str(has);
    if (at == level::same_instructions) expect("oneDNN", dnnl_cpu_isa2str(dnnl_cpu_isa_avx2), instructions);
    else if ((has & dnnl_cpu_isa_avx512_core) != dnnl_cpu_isa_avx512_core) expect("oneDNN", "AVX-512", instructions);
    int threads = 1;
    // Its threads are OpenMP's, which is loaded with it.
    if (auto* const most = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))) threads = most();
    expect("oneDNN", "threads: 1", "threads: " + std::to_string(threads));
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch) + ": " +
           instructions + ", threads: " + std::to_string(threads);
}

}  // namespace peers
