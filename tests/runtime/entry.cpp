#include <tilewright/runtime/entry.h>

#include <array>
#include <vector>

#include "catch.hpp"

// The checks of a kernel's arguments, on descriptions written by hand: which codes they give, and what they take.
namespace {

constexpr int rows = 3, columns = 8;

/// a[3][8] of int16 elements, `gap` of them between its rows.
struct matrix {
    std::vector<std::int16_t> elements;
    std::array<halide_dimension_t, 2> dimensions;
    halide_buffer_t whole{};

    explicit matrix(int gap = 0) : elements(static_cast<std::size_t>(rows * (columns + gap) + 64)) {
        dimensions = {halide_dimension_t(0, columns, 1), halide_dimension_t(0, rows, columns + gap)};
        // Rounded up to 64 bytes.
        auto const first = (reinterpret_cast<std::uintptr_t>(elements.data()) + 63) / 64 * 64;
        whole.host = reinterpret_cast<std::uint8_t*>(first);
        whole.type = halide_type_of<std::int16_t>();
        whole.dimensions = 2;
        whole.dim = dimensions.data();
    }
    matrix(matrix const&) = delete;
};

tilewright_argument wanted() {
    tilewright_argument want{};
    want.type_code = halide_type_int;
    want.type_bits = 16;
    want.rank = 2;
    want.extent[0] = rows;
    want.extent[1] = columns;
    want.dense_from = 2;
    want.alignment = 2;
    return want;
}

int code_of(tilewright_argument const& want, matrix const& have) { return tilewright_check_argument(&want, 4, &have.whole); }
int error(int kind) { return TILEWRIGHT_ARGUMENT_ERROR(kind, 4); }

}  // namespace

