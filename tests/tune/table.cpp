#include <tilewright/tune/tuned.hpp>

// What a header of winners looks like, and how a program asks it.
using namespace tilewright;

namespace winners_of_mine {
inline constexpr tune::winner winners[] = {
    {"gemm", {64, 64, 64}, "zen4", {{"rows", 6}, {"vectors", 2}}},
    {"gemm", {64, 64, 64}, "zen3", {{"rows", 4}, {"vectors", 3}}},
    {"gemm", {64, 64}, "zen4", {{"rows", 1}, {"vectors", 8}}},
    {"conv", {64, 64, 64}, "zen4", {{"rows", 2}, {"vectors", 1}}},
};
}  // namespace winners_of_mine

using winners_of_mine::winners;

static_assert(tune::tuned(winners, "gemm", {64, 64, 64}, "zen4")["rows"] == 6);
static_assert(tune::tuned(winners, "gemm", {64, 64, 64}, "zen3")["vectors"] == 3);
static_assert(tune::tuned(winners, "gemm", {64, 64}, "zen4")["vectors"] == 8);
static_assert(tune::tuned(winners, "conv", {64, 64, 64}, "zen4")["rows"] == 2);

constexpr tune::configuration otherwise{{"rows", 5}, {"vectors", 2}};
static_assert(tune::tuned_or(winners, "gemm", {64, 64, 65}, "zen4", otherwise)["rows"] == 5);
static_assert(tune::tuned_or(winners, "gemm", {64, 64, 64}, "zen", otherwise)["rows"] == 5);
static_assert(tune::tuned_or(winners, "gemm", {64, 64, 64}, "zen4", otherwise)["rows"] == 6);
static_assert(!tune::is_tuned(winners, "gem", {64, 64, 64}, "zen4") && tune::is_tuned(winners, "gemm", {64, 64}, "zen4"));

#ifdef NO_WINNER
constexpr auto none = tune::tuned(winners, "gemm", {64, 64, 65}, "zen4");
#endif
