#include <tilewright/targets/mps2_an521.hpp>

#include "c_source/compiled.hpp"

// Registers of a C type of the user's, which functions take and return by value.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, vec = register_file("vec", 16, 32, "v8f"), plain = register_file("plain", 16, 32);
constexpr core cpu{.name = "cpu"};
constexpr auto vload = transfer("vload", dram, vec), vstore = transfer("vstore", vec, dram);
constexpr axis i{"i", 8}, i16{"i16", 16};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"}, d{"d"};
constexpr auto vmul8 = intrinsic("vmul8", c(i) += a(i) * b(i)).reads(a, vec).reads(b, vec).writes(c, vec);
constexpr auto vfma8 = intrinsic("vfma8", c(i) += a(i) * b(i)).reads(a, vec).reads(b, vec).updates(c, vec);
constexpr auto vscale8 = intrinsic("vscale8", c(i) += a() * b(i)).reads(a, dram).reads(b, vec).updates(c, vec);
constexpr auto vstart8 = intrinsic("vstart8", c(i) = d(i) + sum(a() * b(i))).reads(a, dram).reads(b, vec).reads(d, vec).writes(c, vec);
constexpr auto simd = machine("simd", dram, vec, cpu, vload, vstore, vmul8, vfma8, vscale8, vstart8);

constexpr axis m{"m", 12}, n{"n", 32}, k{"k", 20}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"};
constexpr tensor<float> A{"A"}, B{"B"}, C{"C"}, bias{"bias"};

// Sums of products down the rows of two matrices.
constexpr auto products = C(n) += A(k, n) * B(k, n);
template <class Computation>
constexpr schedule two_registers_wide(Computation const& what, axis const& columns, bool written_out = true) {
    schedule s(what, simd);
    s.split(columns, no, ni, 16).reorder(no, k, ni).cache_read(A, vec).at(k).cache_read(B, vec).at(k).cache_write(C, vec).at(no);
    if (written_out) s.unroll(ni);
    return s.tensorize(ni, vfma8);
}
constexpr schedule by_fma = two_registers_wide(products, n);
/// A tile of 3 x 16 sums stays in registers, started from a bias.
template <class Computation>
constexpr schedule sums_in_registers(Computation const& what, machine const& where) {
    schedule s(what, where);
    return s.tile(m, n, mo, no, mi, ni, 3, 16)
        .reorder(mo, no, k, mi, ni)
        .cache_read(B, vec)
        .at(k)
        .cache_read(bias, vec)
        .at(no)
        .cache_write(C, vec)
        .at(no)
        .unroll(mi)
        .unroll(ni)
        .tensorize(ni, vscale8);
}
constexpr auto matmul = C(m, n) = bias(n) + sum(k, A(m, k) * B(k, n));
constexpr auto tile = sums_in_registers(matmul, simd);

// The last tile has one register of two.
constexpr axis n24{"n", 24};
constexpr auto partly_products = C(n24) += A(k, n24) * B(k, n24);
constexpr schedule partly = two_registers_wide(partly_products, n24);

// Sums that begin in the registers that their bias was loaded into.
constexpr auto vbegin8 = intrinsic("vbegin8", c(i) = d(i) + sum(a() * b(i)))
                             .reads(a, dram)
                             .reads(b, vec)
                             .reads(d, vec)
                             .writes(c, vec)
                             .in_place(d)
                             .calls("vstart8", argument::address(a), argument::address(b), argument::address(d));
constexpr auto overwriting = machine("overwriting", dram, vec, cpu, vload, vstore, vscale8, vbegin8);
constexpr auto from_tile = C(m, n) = bias(m, n) + sum(k, A(m, k) * B(k, n));
constexpr auto in_registers = sums_in_registers(from_tile, overwriting);

// Words of a bank: 2 x 2 sums, four steps written out.
namespace board = targets::mps2_an521;
constexpr axis rows{"rows", 6}, columns{"columns", 8}, depth{"depth", 16}, ro{"ro"}, ri{"ri"}, co{"co"}, ci{"ci"}, deep{"deep"},
    four{"four"};
