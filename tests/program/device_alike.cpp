#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "alike.h"
#include "catch.hpp"
#include "guarded.hpp"
#include "program/alike_program.hpp"

// A program in which kernels share their C functions.

namespace {

int additions = 0, subtractions = 0;

template <class Combine>
int of_ten(void const* u, void const* v, void* r, Combine const& combine) {
    for (int at = 0; at < 10; ++at)
        static_cast<std::int32_t*>(r)[at] = combine(static_cast<std::int32_t const*>(u)[at], static_cast<std::int32_t const*>(v)[at]);
    return 0;
}
std::string source() {
    std::ifstream file(std::string(ALIKE_FILES) + "/alike.c");
    return {std::istreambuf_iterator<char>(file), {}};
}
/// The function that a kernel calls in the text of the program, or what it passes.
std::string called_by(std::string const& text, std::string const& kernel, bool arguments = false) {
    std::size_t const own = text.find("    /* " + kernel + " on ");
    std::size_t const begin = text.find("status = ", own) + 9, open = text.find('(', begin), end = text.find(";\n", begin);
    REQUIRE(own != std::string::npos);
    return arguments ? text.substr(open, end - open) : text.substr(begin, open - begin);
}

}  // namespace

extern "C" int get(void const* source, void* destination, std::int64_t bytes) {
    std::memcpy(destination, source, static_cast<std::size_t>(bytes));
    return 0;
}
extern "C" int add10(void const* u, void const* v, void* r) {
    ++additions;
    return of_ten(u, v, r, [](std::int32_t p, std::int32_t q) { return p + q; });
}
extern "C" int sub10(void const* u, void const* v, void* r) {
    ++subtractions;
    return of_ten(u, v, r, [](std::int32_t p, std::int32_t q) { return p - q; });
}

TEST_CASE("kernels that share C functions get their own tensors and places: results are those by hand") {
    for (guarded::side at : guarded::both_sides) {
        alike_programs::numbers n;
        guarded::array<unsigned char> pool(TILEWRIGHT_alike_pool_BYTES, at, 16);
        alike_memories const given{.pool = pool.data()};
        additions = subtractions = 0;
        REQUIRE(alike(n.a.data(), n.b.data(), n.less.data(), n.turned.data(), n.swapped.data(), n.scaled.data(), n.third.data(), &given) ==
                0);
        CHECK(n.wrong() == 0);
        CHECK(pool.is_intact());
        CHECK((additions == 20 && subtractions == 10));
    }
}
TEST_CASE("one function for kernels that differ in names and in the places of their buffers; others have their own") {
    std::string const text = source();
    // Where the plan gives a kernel all that it takes, its steps are called at once.
    auto const function = [&](char const* kernel) {
        std::string const name = called_by(text, kernel);
        return name.substr(0, name.find("_steps"));
    };
    // The same for tensors of other names, whose buffers lie elsewhere.
    CHECK(function("double_a") == "alike_double_a");
    CHECK(function("double_b") == "alike_double_a");
    CHECK(called_by(text, "double_a", true) == "(a, 10, pool + 400, (int32_t *)pool, 10)");
    CHECK(called_by(text, "double_b", true) == "(b, 10, pool + 800, (int32_t *)(pool + 400), 10)");
    // A number differs.
    CHECK(function("triple_a") == "alike_triple_a");
    // Exchanged arguments are those of a call. What computes another thing of the same names is another function.
    CHECK(function("take") == "alike_take");
    CHECK(function("take_swapped") == "alike_take");
    CHECK(called_by(text, "take_swapped", true) != called_by(text, "take", true));
    CHECK(function("take_scaled") == "alike_take_scaled");
    // They call another function of the machine.
    CHECK(function("add") == "alike_add");
    CHECK(function("add_again") == "alike_add");
    CHECK(function("subtract") == "alike_subtract");
    // Nothing is written twice, and comments say for which kernels it is.
    std::map<std::string, int> written;
    for (std::size_t at = text.find("_steps("); at != std::string::npos; at = text.find("_steps(", at + 1)) {
        std::size_t const begin = text.rfind(' ', at) + 1;
        if (text.compare(begin - 11, 11, "static int ") == 0) ++written[text.substr(begin, at - begin)];
    }
    CHECK(written.size() == 8);
    for (auto const& [name, times] : written) CHECK((times == 1 && name.rfind("alike_", 0) == 0));
    CHECK(text.find("/* Kernels double_a and double_b on cpu; the names are those of double_a:\n") != std::string::npos);
    CHECK(text.find("/* Kernels take and take_swapped on cpu; the names are those of take:\n") != std::string::npos);
    CHECK(text.find("/* Kernel triple_a on cpu:\n") != std::string::npos);
}
