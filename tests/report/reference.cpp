#include "report/reference.hpp"
#include "report/kept.hpp"

#include <cctype>
#include <fstream>
#include <sstream>
#include <tilewright/report/loop_program.hpp>
#include <tilewright/report/plan_report.hpp>

#include "catch.hpp"

// docs/reference/directives.md says what each directive does: here it does it. Every example of the page is an example below.

using namespace reference_examples;
using namespace tilewright::reports;

namespace {

std::string read(std::string const& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string without_space(std::string text) {
    std::erase_if(text, [](unsigned char letter) { return std::isspace(letter) != 0; });
    return text;
}

/// The blocks between fences of a page, in order.
std::vector<std::string> blocks_of(std::string const& page) {
    std::vector<std::string> blocks;
    std::istringstream lines(page);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
            if (inside) blocks.emplace_back();
        } else if (inside) blocks.back() += line + '\n';
    }
    return blocks;
}

/// The loop program without its numbers, as the page shows it.
std::string nest_of(plan_value const& plan) {
    std::string text;
    auto const write = [&](auto const& self, std::vector<program_line> const& lines, std::string const& indent) -> void {
        for (program_line const& line : lines) {
            text += indent + line.text + '\n';
            if (!line.value.empty()) text += indent + "    " + line.value + '\n';
            self(self, line.inside, indent + "  ");
        }
    };
    write(write, lines_of(plan), "");
    return plan.refusal ? to_string(plan.refusal) : text;
}

void check_example(std::string const& wording, schedule const& example) {
    static std::vector<std::string> const blocks = blocks_of(read(TILEWRIGHT_REFERENCE "/directives.md"));
    INFO(wording << "\n" << nest_of(make_plan(example)));
    auto const found = std::find_if(blocks.begin(), blocks.end(),
                                    [&](std::string const& block) { return without_space(block) == without_space(wording); });
    REQUIRE(found != blocks.end());
    REQUIRE(found + 1 != blocks.end());
    CHECK(*(found + 1) == nest_of(make_plan(example)));
}

/// A plan is large: here it does not stay on the stack of a test for long.
std::string refusal_of(schedule const& of) { return name_of(make_plan(of).refusal.kind); }

#define EXAMPLE(...) check_example(#__VA_ARGS__, __VA_ARGS__)
#define REFUSED(verdict, ...) CHECK(refusal_of(__VA_ARGS__) == #verdict)

}  // namespace

TEST_CASE("the definitions of the reference are those of its examples") {
    auto const blocks = blocks_of(read(TILEWRIGHT_REFERENCE "/directives.md"));
    REQUIRE(!blocks.empty());
    CHECK(without_space(read(TILEWRIGHT_EXAMPLES)).find(without_space(blocks[0])) != std::string::npos);
}

