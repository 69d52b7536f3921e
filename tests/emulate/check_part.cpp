#include <tilewright/emulate/calls.hpp>
#include <tilewright/emulate/check_intrinsic.hpp>
#include <tilewright/emulate/check_transfer.hpp>

#include "catch.hpp"
#include "kernels/micro_kernel.hpp"
#include "kernels/systolic.hpp"

// C functions against what a machine declares of them. Each wrong one is found, and what is wrong is said.

using namespace tilewright;

namespace {

int right(std::int64_t rows, std::int64_t columns, std::int64_t depth, float const* a, std::int64_t a_stride, float const* b,
          std::int64_t b_stride, float* c, std::int64_t c_stride, std::int64_t adds) {
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            float sum = adds != 0 ? c[i * c_stride + j] : 0;
            for (std::int64_t l = 0; l < depth; ++l) {
                float const volatile product = a[i * a_stride + l] * b[l * b_stride + j];
                sum += product;
            }
            c[i * c_stride + j] = sum;
        }
    }
    return 0;
}
int always_adds(std::int64_t rows, std::int64_t columns, std::int64_t depth, float const* a, std::int64_t a_stride, float const* b,
                std::int64_t b_stride, float* c, std::int64_t c_stride, std::int64_t) {
    return right(rows, columns, depth, a, a_stride, b, b_stride, c, c_stride, 1);
}
int all_columns(std::int64_t rows, std::int64_t, std::int64_t depth, float const* a, std::int64_t a_stride, float const* b,
                std::int64_t b_stride, float* c, std::int64_t c_stride, std::int64_t adds) {
    return right(rows, 16, depth, a, a_stride, b, b_stride, c, c_stride, adds);
}
int dense(std::int64_t rows, std::int64_t columns, std::int64_t depth, float const* a, std::int64_t, float const* b, std::int64_t b_stride,
          float* c, std::int64_t c_stride, std::int64_t adds) {
    return right(rows, columns, depth, a, depth, b, b_stride, c, c_stride, adds);
}
int fails(std::int64_t, std::int64_t, std::int64_t, float const*, std::int64_t, float const*, std::int64_t, float*, std::int64_t,
          std::int64_t) {
    return 5;
}

// The accelerator of rows, as a simulator of it might be written.
std::int8_t spad_rows[4096][16];
std::int32_t sum_rows[1024][16];
std::int64_t factor, factor_stride, sums_at, sums_stride, load_stride;
bool accumulates;
int preload(std::int64_t b, std::int64_t b_stride, std::int64_t c, std::int64_t c_stride) {
    factor = b, factor_stride = b_stride, sums_stride = c_stride;
    accumulates = (c & systolic::adds) != 0;
    sums_at = c & ~(systolic::adds | systolic::is_sum);
    return (c & systolic::is_sum) != 0 ? 0 : 9;
}
int compute(std::int64_t a, std::int64_t a_stride) {
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) {
            std::int32_t sum = accumulates ? sum_rows[sums_at + i * sums_stride][j] : 0;
            for (int l = 0; l < 16; ++l) sum += spad_rows[a + i * a_stride][l] * spad_rows[factor + l * factor_stride][j];
            sum_rows[sums_at + i * sums_stride][j] = sum;
        }
    }
    return 0;
}
int compute_of_old_rows(std::int64_t a, std::int64_t) { return compute(a, 1); }
int set_stride(std::int64_t stride) {
    load_stride = stride;
    return 0;
}
int keep_stride(std::int64_t) { return 0; }
int load(void const* source, std::int64_t destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t stride) {
    for (std::int64_t row = 0; row < rows; ++row)
        std::memcpy(spad_rows[destination + row * stride], static_cast<char const*>(source) + row * load_stride,
                    static_cast<std::size_t>(row_bytes));
    return 0;
}
int load_whole_rows(void const* source, std::int64_t destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t stride) {
    return load(source, destination, (row_bytes + 15) / 16 * 16, rows, stride);
}

// A unit that overwrites rows of its sums.
constexpr memory plain{.name = "plain", .base = 0x1000, .capacity = 4_KiB};
constexpr axis row{"row", 3}, column{"column", 5};
constexpr tensor<std::int32_t> x{"x"}, y{"y"}, z{"z"};
constexpr auto add_row = intrinsic("add_row", y(row, column) = x(row, column) + z(column))
                             .reads(x, plain)
                             .reads(z, plain)
                             .writes(y, plain)
                             .in_place(x)
                             .stride_multiple(x, 4)
                             .stride_at_most(x, 8);