constexpr tensor<std::int8_t> left{"left"}, right{"right"};
constexpr tensor<std::int32_t> sums{"sums"};
constexpr auto of_bytes = sums(rows, columns) += cast<std::int32_t>(left(rows, depth)) * cast<std::int32_t>(right(columns, depth));
constexpr auto on_words = schedule(of_bytes, board::core1)
                              .split(rows, ro, ri, 2)
                              .split(columns, co, ci, 2)
                              .split(depth, deep, four, 4)
                              .reorder(ro, co, deep, ri, ci, four)
                              .cache_read(left, board::sram)
                              .cache_read(right, board::sram)
                              .cache_read(left, board::words)
                              .at(deep)
                              .cache_read(right, board::words)
                              .at(deep)
                              .cache_write(sums, board::words)
                              .at(co)
                              .unroll(deep)
                              .unroll(ri)
                              .unroll(ci)
                              .tensorize(four, board::mac4);

// Three pieces of each row, which lie 600 bytes apart, in rows of 1212 bytes: what is summed up is written out, or a piece at a time.
constexpr axis piece{"piece", 3}, twelve{"twelve", 12};
constexpr auto of_pieces = sums(rows, columns) +=
    cast<std::int32_t>(left(rows, 600 * piece + twelve)) * cast<std::int32_t>(right(columns, piece, twelve));
constexpr schedule in_pieces(bool written_out) {
    schedule s(of_pieces, board::core1);
    s.split(columns, co, ci, 2)
        .split(twelve, deep, four, 4)
        .reorder(rows, co, piece, deep, ci, four)
        .cache_read(left, board::sram)
        .cache_read(right, board::sram)
        .cache_read(left, board::words)
        .at(deep)
        .cache_read(right, board::words)
        .at(deep)
        .cache_write(sums, board::words)
        .at(co);
    if (written_out) s.unroll(piece);
    return s.unroll(deep).unroll(ci).tensorize(four, board::mac4);
}
constexpr schedule far_apart = in_pieces(true), piece_by_piece = in_pieces(false);

std::string vectors() {
    std::ifstream in(TILEWRIGHT_VECTORS_H);
    return {std::istreambuf_iterator<char>(in), {}};
}
halide::c_source_options const on_device{"kernel", halide::binding::device, {"vectors.h"}};

