// clang-format off: schedules are read line by line, a buffer a line.
#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include <tilewright/report/loop_program.hpp>
#include <tilewright/tilewright.hpp>

// The border of padded tensors in what is staged: written by the loads themselves, or filled beside them.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x10000, .capacity = 64_KiB};
constexpr engine dma{"dma"};
constexpr transfer_cost cost{.latency = 7, .setup = 3, .bytes_per_cycle = 4};
constexpr axis h{"h", 13}, w{"w", 11}, c{"c", 5}, y{"y", 13}, x{"x", 11}, f{"f", 3}, r{"r", 3}, s{"s", 3};
constexpr axis yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
constexpr tensor<std::int8_t> in{"in"}, W{"W"};
constexpr tensor<std::int32_t> out{"out"};
constexpr auto conv = out(y, x, f) +=
    cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(r, s, c, f));

/// A transfer of so many dimensions that is told the border at both ends of each.
transfer blocking(int dimensions) { return transfer("load", dram, spad).on(dma).dimensions(dimensions).cost(cost); }
transfer aside(int dimensions) { return blocking(dimensions).asynchronous(); }

void check(machine const& on, schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator emulated(on, none);
    kernels::check_kernel(*plan, emulated);
}
/// Nothing but loads by `load`, one for each tile, writes what is staged.
void check_loads(machine const& on, schedule const& of, std::int64_t loads) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO(to_string(plan->refusal));
    REQUIRE(!plan->refusal);
    CHECK(plan->calls(on.transfers[0]) == loads);
    CHECK(plan->movements.size() == (plan->rings.size() > 0 && plan->rings[0].distance > 0 ? 2 : 1));
    check(on, of);
}

}  // namespace

