#pragma once
#include <bit>
#include <map>
#include <tilewright/emulate/configuration_registers.hpp>
#include <tilewright/emulate/engine_set.hpp>
#include <tilewright/emulate/legal_call.hpp>
#include <tilewright/emulate/operands.hpp>
#include <tilewright/emulate/recorded_job.hpp>
#include <tilewright/emulate/shadow.hpp>

namespace tilewright {

/// What an emulated machine refuses to do at run time, as the return code of the kernel.
enum emulation_error : std::int32_t {
    emulation_bad_address = -1001,       // an access outside the memory that the transfer or the intrinsic works on
    emulation_unknown_part = -1002,      // a call names a part that the machine does not have
    emulation_illegal_transfer = -1003,  // dimensions, a row, an extent, an address or a stride that the transfer does not take
    emulation_bad_access = -1004,        // checked runs: bytes in flight, without contents, or outside of their buffer
    emulation_bank_conflict = -1005,     // what computes, or a transfer, uses a bank with one port that a transfer in flight uses
    emulation_not_waited = -1006,        // the kernel ended while jobs were in flight
    emulation_stale_setting = -1008,     // a call finds a configuration set to something else than it needs
    emulation_no_token = -1007,          // an engine would wait for ever: a token is popped that was not pushed, or too many are under way
};

/// A machine that exists only here: its memories are regions of the process, its transfers and intrinsics do what they declare.
///
/// Traffic and cycles are counted from the calls that are executed, by the rule of machine/clock.hpp. A call that fails ends the kernel,
/// which waits for what is in flight then. Not for use from several threads at a time.
class emulator {
  public:
    struct count {
        std::int64_t calls = 0, bytes = 0, cycles = 0;
    };

    /// @param shared  memories, by name, that lie where the emulators of other machines have them too
    emulator(machine const& what, semantics_table const& semantics,
             std::map<std::string, std::shared_ptr<emulation::bank_list const>> const& shared = {})
        : what_(what), semantics_(semantics), memories_(what_, shared), engines_(what_), shadow_(what_, memories_), settings_(what_) {
        for (int at = 0; at < what_.transfers.size(); ++at) {
            transfer_description const& t = what_.transfers[at];
            int const on = what_.engines.find(t.engine_name);
            transfer_parts_.push_back(
                {on, lane_of(on), memory_under(what_, t.source), memory_under(what_, t.destination), detail::limits_of(what_, t)});
        }
        for (int at = 0; at < what_.intrinsics.size(); ++at) {
            intrinsic_description const& i = what_.intrinsics[at];
            intrinsic_part& part = intrinsic_parts_.emplace_back();
            part.engine = what_.engines.find(i.engine_name);
            part.lane = lane_of(part.engine);
            stage s;
            read_stage(what_.view(i.semantics), 0, s);
            part.axis_count = s.axis_count;
            for (int axis = 0; axis < s.axis_count; ++axis) part.most[axis] = s.axes[axis].extent;
            for (int o = 0; o < i.operand_count; ++o) part.operands.emplace_back(what_, i, o);
            part.result = i.find(s.output);
        }
        reset();
    }
    emulator(emulator const&) = delete;

    machine const& what() const { return what_; }
    /// Where a memory lies in this process. @throws std::invalid_argument when the machine has none of that name, or it has no capacity
    std::byte* base(memory const& m, int bank = 0) const {
        std::byte* const found = base(what_.memories.find(m.name), bank);
        if (found == nullptr)
            throw std::invalid_argument("machine `" + what_.name.str() + "` has no memory `" + m.name.str() + "` with a capacity");
        return found;
    }
    std::byte* base(int memory_at, int bank = 0) const { return memories_.base(memory_at, bank); }

    /// An address as the device would print it: "spad 0x50001000", or "host" outside every memory of the machine.
    std::string device_address(void const* address) const { return memories_.device_address(address); }

    /// Forgets counts, cycles, errors, records, and transfers in flight. Settings stay, and so do the contents of the memories.
    void reset() {
        give_up();
        transfers_.assign(static_cast<std::size_t>(what_.transfers.size()), {});
        intrinsics_.assign(static_cast<std::size_t>(what_.intrinsics.size()), {});
        settings_.reset();
        code_ = {};
        now_ = 0;
        engines_.reset();
        recorded_.clear();
        fail_in_ = fail_token_in_ = 0;
        error_.clear();
        error_code_ = 0;
    }

    /// Settings, for the kernels that run from now on.

