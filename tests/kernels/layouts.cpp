// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/reference.hpp"

// Buffers whose elements lie where an index map puts them, compared with plain loops.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};

machine machine_with(bool asynchronous) {
    machine made("dsp", dram, l2, l1);
    engine const loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel}, copier{"copier"};
    for (engine const& e : {loader, storer, copier}) made.add(e);
    auto const add = [&](ir::label const& name, memory const& from, memory const& to, engine const& on, int dimensions) {
        auto t = transfer(name, from, to).on(on).dimensions(dimensions).cost({.latency = 20, .setup = 4, .bytes_per_cycle = 8});
        if (asynchronous) t.asynchronous();
        made.add(t);
    };
    add("dram_l2", dram, l2, loader, 2);
    add("l2_dram", l2, dram, storer, 2);
    add("l2_l1", l2, l1, copier, 3);
    add("l1_l2", l1, l2, copier, 3);
    add("dram_l1", dram, l1, loader, 4);
    add("l1_dram", l1, dram, storer, 4);
    return made;
}
machine const machines[] = {machine_with(false), machine_with(true)};

// A memory of two blocks, and one of three.
constexpr memory vtcm{.name = "vtcm", .capacity = 128_KiB, .alignment = 128, .banks = 2, .bank_bases = {0xd800'0000, 0xda00'0000}};
constexpr memory tcm{.name = "tcm", .base = 0x3000'0000, .capacity = 96_KiB, .alignment = 64, .banks = 3};
machine blocks_with(bool asynchronous) {
    machine made("blocks", dram, vtcm, tcm);
    engine const loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel};
    for (engine const& e : {loader, storer}) made.add(e);
    for (memory const* m : {&vtcm, &tcm}) {
        bool const first = m == &vtcm;
        auto in =
            transfer(first ? "load" : "load_tcm", dram, *m).on(loader).dimensions(first ? 2 : 4).cost({.latency = 9, .bytes_per_cycle = 4});
        auto out = transfer(first ? "store" : "store_tcm", *m, dram).on(storer).dimensions(3).cost({.latency = 9, .bytes_per_cycle = 4});
        if (asynchronous) in.asynchronous(), out.asynchronous();
        made.add(in);
        made.add(out);
    }
    return made;
}
machine const block_machines[] = {blocks_with(false), blocks_with(true)};

// An array that takes panels: 6 x 8 outer products of 4 steps, the left operand turned. It has no form that overwrites.
constexpr memory pad{.name = "pad", .base = 0x5000'0000, .capacity = 64_KiB, .alignment = 64, .banks = 2, .host_visible = false};
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 32_KiB, .alignment = 64, .banks = 2, .host_visible = false};
constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
constexpr axis i6{"i6", 6}, j8{"j8", 8}, l4{"l4", 4}, any{"any", 1};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr auto panels = intrinsic("panels", c(i6, j8) += cast<std::int32_t>(a(l4, i6)) * cast<std::int32_t>(b(l4, j8)))
                            .reads(a, pad)
                            .reads(b, pad)
                            .updates(c, acc)
                            .on(array)
                            .cycles(4);
constexpr auto in_pad = transfer("in_pad", dram, pad).on(loader).dimensions(2).cost({.latency = 30, .bytes_per_cycle = 8});
constexpr auto late_in_pad =
    transfer("in_pad", dram, pad).on(loader).asynchronous().dimensions(4).cost({.latency = 30, .bytes_per_cycle = 8});
constexpr auto out_acc = transfer("out_acc", acc, dram).on(storer).asynchronous().dimensions(3).cost({.latency = 30, .bytes_per_cycle = 8});
constexpr auto zero_acc = transfer("zero_acc", dram, acc, c(any) = 0).on(loader).dimensions(3).cost({.bytes_per_cycle = 32});
constexpr auto zero_pad = transfer("zero_pad", dram, pad, a(any) = 0).on(loader).dimensions(2).cost({.bytes_per_cycle = 32});
constexpr auto blocking_array =
    machine("blocking_array", dram, pad, acc, loader, storer, array, in_pad, out_acc, zero_acc, zero_pad, panels);
