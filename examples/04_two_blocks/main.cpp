#include "two_blocks.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>
#include <string>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/report/timeline.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "across_blocks.h"
#include "loops.h"
#include "one_version.h"
#include "two_blocks.h"

namespace {

using namespace lesson_two_blocks;
using tilewright::plan_value;

constexpr int columns = 96;

/// What uses the blocks of the vtcm when: a lane for each, `A` and `B` while a tile comes in, `#` while it is computed on.
struct block_use {
    std::string lanes[2] = {std::string(columns, '.'), std::string(columns, '.')};
    std::int64_t meetings = 0;  ///< loads that are under way in a block while it is computed on

    block_use(plan_value const& kernel, tilewright::emulator const& after) {
        struct span {
            std::int64_t begin, end;
            int block;
        };
        std::vector<span> loads, steps;
        std::int64_t const instructions = std::int64_t{64} * 64 * 64 / 16;  // of one step
        std::int64_t executed = 0;
        for (tilewright::recorded_job const& job : after.recorded()) {
            if (job.kind == tilewright::job_kind::transfer && job.name == load.name) {
                for (int at = 0; at < kernel.rings.size(); ++at) {
                    auto const& ring = kernel.rings[at];
                    if (job.tag < ring.first_tag || job.tag >= ring.first_tag + ring.versions) continue;
                    auto const& buffer = kernel.buffers[ring.buffer];
                    int const block = static_cast<int>(buffer.bank + job.tag - ring.first_tag) % vtcm.banks;
                    loads.push_back({job.begin, job.complete, block});
                    draw(loads.back().block, job.begin, job.end, after.cycles(), buffer.tensor[0]);
                }
            }
            if (job.kind != tilewright::job_kind::intrinsic) continue;
            int const versions = kernel.buffers[3].versions;  // of A, the first after the three arguments
            if (executed++ % instructions == 0)
                steps.push_back({job.begin, job.end, static_cast<int>((executed / instructions) % versions)});
            steps.back().end = job.end;
        }
        for (span const& step : steps) {
            draw(step.block, step.begin, step.end, after.cycles(), '#');
            for (span const& other : loads) meetings += other.block == step.block && other.begin < step.end && step.begin < other.end;
        }
    }

  private:
    void draw(int block, std::int64_t begin, std::int64_t end, std::int64_t cycles, char letter) {
        auto const column = [&](std::int64_t cycle) { return static_cast<std::size_t>((cycle * columns + cycles / 2) / cycles); };
        for (std::size_t at = column(begin); at < column(end); ++at) lanes[block][at] = letter;
    }
};

struct outcome {
    int code = 0;
    std::int64_t cycles = 0;
    bool agrees = false;
    std::vector<float> result;
};

/// Runs a kernel, every access to the vtcm checked, and draws when what works.
template <schedule const& Schedule, class Kernel>
outcome run(Kernel const& kernel, std::vector<float> const& left, std::vector<float> const& right) {
    tilewright::emulator& on = tilewright::emulated<dsp>();
    on.reset();
    on.record(plan<Schedule>);
    on.check(plan<Schedule>, false);
    outcome done{.result = std::vector<float>(static_cast<std::size_t>(m.extent * n.extent), -1.0f)};
    done.code = tilewright::call<Schedule>(kernel, left.data(), right.data(), done.result.data());
    if (done.code != 0) std::cerr << "the kernel failed with code " << done.code << ": " << on.error() << "\n";
    done.cycles = on.cycles();
    done.agrees = tilewright::agrees(plan<Schedule>, on);
    block_use const blocks(plan<Schedule>, on);
    std::cout << tilewright::timeline(on, columns) << "\n";
    for (int block = 0; block < vtcm.banks; ++block) std::cout << "block " << block << "      |" << blocks.lanes[block] << "|\n";
    std::cout << "A, B: a tile comes in   #: computed on   loads that meet what is computed in one block: " << blocks.meetings << "\n\n";
    done.agrees = done.agrees && blocks.meetings == 0;
    return done;
}

}  // namespace

int main() {
    auto const count = [](axis const& rows, axis const& cols) { return static_cast<std::size_t>(rows.extent * cols.extent); };
    std::vector<float> left(count(m, k)), right(count(k, n)), expected(count(m, n));
    std::mt19937 random(3);
    for (auto* operand : {&left, &right}) {
        for (float& element : *operand) element = std::uniform_real_distribution<float>(-1, 1)(random);
    }
    tilewright::plan_value const &one = plan<in_one_version>, &two = plan<in_two_blocks>;
    std::cout << tilewright::memory_map(two) << "\n" << tilewright::loop_program(two) << "\n" << tilewright::traffic(two) << "\n";

    std::cout << "One version of every tile: load, then compute.\n";
    outcome const after_one = run<in_one_version>(::one_version, left, right);
    std::cout << "Two versions in two blocks: load into one, compute in the other.\n";
    outcome const after_two = run<in_two_blocks>(::two_blocks, left, right);

    tilewright::reports::table numbers(std::vector(5, tilewright::reports::table::side::right));
    numbers.add({"versions", "predicted", "executed", "bound", "of bound"});
    auto const row = [&](char const* versions, plan_value const& kernel, outcome const& after) {
        std::int64_t const predicted = predict(kernel).cycles, bound = tilewright::reports::bound_of(kernel).busy;
        numbers.add({versions, tilewright::reports::grouped(predicted), tilewright::reports::grouped(after.cycles),
                     tilewright::reports::grouped(bound), tilewright::reports::ratio(predicted, bound)});
    };
    row("1", one, after_one);
    row("2", two, after_two);
    std::cout << numbers.str() << "\n";

    std::cout << "One version of larger tiles, each spread over the two blocks:\n";
    tilewright::emulator& on = tilewright::emulated<dsp>();
    on.reset();
    on.check(plan<across_two_blocks>, false);
    std::vector<float> spread(count(m, n), -1.0f);
    int const code = tilewright::call<across_two_blocks>(::across_blocks, left.data(), right.data(), spread.data());
    if (code != 0) std::cerr << "the kernel failed with code " << code << ": " << on.error() << "\n";
    std::cout << tilewright::memory_map(plan<across_two_blocks>) << "\n";

    constexpr tilewright::verdict refusal = make_plan(with_c_in_block_1).refusal;  // planned by the compiler
    std::cout << "C in block 1 as well:\n" << to_string(refusal) << "\n\n";

    matmul_by_hand(left.data(), right.data(), expected.data());
    bool const equal = after_one.result == expected && after_two.result == expected && spread == expected;
    bool const predicted = after_one.agrees && after_two.agrees;
    std::printf("128 x 128 x 256 in float, all kernels against the loops by hand: %s; predicted and executed cycles: %s\n",
                equal ? "bit-equal" : "DIFFERENT", predicted ? "equal" : "DIFFERENT");
    return equal && predicted && after_one.code == 0 && after_two.code == 0 && code == 0 ? 0 : 1;
}