TEST_CASE("a load writes the border of its box in both directions, at both ends, whole tiles and partial ones", "[long]") {
    for (transfer const& load : {blocking(3).fills_border(0), aside(3).fills_border(0)}) {
        auto const on = machine("on", dram, spad, dma, load);
        check_loads(on, schedule(conv, on).cache_read(in, spad), 1);
        check_loads(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, spad).at(xo), 12);
        check_loads(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 5, 3).cache_read(in, spad).at(xo), 12);
        check_loads(on, schedule(conv, on).split(y, yo, yi, 13).cache_read(in, spad).at(yo), 1);
        check_loads(on, schedule(conv, on).split(x, xo, xi, 6).reorder(xo, y, xi).cache_read(in, spad).at(xo), 2);
    }
}
TEST_CASE("loads with borders run ahead, into several versions", "[long]") {
    auto const on = machine("on", dram, spad, dma, aside(3).fills_border(0));
    auto const tiles = [&] { return schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4); };
    check_loads(on, tiles().cache_read(in, spad).at(xo).buffers(2), 12);
    check_loads(on, tiles().cache_read(in, spad).at(xo).buffers(3).prefetch(2), 12);
    check_loads(on, tiles().cache_read(in, spad).at(yo).buffers(2), 4);
}
TEST_CASE("loads with borders are dealt out to the channels of an engine") {
    constexpr engine lanes{.name = "dma", .channels = 2};
    auto const on = machine("on", dram, spad, lanes, aside(3).fills_border());
    check_loads(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, spad).at(xo).buffers(3).prefetch(2), 12);
}
TEST_CASE("of windows at strides and dilations, in tiles that end early, each end has its own border", "[long]") {
    constexpr axis p{"p", 9}, q{"q", 7}, t{"t", 4}, u{"u", 2};
    auto const on = machine("on", dram, spad, dma, aside(3).fills_border(-3));
    auto const strided = out(p, q, f) +=
        cast<std::int32_t>(padded(in(h, w, c), -3)(2 * p + 3 * t - 6, 3 * q + 5 * u - 8, c)) * cast<std::int32_t>(W(t, u, c, f));
    check_loads(on, schedule(strided, on).cache_read(in, spad), 1);
    check_loads(on, schedule(strided, on).tile(p, q, yo, xo, yi, xi, 4, 3).cache_read(in, spad).at(xo).buffers(2), 9);
    check_loads(on, schedule(strided, on).split(p, yo, yi, 2).cache_read(in, spad).at(yo), 5);
    // Window, border in front, stride, tile; the image is as long as the windows reach, or up to two elements shorter or longer.
    constexpr int shapes[][4] = {{1, 0, 1, 4}, {2, 1, 1, 3}, {3, 2, 1, 5}, {3, 1, 2, 4}, {5, 2, 1, 4}, {5, 4, 3, 2}, {4, 3, 2, 7}};
    for (auto const& [taps, front, stride, tile] : shapes) {
        for (int longer = -2; longer <= 1; ++longer) {
            INFO(taps << " taps, " << front << " in front, stride " << stride << ", tiles of " << tile << ", " << longer << " longer");
            axis const row{"row", 9 * stride + taps - front + longer}, of{"of", 10}, tap{"tap", taps}, column{"column", 3};
            auto const smooth = out(of, column) += cast<std::int32_t>(padded(in(row, column), -3)(stride * of + tap - front, column));
            auto const made = schedule(smooth, on).split(of, yo, yi, tile).cache_read(in, spad).at(yo).buffers(2);
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            INFO(to_string(plan->refusal));
            // The last windows may lie behind the image as a whole.
            if (9 / tile * tile * stride - front >= row.extent) {
                CHECK(plan->refusal.broken == ir::rule::border_around_nothing);
                continue;
            }
            REQUIRE(!plan->refusal);
            CHECK(plan->calls(on.transfers[0]) == (10 + tile - 1) / tile);
            check(on, made);
        }
    }
}
TEST_CASE("a border has any value that the load writes, of any type", "[long]") {
    auto const check_type = [](auto element, auto border, transfer const& load) {
        using type = decltype(element);
        tensor<type> const a{"a"}, b{"b"};
        axis const i{"i", 17}, j{"j", 20};
        auto const on = machine("on", dram, spad, dma, load);
        auto const near = b(j) =
            select(padded(a(i), border)(j - 2) < padded(a(i), border)(j), padded(a(i), border)(j - 2), padded(a(i), border)(j));
        check_loads(on, schedule(near, on).split(j, yo, yi, 6).cache_read(a, spad).at(yo), 4);
    };
    for (bool const told : {false, true}) {
        auto const load = [&](std::int64_t value) { return told ? aside(1).fills_border() : aside(1).fills_border(value); };
        check_type(std::int8_t{}, -128, load(-128));
        check_type(std::uint8_t{}, 200, load(200));
        check_type(std::int16_t{}, -7, load(-7));
        check_type(std::uint32_t{}, 70000, load(70000));
        check_type(std::int64_t{}, -1, load(-1));
        check_type(float{}, -3.0, load(-3));
        check_type(double{}, 5.0, load(5));
    }
    check_type(float{}, 0.1, aside(1).fills_border());
    check_type(double{}, -1e300, aside(1).fills_border());
}
TEST_CASE("a border in one dimension, two or three, of tensors of up to four") {
    constexpr axis a{"a", 4}, b{"b", 6}, d{"d", 5}, e{"e", 7}, k{"k", 3}, l{"l", 2};
    // Told all extents and strides, and where the border of this tensor can be.
    auto const told = aside(4).fills_border(0).calls(
        "load", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::source_stride(1),
        argument::destination_stride(1), argument::extent(2), argument::source_stride(2), argument::destination_stride(2),
        argument::extent(3), argument::source_stride(3), argument::destination_stride(3), argument::pad_before(1), argument::pad_after(1),
        argument::pad_after(2), argument::pad_before(3), argument::pad_after(3), argument::tag);
    auto const with_strides = machine("with_strides", dram, spad, dma, told);
    // Told all extents and pads, and no strides of its destination.
    auto const on = machine("on", dram, spad, dma, aside(4).fills_border(0).strides_of_destination(rows_follow));
    auto const volume = out(a, b, d, e) += cast<std::int32_t>(padded(in(a, b, d, e), 0)(a + k - 1, b + l, d + k - 2, e));
    check_loads(on, schedule(volume, on).cache_read(in, spad), 1);
    check_loads(with_strides, schedule(volume, with_strides).split(b, yo, yi, 4).reorder(yo, a, yi).cache_read(in, spad).at(yo).buffers(2),
                2);
    auto const all = out(a, b, d, e) += cast<std::int32_t>(padded(in(a, b, d, e), 0)(a + k - 1, b + k - 1, d + k - 1, e + k - 1));
    check_loads(on, schedule(all, on).cache_read(in, spad), 1);
    check_loads(on, schedule(all, on).split(a, yo, yi, 3).cache_read(in, spad).at(yo).buffers(2), 2);
    auto const columns = out(a, e) += cast<std::int32_t>(padded(in(a, e), 0)(a, e + k - 1));
    auto const rows = machine("rows", dram, spad, dma, aside(2).fills_border(0));
    check_loads(rows, schedule(columns, rows).split(e, xo, xi, 3).reorder(xo, a, xi).cache_read(in, spad).at(xo).buffers(2), 3);
}
TEST_CASE("a border around accesses that move in different ways, and around several that move alike") {
    constexpr axis i{"i", 17}, j{"j", 20};
    auto const on = machine("on", dram, spad, dma, aside(2).fills_border(3));
    constexpr tensor<std::int32_t> a{"a"}, b{"b"};
    auto const apart = b(j) = padded(a(i), 3)(j - 4) * 5 + padded(a(i), 3)(j + 2);
    check_loads(on, schedule(apart, on).cache_read(a, spad), 1);
    check_loads(on, schedule(apart, on).split(j, yo, yi, 6).cache_read(a, spad).at(yo).buffers(2), 4);
    auto const faster = b(j) = padded(a(i), 3)(j - 1) * 5 + padded(a(i), 3)(2 * j - 4);
    check_loads(on, schedule(faster, on).cache_read(a, spad), 1);
    auto const mirrored = b(j) = padded(a(i), 3)(20 - j);
    check_loads(on, schedule(mirrored, on).split(j, yo, yi, 6).cache_read(a, spad).at(yo).buffers(2), 4);
}
TEST_CASE("dimensions that follow each other are one of the call, with a border of as many of its elements") {
    // Rows of 11 x 5, above and below of which whole rows lie outside.
    auto const rows = out(y, x, c) += cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x, c));
    for (int dimensions : {1, 2, 3}) {
        auto const on = machine("on", dram, spad, dma, aside(dimensions).fills_border(0));
        check_loads(on, schedule(rows, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 4);
    }
    // No pad of the row: rows are the dimension that has one.
    auto const rows_only = aside(2).fills_border(0).calls("load", argument::source, argument::destination, argument::row_bytes,
                                                          argument::extent(1), argument::source_stride(1), argument::destination_stride(1),
                                                          argument::pad_before(1), argument::pad_after(1), argument::tag);
    auto const on = machine("on", dram, spad, dma, rows_only);
    check_loads(on, schedule(rows, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 4);
    // Columns have the border: the rows go one by one, though they are more.
    auto const columns = out(y, x, c) += cast<std::int32_t>(padded(in(h, w, c), 0)(y, x + r - 1, c));
    check(on, schedule(columns, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2));
    CHECK(make_plan(schedule(columns, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo)).calls(rows_only) == 13);
    // Told the border of its outermost dimension alone: that is the columns, though rows lie further out.
    auto const outermost = aside(3).fills_border(0).calls("load", argument::source, argument::destination, argument::row_bytes,
                                                          argument::extent(1), argument::source_stride(1), argument::destination_stride(1),
                                                          argument::extent(2), argument::source_stride(2), argument::destination_stride(2),
                                                          argument::pad_before(2), argument::pad_after(2), argument::tag);
    auto const turned = machine("turned", dram, spad, dma, outermost);
    check_loads(turned, schedule(columns, turned).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 4);
}
TEST_CASE("rows that follow each other at the destination do so with their border") {
    auto const load = aside(3).fills_border(0).strides_of_destination(rows_follow);
    auto const on = machine("on", dram, spad, dma, load);
    check_loads(on, schedule(conv, on).cache_read(in, spad), 1);
    check_loads(on, schedule(conv, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 4);
}
TEST_CASE("borders are set like other values where a configuration holds them") {
    constexpr configuration pads("set_pads", 4), value("set_value", 1);
    auto const load = aside(3)
                          .fills_border()
                          .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1), argument::destination_stride(1), argument::extent(2),
                                 argument::source_stride(2), argument::destination_stride(2), argument::tag)
                          .uses(pads, argument::pad_before(2), argument::pad_after(2), argument::pad_before(1), argument::pad_after(1))
                          .uses(value, argument::pad_value);
    auto const on = machine("on", dram, spad, dma, pads, value, load);
    check_loads(on, schedule(conv, on).cache_read(in, spad), 1);
    check_loads(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, spad).at(xo).buffers(2), 12);
    CHECK(make_plan(schedule(conv, on).cache_read(in, spad)).settings_of(0) == 1);
}
TEST_CASE("borders of boxes in panels, of axes that run time decides, and around what a stage computes") {
    auto const on = machine("on", dram, spad, dma, aside(3).fills_border(0));
    auto const panels = [](auto row, auto column, auto channel) { return index_map(row, column, channel / 4, channel % 4); };
    auto const made = schedule(conv, on).split(y, yo, yi, 4).cache_read(in, spad).at(yo).layout(panels);
    check(on, made);
    constexpr axis b{"b", dynamic}, bo{"bo"}, bi{"bi"};
    auto const batched = out(b, y, x) += cast<std::int32_t>(padded(in(h, w), 0)(y + r - 1, x + s - 1)) * cast<std::int32_t>(W(b, r, s));
    auto const open = schedule(batched, on).split(b, bo, bi, 3).split(y, yo, yi, 4).reorder(bo, yo).cache_read(in, spad).at(yo).buffers(2);
    auto const plan = std::make_unique<plan_value>(make_plan(open));
    INFO(to_string(plan->refusal));
    REQUIRE(!plan->refusal);
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator emulated(on, none);
    kernels::compiled_kernel kernel(*plan, emulated);
    for (std::int64_t filters : {1, 3, 7}) kernel.check(*std::make_unique<plan_value>(plan->at({{b, filters}})));

    constexpr memory far{.name = "far", .base = 0x90000, .capacity = 64_KiB};
    constexpr tensor<std::int8_t> mid{"mid"};
    auto const from_far = transfer("from_far", far, spad).on(dma).asynchronous().dimensions(3).fills_border(0).cost(cost);
    auto const with_far = machine("with_far", dram, spad, far, dma, from_far);
    auto const two =
        stages(mid(h, w, c) = in(h, w, c) + 1,
               out(y, x, f) += cast<std::int32_t>(padded(mid(h, w, c), 0)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(r, s, c, f)));
    check(with_far, schedule(two, with_far).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(mid, spad).at(xo).buffers(2).store_in(mid, far));
}
TEST_CASE("a load fills what it reads of an unpadded tensor without a border, and another value by itself") {
    auto const on = machine("on", dram, spad, dma, aside(3).fills_border(1));
    check_loads(on, schedule(conv, on).cache_read(W, spad), 1);
    // Another value: the core fills, as the plan says, and the load reads what is inside.
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(conv, on).cache_read(in, spad)));
    REQUIRE(!plan->refusal);
    CHECK(plan->movements[0].transfer < 0);
    check(on, schedule(conv, on).cache_read(in, spad));
}

