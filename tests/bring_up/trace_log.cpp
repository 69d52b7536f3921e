#include <tilewright/bring_up/trace_log.hpp>

#include "catch.hpp"

// Traces whose rings were too short, or that were cut off.

using namespace tilewright::bring_up;

namespace {

std::vector<core_trace> read(std::string const& text) {
    std::istringstream from(text);
    return read_trace(from);
}
std::string refusal_of(std::string const& text) {
    try {
        read(text);
    } catch (std::invalid_argument const& why) {
        return why.what();
    }
    return {};
}

}  // namespace

TEST_CASE("of each core whose ring was too short, a line says how many calls are lost") {
    CHECK(lost_text(read("core 0 calls 1 lost 0\nf 1 = 0 @ 1 2\n")) == "");
    CHECK(lost_text(read("core 0 calls 1 lost 0\nf 1 = 0 @ 1 2\ncore 1 calls 6 lost 5\nf 1 = 0 @ 1 2\ncore 2 calls 9 lost 9\n")) ==
          "core 1: the first 5 calls are lost, since the ring was too short: raise TILEWRIGHT_TRACE_RECORDS\n"
          "core 2: the first 9 calls are lost, since the ring was too short: raise TILEWRIGHT_TRACE_RECORDS\n");
}
TEST_CASE("a trace that was cut off is refused") {
    CHECK(refusal_of("core 0 calls 2 lost 0\nf 1 = 0 @ 1 2\n") ==
          "core 0: calls that were kept: 2, calls in this trace: 1; it is not whole");
    CHECK(refusal_of("core 0 calls 3 lost 2\ncore 1 calls 1 lost 0\nf 1 = 0 @ 1 2\n") ==
          "core 0: calls that were kept: 1, calls in this trace: 0; it is not whole");
    CHECK(refusal_of("core 0 calls 1 lost 0\nf 1 = 0 @ 1 2\nf 1 = 0 @ 3 4\n") ==
          "core 0: calls that were kept: 1, calls in this trace: 2; it is not whole");
}
