#include <cstdio>
#include <tilewright/report/plan_report.hpp>

#include "02_instruction/matmul.hpp"
#include "04_two_blocks/two_blocks.hpp"
#include "kernels/features.hpp"
#include "kernels/schedules.hpp"

/// Prints documents of JSON, one a line, for json_test.py to read.
int main() {
    using namespace tilewright;
    machine odd("a \"quoted\" \\ name");
    odd.add(memory{.name = "tab\t, bell\a"});
    odd.add(engine{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"});  // ä€😀
    odd.add(engine{"\xff \xc0\xaf \xed\xa0\x80 \xe2\x82"});   // no UTF-8: a byte, an overlong slash, a surrogate, a cut character
    odd.add(engine{"0123456789012345678901234"});
    for (std::string const& document : {
             to_json(plan<lesson_matmul::matmul_on_npu>),
             to_json(lesson_matmul::npu),
             to_json(make_plan(schedule(lesson_matmul::matmul, lesson_matmul::npu).split("m", "o", "w", 0))),
             to_json(make_plan(kernels::blur_in_turn)),
             to_json(make_plan(features::matmul_by_dots)),
             to_json(odd),
             to_json(plan<lesson_two_blocks::in_two_blocks>),
             to_json(lesson_two_blocks::dsp),
             to_json(plan<lesson_two_blocks::across_two_blocks>),
         }) {
        std::puts(document.c_str());
    }
}
