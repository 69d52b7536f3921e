#include <cstdlib>
#include <iostream>
#include <regex>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/plan/planner.hpp>

#include "fuzz/build.hpp"
#include "fuzz/draw.hpp"
#include "fuzz/program_trial.hpp"
#include "program/random_program.hpp"

// drawn_code FIRST LAST: what the library makes of the drawn cases from one seed to another, a line each: the verdict, or the cycles and a
// number that stands for the C source. Two builds that print the same lines decide the same: see tests/same_code.sh.

namespace {

using namespace tilewright;

/// FNV-1a, 64 bits.
std::uint64_t number_of(std::string const& text) {
    std::uint64_t number = 0xcbf29ce484222325;
    for (char c : text) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return number;
}

/// A verdict, without the lines of this program that it names.
std::string text_of(verdict const& said) { return std::regex_replace(to_string(said), std::regex(", line [0-9]+"), ""); }

std::string code_of_kernel(std::uint64_t seed) {
    auto const built = fuzz::build(fuzz::draw(seed));
    auto const plan = std::make_unique<plan_value>(make_plan(built->made));
    if (plan->refusal) return text_of(plan->refusal);
    std::string cycles = "cycles " + std::to_string(plan->total_cycles);
    if (plan->run_time_extents == 0) cycles += " " + std::to_string(static_cast<double>(predict(*plan).cycles));
    try {
        halide::c_source_text const text = halide::c_source(built->made, *plan, {"drawn", halide::binding::emulated, {}});
        return cycles + " code " + std::to_string(number_of(text.header + text.source));
    } catch (halide::unsupported_in_c const& said) {
        return cycles + " " + said.what();
    }
}

std::string code_of_program(std::uint64_t seed) {
    auto const drawn = programs::drawer(static_cast<std::uint32_t>(seed)).draw();
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
    if (plan->refusal) return text_of(plan->refusal);
    std::string text;
    for (auto const& [name, contents] : halide::c_program(*plan, {.name = "drawn"})) text += name + contents;
    return "code " + std::to_string(number_of(text));
}

}  // namespace

int main(int count, char** given) {
    if (count != 3) return std::cerr << "usage: " << given[0] << " FIRST LAST\n", 2;
    std::uint64_t const last = std::strtoull(given[2], nullptr, 10);
    for (std::uint64_t seed = std::strtoull(given[1], nullptr, 10); seed <= last; ++seed) {
        std::string said;
        try {
            said = fuzz::is_program(seed) ? code_of_program(seed) : code_of_kernel(seed);
        } catch (std::exception const& wrong) {
            said = std::string("throws ") + wrong.what();
        }
        std::cout << seed << " " << said << std::endl;
    }
}
