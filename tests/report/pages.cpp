#include <tilewright/report/page.hpp>
#include <tilewright/report/program_page.hpp>

#include "02_instruction/matmul.hpp"
#include "04_two_blocks/two_blocks.hpp"
#include "emulate/page.hpp"
#include "kernels/cores.hpp"
#include "report/two_layers.hpp"

/// Writes pages into a folder, for page_test.py to open in a browser.
int main(int count, char** arguments) {
    using namespace tilewright;
    if (count != 2) return 1;
    std::string const folder = std::string(arguments[1]) + "/";
    write_report(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>, folder + "matmul.html");
    write_pictures(plan<lesson_matmul::matmul_on_npu>, arguments[1]);
    write_report(lesson_two_blocks::in_two_blocks, plan<lesson_two_blocks::in_two_blocks>, folder + "two_blocks.html");
    write_report(emulator_page::matmul_on_npu, make_plan(emulator_page::matmul_on_npu), folder + "documented.html");

    schedule const cores = cores_of_dsp::with_barriers()[4];
    write_report(cores, make_plan(cores), folder + "cores.html");

    write_report(program_plan<two_layers_program::two_layers>, folder + "program.html");

    // No schedule has 1,000 buffers. Versions side by side look the same to the page.
    plan_value many = make_plan(lesson_matmul::matmul_on_npu);
    int next = 0;
    for (int at = 0; at < many.buffers.size(); ++at) {
        ir::buffer& one = many.buffers[at];
        if (one.kind == ir::buffer_kind::argument) continue;
        one.versions = ++next < 3 ? 400 : 200;
        one.part_stride = one.part_bytes();
        if (next == 2) one.offset = 400 * one.bytes;
    }
    write_report(many, folder + "many.html");

    static constexpr memory dram{.name = "dram"}, odd{.name = "<b>&\"'</script>", .capacity = 128};
    static constexpr tensor<std::int8_t> in{"in"}, out{"out"};
    static constexpr axis i{"i", 100};
    static constexpr auto copied = out(i) = in(i);
    machine const named("host", dram, odd, transfer("get", dram, odd));
    write_report(make_plan(schedule(copied, named).cache_read(in, odd)), folder + "odd.html");

    schedule const wrong = schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0);
    write_report(make_plan(wrong), folder + "refused.html");
}
