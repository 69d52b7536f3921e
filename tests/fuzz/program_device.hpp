#pragma once
#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tilewright/c_source/program_source.hpp>
#include <tuple>
#include <vector>

#include "guarded.hpp"

namespace fuzz {

using namespace tilewright;

/// What the C of a program meets on a device: memories of the sizes that its header says, engines that do their jobs when they are started
/// or not before somebody waits for them, and agents that run a kernel when they are given it or when they are joined.
class program_device {
  public:
    struct copy {
        unsigned char* to = nullptr;
        unsigned char const* from = nullptr;
        std::int64_t row_bytes = 0, rows = 1, to_stride = 0, from_stride = 0, channel = 0, tag = 0;

        void carry_out() const {
            for (std::int64_t row = 0; row < rows; ++row)
                std::memcpy(to + row * to_stride, from + row * from_stride, static_cast<std::size_t>(row_bytes));
        }
    };
    static constexpr int failed_call = -9;

    /// @param files  of the program's C
    /// @throws std::runtime_error when a memory cannot have its address
    program_device(program_plan_value const& plan, std::string const& name, halide::file_list const& files)
        : plan_(plan), header_(files.at(0).second), prefix_("#define TILEWRIGHT_" + name + "_") {
        for (int m = 0; m < plan.memories.size(); ++m) {
            memory const& what = plan.memories[m].what;
            std::string const word = plan.memories[m].name.str();
            place& made = places_.emplace_back();
            ir::pool_use const& pool = plan.pools[m];
            if (!pool.used) continue;
            if (what.has_address()) {
                made.kept.resize(static_cast<std::size_t>(what.capacity), 0xa5);
                made.begin = reinterpret_cast<unsigned char*>(what.base);
                if (loaded_.count(what.base) == 0 && mmap(made.begin, made.kept.size(), PROT_READ | PROT_WRITE,
                                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != made.begin)
                    throw std::runtime_error("no memory at the address of " + word);
                loaded_[what.base] = m;
                continue;
            }
            made.block.emplace(static_cast<std::size_t>(defined(word + "_BYTES")), static_cast<std::size_t>(pool.alignment),
                               guarded::side::end);
            made.begin = reinterpret_cast<unsigned char*>(made.block->begin());
            for (auto const& [file, text] : files) {
                if (file == name + "_" + word + ".bin") made.image = text;
            }
        }
    }
    program_device(program_device const&) = delete;
    ~program_device() {
        for (auto const& [base, m] : loaded_) munmap(reinterpret_cast<void*>(base), places_[m].kept.size());
    }

    /// Where the memories are that the program is given, in its order.
    std::vector<void*> given() const {
        std::vector<void*> all;
        for (place const& p : places_) {
            if (p.block) all.push_back(p.begin);
        }
        return all;
    }
    /// Of an input or output, as the header has it.
    unsigned char* address(ir::program_tensor const& t) const { return places_[t.memory].begin + defined(t.name.str() + "_OFFSET"); }
    /// Before a run. @param fails  which call fails, of those that start something, from 1; 0: none
    void prepare(bool late_engines, bool late_agents, std::int64_t fails = 0) {
        late_engines_ = late_engines, late_agents_ = late_agents, fails_ = fails, calls_ = 0;
        for (place& p : places_) {
            if (p.block) std::memset(p.begin, 0xa5, p.block->size());
            if (p.block) std::memcpy(p.begin, p.image.data(), p.image.size());
        }
    }
    /// Calls that start something, since it was prepared.
    std::int64_t calls() const { return calls_; }
    /// What is wrong at the end of a run; empty: nothing.
    std::string fault() const {
        for (auto const& [where, jobs] : jobs_) {
            if (!jobs.empty()) return "jobs are left in flight on " + std::get<0>(where);
        }
        if (!agents_.empty()) return "a kernel is left on " + agents_.begin()->first;
        for (place const& p : places_) {
            if (p.block && !p.block->is_intact()) return "bytes around a memory were written";
        }
        return {};
    }

    // What the functions of the device do.

    int transfer(std::string const& name, copy const& what) {
        if (++calls_ == fails_) return failed_call;
        transfer_description const* of = nullptr;
        engine const* by = nullptr;
        each_machine([&](machine const& m) {
            for (int t = 0; t < m.transfers.size(); ++t) {
                if (m.transfers[t].name != ir::label(name.c_str())) continue;
                of = &m.transfers[t];
                if (!of->engine_name.empty()) by = &m.engines[m.engines.find(of->engine_name)];
            }
        });
        if (of == nullptr) throw std::runtime_error("no transfer is called " + name);
        if (!of->is_asynchronous || !late_engines_) what.carry_out();
        if (!of->is_asynchronous) return 0;
        std::deque<copy>& jobs = jobs_of(*by, what.channel);
        if (static_cast<int>(jobs.size()) == by->depth) complete_first(jobs);
        jobs.push_back(what);
        return 0;
    }
    /// @param until  a tag, or how many jobs may be left
    int wait(std::string const& name, std::int64_t channel, std::int64_t until) {
        each_machine([&](machine const& m) {
            if (m.engines.find(ir::label(name.c_str())) < 0) return;
            engine const& by = m.engines[m.engines.find(ir::label(name.c_str()))];
            std::deque<copy>& jobs = jobs_of(by, channel);
            std::size_t left = jobs.size();
            if (by.completes == completion::by_channel) left = static_cast<std::size_t>(until);
            for (std::size_t at = 0; at < jobs.size() && by.completes == completion::by_transfer; ++at)
                left = jobs[at].tag == until ? jobs.size() - 1 - at : left;
            while (jobs.size() > left) complete_first(jobs);
        });
        return 0;
    }
    int start(std::string const& agent, int (*kernel)(void*), void* arguments) {
        if (++calls_ == fails_) return failed_call;
        if (agents_.count(agent) > 0) throw std::runtime_error(agent + " is given two kernels at a time");
        agents_[agent] = {kernel, arguments, late_agents_ ? 0 : run(agent, kernel, arguments)};
        return 0;
    }
    int join(std::string const& agent) {
        auto const found = agents_.find(agent);
        if (found == agents_.end()) throw std::runtime_error(agent + " is joined without a kernel");
        task const is = found->second;
        int const code = late_agents_ ? run(agent, is.kernel, is.arguments) : is.code;
        agents_.erase(agent);
        return code;
    }

  private:
    /// What the header defines a name as. @throws std::runtime_error when it does not
    std::int64_t defined(std::string const& what) const {
        std::size_t const at = header_.find(prefix_ + what + " ");
        if (at == std::string::npos) throw std::runtime_error("the header does not define " + what);
        return std::stoll(header_.substr(at + prefix_.size() + what.size()));
    }
    struct place {
        unsigned char* begin = nullptr;
        std::optional<guarded::block> block{};  ///< without an address of its own
        std::vector<unsigned char> kept{};      ///< at an address: while the memory of another agent is there
        std::string image{};
    };
    struct task {
        int (*kernel)(void*) = nullptr;
        void* arguments = nullptr;
        int code = 0;
    };

    template <class Visit>
    void each_machine(Visit const& visit) const {
        std::vector<machine const*> seen;
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            machine const* const m = plan_.of->agents[a].where;
            if (std::count(seen.begin(), seen.end(), m) == 0) visit(*m);
            seen.push_back(m);
        }
    }
    std::deque<copy>& jobs_of(engine const& by, std::int64_t channel) {
        return jobs_[{by.name.str(), by.per_agent ? running_ : std::string(), channel}];
    }
    void complete_first(std::deque<copy>& jobs) {
        if (late_engines_) jobs.front().carry_out();
        jobs.pop_front();
    }
    /// Runs a kernel on an agent, with its own memories at their addresses.
    int run(std::string const& name, int (*kernel)(void*), void* arguments) {
        std::string const caller = std::exchange(running_, name);
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            if (plan_.of->agents[a].name != ir::label(name.c_str())) continue;
            for (int m = 0; m < plan_.memories.size(); ++m) {
                if ((plan_.memories[m].agents >> a & 1) != 0) load(m);
            }
        }
        int const code = kernel(arguments);
        running_ = caller;
        return code;
    }
    void load(int m) {
        place& p = places_[m];
        if (p.kept.empty()) return;
        int& there = loaded_[reinterpret_cast<std::uintptr_t>(p.begin)];
        if (there == m) return;
        std::memcpy(places_[there].kept.data(), p.begin, p.kept.size());
        std::memcpy(p.begin, p.kept.data(), p.kept.size());
        there = m;
    }

