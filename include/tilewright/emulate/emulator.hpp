#pragma once
#include <map>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/known_machine.hpp>  // first: compilers name the way to what it refuses

#include <tilewright/emulate/access_check.hpp>
#include <tilewright/emulate/job_runner.hpp>
#include <tilewright/emulate/multicast.hpp>
#include <tilewright/emulate/shared_access.hpp>

namespace tilewright {

/// A machine that exists only here: its memories are regions of the process, its transfers and intrinsics do what they declare.
///
/// Traffic and cycles are counted from the calls that are executed, by the rule of machine/clock.hpp. A call that fails ends the kernel,
/// which waits for what is in flight then. Not for use from several threads at a time.
class emulator {
  public:
    using count = emulation::call_count;
    /// @param shared  memories, by name, that lie where the emulators of other machines have them too
    emulator(machine const& what, semantics_table const& semantics,
             std::map<std::string, std::shared_ptr<emulation::bank_list const>> const& shared = {})
        : what_(what), memories_(what_, shared), parts_(what_, semantics) {}
    emulator(emulator const&) = delete;

    machine const& what() const { return what_; }
    /// Makes this the emulator of one of several cores: see `core_team`.
    void join(emulation::core_meeting& team, int core) { shared_.join(team, core); }
    int core() const { return shared_.core(); }
    /// The caches of this core and of others that see its memories; null if the machine has none.
    std::shared_ptr<emulation::caches> const& caches() const { return shared_.seen(); }
    void share(std::shared_ptr<emulation::caches> const& all) { shared_.see(all); }
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
        settings_.reset();
        runner_.reset();
        engines_.reset();
        shared_.reset();
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
        names_.read(plan);
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
    void record(bool on = true) { runner_.records().record(on); }
    void record(plan_value const& plan) {
        record();
        names_.read(plan);
    }
    std::vector<recorded_job> const& recorded() const { return runner_.records().jobs(); }
    /// The n-th call of a transfer from now on, the next one when n is 1, is not carried out and returns `code`.
    void fail_transfer(std::int64_t n, std::int32_t code) { fail_in_ = n, fail_code_ = code; }
    /// Likewise the n-th push or pop of a token: none is made, none is taken.
    void fail_token(std::int64_t n, std::int32_t code) { fail_token_in_ = n, fail_code_ = code; }

    count const& transfers(int at) const { return runner_.counts().transfers[at]; }
    count const& intrinsics(int at) const { return runner_.counts().intrinsics[at]; }
    count const& code() const { return runner_.counts().code; }
    /// What cores have cleaned and invalidated of their caches.
    count const& upkeep() const { return runner_.counts().upkeep; }
    count counted(transfer_description const& t) const { return transfers(what_.transfers.find(t.name)); }
    /// How often a configuration was set.
    count counted(configuration const& c) const { return {settings_.sets(what_.configurations.find(c.name))}; }
    count counted(intrinsic_description const& i) const { return intrinsics(what_.intrinsics.find(i.name)); }
    /// Cycles that have passed: engines work beside each other and beside the core.
    std::int64_t cycles() const { return runner_.complete(); }
    /// Cycles of the core: engines may be at work for longer.
    std::int64_t core_cycles() const { return runner_.now(); }
    /// Cycles when nothing overlaps: the sum over all calls.
    std::int64_t serial_cycles() const { return runner_.counts().serial_cycles(); }
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
    /// What was done since `reset()`.
    emulation::work_done done() const {
        emulation::work_done all{runner_.counts(), {}, cycles(), recorded().size()};
        for (int at = 0; at < what_.engines.size(); ++at) all.busy.push_back(busy(at));
        return all;
    }
    /// Jobs that were started and that the core does not know to be complete.
    std::size_t in_flight() const {
        std::size_t all = 0;
        for (int lane = 0; lane < engines_.size(); ++lane) all += engines_.in_flight(lane);
        return all;
    }
    /// What the first refused call wanted; empty when all went well.
    std::string const& error() const { return error_; }
    /// The code that it returned; 0 when all went well.
    std::int32_t error_code() const { return error_code_; }

    // What generated code calls.

