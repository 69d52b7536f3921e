#include "compiled.hpp"

// Kernels on devices that are given nothing but the arguments which their transfers declare. Rows are copied by what these say, so a call
// that a device cannot make leaves wrong bytes there.

using namespace c_kernels;

namespace {

constexpr memory dram{.name = "dram"};
constexpr axis n{"n", 4}, k{"k", 8}, j{"j", 16}, l{"l", 16}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> W{"W"}, O{"O"};

/// Rows counted in blocks of 256 bytes, at strides counted in blocks.
constexpr char const* blocks_h = R"(#include <stdint.h>
static inline int in_blocks(const void *source, void *destination, int64_t blocks, int64_t rows, int64_t source_stride,
                            int64_t destination_stride) {
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t at = 0; at < 256 * blocks; ++at)
            ((char *)destination)[row * destination_stride * 256 + at] = ((const char *)source)[row * source_stride * 256 + at];
    }
    return 0;
}
)";

}  // namespace

TEST_CASE("an entry takes what the transfers take: each dimension by itself") {
    alignas(256) static std::int8_t wgt[4 * 4 * 256];
    memory const at_hand{.name = "wgt", .base = reinterpret_cast<std::uintptr_t>(wgt), .capacity = sizeof wgt, .alignment = 256};
    auto const in_blocks =
        transfer("in_blocks", dram, at_hand)
            .dimensions(2)
            .calls("in_blocks", argument::source, argument::destination, argument::row_bytes.in_units_of(256), argument::extent(1),
                   argument::source_stride(1).in_units_of(256), argument::destination_stride(1).in_units_of(256));
    auto const chip = machine("chip", dram, at_hand, in_blocks);
    auto const what = O(n, k, j, l) = W(n, k, j, l);
    auto const copied = schedule(what, chip).split(k, ko, ki, 4).reorder(ko, n, ki, j, l).cache_read(W, at_hand).at(ko);
    plan_value const plan = make_plan(copied);
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    c_kernel const kernel(copied, plan, {"kernel", halide::binding::device, {"blocks.h"}}, {blocks_h}, compilers[0]);
    INFO(kernel.text().header);
    CHECK(kernel.text().header.find("W: 4 x 8 x 16 x 16 elements, dimensions 1 to 3 without gaps, the stride of dimension 0 a multiple of "
                                    "256;") != std::string::npos);
    auto const code_at = [&](int block, int row, int plane) {
        std::vector<std::int8_t> in(static_cast<std::size_t>(4 * plane), 0);
        for (std::size_t at = 0; at < in.size(); ++at) in[at] = static_cast<std::int8_t>(at * 37 % 251);
        halide_dimension_t const shape[] = {{0, 16, 1}, {0, 16, row}, {0, 8, block}, {0, 4, plane}};
        Halide::Buffer<> const given(Halide::Int(8), in.data(), 4, shape);
        kernels::operand_data const data{{given}, Halide::Buffer<std::int8_t>(16, 16, 8, 4)};
        Halide::Buffer<> result = data.output;
        int const code = kernel.run(plan, data, result, {});
        for (int a = 0; a < 4 && code == 0; ++a) {
            for (int at = 0; at < 8 * 256; ++at) REQUIRE(data.out<std::int8_t>()[a * 8 * 256 + at] == in[a * plane + at]);
        }
        return code;
    };
    int const wrong_stride = TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_STRIDE, 0);
    CHECK(code_at(256, 16, 8 * 256) == 0);
    CHECK(code_at(256, 16, 9 * 256) == 0);
    CHECK(code_at(256, 16, 8 * 256 + 64) == wrong_stride);  // no whole blocks
    CHECK(code_at(512, 16, 16 * 256) == wrong_stride);      // a gap in a row of four blocks
    CHECK(code_at(512, 32, 16 * 256) == wrong_stride);
}

