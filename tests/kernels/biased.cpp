#include "kernels/biased.hpp"

#include <tilewright/report/loop_program.hpp>

#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/run_kernel.hpp"

// Reductions that start from a value, in loops and by the form of an instruction that loads it.

using namespace tilewright;

namespace {

using namespace biased;

/// Arguments come in the order in which the computation names them.
template <bool First, class Start>
void by_hand(kernels::operand_data const& data, int rows, int columns, int depth, Start const& start) {
    auto const* const left = data.in<std::int8_t>(First ? 1 : 0);
    auto const* const right = data.in<std::int8_t>(First ? 2 : 1);
    auto const* const from = data.in<std::int32_t>(First ? 0 : 2);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
            std::int32_t total = from[start(y, x)];
            for (int z = 0; z < depth; ++z) total += left[y * depth + z] * right[z * columns + x];
            data.out<std::int32_t>()[y * columns + x] = total;
        }
}
void row_by_hand(kernels::operand_data const& data) {
    by_hand<true>(data, 32, 12, 24, [](int, int x) { return x; });
}
void tile_by_hand(kernels::operand_data const& data) {
    by_hand<false>(data, 32, 12, 24, [](int y, int x) { return y * 12 + x; });
}

template <class Reference>
plan_value check(schedule const& of, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, on, expected);
    return *plan;
}
schedule staged(auto const& what, machine const& on, memory const& where = biases) {
    return schedule(what, on).cache_read(A, spad).cache_read(B, spad).cache_read(bias, where).cache_write(C, acc);
}
verdict refusal_of(schedule const& of) { return make_plan(of).refusal; }

}  // namespace

