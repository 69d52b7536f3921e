#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/program/program_plan.hpp>

namespace tilewright {

/// A kernel or copy that has run, or a core's share of it.
struct executed_kernel {
    int kernel = 0;          ///< its position in the plan
    int core = 0;            ///< of those that share it
    std::int64_t begin = 0;  ///< in cycles of the program
    /// What ran it had done when it began, and when it was complete.
    emulation::work_done before{}, after{};
    int code = 0;  ///< that it ended with

    std::int64_t end() const { return begin + after.cycles - before.cycles; }
};

/// The machines of a program's agents, emulated: an emulator for each agent, with the memories that they share, and a clock over all.
///
/// A kernel that is started on an agent runs at once, when it is joined, or beside the caller in a thread of its own, as `use` says. A copy
/// by an engine begins at once, and its data moves like that of all transfers.
class program_emulator {
  public:
    /// @param semantics  of every agent's machine, in the order of the program's agents
    /// @throws std::invalid_argument when the program was refused
    program_emulator(program_plan_value const& plan, std::vector<semantics_table> const& semantics) : plan_(plan) {
        if (plan.refusal) throw std::invalid_argument(to_string(plan.refusal));
        for (int at = 0; at < plan_.memories.size(); ++at) banks_.push_back(emulation::banks_of(plan_.memories[at].what));
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            std::map<std::string, std::shared_ptr<emulation::bank_list const>> shared;
            for (int at = 0; at < plan_.memories.size(); ++at) {
                ir::program_memory const& m = plan_.memories[at];
                if ((m.agents >> a & 1) != 0) shared[m.what.name.str()] = banks_[at];
            }
            agent_state& made = agents_.emplace_back();
            machine const& where = *plan_.of->agents[a].where;
            semantics_table const& does = semantics.at(static_cast<std::size_t>(a));
            if (plan_.is_of_cores(a) && !team_) team_ = std::make_unique<core_team>(where, does, plan_.cores, shared);
            if (!plan_.is_of_cores(a)) made.own = std::make_unique<emulator>(where, does, shared);
            made.on = made.own ? made.own.get() : &team_->on(0);
            share_caches(made);
        }
        load_constants();
        next_step_.assign(static_cast<std::size_t>(std::max<int>(1, plan_.cores)), 0);
    }
    ~program_emulator() {
        for (agent_state& a : agents_) {
            if (a.beside.joinable()) a.beside.join();
        }
    }
    program_emulator(program_emulator const&) = delete;