constexpr auto late_array = machine("late_array", dram, pad, acc, loader, storer, array, late_in_pad, out_acc, zero_acc, zero_pad, panels);

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

/// The kernel makes the bits of `expected`, also where every access is checked.
template <class Reference>
void check(schedule const& s, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    kernels::check_kernel(*plan, on, expected);
    if (plan->refusal || plan->rings.size() > 0) return;
    halide::jit_kernel checked(*plan, &on, true);
    on.reset();
    on.check(*plan);
    auto const data = kernels::random_operands(*plan, 17);
    Halide::Buffer<> result = data.output;
    CHECK_NOTHROW(result = kernels::result_of(checked, data, {}));
    CHECK(on.error() == "");
    auto const by_hand = kernels::random_operands(*plan, 17);
    expected(by_hand);
    CHECK(kernels::same_bits(result, by_hand.output));
    on.stop_checking();
}

struct product {
    axis m, n, k;
    product(std::int64_t rows, std::int64_t columns, std::int64_t depth) : m{"m", rows}, n{"n", columns}, k{"k", depth} {}
    auto what() const { return C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)); }
    template <class Direct>
    void on_every_machine(Direct const& direct, machine const (&those)[2] = machines) const {
        auto const computed = what();
        for (machine const& where : those) {
            INFO((where.transfers[0].is_asynchronous ? "asynchronous" : "blocking"));
            schedule made(computed, where);
            direct(made);
            emulator on(where, {});
            check(made, on, [&](kernels::operand_data const& d) {
                reference::matmul_nn(static_cast<int>(m.extent), static_cast<int>(n.extent), static_cast<int>(k.extent),
                                     d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
            });
        }
    }
};

}  // namespace