constexpr auto unit = machine("unit", plain, add_row);
bool strides_fit;
int add_in_place(std::int32_t const* b, std::int32_t* a, std::int64_t a_stride) {
    strides_fit = strides_fit && a_stride == 8;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) a[i * a_stride + j] += b[j];
    return 0;
}
int add_one_too_many(std::int32_t const* b, std::int32_t* a, std::int64_t a_stride) {
    add_in_place(b, a, a_stride);
    a[2 * a_stride + 5] += 1;
    return 0;
}
int add_dense(std::int32_t const* b, std::int32_t* a, std::int64_t) { return add_in_place(b, a, 5); }

// A unit of a fixed tile: its function is told how far rows of `wide` lie apart, and nothing of those of `square`.
constexpr tensor<std::int32_t> square{"square"}, wide{"wide"};
constexpr auto copy_tile = intrinsic("copy_tile", wide(row, column) = square(row, column))
                               .reads(square, plain)
                               .writes(wide, plain)
                               .calls("copy_tile", argument::address(square), argument::address(wide), argument::stride(wide, 0));
constexpr auto fixed_unit = machine("fixed_unit", plain, copy_tile);
int copy_fixed_tile(std::int32_t const* from, std::int32_t* to, std::int64_t to_stride) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) to[i * to_stride + j] = from[i * 5 + j];
    return 0;
}
int copy_dense_tile(std::int32_t const* from, std::int32_t* to, std::int64_t) { return copy_fixed_tile(from, to, 5); }

// A transfer whose function counts elements of a size.
constexpr memory other{.name = "other", .base = 0x8000, .capacity = 4_KiB};
constexpr auto count_moved =
    transfer("count_moved", plain, other)
        .calls("count_moved", argument::source, argument::destination, argument::extent(0), argument::element_bytes);
constexpr auto counting = machine("counting", plain, other, count_moved);
int move_elements(void const* from, void* to, std::int64_t elements, std::int64_t size) {
    std::memcpy(to, from, static_cast<std::size_t>(elements * size));
    return 0;
}
int move_halves(void const* from, void* to, std::int64_t elements, std::int64_t) { return move_elements(from, to, elements, 2); }

template <class... Functions>
std::string micro(intrinsic const& which, Functions... functions) {
    return check_intrinsic<micro_kernel::cpu>(which, c_functions(functions...));
}
template <class... Functions>
c_functions rows(Functions... functions) {
    return c_functions(functions...)
        .memory_at(systolic::spad, spad_rows, sizeof spad_rows)
        .memory_at(systolic::sums, sum_rows, sizeof sum_rows);
}
bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a C function that is given one address for what it reads and what it overwrites") {
    strides_fit = true;
    CHECK(check_intrinsic<unit>(add_row, c_functions(&add_in_place)) == "");
    CHECK(strides_fit);
    CHECK(contains(check_intrinsic<unit>(add_row, c_functions(&add_dense)), "of y is overwritten, where no element of it lies"));
    CHECK(contains(check_intrinsic<unit>(add_row, c_functions(&add_one_too_many)), "add_row: "));
}
TEST_CASE("a C function that does what its intrinsic declares, in both forms") {
    CHECK(micro(micro_kernel::first_product, &right) == "");
    CHECK(micro(micro_kernel::next_product, &right) == "");
}
TEST_CASE("a C function that is not told a stride is called with rows that follow each other") {
    CHECK(check_intrinsic<fixed_unit>(copy_tile, c_functions(&copy_fixed_tile)) == "");
    CHECK(contains(check_intrinsic<fixed_unit>(copy_tile, c_functions(&copy_dense_tile)), "wide"));
}
TEST_CASE("C functions that do not are found out") {
    CHECK(micro(micro_kernel::next_product, &always_adds) == "");
    CHECK(contains(micro(micro_kernel::first_product, &always_adds), "first_product: c[0, 0] is "));
    CHECK(contains(micro(micro_kernel::first_product, &all_columns), "of c is overwritten, where no element of it lies"));
    CHECK(contains(micro(micro_kernel::first_product, &dense), " and should be "));
    CHECK(contains(micro(micro_kernel::first_product, &fails), "sgemm_6x16 returned 5"));
    CHECK_THROWS_AS(micro(micro_kernel::first_product, &preload), std::invalid_argument);
}
TEST_CASE("steps of two calls, on numbers of rows") {
    CHECK(check_intrinsic<systolic::npu>(systolic::multiply, rows(&preload, &compute)) == "");
    CHECK(check_intrinsic<systolic::npu>(systolic::multiply_add, rows(&preload, &compute)) == "");
    CHECK(contains(check_intrinsic<systolic::npu>(systolic::multiply, rows(&preload, &compute_of_old_rows)), "stride 0 of a"));
    CHECK_THROWS_AS(check_intrinsic<systolic::npu>(systolic::multiply, rows(&preload)), std::invalid_argument);
    CHECK_THROWS_AS(check_intrinsic<systolic::npu>(systolic::multiply, c_functions(&preload, &compute)), std::invalid_argument);
}
TEST_CASE("a transfer that is told elements and their size") {
    CHECK(check_transfer<counting>(count_moved, c_functions(&move_elements)) == "");
    CHECK(check_transfer<counting>(count_moved, c_functions(&move_halves)) != "");
}
TEST_CASE("transfers, and what configures them") {
    CHECK(check_transfer<systolic::npu>(systolic::mvin, rows(&load).sets(systolic::config_ld, &set_stride)) == "");
    CHECK(contains(check_transfer<systolic::npu>(systolic::mvin, rows(&load_whole_rows).sets(systolic::config_ld, &set_stride)),
                   "is overwritten, where no row lies"));
    load_stride = 3;
    CHECK(contains(check_transfer<systolic::npu>(systolic::mvin, rows(&load).sets(systolic::config_ld, &keep_stride)),
                   "is not what it should be"));
    CHECK_THROWS_AS(check_transfer<systolic::npu>(systolic::mvin, rows(&load)), std::invalid_argument);
}

