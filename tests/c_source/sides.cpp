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
            for (int at = 0; at < 8 * 256; ++at)
                REQUIRE(data.out<std::int8_t>()[a * 8 * 256 + at] == in[static_cast<std::size_t>(a * plane + at)]);
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
