#include <limits>

#include "c_source/compiled.hpp"

#include <regex>

// Loops that stay code, as they are written in C: sums in variables, borders that are not read, first steps in front.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, near_by{.name = "near_by", .capacity = 16_KiB, .alignment = 4};
constexpr auto bring = transfer("bring", dram, near_by).dimensions(3);
constexpr auto back = transfer("back", near_by, dram).dimensions(3);
constexpr auto host = machine("loops_host", dram, near_by, bring, back);

constexpr axis h{"h", 7}, w{"w", 6}, c{"c", 5}, y{"y", 7}, x{"x", 6}, f{"f", 3}, r{"r", 3}, s{"s", 3};
constexpr axis yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"}, fo{"fo"}, fi{"fi"}, y4{"y4", 4}, x3{"x3", 3};
constexpr tensor<std::int8_t> in{"in"}, W{"W"}, small{"small"};
constexpr tensor<float> real{"real"}, real_W{"real_W"}, real_out{"real_out"};
constexpr tensor<std::int32_t> out{"out"}, added{"added"};
constexpr auto product = cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(f, r, s, c));
constexpr auto conv = out(y, x, f) += product;
constexpr auto conv_on_host = schedule(conv, host);
constexpr auto across = schedule(conv, host).reorder(y, x, f, r, c, s);
constexpr auto written_out = schedule(conv, host).split(f, fo, fi, 3).reorder(y, x, fo, r, s, c, fi).unroll(fi);
// Several copies of a loop, each at its own tap.
constexpr auto taps_written_out = schedule(conv, host).split(x, xo, xi, 3).unroll(xi).unroll(s);
constexpr auto near_taps =
    schedule(conv, host).split(y, yo, yi, 7).reorder(yo, yi, x, s, f, r, c).unroll(yi).unroll(s).cache_read(in, near_by).at(yi);
constexpr schedule in_tiles(std::int64_t rows, std::int64_t columns) {
    return schedule(conv, host)
        .split(y, yo, yi, rows)
        .split(x, xo, xi, columns)
        .reorder(yo, xo, yi, xi, f, r, s, c)
        .cache_read(in, near_by)
        .at(xo)
        .cache_write(out, near_by)
        .at(xo);
}
constexpr auto staged = in_tiles(3, 4), whole_image = in_tiles(7, 6);
constexpr auto in_lanes = schedule(conv, host).reorder(y, x, r, s, c, f).vectorize(f);
// Two steps at a time, and taps that lie apart: bounds that no loop of one step has.
constexpr auto strided = out(y4, x3, f) +=
    cast<std::int32_t>(padded(in(h, w, c), 0)(2 * y4 + r - 1, 2 * x3 + 3 * s - 1, c)) * cast<std::int32_t>(W(f, r, s, c));
constexpr auto strided_on_host = schedule(strided, host);
// Borders that count.
constexpr auto with_sevens = out(y, x, f) +=
    cast<std::int32_t>(padded(in(h, w, c), 7)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(f, r, s, c));
constexpr auto with_sevens_on_host = schedule(with_sevens, host);
constexpr auto of_reals = real_out(y, x, f) += padded(real(h, w, c), 0)(y + r - 1, x + s - 1, c) * real_W(f, r, s, c);
constexpr auto of_reals_on_host = schedule(of_reals, host);
// A border alone: there is nothing to add.
constexpr auto outside = out(y4, x3, f) = sum(c, cast<std::int32_t>(padded(in(h, w, c), 0)(y4 + 7, x3, c)));
constexpr auto outside_on_host = schedule(outside, host);
// The lowest value adds nothing to a maximum, and anything else does.
constexpr auto pool = small(y4, x3, c) = maximum(r, s, padded(in(h, w, c), -128)(2 * y4 + r - 1, 2 * x3 + s - 1, c));
constexpr auto pool_on_host = schedule(pool, host);
constexpr auto pool_from_0 = small(y4, x3, c) = maximum(r, s, padded(in(h, w, c), 0)(2 * y4 + r - 1, 2 * x3 + s - 1, c));
constexpr auto pool_from_0_on_host = schedule(pool_from_0, host);
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr auto pool_of_reals = real_out(y4, x3, c) = maximum(r, s, padded(real(h, w, c), -infinity)(2 * y4 + r - 1, 2 * x3 + s - 1, c));
constexpr auto pool_of_reals_on_host = schedule(pool_of_reals, host);
constexpr auto least_of_reals = real_out(y4, x3, c) = minimum(r, s, padded(real(h, w, c), infinity)(2 * y4 + r - 1, 2 * x3 + s - 1, c));
constexpr auto least_of_reals_on_host = schedule(least_of_reals, host).reorder(y4, x3, r, s, c);
// Both ends of the image cut the window.
constexpr axis pools{"pools", 5}, image{"image", 9};
constexpr auto pool_of_row = real_out(pools, c) = maximum(r, padded(real(image, c), -infinity)(2 * pools + r - 1, c));
constexpr auto pool_of_row_on_host = schedule(pool_of_row, host);
constexpr auto pool_from_large = real_out(y4, x3, c) = maximum(r, s, padded(real(h, w, c), infinity)(2 * y4 + r - 1, 2 * x3 + s - 1, c));
constexpr auto pool_from_large_on_host = schedule(pool_from_large, host);
// Two borders of one tensor in one value: an element of one is not read where only the other has it.
constexpr auto two_borders = out(y, x, f) += cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x + s - 1, c)) *
                                             cast<std::int32_t>(padded(in(h, w, c), 3)(y + r - 1, x + s - 1, c)) *
                                             cast<std::int32_t>(padded(W(f, r, s, c), 0)(f + 1, r, s, c));
