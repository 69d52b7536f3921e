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

inline constexpr auto small =
    machine("small", host, near, transfer("in", host, near), sum4, sum4_on, sum_all, sum_on, sum_from, most_of_all, sums_on, elements);

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

}  // namespace

int main() {
    int wrong = 0;
    for (int which = 0; which < small.intrinsics.size(); ++which) {
        for (int count = 1; count <= most; ++count) {
            if (computed(which, count) == expected(which, count)) continue;
            ++wrong;
            std::printf("%s of %d elements has another result\n", small.intrinsics[which].name.str().c_str(), count);
        }
    }
    return wrong == 0 ? 0 : 1;
}