    /// When data moves. `seed` is for `progress::random`: equal seeds give equal runs.
    void use(progress how, std::uint64_t seed = 1) {
        give_up();
        creeps_ = how == progress::random;
        random_.seed(seed);
        engines_.use(how);
    }
    /// Every access of a kernel with this plan is checked; the first bad one ends it with `emulation_bad_access`.
    ///
    /// @param code_reports whether the kernel's own loops report what they touch. Where they do not, the contents of the buffers that they
    /// touch are not judged
    /// @throws std::invalid_argument when the plan was refused, or is for another machine
    void check(plan_value const& plan, bool code_reports = true) {
        if (plan.refusal || !(*plan.where == what_))
            throw std::invalid_argument("a run on machine `" + what_.name.str() + "` cannot be checked by " +
                                        (plan.refusal ? "a plan that was refused" : "the plan of another machine"));
        give_up();
        shadow_.watch(plan, code_reports);
        name_buffers(plan);
    }
    void stop_checking() { shadow_.stop(); }
    /// From now on the memories have no more bytes than a plan uses of them, between pages that cannot be touched: what leaves its buffers,
    /// the first or the last of a memory, stops the process. Contents are lost; memories that other machines have, too, are so no longer.
    /// @param at  the end that lies directly at such a page
    void enclose(plan_value const& plan, region_side at) {
        give_up();
        memories_.lay(at, [&](int memory_at, int bank) { return plan.peak_bytes(memory_at, bank); });
    }
    void stop_enclosing() {
        give_up();
        memories_.lay(region_side::beginning, [&](int memory_at, int) { return what_.memories[memory_at].bank_capacity(); });
    }
    /// Keeps what engines and core do, for `timeline` and `chrome_trace`. `plan`: the one of the kernel, for the names of buffers
    void record(bool on = true) { records_ = on; }
    void record(plan_value const& plan) {
        records_ = true;
        name_buffers(plan);
    }
    std::vector<recorded_job> const& recorded() const { return recorded_; }
    /// The n-th call of a transfer from now on, the next one when n is 1, is not carried out and returns `code`.
    void fail_transfer(std::int64_t n, std::int32_t code) { fail_in_ = n, fail_code_ = code; }
    /// Likewise the n-th push or pop of a token: none is made, none is taken.
    void fail_token(std::int64_t n, std::int32_t code) { fail_token_in_ = n, fail_code_ = code; }

    count const& transfers(int at) const { return transfers_[at]; }
    count const& intrinsics(int at) const { return intrinsics_[at]; }
    count const& code() const { return code_; }
    count counted(transfer_description const& t) const { return transfers(what_.transfers.find(t.name)); }
    /// How often a configuration was set.
    count counted(configuration const& c) const { return {settings_.sets(what_.configurations.find(c.name))}; }
    count counted(intrinsic_description const& i) const { return intrinsics(what_.intrinsics.find(i.name)); }
    /// Cycles that have passed: engines work beside each other and beside the core.
    std::int64_t cycles() const { return std::max(now_, engines_.complete()); }
    /// Cycles of the core: engines may be at work for longer.
    std::int64_t core_cycles() const { return now_; }
    /// Cycles when nothing overlaps: the sum over all calls.
    std::int64_t serial_cycles() const {
        std::int64_t total = code_.cycles;
        for (auto const* list : {&transfers_, &intrinsics_}) {
            for (count const& c : *list) total += c.cycles;
        }
        return total;
    }
    /// Cycles that an engine was occupied, all its channels together. @throws std::invalid_argument when the machine has none of that name
    std::int64_t busy(engine const& e) const {
        int const at = what_.engines.find(e.name);
        if (at < 0) throw std::invalid_argument("machine `" + what_.name.str() + "` has no engine `" + e.name.str() + "`");
        return busy(at);
    }
    std::int64_t busy(int engine_at) const {
        std::int64_t total = 0;
        for (int channel = 0; channel < what_.channels_of(engine_at); ++channel)
            total += engines_[what_.first_lane(engine_at) + channel].clock.busy;
        return total;
    }
    /// Jobs that were started and that the core does not know to be complete.
    std::size_t in_flight() const {
        std::size_t all = 0;
        for (std::size_t at = 0; at < engines_.size(); ++at) all += engines_.in_flight(at);
        return all;
    }
    /// What the first refused call wanted; empty when all went well.
    std::string const& error() const { return error_; }
    /// The code that it returned; 0 when all went well.
    std::int32_t error_code() const { return error_code_; }

    // What generated code calls.

