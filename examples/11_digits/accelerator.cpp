#include "accelerator.hpp"

#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>

#include "classify.h"
#include "scores.hpp"

namespace lesson_digits {

int run_on_accelerator(std::int8_t const* pixels, std::int8_t const* weights, std::int32_t* scores) {
    auto const& kernel = plan<classify_on_npu>;
    std::cout << tilewright::memory_map(kernel) << "\n";
    int const code = tilewright::call<classify_on_npu>(::classify, pixels, weights, scores);
    if (code != 0) std::cerr << tilewright::emulated<npu>().error() << "\n";
    else std::cout << tilewright::comparison(kernel, tilewright::emulated<npu>()) << "\n";
    return code;
}

}  // namespace lesson_digits
