#include <cstdio>
#include <tilewright/runtime/call.hpp>

#include "gemm_by_one.h"
#include "gemm_by_two.h"
#include "peers.hpp"
#include "threads.hpp"

// What two threads gain over one on a product of 1024 x 1024 x 1024, side by side in each round.

namespace {

double seconds_of(auto const& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
    constexpr std::size_t size = 1024 * 1024;
    setenv("HL_NUM_THREADS", "2", 1);
    auto const a = peers::aligned<float>(size), b = peers::aligned<float>(size), one = peers::aligned<float>(size),
               two = peers::aligned<float>(size);
    auto const pool = peers::aligned<char>(TILEWRIGHT_gemm_by_two_l2_BYTES);
    for (std::size_t at = 0; at < size; ++at) a[at] = static_cast<float>(at % 13) - 6, b[at] = static_cast<float>(at % 11) - 5;
    auto const by_one = [&] {
        peers::expect_run(tilewright::call<gemm_threads::by_one>(gemm_by_one, a.get(), b.get(), static_cast<void*>(pool.get()), one.get()));
    };
    auto const by_two = [&] {
        peers::expect_run(tilewright::call<gemm_threads::by_two>(gemm_by_two, a.get(), b.get(), static_cast<void*>(pool.get()), two.get()));
    };
    by_one(), by_two();
    if (!std::equal(one.get(), one.get() + size, two.get())) {
        std::puts("gemm_threads: two threads give another result");
        return EXIT_FAILURE;
    }
    std::vector<double> alone, together, ratios;
    for (int round = 0; round < 25; ++round) {
        alone.push_back(seconds_of(by_one));
        together.push_back(seconds_of(by_two));
        ratios.push_back(alone.back() / together.back());
    }
    constexpr double operations = 2.0 * 1024 * 1024 * 1024;
    std::printf("one thread   %6.1f GFLOP/s, %d bytes of l2\ntwo threads  %6.1f GFLOP/s, %d bytes\n",
                operations / peers::median(alone) * 1e-9, TILEWRIGHT_gemm_by_one_l2_BYTES, operations / peers::median(together) * 1e-9,
                TILEWRIGHT_gemm_by_two_l2_BYTES);
    std::printf("gemm_threads: speedup=%.2f\n", peers::median(ratios));
    return EXIT_SUCCESS;
}
