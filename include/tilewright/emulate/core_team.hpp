#pragma once
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <tilewright/emulate/calls.hpp>

namespace tilewright {

/// Which core goes on when several can: a correct kernel gives the same bits, and the same cycles, in all.
enum class interleaving : std::uint8_t {
    first,    // the one of the lowest number, until it waits
    last,     // the one of the highest number, until it waits
    random,   // another one at every call, by a seed
    threads,  // all at a time, each in a thread of its own
};

/// Several cores of a machine, emulated: an emulator for each, with its own memories and engines where the machine says `per_core`, and
/// with one place for all memories that they share. Each core has a clock; barriers bring them together.
///
/// A core that returns a code ends the run: the others get it at their next barrier.
class core_team : emulation::core_meeting {
  public:
    /// @param count  of cores; 0: all that the machine has
    core_team(machine const& what, semantics_table const& semantics, int count = 0) {
        std::map<std::string, std::shared_ptr<emulation::bank_list const>> shared;
        for (int at = 0; at < what.memories.size(); ++at) {
            memory const& m = what.memories[at];
            if (!m.per_core && m.registers == 0) shared[m.name.str()] = emulation::banks_of(m);
        }
        for (int core = 0; core < (count > 0 ? count : what.host().count); ++core) {
            cores_.push_back(std::make_unique<emulator>(what, semantics, shared));
            cores_.back()->join(*this, core);
        }
    }

    int size() const { return static_cast<int>(cores_.size()); }
    emulator& on(int core) { return *cores_.at(core); }
    emulator const& on(int core) const { return *cores_.at(core); }
    /// The emulator of the core that the calling thread runs; null outside of `run`.
    static emulator*& current() {
        static thread_local emulator* core = nullptr;
        return core;
    }

    void use(interleaving how, std::uint64_t seed = 1) {
        how_ = how;
        random_.seed(seed);
    }
    /// When the engines of all cores move data.
    void use(progress how, std::uint64_t seed = 1) {
        for (auto const& core : cores_) core->use(how, seed);
    }
    /// From now on a run ends when two cores touch the same bytes, one of them writes, and no barrier lies between.
    void watch(bool on = true) { watching_ = on; }
    void reset() {
        for (auto const& core : cores_) core->reset();
    }
    /// Cycles until the last core, and the last engine, was ready.
    std::int64_t cycles() const {
        std::int64_t last = 0;
        for (auto const& core : cores_) last = std::max(last, core->cycles());
        return last;
    }
    /// What the first core that was refused something wanted; empty when all went well.
    std::string error() const { return failed_ == 0 ? std::string() : error_; }

    /// The code of the first core that failed; 0 when all went well.
    std::int32_t failure() const { return failed_; }

    /// Runs a kernel on all cores. @param kernel  `int kernel(int core)`
    /// @return 0, or the code of the first core that failed
    template <class Kernel>
    std::int32_t run(Kernel const& kernel) {
        begin();
        std::vector<std::thread> threads;
        std::exception_ptr thrown;
        for (int core = 0; core < size(); ++core) {
            threads.emplace_back([&, core] {
                std::int32_t code = emulation_unknown_part;
                current() = cores_[core].get();
                wait_for_turn(core);
                try {
                    code = kernel(core);
                } catch (...) {
                    std::lock_guard<std::mutex> const lock(mutex_);
                    if (!thrown) thrown = std::current_exception();
                }
                finish(core, code);
            });
        }
        for (std::thread& thread : threads) thread.join();
        if (thrown) std::rethrow_exception(thrown);
        return failed_;
    }

  private:
    enum class state : std::uint8_t { ready, waits, over };

