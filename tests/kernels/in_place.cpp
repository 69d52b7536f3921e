#include "kernels/in_place.hpp"

#include <tilewright/report/loop_program.hpp>

#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/run_kernel.hpp"

// Instructions whose result overwrites an operand where it lies.

using namespace tilewright;

namespace {

using namespace in_place;

/// Sums over the first input's columns and the second one's rows.
std::vector<std::int32_t> sums_of(kernels::operand_data const& data, int rows, int columns, int depth) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(rows * columns));
    for (int p = 0; p < rows; ++p)
        for (int q = 0; q < columns; ++q)
            for (int r = 0; r < depth; ++r)
                all[p * columns + q] += data.in<std::int8_t>(0)[p * depth + r] * data.in<std::int8_t>(1)[r * columns + q];
    return all;
}
auto layer_by_hand(int rows) {
    return [rows](kernels::operand_data const& data) {
        std::vector<std::int32_t> const all = sums_of(data, rows, 32, 40);
        for (int at = 0; at < rows * 32; ++at) {
            std::int32_t const shifted = (all[at] + data.in<std::int32_t>(2)[at % 32]) >> 6;
            data.out<std::int32_t>()[at] = shifted < -128 ? -128 : shifted > 127 ? 127 : shifted;
        }
    };
}
template <class Reference>
plan_value check(schedule const& of, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, on, expected);
    if (!plan->refusal) CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
    return *plan;
}
/// The buffers of a plan in a memory.
int buffers_in(plan_value const& plan, memory const& where) {
    int count = 0;
    for (int at = 0; at < plan.buffers.size(); ++at) count += plan.where->memories[plan.buffers[at].memory].name == where.name ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("a bias, a shift and two bounds overwrite the sums one after the other") {
    for (int rows : {4, 8, 24}) {
        INFO("tiles of " << rows << " rows");
        plan_value const plan = check(requantised(schedule(layer, vta), rows), emulated<vta>(), layer_by_hand(24));
        CHECK(buffers_in(plan, acc) == 2);
        CHECK(plan.peak(acc) == rows * 32 * 4 + 32 * 4);
        for (intrinsic const& one : {intrinsic(add_row), intrinsic(shift), intrinsic(least), intrinsic(most)})
            CHECK(plan.calls(one) == 6 * 2);
        CHECK(plan.busy(alu) == 12 * (5 + 3 + 3 + 3));
    }
}
TEST_CASE("likewise where the last tile is partial, and where the last step is") {
    check(requantised(schedule(layer, vta), 16), emulated<vta>(), layer_by_hand(24));
    check(requantised(schedule(layer, vta), 20), emulated<vta>(), layer_by_hand(24));
    check(requantised(schedule(layer, vta), 10), emulated<vta>(), layer_by_hand(24));
}
TEST_CASE("rows of the accumulator leave as bytes, tile by tile, through a view and a transfer that narrows") {
    auto const by_hand = [](kernels::operand_data const& data) {
        std::vector<std::int32_t> const all = sums_of(data, 24, 32, 40);
        for (int at = 0; at < 24 * 32; ++at) {
            std::int32_t const shifted = (all[at] + data.in<std::int32_t>(2)[at % 32]) >> 6;
            data.out<std::int8_t>()[at] = static_cast<std::int8_t>(shifted < -128 ? -128 : shifted > 127 ? 127 : shifted);
        }
    };
    for (int rows : {4, 8, 10, 16, 24}) {
        INFO("tiles of " << rows << " rows");
        plan_value const plan = check(narrowed(schedule(byte_layer, vta), rows), emulated<vta>(), by_hand);
        CHECK(plan.peak(acc) == (rows + 3) / 4 * 4 * 32 * 4 + 32 * 4);
        CHECK(plan.calls(store_out) == (24 + rows - 1) / rows);
        CHECK(plan.bytes(store_out) == 24 * 32);
    }
}
TEST_CASE("a transfer carries a stage out tile by tile", "[long]") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    static constexpr engine dma{"dma"};
    static constexpr axis u{"u", 1}, v{"v", 1};
    constexpr tensor<std::int32_t> w{"w"}, X{"X"}, U{"U"};
    static constexpr auto narrow = transfer("narrow", near, dram, o(z) = cast<std::int8_t>(w(z)))
                                       .on(dma)
                                       .asynchronous()
                                       .dimensions(2)
                                       .cost({.latency = 9, .bytes_per_cycle = 4});
    static constexpr auto turn = transfer("turn", near, dram, y(u, v) = w(v, u)).dimensions(3);
    static constexpr machine dsp = machine("narrowing", dram, near, dma, narrow, turn);
    emulator& on = emulated<dsp>();
    constexpr axis p{"p", 21}, q{"q", 30}, po{"po"}, pi{"pi"}, qo{"qo"}, qi{"qi"}, open{"open", dynamic};
    constexpr auto half = stages(U(p, q) = X(p, q) / 8, O(p, q) = cast<std::int8_t>(U(p, q)));
    auto const bytes = [](kernels::operand_data const& data) {
        for (int at = 0; at < 21 * 30; ++at) data.out<std::int8_t>()[at] = static_cast<std::int8_t>(data.in<std::int32_t>(0)[at] / 8);
    };
    for (int rows : {3, 7, 8})
        for (int columns : {10, 16, 30}) {
            INFO(rows << " x " << columns);
            plan_value const plan = check(schedule(half, dsp)
                                              .tile(p, q, po, qo, pi, qi, rows, columns)
                                              .writes(O, dram)
                                              .by(narrow)
                                              .compute_at(U, qo)
                                              .store_in(U, near),
                                          on, bytes);
            CHECK(plan.bytes(narrow) == 21 * 30);
            CHECK(plan.calls(narrow) == (21 + rows - 1) / rows * ((30 + columns - 1) / columns));
        }
    // Columns outermost, in the order of the loops around; unrolled, too.
    check(schedule(half, dsp)
              .split(q, qo, qi, 10)
              .reorder(qo, p, qi)
              .unroll(qo)
              .writes(O, dram)
              .by(narrow)
              .compute_at(U, qo)
              .store_in(U, near),
          on, bytes);
    check(schedule(half, dsp).split(q, qo, qi, 7).reorder(qo, p, qi).writes(O, dram).by(narrow).compute_at(U, p).store_in(U, near), on,
          bytes);
    // The dimensions change places.
    constexpr axis r{"r", 30}, s{"s", 21}, ro{"ro"}, ri{"ri"};
    constexpr auto turned = stages(U(p, q) = X(p, q) + 1, Y(r, s) = U(s, r));
    check(schedule(turned, dsp).split(r, ro, ri, 8).writes(Y, dram).by(turn).compute_at(U, ro).store_in(U, near), on,
          [](kernels::operand_data const& data) {
              for (int at = 0; at < 30 * 21; ++at) data.out<std::int32_t>()[at] = data.in<std::int32_t>(0)[at % 21 * 30 + at / 21] + 1;
          });
    // Rows that run time counts.
    constexpr auto some = stages(U(open, q) = X(open, q) / 8, O(open, q) = cast<std::int8_t>(U(open, q)));
    auto const later = std::make_unique<plan_value>(
        make_plan(schedule(some, dsp).split(open, po, pi, 8).writes(O, dram).by(narrow).compute_at(U, po).store_in(U, near)));
    INFO(to_string(later->refusal));
    REQUIRE(!later->refusal);
    kernels::compiled_kernel kernel(*later, on);
    for (std::int64_t count : {1, 8, 13}) kernel.check(later->at({{open, count}}));
    // Rows with others between them are not one region, and what the transfer does has no loops.
    auto const refused = [&](schedule const& made) { return make_plan(made).refusal.broken; };
    CHECK(refused(
              schedule(half, dsp).split(p, po, pi, 7).reorder(pi, po, q).writes(O, dram).by(narrow).compute_at(U, pi).store_in(U, near)) ==
          ir::rule::gaps_between_outputs);
    CHECK(refused(schedule(half, dsp).split(p, po, pi, 7).unroll(q).writes(O, dram).by(narrow).compute_at(U, po).store_in(U, near)) ==
          ir::rule::without_loops);
    CHECK(refused(schedule(half, dsp).split(p, po, pi, 7).vectorize(q, 2).writes(O, dram).by(narrow).compute_at(U, po).store_in(U, near)) ==
          ir::rule::without_loops);
    CHECK(refused(schedule(half, dsp).split(p, po, pi, 7).writes(O, dram).by(narrow).store_in(U, near)) == ir::rule::without_loops);
}
TEST_CASE("what is loaded is overwritten and stored, in one to four versions", "[long]") {
    static constexpr engine in{"in"}, out{"out"}, channel{.name = "channel", .completes = completion::by_channel};
    static constexpr auto cost = transfer_cost{.latency = 40, .setup = 5, .bytes_per_cycle = 8};
    static constexpr auto get = transfer("get", dram, acc).on(in).asynchronous().dimensions(2).cost(cost);
    static constexpr auto put = transfer("put", acc, dram).on(out).asynchronous().dimensions(2).cost(cost);
    static constexpr auto put_in_order = transfer("put", acc, dram).on(channel).asynchronous().dimensions(2).cost(cost);
    static constexpr machine both = machine("both", dram, acc, in, out, alu, get, put, add_row, shift, least),
                             loads = machine("loads", dram, acc, in, alu, get, store, add_row, shift, least),
                             stores = machine("stores", dram, acc, out, alu, load_acc, put, add_row, shift, least),
                             by_channel = machine("by_channel", dram, acc, in, channel, alu, get, put_in_order, add_row, shift, least);
    constexpr tensor<std::int32_t> X{"X"};
    constexpr auto chain = stages(R(m, n) = X(m, n) + bias(n), S(m, n) = R(m, n) >> 6, Y(m, n) = max(S(m, n), -128));
    auto const by_hand = [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at)
            data.out<std::int32_t>()[at] = std::max((data.in<std::int32_t>(0)[at] + data.in<std::int32_t>(1)[at % 32]) >> 6, -128);
    };
    auto const on = [&](machine const& where, emulator& machine_at, int rows, int loaded, int ahead, int stored) {
        INFO(where.name.str() << ": tiles of " << rows << ", " << loaded << " versions, " << ahead << " ahead, " << stored << " to store");
        schedule made(chain, where);
        made.split(m, mo, mi, rows).cache_write(Y, acc).at(mo);
        if (stored > 0) made.buffers(stored);
        made.tensorize(mi, n, least).compute_at(S, mo).store_in(S, acc).stage(S).tensorize(m, n, shift);
        made.compute_at(R, mo).store_in(R, acc).stage(R).cache_read(X, acc).at(mo);
        if (loaded > 0) made.buffers(loaded);
        if (ahead >= 0) made.prefetch(ahead);
        made.cache_read(bias, acc).tensorize(m, n, add_row);
        plan_value const plan = check(made, machine_at, by_hand);
        CHECK(buffers_in(plan, acc) == 2);
        CHECK(plan.peak(acc) == std::max({1, loaded, stored}) * ((rows + 3) / 4 * 4) * 32 * 4 + 32 * 4);
        return plan;
    };
    for (int rows : {4, 8, 10, 20}) {
        on(loads, emulated<loads>(), rows, 2, -1, 0);
        on(stores, emulated<stores>(), rows, 0, -1, 3);
        for (int versions : {1, 2, 3, 4}) {
            on(both, emulated<both>(), rows, versions, -1, versions);
            if (versions > 1) on(by_channel, emulated<by_channel>(), rows, versions, versions - 2, versions);
        }
    }
    // A load that does not run as far ahead as there are versions leaves the stores more time.
    plan_value const far = on(both, emulated<both>(), 4, 3, 2, 3), near = on(both, emulated<both>(), 4, 3, 1, 3);
    CHECK(near.cycles() < far.cycles());
}
TEST_CASE("asynchronous instructions that overwrite, however the engines are ordered", "[long]") {
    using namespace accelerators;
    static constexpr axis u8{"i", 8}, v8{"j", 8};
    static constexpr auto with_forms = [](ordered by, bool overwrites) {
        machine made = accelerator(by, 4, overwrites);
        tensor<std::int32_t> const r{"r"}, s{"s"};
        made.add(intrinsic("clip", s(u8, v8) = max(r(u8, v8), -128))
                     .reads(r, sums)
                     .writes(s, sums)
                     .in_place(r)
                     .on(engine{"vectors"})
                     .asynchronous()
                     .cycles(6));
        made.add(intrinsic("half", s(u8, v8) = r(u8, v8) >> 1)
                     .reads(r, sums)
                     .writes(s, sums)
                     .in_place(r)
                     .on(engine{"array"})
                     .asynchronous()
                     .cycles(3));
        return made;
    };
    static constexpr machine semantics = with_forms(ordered::by_tokens, true), filling = with_forms(ordered::by_tokens, false);
    constexpr auto chain = stages(C(m, n) += product, S(m, n) = C(m, n) >> 1, Y(m, n) = max(S(m, n), -128));
    constexpr auto loaded = stages(S(m, n) = bias(m, n) >> 1, Y(m, n) = max(S(m, n), -128));
    for (bool overwrites : {true, false})
        for (ordered how : {ordered::by_tokens, ordered::by_more_tokens, ordered::by_core, ordered::by_core_for_all, ordered::by_interlocks,
                            ordered::by_tokens_one_way})
            for (int versions : {1, 2, 3}) {
                INFO("ordered " << static_cast<int>(how) << ", " << versions << " versions, overwrites " << overwrites);
                machine const where = with_forms(how, overwrites);
                emulator on(where, overwrites ? semantics_of<semantics> : semantics_of<filling>);
                intrinsic_description const &clip = where.intrinsics[where.intrinsics.find("clip")],
                                            &half = where.intrinsics[where.intrinsics.find("half")], &multiply = where.intrinsics[0];
                schedule made(chain, where);
                made.split(m, mo, mi, 8).cache_write(Y, sums).at(mo).buffers(versions).tensorize(mi, n, clip);
                made.compute_at(S, mo).store_in(S, sums).stage(S).tensorize(m, n, half);
                made.compute_at(C, mo).store_in(C, sums).stage(C).split(k, ko, ki, 8).reorder(ko, m, n, ki);
                made.cache_read(A, accelerators::inputs)
                    .at(ko)
                    .buffers(2)
                    .cache_read(B, weights)
                    .at(ko)
                    .buffers(2)
                    .tensorize(m, n, ki, multiply);
                plan_value const plan = check(made, on, [](kernels::operand_data const& data) {
                    std::vector<std::int32_t> const all = sums_of(data, 24, 32, 40);
                    for (std::size_t at = 0; at < all.size(); ++at) data.out<std::int32_t>()[at] = std::max(all[at] >> 1, -128);
                });
                CHECK(plan.peak(sums) == versions * 8 * 32 * 4);
                schedule moved(loaded, where);
                moved.split(m, mo, mi, 8).cache_write(Y, sums).at(mo).buffers(versions).tensorize(mi, n, clip);
                moved.compute_at(S, mo).store_in(S, sums).stage(S).cache_read(bias, sums).at(mo).buffers(versions).tensorize(m, n, half);
                plan_value const through = check(moved, on, [](kernels::operand_data const& data) {
                    for (int at = 0; at < 24 * 32; ++at) data.out<std::int32_t>()[at] = std::max(data.in<std::int32_t>(0)[at] >> 1, -128);
                });
                CHECK(through.peak(sums) == versions * 8 * 32 * 4);
            }
}
TEST_CASE("what is loaded ahead lives on where its store is waited for at once") {
    static constexpr engine in{"in"};
    static constexpr memory big{.name = "big", .base = 0x4000'0000, .capacity = 16_KiB, .host_visible = false};
    static constexpr auto get = transfer("get", dram, acc).on(in).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
    static constexpr auto plus = intrinsic("plus", y(i, j) = x(i, j) + 1).reads(x, acc).writes(y, acc).on(alu);
    static constexpr machine two_ways = machine("two_ways", dram, acc, big, in, alu, get, store, transfer("lay", acc, big).dimensions(2),
                                                transfer("pick", big, acc).dimensions(2), shift, plus);
    constexpr tensor<std::int32_t> X{"X"};
    constexpr auto chain = stages(S(m, n) = X(m, n) >> 6, Y(m, n) = S(m, n) + 1);
    schedule made(chain, two_ways);
    made.split(m, mo, mi, 8).cache_read(S, acc).at(mo).cache_write(Y, acc).at(mo).tensorize(mi, n, plus);
    made.compute_at(S, mo).store_in(S, big).stage(S).cache_read(X, acc).at(mo).buffers(2).cache_write(S, acc).at(mo).tensorize(m, n, shift);
    plan_value const plan = check(made, emulated<two_ways>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) data.out<std::int32_t>()[at] = (data.in<std::int32_t>(0)[at] >> 6) + 1;
    });
    CHECK(plan.peak(acc) == 4 * 8 * 32 * 4);
}
TEST_CASE("what is read further in waits for the result, not for what is loaded under it") {
    static constexpr engine in{"in"}, across{"across"};
    static constexpr memory near{.name = "near", .base = 0x4000'0000, .capacity = 8_KiB};
    static constexpr auto get = transfer("get", dram, acc).on(in).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
    static constexpr auto fetch =
        transfer("fetch", acc, near).on(across).asynchronous().dimensions(2).cost({.latency = 9, .bytes_per_cycle = 8});
    static constexpr machine levels = machine("levels", dram, acc, near, in, across, alu, get, fetch, shift);
    constexpr tensor<std::int32_t> X{"X"};
    constexpr auto chain = stages(S(m, n) = X(m, n) >> 6, Y(m, n) = S(m, n) + 1);
    schedule made(chain, levels);
    made.split(m, mo, mi, 8).cache_read(S, near).at(mi).buffers(2).compute_at(S, mo).store_in(S, acc).stage(S);
    made.cache_read(X, acc).at(mo).buffers(3).tensorize(m, n, shift);
    check(made, emulated<levels>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) data.out<std::int32_t>()[at] = (data.in<std::int32_t>(0)[at] >> 6) + 1;
    });
}
TEST_CASE("a result in the place of what was loaded is waited for at the end") {
    using namespace accelerators;
    static constexpr axis u8{"i", 8}, v8{"j", 8};
    tensor<std::int32_t> const r{"r"}, s{"s"};
    machine where = accelerator(ordered::by_core, 4);
    intrinsic const clip =
        intrinsic("clip", s(u8, v8) = max(r(u8, v8), -128)).reads(r, sums).writes(s, sums).in_place(r).on(engine{"vectors"}).asynchronous();
    where.add(clip);
    constexpr auto once = Y(m, n) = max(bias(m, n), -128);
    schedule made(once, where);
    made.store_in(Y, sums).cache_read(bias, sums).tensorize(m, n, clip);
    plan_value const plan = make_plan(made);
    INFO(to_string(plan.refusal));
    CHECK(!plan.refusal);
    CHECK(plan.buffers.size() == 2);
}
TEST_CASE("what a partial step of a sum reads is filled where it stays as it is") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB, .host_visible = false};
    static constexpr axis e{"e", 8}, z{"z", 1};
    constexpr tensor<std::int32_t> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"}, W{"W"};
    static constexpr auto up = intrinsic("up", g(e) = f(e) + 1).reads(f, near).writes(g, near).in_place(f).cycles(4);
    static constexpr auto dot = intrinsic("dot", h() += f(e) * g(e)).reads(f, near).reads(g, near).updates(h, near).cycles(4);
    static constexpr auto first = intrinsic("first", h() = sum(e, f(e) * g(e))).reads(f, near).reads(g, near).writes(h, near).cycles(4);
    static constexpr machine dsp = machine("summing_in_place", dram, near, transfer("bring", dram, near), transfer("take", near, dram),
                                           transfer("clear", dram, near, g(z) = 0), up, dot, first);
    constexpr axis t{"t", 20}, r{"r", 20}, rows{"rows", 3};
    constexpr auto sums = stages(G(t) = F(t) + 1, H(rows) = sum(r, G(r) * W(rows, r)));
    schedule made(sums, dsp);
    made.cache_write(H, near).cache_read(W, near).at(rows).tensorize(r, dot);
    made.store_in(G, near).stage(G).cache_read(F, near).tensorize(t, up);
    plan_value const plan = check(made, emulated<dsp>(), [](kernels::operand_data const& data) {
        for (int row = 0; row < 3; ++row) {
            data.out<std::int32_t>()[row] = 0;
            for (int at = 0; at < 20; ++at)
                data.out<std::int32_t>()[row] += (data.in<std::int32_t>(0)[at] + 1) * data.in<std::int32_t>(1)[row * 20 + at];
        }
    });
    CHECK(plan.calls(dsp.transfers[dsp.transfers.find("clear")]) == 3);
}
TEST_CASE("sums that start from a tile which is loaded where they go") {
    constexpr auto biased = C(m, n) = bias(m, n) + sum(k, product);
    auto const by_hand = [](kernels::operand_data const& data) {
        for (int p = 0; p < 24; ++p)
            for (int q = 0; q < 32; ++q) {
                std::int32_t total = data.in<std::int32_t>(0)[p * 32 + q];
                for (int r = 0; r < 40; ++r) total += data.in<std::int8_t>(1)[p * 40 + r] * data.in<std::int8_t>(2)[r * 32 + q];
                data.out<std::int32_t>()[p * 32 + q] = total;
            }
    };
    for (int rows : {4, 8, 10}) {
        schedule made(biased, vta);
        made.split(m, mo, mi, rows)
            .split(k, ko, ki, 16)
            .reorder(mo, ko, mi, n, ki)
            .cache_read(A, inputs)
            .at(ko)
            .cache_read(B, inputs)
            .at(ko);
        made.cache_read(bias, acc).at(mo).cache_write(C, acc).at(mo).tensorize(mi, n, ki, mac);
        plan_value const plan = check(made, emulated<vta>(), by_hand);
        CHECK(plan.peak(acc) == (rows + 3) / 4 * 4 * 32 * 4);
        CHECK(plan.calls(from) == (24 / rows * ((rows + 3) / 4) + (24 % rows + 3) / 4) * 2);
    }
}
TEST_CASE("a result that overwrites stays in the machine, or is read by loops and by transfers") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    constexpr tensor<float> f{"f"}, g{"g"}, F{"F"}, G{"G"}, H{"H"}, K{"K"};
    static constexpr auto twice = intrinsic("twice", g(i, j) = f(i, j) * 2).reads(f, near).writes(g, near).in_place(f).cycles(4);
    static constexpr machine dsp = machine("seen", dram, near, transfer("bring", dram, near).dimensions(2),
                                           transfer("take", near, dram).dimensions(2), transfer("again", near, near).dimensions(2), twice);
    emulator& on = emulated<dsp>();
    constexpr auto chain = stages(G(m, n) = F(m, n) + 1, H(m, n) = G(m, n) * 2, K(m, n) = H(m, n) - F(m, n));
    auto const by_hand = [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) data.out<float>()[at] = (data.in<float>(0)[at] + 1) * 2 - data.in<float>(0)[at];
    };
    // Loops write what is overwritten, and read what is there then.
    check(schedule(chain, dsp).store_in(G, near).store_in(H, near).stage(H).tensorize(m, n, twice), on, by_hand);
    check(schedule(chain, dsp)
              .split(m, mo, mi, 8)
              .compute_at(G, mo)
              .store_in(G, near)
              .compute_at(H, mo)
              .store_in(H, near)
              .stage(G)
              .vectorize(n, 8)
              .stage(H)
              .tensorize(m, n, twice),
          on, by_hand);
    // Twice by twice, of what is loaded: the second stage of the two is stored, or read from a copy.
    constexpr auto four = stages(G(m, n) = F(m, n) * 2, H(m, n) = G(m, n) * 2);
    auto const fourfold = [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) data.out<float>()[at] = data.in<float>(0)[at] * 4;
    };
    check(schedule(four, dsp)
              .store_in(G, near)
              .cache_write(H, near)
              .tensorize(m, n, twice)
              .stage(G)
              .cache_read(F, near)
              .tensorize(m, n, twice),
          on, fourfold);
    check(schedule(four, dsp)
              .store_in(G, near)
              .cache_read(G, near)
              .cache_write(H, near)
              .tensorize(m, n, twice)
              .stage(G)
              .cache_read(F, near)
              .tensorize(m, n, twice),
          on, fourfold);
    schedule const kept =
        schedule(four, dsp).store_in(G, near).store_in(H, near).tensorize(m, n, twice).stage(G).cache_read(F, near).tensorize(m, n, twice);
    plan_value const plan = make_plan(kept);
    REQUIRE(!plan.refusal);
    CHECK(plan.buffers.size() == 2);
    CHECK(plan.buffers[1].kind == ir::buffer_kind::result);
}
TEST_CASE("boxes that lie otherwise, alike for both") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB, .banks = 2, .host_visible = false};
    constexpr tensor<float> f{"f"}, g{"g"}, F{"F"}, G{"G"}, H{"H"};
    static constexpr auto twice = intrinsic("twice", g(i, j) = f(i, j) * 2).reads(f, near).writes(g, near).in_place(f).cycles(4);
    static constexpr machine dsp = machine("banked_in_place", dram, near, transfer("bring", dram, near).dimensions(3),
                                           transfer("take", near, dram).dimensions(3), twice);
    constexpr auto four = stages(G(m, n) = F(m, n) * 2, H(m, n) = G(m, n) * 2);
    auto const panels = [](auto p, auto q) { return index_map(q / 16, p, q % 16); };
    schedule made(four, dsp);
    made.split(m, mo, mi, 8).cache_write(H, near).at(mo).in_bank(1).layout(panels).tensorize(mi, n, twice);
    made.compute_at(G, mo).store_in(G, near).layout(panels).stage(G).cache_read(F, near).at(mo).layout(panels).tensorize(m, n, twice);
    plan_value const plan = check(made, emulated<dsp>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) data.out<float>()[at] = data.in<float>(0)[at] * 4;
    });
    CHECK(plan.peak(near, 0) == 0);
    CHECK(plan.peak(near, 1) == 8 * 32 * 4);
}
TEST_CASE("what is read before it is overwritten") {
    // Its own stage comes first, at the loop where both are.
    constexpr tensor<std::int32_t> U{"U"};
    static constexpr auto plus = intrinsic("plus", y(i, j) = x(i, j) + 1).reads(x, acc).writes(y, acc).on(alu);
    static constexpr machine more = machine("more", dram, acc, alu, load_acc, store, add, shift, plus);
    constexpr auto chain = stages(U(m, n) = bias(m, n) >> 6, R(m, n) = U(m, n) + 1, S(m, n) = U(m, n) >> 6, Y(m, n) = S(m, n) + R(m, n));
    schedule made(chain, more);
    made.split(m, mo, mi, 8).cache_write(Y, acc).at(mo).tensorize(mi, n, add);
    made.compute_at(U, mo).store_in(U, acc).stage(U).cache_read(bias, acc).at(mo).tensorize(m, n, shift);
    made.compute_at(R, mo).store_in(R, acc).stage(R).tensorize(m, n, plus);
    made.compute_at(S, mo).store_in(S, acc).stage(S).tensorize(m, n, shift);
    plan_value const plan = check(made, emulated<more>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) {
            std::int32_t const once = data.in<std::int32_t>(0)[at] >> 6;
            data.out<std::int32_t>()[at] = (once >> 6) + once + 1;
        }
    });
    CHECK(buffers_in(plan, acc) == 2);
}
TEST_CASE("up to so many elements at a time, and extents that run time decides") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB, .host_visible = false};
    static constexpr axis e{"e", 64};
    constexpr tensor<float> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"};
    static constexpr auto vadd = intrinsic("vadd_inplace", g(e) = f(e) + h(e))
                                     .reads(f, near)
                                     .writes(g, near)
                                     .reads(h, near)
                                     .in_place(f)
                                     .up_to(e)
                                     .calls("vadd_inplace", argument::address(g), argument::address(h), argument::extent(e))
                                     .cycles(9);
    static constexpr auto halve = intrinsic("halve", g(e) = f(e) * 0.5f).reads(f, near).writes(g, near).in_place(f).up_to(e).cycles(9);
    static constexpr machine dsp =
        machine("flexible_in_place", dram, near, transfer("bring", dram, near), transfer("take", near, dram), vadd, halve);
    constexpr axis t{"t", 300}, to{"to"}, ti{"ti"}, open{"open", dynamic};
    auto const by_hand = [](int count) {
        return [count](kernels::operand_data const& data) {
            for (int at = 0; at < count; ++at) data.out<float>()[at] = (data.in<float>(0)[at] + data.in<float>(1)[at]) * 0.5f;
        };
    };
    auto const staged = [&](schedule made, axis const& over) {
        made.split(over, to, ti, 96).cache_write(H, near).at(to).tensorize(ti, halve);
        made.compute_at(G, to)
            .store_in(G, near)
            .stage(G)
            .cache_read(F, near)
            .at(to)
            .cache_read(tensor<float>{"D"}, near)
            .at(to)
            .tensorize(over, vadd);
        return made;
    };
    constexpr tensor<float> D{"D"};
    constexpr auto fixed = stages(G(t) = F(t) + D(t), H(t) = G(t) * 0.5f);
    plan_value const plan = check(staged(schedule(fixed, dsp), t), emulated<dsp>(), by_hand(300));
    CHECK(plan.peak(near) == 2 * 96 * 4);
    CHECK(plan.calls(vadd) == 3 * 2 + 1);
    constexpr auto at_run_time = stages(G(open) = F(open) + D(open), H(open) = G(open) * 0.5f);
    auto const later = std::make_unique<plan_value>(make_plan(staged(schedule(at_run_time, dsp), open)));
    INFO(to_string(later->refusal));
    REQUIRE(!later->refusal);
    kernels::compiled_kernel kernel(*later, emulated<dsp>());
    for (std::int64_t count : {1, 96, 97, 250}) kernel.check(later->at({{open, count}}));
}
TEST_CASE("the steps that continue a reduction read what the first one must leave as it is") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    static constexpr axis r{"r", 4}, s{"s", 4};
    constexpr tensor<std::int32_t> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"};
    static constexpr auto more = intrinsic("more", h(r) += f(r, s) * g(r)).reads(f, near).reads(g, near).updates(h, near).cycles(4);
    static constexpr auto first =
        intrinsic("first", h(r) = sum(s, f(r, s) * g(r))).reads(f, near).reads(g, near).writes(h, near).in_place(g).cycles(4);
    static constexpr machine dsp = machine("scaling_sums", dram, near, transfer("bring", dram, near).dimensions(2),
                                           transfer("take", near, dram).dimensions(2), more, first);
    auto const scheduled = [&](auto const& sums) {
        return schedule(sums, dsp).cache_read(F, near).cache_read(G, near).cache_write(H, near).tensorize(m, k, more);
    };
    constexpr axis once{"k", 4};
    constexpr auto in_steps = H(m) = sum(k, F(m, k) * G(m));
    constexpr auto at_once = H(m) = sum(once, F(m, once) * G(m));
    plan_value const refused = make_plan(scheduled(in_steps));
    CHECK(refused.refusal.kind == verdict_kind::in_place);
    CHECK(refused.refusal.broken == ir::rule::overwritten_and_read);
    plan_value const plan = check(scheduled(at_once), emulated<dsp>(), [](kernels::operand_data const& data) {
        for (int p = 0; p < 24; ++p) {
            data.out<std::int32_t>()[p] = 0;
            for (int q = 0; q < 4; ++q) data.out<std::int32_t>()[p] += data.in<std::int32_t>(0)[p * 4 + q] * data.in<std::int32_t>(1)[p];
        }
    });
    CHECK(buffers_in(plan, near) == 2);
}
TEST_CASE("a result with a dimension that what it overwrites has not") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    static constexpr axis s{"s", 8};
    constexpr tensor<std::int32_t> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"};
    static constexpr auto more = intrinsic("more", h() += f(s)).reads(f, near).updates(h, near).cycles(4);
    static constexpr auto first = intrinsic("first", h() = g() + sum(s, f(s))).reads(f, near).reads(g, near).writes(h, near).in_place(g);
    static constexpr machine dsp = machine("rows_that_begin", dram, near, transfer("bring", dram, near).dimensions(2),
                                           transfer("take", near, dram).dimensions(2), more, first);
    constexpr axis column{"column", 3};
    constexpr auto rows = H(m, column) = G(m) + sum(k, F(column, k));
    // One element would be where three results begin.
    plan_value const refused =
        make_plan(schedule(rows, dsp).cache_read(F, near).cache_read(G, near).cache_write(H, near).tensorize(k, more));
    CHECK(refused.refusal.kind == verdict_kind::in_place);
    CHECK(refused.refusal.broken == ir::rule::overwrites_another_box);
    // In a loop over that dimension it is loaded anew.
    check(
        schedule(rows, dsp).reorder(column, m).cache_read(F, near).cache_read(G, near).at(column).cache_write(H, near).at(column).tensorize(
            k, more),
        emulated<dsp>(), [](kernels::operand_data const& data) {
            for (int at = 0; at < 24 * 3; ++at) {
                data.out<std::int32_t>()[at] = data.in<std::int32_t>(0)[at / 3];
                for (int r = 0; r < 40; ++r) data.out<std::int32_t>()[at] += data.in<std::int32_t>(1)[at % 3 * 40 + r];
            }
        });
}
TEST_CASE("loops read a result where less was loaded than it has") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    static constexpr axis s{"s", 5};
    constexpr tensor<std::int32_t> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"}, K{"K"};
    static constexpr auto plus = intrinsic("plus", h(s) = f(s) + g(s)).reads(f, near).reads(g, near).writes(h, near).in_place(g).cycles(4);
    static constexpr machine dsp = machine("bordered_in_place", dram, near, transfer("bring", dram, near).dimensions(2),
                                           transfer("take", near, dram).dimensions(2), plus);
    constexpr axis rows{"rows", 23};
    constexpr auto bordered = stages(H(m, n) = F(n) + padded(G(rows, n), 1)(m, n), K(m, n) = max(H(m, n), 0));
    schedule const made = schedule(bordered, dsp).store_in(H, near).stage(H).cache_read(F, near).cache_read(G, near).tensorize(n, plus);
    check(made, emulated<dsp>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 32; ++at) {
            std::int32_t const there = at < 23 * 32 ? data.in<std::int32_t>(1)[at] : 1;
            data.out<std::int32_t>()[at] = std::max(data.in<std::int32_t>(0)[at % 32] + there, 0);
        }
    });
}
TEST_CASE("a stage whose result is overwritten and stored from there is waited for when it ends") {
    static constexpr memory near{.name = "near", .base = 0x1000, .capacity = 8_KiB};
    static constexpr engine unit{.name = "unit", .depth = 4, .completes = completion::by_channel};
    static constexpr axis s{"s", 8};
    constexpr tensor<std::int32_t> f{"f"}, g{"g"}, h{"h"}, F{"F"}, G{"G"}, H{"H"}, K{"K"};
    static constexpr auto ahead = intrinsic("ahead", g(s) = f(s) + 1).reads(f, near).writes(g, near).on(unit).asynchronous().cycles(9);
    static constexpr auto plus = intrinsic("plus", h(s) = f(s) + g(s)).reads(f, near).reads(g, near).writes(h, near).in_place(f).cycles(4);
    static constexpr machine dsp =
        machine("stored_by_the_same", dram, near, unit, transfer("bring", dram, near),
                transfer("take", near, dram).on(unit).asynchronous().cost({.latency = 9, .bytes_per_cycle = 4}), ahead, plus);
    constexpr axis t{"t", 32};
    constexpr auto chain = stages(G(t) = F(t) + 1, H(t) = G(t) + K(t));
    schedule made(chain, dsp);
    made.cache_read(K, near).cache_write(H, near).tensorize(t, plus);
    made.store_in(G, near).stage(G).cache_read(F, near).tensorize(t, ahead);
    check(made, emulated<dsp>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 32; ++at) data.out<std::int32_t>()[at] = data.in<std::int32_t>(0)[at] + 1 + data.in<std::int32_t>(1)[at];
    });
}
