// clang-format off: schedules are read line by line, a buffer a line.
#include <sys/mman.h>
#include <unistd.h>

#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "kernels/six_transfers.hpp"
#include "reference/networks.hpp"

// Tensors that are read outside their extents, where they are a constant.

using namespace tilewright;

namespace {

using kernels::dsp, kernels::l1, kernels::l2;
constexpr axis h{"h", 13}, w{"w", 11}, c{"c", 5}, y{"y", 13}, x{"x", 11}, f{"f", 6}, r{"r", 3}, s{"s", 3};
constexpr axis yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
constexpr tensor<std::int8_t> in{"in"}, W{"W"};
constexpr tensor<std::int32_t> out{"out"};
constexpr auto conv = out(y, x, f) +=
    cast<std::int32_t>(padded(in(h, w, c), 0)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(r, s, c, f));
constexpr reference::padded_conv2d_shape same{1, 5, 6, 1, {13, 13, 3, 1, 1, 1}, {11, 11, 3, 1, 1, 1}};

/// As `check_kernel`, and every access of the loops is checked, too.
template <class Reference>
void check(schedule const& of, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, on, expected);
    if (plan->refusal) return;
    halide::jit_kernel checked(*plan, &on, true);
    kernels::operand_data data = kernels::random_operands(*plan, 17);
    on.reset();
    on.check(*plan);
    Halide::Buffer<> result = data.output;
    CHECK_NOTHROW(result = kernels::result_of(checked, data, {}));
    CHECK(on.error() == "");
    on.stop_checking();
    expected(data);
    CHECK(kernels::same_bits(result, data.output));
}
void check_conv(schedule const& of, emulator& on = emulated<dsp>()) {
    check(of, on, [](kernels::operand_data const& d) {
        reference::padded_conv2d(same, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}

}  // namespace

TEST_CASE("loops read a border that is not there", "[long]") {
    check_conv(schedule(conv, dsp));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).split(x, xo, xi, 4));
    check_conv(schedule(conv, dsp).reorder(y, f, r, s, c, x).vectorize(x));
    check_conv(schedule(conv, dsp).reorder(y, x, r, s, c, f).vectorize(f));
    check_conv(schedule(conv, dsp).reorder(y, f, r, s, c, x).vectorize(x, 4).unroll(s));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 5).cache_write(out, l1).at(yo).cache_read(W, l1));
}

