// What a compiler writes into its output for a machine, a plan and a program is what it has computed. The program ends with 1 where it is
// not: tests compile it by g++ and by clang. The plans that are compared with are made when the program runs.
#include <cstdio>
#include <memory>
#include <string>
#include <tilewright/machine/structural.hpp>
#include <tilewright/report/plan_report.hpp>
#include <tilewright/report/program_report.hpp>
#include <tilewright/tilewright.hpp>

#include "../../examples/03_overlap/overlap.hpp"
#include "../../examples/04_two_blocks/two_blocks.hpp"
#include "../../examples/05_layout/layout.hpp"
#include "../../examples/06_tails/tails.hpp"
#include "../../examples/09_network/digits_network.hpp"
#include "../../examples/15_cube/cube.hpp"

using namespace tilewright;

namespace {

// The calls of this one are told strides along two dimensions: the compiler changes what follows from them in a copy of the machine's
// parts.
constexpr memory far{.name = "far"}, near{.name = "near", .base = 0x4000, .capacity = 8_KiB};
constexpr transfer plain("plain", far, near);
constexpr auto strided =
    transfer("strided", far, near)
        .dimensions(3)
        .calls("strided", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::source_stride(1),
               argument::destination_stride(1), argument::extent(2), argument::source_stride(2), argument::destination_stride(2));
constexpr auto limited = transfer("limited", far, near)
                             .dimensions(4)
                             .strides_of_source(3, {.most = 65535, .multiple = 16})
                             .strides_of_destination(2, rows_follow);
constexpr auto by_calls = machine("by_calls", far, near, strided, limited, plain);
constexpr axis y{"y", 6}, x{"x", 10};
constexpr tensor<std::int8_t> from{"from"}, to{"to"};
constexpr auto copied = stages(to(y, x) = from(y, x));
constexpr auto in_rows = schedule(copied, by_calls).cache_read(from, near).at(y).by(strided);

int failures = 0;
void compare(char const* what, bool same) {
    if (same) return;
    std::printf("%s: what is written is not what was computed\n", what);
    ++failures;
}

template <auto const& Machine>
void compare_machine(char const* what) {
    static constexpr std::uint64_t computed = hash_of(Machine);
    machine const* volatile written = &Machine;
    compare(what, hash_of(*written) == computed);
}

template <auto const& Schedule>
void compare_plan(char const* what) {
    static constexpr bool is_planned = !plan<Schedule>.refusal;
    auto const made = std::make_unique<plan_value>(make_plan(Schedule));
    compare(what, is_planned && to_json(static_cast<plan_value const&>(plan<Schedule>)) == to_json(*made));
}

template <program const& Program>
void compare_program(char const* what) {
    static constexpr bool is_planned = !program_plan<Program>.refusal;
    auto const made = std::make_unique<program_plan_value>(make_program_plan(Program, detail::constant_budget));
    compare(what, is_planned && to_json(static_cast<program_plan_value const&>(program_plan<Program>)) == to_json(*made));
}

}  // namespace

int main() {
    compare_machine<by_calls>("a machine whose calls are told strides");
    compare_machine<lesson_overlap::npu_with_dma>("the machine of lesson 03");
    compare_machine<lesson_two_blocks::dsp>("the machine of lesson 04");
    compare_machine<lesson_layout::npu>("the machine of lesson 05");
    compare_machine<lesson_cube::npu>("the machine of lesson 15");
    compare_plan<in_rows>("a plan by calls that are told strides");
    compare_plan<lesson_overlap::overlapped>("the plan of lesson 03");
    compare_plan<lesson_two_blocks::in_two_blocks>("the plan of lesson 04");
    compare_plan<lesson_layout::in_panels>("the plan of lesson 05");
    compare_plan<lesson_tails::with_fills>("the plan of lesson 06");
    compare_plan<lesson_cube::on_cube>("the plan of lesson 15");
    compare_program<lesson_network::digits_network>("the program of lesson 09");
    return failures == 0 ? 0 : 1;
}