TEST_CASE("directives make the loops that the reference shows") {
    EXAMPLE(schedule(matmul, dsp));
    EXAMPLE(schedule(blur, dsp).store_in(rows, tcm).stage(rows).vectorize(hx, 8));
    EXAMPLE(schedule(matmul, dsp).split(m, mo, mi, 4));
    EXAMPLE(schedule(matmul, dsp).split(m, mo, mi, 3).cache_read(A, tcm).at(mo));
    EXAMPLE(schedule(matmul, dsp).tile(m, n, mo, no, mi, ni, 4, 6));
    EXAMPLE(schedule(matmul, dsp).tile(m, k, mo, ko, mi, ki, 4, 3));
    EXAMPLE(schedule(matmul, dsp).fuse(m, n, f));
    EXAMPLE(schedule(matmul, dsp).fuse(m, n, f).split(f, mo, mi, 8).cache_read(A, tcm).at(mo));
    EXAMPLE(schedule(matmul, dsp).reorder(k, m));
    EXAMPLE(schedule(matmul, dsp).unroll(k, 3));
    EXAMPLE(schedule(matmul, dsp).vectorize(n, 4).reorder("n.outer", k, "n.lanes"));
    EXAMPLE(schedule(matmul, host).split(n, no, ni, 6).parallel(no).reorder(no, m, k, ni).cache_read(B, near).at(no));
    EXAMPLE(schedule(matmul, team).distribute(m, dsps).cache_read(A, own).at(m).buffers(2));
    EXAMPLE(schedule(matmul, team).split(n, no, ni, 6).reorder(no, m, ni, k).distribute(m, dsps).cache_read(B, common).at(no));
    EXAMPLE(schedule(matmul, team).split(n, no, ni, 6).reorder(no, m, ni, k).distribute(m, dsps).cache_read(B, own).at(no).buffers(2));
    EXAMPLE(schedule(in_parts, team).distribute(m, dsps, 3).stage(sums).distribute(part, dsps, 3).store_in(sums, common));
    EXAMPLE(schedule(blur, dsp).split(y, yo, yi, 4).compute_at(rows, yo).store_in(rows, tcm));
    EXAMPLE(schedule(blur, team).split(y, yo, yi, 4).compute_at(rows, yo).stage(rows).on(dsps, 1).store_in(rows, common).buffers(2));
    EXAMPLE(schedule(matmul, dsp).store_in(C, tcm));
    EXAMPLE(schedule(matmul, dsp).reads(A, tcm).cache_read(A, l1).at(m));
    EXAMPLE(schedule(matmul, dsp).writes(C, tcm).cache_write(C, l1).at(m));
    EXAMPLE(schedule(brought, dsp).writes(out, tcm).by(load));
    EXAMPLE(schedule(matmul, dsp).cache_read(A, tcm).at(m));
    EXAMPLE(schedule(matmul, dsp).split(m, mo, mi, 4).cache_read(A, tcm).cache_read(A, l1).at(mo));
    EXAMPLE(schedule(spread, dsp).split(x, xo, xi, 16).cache_read(row, tcm).at(xo));
    EXAMPLE(schedule(blur, dsp).split(y, yo, yi, 4).compute_at(rows, yo).store_in(rows, tcm).stage(rows).cache_read(in, tcm).at(yo));
    EXAMPLE(schedule(matmul, dsp).split(k, ko, ki, 3).reorder(m, ko, n, ki).cache_write(C, tcm).at(m));
    EXAMPLE(schedule(matmul, dsp).split(k, ko, ki, 3).reorder(ko, m, n, ki).cache_write(C, tcm).at(m));
    EXAMPLE(schedule(matmul, dsp).reorder(m, k, n).cache_read(B, tcm).at(k).by(load));
    EXAMPLE(schedule(transposed, dsp).store_in(turned, tcm).by(turn));
    EXAMPLE(schedule(matmul, streamer).reorder(m, k, n).cache_read(B, tcm).at(k).double_buffer());
    EXAMPLE(schedule(matmul, streamer).cache_write(C, tcm).at(m).buffers(2));
    EXAMPLE(schedule(matmul, streamer).cache_read(A, tcm).at(m));
    EXAMPLE(schedule(rectified, units)
                .tile(m, n, mo, no, mi, ni, 4, 4)
                .tensorize(mi, ni, rectify)
                .compute_at(P, no)
                .stage(P)
                .store_in(P, acc)
                .buffers(2)
                .tensorize(m, n, k, multiply));
    EXAMPLE(schedule(matmul, streamer).cache_read(A, tcm).at(m).buffers(4).prefetch(2));
    EXAMPLE(schedule(matmul, host).split(n, no, ni, 6).reorder(no, m, k, ni).cache_read(B, near).at(no).prefetch(1, m));
    EXAMPLE(schedule(matmul, streamer).cache_read(A, vtcm).at(m).buffers(2).in_bank(1));
    EXAMPLE(schedule(matmul, dsp).split(n, no, ni, 4).cache_read(B, tcm).layout([](auto i, auto j) { return index_map(j / 4, i, j % 4); }));
    EXAMPLE(schedule(matmul, dsp).split(m, mo, mi, 5).cache_read(A, tcm).at(mo).layout([](auto i, auto j) {
        return index_map(i / 2, j, i % 2);
    }));
    EXAMPLE(schedule(matmul, streamer).split(m, mo, mi, 4).cache_read(A, vtcm).at(mo).layout([](auto i, auto j) {
        return index_map(i % 2, separator, i / 2, j);
    }));
    EXAMPLE(schedule(matmul, dsp).cache_read(A, tcm).cache_read(B, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));
    EXAMPLE(schedule(biased, dsp).cache_read(A, tcm).cache_read(B, tcm).cache_read(bias, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));
}

TEST_CASE("reads and writes check what the reference says") {
    auto const plain = [] { return schedule(matmul, dsp); };
    auto const blurred = [] { return schedule(blur, dsp); };
    constexpr memory elsewhere{.name = "elsewhere", .capacity = 1_KiB};
    constexpr memory hidden{.name = "hidden", .capacity = 64_KiB, .host_visible = false};
    machine const blind("blind", dram, hidden, transfer("load", dram, hidden));

    REFUSED(unknown_tensor, plain().reads(C, tcm));
    REFUSED(unknown_tensor, blurred().store_in(rows, tcm).reads(rows, tcm));
    REFUSED(unknown_part, plain().reads(A, elsewhere));
    REFUSED(none, plain().reads(A, any_of(l1, tcm, dram)));
    CHECK(make_plan(plain().reads(A, any_of(l1, tcm))).buffers[0].memory == dsp.memories.find("l1"));
    REFUSED(capacity_of_representation, plain().reads(A, any_of(l1, tcm, dram, l1, tcm)));
    REFUSED(conflicting_directives, plain().reads(A, l1).reads(A, l1));
    REFUSED(misplaced_directive, schedule(matmul, kept(machine("file", dram, register_file("vr", 8, 32)))).reads(A, memory{.name = "vr"}));
    constexpr memory numbered{.name = "numbered", .capacity = 1_KiB, .host_visible = false, .address_unit = 16};
    REFUSED(misplaced_directive, schedule(matmul, kept(machine("numbers", dram, numbered))).writes(C, numbered));
    REFUSED(host_access, schedule(matmul, blind).reads(A, hidden));
    REFUSED(no_transfer, plain().reads(A, tcm).cache_read(A, tcm));
    REFUSED(none, plain().reads(A, tcm).reads(B, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));
    REFUSED(operand_memory, plain().reads(A, l1).reads(B, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));

    REFUSED(unknown_tensor, plain().writes(A, tcm));
    REFUSED(unknown_tensor, blurred().store_in(rows, tcm).writes(rows, tcm));
    REFUSED(conflicting_directives, plain().writes(C, tcm).writes(C, l1));
    REFUSED(conflicting_directives, plain().store_in(C, tcm).writes(C, l1));
    REFUSED(conflicting_directives, plain().writes(C, tcm).store_in(C, l1));
    REFUSED(transfer_mismatch, schedule(brought, dsp).writes(out, tcm).by(save));
    REFUSED(transfer_mismatch, plain().writes(C, tcm).by(load));
    REFUSED(misplaced_directive, schedule(brought, dsp).reads(in, dram).by(load));
    REFUSED(misplaced_directive, plain().writes(C, tcm).in_bank(0));
    REFUSED(misplaced_directive, plain().writes(C, tcm).layout([](auto i, auto j) { return index_map(j, i); }));
    REFUSED(misplaced_directive, plain().writes(C, tcm).at(m));
    // an argument takes no room of a plan
    CHECK(make_plan(plain().reads(A, tcm).writes(C, tcm)).peak(tcm) == 0);
}

