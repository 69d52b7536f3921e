#include <tilewright/plan/place/reading.hpp>

#include "plan/passes.hpp"

// What the computation and the directives say, before anything is decided.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

verdict refusal_of(schedule const& of) { return planned_to(pass::read, of).refusal(); }
rule broken_by(schedule const& of) { return refusal_of(of).broken; }
template <class Computation>
rule broken_by(Computation const& what) {
    return broken_by(schedule(what, blocking));
}
constexpr tensor<std::int32_t> S{"S"}, two_words{"two words"};
constexpr parameter<std::int32_t> scale{"scale"}, of_tensor{"A"};
constexpr parameter<float> other_scale{"scale"};
constexpr auto two_stages = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
schedule copied() { return schedule(copy, blocking); }

}  // namespace

TEST_CASE("names are those of C, and a scalar has one of its own") {
    auto const no_name = C(m, n) = two_words(m, n);
    CHECK(broken_by(no_name) == rule::no_identifier);
    auto const of_two = C(m, n) = A(m, n) * of_tensor;
    CHECK(broken_by(of_two) == rule::name_of_two_things);
    auto const types = C(m, n) = A(m, n) * scale + cast<std::int32_t>(other_scale);
    CHECK(broken_by(types) == rule::used_with_two_types);
    auto const twice = C(m, n) = A(m, n) * scale + scale;
    CHECK(broken_by(twice) == rule::none);
}
TEST_CASE("an amount that no shift can have is refused") {
    auto const most = C(m, n) = A(m, n) >> 31, too_much = C(m, n) = A(m, n) >> 32, negative = C(m, n) = A(m, n) << -1;
    CHECK(broken_by(most) == rule::none);
    CHECK(broken_by(too_much) == rule::no_shift_amount);
    CHECK(broken_by(negative) == rule::no_shift_amount);
}
TEST_CASE("paddings of one tensor agree on its extents") {
    constexpr axis x{"x", 8}, y{"y", 9};
    auto const same = C(x) = padded(A(x), 0)(x - 1) + padded(A(x), 0)(x + 1);
    auto const differ = C(x) = padded(A(x), 0)(x - 1) + padded(A(y), 0)(x + 1);
    CHECK(broken_by(same) == rule::none);
    CHECK(broken_by(differ) == rule::padding_with_two_extents);
    auto const produced = stages(S(x) = A(x), C(x) = padded(S(y), 0)(x - 1));
    CHECK(broken_by(schedule(produced, blocking).store_in(S, spad)) == rule::padding_with_two_extents);
}
TEST_CASE("stages are computed once and read, and one that continues is the last") {
    auto const twice = stages(C(m, n) = A(m, n), C(m, n) = B(m, n)), unread = stages(S(m, n) = A(m, n), C(m, n) = B(m, n));
    CHECK(broken_by(twice) == rule::computed_by_two_stages);
    CHECK(broken_by(unread) == rule::never_read);
    auto const in_the_middle = stages(S(m, n) = S(m, n) + sum(k, A(m, k)), C(m, n) = S(m, n));
    CHECK(broken_by(in_the_middle) == rule::continuing_in_the_middle);
    planned_to const read(pass::read, schedule(two_stages, blocking).store_in(S, spad));
    REQUIRE_FALSE(read.p.refused());
    CHECK((read.p.plan.stages.size() == 2 && read.p.from.placements.size() == 2 && read.p.from.nests.size() == 2));
}
TEST_CASE("a staging is of a tensor that its stage reads, or computes") {
    CHECK(broken_by(copied().cache_read(B, spad)) == rule::not_read_by_the_stage);
    CHECK(broken_by(copied().cache_write(A, spad)) == rule::not_computed_by_the_stage);
    // Of another stage when that is said.
    schedule const of = schedule(two_stages, blocking).store_in(S, spad);
    CHECK(broken_by(schedule(of).cache_read(A, spad)) == rule::not_read_by_the_stage);
    planned_to const t(pass::read, schedule(of).stage(S).cache_read(A, spad));
    REQUIRE_FALSE(t.p.refused());
    CHECK((t.p.staging_at(0).stage == 0 && !t.p.staging_at(0).writes && t.p.staging_at(0).memory == 1 && t.p.staging_at(0).ordinal == 3));
}
TEST_CASE("what is said of a staging is said once, in numbers that it can have") {
    planned_to const t(pass::read, copied().cache_read(A, spad).by(get).at(m).buffers(3).prefetch(2).in_bank(0));
    REQUIRE_FALSE(t.p.refused());
    staging const& st = t.p.staging_at(0);
    CHECK((st.versions == 3 && st.distance == 2 && st.bank == 0 && st.transfer == 0 && st.loop == "m"));
    CHECK((st.versions_ordinal == 4 && st.distance_ordinal == 5));
    CHECK(refusal_of(copied().cache_read(A, spad).at(m).at(n)).kind == verdict_kind::conflicting_directives);
    CHECK(refusal_of(copied().cache_read(A, spad).buffers(2).buffers(2)).kind == verdict_kind::conflicting_directives);
    verdict const none = refusal_of(copied().cache_read(A, spad).buffers(0)), many = refusal_of(copied().cache_read(A, spad).buffers(17));
    CHECK((none.kind == verdict_kind::invalid_number && none.facts[0].value == 0 && none.facts[1].value == 1));
    CHECK((many.kind == verdict_kind::capacity_of_representation && many.facts[1].value == most_versions));
    CHECK(refusal_of(copied().cache_read(A, spad).prefetch(0)).kind == verdict_kind::none);
    CHECK(broken_by(copied().at(m)) == rule::behind_no_staging);
    CHECK(broken_by(copied().writes(C, dram).buffers(2)) == rule::behind_no_staging);
    planned_to const stored(pass::read, schedule(two_stages, blocking).store_in(S, spad).buffers(2));
    REQUIRE_FALSE(stored.p.refused());
    CHECK((stored.p.placed(0_stage).store_versions == 2 && stored.p.placed(0_stage).store_versions_ordinal == 2));
}
TEST_CASE("an argument lies where the caller says, which is said once of an argument") {
    CHECK(broken_by(copied().reads(C, dram)) == rule::not_an_input);
    CHECK(broken_by(copied().writes(A, dram)) == rule::not_the_result);
    CHECK(refusal_of(copied().reads(A, dram).reads(A, dram)).kind == verdict_kind::conflicting_directives);
    CHECK(refusal_of(copied().store_in(C, spad).writes(C, dram)).kind == verdict_kind::conflicting_directives);
    static constexpr memory file{.name = "file", .capacity = 64, .registers = 4};
    static constexpr auto with_file = machine("with_file", dram, file);
    CHECK(broken_by(schedule(copy, with_file).reads(A, file)) == rule::holds_no_arguments);
    CHECK(refusal_of(schedule(copy, blocking).reads(A, file)).kind == verdict_kind::unknown_part);
}
TEST_CASE("names that loops are given are those of C") {
    CHECK(broken_by(copied().split(m, "m o", mi, 2)) == rule::no_identifier);
    CHECK(refusal_of(copied().compute_at(B, m)).broken == rule::not_computed);
}
