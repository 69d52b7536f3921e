#include <cstdint>
#include <functional>
#include <vector>

#include "catch.hpp"
#include "strict_add.h"

// Every code that an entry returns, reached from arguments that are wrong in one place; the output stays as it was.

namespace {

/// Arguments of strict_add that are right: b and sum padded by a column where that is allowed.
struct arguments {
    alignas(64) std::int16_t a_data[8 * 40] = {};
    alignas(64) std::int16_t b_data[8 * 32] = {};
    alignas(64) std::int16_t sum_data[8 * 40] = {};
    halide_dimension_t a_dim[3] = {{0, 32, 1, 0}, {0, 8, 40, 0}, {0, 1, 320, 0}}, b_dim[2] = {{0, 32, 1, 0}, {0, 8, 32, 0}},
                       sum_dim[2] = {{0, 32, 1, 0}, {0, 8, 33, 0}};
    halide_buffer_t a = {}, b = {}, sum = {};

    arguments() {
        for (auto [whole, data, dim] : {std::tuple{&a, a_data, a_dim}, {&b, b_data, b_dim}, {&sum, sum_data, sum_dim}}) {
            whole->host = reinterpret_cast<std::uint8_t*>(data);
            whole->type = halide_type_t(halide_type_int, 16);
            whole->dimensions = 2;
            whole->dim = dim;
        }
        for (int at = 0; at < 8 * 40; ++at) a_data[at] = static_cast<std::int16_t>(at);
        for (int at = 0; at < 8 * 32; ++at) b_data[at] = static_cast<std::int16_t>(1000 + at);
        for (std::int16_t& element : sum_data) element = -7;
    }
};

/// The code after `spoil`; checks that a refused call left the output alone.
int code_after(std::function<void(arguments&)> const& spoil) {
    arguments given;
    spoil(given);
    int const code = strict_add(&given.a, &given.b, 5, &given.sum);
    if (code != 0) {
        for (std::int16_t element : given.sum_data) CHECK(element == -7);
    }
    return code;
}
constexpr int code_of(int kind, int position) { return TILEWRIGHT_ARGUMENT_ERROR(kind, position); }

}  // namespace

