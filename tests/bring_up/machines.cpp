#include <cstdlib>
#include <tilewright/bring_up/self_test.hpp>
#include <tilewright/bring_up/trace_header.hpp>
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/mps2_an521.hpp>
#include <tilewright/targets/riscv64_v.hpp>
#include <tilewright/targets/x86_avx2.hpp>

#include "../../examples/03_overlap/overlap.hpp"
#include "../../examples/04_two_blocks/two_blocks.hpp"
#include "../../examples/05_layout/layout.hpp"
#include "../../examples/06_tails/tails.hpp"
#include "../../examples/08_your_c/add.hpp"
#include "catch.hpp"
#include "folder.hpp"
#include "kernels/caches.hpp"
#include "kernels/channels.hpp"
#include "kernels/features.hpp"
#include "kernels/in_place.hpp"
#include "kernels/micro_kernel.hpp"
#include "kernels/multicast.hpp"
#include "kernels/scales.hpp"
#include "kernels/systolic.hpp"
#include "kernels/unlike_cores.hpp"
#include "kernels/values.hpp"
#include "kernels/views.hpp"

// Every machine of the tests and of the lessons has a self-test that strict compilers take, or is refused by name.

using namespace tilewright;

namespace {

/// What compilers say of the files of a machine; empty: nothing.
std::string said_of(machine const& where) {
    folder const made;
    bring_up::self_test_text const text = bring_up::self_test(where, {"tested", {"trace.h"}});
    made.write("tested.h", text.header), made.write("tested.c", text.source);
    made.write("trace.h", bring_up::trace_header(where, "traced"));
    std::string said;
    for (char const* compiler : {TILEWRIGHT_C_GCC, TILEWRIGHT_C_CLANG}) {
        for (char const* traces : {"", " -DTILEWRIGHT_TRACE"}) {
            std::string const command = std::string(compiler) + " -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I" +
                                        TILEWRIGHT_INCLUDE + traces + " " + made / "tested.c" + " 2> " + made / "said";
            if (std::system(command.c_str()) != 0) said += made.read("said");
        }
    }
    return said;
}
std::string refusal_of(machine const& where) {
    try {
        bring_up::self_test(where, {"tested"});
    } catch (std::invalid_argument const& why) {
        return why.what();
    }
    return {};
}

}  // namespace

TEST_CASE("machines of tests and lessons have self-tests that compilers take", "[long]") {
    CHECK(said_of(lesson_overlap::npu_with_dma) == "");
    CHECK(said_of(lesson_two_blocks::dsp) == "");
    CHECK(said_of(lesson_layout::npu) == "");
    CHECK(said_of(lesson_tails::filling_npu) == "");
    CHECK(said_of(lesson_tails::told_npu) == "");
    CHECK(said_of(lesson_your_c::dsp) == "");
}
TEST_CASE("machines with numbers, views, settings, values and operands in place have them, too", "[long]") {
    CHECK(said_of(systolic::npu) == "");
    CHECK(said_of(views::npu) == "");
    CHECK(said_of(values::npu) == "");
    CHECK(said_of(in_place::vta) == "");
    CHECK(said_of(scales::npu) == "");
    CHECK(said_of(features::npu) == "");
    CHECK(said_of(features::core_with_tcm) == "");
    CHECK(said_of(micro_kernel::cpu) == "");
}
TEST_CASE("machines with several cores, caches, channels and multicasts have them, too", "[long]") {
    CHECK(said_of(cached_cores::two) == "");
    CHECK(said_of(cores_of_dsp::with_noc) == "");
    CHECK(said_of(unlike_cores::mixed) == "");
    for (completion const how : {completion::by_transfer, completion::by_channel, completion::by_engine})
        CHECK(said_of(channels::dsp_with(3, how)) == "");
}
TEST_CASE("machines of processors have them, too") {
    CHECK(said_of(targets::aarch64_dot::host) == "");
    CHECK(said_of(targets::riscv64_v::host) == "");
    CHECK(said_of(targets::mps2_an521::core0) == "");
}
TEST_CASE("functions of a machine may be called like words of the self-test") {
    constexpr memory ram{.name = "ram"}, tcm{.name = "n", .base = 0x1000, .capacity = 64_KiB, .host_visible = false};
    constexpr axis i{"i", 4};
    constexpr tensor<std::int32_t> a{"at"}, c{"to"};
    CHECK(said_of(machine("clashing", ram, tcm,
                          transfer("in", ram, tcm)
                              .dimensions(2)
                              .calls("copy", argument::source, argument::destination, argument::row_bytes, argument::extent(1)),
                          transfer("out", tcm, ram).calls("code", argument::source, argument::destination, argument::bytes),
                          intrinsic("step", c(i) = a(i) + 1)
                              .reads(a, ram)
                              .writes(c, ram)
                              .calls("add_int32", argument::address(a), argument::address(c)))) == "");
}
TEST_CASE("what the table of a self-test cannot hold is left out, and the header says so") {
    constexpr memory ram{.name = "ram"},
        large{.name = "large", .base = 0x1'0000'0000, .capacity = std::int64_t{1} << 33, .host_visible = false};
    machine const m("large_one", ram, large, transfer("in", ram, large).dimensions(2), transfer("out", large, ram).dimensions(2));
    CHECK(said_of(m) == "");
    std::string const header = bring_up::self_test(m, {"tested"}).header;
    CHECK(header.find(" * left out: in, at the end of the memories: numbers of more than 32 bits\n") != std::string::npos);
    std::string const small = bring_up::self_test(m, {"tested", {}, 256}).header;
    CHECK(small.find(" * left out: in, one row of 255 bytes: larger than a window\n") != std::string::npos);
}
TEST_CASE("a machine without functions, without room or with a wrong description is refused by name") {
    CHECK(refusal_of(targets::avx2::host) == "the machine has no C function that a self-test could call");
    machine narrow("narrow", memory{.name = "ram"}, memory{.name = "tcm", .base = 0x1000, .capacity = 512, .host_visible = false});
    narrow.add(transfer("load", memory{.name = "ram"}, memory{.name = "tcm"}).dimensions(2));
    CHECK(refusal_of(narrow) == "");  // with cases that fit
    narrow.add(transfer("store", memory{.name = "cm"}, memory{.name = "ram"}));
    CHECK(refusal_of(narrow).find("cm") != std::string::npos);
    CHECK_THROWS_AS(bring_up::self_test(lesson_your_c::dsp, {"dma_copy"}), std::invalid_argument);
    CHECK_THROWS_AS(bring_up::self_test(lesson_your_c::dsp, {"int"}), std::invalid_argument);
    CHECK_THROWS_AS(bring_up::trace_header(lesson_your_c::dsp, "int"), std::invalid_argument);
}
