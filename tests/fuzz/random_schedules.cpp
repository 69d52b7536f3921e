#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"

// Schedules drawn at random, built and planned at run time. What the planner takes must run bit-equal to the algorithm without the plan, at
// the cost that it predicted; what it refuses must be refused with a verdict that a valid schedule can meet.

using namespace tilewright;

namespace {

/// A schedule and the text that a person would write for it.
class random_schedule {
  public:
    random_schedule(computation_view what, machine const& where, std::uint32_t seed) : made_(what, where), what_(what), random_(seed) {
        std::vector<tilewright::ir::stage> stages;
        for (int first = 0; first < what.count;) {
            tilewright::ir::stage s;
            read_stage(what, first, s);
            first = s.store + 1;
            stages.push_back(s);
        }
        for (std::size_t at = 0; at + 1 < stages.size(); ++at) intermediates_.insert(stages[at].output.str());
        direct(stages.back());
        for (std::size_t at = stages.size() - 1; at-- > 0;) {
            any_tensor const output{stages[at].output, stages[at].type};
            std::string const loop = any_loop_of_last_;
            if (draw(3) > 0) {
                made_.compute_at(output, loop_name(loop.c_str()));
                text_ += ".compute_at(" + output.name.str() + ", " + loop + ")";
            }
            made_.store_in(output, kernels::l1);
            made_.stage(output);
            text_ += ".store_in(" + output.name.str() + ", l1).stage(" + output.name.str() + ")";
            direct(stages[at]);
        }
    }
    schedule const& made() const { return made_; }
    std::string const& text() const { return text_; }

  private:
    int draw(int choices) { return static_cast<int>(random_() % static_cast<std::uint32_t>(choices)); }

    void direct(tilewright::ir::stage const& s) {
        std::vector<std::pair<std::string, std::int64_t>> loops;
        for (int at = 0; at < s.axis_count; ++at) loops.emplace_back(s.axes[at].name.str(), s.axes[at].extent);
        std::set<std::string> reduced;
        for (int at = s.rank; at < s.axis_count; ++at) reduced.insert(s.axes[at].name.str());
        // Splits, by any factor or by a divisor, and now and then a fused loop, which later ones may split
        int fused = 0;
        auto const fuse = [&] {
            std::size_t const at = static_cast<std::size_t>(draw(static_cast<int>(loops.size()) - 1));
            bool const reduces = reduced.count(loops[at].first) != 0;
            if (reduces != (reduced.count(loops[at + 1].first) != 0) && draw(8) != 0) return;
            std::string const name = "f" + std::to_string(fused++);
            if (reduces) reduced.insert(name);
            made_.fuse(loops[at].first.c_str(), loops[at + 1].first.c_str(), name.c_str());
            text_ += ".fuse(" + loops[at].first + ", " + loops[at + 1].first + ", " + name + ")";
            loops[at] = {name, loops[at].second * loops[at + 1].second};
            loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        };
        for (int times = draw(5); times > 0; --times) {
            if (draw(3) == 0 && loops.size() > 1) {
                fuse();
                continue;
            }
            std::size_t const at = static_cast<std::size_t>(draw(static_cast<int>(loops.size())));
            auto const [name, extent] = loops[at];
            if (name.size() > 12 || loops.size() > 7) continue;
            std::vector<std::int64_t> factors;
            bool const divides = draw(4) == 0;
            for (std::int64_t d = 1; d <= extent + 1; ++d) {
                if (!divides || extent % d == 0) factors.push_back(d);
            }
            std::int64_t const factor = factors[draw(static_cast<int>(factors.size()))];
            made_.split(name.c_str(), (name + "o").c_str(), (name + "i").c_str(), factor);
            text_ += ".split(" + name + ", " + name + "o, " + name + "i, " + std::to_string(factor) + ")";
            if (reduced.count(name) != 0) reduced.insert({name + "o", name + "i"});
            loops[at] = {name + "o", (extent + factor - 1) / factor};
            loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1, {name + "i", std::min(factor, extent)});
        }
        // A rotation or an exchange of loops
        for (int times = draw(3); times > 0 && loops.size() > 1; --times) {
            std::size_t const a = static_cast<std::size_t>(draw(static_cast<int>(loops.size()))),
                              b = static_cast<std::size_t>(draw(static_cast<int>(loops.size())));
            if (a == b) continue;
            std::swap(loops[a], loops[b]);
            made_.reorder(loops[std::min(a, b)].first.c_str(), loop_name(loops[std::max(a, b)].first.c_str()));
            text_ += ".reorder(" + loops[std::min(a, b)].first + ", " + loops[std::max(a, b)].first + ")";
        }
        if (draw(4) == 0 && loops.size() > 1) fuse();
        auto const any_loop = [&] { return loops[draw(static_cast<int>(loops.size()))].first; };
        // Mostly what is legal: else most schedules would end here. Code is written out for every lane and copy: not for thousands.
        if (draw(3) == 0 && loops.back().second <= 64 && (reduced.count(loops.back().first) == 0 || draw(8) == 0)) {
            std::string const loop = loops.back().first;
            made_.vectorize(loop.c_str());
            text_ += ".vectorize(" + loop + ")";
        } else if (draw(3) == 0 && loops.back().second <= 64) {
            std::string const loop = loops.back().first;
            made_.unroll(loop.c_str());
            text_ += ".unroll(" + loop + ")";
        }
        // Staging, in one memory or through both
        std::vector<any_tensor> read;
        for (int node = s.first; node < s.store; ++node) {
            if (what_[node].op != operation::access || node == s.target || what_[node].name == s.output) continue;
            if (std::none_of(read.begin(), read.end(), [&](any_tensor const& t) { return t.name == what_[node].name; }))
                read.push_back({what_[node].name, what_[node].type});
        }
        auto const stage_at = [&](bool write, any_tensor const& tensor, memory const& where) {
            write ? made_.cache_write(tensor, where) : made_.cache_read(tensor, where);
            text_ += std::string(write ? ".cache_write(" : ".cache_read(") + tensor.name.str() + ", " + where.name.str() + ")";
            if (draw(4) == 0) return;
            std::string loop = any_loop();
            for (int times = 4; times > 0 && write && reduced.count(loop) != 0; --times) loop = any_loop();
            made_.at(loop.c_str());
            text_ += ".at(" + loop + ")";
        };
        // What another stage computes is in l1 already: only what comes from the caller is staged.
        std::erase_if(read, [&](any_tensor const& t) { return intermediates_.count(t.name.str()) != 0; });
        for (any_tensor const& tensor : read) {
            int const choice = draw(4);
            if (choice == 1 || choice == 3) stage_at(false, tensor, kernels::l2);
            if (choice >= 2) stage_at(false, tensor, kernels::l1);
        }
        any_loop_of_last_ = any_loop();
        if (intermediates_.count(s.output.str()) != 0) return;
        int const choice = draw(4);
        any_tensor const output{s.output, s.type};
        if (choice == 1 || choice == 3) stage_at(true, output, kernels::l2);
        if (choice >= 2) stage_at(true, output, kernels::l1);
    }

