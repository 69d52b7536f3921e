#include <tilewright/c_source/binding_files.hpp>

#include "catch.hpp"
#include "tilewright/tilewright.hpp"

// Kernels of several schedules: what their arguments must have in common, and in which order targets may stand.

using namespace tilewright;
using halide::detail::variants_of;

namespace {

constexpr memory ram{.name = "ram"}, pool{.name = "l2", .capacity = 64_KiB, .alignment = 64}, other_pool{.name = "l3", .capacity = 64_KiB};
constexpr memory wide_pool{.name = "l2", .capacity = 64_KiB, .alignment = 256};
constexpr core cpu{.name = "cpu"}, vnni_cpu{.name = "cpu", .instructions = "avx512_vnni"};
constexpr engine dma{"dma"};
constexpr auto in = transfer("in", ram, pool).on(cpu), in_other = transfer("in", ram, other_pool).on(cpu);
constexpr auto in_wide = transfer("in", ram, wide_pool).on(cpu);
constexpr auto in_dense = transfer("bring", ram, pool).on(dma).dimensions(1);
constexpr auto first = machine("first", ram, pool, cpu, in), second = machine("second", ram, other_pool, cpu, in_other);
constexpr auto with_vnni = machine("vnni", ram, vnni_cpu);
constexpr auto wide = machine("wide", ram, wide_pool, cpu, in_wide), engines = machine("engines", ram, pool, cpu, dma, in_dense);
constexpr axis y{"y", 32}, x{"x", 64}, few{"x", 48}, rows{"y", dynamic};
constexpr tensor<std::int32_t> a{"a"}, b{"b"}, out{"out"};
constexpr tensor<float> real{"a"};
constexpr parameter<std::int32_t> more{"more"};
constexpr auto plus_one = out(y, x) = a(y, x) + 1;
constexpr auto of_b = out(y, x) = b(y, x) + 1;
constexpr auto of_few = out(y, few) = a(y, few) + 1;
constexpr auto of_floats = out(y, x) = cast<std::int32_t>(real(y, x));
constexpr auto plus_more = out(y, x) = a(y, x) + more;
constexpr auto plus_b = out(y, x) = a(y, x) + b(y, x);
constexpr auto of_rows = out(rows, x) = a(rows, x) + 1;

struct prepared {
    schedule made;
    plan_value plan = make_plan(made);

    explicit prepared(schedule const& s) : made(s) { REQUIRE(!plan.refusal); }
    halide::tool_kernel subject(char const* name) const { return {"kernel", made, plan, halide::binding::device, name}; }
};
std::string refusal_of(schedule const& one, schedule const& other, std::vector<std::string> const& targets) {
    prepared const a_plan(one), b_plan(other);
    std::vector<halide::tool_kernel> const both{a_plan.subject("one"), b_plan.subject("other")};
    try {
        variants_of(both, targets, true);
    } catch (std::invalid_argument const& wrong) {
        return wrong.what();
    }
    return "none";
}
std::vector<std::string> const targets{"x86-64-linux-avx2", "x86-64-linux"};
std::string refusal_of(schedule const& one, schedule const& other) { return refusal_of(one, other, targets); }
constexpr char const* both = "schedules `one` and `other` must take the same arguments, but they differ in ";

}  // namespace

