#include <tilewright/emulate/caches.hpp>

#include "catch.hpp"

// Caches of lines of 64 bytes, by hand.

using namespace tilewright::emulation;

namespace {
constexpr std::int64_t line = 64;
byte_range bytes(std::uintptr_t begin, std::uintptr_t end) { return {begin, end}; }
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> listed(std::vector<byte_range> const& ranges) {
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> list;
    for (byte_range const& r : ranges) list.emplace_back(r.begin, r.end);
    return list;
}
using list = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;
}  // namespace

TEST_CASE("sets of bytes: ranges join, are cut, and are asked for in parts") {
    byte_set set;
    set.add(bytes(10, 20)), set.add(bytes(30, 40)), set.add(bytes(20, 25));
    CHECK(listed(set.shared_with(bytes(0, 100))) == list{{10, 25}, {30, 40}});
    set.add(bytes(24, 31));
    CHECK(listed(set.shared_with(bytes(0, 100))) == list{{10, 40}});
    set.remove(bytes(15, 18)), set.remove(bytes(39, 60));
    CHECK(listed(set.shared_with(bytes(12, 100))) == list{{12, 15}, {18, 39}});
    CHECK_FALSE(set.first_of(bytes(15, 18)));
    CHECK(set.first_of(bytes(0, 100)).value() == 10);
    set.remove(bytes(0, 100));
    CHECK(set.empty());
    set.add(bytes(5, 5));
    CHECK(set.empty());
}
TEST_CASE("an engine does not see what a core has written before it is cleaned") {
    caches all;
    int const core = all.join();
    all.write(core, bytes(128, 140), line);
    CHECK_FALSE(all.read(core, bytes(128, 140)));
    REQUIRE(all.read_memory(bytes(100, 200)));
    CHECK(all.read_memory(bytes(100, 200))->at == 128);
    CHECK(all.end(core, {}));
    all.keep_up(core, bytes(130, 131), line, false, {});  // the whole line
    CHECK_FALSE(all.read_memory(bytes(100, 200)));
    CHECK_FALSE(all.end(core, {}));
}
TEST_CASE("a core may hold what was there before an engine wrote, until it invalidates") {
    caches all;
    int const core = all.join(), other = all.join();
    all.write_memory(bytes(256, 300), line);
    REQUIRE(all.read(core, bytes(290, 310)));
    CHECK(all.read(core, bytes(290, 310))->at == 290);
    all.keep_up(core, bytes(256, 300), line, false, {});
    CHECK(all.read(core, bytes(290, 310)));  // to clean is not enough
    all.keep_up(core, bytes(256, 300), line, true, {});
    CHECK_FALSE(all.read(core, bytes(290, 310)));
    CHECK(all.read(other, bytes(290, 310)));
    // What may still arrive may be read too early.
    all.keep_up(other, bytes(256, 300), line, true, {bytes(280, 300)});
    CHECK_FALSE(all.read(other, bytes(256, 280)));
    CHECK(all.read(other, bytes(256, 281)));
}
TEST_CASE("a core sees what another one has cleaned, after it has invalidated") {
    caches all;
    int const writer = all.join(), reader = all.join();
    all.write(writer, bytes(0, 64), line);
    CHECK(all.read(reader, bytes(0, 4)));
    all.keep_up(writer, bytes(0, 64), line, false, {});
    CHECK(all.read(reader, bytes(0, 4)));
    all.keep_up(reader, bytes(0, 64), line, true, {});
    CHECK_FALSE(all.read(reader, bytes(0, 4)));
}
TEST_CASE("two cores that write into one line lose bytes") {
    caches all;
    int const one = all.join(), two = all.join();
    all.write(one, bytes(64, 96), line), all.write(two, bytes(96, 128), line);
    all.keep_up(one, bytes(64, 128), line, false, {});
    all.keep_up(two, bytes(64, 128), line, false, {});
    int const reader = all.join();
    REQUIRE(all.read(reader, bytes(64, 128)));
    CHECK(all.end(one, {bytes(64, 128)})->at == 64);  // core two has written its whole line over it
    // In turns, and with the line read anew, all stays.
    caches ordered;
    int const first = ordered.join(), then = ordered.join();
    ordered.write(first, bytes(64, 96), line);
    ordered.keep_up(first, bytes(64, 96), line, false, {});
    ordered.keep_up(then, bytes(64, 128), line, true, {});
    ordered.write(then, bytes(96, 128), line);
    ordered.keep_up(then, bytes(96, 128), line, false, {});
    CHECK_FALSE(ordered.end(first, {bytes(64, 128)}));
    // Without, the second core writes old bytes back.
    caches stale;
    int const early = stale.join(), late = stale.join();
    stale.write(early, bytes(64, 96), line);
    stale.keep_up(early, bytes(64, 96), line, false, {});
    stale.write(late, bytes(96, 128), line);
    CHECK(stale.end(early, {bytes(64, 128)})->at == 64);
    stale.write(late, bytes(64, 96), line);  // it has them all now
    CHECK_FALSE(stale.end(early, {bytes(64, 128)}));
}
TEST_CASE("an engine that writes into a line that a core has changed may lose what it wrote") {
    caches all;
    int const core = all.join();
    all.write(core, bytes(0, 4), line);
    all.write_memory(bytes(32, 40), line);
    all.keep_up(core, bytes(0, 4), line, true, {});
    CHECK(all.read(core, bytes(32, 40)));
    CHECK(all.read_memory(bytes(32, 40)));
    all.write_memory(bytes(32, 40), line);
    CHECK_FALSE(all.read_memory(bytes(32, 40)));
}
TEST_CASE("inputs are what others have written, and a reset forgets all") {
    caches all;
    int const core = all.join();
    all.miss(core, bytes(0, 10));
    CHECK(all.read(core, bytes(9, 12)));
    all.write(core, bytes(100, 101), line);
    all.reset(core);
    CHECK_FALSE(all.read(core, bytes(0, 200)));
    CHECK_FALSE(all.end(core, {}));
}