TEST_CASE("directives check what the reference says") {
    schedule const s(matmul, dsp), two(blur, dsp);
    auto const plain = [&] { return s; };
    auto const blurred = [&] { return two; };
    auto const staged = [&] { return schedule(matmul, dsp).cache_read(A, tcm).cache_read(B, tcm).cache_write(C, tcm); };
    constexpr memory elsewhere{.name = "elsewhere", .capacity = 1_KiB};

    REFUSED(unknown_axis, plain().split("q", mo, mi, 4));
    REFUSED(unknown_axis, plain().split(m, mo, mi, 4).reorder(m, n));
    REFUSED(axis_used_twice, plain().split(m, m, mi, 4));
    REFUSED(ill_formed, plain().split(m, "m outer", mi, 4));
    REFUSED(unknown_part, plain().cache_read(A, elsewhere));

    REFUSED(unknown_tensor, plain().stage(A));
    REFUSED(invalid_number, plain().split(m, mo, mi, 0));
    // the box of `rows` at `yo` has 6 rows: no number of them is too many for a tile
    REFUSED(none, blurred().store_in(rows, tcm).split(y, yo, yi, 4).compute_at(rows, yo).stage(rows).split(hy, mo, mi, 6));
    REFUSED(conflicting_directives, plain().vectorize(n).split(n, no, ni, 4));
    REFUSED(none, plain().split(n, no, ni, 4).vectorize(ni));
    REFUSED(misplaced_directive, staged().tensorize(m, n, k, mac).split(m, mo, mi, 2));

    REFUSED(loop_order, plain().fuse(n, m, f));
    REFUSED(loop_order, plain().fuse(n, k, f));
    REFUSED(conflicting_directives, plain().unroll(m).fuse(m, n, f));
    REFUSED(none, plain().fuse(m, n, f).cache_read(A, tcm).at(f));
    REFUSED(loop_order, plain().fuse(m, n, f).split(f, mo, mi, 8).cache_write(C, tcm).at(mo));
    REFUSED(misplaced_directive, staged().tensorize(m, n, k, mac).fuse(m, n, f));

    REFUSED(axis_used_twice, plain().reorder(k, m, k));
    REFUSED(misplaced_directive, staged().tensorize(m, n, k, mac).reorder(k, m));

    REFUSED(none, plain().unroll(k, 6).reorder(k, m));
    REFUSED(invalid_number, plain().unroll(k, -1));
    REFUSED(conflicting_directives, plain().unroll(n).vectorize(n));
    REFUSED(none, plain().unroll(m).cache_read(A, tcm).at(m));

    REFUSED(loop_order, plain().vectorize(k));
    REFUSED(loop_order, plain().vectorize(m).cache_read(A, tcm).at(m));
    REFUSED(loop_order, plain().vectorize(m).cache_read(A, tcm).at(n));
    REFUSED(loop_order, staged().vectorize(m).tensorize(m, n, k, mac));
    REFUSED(loop_order, blurred().store_in(rows, tcm).vectorize(y).compute_at(rows, y));

    REFUSED(unknown_tensor, blurred().store_in(rows, tcm).compute_at(in, y));
    REFUSED(unknown_axis, blurred().store_in(rows, tcm).compute_at(rows, hy));
    REFUSED(misplaced_directive, blurred().store_in(rows, tcm).compute_at(out, y));
    REFUSED(conflicting_directives, blurred().store_in(rows, tcm).compute_at(rows, y).compute_at(rows, x));
    constexpr axis short_hy{"hy", 17};
    constexpr auto too_short = stages(rows(short_hy, hx) = in(short_hy, hx), out(y, x) = rows(y, x) + rows(y + 2, x));
    REFUSED(outside_domain, schedule(too_short, dsp).store_in(rows, tcm));
    constexpr tensor<float> middle{"middle"};
    constexpr auto read_twice = stages(rows(hy, hx) = in(hy, hx), middle(y, x) = rows(y, x), out(y, x) = rows(y, x) + middle(y, x));
    REFUSED(loop_order, schedule(read_twice, dsp).store_in(rows, tcm).store_in(middle, tcm).compute_at(rows, y));

    REFUSED(no_memory, blurred());
    REFUSED(no_memory, plain().store_in(C, dram));
    constexpr memory small{.name = "small", .capacity = 191};  // A has 8 x 6 floats
    REFUSED(memory_overflow, schedule(matmul, kept(machine("small", dram, small, transfer("load", dram, small)))).cache_read(A, small));
    REFUSED(unknown_tensor, plain().store_in(A, tcm));
    REFUSED(conflicting_directives, plain().store_in(C, tcm).store_in(C, tcm));
    constexpr memory hidden{.name = "hidden", .capacity = 64_KiB, .host_visible = false};
    machine const blind("blind", dram, hidden, transfer("load", dram, hidden));
    REFUSED(host_access, schedule(matmul, blind).store_in(C, hidden));
    REFUSED(host_access, schedule(matmul, blind).cache_read(A, hidden));

    REFUSED(unknown_tensor, plain().cache_read(C, tcm));
    REFUSED(no_memory, plain().cache_read(A, dram));
    REFUSED(no_transfer, plain().cache_read(A, l1));
    REFUSED(several_transfers, schedule(matmul, kept(machine("both", dram, tcm, load, transfer("other", dram, tcm)))).cache_read(A, tcm));
    REFUSED(none, schedule(matmul, kept(machine("both", dram, tcm, load, transfer("other", dram, tcm)))).cache_read(A, tcm).by(load));
    constexpr auto uneven = out(y) = in(2 * y) + in(y);
    REFUSED(none, schedule(uneven, dsp).cache_read(in, tcm));
    REFUSED(box_not_constant, schedule(uneven, dsp).cache_read(in, tcm).at(y));

    constexpr axis rows_at_run_time{"m", dynamic};
    constexpr auto open = out(rows_at_run_time) = in(rows_at_run_time)*2;
    REFUSED(run_time_box, schedule(open, dsp).cache_read(in, tcm));
    constexpr axis at_most{"m", dynamic.up_to(100)};
    constexpr auto bounded = out(at_most) = in(at_most)*2;
    REFUSED(none, schedule(bounded, dsp).cache_read(in, tcm));

    REFUSED(unknown_tensor, plain().cache_write(A, tcm));
    REFUSED(none, plain().reorder(k, m, n).cache_write(C, tcm).at(m));
    REFUSED(loop_order, schedule(matmul, streamer).reorder(k, m, n).cache_write(C, tcm).at(m));
    REFUSED(loop_order, plain().split(n, no, ni, 4).reorder(ni, m, no).cache_write(C, tcm).at(ni));

    REFUSED(unknown_axis, plain().cache_read(A, tcm).at("q"));
    REFUSED(loop_order, schedule(matmul, dsp).cache_read(A, tcm).at(m).cache_read(B, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));
    REFUSED(misplaced_directive, plain().at(m));
    REFUSED(conflicting_directives, plain().cache_read(A, tcm).at(m).at(n));

    REFUSED(transfer_mismatch, plain().cache_read(A, tcm).by(save));
    REFUSED(transfer_mismatch, plain().cache_read(A, tcm).by(turn));
    REFUSED(transfer_mismatch, schedule(transposed, dsp).store_in(turned, tcm).by(load));
    REFUSED(misplaced_directive, plain().by(load));
    REFUSED(conflicting_directives, plain().cache_read(A, tcm).by(load).by(load));
    REFUSED(misplaced_directive, schedule(transposed, dsp).store_in(turned, tcm).by(turn).stage(turned).reorder(k, m));
    REFUSED(misplaced_directive, schedule(transposed, dsp).store_in(turned, tcm).by(turn).stage(turned).cache_read(A, tcm));

    auto const streamed = [&] { return schedule(matmul, streamer).cache_read(A, tcm).at(m); };
    auto const banked = [&] { return schedule(matmul, streamer).cache_read(A, vtcm).at(m); };
    REFUSED(none, streamed().buffers(16));
    REFUSED(versions_without_use, plain().cache_read(A, tcm).at(m).buffers(2));
    REFUSED(none, plain().cache_read(A, tcm).at(m).buffers(1));
    REFUSED(invalid_number, streamed().buffers(0));
    REFUSED(capacity_of_representation, streamed().buffers(17));
    REFUSED(conflicting_directives, streamed().buffers(2).double_buffer());
    REFUSED(misplaced_directive, plain().buffers(2));
    REFUSED(versions_without_use, plain().store_in(C, tcm).buffers(2));
    // A has 6 floats a row
    constexpr memory tight{.name = "tight", .capacity = 3 * 6 * 4};
    machine const narrow("narrow", dram, tight, in_dma, transfer("t", dram, tight).on(in_dma).asynchronous());
    REFUSED(none, schedule(matmul, narrow).cache_read(A, tight).at(m).buffers(3));
    REFUSED(memory_overflow, schedule(matmul, narrow).cache_read(A, tight).at(m).buffers(4));
    CHECK(make_plan(schedule(matmul, narrow).cache_read(A, tight).at(m).buffers(5)).refusal.facts[2].value == 3);
    // a load that is a step ahead of 8 x 6 is started once in front, and 47 times inside
    CHECK(make_plan(schedule(matmul, streamer).reorder(m, k, n).cache_read(B, tcm).at(k).double_buffer()).calls(get) == 48);

    // versions of a stage, for a unit that reads beside the core
    constexpr auto waited_for = intrinsic("rectify", d(i, j) = max(c(i, j), 0)).reads(c, acc).writes(d, dram).on(vectors);
    machine const waiting("waiting", dram, acc, array, vectors, multiply, waited_for);
    auto const finished_on = [](machine const& where) {
        return schedule(rectified, where)
            .tile(m, n, mo, no, mi, ni, 4, 4)
            .tensorize(mi, ni, rectify)
            .compute_at(P, no)
            .stage(P)
            .store_in(P, acc);
    };
    REFUSED(none, finished_on(units).buffers(2).tensorize(m, n, k, multiply));
    REFUSED(versions_without_use, finished_on(waiting).buffers(2).tensorize(m, n, k, multiply));
    REFUSED(none, finished_on(waiting).tensorize(m, n, k, multiply));

    REFUSED(none, streamed().buffers(3).prefetch(0));
    REFUSED(versions_without_use, streamed().buffers(3).prefetch(3));
    REFUSED(versions_without_use, streamed().prefetch(1));
    REFUSED(versions_without_use, plain().cache_read(A, tcm).at(m).prefetch(1));
    REFUSED(invalid_number, streamed().buffers(3).prefetch(-1));
    REFUSED(misplaced_directive, schedule(matmul, streamer).cache_write(C, tcm).at(m).prefetch(1));
    REFUSED(conflicting_directives, streamed().buffers(3).prefetch(1).prefetch(1));

    auto const copied = [] { return schedule(matmul, host).cache_read(A, near).at(m); };
    REFUSED(none, copied().prefetch(1, k));
    REFUSED(unknown_axis, copied().prefetch(1, ko));
    REFUSED(loop_order, copied().prefetch(1, m));
    REFUSED(loop_order, copied().prefetch(1, k).unroll(k));
    REFUSED(loop_order, copied().prefetch(1, n).vectorize(n));
    REFUSED(misplaced_directive, schedule(matmul, host).cache_read(A, near).prefetch(1, k));
    REFUSED(misplaced_directive, streamed().buffers(3).prefetch(1, k));

    REFUSED(none, banked().in_bank(1));
    REFUSED(versions_without_use, banked().in_bank(2));
    REFUSED(invalid_number, banked().in_bank(-1));
    REFUSED(bank_conflict, banked().buffers(3));
    REFUSED(none, banked().buffers(3).prefetch(0));
    REFUSED(none, schedule(matmul, streamer).store_in(C, vtcm).in_bank(1));
    REFUSED(misplaced_directive, plain().in_bank(0));
    REFUSED(conflicting_directives, banked().in_bank(0).in_bank(0));

    auto const same = [](auto x, auto y) { return index_map(x, y); };
    REFUSED(none, banked().layout(same));
    REFUSED(none, schedule(matmul, dsp).store_in(C, tcm).layout(same));
    REFUSED(layout_mismatch, banked().layout([](auto x, auto y) { return index_map(x, y / 2); }));
    REFUSED(invalid_number, banked().layout([](auto x, auto y) { return index_map(x, y / 0); }));
    REFUSED(capacity_of_representation, banked().layout([](auto x, auto y) { return index_map(x, y, x, x, x, x, x); }));
    REFUSED(misplaced_directive, schedule(matmul, dsp).layout(same));
    REFUSED(conflicting_directives, banked().layout(same).layout(same));

    REFUSED(loop_order, staged().tensorize(m, n, mac));
    REFUSED(axis_used_twice, staged().tensorize(m, n, n, mac));
    REFUSED(partial_step, staged().split(m, mo, mi, 2).reorder(mo, mi, n, k).tensorize(mi, n, k, mac));
    REFUSED(operand_memory, schedule(matmul, dsp).tensorize(m, n, k, mac));
    REFUSED(intrinsic_mismatch, staged().tensorize(m, n, k, mul));
    REFUSED(none, staged().split(k, ko, ki, 2).reorder(ko, m, n, ki).tensorize(m, n, ki, mac));
    REFUSED(conflicting_directives, staged().tensorize(m, n, k, mac).tensorize(m, n, k, mac));
    REFUSED(missing_first_form, schedule(matmul, kept(machine("sums", dram, tcm, load, save, mac)))
                                    .cache_read(A, tcm)
                                    .cache_read(B, tcm)
                                    .cache_write(C, tcm)
                                    .tensorize(m, n, k, mac));
    REFUSED(missing_first_form, schedule(biased, kept(machine("sums", dram, tcm, load, save, mac, mul)))
                                    .cache_read(A, tcm)
                                    .cache_read(B, tcm)
                                    .cache_read(bias, tcm)
                                    .cache_write(C, tcm)
                                    .tensorize(m, n, k, mac));
    constexpr auto difference = C(m, n) += A(m, k) - B(k, n);
    REFUSED(intrinsic_operation,
            schedule(difference, dsp).cache_read(A, tcm).cache_read(B, tcm).cache_write(C, tcm).tensorize(m, n, k, mac));
}

