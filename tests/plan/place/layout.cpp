#include <tilewright/plan/place/layout.hpp>
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

#include "plan/small_kernels.hpp"
#include <map>
#include <random>
#include <set>

// Where an index map puts the elements of a box, and which maps are refused.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory tcm{.name = "tcm", .base = 0x1000'0000, .capacity = 64_KiB, .banks = 2};
constexpr memory flat{.name = "flat", .base = 0x2000'0000, .capacity = 1_MiB};
constexpr auto load = transfer("load", dram, tcm).dimensions(3);
constexpr auto load_flat = transfer("load_flat", dram, flat).dimensions(3);
constexpr auto store = transfer("store", tcm, dram).dimensions(3);
constexpr auto dsp = machine("dsp", dram, tcm, flat, load, load_flat, store);
constexpr axis m{"m", 24}, n{"n", 16}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"};
constexpr tensor<float> X{"X"}, Y{"Y"};
constexpr auto twice = Y(m, n) = X(m, n) * 2;

template <class Map>
verdict refusal_of(Map const& map, memory const& where = tcm) {
    return make_plan(schedule(twice, dsp).split(m, mo, mi, 12).cache_read(X, where).at(mo).layout(map)).refusal;
}
std::string text_of(verdict const& v) { return sentence_of(v).letters.elements; }

/// An index map as a person reads it: from left to right, in plain integers.
struct coordinate {
    int dimension;
    std::vector<std::pair<char, int>> parts;

    int of(std::vector<int> const& box) const {
        int value = box[dimension];
        for (auto const& [sign, number] : parts) value = sign == '/' ? value / number : value % number;
        return value;
    }
    box_index written(box_index const& from) const {
        box_index index = from;
        for (auto const& [sign, number] : parts) index = sign == '/' ? index / number : index % number;
        return index;
    }
};

std::int64_t value_of(plan_value const& plan, ir::affine const& form, std::map<int, std::int64_t> const& loops);
std::int64_t value_of(plan_value const& plan, int at, std::map<int, std::int64_t> const& loops) {
    ir::variable const& v = plan.variables[at];
    if (v.kind != ir::variable_kind::component) return loops.at(at);
    std::int64_t const part = value_of(plan, v.fused, loops) / v.divisor;
    return v.modulus == 0 ? part : part % v.modulus;
}
std::int64_t value_of(plan_value const& plan, ir::affine const& form, std::map<int, std::int64_t> const& loops) {
    std::int64_t value = form.constant;
    for (int t = 0; t < form.count; ++t) value += plan.term_at(form, t).coefficient * value_of(plan, plan.term_at(form, t).variable, loops);
    return value;
}

}  // namespace