namespace {

// A load that writes borders of its rows and around them, of bytes.
template <int Wrong>
int load_with_border(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                     std::int64_t stride, std::int64_t before, std::int64_t after, std::int64_t above, std::int64_t below,
                     std::int64_t value) {
    for (std::int64_t row = 0; row < rows; ++row) {
        auto* const into = static_cast<unsigned char*>(destination) + row * stride;
        bool const outside = row < above || row >= rows - below;
        for (std::int64_t at = 0; at < row_bytes; ++at) {
            bool const border = outside || at < before || at >= row_bytes - (Wrong == 1 ? 0 : after);
            auto const* const from = static_cast<unsigned char const*>(source) + (row - (Wrong == 2 ? 0 : above)) * source_stride;
            into[at] = border ? static_cast<unsigned char>(Wrong == 3 ? 0 : value) : from[at - before];
        }
    }
    return 0;
}
constexpr memory far_off{.name = "far_off"}, near_by{.name = "near_by", .base = 0x1000, .capacity = 64_KiB};
constexpr auto bordered = transfer("bordered", far_off, near_by).dimensions(2).fills_border().pad_limit(3);
constexpr auto of_borders = machine("of_borders", far_off, near_by, bordered);

}  // namespace

TEST_CASE("transfers that write borders are told them, and write what they are told") {
    auto const found = [](auto* function) { return check_transfer<of_borders>(bordered, c_functions(function), 200); };
    CHECK(found(&load_with_border<0>) == "");
    CHECK(contains(found(&load_with_border<1>), "is not what it should be"));
    CHECK(contains(found(&load_with_border<2>), "is not what it should be"));
    CHECK(contains(found(&load_with_border<3>), "is not what it should be"));
    CHECK(contains(found(&load_with_border<3>), "a border of "));
}
TEST_CASE("the emulator writes the border that a call is told, and refuses one that its transfer does not take") {
    emulator on(of_borders, semantics_of<of_borders>);
    std::uint8_t const source[] = {1, 2, 0, 0, 3, 4, 0, 0};
    auto* const to = reinterpret_cast<std::uint8_t*>(on.base(near_by, 0));
    // Rows of 4 bytes, of which 2 are read, 3 rows at strides of 4; 7 around.
    auto const call = [&](std::int64_t before, std::int64_t after, std::int64_t above, std::int64_t below) {
        std::int64_t shape[] = {4, 1, 1, 1, -1, -1, -1, 3, 4, 4, 7, before, after, above, below};
        on.reset();
        return tilewright_emulate_transfer(&on, 0, const_cast<std::uint8_t*>(source), to, shape);
    };
    CHECK(call(1, 1, 1, 0) == 0);
    std::uint8_t const wanted[] = {7, 7, 7, 7, 7, 1, 2, 7, 7, 3, 4, 7};
    CHECK(std::equal(std::begin(wanted), std::end(wanted), to));
    CHECK(on.counted(bordered).bytes == 12);
    CHECK(call(0, 2, 0, 1) == 0);
    CHECK(call(2, 2, 0, 1) == emulation_illegal_transfer);
    CHECK(contains(on.error(), "nothing but border in dimension 0"));
    CHECK(call(0, 0, 3, 0) == emulation_illegal_transfer);
    CHECK(contains(on.error(), "nothing but border in dimension 1"));
    CHECK(call(4, -4, 0, 0) == emulation_illegal_transfer);
    CHECK(contains(on.error(), "a border of 4 in dimension 0, more than 3"));
    CHECK(call(0, -1, 0, 0) == emulation_illegal_transfer);
    CHECK(contains(on.error(), "a border of -1 in dimension 0, less than none"));
}
