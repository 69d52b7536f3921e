#include <tilewright/plan/check/cached_accesses.hpp>

#include "plan/check/cache_simulator.hpp"
#include "plan/small_kernels.hpp"

// What a loop program touches behind caches: by which strides its loops move it, and how often they run.

using tilewright::detail::cached_access;
using tilewright::detail::cached_accesses;

namespace {

using namespace tilewright;
namespace ir = tilewright::ir;

constexpr memory ram{.name = "ram", .behind_caches = true}, near{.name = "near", .capacity = 4096, .alignment = 64, .behind_caches = true},
    scratch{.name = "scratch", .capacity = 4096};
constexpr core cpu{.name = "cpu", .caches = {{{.bytes = 4096}}}};
constexpr auto pack = transfer("pack", ram, near).on(cpu);
constexpr auto fetch = transfer("fetch", ram, scratch).on(cpu);
constexpr auto on = machine("on", ram, near, scratch, cpu, pack, fetch);
constexpr axis y{"y", 12}, x{"x", 20}, outside{"outside"}, inside{"inside"};
constexpr tensor<float> from{"from"}, to{"to"};

struct read_plan {
    plan_value plan;
    cached_accesses accesses{};

    explicit read_plan(schedule const& s) : plan(make_plan(s)) {
        REQUIRE(!plan.refusal);
        tilewright::detail::access_reader(plan, accesses).read();
        CHECK(accesses.complete);
    }
    /// The accesses to a buffer, in the order of the program.
    std::vector<cached_access> of(char const* name) const {
        std::vector<cached_access> found;
        for (int at = 0; at < accesses.accesses.size(); ++at) {
            cached_access const& one = accesses.accesses[at];
            if (plan.buffers[accesses.buffers[one.place]].name == name) found.push_back(one);
        }
        return found;
    }
};
/// Strides and iterations of the loops that move an access, outermost first.
std::vector<std::pair<std::int64_t, double>> moves(cached_access const& a) {
    std::vector<std::pair<std::int64_t, double>> all;
    for (int at = 0; at < a.loop_count; ++at) {
        if (a.strides[at] != 0 && a.iterations[at] > 1) all.emplace_back(a.strides[at], a.iterations[at]);
    }
    return all;
}
using expected = std::vector<std::pair<std::int64_t, double>>;

// A computation has to stand as long as its schedule.
constexpr auto plus_one = to(y, x) = from(y, x) + 1;
constexpr auto transposed = to(y, x) = from(x, y) + 1;
constexpr auto backwards = to(x) = from(19 - x) + 1;

}  // namespace

TEST_CASE("loops of a body move its accesses by what the indices say") {
    read_plan const read(schedule(transposed, on));
    REQUIRE(read.of("from").size() == 1);
    CHECK(moves(read.of("from")[0]) == expected{{4, 12}, {48, 20}});
    CHECK(read.of("from")[0].reads);
    CHECK_FALSE(read.of("from")[0].writes);
    CHECK(moves(read.of("to")[0]) == expected{{80, 12}, {4, 20}});
    CHECK(read.of("to")[0].writes);
    CHECK(read.of("to")[0].element_bytes == 4);
}
TEST_CASE("an index that runs backwards is counted from where it ends") {
    read_plan const read(schedule(backwards, on));
    CHECK(moves(read.of("from")[0]) == expected{{4, 20}});
    CHECK(read.of("from")[0].constant == 0);
}
TEST_CASE("each value of an index that is computed is another element") {
    constexpr axis rows{"rows", 15};
    constexpr tensor<std::int8_t> which{"which"};
    constexpr auto picked = to(y, x) = padded(from(rows, x), 0)(which(y), x);
    read_plan const read(schedule(picked, on));
    CHECK(moves(read.of("from")[0]) == expected{{80, 12}, {4, 20}});
    constexpr axis few{"few", 5};
    constexpr auto of_few = to(y, x) = padded(from(few, x), 0)(which(y), x);
    CHECK(moves(read_plan(schedule(of_few, on)).of("from")[0]) == expected{{80, 5}, {4, 20}});
}
TEST_CASE("copies move by their own dimensions, and memories without caches are left out") {
    read_plan const read(schedule(plus_one, on).cache_read(from, near).at(y));
    REQUIRE(read.of("from").size() == 1);
    CHECK(moves(read.of("from")[0]) == expected{{80, 12}, {4, 20}});
    REQUIRE(read.of("from.near").size() == 2);
    CHECK(moves(read.of("from.near")[0]) == expected{{4, 20}});
    CHECK(read.of("from.near")[0].writes);
    CHECK(read.of("from.near")[1].reads);
    read_plan const far(schedule(plus_one, on).cache_read(from, scratch).at(y));
    CHECK(far.of("from.scratch").empty());
}
TEST_CASE("where the last tile is partial, loops have as many iterations as there are on average") {
    // 20 in tiles of 8: 8, 8 and 4.
    read_plan const read(schedule(plus_one, on).split(x, outside, inside, 8));
    CHECK(moves(read.of("from")[0]) == expected{{80, 12}, {32, 3}, {4, 20.0 / 3}});
    read_plan const copied(schedule(plus_one, on).split(x, outside, inside, 8).cache_read(from, near).at(outside));
    CHECK(moves(copied.of("from")[0]) == expected{{80, 12}, {32, 3}, {4, 20.0 / 3}});
}
TEST_CASE("parts of a fused loop move by their own strides") {
    read_plan const read(schedule(plus_one, on).fuse(y, x, outside));
    REQUIRE(read.of("from").size() == 1);
    CHECK(read.of("from")[0].moving == 1);
}
TEST_CASE("what happens in some iterations only has a share") {
    axis const k{"k", 8}, ko{"ko"}, ki{"ki"};
    tensor<float> const a{"a"}, b{"b"};
    static constexpr memory registers = register_file("registers", 8, 16);
    static constexpr auto load = transfer("load", ram, registers).on(cpu), store = transfer("store", registers, ram).on(cpu);
    static constexpr auto with_registers = machine("with_registers", ram, registers, cpu, load, store);
    axis const m{"m", 4}, n{"n", 4};
    tensor<float> const c{"c"};
    auto const product = c(m, n) += a(m, k) * b(k, n);
    read_plan const read(
        schedule(product, with_registers).split(k, ko, ki, 4).reorder(ko, m, ki, n).vectorize(n).cache_write(c, registers).at(m));
    // Partial sums are loaded in the second of two iterations of ko, and stored in both.
    REQUIRE(read.of("c").size() == 2);
    CHECK(read.of("c")[0].share == 0.5);
    CHECK(read.of("c")[1].share == 1);
}