namespace {

/// What is filled is the border alone: so many calls, which write so many bytes.
template <auto const& On>
void check_fills(schedule const& of, std::int64_t calls, std::int64_t bytes) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO(to_string(plan->refusal));
    REQUIRE(!plan->refusal);
    INFO(loop_program(*plan));
    CHECK(plan->calls(On.transfers[1]) == calls);
    CHECK(plan->bytes(On.transfers[1]) == bytes);
    kernels::check_kernel(*plan, emulated<On>());
}
constexpr axis zero_at{"zero_at", 1};
constexpr tensor<std::int8_t> zeros{"zeros"};
constexpr transfer plain_load = transfer("load", dram, spad).on(dma).asynchronous().dimensions(3).cost(cost);
constexpr transfer zero = transfer("zero", dram, spad, zeros(zero_at) = 0).on(dma).asynchronous().dimensions(3).cost(cost);
constexpr transfer slow_zero = transfer("zero", dram, spad, zeros(zero_at) = 0).on(dma).asynchronous().dimensions(3).cost({.setup = 500});
constexpr transfer blocking_zero = transfer("zero", dram, spad, zeros(zero_at) = 0).dimensions(3).cost(cost);
constexpr transfer zero_bytes = transfer("zero", dram, spad, zeros(zero_at) = 0).on(dma).asynchronous().cost(cost);
constexpr auto fills = machine("fills", dram, spad, dma, plain_load, zero);
constexpr auto fills_first = machine("fills_first", dram, spad, dma, plain_load, blocking_zero);
constexpr auto fills_slowly = machine("fills_slowly", dram, spad, dma, plain_load, slow_zero);
constexpr auto fills_bytes = machine("fills_bytes", dram, spad, dma, plain_load, zero_bytes);

}  // namespace

