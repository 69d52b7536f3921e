#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <tilewright/emulate/transfer_job.hpp>
#include <tilewright/machine/clock.hpp>
#include <tilewright/machine/machine.hpp>
#include <utility>

namespace tilewright {

/// When engines do their jobs, between the start of each job and the wait for it. A correct kernel computes the same bits in every mode, in
/// the same cycles.
enum class progress : std::uint8_t {
    earliest,  // when it is started
    latest,    // when a wait, a full queue, another engine or the end of the kernel leaves no choice
    random,    // transfers in pieces of random size, at every call
    threads,   // in a thread of its own for each engine, and for each of its channels
};

constexpr char const* name_of(progress how) {
    constexpr char const* names[] = {"earliest", "latest", "random", "threads"};
    return names[static_cast<int>(how)];
}

namespace emulation {

class engine_queue;

/// States that a job, and all jobs before it on its engine, are complete.
struct dependency {
    engine_queue* queue = nullptr;
    std::int64_t index = 0;
};

/// How many jobs of each channel are known to be complete, by its lane.
using knowledge = fixed_array<std::int64_t, machine::most_lanes>;
inline void learn(knowledge& what, knowledge const& from) {
    for (int at = 0; at < from.size(); ++at) what[at] = std::max(what[at], from[at]);
}

/// A job that was started and is not known to be complete.
struct flight {
    std::optional<transfer_job> moves{};
    std::function<void()> computes{};  ///< an asynchronous intrinsic
    std::vector<dependency> after{};   ///< before it begins
    int part = -1;                     ///< the transfer, or the intrinsic
    std::int64_t tag = -1;
    std::int64_t complete = 0;       ///< the cycle
    std::int64_t index = 0;          ///< among the jobs of its engine
    knowledge knows{};               ///< what is complete when it begins
    std::uint64_t narrow_banks = 0;  ///< banks with a single port that it touches, as `memories::bank_bit` numbers them
    int source_buffer = -1, destination_buffer = -1;
    std::vector<byte_range> reads{}, writes{};  ///< in checked runs, and where engines are interlocked
    std::vector<byte_range> elsewhere{};        ///< what a multicast writes in the memories of other cores, where these are watched

    void finish() { moves ? moves->finish() : computes(); }
};

/// What the queues of one machine share: in mode `threads` their jobs wait for each other.
struct queue_monitor {
    std::mutex mutex;
    std::condition_variable changed;
};

/// The queue of an engine, or of one of its channels: its clock, its jobs that are not known to be complete, and the thread that does them.
///
/// Used by one thread. In mode `threads` a second one, which belongs to the queue, does the jobs.
class engine_queue {
  public:
    engine_clock clock{};

    engine_queue(int depth, queue_monitor& monitor)
        : depth_(depth < 1                          ? 1
                 : depth < engine_clock::most_depth ? depth
                                                    : engine_clock::most_depth),
          monitor_(monitor) {}
    engine_queue(engine_queue const&) = delete;
    ~engine_queue() {
        abandon();
        use(progress::earliest);
    }

    int depth() const { return depth_; }
    std::deque<flight> const& flights() const { return flights_; }
    /// The index of the job that is started next.
    std::int64_t next_index() const { return retired_ + static_cast<std::int64_t>(flights_.size()); }

    /// @pre nothing is in flight
    void use(progress how) {
        if (how_ == how) return;
        if (worker_.joinable()) {
            {
                std::lock_guard const lock(monitor_.mutex);
                ending_ = true;
            }
            monitor_.changed.notify_all();
            worker_.join();
            ending_ = false;
        }
        how_ = how;
        if (how == progress::threads) worker_ = std::thread([this] { work(); });
    }