namespace {

/// What a device does with the arguments that it is given, and no others. 77: a call that it cannot make.
constexpr char const* sides_h = R"(#include <stdint.h>
static inline void row(const void *source, int64_t from, void *destination, int64_t to, int64_t bytes) {
    for (int64_t at = 0; at < bytes; ++at) ((char *)destination)[to + at] = ((const char *)source)[from + at];
}
static inline int to_rows_that_follow(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t source_stride) {
    for (int64_t r = 0; r < rows; ++r) row(source, r * source_stride, destination, r * bytes, bytes);
    return 0;
}
static inline int to_rows_of_64(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t source_stride) {
    if (bytes > 64) return 77;
    for (int64_t r = 0; r < rows; ++r) row(source, r * source_stride, destination, r * 64, bytes);
    return 0;
}
static inline int planes(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t source_stride, int64_t stride,
                         int64_t count, int64_t source_plane, int64_t plane) {
    if (rows > 16 || count > 4 || bytes > 48 || source_stride > 2000) return 77;
    for (int64_t p = 0; p < count; ++p) {
        for (int64_t r = 0; r < rows; ++r) row(source, p * source_plane + r * source_stride, destination, p * plane + r * stride, bytes);
    }
    return 0;
}
static inline int all_rows(const void *source, void *destination, int64_t row_bytes, int64_t bytes, int64_t stride) {
    for (int64_t r = 0; r * row_bytes < bytes; ++r) row(source, r * stride, destination, r * row_bytes, row_bytes);
    return 0;
}
)";

alignas(64) std::int8_t scratch[64 * 1024];
memory const near_by{.name = "near_by", .base = reinterpret_cast<std::uintptr_t>(scratch), .capacity = sizeof scratch, .alignment = 64};

/// Runs a plan on the device and on the emulated machine: both leave W + 1, which plain loops make.
void check_on_both(schedule const& made_by, int planes, int rows, int columns) {
    plan_value const plan = make_plan(made_by);
    INFO(to_string(plan.refusal));
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    std::vector<std::int8_t> in(static_cast<std::size_t>(planes * rows * columns));
    for (std::size_t at = 0; at < in.size(); ++at) in[at] = static_cast<std::int8_t>(at * 37 % 251 + at / 97);
    auto const dense = [&] {
        return Halide::Buffer<>(Halide::Int(8), planes > 1 ? std::vector<int>{columns, rows, planes} : std::vector<int>{columns, rows});
    };
    Halide::Buffer<> given = dense();
    std::memcpy(given.data(), in.data(), in.size());
    kernels::operand_data const data{{given}, dense()};
    auto const check = [&](c_kernel const& kernel) {
        INFO(kernel.text().source);
        Halide::Buffer<> result = data.output.copy();
        REQUIRE(kernel.run(plan, data, result, {}) == 0);
        auto const* const out = static_cast<std::int8_t const*>(result.data());
        std::size_t wrong = 0;
        for (std::size_t at = 0; at < in.size(); ++at) wrong += out[at] != static_cast<std::int8_t>(in[at] + 1);
        CHECK(wrong == 0);
    };
    check(c_kernel(made_by, plan, {"kernel", halide::binding::device, {"sides.h"}}, {sides_h}, compilers[0]));
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator on(*plan.where, none);
    check(c_kernel(made_by, plan, on, compilers[0]));
    CHECK(on.error() == "");
    CHECK(on.cycles() == predict(plan).cycles);
}

constexpr axis p{"p", 5}, r{"r", 31}, c{"c", 100}, co{"co"}, ci{"ci"}, ro{"ro"}, ri{"ri"};
constexpr auto more = O(r, c) = W(r, c) + 1;
constexpr auto more_planes = O(p, r, c) = W(p, r, c) + 1;

}  // namespace