    program_plan_value const& plan_;
    std::string header_, prefix_;
    std::deque<place> places_;                                                             ///< of memories
    std::map<std::uint64_t, int> loaded_;                                                  ///< which memory is at an address
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::deque<copy>> jobs_;  ///< of engines, agents, channels
    std::map<std::string, task> agents_;                                                   ///< that were given a kernel
    std::string running_;                                                                  ///< the agent; empty: the caller
    bool late_engines_ = false, late_agents_ = false;
    std::int64_t calls_ = 0, fails_ = 0;
};

/// The device that the functions of `device_functions` are of.
inline program_device*& device_in_use() {
    static program_device* one = nullptr;
    return one;
}

/// C that defines every function that a program's header asks of the device, and `NAME_call`, which is given where memories are.
inline std::string device_functions(std::string const& name, std::string const& header, std::size_t memories) {
    std::ostringstream text;
    text << "#include \"" << name << ".h\"\n"
         << "int walk_transfer(const char *, const void *, void *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);\n"
         << "int walk_wait(const char *, int64_t, int64_t);\nint walk_start(const char *, int (*)(void *), void *);\n"
         << "int walk_join(const char *);\nint " << name << "_call(void **at);\nint " << name << "_call(void **at) {\n    const struct "
         << name << "_memories given = {";
    for (std::size_t at = 0; at < memories; ++at) text << (at > 0 ? ", at[" : "at[") << at << "]";
    text << "};\n    return " << name << "(&given);\n}\n";
    std::size_t const provided = header.find("What the device provides");
    std::istringstream lines(provided == std::string::npos ? std::string() : header.substr(provided));
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, 4, "int ") != 0) continue;
        std::size_t const open = line.find('(');
        std::string const symbol = line.substr(4, open - 4), parameters = line.substr(open);
        auto const has = [&](std::string const& word) {
            return parameters.find(" " + word) != std::string::npos || parameters.find("*" + word) != std::string::npos;
        };
        auto const number = [&](std::string const& word, std::string const& other) { return has(word) ? word : other; };
        auto const ends = [&](std::string const& with) {
            return symbol.size() > with.size() && symbol.compare(symbol.size() - with.size(), with.size(), with) == 0;
        };
        auto const before = [&](std::string const& with) { return "(\"" + symbol.substr(0, symbol.size() - with.size()) + "\""; };
        text << line.substr(0, line.size() - 1) << " {\n    return ";
        if (ends("_start")) text << "walk_start" << before("_start") << ", kernel, arguments";
        else if (ends("_join")) text << "walk_join" << before("_join");
        else if (ends("_wait"))
            text << "walk_wait" << before("_wait") << ", " << number("channel", "0") << ", " << number("tag", number("pending", "0"));
        else
            text << "walk_transfer(\"" << symbol << "\", source, destination, " << number("row_bytes", "bytes") << ", "
                 << number("extent_1", "1") << ", " << number("source_stride_1", "0") << ", " << number("destination_stride_1", "0") << ", "
                 << number("channel", "0") << ", " << number("tag", "0");
        text << ");\n}\n";
    }
    return text.str();
}

}  // namespace fuzz

extern "C" {

[[gnu::used]] inline int walk_transfer(char const* name, void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows,
                                       std::int64_t source_stride, std::int64_t destination_stride, std::int64_t channel,
                                       std::int64_t tag) {
    return fuzz::device_in_use()->transfer(name, {static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source),
                                                  row_bytes, rows, destination_stride, source_stride, channel, tag});
}
[[gnu::used]] inline int walk_wait(char const* engine, std::int64_t channel, std::int64_t until) {
    return fuzz::device_in_use()->wait(engine, channel, until);
}
[[gnu::used]] inline int walk_start(char const* agent, int (*kernel)(void*), void* arguments) {
    return fuzz::device_in_use()->start(agent, kernel, arguments);
}
[[gnu::used]] inline int walk_join(char const* agent) { return fuzz::device_in_use()->join(agent); }

}  // extern "C"