TEST_CASE("regions become the calls that the reference shows") {
    std::string const page = read(TILEWRIGHT_REFERENCE "/machine.md");
    constexpr axis row{"row", 6}, column{"column", 40};
    constexpr tensor<std::int8_t> bytes{"A"}, copied{"copied"};
    constexpr auto copy = copied(row, column) = bytes(row, column);
    auto const plan_of = [&](transfer const& mover) {
        return make_plan(schedule(copy, kept(machine("one", dram, tcm, mover))).cache_read(bytes, tcm));
    };
    auto const check_row = [&](std::string const& limits, transfer const& mover) {
        std::string shown;
        std::istringstream lines(nest_of(plan_of(mover)));
        for (std::string line; std::getline(lines, line) && line.rfind("compute", 0) != 0;) {
            shown += (shown.empty() ? "`" : "<br>`") + line.substr(line.find_first_not_of(' ')) + "`";
        }
        INFO(limits << " " << shown);
        CHECK(page.find("| `" + limits + "` | " + shown + " |\n") != std::string::npos);
    };
#define ROW(limits) check_row(#limits, transfer("load", dram, tcm) limits)
    ROW(.dimensions(1));
    ROW(.dimensions(2));
    ROW(.dimensions(2).row_limit(16));
    ROW(.dimensions(3).row_limit(16));
    ROW(.dimensions(2).extent_limit(4));
    ROW(.dimensions(2).granularity(8));
    ROW(.dimensions(2).alignment(8));
    for (transfer const& refused :
         {transfer("load", dram, tcm).dimensions(2).granularity(16), transfer("load", dram, tcm).dimensions(2).alignment(16),
          transfer("load", dram, tcm).dimensions(2).row_limit(4).granularity(8)}) {
        CHECK(plan_of(refused).refusal.kind == verdict_kind::transfer_region);
    }
    // An argument whose rows were joined must come without gaps; where they are rows, it need not.
    CHECK(plan_of(transfer("load", dram, tcm)).buffers[0].dense_from == 0);
    CHECK(plan_of(transfer("load", dram, tcm).dimensions(2)).buffers[0].dense_from == 1);
}