constexpr auto two_borders_on_host = schedule(two_borders, host);
// Both choices stand outside of the innermost loop, and choose the same element.
constexpr axis h5{"h5", 5}, one{"one", 1};
constexpr tensor<bool> flags{"flags"}, others{"others"};
constexpr auto two_ends = small(y, one) =
    select(others(y, one) || padded(flags(h5), true)(y), cast<std::int8_t>(padded(flags(h5), false)(y)), in(y, one));
constexpr auto two_ends_on_host = schedule(two_ends, host);
// 0 times infinity is no number, so the factor counts.
constexpr auto rounded = out(y, x, f) += cast<std::int32_t>(padded(real(h, w, c), 0)(y + r - 1, x + s - 1, c) * real_W(f, r, s, c));
constexpr auto rounded_on_host = schedule(rounded, host);
// The sum in the place of its bias, and one that a stage behind reads.
constexpr auto twice = stages(added(y, x, f) = sum(r, s, c, product), out(y, x, f) = added(y, x, f) * 2 + 1);
constexpr auto twice_by_rows = schedule(twice, host).compute_at(added, y).store_in(added, near_by);
// May be the result of itself; the other one is read at other places.
constexpr tensor<std::int32_t> biased{"biased"};
constexpr auto doubled = out(y, x) = added(y, x) * 2 + biased(x);
constexpr auto doubled_on_host = schedule(doubled, host);

// Floats become integers, which become others. None of the floats fits the last type.
constexpr axis w64{"w64", 64};
constexpr tensor<std::uint8_t> bytes{"bytes"};
constexpr auto recast = bytes(w64) = cast<std::uint8_t>(cast<std::int8_t>(cast<float>(w64 - 100) * 0.75f)) +
                                     cast<std::uint8_t>(cast<std::int32_t>(cast<std::int16_t>(cast<float>(w64 + 100) * 3.5f)));
constexpr auto recast_on_host = schedule(recast, host);

template <schedule const& Schedule>
std::string check() {
    static constexpr plan_value const& plan = tilewright::plan<Schedule>;
    INFO(to_string(plan.refusal));
    REQUIRE(!plan.refusal);
    emulator& on = emulated<host>();
    c_kernels::check_c_source(Schedule, plan, plan, on);
    // What nobody may read is not read: undefined indices and sums are found.
    c_kernels::compiler const careful{TILEWRIGHT_C_GCC, "-O1 -fsanitize=undefined -fno-sanitize-recover=undefined"};
    c_kernels::c_kernel const kernel(Schedule, plan, on, careful);
    kernels::operand_data const data = kernels::random_operands(plan, 5);
    on.reset();
    kernels::guarded_buffer result = kernels::make_result(data);
    CHECK(kernel.run(plan, data, result.elements, {}) == 0);
    CHECK(kernels::same_bits(result.elements, kernels::expected_of(plan, data)));
    // What the kernel does, without its checks.
    std::string const source = kernel.text().source;
    std::size_t const begin = source.find("static int kernel_steps("), end = source.find("\nint kernel(");
    return source.substr(begin, end - begin);
}
/// Whether a part is there, however it is broken into lines.
bool holds(std::string text, std::string part) {
    for (std::string* of : {&text, &part}) std::erase_if(*of, [](unsigned char letter) { return std::isspace(letter) != 0; });
    return text.find(part) != std::string::npos;
}
/// What stands in the loops over an axis, the innermost ones, without spaces in front.
std::vector<std::string> bodies_of(std::string const& source, std::string const& axis) {
    std::regex const loop("for \\(int32_t " + axis + "[_0-9]* = [^{]*\\{\n([^{}]*)\n *\\}");
    std::vector<std::string> found;
    for (std::sregex_iterator at(source.begin(), source.end(), loop), end; at != end; ++at)
        found.push_back(std::regex_replace((*at)[1].str(), std::regex("^ +"), ""));
    return found;
}

}  // namespace

