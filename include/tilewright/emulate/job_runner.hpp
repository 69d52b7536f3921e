#pragma once
#include <tilewright/emulate/buffer_names.hpp>
#include <tilewright/emulate/call_counts.hpp>
#include <tilewright/emulate/call_reader.hpp>
#include <tilewright/emulate/engine_set.hpp>
#include <tilewright/emulate/recorder.hpp>
#include <utility>

namespace tilewright::emulation {

/// Gives engines their jobs, and does those of the core, by the rule of machine/clock.hpp: every call is counted, and recorded where it is
/// asked for.
class job_runner {
  public:
    job_runner(machine const& what, engine_set& engines, buffer_names const& names) : what_(what), engines_(engines), names_(names) {
        reset();
    }

    void reset() {
        counts_.transfers.assign(static_cast<std::size_t>(what_.transfers.size()), {});
        counts_.intrinsics.assign(static_cast<std::size_t>(what_.intrinsics.size()), {});
        counts_.code = counts_.upkeep = {};
        records_.clear();
        now_ = 0;
    }
    call_counts const& counts() const { return counts_; }
    recorder& records() { return records_; }
    recorder const& records() const { return records_; }
    /// Cycles of the core.
    std::int64_t now() const { return now_; }
    /// The cycle when all that was started so far is over.
    std::int64_t complete() const { return std::max(now_, engines_.complete()); }

    /// @pre the engine knows which jobs it comes after: `engine_set::begin`
    void run(transfer_request& asked) {
        transfer_job& job = *asked.next.moves;
        job_time const time = time_of(asked.part.is.costs, job.bytes());
        counts_.transfers[asked.part.at].add(job.bytes(), time);
        if (asked.lane < 0) {
            std::int64_t const end = now_ + time.busy;
            job.finish();
            if (records_.on()) keep(asked, {.begin = now_, .end = end, .complete = end + time.latency});
            now_ = end + time.latency;
            return;
        }
        engine_clock const& clock = start(asked.lane, asked.next, time);
        if (records_.on())
            keep(asked, {.engine = asked.part.engine,
                         .begin = clock.free - time.busy,
                         .end = clock.free,
                         .complete = asked.next.complete,
                         .tag = asked.call.tag(),
                         .channel = asked.channel});
        if (asked.call.is_blocking()) {
            engines_.clear_way(asked.lane, asked.next);
            job.finish();
            now_ = std::max(now_, asked.next.complete);
        } else {
            engines_.give(asked.lane, std::move(asked.next));
        }
    }
    void run(intrinsic_request& asked) {
        intrinsic_part const& part = asked.part;
        job_time const time = time_of(part.is.costs, part.covered(asked.call).elements);
        counts_.intrinsics[part.at].add(0, time);
        if (part.is_aside()) {
            engine_clock const& clock = start(part.lane, asked.next, time);
            if (records_.on()) keep(part, {.begin = clock.free - time.busy, .end = clock.free, .complete = asked.next.complete});
            asked.next.computes = [does = part.does, call = asked.call] {
                does(call.addresses.elements, call.strides.elements, call.extents.elements);
            };
            engines_.give(part.lane, std::move(asked.next));
            return;
        }
        std::int64_t begin = now_;
        if (part.engine >= 0) {
            engine_clock& clock = engines_[part.lane].clock;
            engines_.clear_way(part.lane, asked.next);
            now_ = clock.start(now_, time, engine_clock::most_depth);
            begin = clock.free - time.busy;
        } else {
            now_ += time.busy;
        }
        if (records_.on()) keep(part, {.begin = begin, .end = begin + time.busy, .complete = now_});
        part.carry_out(asked.call);
    }
    /// Loops that stay code.
    void run_code(std::int64_t cycles) {
        counts_.code.add(0, {cycles, 0});
        if (records_.on()) records_.keep({.name = "code", .begin = now_, .end = now_ + cycles, .complete = now_ + cycles});
        now_ += cycles;
    }
    /// The core keeps up its cache.
    void keep_up(char const* name, std::int64_t cycles) {
        counts_.upkeep.add(0, {cycles, 0});
        if (records_.on()) records_.keep({.name = name, .begin = now_, .end = now_ + cycles, .complete = now_ + cycles});
        now_ += cycles;
    }
    /// The core waits for jobs of a channel. @param value see `emulator::wait`
    void wait(int lane, std::int64_t value) {
        auto const& flights = engines_[lane].flights();
        std::int64_t count = std::ssize(flights);
        if (what_.engine_at_lane(lane).completes == completion::by_transfer) {
            while (count > 0 && flights[static_cast<std::size_t>(count - 1)].tag != value) --count;
        } else {
            count -= std::clamp<std::int64_t>(value, 0, count);
        }
        std::int64_t const asked = now_;
        now_ = std::max(now_, engines_.know_of(lane, count));
        keep_wait(lane, asked);
    }
    /// Other cores have kept the core waiting until then.
    void go_on_at(std::int64_t cycle, std::string const& waits_for) {
        if (records_.on() && cycle > now_)
            records_.keep({.kind = job_kind::wait, .name = ir::label(waits_for.c_str()), .begin = now_, .end = cycle, .complete = cycle});
        now_ = std::max(now_, cycle);
    }
    /// Completes all that is in flight.
    void finish() {
        engines_.retire_all();
        now_ = complete();
    }

  private:
    /// Starts a job that the core does not do itself; the core waits for its place in the queue.
    engine_clock const& start(int lane, flight& next, job_time const& time) {
        engine_queue& queue = engines_[lane];
        std::int64_t const asked = now_;
        next.complete = queue.clock.start(now_, time, queue.depth());
        keep_wait(lane, asked);
        return queue.clock;
    }
    void keep(transfer_request const& asked, recorded_job job) {
        job.kind = job_kind::transfer, job.name = asked.part.is.name;
        job.bytes = asked.next.moves->bytes(), job.buffer = names_.about(asked.call);
        records_.keep(job);
    }
    void keep(intrinsic_part const& part, recorded_job job) {
        job.kind = job_kind::intrinsic, job.engine = part.engine, job.name = part.is.name;
        records_.keep(job);
    }
    void keep_wait(int lane, std::int64_t since) {
        if (!records_.on() || now_ <= since) return;
        records_.keep({.kind = job_kind::wait, .name = what_.engine_at_lane(lane).name, .begin = since, .end = now_, .complete = now_});
    }

    machine const& what_;
    engine_set& engines_;
    buffer_names const& names_;
    call_counts counts_;
    recorder records_;
    std::int64_t now_ = 0;
};

}  // namespace tilewright::emulation
