#include <array>
#include <tilewright/c_source/binding_files.hpp>
#include <tilewright/runtime/call.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "catch.hpp"

// Where pointers that `call` is given point, by functions that are written as the generated ones are called.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, l1{.name = "l1", .capacity = 1_KiB};
constexpr auto fetch = transfer("fetch", dram, l1).on(core{.name = "cpu"});
constexpr auto host = machine("host", dram);
constexpr auto with_l1 = machine("with_l1", dram, l1, core{.name = "cpu"}, fetch);
constexpr axis m{"m", 16}, i{"i", 3}, j{"j", 4}, open{"open", dynamic};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};

constexpr auto smooth = out(m) = in(m - 1) + in(m + 1);
constexpr auto smooth_on_host = schedule(smooth, host);
constexpr auto later = out(m) = in(m + 2) + 1;
constexpr auto later_on_host = schedule(later, host);
constexpr auto around = out(i, j) = in(i - 1, j + 2) + in(i + 1, j + 4);
constexpr auto around_on_host = schedule(around, host);
constexpr auto same = out(m) = in(m);
constexpr auto same_on_host = schedule(same, host);
constexpr auto staged = schedule(same, with_l1).cache_read(in, l1);
/// Machines whose transfers differ in what they take.
constexpr auto aligned_by(int bytes) { return machine("aligned", dram, l1, transfer("fetch", dram, l1).alignment(bytes)); }
constexpr auto by_32 = aligned_by(32), by_256 = aligned_by(256);
constexpr auto staged_by_32 = schedule(same, by_32).cache_read(in, l1), staged_by_256 = schedule(same, by_256).cache_read(in, l1);
constexpr tensor<std::int32_t> number{"number"};
constexpr auto spread = out(m) = number();
constexpr auto spread_on_host = schedule(spread, host);
constexpr auto open_smooth = out(open) = in(open - 1) + in(open + 1);
constexpr auto open_on_host = schedule(open_smooth, host);

/// What a function sees of an argument: an element by its index, as Halide's code finds it.
std::int32_t at(halide_buffer_t const* b, int first, int second = 0) {
    int const index[] = {first, second};
    std::int64_t offset = 0;
    for (int d = 0; d < b->dimensions; ++d) offset += std::int64_t{index[b->dimensions - 1 - d] - b->dim[d].min} * b->dim[d].stride;
    return reinterpret_cast<std::int32_t const*>(b->host)[offset];
}
std::vector<std::int32_t> counted(int count) {
    std::vector<std::int32_t> made(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) made[n] = 100 + n;
    return made;
}
std::int32_t seen[3];
void* pool_seen = nullptr;

int look_at_ends(halide_buffer_t* a, halide_buffer_t* d) {
    int const low = a->dim[0].min, high = low + a->dim[0].extent - 1;
    seen[0] = at(a, low), seen[1] = at(a, high), seen[2] = at(a, 2);
    CHECK(at(d, 0) == 7);
    return 5;
}
int look_at_corners(halide_buffer_t* a, halide_buffer_t*) {
    seen[0] = at(a, -1, 2), seen[1] = at(a, 3, 7), seen[2] = at(a, 0, 3);
    return 0;
}
/// A view as std::mdspan is one, whose rows may be further apart than they are long.
template <class Element>
struct grid {
    Element* first;
    int rows, columns;
    std::int64_t row;

    grid(Element* begin, int height, int width, std::int64_t next) : first(begin), rows(height), columns(width), row(next) {}
    grid(Element* begin, int height, int width) : grid(begin, height, width, width) {}
    static constexpr std::size_t rank() { return 2; }
    Element* data_handle() const { return first; }
    int extent(std::size_t dimension) const { return dimension == 0 ? rows : columns; }
    std::int64_t stride(std::size_t dimension) const { return dimension == 0 ? row : 1; }
};
constexpr int code_of(int kind, int position) { return TILEWRIGHT_ARGUMENT_ERROR(kind, position); }
void check_refused(call_result const& given, int code, std::string const& message) {
    CHECK(given.code == code);
    CHECK(given.message == message);
}
int calls = 0;
int count_calls(halide_buffer_t*, halide_buffer_t*) { return ++calls; }

int take_pool(halide_buffer_t*, void* pool, halide_buffer_t*) {
    pool_seen = pool;
    return 0;
}

}  // namespace