TEST_CASE("the first of several steps loads the bias") {
    static_assert(plan<row_on_array>.calls(from_row) == 12 && plan<row_on_array>.calls(mac) == 24);
    plan_value const plan = check(staged(of_row, by_row).tensorize(m, n, k, mac), emulated<by_row>(), row_by_hand);
    CHECK(plan.calls(from_row) == 4 * 3);
    CHECK(plan.calls(mac) == 4 * 3 * 2);
    CHECK(plan.calls(mul) == 0);
    CHECK(plan.busy(array) == 12 * 11 + 24 * 9);
}
TEST_CASE("likewise where loops of the schedule reduce, and the bias is loaded tile by tile") {
    for (bool inside : {false, true}) {
        auto tiles = schedule(of_row, by_row)
                         .tile(m, n, mo, no, mi, ni, 16, 4)
                         .split(k, ko, ki, 16)
                         .reorder(mo, no, ko, mi, ni, ki)
                         .cache_read(A, spad)
                         .at(ko)
                         .cache_read(B, spad)
                         .at(ko)
                         .cache_read(bias, biases);
        // The array takes whole steps of 8, of which the last half is there.
        inside ? tiles.at(ko) : tiles.at(no);
        plan_value const plan = check(tiles.cache_write(C, acc).at(no).tensorize(mi, ni, ki, mac), emulated<by_row>(), row_by_hand);
        CHECK(plan.calls(from_row) == 4 * 3);
        CHECK(plan.calls(mac) == 4 * 3 * 2);
    }
}
TEST_CASE("a reduction of one step is the form alone, whichever is named") {
    constexpr axis one{"one", 8};
    constexpr auto short_sum = C(m, n) = bias(n) + sum(one, cast<std::int32_t>(A(m, one)) * cast<std::int32_t>(B(one, n)));
    auto const expected = [](kernels::operand_data const& data) { by_hand<true>(data, 32, 12, 8, [](int, int x) { return x; }); };
    for (intrinsic const& named : {intrinsic(mac), intrinsic(from_row)}) {
        plan_value const plan = check(staged(short_sum, by_row).tensorize(m, n, one, named), emulated<by_row>(), expected);
        CHECK(plan.calls(from_row) == 4 * 3);
        CHECK(plan.calls(mac) == 0);
    }
    // What overwrites without the bias is another instruction.
    CHECK(refusal_of(staged(short_sum, by_row).tensorize(m, n, one, mul)).kind == verdict_kind::intrinsic_operation);
    CHECK(refusal_of(staged(of_row, by_row).tensorize(m, n, k, from_row)).broken == ir::rule::overwriting_every_step);
}
TEST_CASE("a bias for each element takes the form with as many dimensions") {
    plan_value const plan = check(staged(of_tile, by_both).tensorize(m, n, k, mac), emulated<by_both>(), tile_by_hand);
    CHECK(plan.calls(from_tile) == 12);
    CHECK(plan.calls(from_row) == 0);
    plan_value const row = check(staged(of_row, by_both).tensorize(m, n, k, mac), emulated<by_both>(), row_by_hand);
    CHECK(row.calls(from_row) == 12);
    CHECK(row.calls(from_tile) == 0);
    CHECK(refusal_of(staged(of_tile, by_row).tensorize(m, n, k, mac)).kind == verdict_kind::missing_first_form);
}
TEST_CASE("without a form that loads it, neither an overwriting one nor a fill will do") {
    verdict const wrong = refusal_of(staged(of_row, without).tensorize(m, n, k, mac));
    CHECK(wrong.kind == verdict_kind::missing_first_form);
    CHECK(std::string(sentence_of(wrong).letters.elements)
              .starts_with("`mac` accumulates into `C`, which nothing overwrites or fills first with `bias`"));
    // And the form does not start what has no bias.
    constexpr auto matmul = C(m, n) += product;
    auto const only = machine_with("only_biased", from_row);
    plan_value const plan =
        make_plan(schedule(matmul, only).cache_read(A, spad).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, mac));
    CHECK(!plan.refusal);
    CHECK(plan.calls(from_row) == 0);
    CHECK(plan.calls(only.transfers[only.transfers.find("zero")]) == 12);
}
TEST_CASE("the bias lies where the form takes it from") {
    verdict const wrong = refusal_of(staged(of_row, by_row, spad).tensorize(m, n, k, mac));
    CHECK(wrong.kind == verdict_kind::operand_memory);
    CHECK(wrong.names[0] == ir::label("from_row"));
    CHECK(wrong.names[1] == ir::label("bias"));
    CHECK(wrong.names[3] == ir::label("biases"));
    // Its own conditions hold, too.
    machine const aligned = machine_with("aligned", intrinsic(from_row).alignment(d, 32));
    CHECK(!refusal_of(staged(of_row, machine_with("aligned", intrinsic(from_row).alignment(d, 16))).tensorize(m, n, k, mac)));
    verdict const apart = refusal_of(staged(of_row, aligned).tensorize(m, n, k, mac));
    CHECK(apart.broken == ir::rule::operand_not_aligned);
    CHECK(apart.names[2] == ir::label("d"));
}
TEST_CASE("what is nearly the bias is not") {
    auto const refused = [](auto const& nearly) {
        machine const on = machine_with("nearly", mul, nearly);
        return refusal_of(staged(of_row, on).tensorize(m, n, k, mac)).kind == verdict_kind::missing_first_form;
    };
    CHECK(!refused(form("nearly", d(j))));
    CHECK(refused(form("nearly", d(i))));
    CHECK(refused(form("nearly", d(i, j))));
    CHECK(refused(form("nearly", d(2 * j))));
    CHECK(refused(form("nearly", d(j) * 2)));
    CHECK(refused(form("nearly", d(j) + 1)));
    CHECK(refused(form("nearly", d(j) + d(j))));
    constexpr tensor<std::int16_t> d16{"d"};
    CHECK(refused(form("nearly", cast<std::int32_t>(d16(j)))));
    CHECK(
        refused(intrinsic("nearly", c(i, j) = max(d(j), maximum(l, term))).reads(a, spad).reads(b, spad).reads(d, biases).writes(c, acc)));
    CHECK(refused(intrinsic("nearly", c(i, j) += d(j) + term).reads(a, spad).reads(b, spad).reads(d, biases).writes(c, acc)));
    // The other way round in both is the same.
    CHECK(!refused(intrinsic("same", c(i, j) = sum(l, term) + d(j)).reads(a, spad).reads(b, spad).reads(d, biases).writes(c, acc)));
    // Half a step of the extents.
    constexpr axis half{"half", 4};
    CHECK(refused(intrinsic("nearly", c(i, j) = d(j) + sum(half, cast<std::int32_t>(a(i, half)) * cast<std::int32_t>(b(half, j))))
                      .reads(a, spad)
                      .reads(b, spad)
                      .reads(d, biases)
                      .writes(c, acc)));
}
TEST_CASE("the first step is a transfer that loads the bias where the sums are", "[long]") {
    constexpr axis z{"z", 1};
    constexpr tensor<std::int16_t> short_d{"d"}, short_bias{"short_bias"};
    static constexpr auto load_sums = transfer("load_sums", dram, acc).dimensions(2).cost({.setup = 3, .bytes_per_cycle = 8});
    static constexpr auto move_bias = transfer("move_bias", biases, acc).dimensions(2);
    static constexpr auto widen = transfer("widen", dram, acc, c(z) = cast<std::int32_t>(short_d(z))).dimensions(2);
    static constexpr auto sevens = transfer("sevens", dram, acc, c(z) = 7).dimensions(2);
    static constexpr machine loading =
        machine("biases_loaded", dram, spad, biases, acc, array, transfer("load", dram, spad).dimensions(2),
                transfer("load_bias", dram, biases).dimensions(2), transfer("store", acc, dram).dimensions(2),
                transfer("clear", dram, spad, a(z) = 0).dimensions(2), sevens, widen, load_sums, move_bias, mac);
    emulator& on = emulated<loading>();
    auto const plain = [](auto const& what) { return schedule(what, loading).cache_read(A, spad).cache_read(B, spad).cache_write(C, acc); };
    // Of the caller's row, a call for each of the 8 rows of the 4 x 3 steps.
    plan_value const row = check(plain(of_row).tensorize(m, n, k, mac), on, row_by_hand);
    CHECK(row.calls(load_sums) == 4 * 3 * 8);
    CHECK(row.bytes(load_sums) == 4 * 3 * 8 * 16);
    CHECK(row.calls(mac) == 4 * 3 * 3);
    // Of a whole tile, one call.
    plan_value const tile = check(plain(of_tile).tensorize(m, n, k, mac), on, tile_by_hand);
    CHECK(tile.calls(load_sums) == 4 * 3);
    CHECK(tile.bytes(load_sums) == 32 * 12 * 4);
    CHECK(tile.calls(mac) == 4 * 3 * 3);
    // From where it is staged.
    plan_value const staged_row = check(plain(of_row).cache_read(bias, biases).tensorize(m, n, k, mac), on, row_by_hand);
    CHECK(staged_row.calls(move_bias) == 4 * 3 * 8);
    CHECK(staged_row.calls(load_sums) == 0);
    // Converted on the way; a constant.
    auto const of_short = C(m, n) = cast<std::int32_t>(short_bias(n)) + sum(k, product);
    plan_value const converted = check(plain(of_short).tensorize(m, n, k, mac), on, [](kernels::operand_data const& data) {
        auto const* const from = data.in<std::int16_t>(0);
        std::vector<std::int32_t> wide(from, from + 12);
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 12; ++x) {
                std::int32_t total = wide[x];
                for (int w = 0; w < 24; ++w) total += data.in<std::int8_t>(1)[y * 24 + w] * data.in<std::int8_t>(2)[w * 12 + x];
                data.out<std::int32_t>()[y * 12 + x] = total;
            }
    });
    CHECK(converted.calls(widen) == 4 * 3 * 8);
    auto const of_seven = C(m, n) = 7 + sum(k, product);
    plan_value const filled = check(plain(of_seven).tensorize(m, n, k, mac), on, [](kernels::operand_data const& data) {
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 12; ++x) {
                std::int32_t total = 7;
                for (int w = 0; w < 24; ++w) total += data.in<std::int8_t>(0)[y * 24 + w] * data.in<std::int8_t>(1)[w * 12 + x];
                data.out<std::int32_t>()[y * 12 + x] = total;
            }
    });
    CHECK(filled.calls(sevens) == 4 * 3);
    auto const of_eight = C(m, n) = 8 + sum(k, product);
    CHECK(refusal_of(plain(of_eight).tensorize(m, n, k, mac)).kind == verdict_kind::missing_first_form);
    auto const of_twice = C(m, n) = bias(2 * n) + sum(k, product);
    CHECK(make_plan(plain(of_twice).tensorize(m, n, k, mac)).calls(load_sums) == 4 * 3 * 8);
    auto const of_both = C(m, n) = bias(n + m) + sum(k, product);
    CHECK(refusal_of(plain(of_both).tensorize(m, n, k, mac)).kind == verdict_kind::missing_first_form);
    // Tiles that end early, staged and loaded inside a loop that reduces, and sums that are stored half done.
    for (bool reduces_outside : {false, true}) {
        for (bool of_tiles : {false, true}) {
            INFO("a loop that reduces is outermost: " << reduces_outside << ", a bias for each element: " << of_tiles);
            schedule tiles(of_tiles ? of_tile.view() : of_row.view(), loading);
            tiles.tile(m, n, mo, no, mi, ni, 24, 8).split(k, ko, ki, 16);
            if (reduces_outside) tiles.reorder(ko, mo, no, mi, ni, ki);
            else tiles.reorder(mo, no, ko, mi, ni, ki);
            tiles.cache_read(A, spad).at(no).cache_read(B, spad).at(no).cache_write(C, acc).at(no);
            if (reduces_outside) tiles.cache_read(bias, biases);
            tiles.tensorize(mi, ni, ki, mac);
            of_tiles ? check(tiles, on, tile_by_hand) : check(tiles, on, row_by_hand);
        }
    }
}
TEST_CASE("likewise by an engine beside an asynchronous array") {
    using namespace accelerators;
    for (ordered how : {ordered::by_tokens, ordered::by_core, ordered::by_interlocks}) {
        static constexpr machine by_tokens = accelerator(ordered::by_tokens, 4, false);
        machine const where = accelerator(how, 4, false);
        emulator on(where, semantics_of<by_tokens>);
        plan_value const plan = check(schedule(of_row, where)
                                          .tile(m, n, mo, no, mi, ni, 16, 8)
                                          .split(k, ko, ki, 8)
                                          .reorder(mo, no, ko, mi, ni, ki)
                                          .cache_read(A, inputs)
                                          .at(ko)
                                          .buffers(2)
                                          .cache_read(B, weights)
                                          .at(ko)
                                          .buffers(3)
                                          .cache_write(C, accelerators::sums)
                                          .at(no)
                                          .buffers(2)
                                          .tensorize(mi, ni, ki, where.intrinsics[0]),
                                      on, row_by_hand);
        CHECK(plan.calls(where.transfers[where.transfers.find("load_sums")]) == 2 * 2 * 16);
        CHECK(plan.calls(where.transfers[where.transfers.find("clear")]) == 0);
    }
}
TEST_CASE("an instruction without a reduction of its own has such a form, too") {
    constexpr tensor<float> x{"x"}, y{"y"}, s{"s"}, t{"t"}, X{"X"}, Y{"Y"}, S{"S"}, T{"T"};
    constexpr axis e{"e", 8};
    static constexpr auto fma = intrinsic("fma", s(e) += x(e) * y()).reads(x, spad).reads(y, spad).updates(s, acc);
    static constexpr auto first =
        intrinsic("first", s(e) = t(e) + sum(x(e) * y())).reads(x, spad).reads(y, spad).reads(t, acc).writes(s, acc);
    static constexpr machine vectors =
        machine("vectors", dram, spad, acc, transfer("load", dram, spad).dimensions(2), transfer("load_sums", dram, acc).dimensions(2),
                transfer("store", acc, dram).dimensions(2), fma, first);
    constexpr auto columns = S(n, m) = T(m) + sum(k, X(k, m) * Y(k, n));
    plan_value const plan = check(schedule(columns, vectors)
                                      .reorder(n, k, m)
                                      .cache_read(X, spad)
                                      .cache_read(Y, spad)
                                      .cache_read(T, acc)
                                      .cache_write(S, acc)
                                      .tensorize(m, fma),
                                  emulated<vectors>(), [](kernels::operand_data const& data) {
                                      for (int q = 0; q < 12; ++q)
                                          for (int p = 0; p < 32; ++p) {
                                              float total = data.in<float>(0)[p];
                                              for (int r = 0; r < 24; ++r)
                                                  total += data.in<float>(1)[r * 32 + p] * data.in<float>(2)[r * 12 + q];
                                              data.out<float>()[q * 32 + p] = total;
                                          }
                                  });
    CHECK(plan.calls(first) == 12 * 4);
    CHECK(plan.calls(fma) == 12 * 4 * 23);
}
TEST_CASE("partial steps start from the bias that there is") {
    constexpr axis p{"p", 30}, q{"q", 10}, r{"r", 24};
    constexpr auto odd = C(p, q) = bias(q) + sum(r, cast<std::int32_t>(A(p, r)) * cast<std::int32_t>(B(r, q)));
    check(staged(odd, by_row).tensorize(p, q, r, mac), emulated<by_row>(),
          [](kernels::operand_data const& data) { by_hand<true>(data, 30, 10, 24, [](int, int x) { return x; }); });
}
TEST_CASE("asynchronous, with the bias loaded ahead, however the engines are ordered") {
    using namespace accelerators;
    static constexpr axis u8{"i", 8}, v8{"j", 8}, w8{"l", 8};
    for (ordered how : {ordered::by_tokens, ordered::by_core, ordered::by_interlocks}) {
        static constexpr auto with_form = [](ordered by) {
            machine made = accelerator(by, 4);
            made.add(intrinsic("biased_mul", c(u8, v8) = d(v8) + sum(w8, cast<std::int32_t>(a(u8, w8)) * cast<std::int32_t>(b(w8, v8))))
                         .reads(a, inputs)
                         .reads(b, weights)
                         .reads(d, sums)
                         .writes(c, sums)
                         .on(engine{"array"})
                         .asynchronous()
                         .cycles(8));
            return made;
        };
        static constexpr machine by_tokens = with_form(ordered::by_tokens);
        machine const where = with_form(how);
        emulator on(where, semantics_of<by_tokens>);
        check(schedule(of_row, where)
                  .tile(m, n, mo, no, mi, ni, 8, 8)
                  .split(k, ko, ki, 8)
                  .reorder(mo, no, ko, mi, ni, ki)
                  .cache_read(A, inputs)
                  .at(ko)
                  .buffers(2)
                  .cache_read(B, weights)
                  .at(ko)
                  .buffers(3)
                  .cache_read(bias, accelerators::sums)
                  .at(no)
                  .buffers(2)
                  .cache_write(C, accelerators::sums)
                  .at(no)
                  .buffers(2)
                  .tensorize(mi, ni, ki, where.intrinsics[0]),
              on, row_by_hand);
    }
}

