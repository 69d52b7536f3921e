#include <tilewright/bring_up/test_case.hpp>

#include <string>

#include "catch.hpp"

using namespace tilewright;
using namespace tilewright::bring_up;

TEST_CASE("at most four windows become small: whole numbers of 32 and 64 bits that are read, each window once") {
    tested_part part;
    auto const add = [&](char const* name, scalar_type type, bool reads, bool in_place = false) {
        operand_side side{.name = name, .type = type, .element = bytes_of(type), .reads = reads};
        side.in_place = in_place;
        part.sides.push_back(side);
    };
    auto const small = [&] {
        part.choose_small();
        std::string names;
        for (operand_side const& side : part.sides) names += side.may_be_small ? side.name : "";
        return names;
    };
    add("a", scalar_type::int32, true, true);  // lies where r is
    add("r", scalar_type::int32, true);
    add("b", scalar_type::int8, true);
    add("c", scalar_type::float32, true);
    add("d", scalar_type::uint64, true);
    add("w", scalar_type::int32, false);
    CHECK(small() == "rd");
    add("e", scalar_type::int32, true), add("f", scalar_type::uint32, true), add("g", scalar_type::int64, true);
    CHECK(small() == "rdef");
}