    /// Of several cores, the first.
    emulator& on(int agent_at) { return *agents_.at(agent_at).on; }
    emulator const& on(int agent_at) const { return *agents_.at(agent_at).on; }
    /// The cores that share kernels: `cores().run` runs the program's function on all of them.
    /// @throws std::logic_error when the program is for one core
    core_team& cores() {
        if (!team_) throw std::logic_error("the program is for one core");
        return *team_;
    }
    emulator& on(agent const& by) {
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            if (plan_.of->agents[a].name == by.name) return on(a);
        }
        throw std::invalid_argument("the program has no agent `" + by.name.str() + "`");
    }
    program_plan_value const& plan() const { return plan_; }

    /// When engines move data, and when agents run what they are given.
    void use(progress how, std::uint64_t seed = 1) {
        how_ = how;
        random_.seed(seed);
        for (agent_state& a : agents_) a.on->use(how, seed);
        if (team_) team_->use(how, seed);
    }
    /// Where a tensor of the program lies in this process; null for those that the caller passes.
    std::byte* address(int tensor_at) const {
        ir::program_tensor const& t = plan_.tensor_at(tensor_at);
        if (t.passed) return nullptr;
        return base(t.memory, t.bank) + t.offset;
    }
    /// @throws std::invalid_argument when the program has no such tensor
    std::byte* address(any_tensor const& tensor) const {
        int const at = plan_.find_tensor(tensor.name);
        if (at < 0) throw std::invalid_argument("the program has no tensor `" + tensor.name.str() + "`");
        return address(at);
    }
    std::byte* base(int memory_at, int bank = 0) const { return (*banks_.at(memory_at)).at(bank).begin(); }
    /// Fills what the program uses of every memory with a byte, and puts the constants back.
    void fill_memories(std::uint8_t with) {
        for (int at = 0; at < std::ssize(banks_); ++at) {
            auto const used = static_cast<std::size_t>(plan_.pools[at].peak);
            for (guarded_region const& bank : *banks_[at]) std::memset(bank.begin(), with, std::min(bank.size(), used));
        }
        load_constants();
    }
    /// From now on, `executed` tells of the first run after each `reset()`, and emulators keep what they do.
    /// @param kernels  the plan of each kernel: names of buffers stand in what is kept
    void record(std::vector<plan_value> kernels = {}) {
        records_ = true;
        named_ = std::move(kernels);
        for (agent_state& a : agents_) a.on->record();
        if (team_) team_->record();
    }
    /// Kernels and copies as they began; one that cores share is there for each of them.
    std::vector<executed_kernel> const& executed() const { return executed_; }
    /// What ran it.
    emulator const& on(executed_kernel const& one) const {
        int const agent = plan_.kernel_at(one.kernel).agent;
        return plan_.is_of_cores(agent) ? team_->on(one.core) : on(agent);
    }
    /// Cycles of all that has run, agents working side by side.
    std::int64_t cycles() const { return team_ ? team_->cycles() : now_; }
    /// Forgets cycles, counts, errors and records; settings and contents stay.
    void reset() {
        now_ = 0;
        executed_.clear();
        std::fill(next_step_.begin(), next_step_.end(), 0);
        for (agent_state& a : agents_) a.on->reset();
        if (team_) team_->reset();
    }
    /// What the first failed call of any agent wanted.
    std::string error() const {
        if (team_ && !team_->error().empty()) return team_->error();
        for (agent_state const& a : agents_) {
            if (!a.on->error().empty()) return a.on->error();
        }
        return {};
    }

    // What generated code, or a runner of kernels, calls.

    /// Runs a kernel by the caller's core.
    int run(int agent_at, std::function<int()> const& kernel) {
        if (plan_.is_of_cores(agent_at)) {
            emulator& core = running_core(cores().on(0));
            int const noted = begins(core, core.core_cycles(), core.core());
            int const code = kernel();
            ends(noted, core, code);
            return code;
        }
        agent_state& a = agents_[agent_at];
        std::int64_t const before = a.on->cycles();
        int const noted = begins(*a.on, now());
        int const code = kernel();
        ends(noted, *a.on, code);
        go_on_at(agent_at, now() + a.on->cycles() - before);
        return code;
    }
    /// Likewise a kernel of the plan by the cores that share it. @param starts_all  starts them, and ends when all have run it
    int run_on_cores(int kernel_at, std::function<int()> const& starts_all) {
        int const count = is_shared(kernel_at) ? cores().size() : 1;
        ir::list<int> noted;
        for (int core = 0; core < count; ++core) noted.push_back(begins(cores().on(core), cores().on(core).core_cycles(), core));
        int const code = starts_all();
        for (int core = 0; core < count; ++core) ends(noted[core], cores().on(core), code);
        return code;
    }
    /// Begins a kernel beside the caller.
    int start(int agent_at, std::function<int()> kernel) {
        agent_state& a = agents_[agent_at];
        a.began = now();
        a.cycles_before = a.on->cycles();
        a.noted = begins(*a.on, a.began);
        a.given = std::move(kernel);
        a.runs = true;
        bool const now = how_ == progress::earliest || (how_ == progress::random && (random_() & 1) != 0);
        if (how_ == progress::threads) a.beside = std::thread([&a] { a.code = a.given(); });
        else if (now) a.code = a.given(), a.given = nullptr;
        return 0;
    }
    /// Begins a copy by an engine of the caller's machine. The core goes on when it has started the copy. @param completes  waits for it
    int begin(int agent_at, std::function<int()> const& starts, std::function<int()> completes) {
        agent_state& a = agents_[agent_at];
        a.began = now();
        a.cycles_before = a.on->cycles();
        a.noted = begins(*a.on, a.began);
        if (int const code = starts(); code != 0) {
            ends(a.noted, *a.on, code);
            return code;
        }
        go_on_at(agent_at, now() + a.on->core_cycles() - a.cycles_before);
        a.given = std::move(completes);
        a.runs = true;
        return 0;
    }
    /// Waits for the kernel that an agent was given. @return its code
    int join(int agent_at) {
        agent_state& a = agents_[agent_at];
        if (!a.runs) return 0;
        if (a.beside.joinable()) a.beside.join();
        else if (a.given) a.code = a.given();
        a.given = nullptr;
        a.runs = false;
        ends(a.noted, *a.on, a.code);
        go_on_at(agent_at, std::max(now(), a.began + a.on->cycles() - a.cycles_before));
        return a.code;
    }
    /// All cores meet; the calling thread is one of them.
    int meet() { return running_core(cores().on(0)).meet(plan_.cores); }

  private:
    struct agent_state {
        std::unique_ptr<emulator> own;
        emulator* on = nullptr;
        std::thread beside;
        std::function<int()> given;
        int code = 0;
        bool runs = false;
        std::int64_t began = 0, cycles_before = 0;
        int noted = -1;  ///< see `begins`
    };

    /// Notes that the next kernel of the plan begins. @return where; -1: nowhere
    int begins(emulator& by, std::int64_t cycle, int core = 0) {
        if (!records_) return -1;
        std::lock_guard<std::mutex> const lock(noting_);
        int const kernel = next_kernel(core);
        if (kernel < 0) return -1;
        if (kernel < std::ssize(named_)) by.record(named_[static_cast<std::size_t>(kernel)]);
        emulation::work_done const before = by.done();
        executed_.push_back({kernel, core, cycle, before, before});
        return static_cast<int>(executed_.size()) - 1;
    }
    void ends(int noted, emulator const& by, int code) {
        if (noted < 0) return;
        std::lock_guard<std::mutex> const lock(noting_);
        executed_[noted].after = by.done();
        executed_[noted].code = code;
    }
    /// Of kernels on cores: core 0 alone runs one that is not.
    bool is_shared(int kernel_at) const { return plan_.kernel_at(kernel_at).cores > 1; }
    /// Kernels come in the order of the plan's steps; cores other than the first have those that all share. @return -1: all have come
    int next_kernel(int core) {
        for (int& at = next_step_.at(core); at < plan_.steps.size();) {
            ir::program_step const& s = plan_.steps[at++];
            bool const is_first = s.kind == ir::program_step_kind::run || s.kind == ir::program_step_kind::start;
            if (is_first && (core == 0 || is_shared(s.kernel))) return s.kernel;
        }
        return -1;
    }

    /// The caller's clock: of several cores, that of core 0.
    std::int64_t now() const { return team_ ? team_->on(0).core_cycles() : now_; }
    /// The caller goes on when an agent lets it.
    void go_on_at(int agent_at, std::int64_t cycle) {
        now_ = cycle;
        if (team_) team_->on(0).wait_until(cycle, plan_.of->agents[agent_at].name.str());
    }
    /// All cores of the program that see a memory through caches see what the others write there.
    void share_caches(agent_state& made) {
        if (!made.on->caches()) return;
        if (!caches_) caches_ = made.on->caches();
        else if (made.own) made.own->share(caches_);
        else
            for (int core = 0; core < team_->size(); ++core) team_->on(core).share(caches_);
    }
    void load_constants() {
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.kind == ir::tensor_kind::constant)
                std::memcpy(address(at), plan_.of->statement_at(t.statement).data, static_cast<std::size_t>(t.bytes));
        }
    }

    program_plan_value plan_;
    ir::list<std::shared_ptr<emulation::bank_list const>> banks_;
    std::unique_ptr<core_team> team_;  ///< of a program whose kernels several cores share
    ir::list<agent_state> agents_;
    std::shared_ptr<emulation::caches> caches_;  ///< null if no agent has some
    progress how_ = progress::earliest;
    std::mt19937_64 random_;
    std::int64_t now_ = 0;

    bool records_ = false;
    std::vector<plan_value> named_;
    std::mutex noting_;  ///< several cores note at a time
    ir::list<executed_kernel> executed_;
    ir::list<int> next_step_;  ///< of each core
};