TEST_CASE("a sum is a variable of the loops that add to it, and only what is inside is read") {
    std::string const source = check<conv_on_host>();
    INFO(source);
    std::vector<std::string> const bodies = bodies_of(source, "c");
    REQUIRE(bodies.size() == 1);
    CHECK(std::regex_match(bodies[0], std::regex("out_held_0 = \\(int32_t\\)in\\[c \\+ value_[0-9]+\\] \\* \\(int32_t\\)W\\[c \\+ "
                                                 "value_[0-9]+\\] \\+ out_held_0;")));
    // From the first tap that is inside to the last.
    CHECK(
        holds(source, "for (int32_t r = 1 - tilewright_minimum_int32(y, 1), r_end = 8 - tilewright_maximum_int32(y, 5); r < r_end; ++r)"));
    CHECK(
        holds(source, "for (int32_t s = 1 - tilewright_minimum_int32(x, 1), s_end = 7 - tilewright_maximum_int32(x, 4); s < s_end; ++s)"));
    CHECK(!holds(source, "?"));
    CHECK(bodies_of(source, "r").empty());
    CHECK(!holds(source, "if (1 <="));
}
TEST_CASE("an integer that a float was converted to is converted again as an integer") { check<recast_on_host>(); }
TEST_CASE("a sum of nothing but a border has no step that adds to it") {
    std::string const source = check<outside_on_host>();
    INFO(source);
    CHECK(!holds(source, "out_held_0 = out_held_0"));
}
TEST_CASE("loops of one iteration are numbers, in code and in remarks") {
    std::string const source = check<whole_image>();
    INFO(source);
    for (char const* gone : {"int32_t yo", "int32_t xo", "7 yo", "6 xo", "< 1;"}) CHECK(!holds(source, gone));
    // Nor is anything asked of numbers, or multiplied by 0.
    CHECK(!std::regex_search(source, std::regex("(if|min\\(|max\\() ?[0-9]+ ?[<>,] ?[0-9]|[^0-9a-z_]0 \\* |\\* 0[^0-9]")));
    CHECK(holds(check<staged>(), "for (int32_t yo = 0; yo < 3; ++yo)"));
}
TEST_CASE("several sums, of a loop that is written out") {
    std::string const source = check<written_out>();
    INFO(source);
    std::vector<std::string> const bodies = bodies_of(source, "c");
    REQUIRE(bodies.size() == 1);
    for (char const* sum : {"out_held_0", "out_held_1", "out_held_2"}) CHECK(holds(bodies[0], std::string(sum) + " = (int32_t)in["));
    CHECK(!holds(bodies[0], "out["));
    check<taps_written_out>();
    check<near_taps>();
}
TEST_CASE("what a stage computes for the next one, in a memory, and in tiles that end early") {
    std::string const source = check<twice_by_rows>();
    INFO(source);
    CHECK(holds(source, "added_near_by_held_0"));
    check<staged>();
    check<in_lanes>();
}
TEST_CASE("a border that the innermost loop crosses") {
    std::string const source = check<across>();
    INFO(source);
    CHECK(
        holds(source, "for (int32_t s = 1 - tilewright_minimum_int32(x, 1), s_end = 7 - tilewright_maximum_int32(x, 4); s < s_end; ++s)"));
    CHECK(bodies_of(source, "s").size() == 1);
    CHECK(!holds(source, "?"));
}
TEST_CASE("bounds that are no bounds of a loop are asked outside of the innermost one") {
    std::string const source = check<strided_on_host>();
    INFO(source);
    std::vector<std::string> const bodies = bodies_of(source, "c");
    REQUIRE(bodies.size() == 1);
    CHECK(!holds(source, "?"));
    CHECK(holds(source, "if (1 <= x3 * 2 + s * 3 && x3 * 2 + s * 3 < 7) {"));
}
TEST_CASE("a border that counts is chosen where it is read") {
    for (std::string const& source :
         {check<with_sevens_on_host>(), check<of_reals_on_host>(), check<pool_from_0_on_host>(), check<rounded_on_host>()}) {
        INFO(source);
        CHECK(holds(source, " ? "));
    }
    check<two_borders_on_host>();
}
TEST_CASE("an element that two borders stand for is not read where there is none") {
    std::string const source = check<two_ends_on_host>();
    INFO(source);
    CHECK(holds(source, "for (int32_t y = 0; y < 5; ++y) {"));
    CHECK(!holds(source, "y < 7"));
}
TEST_CASE("a border that is no maximum is not read") {
    std::string const source = check<pool_on_host>();
    INFO(source);
    CHECK(!holds(source, "?"));
}
TEST_CASE("infinity is the border of a reduction of floats that starts from it") {
    char const* const border = ": tilewright_of_bits_float";
    for (std::string const& source : {check<pool_of_reals_on_host>(), check<least_of_reals_on_host>(), check<pool_of_row_on_host>()}) {
        INFO(source);
        CHECK(!holds(source, border));
    }
    CHECK(holds(check<pool_from_large_on_host>(), border));
}
TEST_CASE("tensors that may be the result are not told apart from it") {
    std::string const apart = check<conv_on_host>();
    CHECK(holds(apart, "const int8_t *restrict in, int32_t in_stride_0"));
    CHECK(holds(apart, "int32_t *restrict out"));
    std::string const together = check<doubled_on_host>();
    INFO(together);
    CHECK(holds(together, "const int32_t *added, int32_t added_stride_0"));
    CHECK(holds(together, "const int32_t *restrict biased"));
    CHECK(holds(together, "int32_t *out,"));
}
