#include <tilewright/c_source/program_source.hpp>
#include <tilewright/compute/functions.hpp>

#include "compiled.hpp"

// Users may give things any names, those too that generated code makes for itself.

namespace {

using namespace tilewright;

/// What Halide, C, C++, the C source and its headers call things.
constexpr char const* traps[] = {"t31",
                                 "t32",
                                 "t33",
                                 "a0",
                                 "f0",
                                 "v2",
                                 "r4",
                                 "b0_t31",
                                 "_",
                                 "_0",
                                 "__x",
                                 "x__y",
                                 "buffer",
                                 "status",
                                 "lane",
                                 "drain",
                                 "count",
                                 "counts",
                                 "token",
                                 "body",
                                 "element",
                                 "tile",
                                 "int8_t",
                                 "INT32_MAX",
                                 "int",
                                 "class",
                                 "unix",
                                 "memcpy",
                                 "numbers",
                                 "kernel",
                                 "overlap",
                                 "kernel_steps",
                                 "divide_int32",
                                 "minimum_int64",
                                 "machine",
                                 "arguments",
                                 "result",
                                 "given",
                                 "t31_end",
                                 "identity",
                                 "tilewright_fence",
                                 "halide_error",
                                 "malloc",
                                 "t31_stride_0",
                                 "at",
                                 "extent_x",
                                 "printf",
                                 "outer3"};
constexpr int trap_count = static_cast<int>(std::size(traps));

std::int32_t high_multiply(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((std::int64_t{a} * b + (std::int64_t{1} << 30)) >> 31);
}
std::int32_t rounded_shift(std::int32_t x, int by) {
    std::int64_t const half = by == 0 ? 0 : std::int64_t{1} << (by - 1);
    return static_cast<std::int32_t>(x < 0 ? -((half - x) >> by) : (x + half) >> by);
}

std::int32_t by_hand(std::int8_t a, std::int8_t b, std::int32_t p) {
    auto const part = [](std::int32_t v) { return rounded_shift(high_multiply((v + 3) << 20, 1623821475), 2); };
    std::int32_t const whole = rounded_shift(high_multiply(part(a) + part(b) + p, 1098017566), 17) - 100;
    return whole < -128 ? -128 : whole > 127 ? 127 : whole;
}

/// Two stages with common subexpressions, a parameter, split loops and a staged tensor, all of them called by traps from `first` on.
void check_names(int first) {
    auto const name = [first](int role) { return traps[(first + role * 5) % trap_count]; };
    auto const rescaled = [](auto const& v) { return rescale<rounding::doubling_high>((cast<std::int32_t>(v) + 3) << 20, 1623821475, 2); };
    memory const outside{.name = "outside"}, near{.name = name(6), .capacity = 64_KiB};
    core const cpu{.name = "cpu"};
    auto const back = transfer("back", near, outside).on(cpu);
    machine const where("where", outside, near, cpu, back);
    axis const x{name(2), 64}, y{name(3), 64}, outer{name(4)}, inner{name(5)};
    any_tensor const a{name(0), scalar_type::int8}, b{name(1), scalar_type::int8}, between{name(7), scalar_type::int32};
    tensor<std::int8_t> const out{name(8)};
    parameter<std::int32_t> const more{name(9)};
    auto const what = stages(between(x) = rescaled(a(x)) + rescaled(b(x)),
                             out(y) = requantize<std::int8_t, rounding::doubling_high>(between(y) + more, 1098017566, 17, -100));
    schedule s(what, where);
    s.split(y, outer, inner, 16).vectorize(inner).compute_at(between, outer).store_in(between, near).cache_write(out, near).at(outer);
    std::string shown;
    for (int role = 0; role < 10; ++role) shown += std::string(" ") + name(role);
    INFO("a, b, x, y, outer, inner, memory, between, out, parameter:" << shown);
    plan_value const plan = make_plan(s);
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);

    kernels::operand_data const data = kernels::random_operands(plan, 5);
    std::vector<std::int8_t> expected(64);
    for (std::size_t at = 0; at < 64; ++at)
        expected[at] = static_cast<std::int8_t>(by_hand(data.in<std::int8_t>(0)[at], data.in<std::int8_t>(1)[at], 12345));
    auto const is_expected = [&](Halide::Buffer<> const& made) { return std::memcmp(made.data(), expected.data(), 64) == 0; };

    emulator on(where, {});
    halide::jit_kernel planned(plan, &on), checked(plan, &on, true), plain(plan, nullptr);
    CHECK(is_expected(kernels::result_of(plain, data, {12345})));
    CHECK(is_expected(kernels::result_of(planned, data, {12345})));
    on.check(plan);
    on.reset();
    CHECK(is_expected(kernels::result_of(checked, data, {12345})));
    CHECK(on.error() == "");
    on.stop_checking();
    alignas(64) static unsigned char pool[64 << 10];
    halide::jit_kernel direct(plan, std::vector<void*>{pool});
    CHECK(is_expected(kernels::result_of(direct, data, {12345})));

    c_kernels::c_kernel const in_c(s, plan, on, c_kernels::compilers[first % 2]);
    INFO(in_c.text().source);
    Halide::Buffer<> result = data.output.copy();
    CHECK(in_c.run(plan, data, result, {12345}) == 0);
    CHECK(is_expected(result));
}

}  // namespace

TEST_CASE("names of users do not meet names that are made for them", "[long]") {
    for (int first = 0; first < trap_count; first += 3) check_names(first);  // every name in several places
}