TEST_CASE("loops that stay code wait for the memories that they load from and store to") {
    constexpr memory slow{.name = "slow", .capacity = 64_KiB, .wait_cycles = 3},
        slower{.name = "slower", .capacity = 64_KiB, .wait_cycles = 5};
    machine const& with = kept(machine("with", dram, slow, slower, cpu, transfer("copy", dram, slow).on(cpu)));
    auto const cycles = [](schedule const& of) { return static_cast<double>(make_plan(of).cycles()); };
    // 8 x 12 x 6 steps of 6 cycles, and 8 x 12 identities
    CHECK(cycles(schedule(matmul, with)) == 576 * 6 + 96);
    // A is loaded; C is loaded and stored, and its identity is stored
    CHECK(cycles(schedule(matmul, with).reads(A, slow)) == 576 * (6 + 3) + 96);
    CHECK(cycles(schedule(matmul, with).writes(C, slow)) == 576 * (6 + 2 * 3) + 96 * (1 + 3));
    CHECK(cycles(schedule(matmul, with).reads(A, slow).writes(C, slower)) == 576 * (6 + 3 + 2 * 5) + 96 * (1 + 5));
    // A transfer of 8 x 6 floats costs what it says, a byte a cycle.
    CHECK(cycles(schedule(matmul, with).cache_read(A, slow)) == 192 + 576 * (6 + 3) + 96);
    REFUSED(invalid_number, schedule(matmul, kept(machine("with", memory{.name = "dram", .wait_cycles = -1}))));
    REFUSED(capacity_of_representation, schedule(matmul, kept(machine("with", memory{.name = "dram", .wait_cycles = 1'048'577}))));
}