TEST_CASE("the dimensions of a buffer are those of its map, with padding") {
    auto const buffer_of = [](auto const& map) {
        auto const plan = make_plan(schedule(twice, dsp).split(m, mo, mi, 12).cache_read(X, tcm).at(mo).layout(map));
        INFO(text_of(plan.refusal));
        REQUIRE(!plan.refusal);
        return plan.buffers[2];
    };
    auto const extents = [](ir::buffer const& b) { return std::vector<std::int64_t>(b.extents.elements, b.extents.elements + b.rank); };
    using list = std::vector<std::int64_t>;
    CHECK(extents(buffer_of([](auto i, auto j) { return index_map(j, i); })) == list{16, 12});
    ir::buffer const padded = buffer_of([](auto i, auto j) { return index_map(i / 5, j / 6, i % 5, j % 6); });
    CHECK(extents(padded) == list{3, 3, 5, 6});
    CHECK(padded.bytes == 3 * 3 * 5 * 6 * 4);
    CHECK(extents(buffer_of([](auto i, auto j) { return index_map(j / 8, i / 8, i % 8 / 2, j % 8, i % 2); })) == list{2, 2, 4, 8, 2});
    ir::buffer const spread = buffer_of([](auto i, auto j) { return index_map(i % 2, separator, i / 2, j); });
    CHECK(spread.blocks == 2);
    CHECK(spread.part_bytes() == 6 * 16 * 4);
    CHECK(spread.banks_of(0, 2) == 3);
}
TEST_CASE("an index map that is no bijection is refused with the indices that meet") {
    CHECK(text_of(refusal_of([](auto i, auto j) {
              return index_map(i / 6, j);
          })).find("the layout of `X`: indices 0 and 1 of dimension 0 have one place [layout, directive 4, line ") == 0);
    auto const facts = [](verdict const& v) {
        CHECK(v.kind == verdict_kind::layout_mismatch);
        return std::array{v.facts[0].value, v.facts[1].value, v.facts[2].value};
    };
    verdict v = refusal_of([](auto i, auto j) { return index_map(j, i % 6); });
    CHECK(v.broken == ir::rule::indices_in_one_place);
    CHECK(facts(v) == std::array<std::int64_t, 3>{0, 0, 6});
    v = refusal_of([](auto i, auto j) { return index_map(i, j / 8, j % 4); });
    CHECK(v.broken == ir::rule::indices_in_one_place);
    CHECK(facts(v) == std::array<std::int64_t, 3>{1, 0, 4});
    v = refusal_of([](auto i, auto) { return index_map(i); });
    CHECK(facts(v) == std::array<std::int64_t, 3>{1, 0, 1});
    v = refusal_of([](auto i, auto j) { return index_map(i / 4, i % 6, j); });
    CHECK(v.broken == ir::rule::parts_that_overlap);
    CHECK(facts(v) == std::array<std::int64_t, 3>{0, 4, 6});
    v = refusal_of([](auto i, auto j) { return index_map(i, j, i); });
    CHECK(v.broken == ir::rule::parts_that_overlap);
    CHECK(facts(v) == std::array<std::int64_t, 3>{0, 1, 12});
}
TEST_CASE("maps of another rank, uneven parts, bad factors and too many dimensions are refused") {
    verdict v = refusal_of([](auto i) { return index_map(i); });
    CHECK(v.broken == ir::rule::map_of_another_rank);
    CHECK(v.facts[0].value == 1);
    CHECK(v.facts[1].value == 2);
    v = refusal_of([](auto i, auto j) { return index_map(i / 10, i % 10 / 4, i % 10 % 4, j); });
    CHECK(v.broken == ir::rule::part_of_unequal_parts);
    CHECK(v.facts[0].value == 10);
    CHECK(v.facts[1].value == 4);
    CHECK(refusal_of([](auto i, auto j) { return index_map(i / 0, j); }).kind == verdict_kind::invalid_number);
    CHECK(refusal_of([](auto i, auto j) { return index_map(i, j % -2); }).kind == verdict_kind::invalid_number);
    CHECK(refusal_of([](auto i, auto j) { return index_map(i / 8, i % 8 / 4, i % 4 / 2, i % 2, j / 8, j % 8 / 4, j % 4); }).kind ==
          verdict_kind::capacity_of_representation);
    CHECK(refusal_of([](auto i, auto j) { return index_map(i % (std::int64_t{1} << 39), j % (std::int64_t{1} << 39)); }).kind ==
          verdict_kind::capacity_of_representation);
    CHECK(make_plan(schedule(twice, dsp).layout([](auto i) { return index_map(i); }).cache_read(X, tcm)).refusal.kind ==
          verdict_kind::misplaced_directive);
    auto const same = [](auto i, auto j) { return index_map(i, j); };
    CHECK(make_plan(schedule(twice, dsp).cache_read(X, tcm).layout(same).layout(same)).refusal.kind ==
          verdict_kind::conflicting_directives);
    schedule many(twice, dsp);
    for (int at = 0; at < schedule::most_layouts; ++at) many.cache_read(X, tcm).layout(same);
    CHECK(make_plan(many).refusal.kind != verdict_kind::capacity_of_representation);
    v = make_plan(many.cache_write(Y, tcm).layout(same)).refusal;
    CHECK(v.kind == verdict_kind::capacity_of_representation);
    CHECK(v.facts[0].value == 9);
    CHECK(v.facts[1].value == 8);
}
TEST_CASE("a separator needs a bank for each of its blocks") {
    verdict v = refusal_of([](auto i, auto j) { return index_map(i % 3, separator, i / 3, j); });
    CHECK(text_of(v).find("the layout of `X`: its separator makes 3 blocks, `tcm` has 2 banks [layout") == 0);
    v = refusal_of([](auto i, auto j) { return index_map(i % 2, separator, i / 2, j); }, flat);
    CHECK(v.broken == ir::rule::blocks_without_banks);
    CHECK(v.facts[0].value == 2);
    CHECK(v.facts[1].value == 1);
    CHECK(refusal_of([](auto i, auto j) { return index_map(i % 2, separator, i / 2, separator, j); }).broken == ir::rule::two_separators);
    CHECK(!refusal_of([](auto i, auto j) { return index_map(separator, i, j); }));
    // Lanes of one vector in two blocks.
    auto const lanes = [](std::int64_t count) {
        return make_plan(schedule(twice, dsp).vectorize(n, count).cache_read(X, tcm).layout([](auto i, auto j) {
                   return index_map(j / 8, separator, i, j % 8);
               }))
            .refusal;
    };
    CHECK(!lanes(8));
    CHECK(!lanes(4));
    CHECK(lanes(16).broken == ir::rule::vectorized_across_blocks);
}
TEST_CASE("an access that is a constant ahead is in the place of its element") {
    auto const what = Y(m, n) = X(m, n) * X(m + 13, n);
    auto const plan = make_plan(schedule(what, dsp).cache_read(X, tcm).layout([](auto i, auto j) { return index_map(i / 8, j, i % 8); }));
    REQUIRE(!plan.refusal);
    int accesses = 0;
    for (int at = 0; at < plan.uses.size(); ++at) {
        ir::use const& u = plan.uses[at];
        if (plan.buffers[u.buffer].tensor != X.name) continue;
        std::int64_t const ahead = accesses++ * 13;
        std::map<int, std::int64_t> loops;
        for (int v = 0; v < plan.variables.size(); ++v) loops[v] = 0;
        for (int i = 0; i < 24; ++i) {
            for (int v = 0; v < plan.variables.size(); ++v) {
                if (plan.variables[v].name == m.name) loops[v] = i;
            }
            CHECK(value_of(plan, u.at[0], loops) == (i + ahead) / 8);
            CHECK(value_of(plan, u.at[2], loops) == (i + ahead) % 8);
        }
    }
    CHECK(accesses == 2);
}
TEST_CASE("random maps put every element where plain integers put it, or are refused") {
    std::mt19937 random(5);
    auto const below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    int accepted = 0, collided = 0, overlapped = 0;
    for (int trial = 0; trial < 600; ++trial) {
        int const tile = 1 + below(24), columns = 1 + below(16);
        std::vector<coordinate> map;
        for (int dimension = 0; dimension < 2; ++dimension) {
            // Parts of a split, of which some trials change one.
            std::vector<int> factors;
            for (int splits = below(3); splits > 0; --splits) factors.push_back(2 + below(5));
            int inner = 1;
            for (std::size_t at = 0; at < factors.size(); ++at) {
                coordinate c{dimension, {{'%', inner * factors[at]}}};
                if (inner > 1) c.parts.push_back({'/', inner});
                map.push_back(c);
                inner *= factors[at];
            }
            coordinate outermost{dimension, {}};
            if (inner > 1) outermost.parts.push_back({'/', inner});
            map.push_back(outermost);
        }
        if (map.size() > 6) continue;
        std::shuffle(map.begin(), map.end(), random);
        if (below(3) == 0) {
            coordinate& changed = map[below(static_cast<int>(map.size()))];
            if (changed.parts.empty()) changed.parts.push_back({below(2) == 0 ? '/' : '%', 2 + below(6)});
            else changed.parts.front().second += 1 + below(3);
        }
        bool uneven = false;
        for (coordinate const& c : map) uneven |= c.written(box_index{.dimension = c.dimension}).is_broken;
        if (uneven) continue;
        auto const what = Y(m, n) = X(m, n) * 2;
        schedule s(what, dsp);
        s.tile(m, n, mo, no, mi, ni, tile, columns).cache_read(X, flat).at(no).layout([&](box_index i, box_index j) {
            index_map_list list;
            for (coordinate const& c : map) list.indices[list.count++] = c.written(c.dimension == 0 ? i : j);
            return list;
        });
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        int const rows = tile, cols = columns;
        auto const place = [&](int i, int j) {
            std::vector<int> at;
            for (coordinate const& c : map) at.push_back(c.of({i, j}));
            return at;
        };
        std::set<std::vector<int>> places;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j) places.insert(place(i, j));
        }
        bool const bijective = places.size() == static_cast<std::size_t>(rows * cols);
        INFO("trial " << trial << ", " << rows << " x " << cols << ": " << text_of(plan->refusal));
        if (plan->refusal) {
            REQUIRE(plan->refusal.kind == verdict_kind::layout_mismatch);
            int const one = static_cast<int>(plan->refusal.facts[1].value), other = static_cast<int>(plan->refusal.facts[2].value);
            bool const first = plan->refusal.facts[0].value == 0;
            if (plan->refusal.broken == ir::rule::indices_in_one_place) {
                ++collided;
                CHECK_FALSE(bijective);
                CHECK(other < (first ? rows : cols));
                CHECK((first ? place(one, 0) == place(other, 0) : place(0, one) == place(0, other)));
                continue;
            }
            // Some place has no index, however far the box goes.
            ++overlapped;
            REQUIRE(plan->refusal.broken == ir::rule::parts_that_overlap);
            std::set<std::vector<int>> all;
            std::vector<std::set<int>> values(map.size());
            for (int index = 0; index < 2000; ++index) {
                std::vector<int> const at = place(first ? index : 0, first ? 0 : index);
                for (std::size_t c = 0; c < at.size(); ++c) {
                    if (at[c] < 4) values[c].insert(at[c]);
                }
                if (std::all_of(at.begin(), at.end(), [](int v) { return v < 4; })) all.insert(at);
            }
            std::size_t product = 1;
            for (auto const& v : values) product *= v.size();
            CHECK(all.size() < product);
            continue;
        }
        ++accepted;
        REQUIRE(bijective);
        // Every iteration reads the place of its element.
        ir::use const* found = nullptr;
        for (int at = 0; at < plan->uses.size(); ++at) {
            if (plan->buffers[plan->uses[at].buffer].tensor == X.name) found = &plan->uses[at];
        }
        REQUIRE(found != nullptr);
        ir::buffer const& b = plan->buffers[found->buffer];
        std::map<int, std::int64_t> loops;
        for (int v = 0; v < plan->variables.size(); ++v) loops[v] = 0;
        auto const loop = [&](ir::label const& name) {
            for (int v = 0; v < plan->variables.size(); ++v) {
                if (plan->variables[v].name == name) return v;
            }
            return -1;
        };
        int wrong = 0;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j) {
                loops[loop(mi.name)] = i, loops[loop(ni.name)] = j;
                std::vector<int> const at = place(i, j);
                for (int d = 0; d < b.rank; ++d) {
                    std::int64_t const index = value_of(*plan, found->at[d], loops);
                    wrong += index != at[d] || index >= b.extents[d];
                }
            }
        }
        CHECK(wrong == 0);
    }
    CHECK(accepted > 200);
    CHECK(collided > 20);
    CHECK(overlapped > 20);
}

