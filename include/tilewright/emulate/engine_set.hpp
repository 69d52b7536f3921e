#pragma once
#include <memory>
#include <stdexcept>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/engine_queue.hpp>
#include <tilewright/machine/lane_name.hpp>

namespace tilewright::emulation {

/// The engines of a machine: a queue for each of their channels, the tokens between them, and what each of them, and the core, knows to be
/// complete.
///
/// Work is given to them in the order of the core. They are told apart by their lanes; -1 stands for the core.
class engine_set {
  public:
    enum class token_fault : std::uint8_t { none, no_such_tokens, too_many, none_there };

    /// @throws std::invalid_argument of a machine with more channels than are planned for
    explicit engine_set(machine const& what) : what_(what) {
        if (what.lane_count() > machine::most_lanes)
            throw std::invalid_argument("machine `" + what.name.str() + "` has more than " + std::to_string(machine::most_lanes) +
                                        " channels");
        for (int at = 0; at < what.engines.size(); ++at) {
            for (int channel = 0; channel < what.channels_of(at); ++channel)
                queues_.push_back(std::make_unique<engine_queue>(what.engines[at].depth, monitor_));
        }
        reset();
    }

    int size() const { return static_cast<int>(queues_.size()); }
    engine_queue& operator[](int lane) { return *queues_[lane]; }
    engine_queue const& operator[](int lane) const { return *queues_[lane]; }

    /// Forgets all jobs, and sets all clocks to 0. Jobs that have not begun are not done.
    void reset() {
        abandon();
        known_.assign(queues_.size() + 1, knowledge{});
        for (int at = 0; at < size(); ++at) {
            queues_[at]->clock = {};
            for (knowledge& k : known_) k[at] = queues_[at]->next_index();
        }
    }
    void abandon() {
        for (auto& queue : queues_) queue->abandon();
        tokens_.clear();
        for (int at = 0; at < what_.tokens.size(); ++at)
            tokens_.emplace_back(static_cast<std::size_t>(std::max(what_.tokens[at].queue_count, 1)));
    }
    /// @pre nothing is in flight
    void use(progress how) {
        for (auto& queue : queues_) queue->use(how);
    }
    void creep(std::mt19937_64& random) {
        for (auto& queue : queues_) queue->creep(random);
    }
    /// Afterwards every job has been done; the core does not know it.
    void carry_out_all() {
        for (auto& queue : queues_) queue->carry_out(queue->next_index());
    }
    void retire_all() {
        for (auto& queue : queues_) queue->retire_all();
    }
    /// When the last job is complete.
    std::int64_t complete() const {
        std::int64_t last = 0;
        for (auto const& queue : queues_) last = std::max(last, queue->clock.complete);
        return last;
    }

    bool is_interlocked(int lane) const { return lane >= 0 && what_.engine_at_lane(lane).interlocked; }
    /// Whether the core, or channel `who` with its next job, knows that a job is complete.
    bool is_known(int who, int lane, flight const& f) const { return (who < 0 ? known_.back() : known_[who])[lane] > f.index; }
    /// Jobs of a channel that the core does not know to be complete.
    std::size_t in_flight(int lane) const {
        std::size_t all = 0;
        for (flight const& f : queues_[lane]->flights()) all += is_known(-1, lane, f) ? 0u : 1u;
        return all;
    }

