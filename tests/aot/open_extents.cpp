#include <tilewright/emulate/calls.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "catch.hpp"
#include "guarded_operands.hpp"
#include "open_matmul_aot.h"
#include "open_matmul_c.h"
#include "open_rows.hpp"
#include "open_sums_aot.h"

// One kernel compiled ahead of time, called with arguments of many shapes; what its entry says of shapes that do not agree.

using namespace open_rows;

namespace {

constexpr int code_of(int kind, int position) { return TILEWRIGHT_ARGUMENT_ERROR(kind, position); }

std::vector<std::int8_t> numbers(int count) {
    std::vector<std::int8_t> made(static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int8_t>(at * 37 % 251);
    return made;
}

/// A dense matrix as the generated function takes it.
template <class T>
struct matrix {
    std::vector<T> data;
    halide_dimension_t dim[2];
    halide_buffer_t whole{};

    matrix(int rows, int columns) : data(static_cast<std::size_t>(rows * columns)), dim{{0, columns, 1, 0}, {0, rows, columns, 0}} {
        whole.host = reinterpret_cast<std::uint8_t*>(data.data());
        whole.type = halide_type_of<T>();
        whole.dimensions = 2;
        whole.dim = dim;
    }
    matrix(matrix const&) = delete;
};

}  // namespace

TEST_CASE("a product of any extents, called with pointers") {
    for (auto const& [rows, columns, depth] : {std::array{1, 1, 1}, {8, 16, 8}, {17, 33, 9}, {5, 100, 31}, {1000, 3, 2}}) {
        auto const at = std::make_unique<plan_value>(plan<open_rows::open_matmul>.at({{m, rows}, {n, columns}, {k, depth}}));
        emulator& on = emulated<streaming>();
        for (guarded::side side : guarded::both_sides) {
            guarded_operands const given(*at, side, {}, {{m, rows}, {n, columns}, {k, depth}});
            auto const run = [&, rows = rows, columns = columns, depth = depth](auto* function) {
                return call<open_rows::open_matmul>(function, {{k, depth}, {m, rows}, {n, columns}}, given.at<std::int8_t>(0),
                                                    given.at<std::int8_t>(1), given.at<std::int32_t>(2));
            };
            on.reset();
            REQUIRE(run(open_matmul_aot) == 0);
            given.check();
            CHECK(on.cycles() == ir::predict(*at).cycles);
            CHECK(on.counted(load).bytes == at->bytes(load));
            std::fill_n(given.at<std::int32_t>(2), rows * columns, -1);
            REQUIRE(run(open_matmul_c) == 0);
            given.check();
        }
    }
}
TEST_CASE("an input that reaches further than the result, by an index that is not plain") {
    for (auto const& [rows, columns] : {std::array{1, 1}, {3, 16}, {7, 41}}) {
        matrix<std::int32_t> x(rows, 2 * columns + 1), sum(rows, columns), wider(rows, 2 * columns + 9), narrower(rows, 2 * columns);
        for (std::size_t at = 0; at < x.data.size(); ++at) x.data[at] = static_cast<std::int32_t>(at * at);
        REQUIRE(open_sums_aot(&x.whole, &sum.whole) == 0);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                std::int32_t const* const first = x.data.data() + row * (2 * columns + 1) + 2 * column;
                CHECK(sum.data[row * columns + column] == first[0] + first[1] + first[2]);
            }
        }
        CHECK(open_sums_aot(&wider.whole, &sum.whole) == 0);  // holds what is read
        CHECK(open_sums_aot(&narrower.whole, &sum.whole) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    }
}
TEST_CASE("shapes that do not agree, and extents beyond a bound") {
    auto const code_at = [](int a_rows, int a_columns, int b_rows, int b_columns, int c_rows, int c_columns) {
        matrix<std::int8_t> a(a_rows, a_columns), b(b_rows, b_columns);
        matrix<std::int32_t> c(c_rows, c_columns);
        for (std::int32_t& element : c.data) element = -7;
        int const code = open_matmul_aot(&a.whole, &b.whole, &c.whole);
        for (std::int32_t element : c.data) CHECK((code == 0 || element == -7));
        return code;
    };
    CHECK(code_at(5, 3, 3, 7, 5, 7) == 0);
    CHECK(code_at(6, 3, 3, 7, 5, 7) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    CHECK(code_at(4, 3, 3, 7, 5, 7) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    CHECK(code_at(5, 3, 4, 7, 5, 7) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(code_at(5, 4, 3, 7, 5, 7) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(code_at(5, 3, 3, 8, 5, 7) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(code_at(1001, 3, 3, 7, 1001, 7) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(code_at(0, 3, 3, 7, 0, 7) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(code_at(5, 0, 0, 7, 5, 7) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 0));
}
TEST_CASE("more steps than can be counted") {
    // Tiles along n and k that no test has the memory for: their shapes alone are refused.
    matrix<std::int8_t> a(1, 1), b(1, 1);
    matrix<std::int32_t> c(1, 1);
    a.dim[0].extent = b.dim[1].extent = 1 << 29;
    c.dim[0].extent = b.dim[0].extent = 1 << 29;
    CHECK(open_matmul_aot(&a.whole, &b.whole, &c.whole) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
}
TEST_CASE("null buffers and wrong ranks where extents are read") {
    matrix<std::int8_t> a(5, 3), b(3, 7);
    matrix<std::int32_t> c(5, 7);
    CHECK(open_matmul_aot(nullptr, &b.whole, &c.whole) == code_of(TILEWRIGHT_NULL_BUFFER, 0));
    CHECK(open_matmul_aot(&a.whole, nullptr, &c.whole) == code_of(TILEWRIGHT_NULL_BUFFER, 1));
    CHECK(open_matmul_aot(&a.whole, &b.whole, nullptr) == code_of(TILEWRIGHT_NULL_BUFFER, 2));
    c.whole.dimensions = 1;
    CHECK(open_matmul_aot(&a.whole, &b.whole, &c.whole) == code_of(TILEWRIGHT_WRONG_RANK, 2));
}
TEST_CASE("extents that a call leaves out, or names wrongly") {
    auto const a = numbers(15), b = numbers(21);
    std::vector<std::int32_t> c(35);
    call_result const missing = call<open_rows::open_matmul>(open_matmul_aot, {{m, 5}, {k, 3}}, a, b, c);
    CHECK(missing == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(missing.message == "extent `n` is missing, or 0; the kernel takes 1 to 1073741824");
    call_result const unknown = call<open_rows::open_matmul>(open_matmul_aot, {{m, 5}, {r, 3}}, a.data(), b.data(), c.data());
    CHECK(unknown == code_of(TILEWRIGHT_UNKNOWN_EXTENT, 0));
    CHECK(unknown.message == "the kernel leaves no extent `r` to run time");
    call_result const many = call<open_rows::open_matmul>(open_matmul_aot, {{m, 1001}, {n, 7}, {k, 3}}, a.data(), b.data(), c.data());
    CHECK(many == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(many.message == "extent `m` is 1001; the kernel takes 1 to 1000");
}
