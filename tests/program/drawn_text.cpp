#include <fstream>
#include <iterator>
#include <tilewright/emulate/program_emulator.hpp>

#include "catch.hpp"
#include "program/program_text.hpp"
#include "program/random_program.hpp"

using namespace tilewright;

TEST_CASE("the text of a drawn program, pasted, makes the program") {
    programs::recipe const of = programs::drawer(13781).draw_recipe();
    std::ifstream file(DRAWN_TEXT);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    CHECK(programs::cpp_of(of) == text);
#include "drawn_text.inc"
    auto const built = programs::build(of);
    auto const wanted = std::make_unique<program_plan_value>(make_program_plan(built->what, 20'000));
    REQUIRE(!wanted->refusal);
    REQUIRE(!plan->refusal);
    CHECK(same_program(*plan, *wanted));
    CHECK(static_cast<double>(plan->cycles()) == static_cast<double>(wanted->cycles()));
}