TEST_CASE("the table of banks is what the planner allows, and what banks allow") {
    std::string const page = read(TILEWRIGHT_REFERENCE "/machine.md");
    // No load of steps t + 1 to t + distance is in the bank of step t.
    auto const apart = [](int versions, int banks, int distance) {
        for (int step = 0; step < versions; ++step) {
            for (int away = 1; away <= distance; ++away) {
                if ((step + away) % versions % banks == step % banks) return false;
            }
        }
        return true;
    };
    constexpr axis longer{"m", 32};
    constexpr auto copy = C(longer, k) = A(longer, k);
    for (int versions = 1; versions <= 8; ++versions) {
        std::string row = "| " + std::to_string(versions) + " |";
        for (int banks : {1, 2, 3, 4, 8}) {
            memory const narrow{.name = "narrow", .capacity = 24 * 512, .banks = banks, .ports = 1};
            machine const& with = kept(machine("with", dram, narrow, in_dma, transfer("t", dram, narrow).on(in_dma).asynchronous()));
            int largest = -1;
            for (int distance = 0; distance < versions; ++distance) {
                plan_value const plan =
                    make_plan(schedule(copy, with).cache_read(A, narrow).at(longer).buffers(versions).prefetch(distance));
                INFO(versions << " versions, " << banks << " banks, distance " << distance << ": " << to_string(plan.refusal));
                CHECK((plan.refusal.kind == verdict_kind::none) == apart(versions, banks, distance));
                CHECK((plan.refusal.kind == verdict_kind::bank_conflict) == !apart(versions, banks, distance));
                if (!plan.refusal) {
                    CHECK(largest == distance - 1);  // every smaller one is legal
                    largest = distance;
                }
            }
            row += " " + std::to_string(largest) + " |";
        }
        INFO(row);
        CHECK(page.find(row + "\n") != std::string::npos);
    }
    // What is stored: legal are versions that are not more than the banks.
    for (int versions = 1; versions <= 6; ++versions) {
        for (int banks : {1, 2, 3, 4}) {
            memory const narrow{.name = "narrow", .capacity = 24 * 512, .banks = banks, .ports = 1};
            machine const& with = kept(machine("with", dram, narrow, in_dma, transfer("t", narrow, dram).on(in_dma).asynchronous()));
            plan_value const plan = make_plan(schedule(copy, with).cache_write(C, narrow).at(longer).buffers(versions));
            INFO(versions << " versions, " << banks << " banks: " << to_string(plan.refusal));
            CHECK((plan.refusal.kind == verdict_kind::bank_conflict) == !apart(versions, banks, versions - 1));
            CHECK((plan.refusal.kind == verdict_kind::none) == (versions <= banks || versions == 1));
        }
    }
}

