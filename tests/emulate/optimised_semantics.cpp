// However a compiler optimises, the emulated machine computes what an intrinsic declares. The program ends with 1 where it does not: tests
// compile it by every compiler, with several levels.
#include <algorithm>
#include <array>
#include <cstdio>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/semantics.hpp>

using namespace tilewright;

// As those of a header are: compilers do something else with functions that one source has for itself.
namespace optimised_semantics {

constexpr int most = 24, rows = 4;
constexpr axis four{"four", 4}, along{"along", most}, row{"row", rows};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"}, d{"d"};
constexpr tensor<float> u{"u"}, v{"v"}, w{"w"};
constexpr memory host{.name = "host"}, near{.name = "near", .base = 0x4000, .capacity = 8_KiB};

/// a times b, one row of each.
constexpr auto products(auto const& over) { return cast<std::int32_t>(a(over)) * cast<std::int32_t>(b(over)); }
constexpr auto reading_both(intrinsic what) { return what.reads(a, near).reads(b, near); }

// One sum: all steps of the loop have one place for their result.
constexpr auto sum4 = reading_both(intrinsic("sum4", c() = sum(four, products(four)))).writes(c, near);
constexpr auto sum4_on = reading_both(intrinsic("sum4_on", c() += products(four))).updates(c, near);
constexpr auto sum_all = reading_both(intrinsic("sum_all", c() = sum(along, products(along)))).writes(c, near).up_to(along);
constexpr auto sum_on = reading_both(intrinsic("sum_on", c() += products(along))).updates(c, near).up_to(along);
constexpr auto sum_from =
    reading_both(intrinsic("sum_from", c() = d() + sum(along, products(along)))).writes(c, near).reads(d, near).up_to(along);
constexpr auto most_of_all = reading_both(intrinsic("most_of_all", c() = maximum(along, products(along)))).writes(c, near).up_to(along);
// Several: each step has a place of its own.
constexpr auto sums_on = reading_both(intrinsic("sums_on", c(row) += cast<std::int32_t>(a(row, along)) * cast<std::int32_t>(b(along, row))))
                             .updates(c, near)
                             .up_to(row, along);
constexpr auto elements = reading_both(intrinsic("elements", c(along) = products(along))).writes(c, near).up_to(along);
// A product is rounded before it is added.
constexpr auto floats_on = intrinsic("floats_on", w(along) += u(along) * v(along)).reads({u, v}, near).updates(w, near).up_to(along);
constexpr auto dot_on = intrinsic("dot_on", w() += u(along) * v(along)).reads({u, v}, near).updates(w, near).up_to(along);
constexpr auto widen = transfer("widen", host, near, w(along) = u(along) * u(along) + u(along));

inline constexpr auto small =
    machine("small", host, near, transfer("in", host, near), sum4, sum4_on, sum_all, sum_on, sum_from, most_of_all, sums_on, elements);
inline constexpr auto of_floats = machine("of_floats", host, near, widen, floats_on, dot_on);

}  // namespace optimised_semantics

namespace {

using namespace optimised_semantics;

/// The memory of the result.
using result = std::array<std::int32_t, most>;
result before() {
    result made{};
    for (int at = 0; at < most; ++at) made[static_cast<std::size_t>(at)] = 1000 + at;
    return made;
}
std::array<std::int8_t, most * rows> numbers(int factor) {
    std::array<std::int8_t, most * rows> made{};
    int at = 0;
    for (std::int8_t& one : made) one = static_cast<std::int8_t>(factor * ++at % 256 - 128);
    return made;
}
auto const left = numbers(37), right = numbers(59);

bool is(int which, ir::label name) { return small.intrinsics[which].name == name; }
/// What a call leaves where the result lies. @param count  elements of `along`
result computed(int which, std::int64_t count) {
    result made = before();
    std::int32_t start = 77;
    void* addresses[] = {const_cast<std::int8_t*>(left.data()), const_cast<std::int8_t*>(right.data()), made.data(), &start};
    // a has rows of `most` elements, and b of `rows`
    std::int64_t strides[4 * max_rank] = {most};
    strides[max_rank] = rows;
    std::int64_t const extents[ir::stage::most_axes] = {is(which, "sums_on") ? rows : count, count};
    semantics_of<small>.intrinsics[which](addresses, strides, extents);
    return made;
}
std::int32_t product(int at) { return left[static_cast<std::size_t>(at)] * right[static_cast<std::size_t>(at)]; }
/// Likewise, by loops.
result expected(int which, int count) {
    result made = before();
    if (is(which, "sum4") || is(which, "sum4_on")) count = 4;
    if (is(which, "sums_on")) {
        for (int r = 0; r < rows; ++r)
            for (int at = 0; at < count; ++at)
                made[static_cast<std::size_t>(r)] +=
                    left[static_cast<std::size_t>(r * most + at)] * right[static_cast<std::size_t>(at * rows + r)];
        return made;
    }
    if (is(which, "sum4") || is(which, "sum_all")) made[0] = 0;
    if (is(which, "sum_from")) made[0] = 77;
    if (is(which, "most_of_all")) made[0] = product(0);
    for (int at = 0; at < count; ++at) {
        if (is(which, "elements")) made[static_cast<std::size_t>(at)] = product(at);
        else if (is(which, "most_of_all")) made[0] = std::max(made[0], product(at));
        else made[0] += product(at);
    }
    return made;
}

/// Products that no float holds are added to about the opposite: rounded once or twice makes another sum.
int wrong_floats() {
    std::array<float, most> one{}, other{}, sums{}, made{};
    volatile float hidden = 1;
    for (int at = 0; at < most; ++at) {
        auto const n = static_cast<std::size_t>(at);
        one[n] = hidden + static_cast<float>(at + 1) * 0x1p-23f, other[n] = hidden - static_cast<float>(3 * at) * 0x1p-22f;
        sums[n] = -hidden;
    }
    int wrong = 0;
    auto const call = [&](int which) {
        void* addresses[] = {one.data(), other.data(), made.data()};
        std::int64_t const strides[3 * max_rank] = {}, extents[ir::stage::most_axes] = {most};
        semantics_of<of_floats>.intrinsics[which](addresses, strides, extents);
    };
    auto const compare = [&](char const* what, auto const& expected) {
        for (std::size_t at = 0; at < most; ++at) {
            if (made[at] == expected(at)) continue;
            ++wrong;
            std::printf("%s: element %zu is %.9g\n", what, at, static_cast<double>(made[at]));
        }
    };
    auto const rounded = [](float a, float b) {
        volatile float const product = a * b;
        return product;
    };
    made = sums, call(0);
    compare("floats_on", [&](std::size_t at) { return sums[at] + rounded(one[at], other[at]); });
    made = sums, call(1);
    float dot = sums[0];
    for (std::size_t at = 0; at < most; ++at) dot += rounded(one[at], other[at]);
    compare("dot_on", [&](std::size_t at) { return at == 0 ? dot : sums[at]; });
    semantics_of<of_floats>.transfers[0](made.data(), one.data(), most);
    compare("widen", [&](std::size_t at) { return rounded(one[at], one[at]) + one[at]; });
    return wrong;
}

}  // namespace

int main() {
    int wrong = wrong_floats();
    for (int which = 0; which < small.intrinsics.size(); ++which) {
        for (int count = 1; count <= most; ++count) {
            if (computed(which, count) == expected(which, count)) continue;
            ++wrong;
            std::printf("%s of %d elements has another result\n", small.intrinsics[which].name.str().c_str(), count);
        }
    }
    return wrong == 0 ? 0 : 1;
}