TEST_CASE("loops start from the bias where the schedule puts them") {
    emulator& on = emulated<by_row>();
    check(schedule(of_row, by_row), on, row_by_hand);
    check(schedule(of_row, by_row).reorder(k, m, n).vectorize(n, 4), on, row_by_hand);
    check(schedule(of_tile, by_row).split(m, mo, mi, 5).split(n, no, ni, 7).reorder(mo, no, mi, ni, k).vectorize(ni), on, tile_by_hand);
    // The bias is there only inside of a loop that reduces.
    for (axis const& level : {mo, ko, mi})
        check(schedule(of_row, by_row)
                  .split(m, mo, mi, 5)
                  .split(k, ko, ki, 7)
                  .reorder(mo, ko, mi, n, ki)
                  .cache_read(A, l1)
                  .at(ko)
                  .cache_read(bias, l1)
                  .at(level)
                  .cache_write(C, l1)
                  .at(mo),
              on, row_by_hand);
    // So are partial sums.
    check(schedule(of_tile, by_row).split(k, ko, ki, 10).reorder(ko, m, n, ki).cache_read(bias, l1).at(m).cache_write(C, l1).at(m), on,
          tile_by_hand);
    // An earlier stage computes what is started from, at a loop that reduces.
    constexpr axis q{"q", 12};
    constexpr auto doubled = stages(other(q) = bias(q) * 2 + q, C(m, n) = other(n) + sum(k, product));
    check(schedule(doubled, by_row).split(k, ko, ki, 8).reorder(ko, m, n, ki).compute_at(other, ko).store_in(other, l1), on,
          [](kernels::operand_data const& data) {
              by_hand<true>(data, 32, 12, 24, [](int, int x) { return x; });
              for (int at = 0; at < 32 * 12; ++at) data.out<std::int32_t>()[at] += data.in<std::int32_t>(0)[at % 12] + at % 12;
          });
}
TEST_CASE("maximum and minimum start from values, and floats are added to the first") {
    emulator& on = emulated<by_row>();
    constexpr tensor<std::int8_t> R{"R"}, low{"low"};
    constexpr auto largest = R(m) = max(low(m), maximum(k, A(m, k)));
    constexpr auto least = R(m) = min(minimum(k, A(m, k)), 3);
    check(schedule(largest, by_row).split(k, ko, ki, 7).reorder(ko, m, ki).cache_read(A, l1).at(ko), on,
          [](kernels::operand_data const& data) {
              for (int y = 0; y < 32; ++y) {
                  std::int8_t all = data.in<std::int8_t>(0)[y];
                  for (int x = 0; x < 24; ++x) all = std::max(all, data.in<std::int8_t>(1)[y * 24 + x]);
                  data.out<std::int8_t>()[y] = all;
              }
          });
    check(schedule(least, by_row), on, [](kernels::operand_data const& data) {
        for (int y = 0; y < 32; ++y) {
            std::int8_t all = 3;
            for (int x = 0; x < 24; ++x) all = std::min(all, data.in<std::int8_t>(0)[y * 24 + x]);
            data.out<std::int8_t>()[y] = all;
        }
    });
    constexpr tensor<float> F{"F"}, G{"G"};
    constexpr auto sums_up = F(m) = 0.25 * G(m, 0) + sum(k, G(m, k));
    check(schedule(sums_up, by_row), on, [](kernels::operand_data const& data) {
        for (int y = 0; y < 32; ++y) {
            float all = 0.25f * data.in<float>(0)[y * 24];
            for (int x = 0; x < 24; ++x) all += data.in<float>(0)[y * 24 + x];
            data.out<float>()[y] = all;
        }
    });
}
TEST_CASE("a padded start, and extents that are left to run time") {
    emulator& on = emulated<by_row>();
    constexpr axis h{"h", 30};
    constexpr auto around = C(m, n) = padded(other(h), 7)(m - 1) + sum(k, product);
    check(schedule(around, by_row).split(m, mo, mi, 8).reorder(mo, mi, n, k), on, [](kernels::operand_data const& data) {
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 12; ++x) {
                std::int32_t total = y < 1 || y > 30 ? 7 : data.in<std::int32_t>(0)[y - 1];
                for (int z = 0; z < 24; ++z) total += data.in<std::int8_t>(1)[y * 24 + z] * data.in<std::int8_t>(2)[z * 12 + x];
                data.out<std::int32_t>()[y * 12 + x] = total;
            }
    });
    constexpr axis om{"om", dynamic}, on_{"on", dynamic}, ok{"ok", dynamic};
    constexpr auto open = C(om, on_) = bias(on_) + sum(ok, cast<std::int32_t>(A(om, ok)) * cast<std::int32_t>(B(ok, on_)));
    auto const check_at = [&](schedule const& of) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
        REQUIRE(!plan->refusal);
        kernels::compiled_kernel kernel(*plan, on);
        for (auto const& [rows, columns, depth] : {std::array{9, 5, 11}, {1, 1, 1}, {16, 4, 10}, {33, 12, 32}}) {
            auto const at = std::make_unique<plan_value>(plan->at({{om, rows}, {on_, columns}, {ok, depth}}));
            kernels::operand_data const made = kernel.check(*at), expected = kernels::random_operands(*at, 17);
            by_hand<true>(expected, rows, columns, depth, [](int, int x) { return x; });
            CHECK(kernels::same_bits(made.output, expected.output));
        }
    };
    check_at(schedule(open, by_row)
                 .split(om, mo, mi, 8)
                 .split(on_, no, ni, 4)
                 .split(ok, ko, ki, 5)
                 .reorder(mo, no, ko, mi, ni, ki)
                 .cache_read(A, l1)
                 .at(ko));
    check_at(schedule(open, by_row)
                 .tile(om, on_, mo, no, mi, ni, 16, 8)
                 .split(ok, ko, ki, 16)
                 .reorder(mo, no, ko, mi, ni, ki)
                 .cache_read(A, spad)
                 .at(ko)
                 .cache_read(B, spad)
                 .at(ko)
                 .cache_read(bias, biases)
                 .at(no)
                 .cache_write(C, acc)
                 .at(no)
                 .tensorize(mi, ni, ki, mac));
}
TEST_CASE("the loop program says what is started from") {
    auto const text = [](schedule const& of) {
        std::string all;
        auto const write = [&](auto const& self, std::vector<reports::program_line> const& lines) -> void {
            for (reports::program_line const& line : lines) all += line.text + "\n" + line.value + "\n", self(self, line.inside);
        };
        write(write, reports::lines_of(make_plan(of)));
        return all;
    };
    CHECK(text(schedule(of_row, by_row)).find("C[m, n] = bias[n] + sum(k, int32(A[m, k]) * int32(B[k, n]))") != std::string::npos);
    CHECK(text(schedule(of_row, by_row).split(k, ko, ki, 8).reorder(ko, m, n, ki).cache_read(A, l1).at(ko)).find("C[m, n] = bias[n]\n") !=
          std::string::npos);
    std::string const steps = text(staged(of_row, by_row).tensorize(m, n, k, mac));
    CHECK(steps.find("from_row (A.spad[8 m, 8 k], B.spad[8 k, 4 n], bias.biases[4 n], C.acc[8 m, 4 n]) if k == 0 else mac (") !=
          std::string::npos);
}