    /// @param shape see `emulation::transfer_call`
    std::int32_t transfer(std::int32_t at, void const* source, void* destination, std::int64_t const* shape) {
        pass_time();
        if (at < 0 || at >= what_.transfers.size()) return fail(emulation_unknown_part, "a transfer that the machine does not have");
        if (fail_in_ > 0 && --fail_in_ == 0)
            return fail(fail_code_, what_.transfers[at].name.str() + " was made to fail with " + std::to_string(fail_code_));
        emulation::transfer_request asked{parts_.transfers[at], {source, destination, shape}};
        if (auto const refused = reader_.read(asked)) return fail(*refused);
        emulation::flight& next = asked.next;
        if (keeps_ranges(asked.lane)) next.reads = next.moves->reads(), next.writes = next.moves->writes();
        if (asked.part.is.is_multicast) {
            if (auto const refused = emulation::send_to_all(asked, memories_, shared_.team(), core())) return fail(*refused);
        }
        if (asked.lane >= 0) engines_.begin(asked.lane, next);
        if (next.narrow_banks != 0) {
            if (auto const refused = check_.banks({.name = asked.part.is.name, .lane = asked.lane}, next.narrow_banks))
                return fail(*refused);
        }
        if (shadow_.on()) {
            if (auto const refused = check_.transfer(asked)) return fail(*refused);
        }
        if (auto const refused = shared_.job(asked.part.is.name, next, asked.lane < 0 && !asked.part.is.is_multicast))
            return fail(*refused);
        runner_.run(asked);
        return 0;
    }
    /// Until jobs of a channel are complete. @param lane  those of all engines are counted in the machine's order; of an engine with
    /// one, it is that. @param value  by_transfer: the last job with this tag, if there is one, and all before it; by_channel: all but the
    /// last so many; by_engine: 0
    std::int32_t wait(std::int32_t lane, std::int64_t value) {
        pass_time();
        if (lane < 0 || lane >= what_.lane_count())
            return fail(emulation_unknown_part, "a wait for an engine that the machine does not have");
        runner_.wait(lane, value);
        return 0;
    }
    /// Sets a configuration to as many values as it has. What is called from now on uses them.
    std::int32_t configure(std::int32_t at, std::int64_t const* values) {
        pass_time();
        if (at < 0 || at >= what_.configurations.size())
            return fail(emulation_unknown_part, "a configuration that the machine does not have");
        settings_.set(at, values);
        return 0;
    }
    /// The core cleans its cache for bytes of a memory. @param counted  so many of them count as cycles @param invalidates  it forgets
    /// them, too
    std::int32_t keep_up(std::int32_t memory_at, std::uintptr_t address, std::int64_t bytes, std::int64_t counted, bool invalidates) {
        pass_time();
        if (memory_at < 0 || memory_at >= what_.memories.size() || !what_.memories[memory_at].is_cached())
            return fail(emulation_unknown_part, "a memory that no core sees through a cache");
        memory const& of = what_.memories[memory_at];
        shared_.keep_up(of, {address, address + static_cast<std::uintptr_t>(bytes)}, invalidates);
        runner_.keep_up(invalidates ? "invalidate" : "clean", of.cycles_of_upkeep(counted));
        return 0;
    }
    /// All cores wait for each other. @return the code of a core that failed
    std::int32_t barrier() {
        pass_time();
        if (shared_.team() == nullptr)
            return fail(emulation_deadlock, "a barrier of several cores, but one core runs alone: let a core_team run it");
        std::int64_t now = runner_.now();
        std::int32_t const code = shared_.team()->barrier(core(), now, shared_.still_touched());
        if (code == 0) runner_.go_on_at(now, "barrier");
        return code;
    }
    /// Likewise between two kernels of a program, where all cores go on when the slowest kind does. @param cores  that meet
    std::int32_t meet(int cores) {
        std::int32_t const code = barrier();
        if (code == 0) wait_until(runner_.now() + what_.longest_barrier(cores) - what_.core_at(core()).barrier_cycles, "barrier");
        return code;
    }
    /// The core waits for something outside of its machine.
    void wait_until(std::int64_t cycle, std::string const& what) { runner_.go_on_at(cycle, what); }
    /// Tells another core something: it goes on when it has taken the signal.
    std::int32_t signal(std::int32_t peer, std::int32_t queue) {
        pass_time();
        if (shared_.team() == nullptr)
            return fail(emulation_deadlock, "a signal to another core, but one core runs alone: let a core_team run it");
        std::int32_t const code = shared_.team()->signal(core(), peer, queue, runner_.now(), shared_.still_touched());
        return code == 0 ? 0
                         : fail(code, "a signal to core " + std::to_string(peer) + " in queue " + std::to_string(queue) +
                                          ", which is not there, or is full");
    }
    /// Waits for a signal of another core, and takes it. @return the code of a core that failed
    std::int32_t await(std::int32_t peer, std::int32_t queue) {
        pass_time();
        if (shared_.team() == nullptr)
            return fail(emulation_deadlock, "a wait for another core, but one core runs alone: let a core_team run it");
        std::int64_t now = runner_.now();
        std::int32_t const code = shared_.team()->await(core(), peer, queue, now);
        if (code == 0) runner_.go_on_at(now, "core " + std::to_string(peer));
        return code;
    }
    /// Pushes a token for another engine, after all that its engine has been given so far.
    std::int32_t push(std::int32_t tokens_at, std::int32_t queue_at) {
        pass_time();
        if (fail_token_in_ > 0 && --fail_token_in_ == 0)
            return fail(fail_code_, "a push was made to fail with " + std::to_string(fail_code_));
        return passed(tokens_at, engines_.push(tokens_at, queue_at));
    }
    /// Jobs that an engine is given from now on begin when the oldest token is there.
    std::int32_t pop(std::int32_t tokens_at, std::int32_t queue_at) {
        pass_time();
        if (fail_token_in_ > 0 && --fail_token_in_ == 0)
            return fail(fail_code_, "a pop was made to fail with " + std::to_string(fail_code_));
        return passed(tokens_at, engines_.pop(tokens_at, queue_at));
    }
    /// `operands`: for each operand its address, its buffer's position in the plan, then `max_rank` strides in elements. Behind all, where
    /// the intrinsic covers up to so many elements of an axis, how many it covers of each of its axes.
    std::int32_t intrinsic(std::int32_t at, std::int64_t const* operands) {
        pass_time();
        if (at < 0 || at >= what_.intrinsics.size()) return fail(emulation_unknown_part, "an intrinsic that the machine does not have");
        if (!is_on(what_, what_.intrinsics[at].core_name, core()))
            return fail(emulation_unknown_part, "core " + std::to_string(core()) + " has no `" + what_.intrinsics[at].name.str() +
                                                    "` of `" + what_.intrinsics[at].core_name.str() + "`");
        emulation::intrinsic_request asked(parts_.intrinsics[at]);
        if (auto const refused = reader_.read(operands, asked)) return fail(*refused);
        emulation::intrinsic_part& part = asked.part;
        emulation::flight& next = asked.next;
        if (part.engine >= 0) {
            if ((part.is_aside() && (shadow_.on() || shared_.asks_for_ranges())) || engines_.is_interlocked(part.lane))
                part.find_ranges(asked.call, next);
            engines_.begin(part.lane, next);
        }
        if (next.narrow_banks != 0) {
            if (auto const refused = check_.banks({.name = part.is.name, .lane = part.lane}, next.narrow_banks)) return fail(*refused);
        }
        if (shadow_.on()) {
            if (auto const refused = check_.intrinsic(part, asked.call)) return fail(*refused);
        }
        if (shared_.asks_for_ranges()) {
            if (next.reads.empty() && next.writes.empty()) part.find_ranges(asked.call, next);
            if (auto const refused = shared_.job(part.is.name, next, part.engine < 0)) return fail(*refused);
        }
        runner_.run(asked);
        return 0;
    }
    /// Loops that stay code are going to run.
    void code(std::int64_t iterations, ir::operation_counts const& operations) {
        pass_time();
        shadow_.begin_step();
        runner_.run_code(iterations * cycles_of(operations, what_.core_at(core()).costs));
    }
    /// The bytes of an argument that the kernel may touch. Nothing, unless runs are checked.
    void argument(std::int32_t buffer, void const* first, std::int64_t bytes, bool written) {
        auto const begin = reinterpret_cast<std::uintptr_t>(first);
        shared_.argument({begin, begin + static_cast<std::uintptr_t>(bytes)}, written);
        if (shadow_.on() && shadow_.is_buffer(buffer)) shadow_.bind(buffer, first, bytes);
    }
    /// Code of a stage is going to touch bytes of a buffer. Nothing, unless runs are checked.
    /// @param fills  it writes what a load leaves out, maybe for a step ahead: that uses no version yet
    std::int32_t access(std::int32_t stage_at, std::int32_t buffer, void const* address, std::int64_t bytes, bool writes,
                        bool fills = false) {
        if (creeps_) engines_.creep(random_);  // cores take turns at calls
        auto const begin = reinterpret_cast<std::uintptr_t>(address);
        emulation::byte_range const range{begin, begin + static_cast<std::uintptr_t>(bytes)};
        if (auto const refused = shared_.code("code", range, writes)) return fail(*refused);
        if (!shadow_.on()) return 0;
        emulation::caller const who{.name = shadow_.stage_name(stage_at), .is_code = true};
        if (!shadow_.is_buffer(buffer)) return fail(check_.no_buffer(who));
        if (auto const refused = check_.banks(who, memories_.narrow_bank(memories_.find(address, 1)))) return fail(*refused);
        if (auto const refused = check_.code(who, buffer, range, writes, fills)) return fail(*refused);
        return 0;
    }
    /// The kernel is over. @return emulation_not_waited when jobs are in flight that it never waited for; they are completed.
    /// emulation_no_token when tokens are left
    std::int32_t end() {
        std::string left, tokens;
        for (int lane = 0; lane < engines_.size(); ++lane) {
            if (std::size_t const unknown = engines_.in_flight(lane); unknown > 0)
                left += (left.empty() ? "" : "; ") + std::to_string(unknown) + " of " + lane_name(what_, lane) + ", the last " +
                        names_.text_of(what_, engines_[lane].flights().back());
        }
        runner_.finish();
        for (int at = 0; at < what_.tokens.size(); ++at) {
            if (std::size_t const left_over = engines_.take_tokens(at); left_over > 0)
                tokens += (tokens.empty() ? "" : ", ") + std::to_string(left_over) + " of " + what_.tokens[at].name.str();
        }
        shadow_.clear();
        settings_.forget();
        auto const stale = shared_.end();
        if (!left.empty()) return fail(emulation_not_waited, "the kernel ended without waiting for jobs: " + left);
        if (stale) return fail(*stale);
        return tokens.empty() ? 0 : fail(emulation_no_token, "the kernel ended with tokens that nothing popped: " + tokens);
    }