TEST_CASE("headers and entries, too, have words for all names") {
    folder const made;
    std::string sources;
    for (int first = 0; first < trap_count; first += 4) {
        auto const name = [first](int role) { return traps[(first + role) % trap_count]; };
        memory const outside{.name = "outside"}, pool{.name = name(0), .capacity = 64_KiB};
        core const cpu{.name = "cpu"};
        auto const in = transfer("in", outside, pool).on(cpu);
        machine const where("where", outside, pool, cpu, in);
        axis const x{name(1), 64}, rows{name(4), dynamic};
        any_tensor const a{name(2), scalar_type::int8};
        parameter<std::int8_t> const more{name(3)};
        tensor<std::int8_t> const out{name(5)};
        auto const what = out(rows, x) = a(rows, x) + more;
        schedule const s = schedule(what, where).cache_read(a, pool).at(rows);
        plan_value const plan = make_plan(s);
        INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
        REQUIRE(!plan.refusal);
        std::string const kernel = "k" + std::to_string(first);
        halide::tool_kernel const subject{kernel.c_str(), s, plan, halide::binding::device, "s"};
        halide::detail::kernel_variants const variants =
            halide::detail::variants_of({&subject, 1}, {"x86-64-linux-avx2", "x86-64-linux"}, true);
        made.write(kernel + ".h", halide::detail::header_text(variants));
        made.write(kernel + "_entry.c", halide::detail::entry_text(variants));
        halide::c_source_text const in_c = halide::c_source(s, plan, {kernel + "_c", halide::binding::device, {}});
        made.write(kernel + "_c.h", in_c.header);
        made.write(kernel + "_c.c", in_c.source);
        made.write(kernel + ".cpp", "#include \"" + kernel + ".h\"\n#include \"" + kernel + "_c.h\"\n");
        for (char const* end : {"_entry.c", "_c.c", ".cpp"}) sources += " " + (made.path / (kernel + end)).string();
    }
    // The headers are read by C++, too.
    std::string const flags = " -Wall -Wextra -Wpedantic -Werror -fsyntax-only " TILEWRIGHT_INCLUDES " -I" + made.path.string();
    std::string const command = TILEWRIGHT_C_GCC + flags + sources + " 2> " + (made.path / "said").string();
    INFO(command);
    int const code = std::system(command.c_str());
    INFO(made.read("said"));
    CHECK(code == 0);
}

TEST_CASE("a kernel cannot be called what C or its machine calls something else") {
    static constexpr memory dram{.name = "dram"}, l1{.name = "l1", .base = 64, .capacity = 4_KiB};
    static constexpr auto load = transfer("load", dram, l1).calls("dma_load", argument::source, argument::destination, argument::bytes);
    static constexpr auto where = machine("where", dram, l1, load);
    static constexpr axis x{"x", 8};
    static constexpr tensor<std::int8_t> a{"a"}, b{"b"};
    static constexpr auto copy = b(x) = a(x) + 1;
    static constexpr auto s = schedule(copy, where).cache_read(a, l1);
    auto const named = [](char const* name) { return halide::c_source(s, plan<s>, {name, halide::binding::device, {}}); };
    for (char const* name : {"int", "class", "_k", "2k", "a-b", "", "tilewright_k", "main"})
        CHECK_THROWS_WITH(named(name), Catch::Contains("no function of C can be called"));
    CHECK_THROWS_WITH(named("dma_load"), Catch::Contains("is a function of the machine"));
    CHECK_NOTHROW(named("a"));
    CHECK_NOTHROW(named("t31"));
}

TEST_CASE("a program's kernels, tensors and memories have words of their own") {
    memory const act{.name = "at", .base = 0x6000'0000, .capacity = 4_KiB}, l2{.name = "p_k_here", .capacity = 4_KiB},
        near{.name = "status", .capacity = 1_KiB};
    machine where("where", l2, act, near);
    where.add(transfer("p_k", act, near));
    where.add(transfer("put", near, act));
    axis const i{"memories", 64};
    tensor<std::int32_t> const x{"int"}, r{"t31"}, in{"p_places"}, between{"__between"}, out{"class"};
    auto const doubled = r(i) = x(i) * 2;
    schedule const first = schedule(doubled, where).writes(r, act);
    schedule const second = schedule(doubled, where).reads(x, act).writes(r, act).cache_read(x, near).cache_write(r, near);
    agent const on("on", where);
    program made("net");
    made.input(in, l2).run("k", on, first).bind(x, in).bind(r, between);
    made.run("k_steps", on, second).bind(x, between).bind(r, out).output(out, act);
    program_plan_value const plan = make_program_plan(made);
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);
    folder const files;
    std::string sources;
    for (auto const& [file, text] : halide::c_program(plan, {.name = "p"})) {
        files.write(file, text);
        INFO(text);
        if (file == "p.c") sources += " " + (files.path / file).string();
    }
    files.write("p.cpp", "#include \"p.h\"\n");
    std::string const command = TILEWRIGHT_C_GCC " -Wall -Wextra -Wpedantic -Werror -fsyntax-only" + sources + " " +
                                (files.path / "p.cpp").string() + " 2> " + (files.path / "said").string();
    int const code = std::system(command.c_str());
    INFO(files.read("said") << files.read("p.c"));
    CHECK(code == 0);
    CHECK_THROWS_WITH(halide::c_program(plan, {.name = "put"}), Catch::Contains("is a function of a machine"));
    CHECK_THROWS_WITH(halide::c_program(plan, {.name = "while"}), Catch::Contains("no function of C can be called"));
}
