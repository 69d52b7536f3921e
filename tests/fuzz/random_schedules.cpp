#include <algorithm>
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
        std::vector<tilewright::stage> stages;
        for (int first = 0; first < what.count;) {
            tilewright::stage s;
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

    void direct(tilewright::stage const& s) {
        std::vector<std::pair<std::string, std::int64_t>> loops;
        for (int at = 0; at < s.axis_count; ++at)
            loops.emplace_back(s.axes[static_cast<std::size_t>(at)].name.str(), s.axes[static_cast<std::size_t>(at)].extent);
        // Splits by divisors
        for (int times = draw(4); times > 0; --times) {
            std::size_t const at = static_cast<std::size_t>(draw(static_cast<int>(loops.size())));
            auto const [name, extent] = loops[at];
            if (name.size() > 12) continue;
            std::vector<std::int64_t> divisors;
            for (std::int64_t d = 1; d <= extent; ++d) {
                if (extent % d == 0) divisors.push_back(d);
            }
            std::int64_t const factor = divisors[static_cast<std::size_t>(draw(static_cast<int>(divisors.size())))];
            made_.split(name.c_str(), (name + "o").c_str(), (name + "i").c_str(), factor);
            text_ += ".split(" + name + ", " + name + "o, " + name + "i, " + std::to_string(factor) + ")";
            loops[at] = {name + "o", extent / factor};
            loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1, {name + "i", factor});
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
        if (draw(4) == 0 && loops.size() > 1) {
            std::size_t const at = static_cast<std::size_t>(draw(static_cast<int>(loops.size()) - 1));
            made_.fuse(loops[at].first.c_str(), loops[at + 1].first.c_str(), "fused");
            text_ += ".fuse(" + loops[at].first + ", " + loops[at + 1].first + ", fused)";
            loops[at] = {"fused", loops[at].second * loops[at + 1].second};
            loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        }
        auto const any_loop = [&] { return loops[static_cast<std::size_t>(draw(static_cast<int>(loops.size())))].first; };
        if (draw(3) == 0) {
            std::string const loop = loops.back().first;
            made_.vectorize(loop.c_str());
            text_ += ".vectorize(" + loop + ")";
        } else if (draw(3) == 0) {
            std::string const loop = any_loop();
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
            std::string const loop = any_loop();
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

/// Plans and runs `count` schedules of a computation. @return how many were run, and how often each verdict was met
template <int Count>
std::map<std::string, int> walk(computation<Count> const& what, std::uint32_t seed, int count) {
    std::map<std::string, int> met;
    emulator on(kernels::dsp, semantics_of<kernels::dsp>);
    for (int at = 0; at < count; ++at) {
        random_schedule const drawn(what.view(), kernels::dsp, seed + static_cast<std::uint32_t>(at));
        auto const plan = std::make_unique<plan_value>(make_plan(drawn.made()));
        ++met[plan->refusal ? name_of(plan->refusal.kind) : "run"];
        if (plan->refusal) continue;
        INFO("seed " << seed + static_cast<std::uint32_t>(at) << ": " << drawn.text());
        kernels::check_kernel(*plan, on, [&](kernels::operand_data const& data) {
            halide::jit_kernel plain(*plan, nullptr);
            plain.run(data.inputs, data.output);
        });
    }
    return met;
}

/// Only what a schedule of these parts can run into.
void check_met(std::map<std::string, int> const& met, int at_least) {
    for (auto const& [name, times] : met) {
        UNSCOPED_INFO(name << ": " << times);
        bool const expected = name == "run" || name == "loop_order" || name == "box_not_constant" || name == "memory_overflow" ||
                              name == "tile_does_not_divide" || name == "unknown_axis" || name == "no_transfer" ||
                              name == "conflicting_directives";
        CHECK(expected);
    }
    CHECK(met.at("run") >= at_least);
}

}  // namespace

TEST_CASE("random schedules of matmul") { check_met(walk(kernels::matmul_nn, 1000, 60), 15); }
TEST_CASE("random schedules of a strided, dilated convolution") { check_met(walk(kernels::conv2d, 2000, 60), 10); }
TEST_CASE("random schedules of a contraction of rank 5") { check_met(walk(kernels::contraction, 3000, 40), 10); }
TEST_CASE("random schedules of three stages") { check_met(walk(features::chain, 4000, 60), 10); }
TEST_CASE("random schedules of a maximum") { check_met(walk(kernels::row_min, 5000, 40), 10); }
