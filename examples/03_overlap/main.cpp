#include "overlap.hpp"

#include <cstdio>
#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/report/timeline.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "one_after_another.h"
#include "side_by_side.h"

namespace {

using namespace lesson_overlap;

/// Runs a kernel on an emulated machine and draws what its engines did. @return whether the result and the cycles are right
template <schedule const& Schedule, class Kernel>
bool run(Kernel const& kernel, tilewright::emulator& on, std::vector<std::int32_t> const& expected, std::int8_t const* left,
         std::int8_t const* right) {
    std::vector<std::int32_t> result(expected.size(), -1);
    on.record(plan<Schedule>);
    int const code = tilewright::call<Schedule>(kernel, left, right, result.data());
    if (code != 0) std::cerr << "the kernel failed with code " << code << ": " << on.error() << "\n";
    std::cout << tilewright::timeline(on, 96) << "\n";
    return result == expected && tilewright::agrees(plan<Schedule>, on);
}

}  // namespace

int main() {
    std::vector<std::int8_t> left(128 * 128), right(128 * 128);
    for (std::size_t at = 0; at < left.size(); ++at) {
        left[at] = static_cast<std::int8_t>(at * 37 % 251);
        right[at] = static_cast<std::int8_t>(at * 53 % 241);
    }
    std::vector<std::int32_t> expected(128 * 128);
    matmul_by_hand(left.data(), right.data(), expected.data());

    std::cout << tilewright::loop_program(plan<overlapped>) << "\n";
    std::cout << "one version, transfers block:\n";
    bool const first = run<blocking>(::one_after_another, tilewright::emulated<npu>(), expected, left.data(), right.data());
    std::cout << "two versions, transfers run aside:\n";
    bool const second = run<overlapped>(::side_by_side, tilewright::emulated<npu_with_dma>(), expected, left.data(), right.data());

    std::printf("versions   bytes of spad   bytes of acc   cycles\n");
    auto const row = [](int versions, tilewright::plan_value const& of) {
        std::printf("%8d %15.0f %14.0f %8lld\n", versions, static_cast<double>(of.peak(spad)), static_cast<double>(of.peak(acc)),
                    static_cast<long long>(predict(of).cycles));
    };
    row(1, plan<blocking>);
    row(2, plan<overlapped>);

    std::cout << "\ntwo versions, transfers block:\n" << to_string(make_plan(two_of_blocking).refusal) << "\n\n";
    std::printf("128 x 128 x 128 in int8, both kernels against the loops by hand: %s\n", first && second ? "bit-equal" : "DIFFERENT");
    return first && second ? 0 : 1;
}