    /// Prepares a channel for a job: the channel knows what the core knows, and waits for what interlocks hold it back for.
    void begin(int lane, flight& next) {
        knowledge& here = known_[lane];
        learn(here, known_.back());
        for (int at = 0; at < size() && is_interlocked(lane); ++at) {
            if (at == lane || !is_interlocked(at)) continue;
            for (flight const& f : queues_[at]->flights()) {
                if (!conflict(f, next)) continue;
                (*this)[lane].clock.hold(f.complete);
                next.after.push_back({queues_[at].get(), f.index});
                learn(here, f.knows);
                here[at] = std::max(here[at], f.index + 1);
            }
        }
        next.knows = here;
    }
    void give(int lane, flight next) {
        engine_queue& queue = (*this)[lane];
        queue.start(std::move(next));
        // Jobs further back than the depth of the queue are complete: otherwise the queue would not have taken this job.
        std::int64_t const kept = 2 * queue.depth() + 64, all = std::ssize(queue.flights());
        if (all > kept) know_of(lane, all - kept);
    }
    /// The core does a job of a channel itself, or waits for it: the job comes after all that the channel was given.
    void clear_way(int lane, flight const& next) {
        know_of(lane, std::ssize((*this)[lane].flights()));
        (*this)[lane].clear_way(next.after);
        learn(known_.back(), next.knows);
    }
    /// The core learns that the oldest `count` jobs of a channel are complete, and so are the jobs that they came after.
    /// @return the cycle when the last of them is complete; 0 of none
    std::int64_t know_of(int lane, std::int64_t count) {
        if (count == 0) return 0;
        flight const& last = (*this)[lane].flights()[static_cast<std::size_t>(count - 1)];
        std::int64_t const complete = last.complete;
        learn(known_.back(), last.knows);
        std::int64_t& known = known_.back()[lane];
        known = std::max(known, last.index + 1);
        for (int which = 0; which < size(); ++which) {
            auto const& flights = queues_[which]->flights();
            std::size_t over = 0;
            while (over < flights.size() && is_known(-1, which, flights[over])) ++over;
            queues_[which]->retire(over);
        }
        return complete;
    }

    /// Pushes a token for another engine, after all that its engine has been given so far.
    token_fault push(int tokens_at, int queue_at) {
        auto* const queue = token_queue(tokens_at, queue_at);
        if (queue == nullptr) return token_fault::no_such_tokens;
        if (static_cast<int>(queue->size()) == what_.tokens[tokens_at].capacity) return token_fault::too_many;
        int const from = what_.first_lane(what_.engines.find(what_.tokens[tokens_at].from));
        engine_queue& giver = (*this)[from];
        token made{giver.clock.passed(), known_[from], giver.held_back()};
        learn(made.knows, known_.back());
        made.knows[from] = giver.next_index();
        if (giver.next_index() > 0) made.after.push_back({&giver, giver.next_index() - 1});
        queue->push_back(std::move(made));
        return token_fault::none;
    }
    /// Jobs that an engine is given from now on begin when the oldest token is there.
    token_fault pop(int tokens_at, int queue_at) {
        auto* const queue = token_queue(tokens_at, queue_at);
        if (queue == nullptr) return token_fault::no_such_tokens;
        if (queue->empty()) return token_fault::none_there;
        int const to = what_.first_lane(what_.engines.find(what_.tokens[tokens_at].to));
        token const& taken = queue->front();
        (*this)[to].clock.hold(taken.time);
        (*this)[to].hold_back(taken.after);
        learn(known_[to], taken.knows);
        queue->pop_front();
        return token_fault::none;
    }
    /// Takes all tokens of a part away. @return how many there were
    std::size_t take_tokens(int tokens_at) {
        std::size_t all = 0;
        for (auto& queue : tokens_[tokens_at]) all += queue.size(), queue.clear();
        return all;
    }

  private:
    /// A token that is pushed and not popped yet.
    struct token {
        std::int64_t time = 0;  ///< when it is there
        knowledge knows{};
        std::vector<dependency> after{};
    };
    std::deque<token>* token_queue(int tokens_at, int queue_at) {
        if (tokens_at < 0 || tokens_at >= what_.tokens.size()) return nullptr;
        auto& queues = tokens_[tokens_at];
        return queue_at < 0 || queue_at >= static_cast<int>(queues.size()) ? nullptr : &queues[queue_at];
    }
    static bool conflict(flight const& a, flight const& b) {
        auto const meet = [](std::vector<byte_range> const& left, std::vector<byte_range> const& right) {
            for (byte_range const& range : right) {
                if (first_shared(left, range) != 0) return true;
            }
            return false;
        };
        return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
    }

    machine const& what_;
    queue_monitor monitor_;
    ir::list<std::unique_ptr<engine_queue>> queues_;
    ir::list<ir::list<std::deque<token>>> tokens_;  ///< of each part of the machine, each of its queues
    ir::list<knowledge> known_;                     ///< to each channel, and last to the core
};

}  // namespace tilewright::emulation
