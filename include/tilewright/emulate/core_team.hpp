#pragma once
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/calls.hpp>
#include <tilewright/emulate/touched_bytes.hpp>

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
    using memory_banks = std::map<std::string, std::shared_ptr<emulation::bank_list const>>;

    /// @param count  of cores; 0: all that the machine has
    /// @param given  memories, by name, that lie where somebody else has them, too; one that is `per_core` is that of core 0
    core_team(machine const& what, semantics_table const& semantics, int count = 0, memory_banks const& given = {}) {
        memory_banks first = given, shared;  // of core 0, and of all others
        for (int at = 0; at < what.memories.size(); ++at) {
            memory const& m = what.memories[at];
            if (m.per_core || m.registers > 0) continue;
            auto& banks = first[m.name.str()];
            if (!banks) banks = emulation::banks_of(m);
            shared[m.name.str()] = banks;
        }
        for (int core = 0; core < (count > 0 ? count : what.core_count()); ++core) {
            cores_.push_back(std::make_unique<emulator>(what, semantics, core == 0 ? first : shared));
            cores_.back()->join(*this, core);
            if (core > 0 && what.has_caches()) cores_.back()->share(cores_.front()->caches());
        }
        changed_ = ir::list<std::condition_variable>(cores_.size());
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
    /// From now on a run ends when two cores touch the same bytes, one of them writes, and neither a barrier nor a
    /// signal orders them.
    void watch(bool on = true) { watching_ = on; }
    /// From now on every core keeps what it and its engines do: see `timeline` and `chrome_trace`.
    void record(bool on = true) {
        for (auto const& core : cores_) core->record(on);
    }
    /// Likewise, with the names of the plan's buffers.
    void record(plan_value const& plan) {
        for (auto const& core : cores_) core->record(plan);
    }
    void reset() {
        for (auto const& core : cores_) core->reset();
        failed_ = 0;
        error_.clear();
    }
    /// Cycles until the last core, and the last engine, was ready.
    std::int64_t cycles() const {
        std::int64_t last = 0;
        for (auto const& core : cores_) last = std::max(last, core->cycles());
        return last;
    }
    /// What all cores have done since `reset()`.
    emulation::work_done done() const {
        emulation::work_done all = cores_.front()->done();
        for (int core = 1; core < size(); ++core) all.join(cores_[core]->done());
        return all;
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
        check_signals();
        if (thrown) std::rethrow_exception(thrown);
        return failed_;
    }

  private:
    enum class state : std::uint8_t { ready, at_barrier, awaits, over };
    /// Of each core, how often it had told of what it had done: others know what it did before.
    using knowledge = ir::list<std::int64_t>;
    struct sent_signal {
        std::int64_t time = 0;  ///< when it is there
        knowledge knows;
    };
    struct queue_name {
        int from = 0, to = 0, queue = 0;
        friend auto operator<=>(queue_name const&, queue_name const&) = default;
    };
    struct core_state {
        state is = state::ready;
        queue_name awaited{};
        std::int64_t clock = 0;
        std::int64_t done = 0;  ///< how often it has told of what it has done
        knowledge known;
        emulation::touched_bytes touched[2]{};  ///< that it has read, and that it has written
        std::vector<emulation::core_access> still;
    };

    tilewright::core const& kind_of(int core) const { return cores_[core]->what().core_at(core); }
    void begin() {
        states_.assign(cores_.size(), core_state());
        for (core_state& s : states_) s.known.assign(cores_.size(), 0);
        signals_.clear();
        failed_ = 0;
        error_.clear();
        turn_ = -1;
        choose();
    }
    /// Outside of `run`, nobody would ever come.
    bool runs() {
        bool const inside = current() != nullptr;
        if (!inside) fail(emulation_deadlock, "a kernel for several cores runs outside of `core_team::run`");
        return inside;
    }
    bool takes_turns() const { return how_ != interleaving::threads; }
    /// Gives the turn to a core that can go on; nobody gets it if none can.
    void choose() {
        std::vector<int> ready;
        for (int core = 0; core < size(); ++core) {
            if (states_[core].is == state::ready) ready.push_back(core);
        }
        turn_ = ready.empty()                  ? -1
                : how_ == interleaving::last   ? ready.back()
                : how_ == interleaving::random ? ready[random_() % ready.size()]
                                               : ready.front();
        for (int core = 0; core < size(); ++core) {
            if (may_go_on(core)) changed_[core].notify_one();
        }
    }
    bool may_go_on(int core) const { return states_[core].is == state::ready && (!takes_turns() || turn_ == core); }
    void wait_for_turn(int core) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_[core].wait(lock, [&] { return may_go_on(core); });
    }
    void turn(int core) override {
        if (how_ != interleaving::random) return;
        std::unique_lock<std::mutex> lock(mutex_);
        choose();
        changed_[core].wait(lock, [&] { return may_go_on(core); });
    }
    /// Until a core that has to wait can go on.
    void block(std::unique_lock<std::mutex>& lock, int core) {
        if (!settle() && takes_turns()) choose();
        changed_[core].wait(lock, [&] { return may_go_on(core); });
    }
    std::int32_t barrier(int core, std::int64_t& now, std::vector<emulation::core_access> const& still) override {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!runs()) return emulation_deadlock;
        if (failed_ != 0) return failed_;
        core_state& mine = states_[core];
        mine.is = state::at_barrier;
        mine.clock = now;
        mine.still = still;
        block(lock, core);
        if (failed_ != 0) return failed_;
        now = met_at_ + kind_of(core).barrier_cycles;
        return 0;
    }
    std::int32_t signal(int core, int peer, int queue, std::int64_t now, std::vector<emulation::core_access> const& still) override {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!runs()) return emulation_deadlock;
        tilewright::core const& of = kind_of(core);
        queue_name const name{core, peer, queue};
        if (peer < 0 || peer >= size() || peer == core || queue < 0 || queue >= of.signal_queues ||
            std::ssize(signals_[name]) >= of.signal_capacity)
            return emulation_no_token;
        core_state& mine = states_[core];
        knowledge knows = mine.known;
        knows[core] = ++mine.done;
        signals_[name].push_back({now + of.signal_cycles, std::move(knows)});
        keep_touching(core, still);
        core_state& other = states_[peer];
        if (other.is == state::awaits && other.awaited == name) other.is = state::ready, changed_[peer].notify_one();
        return 0;
    }
    std::int32_t await(int core, int peer, int queue, std::int64_t& now) override {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!runs()) return emulation_deadlock;
        if (failed_ != 0) return failed_;
        core_state& mine = states_[core];
        queue_name const name{peer, core, queue};
        if (signals_[name].empty()) {
            mine.is = state::awaits;
            mine.awaited = name;
            block(lock, core);
        }
        std::deque<sent_signal>& sent = signals_[name];
        if (sent.empty()) return failed_;
        now = std::max(now, sent.front().time);
        for (int other = 0; other < size(); ++other) mine.known[other] = std::max(mine.known[other], sent.front().knows[other]);
        sent.pop_front();
        return 0;
    }
    /// Lets all cores go on if all have come to a barrier; fails if none can ever go on. @return whether it did
    bool settle() {
        int meeting = 0, over = 0;
        std::string who;
        for (int core = 0; core < size(); ++core) {
            core_state const& s = states_[core];
            if (s.is == state::ready) return false;
            meeting += s.is == state::at_barrier, over += s.is == state::over;
            if (s.is == state::awaits)
                who += (who.empty() ? "core " : ", core ") + std::to_string(core) + " waits for a signal of core " +
                       std::to_string(s.awaited.from) + " in queue " + std::to_string(s.awaited.queue);
        }
        if (over == size()) return false;
        if (meeting < size()) {
            if (meeting > 0)
                who += (who.empty() ? "" : ", ") + std::to_string(meeting) + " of " + std::to_string(size()) + " cores wait at a barrier";
            fail(emulation_deadlock, who + ", and the others never come");
        } else {
            met_at_ = 0;
            for (core_state const& s : states_) met_at_ = std::max(met_at_, s.clock);
            for (core_state& s : states_) {
                ++s.done;
                for (emulation::touched_bytes& touched : s.touched) touched.clear();
            }
            for (core_state& s : states_) {
                for (int other = 0; other < size(); ++other) s.known[other] = states_[other].done;
            }
            for (int core = 0; core < size(); ++core) keep_touching(core, states_[core].still);
        }
        release();
        return true;
    }
    /// What the engines of a core still do comes after what others learn of it now.
    void keep_touching(int core, std::vector<emulation::core_access> const& still) {
        core_state& mine = states_[core];
        for (emulation::core_access const& one : still) mine.touched[one.writes].touch(one.range, mine.done);
    }
    void release() {
        for (core_state& s : states_) s.is = s.is == state::over ? state::over : state::ready;
        choose();
    }
    void fail(std::int32_t code, std::string const& why) {
        if (failed_ != 0) return;
        failed_ = code;
        error_ = why;
    }
    void finish(int core, std::int32_t code) {
        std::lock_guard<std::mutex> const lock(mutex_);
        states_[core].is = state::over;
        if (code != 0) {
            std::string const& own = cores_[core]->error();
            fail(code, "core " + std::to_string(core) + ": " + (own.empty() ? "it returned " + std::to_string(code) : own));
            return release();
        }
        if (!settle()) choose();
    }
    /// Signals that nobody has taken: the next kernel would take them.
    void check_signals() {
        for (auto const& [name, sent] : signals_) {
            if (!sent.empty())
                fail(emulation_no_token, "the kernel ended with " + std::to_string(sent.size()) + " signals of core " +
                                             std::to_string(name.from) + " to core " + std::to_string(name.to) + " that nobody took");
        }
    }
    int cores() const override { return size(); }
    std::byte* base_of(int core, int memory, int bank) const override { return cores_[core]->base(memory, bank); }
    bool watches() const override { return watching_; }
    std::string touch(int core, emulation::core_access const& one) override {
        std::lock_guard<std::mutex> const lock(mutex_);
        core_state& mine = states_[core];
        for (int other = 0; other < size(); ++other) {
            for (bool writes : {true, false}) {
                if (other == core || !(writes || one.writes)) continue;
                auto const place = states_[other].touched[writes].find(one.range, mine.known[other]);
                if (!place) continue;
                return std::string("it ") + (one.writes ? "writes" : "reads") + " what core " + std::to_string(other) + " " +
                       (writes ? "writes" : "reads") + " too, at " + cores_[core]->device_address(reinterpret_cast<void const*>(*place)) +
                       ", and neither a barrier nor a signal orders them";
            }
        }
        mine.touched[one.writes].touch(one.range, mine.done);
        return {};
    }

    ir::list<std::unique_ptr<emulator>> cores_;
    interleaving how_ = interleaving::first;
    std::mt19937_64 random_{1};
    bool watching_ = false;
    std::mutex mutex_;
    ir::list<std::condition_variable> changed_;  ///< for each core: it may be its turn
    ir::list<core_state> states_;
    std::map<queue_name, std::deque<sent_signal>> signals_;  ///< not taken yet
    std::int64_t met_at_ = 0;
    int turn_ = -1;
    std::int32_t failed_ = 0;
    std::string error_;
};

/// The core that the calling thread runs, or else the machine's only emulator: what kernels of the emulated binding run on.
inline emulator& running_core(emulator& otherwise) { return core_team::current() != nullptr ? *core_team::current() : otherwise; }

}  // namespace tilewright

extern "C" {
[[gnu::used]] inline void* tilewright_this_core() { return tilewright::core_team::current(); }
[[gnu::used]] inline void* tilewright_running_core(void* machine) {
    return &tilewright::running_core(*static_cast<tilewright::emulator*>(machine));
}
}
