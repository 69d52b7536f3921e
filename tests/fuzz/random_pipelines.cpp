#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "fuzz/drawing.hpp"
#include "kernels/run_kernel.hpp"

// Machines, sizes and schedules drawn at random, with asynchronous transfers and versions. What the planner takes runs bit-equal to the
// algorithm without the plan in every order in which transfers can complete, at the predicted cost, every access checked. A failure prints
// what was drawn as C++.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 512_KiB, .alignment = 64, .banks = 2};
constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 512_KiB, .alignment = 16, .banks = 4};

machine draw_machine(drawing& draw) {
    machine made("drawn", dram, l2, l1);
    draw.write("machine drawn(\"drawn\", dram, l2, l1);\n");
    std::vector<engine> engines;
    for (char const* name : {"e0", "e1", "e2"}) {
        bool const tagged = draw.below(2) == 0;
        engines.push_back(
            {.name = name, .depth = draw.between(1, 6), .completes = tagged ? completion::by_transfer : completion::by_channel});
        made.add(engines.back());
        draw.write("drawn.add(engine{.name = \"" + std::string(name) + "\", .depth = " + std::to_string(engines.back().depth) +
                   ", .completes = completion::" + name_of(engines.back().completes) + "});\n");
    }
    auto const add = [&](memory const& from, memory const& to) {
        std::string const name = from.name.str() + "_" + to.name.str();
        transfer t(name.c_str(), from, to);
        engine const& on = draw.any_of(engines);
        int const dimensions = draw.between(1, 4);
        transfer_cost const cost{.latency = draw.below(80), .setup = draw.below(10), .bytes_per_cycle = draw.between(1, 16)};
        bool const blocks = draw.below(5) == 0;
        t.on(on).dimensions(dimensions).cost(cost);
        if (!blocks) t.asynchronous();
        made.add(t);
        draw.write("drawn.add(transfer(\"" + name + "\", " + from.name.str() + ", " + to.name.str() + ").on(" + on.name.str() + ")" +
                   (blocks ? "" : ".asynchronous()") + ".dimensions(" + std::to_string(dimensions) + ").cost({" +
                   std::to_string(cost.latency) + ", " + std::to_string(cost.setup) + ", " + std::to_string(cost.bytes_per_cycle) +
                   "}));\n");
    };
    add(dram, l2), add(l2, dram), add(dram, l1), add(l1, dram), add(l2, l1), add(l1, l2);
    return made;
}

/// `reorder` with loops that are counted at run time.
template <std::size_t... At>
void reorder_as(schedule& made, std::vector<std::string> const& order, std::index_sequence<At...>) {
    if constexpr (sizeof...(At) < 12) {
        if (order.size() > sizeof...(At)) return reorder_as(made, order, std::make_index_sequence<sizeof...(At) + 1>());
    }
    made.reorder(loop_name(order[At].c_str())...);
}

/// What is drawn of one computation: its axes, which of them it reduces over, its tensors.
struct subject {
    computation_view what;
    std::vector<axis> pure, reduced;
    std::vector<any_tensor> inputs;
    any_tensor output;
};

/// Splits some dimensions of a box, puts the parts in another order, and some of them in front of a separator.
void draw_layout(drawing& draw, schedule& made, int rank, int banks) {
    struct part {
        int dimension;
        std::int64_t below, step;  // index % below / step; 0: no remainder
    };
    std::vector<part> parts;
    for (int dimension = 0; dimension < rank; ++dimension) {
        std::int64_t step = 1;
        for (int splits = draw.below(rank > 2 ? 2 : 3); splits > 0; --splits) {
            std::int64_t const factor = draw.between(1, 7);
            parts.push_back({dimension, step * factor, step});
            step *= factor;
        }
        parts.push_back({dimension, 0, step});
    }
    std::shuffle(parts.begin(), parts.end(), draw.generator());
    // Blocks by a part that has as many values as there are banks, or less.
    auto const block = std::find_if(parts.begin(), parts.end(), [&](part const& p) { return p.below > 0 && p.below / p.step <= banks; });
    bool const spread = block != parts.end() && draw.below(2) == 0;
    if (spread) std::iter_swap(parts.begin(), block);
    constexpr char const* names[] = {"i", "j", "k"};
    std::string text;
    index_map_list list{.arguments = rank};
    for (part const& p : parts) {
        box_index index{.dimension = p.dimension};
        text += (text.empty() ? "" : ", ") + std::string(names[p.dimension]);
        if (p.below > 0) text += " % " + std::to_string(p.below), index = index % p.below;
        if (p.step > 1) text += " / " + std::to_string(p.step), index = index / p.step;
        list.indices[list.count++] = index;
        if (spread && list.count == 1) text += ", separator", ++list.count;
    }
    if (rank == 1) made.layout([&](box_index) { return list; });
    if (rank == 2) made.layout([&](box_index, box_index) { return list; });
    if (rank == 3) made.layout([&](box_index, box_index, box_index) { return list; });
    std::string arguments;
    for (int dimension = 0; dimension < rank; ++dimension)
        arguments += (dimension == 0 ? "auto " : ", auto ") + std::string(names[dimension]);
    draw.write(".layout([](" + arguments + ") { return index_map(" + text + "); })");
}
int rank_of(computation_view what, ir::label const& tensor) {
    int at = 0;
    while (what[at].op != operation::access || what[at].name != tensor) ++at;
    return what[at].argument_count;
}

