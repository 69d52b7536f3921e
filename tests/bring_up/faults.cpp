#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tilewright/bring_up/self_test.hpp>
#include <tilewright/compute/functions.hpp>

#include "catch.hpp"
#include "folder.hpp"

// Which case of a self-test finds which fault of a device. The device is faulty_device.c, with one fault at a time: each shows in the named
// cases, and in no others. So each case that a self-test has is missed here, if it is no longer there.

using namespace tilewright;

namespace {

constexpr memory ddr{.name = "ddr"}, tcm{.name = "tcm", .base = 0x10000000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
constexpr axis e{"e", 1}, i{"i", 20}, j{"j", 18}, k{"k", 24}, l{"l", 40}, v{"v", 16};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"}, s32{"s32"}, x{"x"}, y{"y"}, z{"z"};
constexpr tensor<std::int16_t> d16{"d16"};
constexpr tensor<float> xf{"xf"}, yf{"yf"}, zf{"zf"};

machine faulty_machine() {
    engine const dma = engine{.name = "dma", .depth = 4, .channels = 3}.waits("dev_wait", argument::channel, argument::tag);
    auto const box = [](transfer t, char const* symbol) {
        return t.calls(symbol, argument::destination, argument::source, argument::row_bytes, argument::extent(1),
                       argument::source_stride(1), argument::destination_stride(1));
    };
    machine m("faulty_device", ddr, tcm, dma);
    m.add(transfer("fetch", ddr, tcm)
              .on(dma)
              .asynchronous()
              .dimensions(3)
              .row_limit(512)
              .extent_limit(1, 32)
              .strides_of_source({.most = 2047})
              .calls("dev_fetch", argument::channel, argument::tag, argument::destination, argument::source, argument::row_bytes,
                     argument::extent(1), argument::source_stride(1), argument::destination_stride(1), argument::extent(2),
                     argument::source_stride(2), argument::destination_stride(2)));
    m.add(box(transfer("store", tcm, ddr).dimensions(2), "dev_store"));
    m.add(transfer("bordered", ddr, tcm)
              .dimensions(2)
              .fills_border()
              .pad_limit(3)
              .calls("dev_bordered", argument::destination, argument::source, argument::row_bytes, argument::extent(1),
                     argument::source_stride(1), argument::destination_stride(1), argument::pad_before(0), argument::pad_after(0),
                     argument::pad_before(1), argument::pad_after(1), argument::pad_value));
    m.add(box(transfer("narrow", ddr, tcm, d16(e) = saturating_cast<std::int16_t>(s32(e))).dimensions(2), "dev_narrow"));
    m.add(intrinsic("multiply", c(i, j) = sum(k, cast<std::int32_t>(a(i, k)) * cast<std::int32_t>(b(k, j))))
              .reads(a, tcm)
              .reads(b, tcm)
              .writes(c, tcm)
              .up_to(i, j, k)
              .calls("dev_multiply", argument::address(a), argument::stride(a, 0), argument::address(b), argument::stride(b, 0),
                     argument::address(c), argument::stride(c, 0), argument::extent(i), argument::extent(j), argument::extent(k)));
    m.add(intrinsic("shift", z(l) = x(l) >> y(l))
              .reads(x, tcm)
              .reads(y, tcm)
              .writes(z, tcm)
              .up_to(l)
              .calls("dev_shift", argument::address(x), argument::address(y), argument::address(z), argument::extent(l)));
    m.add(intrinsic("scale", zf(v) = xf(v) * yf(v))
              .reads(xf, tcm)
              .reads(yf, tcm)
              .writes(zf, tcm)
              .calls("dev_scale", argument::address(xf), argument::address(yf), argument::address(zf)));
    return m;
}

/// As faulty_device.c has them.
enum fault {
    none,
    loses_end_of_row,
    loses_end_of_rows,
    cuts_rows,
    loses_last,
    counts_with_bits,
    sorts_dimensions,
    bends_stride,
    keeps_stride_bits,
    merges_rows,
    rounds_start,
    has_one_byte_less,
    ignores_channel,
    overwrites_job,
    returns_early,
    fills_otherwise,
    takes_value_for_0,
    wraps_some,
    wraps,
    loses_last_of_axis,
    loses_odd_ends,
    bends_operand,
    rounds_operand,
    sums_to,
    takes_ends_for_0,
    has_short_mantissa,
    shifts_short_ones,
    packs_small_ones,
};

/// Parts of the machine, as a self-test has them.
enum part { fetch, store, bordered, narrow, multiply, shift, scale };
constexpr char const* part_names[] = {"fetch", "store", "bordered", "narrow", "multiply", "shift", "scale"};

using names = std::vector<std::string>;
/// What the self-test said last: the parts, and what is special about their cases.
names said;
std::map<int, std::size_t> kinds, codes;
std::string words_said;
void tell(char const* part, char const* text, int kind, int code, char const* words) {
    std::string what = text;
    std::size_t const shape = what.rfind("; ");  // which every case has, and which stands last
    said.push_back(std::string(part) + ": " + (shape != std::string::npos ? what.substr(0, shape) : std::string()));
    ++kinds[kind], ++codes[code];
    words_said += words;
}
std::string printed;
void put(char letter) { printed += letter; }

class faulty_device {
  public:
    static faulty_device const& get() {
        static faulty_device const made;
        return made;
    }
    /// The cases of a part that fail, in the order of the self-test.
    names failing(part which, fault has, std::int64_t at, std::int64_t of) const {
        begin();
        run_with_(which, has, at, of, tell);
        return said;
    }
    /// The result on the right device.
    int by_callbacks(int reads, int writes) const {
        begin();
        return run_by_(reads, writes, tell);
    }
    std::string rows() const {
        printed.clear();
        rows_(put);
        return printed;
    }

  private:
    using teller = void (*)(char const*, char const*, int, int, char const*);
    faulty_device() {
        bring_up::self_test_text const text = bring_up::self_test(faulty_machine(), {"faulty"});
        made_.write("faulty.h", text.header), made_.write("faulty.c", text.source);
        std::string const command = std::string(TILEWRIGHT_C_GCC) + " -std=c11 -O1 -Wall -Wextra -Werror -fPIC -shared -o " +
                                    made_ / "faulty.so" + " -I" + made_.name() + " " + made_ / "faulty.c" + " " FAULTY_DEVICE " 2> " +
                                    made_ / "said";
        if (std::system(command.c_str()) != 0) throw std::runtime_error(made_.read("said"));
        void* const library = dlopen((made_ / "faulty.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw std::runtime_error(dlerror());
        run_with_ = reinterpret_cast<decltype(run_with_)>(dlsym(library, "run_with"));
        run_by_ = reinterpret_cast<decltype(run_by_)>(dlsym(library, "run_by"));
        rows_ = reinterpret_cast<decltype(rows_)>(dlsym(library, "rows_of"));
    }
    static void begin() { said.clear(), kinds.clear(), codes.clear(), words_said.clear(); }

    folder made_;
    void (*run_with_)(int, int, std::int64_t, std::int64_t, teller) = nullptr;
    int (*run_by_)(int, int, teller) = nullptr;
    void (*rows_)(void (*)(char)) = nullptr;
};

/// The fault shows in these cases of a part, and in no others.
void finds(part which, fault has, std::int64_t at, std::int64_t of, names const& cases) {
    names expected;
    for (std::string const& one : cases) expected.push_back(std::string(part_names[which]) + ": " + one);
    INFO(part_names[which] << ", fault " << has << ", " << at << ", " << of);
    CHECK(faulty_device::get().failing(which, has, at, of) == expected);
}
std::string bytes(int count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }
std::string text(int number) { return std::to_string(number); }

// How callbacks are given.
constexpr int not_given = -3, always_fails = -2, works = -1;

}  // namespace

TEST_CASE("the right device passes") {
    CHECK(faulty_device::get().by_callbacks(works, works) == 0);
    CHECK(said == names{});
    std::string const rows = faulty_device::get().rows();
    CHECK(rows.find("shift: 32 cases, 26 passed, 6 undefined\n") != std::string::npos);
    CHECK(rows.find("failed") == std::string::npos);
}
TEST_CASE("a row of each length finds what is wrong with this length alone") {
    for (part const which : {fetch, store}) {
        for (int const length : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255})
            finds(which, loses_end_of_row, length, 0, {"one row of " + bytes(length)});
        for (int const length : {1, 3, 16, 17}) finds(which, loses_end_of_rows, length, 0, {"rows of " + bytes(length)});
    }
    finds(fetch, cuts_rows, 511, 0, {"the longest row"});
    finds(fetch, cuts_rows, 254, 0, {"one row of 255 bytes", "the longest row"});
}
TEST_CASE("each number of rows and planes finds what is wrong with this number alone") {
    for (int const dimension : {1, 2}) {
        for (int const extent : {1, 3, 5, 16})
            finds(fetch, loses_last, extent, dimension, {text(extent) + " in dimension " + text(dimension)});
    }
    finds(fetch, loses_last, 2, 1, {"2 in dimension 1", "1 in dimension 2"});
    finds(fetch, loses_last, 2, 2, {"1 in dimension 1", "2 in dimension 1"});
    for (int const extent : {2, 3, 5, 16}) finds(store, loses_last, extent, 1, {text(extent) + " in dimension 1"});
    finds(fetch, counts_with_bits, 5, 1, {"as many as dimension 1 takes"});
    for (int const extent : {2, 5}) finds(fetch, sorts_dimensions, extent, 0, {"rows and columns change places"});
}
TEST_CASE("each stride finds what is wrong with this stride alone") {
    auto const stride = [](int side, int bytes) {
        return std::string(side <= 2 ? "source" : "destination") + " stride of dimension " + text(side % 2 == 0 ? 2 : 1) + ": " +
               text(bytes);
    };
    for (int const side : {1, 3}) {
        for (int const apart : {10, 11, 16}) {
            finds(fetch, bends_stride, apart, side, {stride(side, apart)});
            finds(store, bends_stride, apart, side, {stride(side, apart)});
        }
        finds(store, bends_stride, 49, side, {stride(side, 49)});
        for (int const apart : {28, 29, 34}) finds(fetch, bends_stride, apart, side + 1, {stride(side + 1, apart)});
    }
    finds(fetch, bends_stride, 49, 3, {stride(3, 49)});
    finds(fetch, bends_stride, 67, 4, {stride(4, 67)});
    for (int const side : {1, 2}) finds(fetch, bends_stride, 2047, side, {"longest " + stride(side, 2047)});
    finds(fetch, keeps_stride_bits, 10, 0, {"longest " + stride(1, 2047), "longest " + stride(2, 2047)});
    for (part const which : {fetch, store}) {
        finds(which, merges_rows, 0, 9, {"source stride of dimension 1: 9"});
        finds(which, merges_rows, 1, 0, {"gaps in the source alone"});
        finds(which, merges_rows, 2, 0, {"gaps in the destination alone"});
        finds(which, merges_rows, 0, 0, {"no gaps"});
    }
}
TEST_CASE("each place finds what is wrong with this place alone") {
    for (part const which : {fetch, store}) {
        for (int const skew : {1, 2, 3, 4, 7}) {
            for (int const of : {1, 2}) finds(which, rounds_start, skew, of, {"source " + bytes(skew) + " further"});
            for (int const of : {3, 4}) finds(which, rounds_start, skew, of, {"destination " + bytes(skew) + " further"});
        }
    }
    for (part const which : {fetch, multiply}) finds(which, has_one_byte_less, 0, 0, {"at the end of the memories"});
    finds(store, has_one_byte_less, 1, 0, {"at the end of the memories"});
}
TEST_CASE("each channel, and each number of jobs in flight, finds what is wrong with it alone") {
    for (int const channel : {1, 2}) finds(fetch, ignores_channel, channel, 0, {"channel " + text(channel)});
    for (int const row : {7, 64}) {
        finds(fetch, overwrites_job, 2, row, {"two in flight"});
        finds(fetch, overwrites_job, 3, row, {"three in flight"});
        finds(fetch, overwrites_job, 0, row, {"channels side by side"});
    }
    names const late = faulty_device::get().failing(fetch, returns_early, 0, 0);
    CHECK(late.size() > 5);
    for (char const* each : {"fetch: the longest row", "fetch: two in flight", "fetch: channels side by side"})
        CHECK(std::count(late.begin(), late.end(), each) > 0);
    constexpr int early_wait = 4;
    CHECK(kinds == std::map<int, std::size_t>{{early_wait, late.size()}});
}
TEST_CASE("each border of each value finds what is wrong with it alone") {
    for (int const value : {0, 1, 77, 255}) {
        for (int const before : {0, 1, 3}) {
            for (int const after : {0, 1, 3}) {
                if (before + after == 0 || (before > 0 && after > 0 && before != after)) continue;
                for (int const dimension : {0, 1}) {
                    finds(bordered, fills_otherwise, value, (before + 10 * after) * (dimension == 0 ? 1 : 100),
                          {"a border of " + text(before) + " and " + text(after) + " in dimension " + text(dimension) + ", of " +
                           text(value)});
                }
            }
        }
        finds(bordered, fills_otherwise, value, 1111, {"a border on all sides, of " + text(value)});
    }
}
TEST_CASE("each kind of values finds what is wrong with it alone") {
    finds(narrow, takes_value_for_0, INT32_MIN, 16, {"lowest values"});
    finds(narrow, takes_value_for_0, INT32_MAX, 16, {"highest values"});
    finds(narrow, takes_value_for_0, INT32_MAX - 1, 0, {"values at the ends"});
    finds(narrow, takes_value_for_0, INT32_MIN + 1, 0, {"values at the ends"});
    finds(narrow, wraps_some, 1 << 24, 0, {"large values"});
    finds(narrow, wraps, 0, 0, {"lowest values", "highest values", "values at the ends", "large values"});
    finds(multiply, sums_to, 24 * 128 * 128, 0, {"lowest values"});
    finds(multiply, sums_to, 24 * 127 * 127, 0, {"highest values"});
    finds(multiply, takes_ends_for_0, 0, 0, {"values at the ends"});
    finds(shift, shifts_short_ones, 1000, 0, {"large values; small y"});
    finds(shift, packs_small_ones, 0, 0, {"small x; small y", "large values; small x; small y"});
    finds(scale, has_short_mantissa, 0, 0, {"large values"});
    finds(scale, takes_value_for_0, -2 * 1024, 0, {"lowest values", "values at the ends"});
    finds(scale, takes_value_for_0, 2 * 1024, 0, {"highest values", "values at the ends"});
    finds(scale, takes_value_for_0, 1, 0, {"values at the ends"});
}
TEST_CASE("each extent of an instruction finds what is wrong with this extent alone, and so where values must be small") {
    for (int const extent : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 19}) finds(multiply, loses_last_of_axis, extent, 0, {text(extent) + " of i"});
    for (int const extent : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17}) finds(multiply, loses_last_of_axis, extent, 1, {text(extent) + " of j"});
    for (int const extent : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 23}) finds(multiply, loses_last_of_axis, extent, 2, {text(extent) + " of k"});
    for (int const extent : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 39}) finds(shift, loses_last_of_axis, extent, 3, {text(extent) + " of l"});
    finds(multiply, loses_odd_ends, 0, 0, {"not all of each axis"});
    finds(multiply, loses_odd_ends, 1, 0, {"one of each axis"});
}
TEST_CASE("each stride and each place of an operand finds what is wrong with it alone") {
    int const dense[] = {24, 18, 18};
    for (int const operand : {0, 1, 2}) {
        std::string const gaps = std::string("gaps in dimension 0 of ") + "abc"[operand];
        finds(multiply, bends_operand, dense[operand] + 1, operand, {gaps, "gaps in all operands"});
        for (int const gap : {3, 9}) finds(multiply, bends_operand, dense[operand] + gap, operand, {gaps});
        for (int const steps : {1, 2, 3}) {
            int const skew = steps * (operand == 2 ? 4 : 1);
            finds(multiply, rounds_operand, skew, operand, {std::string(1, "abc"[operand]) + " " + text(skew) + " bytes further"});
            finds(shift, rounds_operand, 4 * steps, 3 + operand,
                  {std::string(1, "xyz"[operand]) + " " + text(4 * steps) + " bytes further"});
            finds(scale, rounds_operand, 4 * steps, 6 + operand,
                  {std::string(1, "xyz"[operand]) + "f " + text(4 * steps) + " bytes further"});
        }
    }
    finds(multiply, bends_operand, 0, 3, {"gaps in all operands"});
}
TEST_CASE("a callback that returns a code fails the case that it was called for, and the code is said with the memory") {
    faulty_device const& device = faulty_device::get();
    CHECK(device.by_callbacks(0, works) == 1);
    CHECK(said == names{"memories: "});
    CHECK(words_said == "memories: reading or writing ddr returned 41\n");
    CHECK(device.by_callbacks(works, 1) == 1);
    CHECK(words_said == "memories: reading or writing tcm returned 42\n");
    CHECK(device.by_callbacks(2, works) == 1);  // what the first case has written
    CHECK(words_said == "fetch, case 0 (one row of 1 byte; 1 x 1 x 1): reading or writing tcm returned 41\n");
    CHECK(device.by_callbacks(works, 2) == 1);  // what it reads
    CHECK(words_said == "fetch, case 0 (one row of 1 byte; 1 x 1 x 1): reading or writing ddr returned 42\n");
    int const reads_fail = device.by_callbacks(always_fails, works);
    CHECK(codes == std::map<int, std::size_t>{{41, static_cast<std::size_t>(reads_fail)}});
    CHECK(device.rows().find(" passed, ") != std::string::npos);
    CHECK(device.rows().find("fetch: 84 cases, 0 passed, 84 failed\n") != std::string::npos);
    int const writes_fail = device.by_callbacks(works, always_fails);
    CHECK(codes == std::map<int, std::size_t>{{42, static_cast<std::size_t>(writes_fail)}});
    CHECK(device.rows().find("shift: 32 cases, 0 passed, 32 failed\n") != std::string::npos);  // none of them gets its operands
}
TEST_CASE("without one callback, or without both, memories are reached by pointers and by the device's own copies") {
    for (int const reads : {works, not_given}) {
        for (int const writes : {works, not_given}) {
            CHECK(faulty_device::get().by_callbacks(reads, writes) == 0);
            CHECK(words_said == "");
            CHECK(faulty_device::get().rows().find("not ") == std::string::npos);
        }
    }
}