TEST_CASE("schedules of one kernel that differ in their arguments are refused, and the argument is named") {
    schedule const one = schedule(plus_one, first).cache_read(a, pool).at(y);
    CHECK(refusal_of(one, one) == "none");
    CHECK(refusal_of(one, schedule(of_b, first).cache_read(b, pool).at(y)) ==
          both + std::string("the tensor at the place of `a`: a, and b"));
    CHECK(refusal_of(one, schedule(of_few, first).cache_read(a, pool).at(y)) ==
          both + std::string("the extents of tensor `a`: 32 x 64, and 32 x 48"));
    CHECK(refusal_of(one, schedule(of_floats, first).cache_read(real, pool).at(y)) ==
          both + std::string("the element type of tensor `a`: int32_t, and float"));
    CHECK(refusal_of(one, schedule(plus_more, first).cache_read(a, pool).at(y)) == both + std::string("scalar parameters: 0, and 1"));
    CHECK(refusal_of(one, schedule(plus_b, first).cache_read(a, pool).at(y)) == both + std::string("tensors: 2, and 3"));
    CHECK(refusal_of(one, schedule(plus_one, second).cache_read(a, other_pool).at(y)) ==
          both + std::string("memories whose addresses they take: l2, and l3"));
    CHECK(refusal_of(one, schedule(plus_one, first)) == both + std::string("memories whose addresses they take: l2, and none"));
    CHECK(refusal_of(one, schedule(of_rows, first).cache_read(a, pool).at(rows)) ==
          "schedules `one` and `other` leave extents to run time, which is for kernels of one schedule: make a kernel of each");
}
TEST_CASE("the arguments of a kernel of several schedules are right for all of them") {
    axis const yo{"yo"}, yi{"yi"};
    prepared const small(schedule(plus_one, wide).cache_read(a, wide_pool).at(y));
    prepared const large(schedule(plus_one, engines).split(y, yo, yi, 8).cache_read(a, pool).at(yo));
    for (bool swapped : {false, true}) {
        std::vector<halide::tool_kernel> const schedules{swapped ? large.subject("large") : small.subject("small"),
                                                         swapped ? small.subject("small") : large.subject("large")};
        halide::detail::kernel_variants const made = variants_of(schedules, targets, true);
        REQUIRE(made.pools.size() == 1);
        CHECK(made.pools[0].bytes == 8 * 64 * 4);
        CHECK(made.pools[0].alignment == 256);
        CHECK(made.variants[0].function == "kernel_unchecked_0");
        CHECK(made.variants[1].target == "x86-64-linux");
        std::string const header = halide::detail::header_text(made), entry = halide::detail::entry_text(made);
        CHECK(header.find("#define TILEWRIGHT_kernel_l2_BYTES 2048") != std::string::npos);
        CHECK(header.find("int bring(") != std::string::npos);  // of the machine that has it, wherever it stands
        CHECK(entry.find("(uintptr_t)l2 % 256 != 0") != std::string::npos);
        int const at = ir::arguments_of(large.plan).tensors[0];
        CHECK(large.plan.buffers[at].dense_from < small.plan.buffers[at].dense_from);
        CHECK(made.plan().buffers[ir::arguments_of(made.plan()).tensors[0]].dense_from == large.plan.buffers[at].dense_from);
    }
}
TEST_CASE("a target that stands where it is never chosen is refused") {
    schedule const one = schedule(plus_one, first);
    CHECK(refusal_of(one, one, {"x86-64-linux", "x86-64-linux-avx2"}) ==
          "target x86-64-linux-avx2 is never chosen: what can run it can run x86-64-linux, which stands in front of it");
    // What avx2 is compiled for has these, too.
    CHECK(refusal_of(one, one, {"x86-64-linux-avx-f16c-fma", "x86-64-linux-avx2"}).find("is never chosen") != std::string::npos);
    CHECK(refusal_of(one, one, {"x86-64-linux-avx512", "x86-64-linux-avx2"}) == "none");
    CHECK(refusal_of(one, one, {"host", "x86-64-linux"}) == "none");
    // Of one target, where the functions of one machine need more.
    schedule const vnni = schedule(plus_one, with_vnni);
    CHECK(refusal_of(vnni, one, {"x86-64-linux-avx2", "x86-64-linux-avx2"}) == "none");
    CHECK(refusal_of(one, vnni, {"x86-64-linux-avx2", "x86-64-linux-avx2"}).find("is never chosen") != std::string::npos);
    CHECK(refusal_of(one, one, {"x86-64-linux"}) == "2 schedules need as many targets, not 1");
}
