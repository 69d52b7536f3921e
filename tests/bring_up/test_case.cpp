#include <tilewright/bring_up/intrinsic_cases.hpp>
#include <tilewright/bring_up/test_case.hpp>

#include <set>
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
TEST_CASE("rows of an operand have gaps where a function is told how far they lie apart, or the machine bounds it") {
    constexpr memory plain{.name = "plain", .base = 0x1000, .capacity = 4_KiB};
    constexpr axis i{"i", 3}, j{"j", 5};
    constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"};
    auto const gaps = [&](intrinsic const& what) {
        machine const where("where", plain, what);
        auto const cases = intrinsic_cases(where, memory_ways(where), 0, 0, 4096).make();
        std::set<std::string> found;
        for (test_case const& one : cases) {
            if (one.text.find("gaps") != std::string::npos) found.insert(one.text);
        }
        return found;
    };
    auto const sum = intrinsic("add", c(i, j) = a(i, j) + b(i, j)).reads(a, plain).reads(b, plain).writes(c, plain);
    std::string const of = "gaps in dimension 0 of ", all = "gaps in all operands";
    CHECK(gaps(sum) == std::set<std::string>{of + "a", of + "b", of + "c", all});
    auto const address_alone = intrinsic(sum).calls("add", argument::address(a), argument::address(b), argument::address(c));
    CHECK(gaps(address_alone).empty());
    CHECK(gaps(intrinsic(address_alone).stride_at_most(b, 8)) == std::set<std::string>{of + "b"});
    CHECK(gaps(intrinsic(sum).calls("add", argument::address(a), argument::address(b), argument::address(c), argument::stride(c, 0))) ==
          std::set<std::string>{of + "c"});
}