  private:
    std::int32_t passed(int tokens_at, emulation::engine_set::token_fault fault) {
        using enum emulation::engine_set::token_fault;
        if (fault == none) return 0;
        if (fault == no_such_tokens) return fail(emulation_unknown_part, "tokens that the machine does not have");
        tokens const& t = what_.tokens[tokens_at];
        return fail(emulation_no_token, fault == none_there
                                            ? t.to.str() + " waits for ever for a token of " + t.name.str()
                                            : t.name.str() + ": more than " + std::to_string(t.capacity) + " tokens are under way");
    }
    /// Something is called: data may move meanwhile, and other cores may do something.
    void pass_time() {
        if (creeps_) engines_.creep(random_);
        if (shared_.team() != nullptr) shared_.team()->turn(core());
    }
    bool keeps_ranges(int lane) const { return shadow_.on() || shared_.asks_for_ranges() || engines_.is_interlocked(lane); }
    void give_up() {
        engines_.abandon();
        shadow_.clear();
    }
    std::int32_t fail(emulation::refused_call const& refused) { return fail(refused.code, refused.text); }
    std::int32_t fail(std::int32_t code, std::string const& what) {
        if (error_.empty()) error_ = what, error_code_ = code;
        shadow_.clear();
        return code;
    }

    machine what_;
    emulation::memories memories_;
    emulation::machine_parts parts_;
    emulation::engine_set engines_{what_};
    emulation::shadow shadow_{what_, memories_};
    emulation::configuration_registers settings_{what_};
    emulation::buffer_names names_;
    emulation::call_reader reader_{what_, memories_, settings_};
    emulation::access_check check_{what_, engines_, shadow_, names_};
    emulation::job_runner runner_{what_, engines_, names_};
    emulation::shared_access shared_{what_, memories_, engines_};
    bool creeps_ = false;
    std::mt19937_64 random_;
    std::int64_t fail_in_ = 0, fail_token_in_ = 0;
    std::int32_t fail_code_ = 0, error_code_ = 0;
    std::string error_;
};

/// The emulator of a machine that all kernels of this process share. Kernels that CMake builds with `BINDING emulated` run on it.
///
/// Found by the machine's name, since a `constexpr` machine in a header is another object in every translation unit.
/// @throws std::logic_error when another machine of this name is emulated already
inline emulator& shared_emulator(machine const& what, semantics_table const& semantics) {
    static std::map<std::string, std::unique_ptr<emulator>> all;
    std::unique_ptr<emulator>& shared = all[what.name.str()];
    if (!shared) shared = std::make_unique<emulator>(what, semantics);
    else if (!(shared->what() == what))
        throw std::logic_error("two different machines are called `" + what.name.str() + "`: give each a name of its own");
    return *shared;
}
/// The same, of a machine that the compiler knows.
template <auto const& Machine>
emulator& emulated() {
    judge<detail::compiled<Machine>>();  // here, where compilers come to it by one step less
    return shared_emulator(Machine, semantics_of<Machine>);
}

}  // namespace tilewright