TEST_CASE("a transfer fills the border alone, in strips, where tiles meet it", "[long]") {
    // 15 x 13 with the border, of which 13 x 11 lie inside; all in one box.
    check_fills<fills>(schedule(conv, fills).cache_read(in, spad), 4, (15 * 13 - 13 * 11) * 5);
    // Tiles of 4 x 4 in 4 rows and 3 columns: boxes of 6 x 6 in the corner, 3 x 5 in the last one. Rows above and below, columns in those
    // that are inside.
    auto const tiles = [](machine const& on) { return schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4); };
    std::int64_t const above_and_below = 2 * (6 + 6 + 5), columns = 2 * (5 + 6 + 6 + 2);
    check_fills<fills>(tiles(fills).cache_read(in, spad).at(xo).buffers(2), 2 * 3 + 2 * 4, (above_and_below + columns) * 5);
    check_fills<fills>(tiles(fills).cache_read(in, spad).at(xo).buffers(3).prefetch(2), 2 * 3 + 2 * 4, (above_and_below + columns) * 5);
    check_fills<fills_first>(tiles(fills_first).cache_read(in, spad).at(xo).buffers(2), 2 * 3 + 2 * 4, (above_and_below + columns) * 5);
    // Rows of 13 with a border at both ends: those above and below, and columns in each of the four boxes.
    check_fills<fills>(schedule(conv, fills).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 2 + 2 * 4,
                       (2 * 13 + 2 * 13) * 5 + 2 * 6 * 5);
}
TEST_CASE("a fill of the whole box stays where strips would take longer in a step") {
    // One call for each strip, or for each of its rows.
    auto const tiles = [](machine const& on) { return schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4); };
    check_fills<fills_slowly>(tiles(fills_slowly).cache_read(in, spad).at(xo).buffers(2), 10, 10 * 6 * 6 * 5);
    check_fills<fills_bytes>(tiles(fills_bytes).cache_read(in, spad).at(xo).buffers(2), 10, 10 * 6 * 6 * 5);
    // Rows above and below follow each other in memory: one call for each.
    constexpr static auto rows = out(y, x, c) += cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x, c));
    check_fills<fills_bytes>(schedule(rows, fills_bytes).split(y, yo, yi, 4).cache_read(in, spad).at(yo).buffers(2), 2, 2 * 11 * 5);
}
TEST_CASE("the core fills the border alone", "[long]") {
    constexpr static auto on = machine("on", dram, spad, dma, plain_load);
    auto const plan =
        std::make_unique<plan_value>(make_plan(schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, spad).at(xo).buffers(2)));
    REQUIRE(!plan->refusal);
    kernels::check_kernel(*plan, emulated<on>());
    auto const windows = [&](int taps, int front, int stride, int tile) {
        axis const row{"row", 9 * stride + taps - front}, of{"of", 10}, tap{"tap", taps}, column{"column", 3};
        auto const smooth = out(of, column) += cast<std::int32_t>(padded(in(row, column), 0)(stride * of + tap - front, column - 1));
        kernels::check_kernel(
            *std::make_unique<plan_value>(make_plan(schedule(smooth, on).split(of, yo, yi, tile).cache_read(in, spad).at(yo))),
            emulated<on>());
        kernels::check_kernel(*std::make_unique<plan_value>(
                                  make_plan(schedule(smooth, fills).split(of, yo, yi, tile).cache_read(in, spad).at(yo).buffers(2))),
                              emulated<fills>());
    };
    windows(3, 2, 1, 5);
    windows(5, 4, 3, 2);
    windows(4, 9, 2, 7);
}
