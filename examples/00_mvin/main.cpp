#include "mvin.hpp"

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

namespace {

std::vector<std::uint8_t> tensor_a(4 * 4 * 1 * 8);
std::vector<std::uint8_t> local_memory(lesson_mvin::local.capacity);  // stands for the accelerator's memory
int calls = 0;

/// Prints the part of the generated statement that does the work.
void print_statement(char const* file) {
    std::ifstream in(file);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        inside |= line.find("produce A_buf") != std::string::npos;
        if (inside) std::cout << "  " << line << "\n";
    }
}

}  // namespace

/// The device's instruction. This program has no accelerator: it shows what the instruction is given.
extern "C" int mvin(const void* source, void* destination, std::int64_t bytes) {
    auto const address = reinterpret_cast<std::uintptr_t>(destination);
    std::printf("  mvin(A + %td, 0x%llx, %lld)\n", static_cast<std::uint8_t const*>(source) - tensor_a.data(),
                static_cast<unsigned long long>(address), static_cast<long long>(bytes));
    std::memcpy(local_memory.data() + (address - lesson_mvin::local.base), source, static_cast<std::size_t>(bytes));
    ++calls;
    return 0;
}

int main() {
    using namespace lesson_mvin;
    std::iota(tensor_a.begin(), tensor_a.end(), std::uint8_t{1});

    std::cout << tilewright::memory_map(plan<copy_by_mvin>) << "\n" << tilewright::loop_program(plan<copy_by_mvin>) << "\n";
    std::cout << "on the device, the generated code calls\n";
    int const device_code = tilewright::call<copy_by_mvin>(load_tensor, tensor_a.data());
    std::cout << "and this is all that it does; nothing is allocated:\n";
    print_statement(LOAD_TENSOR_STATEMENT);

    tilewright::emulator& on = tilewright::emulated<accelerator>();
    int const emulated_code = tilewright::call<copy_by_mvin>(load_tensor_emulated, tensor_a.data());
    std::cout << "\non the emulated machine, A_buf is at " << on.device_address(on.base(local)) << "\n"
              << tilewright::comparison(plan<copy_by_mvin>, on) << "\n";

    bool const device_right = device_code == 0 && calls == 1 && std::memcmp(local_memory.data(), tensor_a.data(), tensor_a.size()) == 0;
    bool const emulated_right = emulated_code == 0 && std::memcmp(on.base(local), tensor_a.data(), tensor_a.size()) == 0;
    std::printf("A_buf equals A: device %s, emulated %s\n", device_right ? "yes" : "NO", emulated_right ? "yes" : "NO");
    return device_right && emulated_right ? 0 : 1;
}