/// The C source on values makes the bits of the object on the emulated machine.
template <schedule const& Schedule>
std::string check() {
    static constexpr plan_value const& planned = plan<Schedule>;
    emulator& on = emulated<(Schedule.where())>();
    kernels::check_kernel(planned, on);
    halide::jit_kernel object(planned, &on);
    kernels::operand_data const data = kernels::random_operands(planned, 17);
    Halide::Buffer<> const wanted = kernels::expected_of(planned, data);
    CHECK(kernels::same_bits(kernels::result_of(object, data, {}), wanted));
    std::string source;
    for (c_kernels::compiler const& with : c_kernels::compilers) {
        for (char const* kind : {"", " -DVECTORS_OF_THE_COMPILER -Wno-psabi"}) {
            for (char const* level : {"-O0", "-O2"}) {
                std::string const flags = std::string(level) + kind;
                INFO(with.name << " " << flags);
                std::unique_ptr<c_kernels::c_kernel> kernel;
                try {
                    kernel = std::make_unique<c_kernels::c_kernel>(Schedule, planned, on_device, std::vector{vectors()},
                                                                   c_kernels::compiler{with.name, flags.c_str()});
                } catch (std::exception const& wrong) {
                    FAIL(wrong.what());
                }
                source = kernel->text().source;
                kernels::operand_data const operands =
                    kernels::random_operands(planned, 17, flags[2] == '0' ? guarded::side::beginning : guarded::side::end);
                kernels::guarded_buffer result = kernels::make_result(operands);
                CHECK(kernel->run(planned, operands, result.elements, {}) == 0);
                CHECK(kernels::same_bits(result.elements, wanted));
                CHECK((operands.is_intact() && result.memory->is_intact()));
                CHECK(kernel->text().header.find("v8f") == std::string::npos);
            }
        }
    }
    return source;
}
std::string without_space(std::string text) {
    std::erase_if(text, [](unsigned char letter) { return std::isspace(letter) != 0; });
    return text;
}
bool holds(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }
std::string said_of(schedule const& what, halide::c_source_options const& options = on_device) {
    auto const planned = std::make_unique<plan_value>(make_plan(what));
    if (planned->refusal) return to_string(planned->refusal);
    try {
        halide::c_source(what, *planned, options);
    } catch (std::exception const& wrong) {
        return wrong.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("functions take and return registers") {
    std::string const source = check<by_fma>();
    INFO(source);
    CHECK(holds(source, "v8f C_vec_0;"));
    // The first step stands in front of the loop, which asks nothing.
    CHECK(holds(source, "for (int32_t k = 1; k < 20; ++k) {"));
    CHECK(!holds(source, "k == 0)"));
    CHECK(holds(source, "v8f A_vec_1;"));
    CHECK(holds(source, "A_vec_0 = vload((const void *)("));
    CHECK(holds(source, "C_vec_0 = vmul8(A_vec_0, B_vec_0);"));
    CHECK(holds(source, "C_vec_1 = vfma8(A_vec_1, B_vec_1, C_vec_1);"));
    CHECK(holds(source, "vstore((void *)("));
    CHECK(!holds(source, "TILEWRIGHT_FENCE"));
}
TEST_CASE("a tile of sums that start from a bias, with one operand by its address") {
    std::string const source = check<tile>();
    INFO(source);
    CHECK(holds(source, "C_vec_5 = vstart8((const void *)("));
    CHECK(holds(source, "B_vec_1, bias_vec_1);"));
    CHECK(holds(source, "B_vec_1, C_vec_5);"));
    CHECK(plan<tile>.calls(vstart8) == 4 * 2 * 6);
    // The reference shows it.
    std::ifstream page(TILEWRIGHT_C_SOURCE_PAGE);
    std::string const text{std::istreambuf_iterator<char>(page), {}};
    std::size_t const heading = text.find("has steps such as"), begin = text.find("```c\n", heading) + 5;
    REQUIRE(heading != std::string::npos);
    std::string const shown = without_space(text.substr(begin, text.find("```", begin) - begin));
    CHECK(shown.size() > 100);
    CHECK(holds(without_space(source), shown));
}
TEST_CASE("sums in the registers that their bias was loaded into") {
    static_assert(plan<in_registers>.peak(vec) == (6 + 2) * 32);
    std::string const source = check<in_registers>();
    INFO(source);
    CHECK(holds(source, "C_vec_5 = vload((const void *)("));
    CHECK(holds(source, "C_vec_5 = vstart8((const void *)("));
    CHECK(holds(source, "B_vec_1, C_vec_5);"));
    CHECK(!holds(source, "bias_vec"));
}
TEST_CASE("a tile that ends early, by whole registers") {
    std::string const source = check<partly>();
    INFO(source);
    CHECK(plan<partly>.calls(vload) == 2 * 20 * 3);
}
TEST_CASE("what cannot be passed by value is refused by name") {
    // Nobody defines the type.
    CHECK(holds(said_of(by_fma, {"kernel", halide::binding::device, {}}), "registers of `vec` are of the C type `v8f`"));
    // Loops that are not written out.
    auto const in_loops = two_registers_wide(products, n, false);
    CHECK(holds(said_of(in_loops), "loop `ni`: it moves through registers, which have no addresses: unroll or vectorize it"));
    // Registers without a type: the emulated machine does not mind.
    auto const without = machine("without", dram, plain, cpu, transfer("in", dram, plain).on(cpu), transfer("out", plain, dram).on(cpu),
                                 intrinsic("twice", c(i) = a(i) + a(i)).reads(a, plain).writes(c, plain));
    auto const twice = C(n) = A(n) + A(n);
    auto const doubled = schedule(twice, without).cache_read(A, plain).cache_write(C, plain).unroll(n).tensorize(n, without.intrinsics[0]);
    CHECK(holds(said_of(doubled), "`A.plain` is in registers of `plain`, which have no address"));
    CHECK(said_of(doubled, {"kernel", halide::binding::emulated, {}}) == "nothing");
    // Copies by the core, and functions, on one buffer.
    auto const mixed = machine("mixed", dram, vec, cpu, transfer("in", dram, vec).on(cpu), vstore,
                               intrinsic("twice", c(i) = a(i) + a(i)).reads(a, vec).writes(c, vec));
    CHECK(holds(said_of(schedule(twice, mixed).cache_read(A, vec).cache_write(C, vec).unroll(n).tensorize(n, mixed.intrinsics[0])),
                "`A.vec` is in registers of `vec`, which functions take by value, and loops that stay code use it, too"));
    // Two registers at a time.
    auto const wide =
        machine("wide", dram, vec, cpu, vload, vstore, intrinsic("twice", c(i16) = a(i16) + a(i16)).reads(a, vec).writes(c, vec));
    CHECK(holds(said_of(schedule(twice, wide).cache_read(A, vec).cache_write(C, vec).unroll(n).tensorize(n, wide.intrinsics[0])),
                "`twice` takes 1 x 16 elements of `a`, and not the 8 of a register of `vec`"));
    // Rows that are no registers.
    constexpr axis odd{"odd", 12};
    auto const rest = C(odd) = A(odd) + A(odd);
    CHECK_THAT(said_of(schedule(rest, simd).cache_read(A, vec)), Catch::Contains("a row has 48 bytes, which is no multiple of 32"));
    // Object code.
    CHECK_THROWS_WITH(halide::value_buffers_of(plan<by_fma>, false), Catch::Contains("object code cannot"));
}

TEST_CASE("addresses of words that differ in a number have a pointer in common") {
    static constexpr plan_value const& planned = plan<on_words>;
    REQUIRE(!planned.refusal);
    std::string const source =
        halide::c_source(on_words, planned, {"kernel", halide::binding::device, {"tilewright/targets/mps2_an521.h"}}).source;
    INFO(source);
    std::size_t const outer = source.find("for (int32_t ro"), inner = source.find("for (int32_t co");
    std::size_t const of_left = source.find("*const left_sram_address_moved_"), of_right = source.find("*const right_sram_address_moved_");
    // Each where the loop around begins that moves it, once.
    CHECK((outer < of_left && of_left < inner && inner < of_right && of_right != std::string::npos));
    CHECK(source.find("*const left_sram_address_moved_", of_left + 1) == std::string::npos);
    CHECK(source.find("*const right_sram_address_moved_", of_right + 1) == std::string::npos);
    for (char const* moved : {" + 4));", " + 8));", " + 12));", " + 16));", " + 28));"}) CHECK(holds(source, moved));
    // No step asks whether it is the first.
    CHECK(!holds(source, "== 0) {\n    sums"));
    CHECK(!holds(source, "0 == 0"));
}

TEST_CASE("a pointer moves on to words that a load of two does not reach") {
    static constexpr plan_value const& planned = plan<far_apart>;
    REQUIRE(!planned.refusal);
    std::string const source =
        halide::c_source(far_apart, planned, {"kernel", halide::binding::device, {"tilewright/targets/mps2_an521.h"}}).source;
    INFO(source);
    // Nine words of a row are the same for all columns: the pointer moves on to those of the last piece, and back.
    std::string const pointer = "left_sram_address_moved_1_on";
    std::size_t const declared = source.find("unsigned char *" + pointer + " = "), loop = source.find("for (int32_t co");
    std::size_t const on = source.find(pointer + " += 1200; TILEWRIGHT_OPAQUE(" + pointer + ", 4);"),
                      back = source.find(pointer + " -= 1200;\n");
    CHECK((declared < loop && loop < on && on < back && back != std::string::npos));
    std::size_t const last = source.find("(const void *)(" + pointer + "));", on);
    CHECK((last != std::string::npos && last < back));
    CHECK(holds(source, pointer + " + 608));"));
    CHECK(!holds(source, pointer + " + 1200"));
    CHECK(holds(source, "TILEWRIGHT_ALONE static int kernel_steps("));
}
TEST_CASE("words that are the same in all iterations are behind a pointer of their own") {
    std::string const source =
        halide::c_source(on_words, plan<on_words>, {"kernel", halide::binding::device, {"tilewright/targets/mps2_an521.h"}}).source;
    INFO(source);
    std::size_t const loop = source.find("for (int32_t co"), opaque = source.find("TILEWRIGHT_OPAQUE(left_sram_address_moved_", loop);
    CHECK((loop != std::string::npos && opaque != std::string::npos));
    CHECK(!holds(source, "TILEWRIGHT_OPAQUE(right_sram"));
}
TEST_CASE("a first step in several loops is asked for by those that are left") {
    static constexpr plan_value const& planned = plan<piece_by_piece>;
    REQUIRE(!planned.refusal);
    std::string const source =
        halide::c_source(piece_by_piece, planned, {"kernel", halide::binding::device, {"tilewright/targets/mps2_an521.h"}}).source;
    INFO(source);
    CHECK(holds(source, "for (int32_t piece = 1; piece < 3; ++piece) {"));
    CHECK(!holds(source, "== 0) {"));
}