/// Splits every axis, orders the loops, fuses two of them now and then and cuts that loop again, and stages each tensor in none, one or
/// both of the scratchpads.
schedule draw_schedule(drawing& draw, subject const& of, machine const& where) {
    schedule made(of.what, where);
    draw.write("schedule(work, drawn)");
    std::vector<std::string> outer, inner;
    std::set<std::string> reduced;
    auto const split = [&](std::string const& name, int factor) {
        made.split(name.c_str(), (name + "o").c_str(), (name + "i").c_str(), factor);
        draw.write(".split(" + name + ", " + name + "o, " + name + "i, " + std::to_string(factor) + ")");
        if (reduced.count(name) != 0) reduced.insert({name + "o", name + "i"});
    };
    auto const split_axis = [&](axis const& a) {
        std::string const name = a.name.str();
        split(name, draw.between(1, 8) * draw.between(1, 4));
        outer.push_back(name + "o");
        inner.push_back(name + "i");
    };
    for (axis const& a : of.pure) split_axis(a);
    for (axis const& a : of.reduced) reduced.insert(a.name.str()), split_axis(a);
    // Most often loops of the result stand outside, so that there is a place for a cache_write.
    std::size_t shuffled = draw.below(4) == 0 ? outer.size() : of.pure.size();
    std::shuffle(outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(shuffled), draw.generator());
    std::vector<std::string> order = outer;
    order.insert(order.end(), inner.begin(), inner.end());
    reorder_as(made, order, std::make_index_sequence<2>());
    draw.write(".reorder(");
    for (std::string const& name : order) draw.write((name == order.front() ? "" : ", ") + name);
    draw.write(")");
    std::size_t const fused = static_cast<std::size_t>(draw.below(static_cast<int>(outer.size())));
    if (draw.below(3) == 0 && fused + 1 < outer.size() && reduced.count(outer[fused]) == reduced.count(outer[fused + 1])) {
        made.fuse(outer[fused].c_str(), outer[fused + 1].c_str(), "both");
        draw.write(".fuse(" + outer[fused] + ", " + outer[fused + 1] + ", both)");
        if (reduced.count(outer[fused]) != 0) reduced.insert("both");
        split("both", draw.between(1, 9));
        outer[fused] = "botho", outer[fused + 1] = "bothi";
    }

    // Stages in `where` at a loop from `lowest` to `highest`, counted from outside; 0: at none. @return which
    auto const stage_in = [&](bool write, any_tensor const& tensor, memory const& in, int lowest, int highest) {
        write ? made.cache_write(tensor, in) : made.cache_read(tensor, in);
        draw.write(std::string(write ? ".cache_write(" : ".cache_read(") + tensor.name.str() + ", " + in.name.str() + ")");
        int const level = draw.between(lowest, highest);
        if (level > 0) {
            made.at(outer[level - 1].c_str());
            draw.write(".at(" + outer[level - 1] + ")");
        }
        int const versions = draw.below(4) == 0 ? 1 : draw.between(1, 4);
        if (versions > 1) {
            made.buffers(versions);
            draw.write(".buffers(" + std::to_string(versions) + ")");
        }
        if (!write && versions > 1 && draw.below(3) == 0) {
            int const distance = draw.below(versions);
            made.prefetch(distance);
            draw.write(".prefetch(" + std::to_string(distance) + ")");
        }
        if (made.layout_count() < schedule::most_layouts && draw.below(2) == 0)
            draw_layout(draw, made, rank_of(of.what, tensor.name), in.banks);
        return level;
    };
    auto const stage_tensor = [&](bool write, any_tensor const& tensor, int highest) {
        int const choice = draw.below(5), in_l2 = choice == 1 || choice == 4 ? stage_in(write, tensor, l2, 0, highest) : 0;
        if (choice >= 2) stage_in(write, tensor, l1, in_l2, highest);
    };
    for (any_tensor const& tensor : of.inputs) stage_tensor(false, tensor, static_cast<int>(outer.size()));
    int finished = 0;  // loops outside of which nothing is reduced
    while (finished < static_cast<int>(outer.size()) && reduced.count(outer[finished]) == 0) ++finished;
    stage_tensor(true, of.output, finished);
    return made;
}

struct tally {
    int run_time = 0, asynchronous = 0;
    std::map<std::string, int> refused;
};

