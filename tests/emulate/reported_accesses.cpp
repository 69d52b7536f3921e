#include <tilewright/halide/checked.hpp>

#include "catch.hpp"

using namespace Halide;
using namespace Halide::Internal;
using tilewright::halide::report_accesses;

namespace {

Expr const machine = Variable::make(Handle(), "machine");
std::map<std::string, tilewright::halide::checked_buffer> const buffers{{"a", {0, Internal::make_const(UInt(64), 1000)}},
                                                                        {"b", {3, Internal::make_const(UInt(64), 5000)}}};

Expr load(std::string const& name, Expr const& index, Type const& type = Int(16)) {
    return Load::make(type.with_lanes(index.type().lanes()), name, index, Buffer<>(), Parameter(), const_true(index.type().lanes()),
                      ModulusRemainder());
}
Stmt store(std::string const& name, Expr const& value, Expr const& index, Expr predicate = {}) {
    if (!predicate.defined()) predicate = const_true(index.type().lanes());
    return Store::make(name, value, index, Parameter(), predicate, ModulusRemainder());
}
/// What stands in front of the accesses of stage 2, line by line, without indentation.
std::vector<std::string> lines_of(Stmt const& body) {
    std::ostringstream text;
    text << report_accesses(body, machine, 2, buffers);
    std::istringstream read(text.str());
    std::vector<std::string> lines;
    for (std::string line; std::getline(read, line);) {
        line.erase(0, line.find_first_not_of(' '));
        // Halide's assertion spans lines with its value.
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}
/// Only the calls, in their order: "buffer, address, bytes, writes".
std::vector<std::string> calls_of(Stmt const& body) {
    std::vector<std::string> calls;
    std::string const before = "let status = tilewright_emulate_access((void *)machine, 2, ";
    for (std::string const& line : lines_of(body)) {
        if (line.rfind(before, 0) == 0) calls.push_back(line.substr(before.size(), line.size() - before.size() - 1));
    }
    return calls;
}
using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("every load is reported, then the store, in front of the statement") {
    Expr const i = Variable::make(Int(32), "i");
    Stmt const body = For::make("i", 0, 8, ForType::Serial, DeviceAPI::None, store("b", load("a", i + 2) + load("b", i), i));
    CHECK(
        lines_of(body) ==
        texts{
            "for (i, 0, 8) {",
            "let status = tilewright_emulate_access((void *)machine, 2, 0, uint64((int64((i + 2))*(int64)2)) + (uint64)1000, (int64)2, 0)",
            "assert(status == 0, status)",
            "let status = tilewright_emulate_access((void *)machine, 2, 3, uint64((int64(i)*(int64)2)) + (uint64)5000, (int64)2, 0)",
            "assert(status == 0, status)",
            "let status = tilewright_emulate_access((void *)machine, 2, 3, uint64((int64(i)*(int64)2)) + (uint64)5000, (int64)2, 1)",
            "assert(status == 0, status)", "b[i] = (int16)a[i + 2] + (int16)b[i]", "}"});
}
TEST_CASE("the lanes of a dense vector are one access, those of another one each") {
    Stmt const body = store("b", load("a", Ramp::make(16, 3, 4)), Ramp::make(8, 1, 4));
    CHECK(calls_of(body) == texts{"0, (uint64)1032, (int64)2, 0", "0, (uint64)1038, (int64)2, 0", "0, (uint64)1044, (int64)2, 0",
                                  "0, (uint64)1050, (int64)2, 0", "3, (uint64)5016, (int64)8, 1"});
    // an index that is loaded itself
    Stmt const gather = store("b", load("a", load("b", Ramp::make(0, 1, 2), Int(32))), Ramp::make(8, 1, 2));
    REQUIRE(calls_of(gather).size() == 4);
    CHECK(calls_of(gather)[0] == "3, (uint64)5000, (int64)8, 0");
}
TEST_CASE("lanes of a load that nothing is made of are not reported") {
    Expr const span = load("a", Ramp::make(16, 1, 5));
    CHECK(calls_of(store("b", Shuffle::make({span}, {0, 3, 1}), Ramp::make(8, 1, 3))) ==
          texts{"0, (uint64)1032, (int64)2, 0", "0, (uint64)1034, (int64)2, 0", "0, (uint64)1038, (int64)2, 0",
                "3, (uint64)5016, (int64)6, 1"});
    Expr const both = Shuffle::make({load("a", Ramp::make(0, 1, 2)), load("b", Ramp::make(0, 1, 2))}, {0, 2, 3});
    CHECK(calls_of(store("b", both, Ramp::make(8, 1, 3))) ==
          texts{"0, (uint64)1000, (int64)2, 0", "3, (uint64)5000, (int64)4, 0", "3, (uint64)5016, (int64)6, 1"});
}
TEST_CASE("lanes that a predicate leaves out are not reported") {
    Expr const few = Ramp::make(0, 1, 2) < Broadcast::make(Variable::make(Int(32), "n"), 2);
    auto const lines = lines_of(store("b", Broadcast::make(cast<std::int16_t>(1), 2), Ramp::make(0, 5, 2), few));
    CHECK(std::count_if(lines.begin(), lines.end(), [](std::string const& line) { return line.rfind("if (", 0) == 0; }) == 2);
    CHECK(calls_of(store("b", Broadcast::make(cast<std::int16_t>(1), 2), Ramp::make(0, 5, 2), few)) ==
          texts{"3, (uint64)5000, (int64)2, 1", "3, (uint64)5010, (int64)2, 1"});
}
TEST_CASE("variables that only an expression defines do not leave it") {
    Expr const t = Variable::make(Int(32), "t"), i = Variable::make(Int(32), "i");
    Stmt const body = store("b", Let::make("t", i * 4, load("a", t)), i);
    CHECK(calls_of(body)[0] == "0, uint64((int64((i*4))*(int64)2)) + (uint64)1000, (int64)2, 0");
    // one that a statement defines is there
    Stmt const let = LetStmt::make("t", load("a", i, Int(32)), store("b", cast<std::int16_t>(t), t));
    CHECK(calls_of(let) == texts{"0, uint64((int64(i)*(int64)4)) + (uint64)1000, (int64)4, 0",
                                 "3, uint64((int64(t)*(int64)2)) + (uint64)5000, (int64)2, 1"});
}
TEST_CASE("memory of the body's own is left alone, and unknown memory is no surprise at run time") {
    Stmt const inside = store("own", load("a", 1), 0);
    CHECK(calls_of(Allocate::make("own", Int(16), MemoryType::Stack, {4}, const_true(), inside)) == texts{"0, (uint64)1002, (int64)2, 0"});
    CHECK_THROWS_WITH(lines_of(inside), Catch::Contains("touches `own`"));
}
