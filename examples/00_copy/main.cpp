#include "copy.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "load_tensor.h"
#include "load_tensor_emulated.h"
#include "loops.h"

namespace {

std::vector<std::uint8_t> tensor_a(4 * 4 * 1 * 8);
std::vector<std::uint8_t> local_memory(lesson_copy::local.capacity);  // stands for the accelerator's memory
int calls = 0;

/// Prints the function of the generated file that does the work.
void print_steps(char const* file) {
    std::ifstream in(file);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        inside = inside || line.starts_with("static int load_tensor_steps");
        if (inside) std::cout << line << "\n";
        if (line == "}") inside = false;
    }
}

}  // namespace

/// The device's instruction. This program has no accelerator: it shows what the instruction is given.
extern "C" int mvin(const void* source, void* destination, std::int64_t bytes) {
    auto const address = reinterpret_cast<std::uintptr_t>(destination);
    std::printf("  mvin(A + %td, 0x%llx, %lld)\n", static_cast<std::uint8_t const*>(source) - tensor_a.data(),
                static_cast<unsigned long long>(address), static_cast<long long>(bytes));
    std::memcpy(local_memory.data() + (address - lesson_copy::local.base), source, static_cast<std::size_t>(bytes));
    ++calls;
    return 0;
}

int main() {
    using namespace lesson_copy;
    std::iota(tensor_a.begin(), tensor_a.end(), std::uint8_t{1});

    std::cout << tilewright::memory_map(plan<copy_by_mvin>) << "\n" << tilewright::loop_program(plan<copy_by_mvin>) << "\n";
    std::cout << "the generated code:\n";
    print_steps(LOAD_TENSOR_FILE);
    std::cout << "\non the device, it calls\n";
    int const device_code = ::load_tensor(tensor_a.data(), 4 * 1 * 8, 1 * 8, 8);  // strides of i, j and k, in elements

    tilewright::emulator& on = tilewright::emulated<accelerator>();
    int const emulated_code = tilewright::call<copy_by_mvin>(load_tensor_emulated, tensor_a.data());
    std::cout << "\non the emulated machine, A_buf is at " << on.device_address(on.base(local)) << "\n"
              << tilewright::comparison(plan<copy_by_mvin>, on) << "\n";

    std::cout << "without the instruction:\n" << to_string(make_plan(copy_by_loops).refusal) << "\n\n";

    std::uint8_t expected[4][4][1][8];
    copy_by_hand(reinterpret_cast<std::uint8_t const(*)[4][1][8]>(tensor_a.data()), expected);
    bool const device_right = device_code == 0 && calls == 1 && std::memcmp(local_memory.data(), expected, sizeof expected) == 0;
    bool const emulated_right = emulated_code == 0 && std::memcmp(on.base(local), expected, sizeof expected) == 0;
    std::printf("A_buf is what the loops by hand make of A: device %s, emulated %s\n", device_right ? "yes" : "NO",
                emulated_right ? "yes" : "NO");
    return device_right && emulated_right ? 0 : 1;
}