/// Whether two plans are of one program: the same kernels in the same order, and the same tensors and buffers in the same places.
inline bool same_program(program_plan_value const& a, program_plan_value const& b) {
    bool same = a.kernels.size() == b.kernels.size() && a.tensors.size() == b.tensors.size() && a.steps.size() == b.steps.size() &&
                a.scratch.size() == b.scratch.size();
    for (int at = 0; same && at < a.steps.size(); ++at) {
        same = a.steps[at].kind == b.steps[at].kind && a.steps[at].kernel == b.steps[at].kernel;
    }
    for (int at = 0; same && at < a.kernels.size(); ++at) same = a.kernel_at(at).name == b.kernel_at(at).name;
    for (int at = 0; same && at < a.tensors.size(); ++at) {
        ir::program_tensor const &left = a.tensor_at(at), &right = b.tensor_at(at);
        same = left.name == right.name && left.memory == right.memory && left.offset == right.offset && left.bytes == right.bytes;
    }
    for (int at = 0; same && at < a.scratch.size(); ++at)
        same = a.scratch_at(at).offset == b.scratch_at(at).offset && a.scratch_at(at).bank == b.scratch_at(at).bank;
    return same;
}

/// The machines that a program of the emulated binding runs on, in every translation unit the same. Found by the program's name, as
/// `shared_emulator` by the machine's.
/// @param semantics  of every agent's machine, in the order of the program's agents
/// @throws std::logic_error when another program of this name is emulated already
inline program_emulator& shared_program(program_plan_value const& plan, semantics_table const* const* semantics) {
    static std::map<std::string, std::unique_ptr<program_emulator>> all;
    std::string const name = plan.of->name.str();
    std::unique_ptr<program_emulator>& shared = all[name];
    if (!shared) {
        std::vector<semantics_table> of_agents;
        for (int a = 0; a < plan.of->agent_count; ++a) of_agents.push_back(*semantics[a]);
        shared = std::make_unique<program_emulator>(plan, of_agents);
    } else if (!same_program(shared->plan(), plan))
        throw std::logic_error("two different programs are called `" + name + "`: give each a name of its own");
    return *shared;
}
/// The same, of a program that the compiler knows.
template <program const& Program>
program_emulator& emulated_program() {
    using agents = std::make_index_sequence<static_cast<std::size_t>(Program.agent_count)>;
    return shared_program(program_plan<Program>, detail::semantics_of_agents<Program>(agents{}).data());
}

}  // namespace tilewright

