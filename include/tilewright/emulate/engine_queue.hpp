#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <tilewright/emulate/transfer_job.hpp>
#include <tilewright/machine/clock.hpp>

namespace tilewright {

/// When the data of a transfer moves, between its start and the wait for it. A correct kernel computes the same bits in every mode; cycles
/// do not depend on it.
enum class progress : std::uint8_t {
    earliest,  // when it is started
    latest,    // when a wait, a full queue or the end of the kernel leaves no choice
    random,    // in pieces of random size, at every call
    threads,   // in a thread of its own for each engine
};

constexpr char const* name_of(progress how) {
    constexpr char const* names[] = {"earliest", "latest", "random", "threads"};
    return names[static_cast<int>(how)];
}

namespace emulation {

/// A transfer that was started and is not known to be complete.
struct flight {
    transfer_job job;
    int transfer = -1;
    std::int64_t tag = -1;
    std::int64_t complete = 0;       ///< the cycle
    std::uint64_t narrow_banks = 0;  ///< banks with a single port that it touches, as `memories::bank_bit` numbers them
    int source_buffer = -1, destination_buffer = -1;
    std::vector<byte_range> reads{}, writes{};  ///< in checked runs
};

/// The queue of an engine: its clock, the jobs that nobody knows to be complete, and who moves their data.
///
/// Used by one thread. In mode `threads` a second one, which belongs to the queue, moves data.
class engine_queue {
  public:
    engine_clock clock{};

    explicit engine_queue(int depth) : depth_(depth < 1 ? 1 : depth < engine_clock::most_depth ? depth : engine_clock::most_depth) {}
    engine_queue(engine_queue const&) = delete;
    ~engine_queue() {
        abandon();
        use(progress::earliest);
    }

    int depth() const { return depth_; }
    std::deque<flight> const& flights() const { return flights_; }

    /// @pre nothing is in flight
    void use(progress how) {
        if (how_ == how) return;
        if (worker_.joinable()) {
            {
                std::lock_guard const lock(mutex_);
                ending_ = true;
            }
            given_.notify_one();
            worker_.join();
            ending_ = false;
        }
        how_ = how;
        if (how == progress::threads) worker_ = std::thread([this] { work(); });
    }

    void start(flight what) {
        if (how_ == progress::threads) {
            std::unique_lock lock(mutex_);
            carried_out_.wait(lock, [this] { return flights_.size() - carried_ < static_cast<std::size_t>(depth_); });
            flights_.push_back(std::move(what));
            lock.unlock();
            given_.notify_one();
            return;
        }
        flights_.push_back(std::move(what));
        if (how_ == progress::earliest) carry_out(flights_.size());
        else if (flights_.size() - carried_ > static_cast<std::size_t>(depth_)) carry_out(carried_ + 1);
    }
    /// Waits until the oldest `count` jobs are complete, and forgets them.
    /// @return the cycle when the last of them is complete; 0 of none
    std::int64_t retire(std::size_t count) {
        if (count == 0) return 0;
        carry_out(count);
        std::unique_lock lock(mutex_, std::defer_lock);
        if (how_ == progress::threads) lock.lock();
        std::int64_t const complete = flights_[count - 1].complete;
        flights_.erase(flights_.begin(), flights_.begin() + static_cast<std::ptrdiff_t>(count));
        carried_ -= count;
        return complete;
    }
    std::int64_t retire_all() { return retire(flights_.size()); }
    /// Some jobs get on a bit.
    void creep(std::mt19937_64& random) {
        while (carried_ < flights_.size() && random() % 2 == 0) {
            transfer_job& job = flights_[carried_].job;
            job.advance(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(job.elements)));
            if (job.complete()) ++carried_;
        }
    }
    /// Forgets all jobs, and does not carry out what has not begun.
    void abandon() {
        std::unique_lock lock(mutex_);
        if (how_ == progress::threads) {
            while (flights_.size() > carried_ + (working_ ? 1 : 0)) flights_.pop_back();
            carried_out_.wait(lock, [this] { return carried_ == flights_.size(); });
        }
        flights_.clear();
        carried_ = 0;
    }

  private:
    /// Afterwards the data of the oldest `count` jobs has moved.
    void carry_out(std::size_t count) {
        if (how_ == progress::threads) {
            std::unique_lock lock(mutex_);
            carried_out_.wait(lock, [&] { return carried_ >= count; });
            return;
        }
        for (; carried_ < count; ++carried_) flights_[carried_].job.finish();
    }
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            given_.wait(lock, [this] { return ending_ || carried_ < flights_.size(); });
            if (ending_) return;
            transfer_job& job = flights_[carried_].job;  // stays where it is while others are appended
            working_ = true;
            lock.unlock();
            job.finish();
            lock.lock();
            working_ = false;
            ++carried_;
            carried_out_.notify_all();
        }
    }

    int depth_;
    progress how_ = progress::earliest;
    std::deque<flight> flights_;  ///< oldest first; only the owner changes it, under the lock where there is a thread
    std::size_t carried_ = 0;     ///< of these, whose data has moved
    std::thread worker_;
    std::mutex mutex_;
    std::condition_variable given_, carried_out_;
    bool working_ = false, ending_ = false;
};

}  // namespace emulation
}  // namespace tilewright