    /// `shape`: {row elements, bytes of a destination element, of a source element, number of dimensions, tag, source buffer, destination
    /// buffer, then for each dimension, outermost first: extent, source stride and destination stride in bytes; then, where it writes
    /// borders, the bits of an element of the border, and how many of the row, and of each dimension, are border in front and behind;
    /// behind all, where its engine has several channels, which}. Buffers are positions in the plan, -1: none. The tag of a blocking
    /// transfer is -1.
    std::int32_t transfer(std::int32_t at, void const* source, void* destination, std::int64_t const* shape) {
        if (creeps_) creep();
        if (at < 0 || at >= what_.transfers.size()) return fail(emulation_unknown_part, "a transfer that the machine does not have");
        transfer_description const& t = what_.transfers[at];
        transfer_part const& part = transfer_parts_[at];
        if (fail_in_ > 0 && --fail_in_ == 0) return fail(fail_code_, t.name.str() + " was made to fail with " + std::to_string(fail_code_));
        void const* to = destination;
        // A fill has no source: its elements have no bytes.
        if ((shape[2] > 0 && !memories_.decode(part.source, source)) || !memories_.decode(part.destination, to))
            return fail(emulation_bad_address, t.name.str() + ": a number that no row of its memory has");
        destination = const_cast<void*>(to);
        bool const blocking = shape[4] < 0;
        std::int64_t const border = t.border.is ? 3 + 2 * shape[3] : 0;
        std::int64_t const channel = has_channels(part.engine) ? shape[7 + 3 * shape[3] + border] : 0;
        std::string illegal = emulation::why_illegal(t, part.limits, source, destination, shape);
        if (!blocking && (!t.is_asynchronous || part.engine < 0)) illegal = "a tag, and it blocks";
        if (illegal.empty() && part.engine >= 0 && (channel < 0 || channel >= what_.channels_of(part.engine)))
            return fail(emulation_unknown_part, t.name.str() + ": channel " + std::to_string(channel) + " of " + t.engine_name.str() +
                                                    ", which has " + std::to_string(what_.channels_of(part.engine)));
        if (!illegal.empty()) return fail(emulation_illegal_transfer, t.name.str() + " takes no call of this shape: " + illegal);
        if (std::string const stale = settings_.missing(t, shape); !stale.empty()) return fail(emulation_stale_setting, stale);
        emulation::transfer_job job(semantics_.transfers[at], source, destination, shape[0], shape[1], shape[2], static_cast<int>(shape[3]),
                                    shape + 7);
        int const lane = part.engine < 0 ? -1 : part.lane + static_cast<int>(channel);
        if (t.border.is) job.write_border(shape + 7 + 3 * shape[3]);
        std::uint64_t narrow = 0;
        if ((source != nullptr && !reaches(part.source, source, job.source_reach(), narrow)) ||
            !reaches(part.destination, destination, job.destination_reach(), narrow)) {
            return fail(emulation_bad_address, t.name.str() + ": " + std::to_string(job.source_reach()) + " bytes from " +
                                                   device_address(source) + ", " + std::to_string(job.destination_reach()) + " bytes to " +
                                                   device_address(destination));
        }
        emulation::flight next{.moves = job, .part = at, .tag = shape[4], .narrow_banks = narrow};
        next.source_buffer = static_cast<int>(shape[5]), next.destination_buffer = static_cast<int>(shape[6]);
        if (shadow_.on() || engines_.is_interlocked(lane)) next.reads = job.reads(), next.writes = job.writes();
        if (lane >= 0) engines_.begin(lane, next);
        if (narrow != 0) {
            if (std::int32_t const code = check_banks({t.name}, lane, narrow); code != 0) return code;
        }
        if (shadow_.on()) {
            if (std::int32_t const code = check_transfer({t.name}, lane, job, next.reads, next.writes, shape); code != 0) return code;
        }

        job_time const time = time_of(t.costs, job.bytes());
        count& c = transfers_[at];
        c.calls += 1;
        c.bytes += job.bytes();
        c.cycles += time.busy + time.latency;
        if (lane < 0) {
            job.finish();
            keep({job_kind::transfer, -1, t.name, now_, now_ + time.busy, now_ + time.busy + time.latency, job.bytes(), about(shape)});
            now_ += time.busy + time.latency;
            return 0;
        }
        emulation::engine_queue& queue = engines_[lane];
        std::int64_t const asked = now_, complete = queue.clock.start(now_, time, queue.depth());
        waited(lane, asked);
        keep({job_kind::transfer, part.engine, t.name, queue.clock.free - time.busy, queue.clock.free, complete, job.bytes(), about(shape),
              shape[4], static_cast<int>(channel)});
        next.complete = complete;
        if (blocking) {
            engines_.clear_way(lane, next);
            next.finish();
            now_ = std::max(now_, complete);
        } else {
            engines_.give(lane, std::move(next));
        }
        return 0;
    }
    /// Until jobs of a channel are complete. @param lane  those of all engines are counted in the machine's order; of an engine with
    /// one, it is that. @param value  by_transfer: the last job with this tag, if there is one, and all before it; by_channel: all but the
    /// last so many; by_engine: 0
    std::int32_t wait(std::int32_t lane, std::int64_t value) {
        if (creeps_) creep();
        if (lane < 0 || lane >= what_.lane_count())
            return fail(emulation_unknown_part, "a wait for an engine that the machine does not have");
        emulation::engine_queue& queue = engines_[lane];
        auto const& flights = queue.flights();
        std::size_t count = flights.size();
        if (what_.engine_at_lane(lane).completes == completion::by_transfer) {
            while (count > 0 && flights[count - 1].tag != value) --count;
        } else {
            count -= std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(value, 0)));
        }
        std::int64_t const asked = now_;
        now_ = std::max(now_, engines_.know_of(lane, count));
        waited(lane, asked);
        return 0;
    }
    /// Sets a configuration to as many values as it has. What is called from now on uses them.
    std::int32_t configure(std::int32_t at, std::int64_t const* values) {
        if (creeps_) creep();
        if (at < 0 || at >= what_.configurations.size())
            return fail(emulation_unknown_part, "a configuration that the machine does not have");
        settings_.set(at, values);
        return 0;
    }
    /// A token behind all that its engine has been given so far, for another engine.
    std::int32_t push(std::int32_t tokens_at, std::int32_t queue_at) {
        if (creeps_) creep();
        if (fail_token_in_ > 0 && --fail_token_in_ == 0)
            return fail(fail_code_, "a push was made to fail with " + std::to_string(fail_code_));
        return passed(tokens_at, engines_.push(tokens_at, queue_at));
    }
    /// What an engine is given from now on begins when the oldest token is there.
    std::int32_t pop(std::int32_t tokens_at, std::int32_t queue_at) {
        if (creeps_) creep();
        if (fail_token_in_ > 0 && --fail_token_in_ == 0)
            return fail(fail_code_, "a pop was made to fail with " + std::to_string(fail_code_));
        return passed(tokens_at, engines_.pop(tokens_at, queue_at));
    }
    /// `operands`: for each operand its address, its buffer's position in the plan, then `max_rank` strides in elements. Behind all, where
    /// the intrinsic covers up to so many elements of an axis, how many it covers of each of its axes.
    std::int32_t intrinsic(std::int32_t at, std::int64_t const* operands) {
        if (creeps_) creep();
        if (at < 0 || at >= what_.intrinsics.size()) return fail(emulation_unknown_part, "an intrinsic that the machine does not have");
        intrinsic_description const& i = what_.intrinsics[at];
        intrinsic_part& part = intrinsic_parts_[at];
        void* addresses[intrinsic_description::most_operands];
        std::int64_t strides[intrinsic_description::most_operands * max_rank];
        std::int64_t decoded[intrinsic_description::most_operands * (2 + max_rank)];
        std::copy(operands, operands + i.operand_count * (2 + max_rank), decoded);
        std::uint64_t narrow = 0;
        extent_list extents{};
        if (i.flexible_axes != 0) {
            std::copy(operands + i.operand_count * (2 + max_rank), operands + i.operand_count * (2 + max_rank) + part.axis_count,
                      extents.begin());
            for (int axis = 0; axis < part.axis_count; ++axis) {
                if (extents[axis] < 1 || extents[axis] > part.most[axis])
                    return fail(emulation_illegal_transfer, i.name.str() + " takes no call of this shape");
            }
            for (emulation::operand_footprint& operand : part.operands) operand.cover(extents.data());
        }
        for (int o = 0; o < i.operand_count; ++o) {
            std::int64_t* const given = decoded + o * (2 + max_rank);
            emulation::operand_footprint const& operand = part.operands[o];
            void const* address = reinterpret_cast<void const*>(static_cast<std::uintptr_t>(given[0]));
            if (!memories_.decode(operand.memory, address))
                return fail(emulation_bad_address,
                            i.name.str() + ": operand " + i.operands[o].tensor.str() + " at a number that no row of its memory has");
            given[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
            addresses[o] = const_cast<void*>(address);
            std::copy(given + 2, given + 2 + max_rank, strides + o * max_rank);
            if (!reaches(operand.memory, addresses[o], operand.reach(strides + o * max_rank), narrow)) {
                return fail(emulation_bad_address,
                            i.name.str() + ": operand " + i.operands[o].tensor.str() + " at " + device_address(addresses[o]));
            }
        }
        operands = decoded;
        if (int const tied = i.find_in_place(); tied >= 0) {
            std::int64_t const* const read = decoded + tied * (2 + max_rank);
            std::int64_t const* const written = decoded + part.result * (2 + max_rank);
            if (read[0] != written[0] || !std::equal(read + 2, read + 2 + max_rank, written + 2))
                return fail(emulation_bad_address,
                            i.name.str() + ": operand " + i.operands[tied].tensor.str() + " is not in the place of the result");
        }
        if (std::string const stale = settings_.missing(i, operands, extents.data()); !stale.empty())
            return fail(emulation_stale_setting, stale);
        bool const aside = i.is_asynchronous && part.engine >= 0;
        emulation::flight next{.part = at, .narrow_banks = narrow};
        if (part.engine >= 0) {
            if ((aside && shadow_.on()) || engines_.is_interlocked(part.lane)) find_ranges(part, operands, next);
            engines_.begin(part.lane, next);
        }
        if (narrow != 0) {
            if (std::int32_t const code = check_banks({i.name}, part.lane, narrow); code != 0) return code;
        }
        if (shadow_.on()) {
            if (std::int32_t const code = check_intrinsic(at, part, operands, extents.data()); code != 0) return code;
        }
        job_time const time = time_of(i.costs, i.flexible_axes != 0 ? extents : part.most);
        count& c = intrinsics_[at];
        c.calls += 1;
        c.cycles += time.busy;
        if (aside) {
            emulation::engine_queue& queue = engines_[part.lane];
            std::int64_t const asked = now_;
            next.complete = queue.clock.start(now_, time, queue.depth());
            waited(part.lane, asked);
            if (records_) keep({job_kind::intrinsic, part.engine, i.name, queue.clock.free - time.busy, queue.clock.free, next.complete});
            using address_list = std::array<void*, intrinsic_description::most_operands>;
            using stride_list = std::array<std::int64_t, intrinsic_description::most_operands * max_rank>;
            address_list where{};
            stride_list by{};
            std::copy(addresses, addresses + i.operand_count, where.begin());
            std::copy(strides, strides + i.operand_count * max_rank, by.begin());
            next.computes = [function = semantics_.intrinsics[at], where, by, extents]() mutable {
                function(where.data(), by.data(), extents.data());
            };
            engines_.give(part.lane, std::move(next));
            return 0;
        }

        std::int64_t begin = now_;
        if (part.engine >= 0) {
            emulation::engine_queue& queue = engines_[part.lane];
            engines_.clear_way(part.lane, next);
            now_ = queue.clock.start(now_, time, engine_clock::most_depth);
            begin = queue.clock.free - time.busy;
        } else {
            now_ += time.busy;
        }
        if (records_) keep({job_kind::intrinsic, part.engine, i.name, begin, begin + time.busy, now_});
        semantics_.intrinsics[at](addresses, strides, extents.data());
        return 0;
    }
    /// Loops that stay code are going to run.
    void code(std::int64_t iterations, ir::operation_counts const& operations) {
        if (creeps_) creep();
        shadow_.begin_step();
        std::int64_t const cycles = iterations * cycles_of(operations, what_.host().costs);
        code_.calls += 1;
        code_.cycles += cycles;
        if (records_) keep({job_kind::code, -1, "code", now_, now_ + cycles, now_ + cycles});
        now_ += cycles;
    }
    /// The bytes of an argument that the kernel may touch. Nothing, unless runs are checked.
    void argument(std::int32_t buffer, void const* first, std::int64_t bytes) {
        if (shadow_.on() && shadow_.is_buffer(buffer)) shadow_.bind(buffer, first, bytes);
    }
    /// Code of a stage is going to touch bytes of a buffer. Nothing, unless runs are checked.
    /// @param fills  it writes what a load leaves out, maybe for a step ahead: that uses no version yet
    std::int32_t access(std::int32_t stage_at, std::int32_t buffer, void const* address, std::int64_t bytes, bool writes,
                        bool fills = false) {
        if (creeps_) creep();
        if (!shadow_.on()) return 0;
        caller const who{shadow_.stage_name(stage_at), {}, true};
        if (!shadow_.is_buffer(buffer)) return fail(emulation_unknown_part, who.text() + ": a buffer that the plan does not have");
        auto const begin = reinterpret_cast<std::uintptr_t>(address);
        emulation::byte_range const range{begin, begin + static_cast<std::uintptr_t>(bytes)};
        if (std::uint64_t const narrow = memories_.narrow_bank(memories_.find(address, 1)); narrow != 0) {
            if (std::int32_t const code = check_banks(who, -1, narrow); code != 0) return code;
        }
        std::int32_t code = check_range(who, -1, buffer, range, writes);
        if (code == 0 && !fills) code = check_use(who, buffer, range, !writes);
        if (code == 0 && writes) shadow_.write(buffer, range);
        return code;
    }
    /// The kernel is over. @return emulation_not_waited when jobs are in flight that it never waited for; they are completed.
    /// emulation_no_token when tokens are left
    std::int32_t end() {
        std::string left, tokens;
        for (std::size_t at = 0; at < engines_.size(); ++at) {
            if (std::size_t const unknown = engines_.in_flight(at); unknown > 0)
                left += (left.empty() ? "" : "; ") + std::to_string(unknown) + " of " + emulation::lane_name(what_, static_cast<int>(at)) +
                        ", the last " + flight_text(engines_[static_cast<int>(at)].flights().back());
        }
        engines_.retire_all();
        for (int at = 0; at < what_.tokens.size(); ++at) {
            if (std::size_t const count = engines_.take_tokens(at); count > 0)
                tokens += (tokens.empty() ? "" : ", ") + std::to_string(count) + " of " + what_.tokens[at].name.str();
        }
        now_ = cycles();
        shadow_.clear();
        settings_.forget();
        if (!left.empty()) return fail(emulation_not_waited, "the kernel ended without waiting for jobs: " + left);
        return tokens.empty() ? 0 : fail(emulation_no_token, "the kernel ended with tokens that nothing popped: " + tokens);
    }

  private:
    struct transfer_part {
        int engine = -1, lane = -1, source = -1, destination = -1;  ///< the lane of its first channel
        detail::call_limits limits{};
    };
    using extent_list = std::array<std::int64_t, stage::most_axes>;
    struct intrinsic_part {
        int engine = -1, lane = -1, axis_count = 0;
        int result = 0;      ///< its position among the operands
        extent_list most{};  ///< of each axis
        std::vector<emulation::operand_footprint> operands;
    };

    int lane_of(int engine_at) const { return engine_at < 0 ? -1 : what_.first_lane(engine_at); }
    bool has_channels(int engine_at) const { return engine_at >= 0 && what_.engines[engine_at].has_channels(); }
    std::int32_t passed(int tokens_at, emulation::engine_set::token_fault fault) {
        using enum emulation::engine_set::token_fault;
        if (fault == none) return 0;
        if (fault == no_such_tokens) return fail(emulation_unknown_part, "tokens that the machine does not have");
        tokens const& t = what_.tokens[tokens_at];
        return fail(emulation_no_token, fault == none_there
                                            ? t.to.str() + " waits for ever for a token of " + t.name.str()
                                            : t.name.str() + ": more than " + std::to_string(t.capacity) + " tokens are under way");
    }
    /// The bytes that a call of an intrinsic reads and writes.
    static void find_ranges(intrinsic_part& part, std::int64_t const* operands, emulation::flight& next) {
        for (std::size_t o = 0; o < part.operands.size(); ++o) {
            std::int64_t const* const given = operands + o * (2 + max_rank);
            emulation::operand_footprint& operand = part.operands[o];
            for (auto const& run : operand.runs()) {
                std::uintptr_t const begin =
                    static_cast<std::uintptr_t>(given[0]) + static_cast<std::uintptr_t>(operand.byte_offset(run, given + 2));
                emulation::byte_range const range{begin, begin + static_cast<std::uintptr_t>(run.count * operand.element_bytes)};
                if (operand.reads) next.reads.push_back(range);
                if (operand.writes) next.writes.push_back(range);
            }
        }
        emulation::sort_and_merge(next.reads);
        emulation::sort_and_merge(next.writes);
    }

    /// Who touches something: a transfer, an operand of an intrinsic, the code of a stage.
    struct caller {
        label name{};
        label operand{};
        bool is_code = false;

        std::string text() const {
            if (is_code) return "code of stage " + name.str();
            return operand.empty() ? name.str() : name.str() + " (operand " + operand.str() + ")";
        }
    };

    /// Whether the bytes lie in one bank of the memory; adds to `narrow` the bit of a bank with one port.
    bool reaches(int memory_at, void const* address, std::int64_t bytes, std::uint64_t& narrow) const {
        // The first memory holds the caller's arguments, wherever they are.
        if (memory_at == 0 || !memories_.has_capacity(memory_at)) return true;
        emulation::place const found = memories_.find_in(memory_at, address, bytes);
        narrow |= memories_.narrow_bank(found);
        return static_cast<bool>(found);
    }
    std::int32_t check_transfer(caller const& who, int lane, emulation::transfer_job const& job,
                                std::vector<emulation::byte_range> const& reads, std::vector<emulation::byte_range> const& writes,
                                std::int64_t const* shape) {
        auto const source = static_cast<int>(shape[5]), destination = static_cast<int>(shape[6]);
        if ((job.source != nullptr && !shadow_.is_buffer(shape[5])) || !shadow_.is_buffer(shape[6]))
            return fail(emulation_unknown_part, who.text() + ": a buffer that the plan does not have");
        shadow_.begin_step();
        for (emulation::byte_range const& range : reads) {
            if (std::int32_t const code = check_range(who, lane, source, range, false); code != 0) return code;
        }
        for (emulation::byte_range const& range : writes) {
            if (std::int32_t const code = check_range(who, lane, destination, range, true); code != 0) return code;
        }
        auto const bad = shadow_.move(job, source, destination);
        return bad ? fail_access(who, source, *bad, false) : 0;
    }
    std::int32_t check_intrinsic(std::int32_t at, intrinsic_part& part, std::int64_t const* operands, std::int64_t const* extents) {
        intrinsic_description const& i = what_.intrinsics[at];
        shadow_.begin_step();
        bool idle = false;
        // What is written counts as written when all has been read: an operand may be the result too.
        for (bool const writing : {false, true}) {
            if (writing && idle) {
                // What they are found by is what is there when the intrinsic is carried out.
                engines_.carry_out_all();
                find_idle_lanes(at, part, operands, extents);
            }
            for (int o = 0; o < i.operand_count; ++o) {
                std::int64_t const* const given = operands + o * (2 + max_rank);
                emulation::operand_footprint& operand = part.operands[o];
                if (writing ? !operand.writes : !operand.reads) continue;
                caller const who{i.name, i.operands[o].tensor};
                if (!shadow_.is_buffer(given[1]))
                    return fail(emulation_unknown_part, who.text() + ": a buffer that the plan does not have");
                auto const buffer = static_cast<int>(given[1]);
                for (auto const& run : operand.runs()) {
                    std::uintptr_t const begin =
                        static_cast<std::uintptr_t>(given[0]) + static_cast<std::uintptr_t>(operand.byte_offset(run, given + 2));
                    emulation::byte_range const range{begin, begin + static_cast<std::uintptr_t>(run.count * operand.element_bytes)};
                    std::int32_t code = check_range(who, part.lane, buffer, range, writing);
                    if (code == 0 && !writing && shadow_.has_idle_lanes()) idle |= shadow_.use(buffer, range, true).has_value();
                    else if (code == 0) code = check_use(who, buffer, range, !writing);
                    if (code != 0) return code;
                    if (writing) shadow_.write(buffer, range);
                }
            }
        }
        for (auto const& [buffer, range] : idle_results_) shadow_.empty(buffer, range);
        idle_results_.clear();
        return 0;
    }
    /// Of the elements that an intrinsic writes, those that depend on elements without contents: the ones that come out different when
    /// different bytes stand there.
    void find_idle_lanes(std::int32_t at, intrinsic_part& part, std::int64_t const* operands, std::int64_t const* extents) {
        void* addresses[intrinsic_description::most_operands];
        std::int64_t strides[intrinsic_description::most_operands * max_rank];
        struct element {
            int buffer;
            emulation::byte_range range;
            std::vector<std::byte> before{}, first{};
        };
        std::vector<element> idle, written;
        auto const bytes_of_range = [](emulation::byte_range const& r) { return reinterpret_cast<std::byte*>(r.begin); };
        auto const copy_of = [&](emulation::byte_range const& r) {
            return std::vector<std::byte>(bytes_of_range(r), bytes_of_range(r) + (r.end - r.begin));
        };
        auto const put = [&](std::vector<std::byte> const& what, emulation::byte_range const& r) {
            std::copy(what.begin(), what.end(), bytes_of_range(r));
        };
        for (std::size_t o = 0; o < part.operands.size(); ++o) {
            std::int64_t const* const given = operands + o * (2 + max_rank);
            addresses[o] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(given[0]));
            std::copy(given + 2, given + 2 + max_rank, strides + o * max_rank);
            emulation::operand_footprint& operand = part.operands[o];
            for (auto const& run : operand.runs()) {
                for (std::int64_t e = 0; e < run.count; ++e) {
                    std::uintptr_t const begin =
                        static_cast<std::uintptr_t>(given[0]) +
                        static_cast<std::uintptr_t>(operand.byte_offset(run, given + 2) + e * operand.element_bytes);
                    element const here{static_cast<int>(given[1]),
                                       {begin, begin + static_cast<std::uintptr_t>(operand.element_bytes)},
                                       copy_of({begin, begin + static_cast<std::uintptr_t>(operand.element_bytes)})};
                    if (operand.reads && !shadow_.is_filled(here.buffer, here.range)) idle.push_back(here);
                    if (operand.writes) written.push_back(here);
                }
            }
        }
        // Bytes that make small numbers of every type, and other ones.
        for (auto const filler : {std::byte{0x35}, std::byte{0x4b}}) {
            for (element const& e : written) put(e.before, e.range);
            for (element const& e : idle)
                std::fill(bytes_of_range(e.range), bytes_of_range(e.range) + (e.range.end - e.range.begin), filler);
            semantics_.intrinsics[at](addresses, strides, extents);
            for (element& e : written) {
                std::vector<std::byte> const now = copy_of(e.range);
                if (e.first.empty()) e.first = now;
                else if (e.first != now) idle_results_.emplace_back(e.buffer, e.range);
            }
        }
        for (element const& e : written) put(e.before, e.range);
        for (element const& e : idle) put(e.before, e.range);
    }
    /// Bytes lie inside of their buffer, and no transfer in flight on another channel stands against what is done with them.
    std::int32_t check_range(caller const& who, int lane, int buffer, emulation::byte_range const& range, bool writes) {
        if (auto const bad = shadow_.inside(buffer, range)) return fail_access(who, buffer, *bad, writes);
        for (std::size_t at = 0; at < engines_.size(); ++at) {
            // Jobs of one channel follow each other.
            if (static_cast<int>(at) == lane) continue;
            for (emulation::flight const& f : engines_[static_cast<int>(at)].flights()) {
                if (engines_.is_known(lane, at, f)) continue;
                std::uintptr_t const written = first_shared(f.writes, range);
                std::uintptr_t const shared = written != 0 || !writes ? written : first_shared(f.reads, range);
                if (shared == 0) continue;
                return fail_access(
                    who, buffer,
                    {reinterpret_cast<void const*>(shared), flight_text(f) + " on " + emulation::lane_name(what_, static_cast<int>(at)) +
                                                                " may still " + (written != 0 ? "write" : "read") + " it"},
                    writes);
            }
        }
        return 0;
    }
    std::int32_t check_use(caller const& who, int buffer, emulation::byte_range const& range, bool reads) {
        auto const bad = shadow_.use(buffer, range, reads);
        return bad ? fail_access(who, buffer, *bad, false) : 0;
    }
    /// No transfer in flight on another channel uses one of these banks.
    std::int32_t check_banks(caller const& who, int lane, std::uint64_t narrow) {
        for (std::size_t at = 0; at < engines_.size(); ++at) {
            if (static_cast<int>(at) == lane) continue;
            for (emulation::flight const& f : engines_[static_cast<int>(at)].flights()) {
                if ((f.narrow_banks & narrow) == 0 || engines_.is_known(lane, at, f)) continue;
                int const bit = std::countr_zero(f.narrow_banks & narrow);
                return fail(emulation_bank_conflict, who.text() + " uses bank " + std::to_string(bit % max_banks) + " of " +
                                                         what_.memories[bit / max_banks].name.str() + ", which has one port, while " +
                                                         flight_text(f) + " on " + emulation::lane_name(what_, static_cast<int>(at)) +
                                                         " may still use it");
            }
        }
        return 0;
    }
    /// "mvin to A.spad, tag 3".
    std::string flight_text(emulation::flight const& f) const {
        if (!f.moves) return what_.intrinsics[f.part].name.str();
        std::string text = what_.transfers[f.part].name.str();
        if (label const name = buffer_name(f.destination_buffer); !name.empty()) text += " to " + name.str();
        return text + ", tag " + std::to_string(f.tag);
    }

    void name_buffers(plan_value const& plan) {
        buffers_.clear();
        for (int at = 0; at < plan.buffers.size(); ++at) {
            ir::buffer const& b = plan.buffers[at];
            buffers_.push_back({b.name, b.kind == ir::buffer_kind::argument});
        }
    }
    label buffer_name(std::int64_t at) const {
        return at >= 0 && at < static_cast<std::int64_t>(buffers_.size()) ? buffers_[at].name : label{};
    }
    /// The buffer that a transfer is spoken of by: what it fills, or what it empties.
    label about(std::int64_t const* shape) const {
        if (!records_) return {};
        bool const stores = !buffer_name(shape[6]).empty() && buffers_[shape[6]].argument;
        label const source = buffer_name(shape[5]);
        return stores && !source.empty() ? source : buffer_name(shape[6]);
    }
    void keep(recorded_job const& job) {
        if (records_) recorded_.push_back(job);
    }
    void waited(int lane, std::int64_t since) {
        if (records_ && now_ > since) recorded_.push_back({job_kind::wait, -1, what_.engine_at_lane(lane).name, since, now_, now_});
    }
    void creep() { engines_.creep(random_); }
    void give_up() {
        engines_.abandon();
        shadow_.clear();
    }
    std::int32_t fail_access(caller const& who, int buffer, emulation::shadow::fault const& bad, bool writes) {
        return fail(emulation_bad_access,
                    who.text() + (writes ? " writes " : " reads ") + shadow_.text_of(buffer, bad.address) + ": " + bad.why);
    }
    std::int32_t fail(std::int32_t code, std::string const& what) {
        if (error_.empty()) error_ = what, error_code_ = code;
        shadow_.clear();
        return code;
    }

    struct named_buffer {
        label name{};
        bool argument = false;
    };

    machine what_;
    semantics_table semantics_;
    emulation::memories memories_;
    emulation::engine_set engines_;
    std::vector<transfer_part> transfer_parts_;
    std::vector<intrinsic_part> intrinsic_parts_;
    std::vector<std::pair<int, emulation::byte_range>> idle_results_;  ///< of the intrinsic that is checked
    emulation::shadow shadow_;
    std::vector<named_buffer> buffers_;
    std::int64_t now_ = 0;  ///< of the core
    std::vector<count> transfers_, intrinsics_;
    emulation::configuration_registers settings_;
    count code_;
    bool creeps_ = false, records_ = false;
    std::mt19937_64 random_;
    std::vector<recorded_job> recorded_;
    std::int64_t fail_in_ = 0, fail_token_in_ = 0;
    std::int32_t fail_code_ = 0;
    std::string error_;
    std::int32_t error_code_ = 0;
};

/// The emulator of a machine that all kernels of this process share. Kernels that CMake builds with `BINDING emulated` run on it.
///
/// Found by the machine's name, since a `constexpr` machine in a header is another object in every translation unit.
inline std::shared_ptr<emulator>& shared_emulator(label const& name) {
    static std::map<std::string, std::shared_ptr<emulator>> all;
    return all[name.str()];
}

/// @throws std::logic_error when another machine of this name is emulated already
template <auto const& Machine>
emulator& emulated() {
    std::shared_ptr<emulator>& shared = shared_emulator(Machine.name);
    if (!shared) shared = std::make_shared<emulator>(Machine, semantics_of<Machine>);
    else if (!(shared->what() == Machine))
        throw std::logic_error("two different machines are called `" + Machine.name.str() + "`: give each a name of its own");
    return *shared;
}

}  // namespace tilewright