TEST_CASE("machines are checked as the reference says") {
    auto const on = [](auto const&... parts) { return make_plan(schedule(matmul, kept(machine("some", dram, parts...)))); };
    auto const verdict_of = [&](auto const&... parts) { return std::string(name_of(on(parts...).refusal.kind)); };
    CHECK(verdict_of() == "none");
    CHECK(verdict_of(load) == "unknown_part");
    CHECK(verdict_of(tcm, tcm) == "invalid_part");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 64, .banks = 2}) == "none");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 64, .banks = 3}) == "invalid_part");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 64, .banks = 2, .ports = 0}) == "invalid_number");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 90, .banks = 9}) == "capacity_of_representation");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 64, .banks = 2, .bank_bases = {64, 95}}) == "invalid_part");
    CHECK(verdict_of(memory{.name = "banked", .capacity = 64, .banks = 2, .bank_bases = {64, 96}}) == "none");
    CHECK(verdict_of(core{.name = "two", .count = 2}) == "none");
    CHECK(verdict_of(core{.name = "none", .count = 0}) == "invalid_number");
    CHECK(verdict_of(core{.name = "fast"}, core{.name = "slow", .costs = {.load = 100}}) == "none");
    CHECK(verdict_of(core{.name = "fast", .count = 4}, core{.name = "slow", .count = 5}) == "capacity_of_representation");
    core const fast{.name = "fast"}, slow{.name = "slow", .fused_multiply_add = true};
    for (auto const& [one, other] : {std::pair{fast, slow}, std::pair{slow, fast}}) {
        plan_value const both = on(one, other);
        CHECK(name_of(both.refusal.kind) == std::string("not_honoured"));
        std::string const sentence =
            "`" + other.name.str() + "` beside `" + one.name.str() + "` asks for sums rounded otherwise, which plans do not do yet";
        CHECK(sentence_of(both.refusal).letters.elements == sentence);
        CHECK(to_json(both).find("{\"verdict\":\"not_honoured\",\"sentence\":\"" + sentence) != std::string::npos);
    }
    CHECK(verdict_of(tcm, transfer("t", dram, tcm).asynchronous()) == "invalid_part");
    engine const dma{"dma"};
    CHECK(verdict_of(tcm, dma, transfer("t", dram, tcm).on(dma).asynchronous()) == "none");
    CHECK(verdict_of(engine{.name = "dma", .depth = 0}) == "invalid_number");
    CHECK(verdict_of(engine{.name = "dma", .depth = 65}) == "capacity_of_representation");
    CHECK(verdict_of(tcm, transfer("t", dram, tcm).on(engine{"dma"})) == "unknown_part");
    CHECK(verdict_of(memory{.name = "a", .base = 0, .capacity = 64}, memory{.name = "b", .base = 63, .capacity = 64}) == "invalid_part");
    CHECK(verdict_of(memory{.name = "a", .base = 0, .capacity = 64}, memory{.name = "b", .base = 64, .capacity = 64}) == "none");
    CHECK(verdict_of(tcm, transfer("t", dram, tcm, c(i) = a(i) + b(i))) == "invalid_part");
    CHECK(verdict_of(tcm, intrinsic("sum", c(i, j) += a(i, l)).reads(a, tcm)) == "invalid_part");
    CHECK(verdict_of(tcm, transfer("t", dram, tcm).dimensions(6)) == "none");
    auto const costs = [&](std::int64_t cycles, auto const&... rates) {
        return verdict_of(tcm, intrinsic("t", c(i, j) = sum(l, a(i, l))).reads(a, tcm).writes(c, tcm).cycles(cycles, rates...));
    };
    CHECK(costs(0, per(i), 0 * per(j, l).in_units_of(100), per(i) * per(i) * per(j) * per(l), per(i)) == "none");
    CHECK(costs(-1) == "invalid_number");
    CHECK(costs(1, -1 * per(i)) == "invalid_number");
    CHECK(costs(1, per(i), per(j).in_units_of(0)) == "invalid_number");
    CHECK(costs(1, per(i), per(i), per(i), per(i), per(i)) == "capacity_of_representation");
    CHECK(costs(1, per(i) * per(i) * per(i) * per(i) * per(i)) == "capacity_of_representation");
    CHECK(costs(std::int64_t{1} << 53) == "none");
    CHECK(costs((std::int64_t{1} << 53) + 2) == "capacity_of_representation");
    CHECK(costs(0, (std::int64_t{1} << 51) * per(i)) == "none");
    CHECK(costs(2, (std::int64_t{1} << 51) * per(i)) == "capacity_of_representation");
    CHECK(costs(0, (std::int64_t{1} << 40) * per(i) * (std::int64_t{1} << 40)) == "capacity_of_representation");
    CHECK(costs(0, per(r)) == "invalid_part");
    auto const too_many_arguments = [](auto call) {
        for (int at = 0; at < 19; ++at) call.call.push(argument::literal(at));
        return call;
    };
    CHECK(verdict_of(tcm, too_many_arguments(transfer("t", dram, tcm))) == "capacity_of_representation");
    // 8 x 12 x 6 iterations of 3 loads, a product, a sum and a store, and 8 x 12 identities
    CHECK(on().total_cycles == 8 * 12 * 6 * 6 + 8 * 12);
    CHECK(on(core{.name = "slow", .costs = {.load = 2, .store = 5, .multiply = 7}}).total_cycles ==
          8 * 12 * 6 * (3 * 2 + 7 + 1 + 5) + 8 * 12 * 5);
    // 16 bytes: latency 3, setup 4, two times 8
    constexpr auto four = c(i) = a(i);
    CHECK(make_plan(schedule(four, kept(machine("some", dram, tcm,
                                                transfer("t", dram, tcm).cost({.latency = 3, .setup = 4, .bytes_per_cycle = 9}))))
                        .cache_read(a, tcm))
              .total_cycles == 3 + 4 + 2 + 4 * 2);
}