extern "C" {

[[gnu::used]] inline void* tilewright_emulated_program(tilewright::program_plan_value const* plan,
                                                       tilewright::semantics_table const* const* semantics) {
    return &tilewright::shared_program(*plan, semantics);
}
[[gnu::used]] inline void* tilewright_emulated_agent(void* program, std::int32_t agent) {
    auto& on = *static_cast<tilewright::program_emulator*>(program);
    if (on.plan().is_of_cores(agent)) return &tilewright::running_core(on.cores().on(0));
    return &on.on(agent);
}
[[gnu::used]] inline std::int32_t tilewright_program_run(void* program, std::int32_t agent, int (*kernel)(void*), void* arguments) {
    return static_cast<tilewright::program_emulator*>(program)->run(agent, [=] { return kernel(arguments); });
}
[[gnu::used]] inline std::int32_t tilewright_program_start(void* program, std::int32_t agent, int (*kernel)(void*), void* arguments) {
    return static_cast<tilewright::program_emulator*>(program)->start(agent, [=] { return kernel(arguments); });
}
[[gnu::used]] inline std::int32_t tilewright_program_begin(void* program, std::int32_t agent, int (*starts)(void*), int (*completes)(void*),
                                                           void* arguments) {
    return static_cast<tilewright::program_emulator*>(program)->begin(
        agent, [=] { return starts(arguments); }, [=] { return completes(arguments); });
}
[[gnu::used]] inline std::int32_t tilewright_program_join(void* program, std::int32_t agent) {
    return static_cast<tilewright::program_emulator*>(program)->join(agent);
}
/// All cores meet.
[[gnu::used]] inline std::int32_t tilewright_program_barrier(void* program) {
    return static_cast<tilewright::program_emulator*>(program)->meet();
}
[[gnu::used]] inline void* tilewright_program_memory(void* program, std::int32_t memory, std::int32_t bank) {
    return static_cast<tilewright::program_emulator*>(program)->base(memory, bank);
}

}  // extern "C"