    schedule made_;
    computation_view what_;
    std::mt19937 random_;
    std::string text_ = "schedule(…)";
    std::string any_loop_of_last_;
    std::set<std::string> intermediates_;
};

/// Extents of axes: often small, up to 130, primes as likely as others.
class random_extents {
  public:
    explicit random_extents(std::uint32_t seed) : random_(seed) {}
    std::int64_t operator()(std::int64_t most = 130) {
        std::int64_t const limit = random_() % 3 == 0 ? most : std::min<std::int64_t>(most, 24);
        return 1 + static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(limit));
    }

  private:
    std::mt19937 random_;
};

/// Plans and runs `count` schedules, each of a computation that `make(extents)` builds. @return how often each verdict was met, and `run`
template <class Make>
std::map<std::string, int> walk(Make const& make, std::uint32_t seed, int count) {
    std::map<std::string, int> met;
    emulator on(kernels::dsp, semantics_of<kernels::dsp>);
    for (int at = 0; at < count; ++at) {
        random_extents extents(seed + static_cast<std::uint32_t>(at));
        auto const what = make(extents);
        random_schedule const drawn(what.view(), kernels::dsp, seed + static_cast<std::uint32_t>(at));
        auto const plan = std::make_unique<plan_value>(make_plan(drawn.made()));
        if (plan->refusal && std::getenv("TILEWRIGHT_FUZZ_SEED") != nullptr)
            std::cerr << seed + static_cast<std::uint32_t>(at) << " " << to_string(plan->refusal) << "\n";
        ++met[plan->refusal ? name_of(plan->refusal.kind) : "run"];
        if (plan->refusal) continue;
        INFO("seed " << seed + static_cast<std::uint32_t>(at) << ": " << drawn.text());
        kernels::check_kernel(*plan, on);
    }
    return met;
}

/// Only what a schedule of these parts can run into.
void check_met(std::map<std::string, int> const& met, int at_least) {
    for (auto const& [name, times] : met) {
        UNSCOPED_INFO(name << ": " << times);
        bool const expected = name == "run" || name == "loop_order" || name == "box_not_constant" || name == "memory_overflow" ||
                              name == "unknown_axis" || name == "no_transfer" || name == "conflicting_directives";
        CHECK(expected);
    }
    CHECK(met.at("run") >= at_least);
    if (std::getenv("TILEWRIGHT_FUZZ_SEED") != nullptr) {
        for (auto const& [name, times] : met) std::cerr << name << ": " << times << "\n";
    }
}