TEST_CASE("computations are checked as the reference says") {
    tensor<std::int8_t> const small{"small"}, out8{"out8"};
    tensor<bool> const flag{"flag"};
    parameter<float> const alpha{"alpha"};
    auto const verdict_of = [](auto const& what) { return std::string(name_of(make_plan(schedule(what, dsp)).refusal.kind)); };
    CHECK(verdict_of(out8(m) = small(m) + 300) == "ill_formed");
    CHECK(verdict_of(out8(m) = small(m) * 0.5) == "ill_formed");
    CHECK(verdict_of(out8(m) = small(m) + 1) == "none");
    CHECK(verdict_of(out8(m) = select(small(m) < 3, 1, 0)) == "ill_formed");
    CHECK(verdict_of(out8(m) = select(small(m) < 3, cast<std::int8_t>(1), 0)) == "none");
    CHECK(verdict_of(out8(m) = A(m)) == "ill_formed");
    CHECK(verdict_of(C(m) = A(m) * alpha) == "none");
    CHECK(verdict_of(C(m) = A(alpha)) == "ill_formed");
    CHECK(verdict_of(C(m) = A(m) << 1) == "ill_formed");
    CHECK(verdict_of(flag(m) = flag(m + 1) + flag(m)) == "ill_formed");
    CHECK(verdict_of(out8(m) = cast<std::int8_t>(m)) == "none");
    CHECK(verdict_of(C(m) = A(9 - 2 * m)) == "none");
    CHECK(verdict_of(C(m) = A(m * m)) == "ill_formed");
    CHECK(verdict_of(C(m) = A(m / 2)) == "ill_formed");
    CHECK(verdict_of(C(2 * m) = A(m)) == "ill_formed");
    CHECK(verdict_of(C(m, m) = A(m)) == "ill_formed");
    CHECK(verdict_of(C(m) = A(m, k)) == "ill_formed");
    CHECK(verdict_of(C(m) = sum(n, A(m, n, k))) == "ill_formed");
    CHECK(verdict_of(C(m) = sum(m, A(m))) == "ill_formed");
    CHECK(verdict_of(C(m) = max(sum(k, A(m, k)), 0)) == "ill_formed");
    CHECK(verdict_of(C(m) = C(m) + sum(k, A(m, k))) == "none");
    CHECK(verdict_of(C(m) = C(m) + A(m)) == "none");
    CHECK(verdict_of(C(m) = C(m) * 2) == "ill_formed");
    auto const repeated = C(m) = sum(k, A(m));
    CHECK(nest_of(make_plan(schedule(repeated, dsp))) == "compute C: for m in 0..8, k in 0..6\n    C[m] = sum(k, A[m])\n");
    CHECK(verdict_of(stages(C(m) = A(m), B(m) = A(m))) == "ill_formed");
    CHECK(verdict_of(stages(C(m) = B(m), B(m) = C(m))) == "ill_formed");

    // the box of what is read: from 9 - 2 * 7 to 9
    auto const mirror = C(m) = A(9 - 2 * m);
    plan_value const mirrored = make_plan(schedule(mirror, dsp));
    CHECK(mirrored.buffers[0].minimum[0] == -5);
    CHECK(mirrored.buffers[0].extents[0] == 15);
}

TEST_CASE("the reference links verdicts that exist") {
    for (char const* name : {"/directives.md", "/machine.md", "/compute.md"}) {
        std::string const page = read(TILEWRIGHT_REFERENCE + std::string(name)), folder = "](../diagnostics/";
        for (std::size_t at = page.find(folder); at != std::string::npos; at = page.find(folder, at + 1)) {
            std::string const target = page.substr(at + folder.size(), page.find_first_of(")#", at + 2) - at - folder.size());
            bool known =
                target.empty() || target == "unresolved_cycles.md" || target == "mistakes.md";  // the folder itself; what is no verdict
            for (int kind = 0; !known && kind < static_cast<int>(verdict_kind::count); ++kind) {
                known = target == name_of(static_cast<verdict_kind>(kind)) + std::string(".md");
            }
            INFO(name << " links " << target);
            CHECK(known);
        }
    }
}