namespace {

/// Loops a of 3 and b of 4 of a plan on the blocking machine.
struct two_loops : small_kernels::blank {
    std::int16_t a = small_kernels::add_loop(p.plan, "a", 3), b = small_kernels::add_loop(p.plan, "b", 4);
};
using small_kernels::sum_of, small_kernels::same;

}  // namespace

TEST_CASE("a form is divided: what is a multiple goes up, the rest stays below where it does") {
    two_loops t;
    ir::linear high, low;
    detail::divide(sum_of(7, {{12, t.a}, {3, t.b}}), 4, high, low);
    CHECK(same(high, sum_of(1, {{3, t.a}})));
    CHECK(same(low, sum_of(3, {{3, t.b}})));
    ir::linear above, below;
    detail::divide(sum_of(-1), 4, above, below);
    CHECK((above.constant == -1 && below.constant == 3));
    // 3 + 3 b goes to 12
    CHECK((detail::stays_below(t.p, low, 13) && !detail::stays_below(t.p, low, 12)));
    CHECK_FALSE(detail::stays_below(t.p, sum_of(-1, {{1, t.b}}), 12));
}
TEST_CASE("a part of an index is a form where its loops stay in it, else a component of as little as can be") {
    two_loops t;
    int const before = t.p.plan.variables.size();
    ir::linear const tile = sum_of(1, {{8, t.a}, {2, t.b}});  // 1 to 23
    CHECK(same(detail::quotient_of(t.p, "A", tile, 8), sum_of(0, {{1, t.a}})));
    CHECK(same(detail::remainder_of(t.p, "A", tile, 8), sum_of(1, {{2, t.b}})));
    CHECK(same(detail::part_of(t.p, "A", tile, 2, 4), sum_of(0, {{1, t.b}})));
    CHECK(same(detail::part_of(t.p, "A", tile, 8, 3), sum_of(0, {{1, t.a}})));  // never wraps
    CHECK(t.p.plan.variables.size() == before);
    // 4 a + 2 b + 1, in rows of 8: (2 a + b) % 4 pairs, and one behind.
    ir::linear const across = sum_of(1, {{4, t.a}, {2, t.b}});
    ir::linear const rest = detail::remainder_of(t.p, "A", across, 8);
    REQUIRE(t.p.plan.variables.size() == before + 1);
    CHECK(same(rest, sum_of(1, {{2, before}})));
    CHECK((t.p.var(before).modulus == 4 && t.p.var(before).extent == 4));
    CHECK(same(t.p.form_of(t.p.var(before).fused), sum_of(0, {{2, t.a}, {1, t.b}})));
    detail::remainder_of(t.p, "A", across, 8);
    CHECK(t.p.plan.variables.size() == before + 1);
    ir::linear const row = detail::quotient_of(t.p, "A", across, 8);
    CHECK(same(row, sum_of(0, {{1, before + 1}})));
    CHECK((t.p.var(before + 1).divisor == 4 && t.p.var(before + 1).extent == 2));
}