TEST_CASE("a destination without a stride: rows that a partial tile leaves short go one by one") {
    auto const load = transfer("load", dram, near_by)
                          .dimensions(2)
                          .calls("to_rows_that_follow", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1));
    auto const chip = machine("chip", dram, near_by, load);
    check_on_both(schedule(more, chip).cache_read(W, near_by), 1, 31, 100);
    check_on_both(schedule(more, chip).split(c, co, ci, 50).reorder(co, r, ci).cache_read(W, near_by).at(co), 1, 31, 100);
    check_on_both(schedule(more, chip).split(c, co, ci, 48).reorder(co, r, ci).cache_read(W, near_by).at(co), 1, 31, 100);
    check_on_both(schedule(more, chip).split(r, ro, ri, 8).reorder(ro, ri, c).cache_read(W, near_by).at(ro), 1, 31, 100);
}
TEST_CASE("a destination whose rows are those of the memory") {
    auto const load = transfer("load", dram, near_by)
                          .dimensions(2)
                          .strides_of_destination({.exactly = 64})
                          .row_limit(64)
                          .calls("to_rows_of_64", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1));
    auto const chip = machine("chip", dram, near_by, load);
    check_on_both(schedule(more, chip).split(c, co, ci, 64).reorder(co, r, ci).cache_read(W, near_by).at(co), 1, 31, 100);
    check_on_both(schedule(more, chip).split(c, co, ci, 25).reorder(co, r, ci).cache_read(W, near_by).at(co), 1, 31, 100);
    check_on_both(schedule(more, chip).cache_read(W, near_by), 1, 31, 100);
}
TEST_CASE("limits of each dimension, short last parts, and a stride of few bits") {
    auto const load =
        transfer("load", dram, near_by)
            .dimensions(3)
            .row_limit(48)
            .extent_limit(1, 16)
            .extent_limit(2, 4)
            .strides_of_source(1, {.most = 2000})
            .calls("planes", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::source_stride(1),
                   argument::destination_stride(1), argument::extent(2), argument::source_stride(2), argument::destination_stride(2));
    auto const chip = machine("chip", dram, near_by, load);
    check_on_both(schedule(more_planes, chip).cache_read(W, near_by), 5, 31, 100);
    check_on_both(schedule(more_planes, chip).split(c, co, ci, 48).reorder(co, p, r, ci).cache_read(W, near_by).at(co), 5, 31, 100);
    check_on_both(schedule(more_planes, chip).split(r, ro, ri, 20).reorder(ro, p, ri, c).cache_read(W, near_by).at(ro), 5, 31, 100);
}
TEST_CASE("a function that works out the rows from the bytes of all") {
    auto const load =
        transfer("load", dram, near_by)
            .dimensions(3)
            .calls("all_rows", argument::source, argument::destination, argument::row_bytes, argument::bytes, argument::source_stride(1));
    auto const chip = machine("chip", dram, near_by, load);
    check_on_both(schedule(more_planes, chip).split(c, co, ci, 50).reorder(co, p, r, ci).cache_read(W, near_by).at(co), 5, 31, 100);
    check_on_both(schedule(more_planes, chip).split(c, co, ci, 48).reorder(co, p, r, ci).cache_read(W, near_by).at(co), 5, 31, 100);
}
TEST_CASE("the emulator refuses a call that the device cannot make, whatever the plan") {
    auto const load = transfer("load", dram, near_by).dimensions(2).strides_of_destination(rows_follow).extent_limit(1, 4);
    auto const chip = machine("chip", dram, near_by, load);
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator on(chip, none);
    std::int8_t from[64] = {};
    auto const code = [&](std::int64_t rows, std::int64_t source_stride, std::int64_t stride) {
        std::int64_t const shape[] = {8, 1, 1, 1, -1, -1, -1, rows, source_stride, stride};
        return on.transfer(0, from, on.base(1), shape);
    };
    CHECK(code(4, 16, 8) == 0);
    CHECK(code(1, 16, 12) == 0);
    CHECK(code(4, 16, 12) == emulation_illegal_transfer);
    CHECK(on.error() ==
          "load takes no call of this shape: dimension 1 at a stride of 12 in the destination, where there is none and 8 would follow");
    CHECK(code(5, 8, 8) == emulation_illegal_transfer);
}