    void begin() {
        states_.assign(cores_.size(), state::ready);
        clocks_.assign(cores_.size(), 0);
        touched_.assign(cores_.size(), {});
        failed_ = 0;
        error_.clear();
        turn_ = -1;
        choose();
    }
    bool takes_turns() const { return how_ != interleaving::threads; }
    /// Gives the turn to a core that can go on; nobody gets it if none can.
    void choose() {
        std::vector<int> ready;
        for (int core = 0; core < size(); ++core) {
            if (states_[core] == state::ready) ready.push_back(core);
        }
        turn_ = ready.empty()                  ? -1
                : how_ == interleaving::last   ? ready.back()
                : how_ == interleaving::random ? ready[random_() % ready.size()]
                                               : ready.front();
        changed_.notify_all();
    }
    void wait_for_turn(int core) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return !takes_turns() || turn_ == core; });
    }
    void turn(int core) override {
        if (how_ != interleaving::random) return;
        std::unique_lock<std::mutex> lock(mutex_);
        choose();
        changed_.wait(lock, [&] { return turn_ == core; });
    }
    std::int32_t barrier(int core, std::int64_t& now, std::vector<emulation::core_access> const& still) override {
        std::unique_lock<std::mutex> lock(mutex_);
        if (failed_ != 0) return failed_;
        std::uint64_t const mine = meetings_;
        states_[core] = state::waits;
        clocks_[core] = now;
        still_[core] = still;
        if (!settle() && takes_turns()) choose();
        changed_.wait(lock, [&] { return (meetings_ != mine || failed_ != 0) && (!takes_turns() || turn_ == core); });
        if (meetings_ == mine) return failed_;
        now = met_at_;
        return 0;
    }
    /// Lets all cores go on if all wait; fails if one that is over keeps them waiting. @return whether it did
    bool settle() {
        int waiting = 0, over = 0;
        for (state s : states_) waiting += s == state::waits, over += s == state::over;
        if (waiting == 0 || waiting + over < size()) return false;
        if (over > 0) {
            fail(emulation_deadlock,
                 std::to_string(waiting) + " of " + std::to_string(size()) + " cores wait at a barrier, and the others never come");
        } else {
            met_at_ = *std::max_element(clocks_.begin(), clocks_.end()) + cores_.front()->what().host().barrier_cycles;
            for (int core = 0; core < size(); ++core) touched_[core] = still_[core];
            ++meetings_;
        }
        release();
        return true;
    }
    void release() {
        for (state& s : states_) s = s == state::waits ? state::ready : s;
        choose();
    }
    void fail(std::int32_t code, std::string const& why) {
        if (failed_ != 0) return;
        failed_ = code;
        error_ = why;
    }
    void finish(int core, std::int32_t code) {
        std::lock_guard<std::mutex> const lock(mutex_);
        states_[core] = state::over;
        if (code != 0) {
            std::string const& own = cores_[core]->error();
            fail(code, "core " + std::to_string(core) + ": " + (own.empty() ? "it returned " + std::to_string(code) : own));
            return release();
        }
        if (!settle()) choose();
    }
    bool watches() const override { return watching_; }
    std::string touch(int core, emulation::core_access const& one) override {
        std::lock_guard<std::mutex> const lock(mutex_);
        for (int other = 0; other < size(); ++other) {
            for (emulation::core_access const& had : touched_[other]) {
                if (other == core || !(had.writes || one.writes)) continue;
                if (had.range.begin >= one.range.end || one.range.begin >= had.range.end) continue;
                return std::string("it ") + (one.writes ? "writes" : "reads") + " what core " + std::to_string(other) + " " +
                       (had.writes ? "writes" : "reads") + " too, at " +
                       cores_[core]->device_address(reinterpret_cast<void const*>(std::max(had.range.begin, one.range.begin))) +
                       ", and no barrier lies between";
            }
        }
        std::vector<emulation::core_access>& mine = touched_[core];
        // Neighbours follow each other: most accesses go on where the last one ended.
        for (std::size_t back = 0; back < mine.size() && back < 8; ++back) {
            emulation::core_access& last = mine[mine.size() - 1 - back];
            if (last.writes != one.writes || last.range.begin > one.range.end || one.range.begin > last.range.end) continue;
            last.range = {std::min(last.range.begin, one.range.begin), std::max(last.range.end, one.range.end)};
            return {};
        }
        mine.push_back(one);
        return {};
    }

    std::vector<std::unique_ptr<emulator>> cores_;
    interleaving how_ = interleaving::first;
    std::mt19937_64 random_{1};
    bool watching_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<state> states_;
    std::vector<std::int64_t> clocks_;
    std::vector<std::vector<emulation::core_access>> touched_;  ///< of each core, since the last barrier, and what its engines still do
    std::map<int, std::vector<emulation::core_access>> still_;
    std::uint64_t meetings_ = 0;
    std::int64_t met_at_ = 0;
    int turn_ = -1;
    std::int32_t failed_ = 0;
    std::string error_;
};

/// The core that the calling thread runs, or else the machine's only emulator: what kernels of the emulated binding run on.
inline emulator& running_core(emulator& otherwise) { return core_team::current() != nullptr ? *core_team::current() : otherwise; }

}  // namespace tilewright

extern "C" [[gnu::used]] inline void* tilewright_this_core() { return tilewright::core_team::current(); }
