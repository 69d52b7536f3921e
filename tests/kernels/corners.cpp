// clang-format off: schedules are read line by line, a buffer a line.
#include "catch.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"

// Schedules in which two features meet. They are compared with the algorithm without the plan.

using namespace tilewright;

namespace {

using kernels::dsp, kernels::l1, kernels::l2;
constexpr axis i{"i", 48}, i1{"i1", 50}, io{"io"}, ii{"ii"}, e24{"e24", 24};
constexpr tensor<std::int32_t> A{"A"}, B{"B"}, P{"P"}, Q{"Q"}, R{"R"};
constexpr auto halo = stages(P(i1) = A(i1) * 3, R(i) = P(i) + P(i + 2));

void check_equal(schedule const& s, emulator& on = emulated<dsp>(), std::vector<double> const& parameters = {}) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    kernels::check_kernel(*plan, on, parameters);
}
verdict refusal_of(schedule const& s) { return make_plan(s).refusal; }

}  // namespace

TEST_CASE("what a producer computes in a scratchpad is stored before its consumer reads it") {
    check_equal(schedule(halo, dsp).split(i, io, ii, 8).compute_at(P, io).store_in(P, l2).stage(P).cache_write(P, l1).at(io));
    check_equal(schedule(halo, dsp).split(i, io, ii, 8).compute_at(P, io).store_in(P, l2).stage(P).cache_write(P, l1));
    check_equal(schedule(halo, dsp).split(i, io, ii, 8).compute_at(P, io).store_in(P, l2).cache_read(P, l1).at(io));
    check_equal(schedule(halo, dsp).store_in(P, l2).stage(P).cache_write(P, l1));
}
TEST_CASE("a tensor is not staged outside the loop that computes it") {
    auto const outside = refusal_of(schedule(halo, dsp).split(i, io, ii, 8).compute_at(P, io).store_in(P, l2).cache_read(P, l1));
    CHECK(outside.kind == verdict_kind::loop_order);
    CHECK(outside.broken == ir::rule::outside_its_producer);
    CHECK(refusal_of(schedule(halo, dsp).split(i, io, ii, 8).compute_at(P, ii).store_in(P, l2).stage(P).cache_write(P, l1).at(io)).broken ==
          ir::rule::outside_its_producer);
}
TEST_CASE("a column that one transfer moves as a row must follow itself without gaps") {
    auto const column = stages(R(e24) = A(e24, 0) + 1);
    auto const s = schedule(column, dsp).cache_read(A, l1);
    plan_value const plan = make_plan(s);
    REQUIRE(!plan.refusal);
    CHECK(plan.buffers[0].dense_from == 0);
}
TEST_CASE("a loop may have the name of a parameter, an axis may not") {
    constexpr parameter<std::int32_t> alpha{"alpha"};
    auto const scaled = R(i) = A(i) * alpha;
    check_equal(schedule(scaled, dsp).split(i, "alpha", "b", 4).cache_read(A, l1).at("alpha"), emulated<dsp>(), {3});
    constexpr axis same{"alpha", 24};
    auto const clash = R(same) = A(same) * alpha;
    CHECK(refusal_of(schedule(clash, dsp)).broken == ir::rule::name_of_two_things);
}
TEST_CASE("names of the generated code are free for users") {
    constexpr axis machine_axis{"emulated_machine", 12}, status{"status", 4};
    auto const named = R(machine_axis, status) = A(machine_axis, status) + 1;
    check_equal(schedule(named, dsp).cache_read(A, l1).at(machine_axis).cache_write(R, l1).at(status));
}
TEST_CASE("a value is true where it is not 0") {
    constexpr tensor<bool> some{"some"};
    auto const check = [&]<class T>(T) {
        tensor<T> const given{"given"};
        auto const what = some(i) = cast<bool>(given(i)) != cast<bool>(given(i) % 4);
        check_equal(schedule(what, dsp).vectorize(i, 8));
    };
    check(std::int8_t{}), check(std::uint16_t{}), check(std::int64_t{}), check(float{});
}
TEST_CASE("only the last stage continues") {
    auto const middle = stages(P(i) = P(i) + A(i), R(i) = P(i) + 1);
    CHECK(refusal_of(schedule(middle, dsp).store_in(P, l1)).broken == ir::rule::continuing_in_the_middle);
}
TEST_CASE("compute_at looks for the loop in a stage that reads the producer") {
    auto const two = stages(P(i) = A(i) * 2, Q(i) = B(i) * 3, R(i) = P(i) - Q(i));
    check_equal(schedule(two, dsp).store_in(P, l1).store_in(Q, l1).compute_at(P, i));
}
TEST_CASE("a producer by instructions inside its consumer's loop, after its own fill") {
    using namespace features;
    static constexpr auto acc_tcm = transfer("acc_tcm", acc, tcm).dimensions(2);
    static constexpr auto both = machine("both", dram, spad, acc, tcm, mac, in_spad, zero_acc, acc_tcm, dma, unit);
    constexpr axis rows{"rows", 16}, columns{"columns", 16}, depth{"depth", 12}, other{"other", 16}, rows_o{"rows_o"}, rows_i{"rows_i"};
    constexpr tensor<std::int8_t> first{"first"}, second{"second"};
    constexpr tensor<std::int32_t> middle{"middle"}, last{"last"};
    auto const chained =
        stages(middle(rows, columns) += cast<std::int32_t>(first(rows, depth)) * cast<std::int32_t>(second(depth, columns)),
               last(other, columns) = middle(other, columns) * 2 + 1);
    check_equal(schedule(chained, both)
                    .split(other, rows_o, rows_i, 4)
                    .compute_at(middle, rows_o)
                    .store_in(middle, tcm)
                    .stage(middle)
                    .reorder(depth, rows, columns)
                    .cache_read(first, spad)
                    .at(rows_o)
                    .cache_read(second, spad)
                    .cache_write(middle, acc)
                    .tensorize(rows, columns, depth, mac),
                emulated<both>());
}
