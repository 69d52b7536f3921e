#include "run_time.hpp"

#include <cstdio>
#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "matmul_of_any_rows.h"

int main() {
    using namespace lesson_run_time;
    std::cout << "at 200 rows:\n" << tilewright::loop_program(plan<any_rows>.at({{m, 200}})) << "\n";

    std::vector<std::int8_t> right(128 * 128);
    for (std::size_t at = 0; at < right.size(); ++at) right[at] = static_cast<std::int8_t>(at * 53 % 241);
    tilewright::emulator& on = tilewright::emulated<npu>();

    bool good = true;
    std::printf("rows   planned cycles   executed cycles   against the loops by hand\n");
    for (int rows : {1, 64, 65, 200, 512}) {
        std::vector<std::int8_t> left(static_cast<std::size_t>(rows) * 128);
        for (std::size_t at = 0; at < left.size(); ++at) left[at] = static_cast<std::int8_t>(at * 37 % 251);
        std::vector<std::int32_t> result(static_cast<std::size_t>(rows) * 128, -1), expected(result.size());
        matmul_by_hand(rows, left.data(), right.data(), expected.data());

        on.reset();
        int const code = tilewright::call<any_rows>(::matmul_of_any_rows, {{m, rows}}, left.data(), right.data(), result.data());
        if (code != 0) std::cerr << "the kernel failed with code " << code << ": " << on.error() << "\n";
        auto const cycles = static_cast<long long>(predict(plan<any_rows>.at({{m, rows}})).cycles);
        bool const equal = code == 0 && result == expected;
        std::printf("%4d %16lld %17lld   %s\n", rows, cycles, static_cast<long long>(on.cycles()), equal ? "bit-equal" : "DIFFERENT");
        good = good && equal && cycles == on.cycles();
    }
    std::cout << "\nall rows of A at once:\n" << to_string(make_plan(all_rows).refusal) << "\n";
    return good ? 0 : 1;
}