TEST_CASE("an argument as it is wanted is taken") {
    matrix dense, padded(3);
    CHECK(code_of(wanted(), dense) == 0);
    CHECK(code_of(wanted(), padded) == 0);
}
TEST_CASE("what is missing is said") {
    CHECK(error(TILEWRIGHT_NULL_BUFFER) == -2104);
    tilewright_argument const want = wanted();
    CHECK(tilewright_check_argument(&want, 4, nullptr) == error(TILEWRIGHT_NULL_BUFFER));
    matrix a;
    a.whole.dim = nullptr;
    CHECK(code_of(want, a) == error(TILEWRIGHT_NULL_BUFFER));
    matrix b;
    b.whole.host = nullptr;
    CHECK(code_of(want, b) == error(TILEWRIGHT_NULL_HOST));
    matrix c;
    c.whole.flags = halide_buffer_flag_device_dirty;
    CHECK(code_of(want, c) == error(TILEWRIGHT_NULL_HOST));
}
TEST_CASE("an argument of another type or rank is refused") {
    matrix a;
    for (halide_type_t const type : {halide_type_of<std::uint16_t>(), halide_type_of<std::int8_t>(), halide_type_of<std::int32_t>()}) {
        a.whole.type = type;
        CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_TYPE));
    }
    a.whole.type = halide_type_of<std::int16_t>();
    a.whole.dimensions = 1;
    CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_RANK));
}
TEST_CASE("an input holds at least the region that is read") {
    matrix a;
    tilewright_argument want = wanted();
    for (int d : {0, 1}) {
        want = wanted();
        ++want.extent[d];
        CHECK(code_of(want, a) == error(TILEWRIGHT_WRONG_EXTENT));
        want = wanted();
        --want.extent[d];
        CHECK(code_of(want, a) == 0);
        want.minimum[d] = 1;
        CHECK(code_of(want, a) == 0);
        want.minimum[d] = -1;
        CHECK(code_of(want, a) == error(TILEWRIGHT_WRONG_EXTENT));
    }
}
TEST_CASE("an output, and a dimension that must be exact, is the region itself") {
    matrix a;
    for (int d : {0, 1}) {
        tilewright_argument want = wanted();
        --want.extent[d];
        want.exact = 1 << d;
        CHECK(code_of(want, a) == error(TILEWRIGHT_WRONG_EXTENT));
        want.exact = 1 << (1 - d);
        CHECK(code_of(want, a) == 0);
        want.written = 1;
        CHECK(code_of(want, a) == error(TILEWRIGHT_WRONG_EXTENT));
    }
}
TEST_CASE("rows do not overlap, and their elements follow each other") {
    matrix a;
    a.dimensions[1].stride = columns - 1;
    CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_STRIDE));
    a.dimensions[1].stride = -columns;
    CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_STRIDE));
    a.dimensions = {halide_dimension_t(0, columns, 2), halide_dimension_t(0, rows, 2 * columns)};
    CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_STRIDE));
}
TEST_CASE("rows that a transfer joined have no gaps between them") {
    matrix dense, padded(3);
    tilewright_argument want = wanted();
    want.dense_from = 0;
    CHECK(code_of(want, dense) == 0);
    CHECK(code_of(want, padded) == error(TILEWRIGHT_WRONG_STRIDE));
    want.dense_from = 1;
    CHECK(code_of(want, padded) == 0);
}
TEST_CASE("strides are the multiples that a transfer needs") {
    matrix dense, padded(3);
    tilewright_argument want = wanted();
    want.stride_multiple[0] = 8;
    CHECK(code_of(want, dense) == 0);
    CHECK(code_of(want, padded) == error(TILEWRIGHT_WRONG_STRIDE));
    want.stride_multiple[0] = 11;
    CHECK(code_of(want, padded) == 0);
    // Each dimension by itself.
    want.stride_multiple[0] = 0;
    want.stride_multiple[1] = 8;
    CHECK(code_of(want, dense) == error(TILEWRIGHT_WRONG_STRIDE));
}
TEST_CASE("there are no more elements than can be counted") {
    matrix a;
    a.dimensions[1].stride = 0x3000'0000;
    CHECK(code_of(wanted(), a) == error(TILEWRIGHT_WRONG_EXTENT));
}
TEST_CASE("the first element that is used is aligned, not the first that is there") {
    matrix a;
    tilewright_argument want = wanted();
    want.alignment = 64;
    CHECK(code_of(want, a) == 0);
    want.minimum[1] = 1;
    want.extent[1] = columns - 1;
    CHECK(code_of(want, a) == error(TILEWRIGHT_MISALIGNED));
    want.alignment = 2;
    CHECK(code_of(want, a) == 0);
    // One row of 16 bytes further on, it is at a multiple of 16, and not of 32.
    want = wanted();
    want.minimum[0] = 1;
    want.extent[0] = rows - 1;
    want.alignment = 16;
    CHECK(code_of(want, a) == 0);
    want.alignment = 32;
    CHECK(code_of(want, a) == error(TILEWRIGHT_MISALIGNED));
}
TEST_CASE("the result shares no bytes with an input but where it may be the very same elements") {
    matrix out, in;
    tilewright_argument wants[] = {wanted(), wanted()};
    wants[1].written = 1;
    auto const check = [&] {
        halide_buffer_t* const have[] = {&in.whole, &out.whole};
        return tilewright_check_arguments(wants, 2, have);
    };
    CHECK(check() == 0);
    for (int moved : {0, 1, -1, rows * columns - 1, 1 - rows * columns}) {
        in.whole.host = out.whole.host + 2 * moved;
        INFO("elements from the result to the input: " << moved);
        wants[0].may_be_result = 0;
        CHECK(check() == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_OVERLAP, 0));
        wants[0].may_be_result = 1;
        CHECK(check() == (moved == 0 ? 0 : TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_OVERLAP, 0)));
    }
    for (int moved : {rows * columns, -rows * columns}) {
        in.whole.host = out.whole.host + 2 * moved;
        CHECK(check() == 0);
    }
}
TEST_CASE("an extent grows with what run time says, up to what can be counted") {
    std::int32_t extent = 5;
    CHECK(tilewright_reach(&extent, 3) == 0);
    CHECK(extent == 5);
    CHECK(tilewright_reach(&extent, 9) == 0);
    CHECK(extent == 9);
    CHECK(tilewright_reach(&extent, std::int64_t{INT32_MAX} + 1) == 1);
    CHECK(extent == 9);
}