/// Draws until `count` kernels with asynchronous transfers have run. `make` draws a computation and calls what it is given with it.
template <class Make>
tally walk(std::uint32_t seed, int count, Make const& make) {
    tally met;
    while (met.asynchronous < count) {
        drawing draw(seed++);
        make(draw, [&](subject const& of) {
            machine const where = draw_machine(draw);
            schedule const drawn = draw_schedule(draw, of, where);
            auto const plan = std::make_unique<plan_value>(make_plan(drawn));
            if (plan->refusal) return void(++met.refused[name_of(plan->refusal.kind)]);
            if (plan->rings.size() == 0) return;
            INFO("seed " << seed - 1 << ":\n" << draw.text());
            emulator on(where, {});
            kernels::compiled_kernel kernel(*plan, on);
            auto const check = [&](plan_value const& at) {
                CHECK(ir::predict(at).cycles == ir::predict(at, ir::visiting::everything).cycles);
                CHECK(!detail::find_hazard(at, ir::visiting::everything));
                kernel.check(at);
            };
            // Extents that are left to run time: one kernel, several of them.
            for (int run = 0; run < (plan->run_time_extents > 0 ? 3 : 1); ++run) {
                if (plan->run_time_extents == 0) {
                    check(*plan);
                    continue;
                }
                std::vector<axis_extent> extents;
                std::string text;
                for (int at = 0; at < plan->run_time_extents; ++at) {
                    ir::label const& name = plan->variables[at].name;
                    extents.emplace_back(name, draw.between(1, run % 2 == 0 ? std::min(12, draw.most(name)) : draw.most(name)));
                    text += " " + name.str() + " " + std::to_string(extents.back().extent);
                }
                INFO("at" << text);
                auto const at = std::make_unique<plan_value>(plan->at(extents));
                check(*at);
                ++met.run_time;
            }
            ++met.asynchronous;
        });
    }
    // What a schedule of these parts can run into, and nothing else.
    for (auto const& [name, times] : met.refused) {
        INFO(name << ": " << times);
        // Of rank 3, with layouts and open extents, a plan can have more parts than it can hold.
        CHECK((name == "versions_without_use" || name == "not_honoured" || name == "loop_order" || name == "memory_overflow" ||
               name == "run_time_box" || name == "capacity_of_representation"));
    }
    CHECK(met.run_time >= count / 2);
    return met;
}

}  // namespace

TEST_CASE("random pipelines of matmul, started from the identity or continued") {
    walk(1, 36, [](drawing& draw, auto const& with) {
        axis const m = draw.extent("m", 130), n = draw.extent("n", 40), k = draw.extent("k", 60);
        tensor<std::int16_t> const A{"A"}, B{"B"};
        tensor<std::int32_t> const C{"C"};
        auto const product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        auto const fresh = C(m, n) += product;
        auto const continued = C(m, n) = C(m, n) + sum(k, product);
        bool const continues = draw.below(4) == 0;
        draw.write(continues ? "auto work = C(m, n) = C(m, n) + sum(k, int32(A(m, k)) * int32(B(k, n)));\n"
                             : "auto work = C(m, n) += int32(A(m, k)) * int32(B(k, n));\n");
        with(subject{continues ? continued.view() : fresh.view(), {m, n}, {k}, {A, B}, C});
    });
}
TEST_CASE("random pipelines of a strided convolution") {
    walk(1000, 30, [](drawing& draw, auto const& with) {
        axis const f = draw.extent("f", 9), x = draw.extent("x", 100), r = draw.extent("r", 5);
        int const stride = draw.between(1, 3), dilation = draw.between(1, 2);
        tensor<std::int16_t> const in{"in"}, weights{"weights"};
        tensor<std::int16_t> const out{"out"};
        draw.write("auto work = out(f, x) = sum(r, in(" + std::to_string(stride) + " * x + " + std::to_string(dilation) +
                   " * r) * weights(f, r));\n");
        auto const work = out(f, x) = sum(r, in(stride * x + dilation * r) * weights(f, r));
        with(subject{work.view(), {f, x}, {r}, {in, weights}, out});
    });
}
TEST_CASE("random pipelines of a computation without reduction, of rank 3") {
    walk(2000, 30, [](drawing& draw, auto const& with) {
        axis const x = draw.extent("x", 30), y = draw.extent("y", 20), z = draw.extent("z", 12);
        tensor<float> const P{"P"}, Q{"Q"}, R{"R"};
        draw.write("auto work = R(x, y, z) = max(P(x, y, z), Q(z, x)) * 3.0f;\n");
        auto const work = R(x, y, z) = max(P(x, y, z), Q(z, x)) * 3.0f;
        with(subject{work.view(), {x, y, z}, {}, {P, Q}, R});
    });
}
TEST_CASE("random pipelines of a maximum") {
    walk(3000, 24, [](drawing& draw, auto const& with) {
        axis const row = draw.extent("row", 60), column = draw.extent("column", 130);
        tensor<std::int32_t> const numbers{"numbers"}, highest{"highest"};
        draw.write("auto work = highest(row) = maximum(column, numbers(row, column));\n");
        auto const work = highest(row) = maximum(column, numbers(row, column));
        with(subject{work.view(), {row}, {column}, {numbers}, highest});
    });
}
