#include <iostream>
#include <tilewright/emulate/check_intrinsic.hpp>
#include <tilewright/report/plan_report.hpp>
#include <tilewright/report/program_run_page.hpp>
#include <tilewright/report/program_run_report.hpp>
#include <tilewright/report/program_summary.hpp>
#include <tilewright/report/run_page.hpp>
#include <tilewright/report/text.hpp>

#include "02_instruction/matmul.hpp"
#include "report/two_layers.hpp"
#include "small_kernel.hpp"

// Templates are compiled where they are used: plans of loops, instructions, transfers and programs, the emulated machine, texts of reports.
inline constexpr axis any{"any", dynamic};
inline constexpr auto reversed = y(any) = select(x(any + 1) > x(any), exp(x(any + 1)), x(any) + x(any + 1));
inline constexpr auto at_run_time = schedule(reversed, npu).split(any, outer, inner, 100).cache_read(x, spad).at(outer);

int main() {
    using lesson_matmul::matmul_on_npu, two_layers_program::two_layers;
    std::cout << plan<matmul_on_npu> << to_json(plan<matmul_on_npu>) << to_string(lesson_matmul::npu) << hash_of(lesson_matmul::npu)
              << traffic(plan<on_npu>) << memory_map(plan<on_npu>) << loop_program(plan<at_run_time>)
              << make_plan(at_run_time).peak(spad).value;
    emulator on(lesson_matmul::npu, semantics_of<lesson_matmul::npu>);
    std::cout << comparison(plan<matmul_on_npu>, on) << timeline(on) << report_page(matmul_on_npu, plan<matmul_on_npu>, on);
    std::cout << program_plan<two_layers> << to_json(program_plan<two_layers>)
              << report_page(program_plan<two_layers>, emulated_program<two_layers>())
              << to_json(program_plan<two_layers>, emulated_program<two_layers>());
}