/// Where a walk begins and how long it is: another one, by hand, with TILEWRIGHT_FUZZ_SEED and TILEWRIGHT_FUZZ_COUNT.
std::uint32_t first_seed(std::uint32_t usual) {
    char const* const given = std::getenv("TILEWRIGHT_FUZZ_SEED");
    return given == nullptr ? usual : static_cast<std::uint32_t>(std::atoi(given));
}
int count_of(int usual) {
    char const* const given = std::getenv("TILEWRIGHT_FUZZ_COUNT");
    return given == nullptr ? usual : std::atoi(given);
}

constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, left{"left"}, right{"right"}, p0{"p0"}, p1{"p1"}, p2{"p2"}, p3{"p3"};

}  // namespace

TEST_CASE("random schedules of matmul") {
    auto const make = [](random_extents& extent) {
        axis const m{"m", extent()}, n{"n", extent()}, k{"k", extent()};
        return C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    };
    check_met(walk(make, first_seed(1000), count_of(30)), count_of(30) / 4);
}
TEST_CASE("random schedules of a strided, dilated convolution") {
    auto const make = [](random_extents& extent) {
        axis const y{"y", extent(14)}, x{"x", extent(30)}, c{"c", extent(9)}, q{"q", extent(20)}, r{"r", extent(4)}, s{"s", extent(4)};
        return C(y, x, q) += cast<std::int32_t>(A(2 * y + 2 * r, 2 * x + 3 * s, c)) * cast<std::int32_t>(B(r, s, c, q));
    };
    check_met(walk(make, first_seed(2000), count_of(30)), count_of(30) / 6);
}
TEST_CASE("random schedules of a contraction of rank 5") {
    auto const make = [](random_extents& extent) {
        axis const ca{"ca", extent(9)}, cb{"cb", extent(5)}, cc{"cc", extent(11)}, cd{"cd", extent(7)}, ce{"ce", extent(17)};
        return p3(ca, cb, cc) += left(ca, cd, cb, ce) * right(ce, cc, cd);
    };
    check_met(walk(make, first_seed(3000), count_of(24)), count_of(24) / 4);
}
TEST_CASE("random schedules of three stages") {
    auto const make = [](random_extents& extent) {
        std::int64_t const most = extent();
        axis const g{"g", most}, g1{"g1", most + 2}, g2{"g2", most + 4};
        return stages(p1(g2) = p0(g2) * 2, p2(g1) = p1(g1) + p1(g1 + 2), p3(g) = p2(g) - p2(g + 2) * p1(g + 1));
    };
    check_met(walk(make, first_seed(4000), count_of(30)), count_of(30) / 12);
}
TEST_CASE("random schedules of two stages, one read backwards and in two dimensions") {
    auto const make = [](random_extents& extent) {
        std::int64_t const high = extent(20), wide = extent(40);
        axis const y{"y", high}, x{"x", wide}, v{"v", high + 1}, u{"u", 2 * wide};
        return stages(p1(v, u) = p0(v, u) * 3 + p0(v + 1, u + 2),
                      p2(y, x) = p1(high - y, 2 * x) - p1(y, x + 1) + p1(y, 2 * wide - 1 - 2 * x));
    };
    check_met(walk(make, first_seed(6000), count_of(24)), count_of(24) / 8);
}
TEST_CASE("random schedules of a maximum") {
    auto const make = [](random_extents& extent) {
        axis const row{"row", extent()}, column{"column", extent()};
        return p1(row) = maximum(column, p0(row, column));
    };
    check_met(walk(make, first_seed(5000), count_of(24)), count_of(24) / 4);
}
TEST_CASE("random schedules of sums that start from a value") {
    auto const make = [](random_extents& extent) {
        axis const m{"m", extent()}, n{"n", extent()}, k{"k", extent()};
        return C(m, n) = p0(n) - 3 * p1(m) + sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)));
    };
    check_met(walk(make, first_seed(7000), count_of(30)), count_of(30) / 5);
}
TEST_CASE("random schedules of sums that start from what another stage computes") {
    auto const make = [](random_extents& extent) {
        std::int64_t const columns = extent(40);
        axis const m{"m", extent(30)}, n{"n", columns}, k{"k", extent(30)}, q{"q", columns + 1}, r{"r", 3};
        return stages(p1(q) = p0(q) + sum(r, p2(q + r)),
                      C(m, n) = sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n))) + p1(n + 1));
    };
    check_met(walk(make, first_seed(8000), count_of(30)), count_of(30) / 8);
}