TEST_CASE("nothing outside of an argument is read") {
    // The image ends, and begins, where a page does that nobody may touch.
    std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes = 13 * 11 * 5;
    auto* const pages = static_cast<std::int8_t*>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    REQUIRE(mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0);
    for (schedule const& of : {schedule(conv, dsp), schedule(conv, dsp).reorder(y, f, r, s, c, x).vectorize(x),
                               schedule(conv, dsp).reorder(y, f, r, s, c, x).vectorize(x, 8),
                               schedule(conv, dsp).split(y, yo, yi, 4).cache_read(in, l1).at(yo).by(kernels::dram_l1)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        halide::jit_kernel kernel(*plan, &emulated<dsp>());
        for (std::int8_t* const image : {pages + page, pages + 2 * page - bytes}) {
            kernels::operand_data data = kernels::random_operands(*plan, 5);
            std::memcpy(image, data.inputs[0].data(), bytes);
            data.inputs[0] = Halide::Buffer<std::int8_t>(image, 5, 11, 13);
            Halide::Buffer<> const result = kernels::result_of(kernel, data, {});
            reference::padded_conv2d(same, image, data.in<std::int8_t>(1), data.out<std::int32_t>());
            CHECK(kernels::same_bits(result, data.output));
        }
    }
    munmap(pages, 3 * page);
}
TEST_CASE("borders of axes that run time decides, and of boxes in panels") {
    constexpr axis b{"b", dynamic}, g{"g", dynamic}, bo{"bo"}, bi{"bi"};
    constexpr auto batched = out(b, y, g) +=
        cast<std::int32_t>(padded(in(h, w), 0)(y + r - 1, 2 * s - 1)) * cast<std::int32_t>(W(b, r, s, g));
    for (schedule const& of :
         {schedule(batched, dsp).split(b, bo, bi, 3),
          schedule(batched, dsp).split(b, bo, bi, 3).split(y, yo, yi, 4).reorder(bo, yo).cache_read(in, l1).at(yo).by(kernels::dram_l1)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        INFO(to_string(plan->refusal));
        REQUIRE(!plan->refusal);
        kernels::compiled_kernel kernel(*plan, emulated<dsp>());
        for (std::int64_t filters : {1, 3, 7}) {
            auto const at = std::make_unique<plan_value>(plan->at({{b, filters}, {g, 5}}));
            kernels::operand_data const d = kernel.check(*at);
            for (int which = 0; which < filters * 13 * 5; ++which) {
                int const batch = which / 65, row = which / 5 % 13, column = which % 5;
                std::int32_t sum = 0;
                for (int tap = 0; tap < 3; ++tap)
                    for (int next = 0; next < 3; ++next) {
                        int const at_y = row + tap - 1, at_x = 2 * next - 1;
                        if (at_y >= 0 && at_y < 13 && at_x >= 0)
                            sum +=
                                d.in<std::int8_t>(0)[at_y * 11 + at_x] * d.in<std::int8_t>(1)[((batch * 3 + tap) * 3 + next) * 5 + column];
                    }
                CHECK(d.out<std::int32_t>()[which] == sum);
            }
        }
    }
    auto const panels = [](auto row, auto column, auto channel) { return index_map(row, column / 4, channel, column % 4); };
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).cache_read(in, l1).at(yo).by(kernels::dram_l1).layout(panels));
    check_conv(schedule(conv, dsp)
                   .split(y, yo, yi, 4)
                   .split(x, xo, xi, 4)
                   .reorder(yo, xo, yi, xi)
                   .cache_read(in, l1)
                   .at(xo)
                   .by(kernels::dram_l1)
                   .layout(panels));
}
TEST_CASE("strides, dilations, mirrored indices, and windows that lie outside as a whole") {
    constexpr axis p{"p", 9}, q{"q", 7}, t{"t", 4}, u{"u", 2};
    constexpr auto strided = out(p, q, f) +=
        cast<std::int32_t>(padded(in(h, w, c), -3)(2 * p + 3 * t - 6, 3 * q + 5 * u - 8, c)) * cast<std::int32_t>(W(t, u, c, f));
    constexpr reference::padded_conv2d_shape wide{1, 5, 6, 1, {13, 9, 4, 2, 3, 6}, {11, 7, 2, 3, 5, 8}};
    auto const check_strided = [&](schedule const& of) {
        check(of, emulated<dsp>(), [&](kernels::operand_data const& d) {
            reference::padded_conv2d<std::int8_t, std::int32_t>(wide, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>(),
                                                                -3);
        });
    };
    check_strided(schedule(strided, dsp));
    check_strided(schedule(strided, dsp).split(p, yo, yi, 2).split(q, xo, xi, 3).reorder(yo, xo, t, f, yi, u, c, xi).vectorize(xi));

    constexpr tensor<std::int32_t> a{"a"}, b{"b"};
    constexpr axis i{"i", 17}, j{"j", 30};
    constexpr auto mirrored = b(j) = padded(a(i), -1)(20 - j);
    check(schedule(mirrored, dsp).vectorize(j, 8), emulated<dsp>(), [](kernels::operand_data const& d) {
        for (int at = 0; at < 30; ++at) d.out<std::int32_t>()[at] = 20 - at >= 0 && 20 - at < 17 ? d.in<std::int32_t>(0)[20 - at] : -1;
    });
    constexpr auto outside = b(j) = padded(a(i), 7)(j + 17);
    check(schedule(outside, dsp).vectorize(j, 8), emulated<dsp>(), [](kernels::operand_data const& d) {
        for (int at = 0; at < 30; ++at) d.out<std::int32_t>()[at] = 7;
    });
}
TEST_CASE("what a stage computes is read outside its axes") {
    constexpr tensor<std::int32_t> mid{"mid"}, a{"a"}, b{"b"};
    constexpr axis e{"e", 19}, i{"i", 19}, io{"io"}, ii{"ii"}, t{"t", 5};
    constexpr auto twice = stages(mid(e) = a(e) * 2 + 1, b(i) += padded(mid(e), 100)(i + t - 2));
    auto const expected = [](kernels::operand_data const& d) {
        for (int at = 0; at < 19; ++at) {
            std::int32_t sum = 0;
            for (int tap = at - 2; tap <= at + 2; ++tap) sum += tap < 0 || tap >= 19 ? 100 : d.in<std::int32_t>(0)[tap] * 2 + 1;
            d.out<std::int32_t>()[at] = sum;
        }
    };
    check(schedule(twice, dsp).store_in(mid, l1), emulated<dsp>(), expected);
    check(schedule(twice, dsp).store_in(mid, l1).split(i, io, ii, 4).compute_at(mid, io), emulated<dsp>(), expected);
    check(schedule(twice, dsp).store_in(mid, l1).split(i, io, ii, 4).reorder(io, t, ii).vectorize(ii).compute_at(mid, io), emulated<dsp>(),
          expected);
    check(schedule(twice, dsp).store_in(mid, l1).split(i, io, ii, 1).compute_at(mid, t), emulated<dsp>(), expected);
    check(schedule(twice, dsp).store_in(mid, l1).split(i, io, ii, 4).compute_at(mid, t), emulated<dsp>(), expected);
    check(schedule(twice, dsp).store_in(mid, l1).split(i, io, ii, 6).compute_at(mid, io).stage(mid).cache_read(a, l2).vectorize(e, 4),
          emulated<dsp>(), expected);
}
TEST_CASE("what is staged has its border along, which the core fills", "[long]") {
    check_conv(schedule(conv, dsp).cache_read(in, l1));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).cache_read(in, l1).at(yo));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).split(x, xo, xi, 4).reorder(yo, xo, yi, xi).cache_read(in, l1).at(xo));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).split(x, xo, xi, 4).reorder(yo, xo, r, yi, xi).cache_read(in, l1).at(r));
    check_conv(schedule(conv, dsp).split(y, yo, yi, 4).reorder(yo, r, s, yi).cache_read(in, l1).at(s));
    check_conv(schedule(conv, dsp).reorder(y, x, r, s, c, f).cache_read(in, l1).at(s));
    check_conv(schedule(conv, dsp).reorder(y, x, r, s, c, f).vectorize(f).cache_read(in, l1).at(c));
    check_conv(schedule(conv, dsp)
                   .split(y, yo, yi, 8)
                   .split(x, xo, xi, 4)
                   .reorder(yo, xo, yi, xi)
                   .cache_read(in, l2)
                   .at(yo)
                   .cache_read(in, l1)
                   .at(xo));
}
TEST_CASE("borders are there in time, whatever overlaps", "[long]") {
    using namespace six_transfers;
    constexpr memory far{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
    constexpr memory near{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
    for (machine const& on : {machine_with(loader, storer, copier, far, near), machine_with(dma, dma, dma, far, near),
                              machine_with(channel, storer, other_channel, far, near)}) {
        emulator made(on, semantics_table{});
        for (int versions : {2, 3}) {
            auto const rows = schedule(conv, on).split(y, yo, yi, 4).cache_read(in, near).at(yo).buffers(versions);
            check_conv(rows, made);
            auto const tiles = schedule(conv, on)
                                   .split(y, yo, yi, 4)
                                   .split(x, xo, xi, 3)
                                   .reorder(yo, xo, yi, xi)
                                   .cache_read(in, near)
                                   .at(xo)
                                   .buffers(versions)
                                   .cache_write(out, near)
                                   .at(xo)
                                   .buffers(2);
            check_conv(tiles, made);
            auto const taps = schedule(conv, on).reorder(y, r, s, x, c, f).cache_read(in, near).at(s).buffers(versions);
            check_conv(taps, made);
            auto const levels = schedule(conv, on)
                                    .split(y, yo, yi, 8)
                                    .split(x, xo, xi, 4)
                                    .reorder(yo, xo, yi, xi)
                                    .cache_read(in, far)
                                    .at(yo)
                                    .buffers(2)
                                    .cache_read(in, near)
                                    .at(xo)
                                    .buffers(versions);
            check_conv(levels, made);
        }
    }
}

namespace {
// "mac" takes 4 x 8 x 4 from a memory that no loops see: a transfer fills it.
constexpr axis any{"any", 1};
constexpr auto zero_spad = transfer("zero_spad", features::dram, features::spad, features::s8(any) = 0)
                               .on(features::dma)
                               .dimensions(2)
                               .cost({.setup = 2, .bytes_per_cycle = 32});
constexpr auto filling = machine("filling_borders", features::dram, features::spad, features::acc, features::dma, features::unit,
                                 features::mac, features::in_spad, features::out_acc, features::zero_acc, zero_spad);
constexpr auto without_fill = machine("without_fill", features::dram, features::spad, features::acc, features::dma, features::unit,
                                      features::mac, features::in_spad, features::out_acc, features::zero_acc);
constexpr axis th{"th", 9}, tw{"tw", 16}, tc{"tc", 8}, ty{"ty", 9}, tx{"tx", 16}, tf{"tf", 16};
constexpr auto wide_conv = out(ty, tx, tf) +=
    cast<std::int32_t>(padded(in(th, tw, tc), 0)(ty + r - 1, tx + s - 1, tc)) * cast<std::int32_t>(W(r, s, tc, tf));
constexpr reference::padded_conv2d_shape wide_shape{1, 8, 16, 1, {9, 9, 3, 1, 1, 1}, {16, 16, 3, 1, 1, 1}};
void wide_by_hand(kernels::operand_data const& d) {
    reference::padded_conv2d(wide_shape, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
}
auto staged_for_mac(machine const& on) {
    return schedule(wide_conv, on)
        .split(ty, yo, yi, 4)
        .reorder(yo, yi, r, s, tx, tf, tc)
        .cache_read(in, features::spad)
        .at(yo)
        .cache_read(W, features::spad)
        .cache_write(out, features::acc)
        .at(yo)
        .tensorize(tx, tf, tc, features::mac);
}
}  // namespace

TEST_CASE("instructions read borders that a transfer has filled") {
    check(staged_for_mac(filling), emulated<filling>(), wide_by_hand);
    // Each row of an image, and each tap, by itself.
    check(schedule(wide_conv, filling)
              .reorder(ty, r, s, tx, tf, tc)
              .cache_read(in, features::spad)
              .at(s)
              .cache_read(W, features::spad)
              .cache_write(out, features::acc)
              .at(ty)
              .tensorize(tx, tf, tc, features::mac),
          emulated<filling>(), wide_by_hand);
    verdict const refused = make_plan(staged_for_mac(without_fill)).refusal;
    INFO(to_string(refused));
    CHECK(refused.kind == verdict_kind::no_border);
    CHECK(refused.broken == ir::rule::border_without_fill);
}
namespace {
constexpr machine with_clear(accelerators::ordered how, bool queued) {
    machine made = accelerators::accelerator(how, 4);
    tensor<std::int8_t> const a{"a"};
    transfer clear = transfer("clear_inputs", accelerators::dram, accelerators::inputs, a(any) = 0)
                         .dimensions(2)
                         .cost({.setup = 3, .bytes_per_cycle = 16});
    if (queued) clear.on(engine{"load"}).asynchronous();
    made.add(clear);
    return made;
}
constexpr machine clear_by_tokens = with_clear(accelerators::ordered::by_tokens, false),
                  clear_by_core = with_clear(accelerators::ordered::by_core, false),
                  clear_by_interlocks = with_clear(accelerators::ordered::by_interlocks, false),
                  queued_by_tokens = with_clear(accelerators::ordered::by_tokens, true),
                  queued_by_core = with_clear(accelerators::ordered::by_core, true),
                  queued_by_interlocks = with_clear(accelerators::ordered::by_interlocks, true);

template <machine const& Where>
void conv_on() {
    using namespace accelerators;
    emulator on(Where, semantics_of<Where>);
    for (int versions : {1, 2, 3}) {
        INFO(versions << " versions");
        check(schedule(wide_conv, Where)
                  .reorder(ty, r, s, tx, tf, tc)
                  .cache_read(in, inputs)
                  .at(r)
                  .buffers(versions)
                  .cache_read(W, weights)
                  .at(r)
                  .buffers(versions)
                  .cache_write(out, sums)
                  .at(ty)
                  .buffers(versions)
                  .tensorize(tx, tf, tc, Where.intrinsics[0]),
              on, wide_by_hand);
    }
}
}  // namespace

TEST_CASE("asynchronous instructions read borders, filled by the core or in the queue of the loads", "[long]") {
    conv_on<clear_by_tokens>();
    conv_on<clear_by_core>();
    conv_on<clear_by_interlocks>();
    conv_on<queued_by_tokens>();
    conv_on<queued_by_core>();
    conv_on<queued_by_interlocks>();
}

TEST_CASE("a box has a border where its tensor has a single element") {
    static constexpr tensor<std::int32_t> image{"image"}, sums{"sums"};
    static constexpr axis n{"n", 3}, m{"m", 5}, one{"one", 1}, last{"last", 1}, i{"i", 2}, k{"k", 5};
    static constexpr auto row_sums = sums(i) = sum(k, padded(image(n, m, one, last), 7)(0, 0, 0, k + i - 4));
    schedule row(row_sums, dsp);
    kernels::check_kernel(*std::make_unique<plan_value>(make_plan(row.cache_read(image, l1).at(i))), emulated<dsp>());
}

TEST_CASE("nothing is computed where all that is read is border") {
    static constexpr tensor<std::int32_t> image{"image"}, above{"above"}, sums{"sums"};
    static constexpr axis n{"n", 3}, i{"i", 2}, j{"j", 3};
    static constexpr auto only_border = stages(above(j) = image(j) + 1, sums(i) = padded(above(n), 7)(-2) + image(i));
    kernels::check_kernel(make_plan(schedule(only_border, dsp).compute_at(above, i).store_in(above, l1)), emulated<dsp>());
}