TEST_CASE("right arguments run, padded rows included") {
    arguments given;
    REQUIRE(strict_add(&given.a, &given.b, 5, &given.sum) == 0);
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 32; ++column)
            CHECK(given.sum_data[row * 33 + column] == given.a_data[row * 40 + column] + given.b_data[row * 32 + column] + 5);
        if (row < 7) CHECK(given.sum_data[row * 33 + 32] == -7);
    }
}
TEST_CASE("an input may begin before what is read, and be larger") {
    arguments given;
    given.a_dim[0] = {-8, 40, 1, 0};
    REQUIRE(strict_add(&given.a, &given.b, 5, &given.sum) == 0);
    CHECK(given.sum_data[0] == given.a_data[8] + given.b_data[0] + 5);
}
TEST_CASE("null buffers") {
    arguments given;
    CHECK(strict_add(nullptr, &given.b, 5, &given.sum) == -2100);
    CHECK(strict_add(&given.a, nullptr, 5, &given.sum) == -2101);
    CHECK(strict_add(&given.a, &given.b, 5, nullptr) == -2102);
    CHECK(given.sum_data[0] == -7);
    CHECK(code_after([](arguments& given_) { given_.b.dim = nullptr; }) == code_of(TILEWRIGHT_NULL_BUFFER, 1));
}
TEST_CASE("null host pointers, which Halide alone takes for a question") {
    CHECK(code_after([](arguments& given) { given.a.host = nullptr; }) == code_of(TILEWRIGHT_NULL_HOST, 0));
    CHECK(code_after([](arguments& given) { given.sum.host = nullptr; }) == code_of(TILEWRIGHT_NULL_HOST, 2));
}
TEST_CASE("data that Halide has on a device") {
    CHECK(code_after([](arguments& given) { given.a.flags = halide_buffer_flag_device_dirty; }) == code_of(TILEWRIGHT_NULL_HOST, 0));
}
TEST_CASE("wrong types") {
    CHECK(code_after([](arguments& given) { given.a.type = halide_type_t(halide_type_uint, 16); }) == code_of(TILEWRIGHT_WRONG_TYPE, 0));
    CHECK(code_after([](arguments& given) { given.b.type = halide_type_t(halide_type_int, 32); }) == code_of(TILEWRIGHT_WRONG_TYPE, 1));
}
TEST_CASE("wrong ranks") {
    CHECK(code_after([](arguments& given) { given.a.dimensions = 3; }) == code_of(TILEWRIGHT_WRONG_RANK, 0));
    CHECK(code_after([](arguments& given) { given.sum.dimensions = 1; }) == code_of(TILEWRIGHT_WRONG_RANK, 2));
}
TEST_CASE("wrong extents") {
    CHECK(code_after([](arguments& given) { given.a_dim[0].extent = 31; }) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    CHECK(code_after([](arguments& given) { given.b_dim[1].min = 1; }) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(code_after([](arguments& given) { given.a_dim[1] = {0, 1 << 26, 40, 0}; }) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    // An output is written as a whole: a larger one is wrong, too.
    CHECK(code_after([](arguments& given) { given.sum_dim[0].extent = 33; }) == code_of(TILEWRIGHT_WRONG_EXTENT, 2));
}
TEST_CASE("wrong strides") {
    // not contiguous
    CHECK(code_after([](arguments& given) { given.a_dim[0].stride = 2; }) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));
    // rows that overlap
    CHECK(code_after([](arguments& given) { given.sum_dim[1].stride = 31; }) == code_of(TILEWRIGHT_WRONG_STRIDE, 2));
    // rows of 66 bytes for a transfer whose addresses are multiples of 16
    CHECK(code_after([](arguments& given) { given.a_dim[1].stride = 33; }) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));
    // gaps between rows that one contiguous transfer moves
    CHECK(code_after([](arguments& given) { given.b_dim[1].stride = 33; }) == code_of(TILEWRIGHT_WRONG_STRIDE, 1));
}
TEST_CASE("misalignment") {
    CHECK(code_after([](arguments& given) { given.a.host += 2; }) == code_of(TILEWRIGHT_MISALIGNED, 0));
    CHECK(code_after([](arguments& given) { given.b.host += 1; }) == code_of(TILEWRIGHT_MISALIGNED, 1));
}
TEST_CASE("an output that overlaps an input") {
    CHECK(code_after([](arguments& given) { given.b.host = given.sum.host; }) == code_of(TILEWRIGHT_OVERLAP, 1));
    CHECK(code_after([](arguments& given) { given.a.host = given.sum.host - 16; }) == code_of(TILEWRIGHT_OVERLAP, 0));
}

// An input that may be the result, which no kernel here has: rows of 8 halfwords.
namespace {

struct in_place {
    std::int16_t data[4 * 16] = {};
    halide_dimension_t in_dim[2] = {{0, 8, 1, 0}, {0, 3, 16, 0}}, out_dim[2] = {{0, 8, 1, 0}, {0, 3, 16, 0}};
    halide_buffer_t in = {}, out = {};

    in_place() {
        for (auto [whole, dim] : {std::pair{&in, in_dim}, {&out, out_dim}}) {
            whole->host = reinterpret_cast<std::uint8_t*>(data);
            whole->type = halide_type_t(halide_type_int, 16);
            whole->dimensions = 2;
            whole->dim = dim;
        }
    }
    int code(bool may_be_result) const {
        tilewright_argument want[2] = {};
        for (tilewright_argument& one : want) {
            one.type_code = halide_type_int, one.type_bits = 16, one.rank = 2;
            one.extent[0] = 3, one.extent[1] = 8;
            one.dense_from = 1, one.alignment = 2;
        }
        want[0].may_be_result = may_be_result, want[1].written = 1, want[1].exact = 3;
        halide_buffer_t* const have[2] = {const_cast<halide_buffer_t*>(&in), const_cast<halide_buffer_t*>(&out)};
        return tilewright_check_arguments(want, 2, have);
    }
};

}  // namespace

TEST_CASE("an input that may be the result is the very same elements") {
    in_place given;
    CHECK(given.code(true) == 0);
    CHECK(given.code(false) == code_of(TILEWRIGHT_OVERLAP, 0));
    given.in.host += 2;
    CHECK(given.code(true) == code_of(TILEWRIGHT_OVERLAP, 0));
    given.in.host -= 2;
    given.in_dim[1].stride = 8;
    CHECK(given.code(true) == code_of(TILEWRIGHT_OVERLAP, 0));
    given.in_dim[1] = {0, 4, 16, 0};  // a row more, which nobody reads
    CHECK(given.code(true) == 0);
    given.in_dim[1] = {-1, 4, 16, 0};  // its first row is another one
    CHECK(given.code(true) == code_of(TILEWRIGHT_OVERLAP, 0));
}
TEST_CASE("what the stride of a dimension is a multiple of is said for each dimension") {
    // Planes of 6 rows of 8 bytes; only planes must lie a multiple of 16 apart.
    std::int8_t data[512] = {};
    halide_dimension_t dim[3] = {{0, 8, 1, 0}, {0, 6, 8, 0}, {0, 2, 48, 0}};
    halide_buffer_t given = {};
    given.host = reinterpret_cast<std::uint8_t*>(data), given.type = halide_type_t(halide_type_int, 8);
    given.dimensions = 3, given.dim = dim;
    tilewright_argument const want = {halide_type_int, 8, 3, 0, {}, {2, 6, 8}, 2, {16}, {96}, 1, 0, 0};
    halide_buffer_t* const have[] = {&given};
    CHECK(tilewright_check_arguments(&want, 1, have) == 0);
    dim[2].stride = 72;
    CHECK(tilewright_check_arguments(&want, 1, have) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));
    dim[2].stride = 112;  // at most 96
    CHECK(tilewright_check_arguments(&want, 1, have) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));
    dim[2].stride = 64, dim[1].stride = 9;
    CHECK(tilewright_check_arguments(&want, 1, have) == 0);
}
TEST_CASE("what lies in the gaps of a result shares bytes with it") {
    in_place given;
    given.in.host += 16;
    CHECK(given.code(true) == code_of(TILEWRIGHT_OVERLAP, 0));
    given.in.host += 2 * (2 * 16 + 8 - 8);  // behind its last element
    CHECK(given.code(true) == 0);
}
