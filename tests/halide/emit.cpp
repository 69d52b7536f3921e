#include <tilewright/halide/inject.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"

// The statement of the device binding: which functions are called, with which arguments.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, pool{.name = "pool", .capacity = 4_KiB}, near{.name = "near", .base = 0x8000, .capacity = 4_KiB};
constexpr auto in = transfer("in", dram, near)
                        .dimensions(2)
                        .calls("copy_in", argument::literal(3), argument::destination, argument::bytes, argument::row_bytes,
                               argument::extent(0), argument::extent(1), argument::source_stride(1), argument::destination_stride(1));
constexpr auto out = transfer("out", near, dram);
constexpr auto to_pool = transfer("to_pool", dram, pool);
constexpr axis y{"y", 6}, x{"x", 10}, yo{"yo"}, yi{"yi"};
constexpr tensor<std::int16_t> a{"a"}, b{"b"};
constexpr auto m = machine("m", dram, pool, near, in, out, to_pool);
constexpr auto increment = b(y, x) = a(y, 2 * x + 1) + 1;
constexpr auto on_near = schedule(increment, m).split(y, yo, yi, 3).cache_read(a, near).at(yo).by(in).cache_write(b, near).at(yi).by(out);
constexpr auto in_pool = schedule(increment, m).cache_read(a, pool);

std::string statement_of(plan_value const& plan) {
    halide::code_names const names = halide::name_everything(plan, {{"a", "a"}}, "b");
    std::ostringstream text;
    text << halide::emitter(plan, names, {halide::binding::device, {}, Halide::Target("x86-64-linux")}).program();
    return text.str();
}

}  // namespace

TEST_CASE("a device call has the arguments that the machine lists, in their order") {
    std::string const text = statement_of(plan<on_near>);
    INFO(text);
    // 3 rows of 19 elements of 2 bytes; rows in the scratchpad follow each other
    CHECK(text.find("copy_in((int64)3, (void *)reinterpret(a.near.address), (int64)114, (int64)38, (int64)19, (int64)3, "
                    "int64(_halide_buffer_get_stride((halide_buffer_t *)a.buffer, 1))*(int64)2, (int64)38)") != std::string::npos);
    CHECK(text.find("let a.near.address = (uint64)32768") != std::string::npos);
    // 114 bytes of a, then b: two-byte elements need no more alignment
    CHECK(text.find("let b.near.address = (uint64)32882") != std::string::npos);
    CHECK(text.find("allocate") == std::string::npos);
    CHECK(text.find("tilewright_emulate") == std::string::npos);
}
TEST_CASE("the device binding needs an address for every memory that holds a buffer") {
    CHECK_THROWS_WITH(statement_of(plan<in_pool>), Catch::Contains("`pool` has no address, and none is given"));
}
TEST_CASE("a program that finds no place in the lowered code is refused, not dropped") {
    halide::inject_program pass("no such stage", Halide::Internal::Evaluate::make(0));
    CHECK_THROWS_WITH(pass.mutate(Halide::Internal::Evaluate::make(1)), Catch::Contains("found 0 times"));
}