TEST_CASE("a tensor that is not used from element 0 on: the pointer comes with the element that it is to") {
    std::vector<std::int32_t> const a = counted(18);
    std::vector<std::int32_t> d(16, 7);
    for (int element = -1; element <= 16; ++element) {
        INFO(element);
        CHECK(call<smooth_on_host>(look_at_ends, points_to(a.data() + 1 + element, element), d.data()) == 5);
        CHECK(seen[0] == 100);
        CHECK(seen[1] == 117);
        CHECK(seen[2] == 103);
    }
    // From in[2] on.
    CHECK(call<later_on_host>(look_at_ends, points_to(a.data() + 2, 2), d.data()) == 5);
    CHECK(seen[0] == 102);
    CHECK(seen[1] == 117);
    check_refused(call<smooth_on_host>(look_at_ends, points_to(a.data(), -2), d.data()), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[-1] to in[16], 18 elements, but the pointer is to [-2]");
    check_refused(call<later_on_host>(look_at_ends, points_to(a.data(), 0), d.data()), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[2] to in[17], 16 elements, but the pointer is to [0]");
}
TEST_CASE("of several dimensions, the rows of what is used follow each other") {
    // 5 x 6 elements, from in[-1, 2] on.
    std::vector<std::int32_t> const a = counted(30);
    std::array<std::int32_t, 12> d{};
    CHECK(call<around_on_host>(look_at_corners, points_to(a.data() + 6 + 1, 0, 3), d) == 0);
    CHECK(seen[0] == 100);
    CHECK(seen[1] == 129);
    CHECK(seen[2] == 107);
    check_refused(call<around_on_host>(look_at_corners, points_to(a.data(), 0, 1), d), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[-1, 2] to in[3, 7], 30 elements, but the pointer is to [0, 1]");
}
TEST_CASE("a range that knows its size holds exactly what the kernel uses") {
    std::vector<std::int32_t> const a = counted(18);
    std::vector<std::int32_t> d(16, 7);
    CHECK(call<smooth_on_host>(look_at_ends, a, d) == 5);
    CHECK(seen[0] == 100);
    CHECK(seen[1] == 117);
    std::vector<std::int32_t> const few = counted(16);
    check_refused(call<smooth_on_host>(look_at_ends, few, d.data()), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[-1] to in[16], 18 elements, but 16 are given");
    check_refused(call<smooth_on_host>(look_at_ends, a, std::span(d).first(15)), code_of(TILEWRIGHT_WRONG_EXTENT, 1),
                  "`out` is used from out[0] to out[15], 16 elements, but 15 are given");
    std::int32_t whole[16] = {1, 2, 3}, result[16] = {7};
    CHECK(call<same_on_host>(look_at_ends, whole, result) == 5);
    CHECK(seen[2] == 3);
    // A pointer to element 0, of what is used from there on.
    CHECK(call<same_on_host>(look_at_ends, a.data(), d.data()) == 5);
}
TEST_CASE("a view of several dimensions holds what the kernel uses, with its own strides") {
    // Rows of 6 elements, 9 apart.
    std::vector<std::int32_t> const a = counted(5 * 9);
    std::array<std::int32_t, 12> d{};
    CHECK(call<around_on_host>(look_at_corners, grid{a.data(), 5, 6, 9}, grid{d.data(), 3, 4}) == 0);
    CHECK(seen[0] == 100);
    CHECK(seen[1] == 100 + 4 * 9 + 5);
    CHECK(seen[2] == 100 + 9 + 1);
    check_refused(call<around_on_host>(look_at_corners, grid{a.data(), 6, 5}, d), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[-1, 2] to in[3, 7], 30 elements, but 6 x 5 are given");
    check_refused(call<around_on_host>(look_at_corners, points_to(a.data(), -1, 2), grid{d.data(), 3, 4, std::int64_t{1} << 31}),
                  code_of(TILEWRIGHT_WRONG_STRIDE, 1), "`out` has a stride of 2147483648 elements");
    check_refused(call<around_on_host>(look_at_corners, grid{a.data(), 5, 6, -(std::int64_t{1} << 32) + 6}, d),
                  code_of(TILEWRIGHT_WRONG_STRIDE, 0), "`in` has a stride of -4294967290 elements");
    // Rows of a result that lie on each other.
    check_refused(call<around_on_host>(look_at_corners, points_to(a.data(), -1, 2), grid{d.data(), 3, 4, 0}),
                  code_of(TILEWRIGHT_WRONG_STRIDE, 1), "`out` has a stride of 0 elements");
}
TEST_CASE("letters are numbers of the sign that they have on this processor") {
    static constexpr tensor<std::int8_t> small{"small"}, copy{"copy"};
    static constexpr tensor<std::uint8_t> natural{"natural"}, second{"second"};
    static constexpr auto copied = copy(m) = small(m);
    static constexpr auto natural_copied = second(m) = natural(m);
    static constexpr auto numbers = schedule(copied, host), naturals = schedule(natural_copied, host);
    std::array<char, 16> letters{};
    std::array<char, 16> copies{};
    int const before = calls;
    if constexpr (static_cast<char>(-1) < 0) CHECK(call<numbers>(count_calls, letters, copies) == before + 1);
    else CHECK(call<naturals>(count_calls, letters, copies) == before + 1);
}

TEST_CASE("nothing is called where an argument is refused") {
    std::vector<std::int32_t> const a = counted(30), few = counted(29);
    std::array<std::int32_t, 12> d{};
    calls = 0;
    CHECK(call<around_on_host>(count_calls, few, d) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    CHECK(call<around_on_host>(count_calls, a, std::span(d).first(11)) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(call<around_on_host>(count_calls, a, points_to(d.data(), 3, 0)) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(call<around_on_host>(count_calls, a, grid{d.data(), 4, 3}) == code_of(TILEWRIGHT_WRONG_EXTENT, 1));
    CHECK(calls == 0);
    CHECK(call<around_on_host>(count_calls, a, d) == 1);
}
TEST_CASE("a pointer that is null is not moved to the first element") {
    std::array<std::int32_t, 12> d{};
    calls = 0;
    check_refused(call<around_on_host>(count_calls, points_to(static_cast<std::int32_t*>(nullptr), 0, 3), d),
                  code_of(TILEWRIGHT_NULL_HOST, 0), "`in` is null");
    CHECK(calls == 0);
}
TEST_CASE("codes of the kernel come with words") {
    std::vector<std::int32_t> const a = counted(16);
    std::vector<std::int32_t> d(16);
    std::array<unsigned char, 64> pool{};
    static int returned = 0;
    auto const message_of = [&](int code) {
        returned = code;
        call_result const given = call<staged>(
            +[](halide_buffer_t*, void*, halide_buffer_t*) { return returned; }, a, pool, d);
        CHECK(given.code == code);
        return given.message;
    };
    CHECK(message_of(0).empty());
    CHECK(message_of(code_of(TILEWRIGHT_NULL_HOST, 0)) == "`in` is null");
    CHECK(message_of(code_of(TILEWRIGHT_NULL_HOST, 2)) == "memory `l1` is null");
    CHECK(message_of(code_of(TILEWRIGHT_MISALIGNED, 2)) == "memory `l1` is not aligned");
    CHECK(message_of(code_of(TILEWRIGHT_MISALIGNED, 1)) == "`out` is not aligned");
    CHECK(message_of(code_of(TILEWRIGHT_WRONG_STRIDE, 0)) ==
          "`in` has strides with which elements overlap, or which the kernel does not take");
    CHECK(message_of(code_of(TILEWRIGHT_OVERLAP, 0)) == "`in` shares bytes with the result");
    CHECK(message_of(code_of(TILEWRIGHT_WRONG_PROCESSOR, 0)) ==
          "this processor has the instructions of no target that the kernel was compiled for");
    CHECK(message_of(-1003) == "a device function, or the emulated machine, returned -1003");
    CHECK(message_of(7) == "a device function, or the emulated machine, returned 7");
}
TEST_CASE("where extents are left to run time, they say how much is used") {
    std::vector<std::int32_t> const a = counted(12);
    std::vector<std::int32_t> d(10, 7);
    CHECK(call<open_on_host>(look_at_ends, {{open, 10}}, a, d) == 5);
    CHECK(seen[1] == 111);
    CHECK(call<open_on_host>(look_at_ends, {{open, 10}}, points_to(&a[1], 0), d.data()) == 5);
    CHECK(seen[0] == 100);
    check_refused(call<open_on_host>(look_at_ends, {{open, 11}}, a, d.data()), code_of(TILEWRIGHT_WRONG_EXTENT, 0),
                  "`in` is used from in[-1] to in[11], 13 elements, but 12 are given");
}
TEST_CASE("extents that are left to run time are checked before anything is called") {
    std::vector<std::int32_t> const a = counted(12);
    std::vector<std::int32_t> d(10, 7);
    calls = 0;
    auto const refused = [&](std::initializer_list<axis_extent> extents, int code, char const* message) {
        check_refused(call<open_on_host>(count_calls, extents, a, d), code, message);
    };
    int const out_of_range = code_of(TILEWRIGHT_RUN_TIME_EXTENT, 1);
    refused({}, out_of_range, "extent `open` is missing, or 0; the kernel takes 1 to 1073741824");
    refused({{open, -10}}, out_of_range, "extent `open` is -10; the kernel takes 1 to 1073741824");
    refused({{open, (std::int64_t{1} << 32) + 10}}, out_of_range, "extent `open` is 4294967306; the kernel takes 1 to 1073741824");
    refused({{open, 10}, {m, 10}}, code_of(TILEWRIGHT_UNKNOWN_EXTENT, 0), "the kernel leaves no extent `m` to run time");
    CHECK(calls == 0);
    CHECK(call<open_on_host>(count_calls, {{open, 10}}, a, d) == 1);
}
TEST_CASE("memories of a kernel that are given as ranges have the bytes that it needs") {
    std::vector<std::int32_t> const a = counted(16);
    std::vector<std::int32_t> d(16);
    std::array<unsigned char, 64> pool{};
    REQUIRE(plan<staged>.peak(l1) == 64);
    CHECK(call<staged>(take_pool, a, pool, d) == 0);
    CHECK(pool_seen == pool.data());
    CHECK(call<staged>(take_pool, a.data(), pool.data(), d.data()) == 0);
    check_refused(call<staged>(take_pool, a, std::span(pool).first(63), d), code_of(TILEWRIGHT_WRONG_EXTENT, 2),
                  "memory `l1` has only 63 of 64 bytes");
}
TEST_CASE("a kernel of several schedules says what all of them need of an argument") {
    std::vector<std::int32_t> const a = counted(16);
    std::vector<std::int32_t> d(16);
    std::array<unsigned char, 1024> pool{};
    auto* const misaligned = +[](halide_buffer_t*, void*, halide_buffer_t*) -> int { return code_of(TILEWRIGHT_MISALIGNED, 0); };
    CHECK(call<staged_by_32>(misaligned, a, pool, d).message == "`in` is not aligned; the kernel needs: at a multiple of 32 bytes");
    CHECK(call<staged_by_32, staged_by_256>(misaligned, a, pool, d).message ==
          "`in` is not aligned; the kernel needs: at a multiple of 32 bytes; and so: at a multiple of 256 bytes");
}
TEST_CASE("codes that no entry returns are those of a device function") {
    static int returned = 0;
    std::vector<std::int32_t> const a = counted(16);
    std::vector<std::int32_t> d(16);
    for (int code :
         {-1, 7, -2000, code_of(TILEWRIGHT_NULL_HOST, 99), code_of(TILEWRIGHT_UNKNOWN_EXTENT, 50), -4000, INT32_MIN, INT32_MAX}) {
        returned = code;
        CHECK(call<same_on_host>(
                  +[](halide_buffer_t*, halide_buffer_t*) { return returned; }, a, d)
                  .message == "a device function, or the emulated machine, returned " + std::to_string(code));
    }
}
TEST_CASE("a tensor of one element is called that") {
    std::vector<std::int32_t> const none;
    std::vector<std::int32_t> d(16);
    check_refused(call<spread_on_host>(
                      +[](halide_buffer_t*, halide_buffer_t*) { return 0; }, none, d),
                  code_of(TILEWRIGHT_WRONG_EXTENT, 0), "`number` is one element, but 0 are given");
}
TEST_CASE("the header of an object says of each tensor how much is used, and from which element on") {
    auto const text_of = [](schedule const& s, plan_value const& planned, char const* name, halide::binding to) {
        halide::tool_kernel const subject{name, s, planned, to, name};
        return halide::detail::header_text(halide::detail::variants_of({&subject, 1}, {}, to == halide::binding::device));
    };
    using enum halide::binding;
    std::string const one = text_of(smooth_on_host, plan<smooth_on_host>, "smooth", device);
    CHECK(one.find(" *   in: int32_t, 18 elements from in[-1] on\n *   out: int32_t, 16 elements from out[0] on, written\n") !=
          std::string::npos);
    std::string const open_text = text_of(open_on_host, plan<open_on_host>, "smooth", device);
    CHECK(open_text.find(" *   in: int32_t, as many elements as the extents make from in[-1] on\n") != std::string::npos);
    std::string const two = text_of(around_on_host, plan<around_on_host>, "around", emulated);
    CHECK(two.find(" *   in: int32_t, 5 x 6 elements from in[-1, 2] on\n") != std::string::npos);
}