    /// The next job begins after `what`.
    void hold_back(std::vector<dependency> const& what) { held_.insert(held_.end(), what.begin(), what.end()); }
    std::vector<dependency> const& held_back() const { return held_; }
    void start(flight what) {
        what.index = next_index();
        what.after.insert(what.after.end(), held_.begin(), held_.end());
        held_.clear();
        if (how_ == progress::threads) {
            std::unique_lock lock(monitor_.mutex);
            monitor_.changed.wait(lock, [this] { return waiting() < depth_; });
            flights_.push_back(std::move(what));
            lock.unlock();
            monitor_.changed.notify_all();
            return;
        }
        flights_.push_back(std::move(what));
        if (how_ == progress::earliest) carry_out(next_index());
        else if (waiting() > depth_) carry_out(retired_ + static_cast<std::int64_t>(carried_) + 1);
    }
    /// Afterwards all jobs of other engines that the next job comes after have been done.
    void clear_way(std::vector<dependency> const& after) {
        for (std::vector<dependency> const* list : {&after, &std::as_const(held_)}) {
            for (dependency const& d : *list) d.queue->carry_out(d.index + 1);
        }
        held_.clear();
    }
    /// Waits until the oldest `count` jobs are complete, and forgets them.
    /// @return the cycle when the last of them is complete; 0 if there are none
    std::int64_t retire(std::size_t count) {
        if (count == 0) return 0;
        carry_out(retired_ + static_cast<std::int64_t>(count));
        std::unique_lock lock(monitor_.mutex, std::defer_lock);
        if (how_ == progress::threads) lock.lock();
        std::int64_t const complete = flights_[count - 1].complete;
        flights_.erase(flights_.begin(), flights_.begin() + static_cast<std::ptrdiff_t>(count));
        carried_ -= count;
        retired_ += static_cast<std::int64_t>(count);
        return complete;
    }
    std::int64_t retire_all() { return retire(flights_.size()); }
    /// Afterwards the jobs before job `end` have been done.
    void carry_out(std::int64_t end) {
        if (how_ == progress::threads) {
            std::unique_lock lock(monitor_.mutex);
            monitor_.changed.wait(lock, [&] { return done() >= end; });
            return;
        }
        while (done() < end) {
            flight& next = flights_[carried_];
            for (dependency const& d : next.after) d.queue->carry_out(d.index + 1);
            next.finish();
            ++carried_;
        }
    }
    /// Moves some jobs on a bit.
    void creep(std::mt19937_64& random) {
        while (carried_ < flights_.size() && random() % 2 == 0) {
            flight& next = flights_[carried_];
            if (!may_begin(next)) return;
            if (next.moves) next.moves->advance(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(next.moves->elements)));
            else next.computes();
            if (!next.moves || next.moves->complete()) ++carried_;
        }
    }
    /// Forgets all jobs. Jobs that have not begun are not done.
    void abandon() {
        std::unique_lock lock(monitor_.mutex);
        if (how_ == progress::threads) {
            while (flights_.size() > carried_ + (working_ ? 1 : 0)) flights_.pop_back();
            monitor_.changed.wait(lock, [this] { return carried_ == flights_.size(); });
        }
        retired_ += static_cast<std::int64_t>(flights_.size());
        flights_.clear();
        held_.clear();
        carried_ = 0;
    }

  private:
    /// Jobs that have not been done.
    std::int64_t waiting() const { return std::ssize(flights_) - static_cast<std::int64_t>(carried_); }
    /// Jobs that have been done.
    std::int64_t done() const { return retired_ + static_cast<std::int64_t>(carried_); }
    static bool may_begin(flight const& f) {
        for (dependency const& d : f.after) {
            if (d.queue->done() <= d.index) return false;
        }
        return true;
    }
    void work() {
        std::unique_lock lock(monitor_.mutex);
        for (;;) {
            monitor_.changed.wait(lock, [this] { return ending_ || (carried_ < flights_.size() && may_begin(flights_[carried_])); });
            if (ending_) return;
            flight& next = flights_[carried_];  // stays where it is while others are appended
            working_ = true;
            lock.unlock();
            next.finish();
            lock.lock();
            working_ = false;
            ++carried_;
            monitor_.changed.notify_all();
        }
    }

    int depth_;
    queue_monitor& monitor_;
    progress how_ = progress::earliest;
    std::deque<flight> flights_;  ///< oldest first; only the owner changes it, under the lock where there is a thread
    std::int64_t retired_ = 0;    ///< jobs that are known to be complete
    std::size_t carried_ = 0;     ///< of the others, those that have been done
    std::vector<dependency> held_;
    std::thread worker_;
    bool working_ = false, ending_ = false;
};

}  // namespace emulation
}  // namespace tilewright
