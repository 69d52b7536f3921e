#include "add.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/emulate/check_intrinsic.hpp>
#include <tilewright/emulate/check_transfer.hpp>
#include <vector>

#include "add_vectors.h"
#include "device.h"
#include "loops.h"

namespace {

/// Prints the function of the generated file that does the work.
void print_steps(char const* file) {
    std::ifstream in(file);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        inside = inside || line.starts_with("static int add_vectors_steps");
        if (inside) std::cout << line << "\n";
        if (line == "}") inside = false;
    }
}

std::string said(std::string const& difference) { return difference.empty() ? "as declared" : difference; }

}  // namespace

int main() {
    using namespace lesson_your_c;
    print_steps(ADD_VECTORS_FILE);

    // Do the C functions do what the machine promises?
    std::string const copies = check_transfer<dsp>(load, tilewright::c_functions(&dma_copy));
    std::string const adds = check_intrinsic<dsp>(add, tilewright::c_functions(&dsp_add_s16));
    std::string const forgets = check_intrinsic<dsp>(add, tilewright::c_functions(&whole_vectors_only));
    std::cout << "\ndma_copy: " << said(copies) << "\ndsp_add_s16: " << said(adds) << "\nwhole_vectors_only: " << said(forgets) << "\n\n";

    std::vector<std::int16_t> first(1024), second(1024), result(1024, -1), expected(1024);
    for (int at = 0; at < 1024; ++at) {
        first[static_cast<std::size_t>(at)] = static_cast<std::int16_t>(at * 977);
        second[static_cast<std::size_t>(at)] = static_cast<std::int16_t>(at * 523);
    }
    alignas(16) static unsigned char local_memory[4096];
    dma_calls = add_calls = 0;
    add_by_hand(first.data(), second.data(), local_memory, expected.data());
    int const copies_by_hand = dma_calls, adds_by_hand = add_calls;
    dma_calls = add_calls = 0;
    int const code = ::add_vectors(first.data(), second.data(), local_memory, result.data());
    std::printf("add_vectors: code %d, %d copies, %d additions\n", code, dma_calls, add_calls);
    bool const same = dma_calls == copies_by_hand && add_calls == adds_by_hand;
    std::printf("without tcm: code %d\n", ::add_vectors(first.data(), second.data(), nullptr, result.data()));

    std::cout << "\nwithout the instruction:\n" << to_string(make_plan(without_instruction).refusal) << "\n\n";
    bool const equal = code == 0 && result == expected && same;
    std::printf("1024 sums in int16, against the loops by hand: %s\n", equal ? "bit-equal" : "DIFFERENT");
    return equal && copies.empty() && adds.empty() && !forgets.empty() ? 0 : 1;
}