TEST_CASE("an operand is transposed on its way in") {
    product const p(24, 40, 36);
    p.on_every_machine([&](schedule& s) {
        s.tile(p.m, p.n, mo, no, mi, ni, 8, 8)
            .split(p.k, ko, ki, 12)
            .reorder(mo, no, ko, mi, ki, ni)
            .vectorize(ni)
            .cache_read(A, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(j, i); });
    });
}
TEST_CASE("panels of both operands and of the result") {
    product const p(24, 40, 36);
    p.on_every_machine([&](schedule& s) {
        s.tile(p.m, p.n, mo, no, mi, ni, 12, 20)
            .split(p.k, ko, ki, 12)
            .reorder(mo, no, ko, mi, ki, ni)
            .cache_read(A, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(i / 6, j, i % 6); })
            .cache_read(B, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(j / 4, i, j % 4); })
            .cache_write(C, l1)
            .at(no)
            .layout([](auto i, auto j) { return index_map(i / 6, j / 4, i % 6, j % 4); });
    });
}
TEST_CASE("panels that the box does not fill, and splits of splits") {
    product const p(26, 40, 22);
    p.on_every_machine([&](schedule& s) {
        s.split(p.m, mo, mi, 13)
            .split(p.k, ko, ki, 11)
            .reorder(mo, ko, mi, ki, p.n)
            .cache_read(A, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(i / 6, j / 8, j % 8 / 4, i % 6, j % 4); })
            .cache_read(B, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(j / 24, i / 3, j % 24 / 8, i % 3, j % 8); })
            .cache_write(C, l1)
            .at(mo)
            .layout([](auto i, auto j) { return index_map(j / 7, i, j % 7); });
    });
}
TEST_CASE("tiles that do not divide, of layouts that do not divide them", "[long]") {
    for (auto const& [rows, columns, depth] : {std::array{10, 19, 11}, {23, 5, 9}, {1, 1, 1}, {8, 16, 6}, {17, 3, 29}}) {
        INFO(rows << " x " << columns << " x " << depth);
        product const p(rows, columns, depth);
        p.on_every_machine([&](schedule& s) {
            s.tile(p.m, p.n, mo, no, mi, ni, 8, 8)
                .split(p.k, ko, ki, 6)
                .reorder(mo, no, ko, mi, ki, ni)
                .cache_read(A, l1)
                .at(ko)
                .layout([](auto i, auto j) { return index_map(i / 3, j, i % 3); })
                .cache_read(B, l1)
                .at(ko)
                .layout([](auto i, auto j) { return index_map(j / 4, i / 2, j % 4, i % 2); })
                .cache_write(C, l1)
                .at(no)
                .layout([](auto i, auto j) { return index_map(j / 5, i / 4, j % 5, i % 4 / 2, i % 2); });
        });
    }
}
TEST_CASE("a packed tile is packed again further in, out of parts that it does not begin at") {
    product const p(24, 40, 36);
    p.on_every_machine([&](schedule& s) {
        s.tile(p.m, p.n, mo, no, mi, ni, 8, 20)
            .split(p.k, ko, ki, 9)
            .reorder(mo, no, ko, mi, ki, ni)
            .cache_read(A, l2)
            .layout([](auto i, auto j) { return index_map(i / 6, j / 4, i % 6, j % 4); })
            .cache_read(A, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(j, i / 3, i % 3); })
            .cache_write(C, l2)
            .at(mo)
            .layout([](auto i, auto j) { return index_map(j / 16, i, j % 16); })
            .cache_write(C, l1)
            .at(no)
            .layout([](auto i, auto j) { return index_map(i / 2, j, i % 2); });
    });
}
TEST_CASE("versions of a packed tile") {
    for (int versions : {2, 3}) {
        product const p(24, 40, 36);
        machine const& where = machines[1];
        auto const computed = p.what();
        emulator on(where, {});
        schedule s(computed, where);
        s.tile(p.m, p.n, mo, no, mi, ni, 8, 8)
            .split(p.k, ko, ki, 12)
            .reorder(mo, no, ko, mi, ki, ni)
            .cache_read(A, l1)
            .at(ko)
            .buffers(versions)
            .layout([](auto i, auto j) { return index_map(i / 6, j, i % 6); })
            .cache_read(B, l1)
            .at(ko)
            .layout([](auto i, auto j) { return index_map(j / 4, i, j % 4); })
            .buffers(versions)
            .cache_write(C, l1)
            .at(no)
            .buffers(versions)
            .layout([](auto i, auto j) { return index_map(j / 3, i, j % 3); });
        check(s, on, [&](kernels::operand_data const& d) {
            reference::matmul_nn(24, 40, 36, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
        });
    }
}

TEST_CASE("two blocks hold the rows of a tile in turn, as [2][4096]") {
    constexpr tensor<float> X{"X"}, Y{"Y"};
    axis const i{"i", 512}, j{"j", 32}, io{"io"}, ii{"ii"};
    auto const what = Y(i, j) = X(i, j) * 2;
    for (machine const& where : block_machines) {
        schedule s(what, where);
        s.split(i, io, ii, 256)
            .vectorize(j, 8)
            .cache_read(X, vtcm)
            .at(io)
            .layout([](auto row, auto column) { return index_map(row % 2, separator, row / 2, column); })
            .cache_write(Y, vtcm)
            .at(io)
            .layout([](auto row, auto column) { return index_map(column / 16, separator, row, column % 16); });
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        REQUIRE(!plan->refusal);
        ir::buffer const& x = plan->buffers[2];
        CHECK(x.name == "X.vtcm");
        CHECK(x.blocks == 2);
        CHECK(x.part_bytes() == 4096 * 4);
        CHECK(plan->peak(vtcm, 0) == 2 * 4096 * 4);
        CHECK(plan->peak(vtcm, 1) == 2 * 4096 * 4);
        emulator on(where, {});
        check(s, on, [](kernels::operand_data const& d) {
            for (int at = 0; at < 512 * 32; ++at) d.out<float>()[at] = d.in<float>(0)[at] * 2;
        });
        // Where they are after the kernel: the last 256 rows, of X in turn, of Y by halves.
        auto const data = kernels::random_operands(*plan, 17);
        for (int row = 0; row < 256; ++row) {
            for (int column = 0; column < 32; ++column) {
                float const wanted = data.in<float>(0)[(256 + row) * 32 + column];
                auto const* const of_x = reinterpret_cast<float const*>(on.base(vtcm, row % 2) + x.offset);
                auto const* const of_y = reinterpret_cast<float const*>(on.base(vtcm, column / 16) + plan->buffers[3].offset);
                REQUIRE(of_x[row / 2 * 32 + column] == wanted);
                REQUIRE(of_y[row * 16 + column % 16] == wanted * 2);
            }
        }
    }
}
TEST_CASE("operands spread over two blocks and over three, in versions, where tiles are partial", "[long]") {
    for (auto const& [rows, columns, depth] : {std::array{24, 24, 36}, {10, 19, 11}, {1, 1, 1}}) {
        product const p(rows, columns, depth);
        for (int versions : {1, 2, 3}) {
            INFO(rows << " x " << columns << " x " << depth << ", " << versions << " versions");
            p.on_every_machine(
                [&](schedule& s) {
                    s.tile(p.m, p.n, mo, no, mi, ni, 8, 8)
                        .split(p.k, ko, ki, 12)
                        .reorder(mo, no, ko, mi, ki, ni)
                        .cache_read(A, tcm)
                        .at(ko)
                        .layout([](auto i, auto j) { return index_map(j / 4 % 3, separator, i / 3, j / 12, j % 4, i % 3); })
                        .cache_write(C, vtcm)
                        .at(no)
                        .layout([](auto i, auto j) { return index_map(i / 2 % 2, separator, j / 5, i / 4, j % 5, i % 2); })
                        .cache_read(B, vtcm)
                        .at(ko)
                        .layout([](auto i, auto j) { return index_map(j / 4, separator, i, j % 4); });
                    if (s.where().transfers[0].is_asynchronous) s.buffers(versions);
                },
                block_machines);
        }
    }
}

TEST_CASE("an instruction on panels, which turn its operand", "[long]") {
    for (auto const& [rows, columns, depth] : {std::array{24, 48, 24}, {25, 18, 11}, {1, 1, 1}, {13, 40, 30}}) {
        for (int versions : {1, 2}) {
            INFO(rows << " x " << columns << " x " << depth << ", " << versions << " versions");
            product const p(rows, columns, depth);
            auto const computed = p.what();
            auto const direct = [&](machine const& where, bool spread) {
                schedule s(computed, where);
                s.tile(p.m, p.n, mo, no, mi, ni, 12, 16).split(p.k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki).cache_read(A, pad).at(ko);
                if (spread) s.layout([](auto i, auto l) { return index_map(i / 6, separator, l, i % 6); });
                else s.layout([](auto i, auto l) { return index_map(i / 6, l, i % 6); });
                if (where.name == late_array.name) s.buffers(versions);
                s.cache_read(B, pad).at(ko);
                if (spread) s.layout([](auto l, auto j) { return index_map(l / 4, separator, j / 8, l % 4, j % 8); });
                else s.layout([](auto l, auto j) { return index_map(j / 8, l, j % 8); });
                s.cache_write(C, acc).at(no).buffers(versions);
                if (spread) s.layout([](auto i, auto j) { return index_map(j / 8, separator, i / 6, j % 8 / 8, i % 6, j % 8); });
                else s.layout([](auto i, auto j) { return index_map(i / 6, j / 8, i % 6, j % 8); });
                return s.tensorize(mi, ni, ki, panels);
            };
            auto const expected = [rows = rows, columns = columns, depth = depth](kernels::operand_data const& d) {
                reference::matmul_nn(rows, columns, depth, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
            };
            for (bool spread : {false, true}) {
                INFO((spread ? "in two blocks" : "in one block"));
                check(direct(blocking_array, spread), emulated<blocking_array>(), expected);
                check(direct(late_array, spread), emulated<late_array>(), expected);
            }
        }
    }
}

TEST_CASE("a copy that stays code packs, or a transfer that carries the copy out", "[long]") {
    constexpr tensor<std::int8_t> P{"P"};
    axis const x{"x", 20}, y{"y", 24}, i{"i", 20}, j{"j", 10}, l{"l", 24}, io{"io"}, ii{"ii"};
    auto const packed = stages(P(x, y) = A(x, y), C(i, j) += cast<std::int32_t>(P(i, l)) * cast<std::int32_t>(B(l, j)));
    auto const expected = [](kernels::operand_data const& d) {
        reference::matmul_nn(20, 10, 24, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    };
    for (machine const& where : machines) {
        emulator on(where, {});
        auto const turned = [](auto r, auto q) { return index_map(r / 6, q, r % 6); };
        check(schedule(packed, where).store_in(P, l1).layout(turned), on, expected);
        check(schedule(packed, where)
                  .split(i, io, ii, 6)
                  .compute_at(P, io)
                  .store_in(P, l2)
                  .layout(turned)
                  .cache_read(P, l1)
                  .at(io)
                  .layout([](auto r, auto q) { return index_map(q / 8, r, q % 8); }),
              on, expected);
        check(schedule(packed, where).store_in(P, l1).by(transfer("dram_l1", dram, l1)).layout(turned), on, expected);
    }
}

TEST_CASE("panels of images with halos, partial ones and strides too", "[long]") {
    constexpr tensor<std::int8_t> image{"image"}, filters{"filters"};
    constexpr tensor<std::int32_t> out{"out"};
    for (int rows : {12, 11, 5}) {
        axis const y{"y", rows}, x{"x", 9}, q{"q", 6}, r{"r", 3}, t{"t", 2}, h{"h", 4}, yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
        auto const what = out(y, x, q) += cast<std::int32_t>(image(y + r, 2 * x + t, h)) * cast<std::int32_t>(filters(r, t, h, q));
        auto const expected = [&](kernels::operand_data const& d) {
            for (int y_ = 0; y_ < rows; ++y_)
                for (int x_ = 0; x_ < 9; ++x_)
                    for (int q_ = 0; q_ < 6; ++q_) {
                        std::int32_t sum = 0;
                        for (int r_ = 0; r_ < 3; ++r_)
                            for (int t_ = 0; t_ < 2; ++t_)
                                for (int h_ = 0; h_ < 4; ++h_)
                                    sum += d.in<std::int8_t>(0)[((y_ + r_) * 18 + 2 * x_ + t_) * 4 + h_] *
                                           d.in<std::int8_t>(1)[((r_ * 2 + t_) * 4 + h_) * 6 + q_];
                        d.out<std::int32_t>()[(y_ * 9 + x_) * 6 + q_] = sum;
                    }
        };
        auto const direct = [&](machine const& where, memory const& near, bool spread) {
            schedule s(what, where);
            s.tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(image, near).at(xo);
            if (spread) s.layout([](auto i, auto j, auto p) { return index_map(i % 2, separator, j % 2, i / 2, p, j / 2); });
            else s.layout([](auto i, auto j, auto p) { return index_map(p / 2, i, j % 2, j / 2, p % 2); });
            s.cache_read(filters, near).layout([](auto i, auto j, auto p, auto o) { return index_map(o / 4, i, j, p, o % 4); });
            s.cache_write(out, near).at(xo).layout([](auto i, auto j, auto o) { return index_map(o, i / 3, j, i % 3); });
            return s;
        };
        for (machine const& where : machines) {
            emulator on(where, {});
            check(direct(where, l1, false), on, expected);
        }
        for (machine const& where : block_machines) {
            emulator on(where, {});
            check(direct(where, vtcm, true), on, expected);
        }
    }
}
TEST_CASE("a continued sum is loaded into its layout and stored from there") {
    auto const more = C(axis{"m", 10}, axis{"n", 12}) =
        C(axis{"m", 10}, axis{"n", 12}) +
        sum(axis{"k", 8}, cast<std::int32_t>(A(axis{"m", 10}, axis{"k", 8})) * cast<std::int32_t>(B(axis{"k", 8}, axis{"n", 12})));
    for (machine const& where : machines) {
        emulator on(where, {});
        schedule s(more, where);
        s.split("m", mo, mi, 4).reorder(mo, "k", mi, "n").cache_write(C, l1).at(mo).layout([](auto i, auto j) {
            return index_map(j / 5, i, j % 5);
        });
        if (where.transfers[0].is_asynchronous) s.buffers(2);
        check(s, on, [](kernels::operand_data const& d) {
            for (int i = 0; i < 10; ++i)
                for (int j = 0; j < 12; ++j)
                    for (int l = 0; l < 8; ++l)
                        d.out<std::int32_t>()[i * 12 + j] += d.in<std::int8_t>(0)[i * 8 + l] * d.in<std::int8_t>(1)[l * 12 + j];
        });
    }
}
TEST_CASE("operands that an instruction cannot take from a layout are refused") {
    product const p(24, 48, 24);
    auto const computed = p.what();
    auto const refusal_of = [&](auto const& of_a, auto const& of_b, std::int64_t multiple = 1, int banks = 2) {
        auto strict = blocking_array;
        strict.memories.parts[1].banks = banks;
        strict.intrinsics.parts[0].stride_alignment = multiple;
        schedule s(computed, strict);
        s.tile(p.m, p.n, mo, no, mi, ni, 12, 16)
            .split(p.k, ko, ki, 8)
            .reorder(mo, no, ko, mi, ni, ki)
            .cache_read(A, pad)
            .at(ko)
            .layout(of_a)
            .cache_read(B, pad)
            .at(ko)
            .layout(of_b)
            .cache_write(C, acc)
            .at(no)
            .tensorize(mi, ni, ki, panels);
        return make_plan(s).refusal;
    };
    auto const text = [](verdict const& v) { return std::string(sentence_of(v).letters.elements); };
    auto const good_a = [](auto i, auto l) { return index_map(i / 6, l, i % 6); };
    auto const good_b = [](auto l, auto j) { return index_map(j / 8, l, j % 8); };
    CHECK(!refusal_of(good_a, good_b));
    CHECK(!refusal_of(good_a, good_b, 2));
    CHECK(text(refusal_of(good_a, good_b, 4))
              .find("`panels` does not match stage `C`: rows of `a` lie 6 elements apart, which is no multiple of 4") == 0);
    CHECK(text(refusal_of([](auto i, auto l) { return index_map(i / 4, l, i % 4); }, good_b))
              .find("`panels` does not match stage `C`: a step moves `a` by 6 elements, past the end of a part of 4 of its layout") == 0);
    CHECK(text(refusal_of([](auto i, auto l) { return index_map(i, l); }, good_b))
              .find("`panels` does not match stage `C`: the last dimension of `a` lies along dimension 0 of its tensor, not along 1") == 0);
    CHECK(text(refusal_of([](auto i, auto l) { return index_map(l % 2, separator, i / 6, l / 2, i % 6); }, good_b))
              .find("`panels` does not match stage `C`: a step moves `a` by 4 elements, past the end of a part of 2 of its layout") == 0);
    CHECK(!refusal_of([](auto i, auto l) { return index_map(l / 4, separator, i / 6, l % 4, i % 6); }, good_b));
    CHECK(
        text(refusal_of([](auto i, auto l) { return index_map(l % 4, separator, i / 6, l / 4, i % 6); }, good_b, 1, 4))
            .find("`panels` does not match stage `C`: `a` takes 4 elements from dimension 0 of its buffer, which lie in several blocks") ==
        0);
    // Turned further out, but not in the buffer that the instruction reads.
    auto const both = [&](bool inner) {
        machine deep = blocking_array;
        memory const far{.name = "far", .base = 0x6000'0000, .capacity = 64_KiB};
        deep.add(far);
        deep.add(transfer("in_far", dram, far));
        deep.add(transfer("far_pad", far, pad).dimensions(3));
        schedule s(computed, deep);
        s.tile(p.m, p.n, mo, no, mi, ni, 12, 16)
            .split(p.k, ko, ki, 8)
            .reorder(mo, no, ko, mi, ni, ki)
            .cache_read(A, far)
            .layout(good_a)
            .cache_read(A, pad)
            .at(ko);
        if (inner) s.layout(good_a);
        s.cache_read(B, pad).at(ko).cache_write(C, acc).at(no).tensorize(mi, ni, ki, panels);
        return make_plan(s).refusal;
    };
    CHECK(!both(true));
    CHECK(text(both(false))
              .find("`panels` does not match stage `C`: the last dimension of `a` lies along dimension 0 of its tensor, not along 1") == 0);
}
TEST_CASE("lanes that a layout scatters read their elements, and nothing of the room between them") {
    for (machine const& where : machines) {
        constexpr tensor<std::int32_t> X{"X"}, Y{"Y"};
        axis const i{"i", 24}, io{"io"}, ii{"ii"};
        auto const more = Y(i) = X(i) + 1;
        schedule s(more, where);
        // Of 2 x 7 places 8 have an element: 7 in one column, and one in the other.
        s.split(i, io, ii, 8).vectorize(ii).cache_read(X, l1).at(io).layout([](auto at) { return index_map(at % 7, at / 7); });
        emulator on(where, {});
        check(s, on, [](kernels::operand_data const& d) {
            for (int at = 0; at < 24; ++at) d.out<std::int32_t>()[at] = d.in<std::int32_t>(0)[at] + 1;
        });
    }
}
TEST_CASE("blocks with one port: what is spread over a bank uses it") {
    memory const narrow{.name = "narrow", .base = 0x1000'0000, .capacity = 64_KiB, .alignment = 64, .banks = 4, .ports = 1};
    machine where("dsp", dram, narrow);
    engine const in{"in"}, out{"out"};
    where.add(in), where.add(out);
    where.add(transfer("in", dram, narrow).on(in).asynchronous().dimensions(3).cost({.latency = 9, .bytes_per_cycle = 4}));
    where.add(transfer("out", narrow, dram).on(out).asynchronous().dimensions(3).cost({.latency = 9, .bytes_per_cycle = 4}));
    constexpr tensor<float> X{"X"}, Y{"Y"};
    axis const i{"i", 64}, j{"j", 8}, io{"io"}, ii{"ii"};
    auto const twice = Y(i, j) = X(i, j) * 2;
    auto const halves = [](auto row, auto column) { return index_map(row % 2, separator, row / 2, column); };
    // Version 0 in banks 0 and 1, version 1 in banks 2 and 3: while one is used, the other is loaded.
    schedule apart(twice, where);
    apart.split(i, io, ii, 8).cache_read(X, narrow).at(io).buffers(2).layout(halves);
    emulator on(where, {});
    check(apart, on, [](kernels::operand_data const& d) {
        for (int at = 0; at < 64 * 8; ++at) d.out<float>()[at] = d.in<float>(0)[at] * 2;
    });
    CHECK(make_plan(apart).buffers[2].banks_of(1, 4) == 12);
    schedule together(twice, where);
    together.split(i, io, ii, 8).cache_read(X, narrow).at(io).buffers(3).layout(halves);
    CHECK(make_plan(together).refusal.kind == verdict_kind::bank_conflict);
}

// Lanes of one element are no loops, wherever an index is.
constexpr axis i1{"i1", 1}, l1x{"l1x", 1};
constexpr auto row_step = intrinsic("row_step", c(i1, j8) += cast<std::int32_t>(a(i1, l1x)) * cast<std::int32_t>(b(l1x, j8)))
                              .reads(a, pad)
                              .reads(b, pad)
                              .updates(c, acc)
                              .on(array)
                              .cycles(1);
constexpr auto vector_unit = machine("vector_unit", dram, pad, acc, loader, storer, array, in_pad, out_acc, zero_acc, row_step);
TEST_CASE("an instruction of one row takes it from two blocks") {
    product const p(12, 16, 24);
    auto const computed = p.what();
    schedule s(computed, vector_unit);
    s.tile(p.m, p.n, mo, no, mi, ni, 6, 16)
        .split(p.k, ko, ki, 12)
        .reorder(mo, no, ko, mi, ki, ni)
        .cache_read(A, pad)
        .at(ko)
        .layout([](auto row, auto column) { return index_map(column / 6, separator, row, column % 6); })
        .cache_read(B, pad)
        .at(ko)
        .layout([](auto row, auto column) { return index_map(row / 6, separator, row % 6, column); })
        .cache_write(C, acc)
        .at(no)
        .tensorize(mi, ki, ni, row_step);
    check(s, emulated<vector_unit>(), [](kernels::operand_data const& d) {
        reference::matmul_nn(12, 16, 24, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
