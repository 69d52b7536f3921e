#pragma once
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tilewright/bring_up/trace_header.hpp>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/program/agent.hpp>
#include <utility>
#include <vector>

// What an emulated machine is asked for, as the calls of C functions that a device would get for it.
namespace tilewright::bring_up {

/// One argument of a call that a device should get.
struct expected_argument {
    std::string name{};      ///< of the parameter
    std::int64_t value = 0;  ///< a number; or bytes from where something begins
    std::string base{};      ///< what begins there, at an address that only the device knows: an argument of the kernel, or a pool
    bool known = true;       ///< data, which the emulator has not been given as the device was
};
struct expected_call {
    std::string symbol{};
    std::vector<expected_argument> arguments{};
    std::string layer{};  ///< kernel or copy of a program; empty: a kernel by itself
};

class call_log {
  public:
    explicit call_log(machine const& where) : call_log(std::vector<machine const*>{&where}) {}
    /// Of a program, whose agents have machines of their own.
    explicit call_log(std::vector<machine const*> const& machines) {
        for (machine const* const where : machines) {
            each_device_function(*where, [&](device_call const& call, std::vector<std::string> const& parameters) {
                auto const [named, is_new] = names_.try_emplace(call.symbol.str());
                if (!is_new) return;
                for (std::string const& one : parameters) named->second.push_back(one.substr(one.find_last_of(" *") + 1));
                named->second.resize(static_cast<std::size_t>(call.count));
            });
        }
    }
    /// Tells of an agent that runs kernels of a program. One that works beside the caller has calls in an order of its own.
    void know(agent const& by) {
        std::string const whose = by.is_aside() ? by.name.str() : "";
        if (!agents_.emplace(by.name.str(), whose).second) return;
        each_device_function(*by.where, [&](device_call const& call, auto const&) { callers_[call.symbol.str()].insert(whose); });
    }
    /// Whose calls those of an agent are: its own; or, where it does not work beside the caller, those of the caller, which is empty.
    /// @throws std::invalid_argument when no such agent runs kernels
    std::string const& whose(std::string const& agent) const {
        auto const found = agents_.find(agent);
        if (found == agents_.end()) throw std::invalid_argument("no agent `" + agent + "` runs kernels");
        return found->second;
    }
    /// Who calls a function: agents beside the caller; empty: the caller.
    std::set<std::string> const& callers(std::string const& symbol) const {
        static std::set<std::string> const the_caller{""};
        auto const found = callers_.find(symbol);
        return found == callers_.end() ? the_caller : found->second;
    }
    std::set<std::string> all_beside() const {
        std::set<std::string> all;
        for (auto const& [name, whose] : agents_) {
            if (!whose.empty()) all.insert(whose);
        }
        return all;
    }
    /// From now on, calls are those of a kernel of a program, which an agent runs; empty: of none.
    void in_layer(std::string const& layer, std::string const& agent) {
        layer_ = layer, agent_ = agent;
        beside_ = agent.empty() ? "" : whose(agent);
    }
    /// Tells where an argument of the kernel lies in this process.
    void know(std::string const& tensor, void const* first, std::int64_t bytes) {
        places_.push_back({tensor, static_cast<std::byte const*>(first), bytes});
    }
    /// Calls of a core of the caller, or of an agent beside it.
    std::vector<expected_call> const& of_core(int number) const { return calls_at({std::string(), number}); }
    std::vector<expected_call> const& of_agent(std::string const& beside) const { return calls_at({beside, 0}); }
    /// Of the caller.
    int cores() const {
        int count = 0;
        for (auto const& [whose, calls] : calls_) count = whose.first.empty() ? std::max(count, whose.second + 1) : count;
        return count;
    }

    // As the emulator is called; each before it.

    void transfer(emulator const& on, int at, void const* source, void const* destination, std::int64_t const* shape) {
        transfer_description const& t = on.what().transfers[at];
        if (passes_values(on.what(), t)) return;  // an instruction of the core
        emulation::transfer_call const call{source, const_cast<void*>(destination), shape};
        std::int64_t elements = call.row();
        for (int d = 1; d <= call.dimensions(); ++d) elements *= call.extent(d);
        each_call(on.what(), t, [&](device_call const& made) {
            add(on, made, [&](call_argument const& a) { return of_transfer(on, t, call, elements * call.destination_size(), a); });
        });
    }
    void intrinsic(emulator const& on, int at, std::int64_t const* operands) {
        intrinsic_description const& i = on.what().intrinsics[at];
        if (passes_values(on.what(), i)) return;
        std::int64_t const* const extents = operands + i.operand_count * emulation::intrinsic_call::words_of_operand;
        each_call(on.what(), i, [&](device_call const& made) {
            add(on, made, [&](call_argument const& a) { return of_intrinsic(on, i, operands, extents, a); });
        });
    }
    void wait(emulator const& on, int lane, std::int64_t value) {
        int const engine_at = on.what().engine_of_lane(lane);
        add(on, wait_call_of(on.what().engines[engine_at]), [&](call_argument const& a) -> expected_argument {
            if (a.is == role::channel) return number(lane - on.what().first_lane(engine_at));
            return number(a.is == role::tag || a.is == role::pending ? value : a.value);
        });
    }
    void configure(emulator const& on, int at, std::int64_t const* values) {
        add(on, set_call_of(on.what().configurations[at]), [&](call_argument const& a) -> expected_argument {
            if (a.is != role::setting) return number(a.value);
            return {{}, values[a.dimension], {}, !is_data(on.what(), on.what().configurations[at].name, a.dimension)};
        });
    }
    void token(emulator const& on, int at, int queue, bool pushes) {
        tokens const& t = on.what().tokens[at];
        add(on, pushes ? push_call_of(t) : pop_call_of(t),
            [&](call_argument const& a) { return number(a.is == role::queue ? queue : a.value); });
    }
    void barrier(emulator const& on) {
        add(on, barrier_call_of(on.what().core_at(on.core())), [&](call_argument const& a) {
            return number(a.is == role::core ? on.core() : a.is == role::status ? 0 : a.value);
        });
    }
    void message(emulator const& on, int peer, int queue, bool sends) {
        core const& of = on.what().core_at(on.core());
        add(on, sends ? signal_call_of(of) : await_call_of(of), [&](call_argument const& a) {
            return number(a.is == role::core ? on.core() : a.is == role::peer ? peer : a.is == role::queue ? queue : a.value);
        });
    }
    void keep_up(emulator const& on, int memory_at, std::uint64_t address, std::int64_t bytes, bool invalidates) {
        core const& of = on.what().core_at(on.core());
        add(on, invalidates ? invalidate_call_of(of) : clean_call_of(of), [&](call_argument const& a) {
            if (a.is == role::source)
                return address_of(on, on.what().memories[memory_at].name,
                                  reinterpret_cast<void const*>(static_cast<std::uintptr_t>(address)), 0);
            return number(a.is == role::core ? on.core() : a.is == role::bytes ? bytes : a.value);
        });
    }

  private:
    std::vector<expected_call> const& calls_at(std::pair<std::string, int> const& whose) const {
        static std::vector<expected_call> const none;
        auto const found = calls_.find(whose);
        return found == calls_.end() ? none : found->second;
    }
    struct place {
        std::string tensor;
        std::byte const* first = nullptr;
        std::int64_t bytes = 0;
    };
    /// Whether a part of the machine sets a value of a configuration to what it reads from memory.
    static bool is_data(machine const& where, ir::label const& configuration_name, int value) {
        for (int at = 0; at < where.settings.size(); ++at) {
            required_setting const& one = where.settings[at];
            if (one.configuration_name == configuration_name && value < one.count && one.values[value].is == role::value) return true;
        }
        return false;
    }
    static expected_argument number(std::int64_t value) { return {{}, value}; }
    static expected_argument in_units(std::int64_t value, call_argument const& a) { return number(a.value > 1 ? value / a.value : value); }

    template <class Argument>
    void add(emulator const& on, device_call const& call, Argument const& argument) {
        expected_call made{call.symbol.str(), {}, layer_};
        std::vector<std::string> const& names = names_.at(made.symbol);
        for (int at = 0; at < call.count; ++at) {
            made.arguments.push_back(argument(call.arguments[at]));
            made.arguments.back().name = names.at(static_cast<std::size_t>(at));
        }
        std::scoped_lock const alone(access_);
        calls_[{beside_, beside_.empty() ? on.core() : 0}].push_back(std::move(made));
    }
    expected_argument of_transfer(emulator const& on, transfer_description const& t, emulation::transfer_call const& call,
                                  std::int64_t bytes, call_argument const& a) const {
        bool const present = a.dimension >= 1 && a.dimension <= call.dimensions();
        switch (a.is) {
            case role::source: return call.source_size() == 0 ? number(0) : address_of(on, t.source, call.source, a.value);
            case role::destination: return address_of(on, t.destination, call.destination, a.value);
            case role::bytes: return in_units(bytes, a);
            case role::row_bytes: return in_units(call.row_bytes(), a);
            case role::element_bytes: return number(call.destination_size());
            case role::extent: return in_units(a.dimension == 0 || present ? call.extent(a.dimension) : 1, a);
            case role::source_stride: return in_units(present ? call.source_stride(a.dimension) : 0, a);
            case role::destination_stride: return in_units(present ? call.destination_stride(a.dimension) : 0, a);
            case role::pad_before: return number(a.dimension == 0 || present ? call.pads(a.dimension)[0] : 0);
            case role::pad_after: return number(a.dimension == 0 || present ? call.pads(a.dimension)[1] : 0);
            case role::pad_value: return number(call.border()[0]);
            case role::tag: return number(call.tag());
            case role::channel: return number(is_dealt_out(on.what(), t) ? call.channel(t.border.is) : 0);
            case role::cores: return number(call.cores(t.border.is, is_dealt_out(on.what(), t)));
            default: return number(a.value);
        }
    }
    expected_argument of_intrinsic(emulator const& on, intrinsic_description const& i, std::int64_t const* operands,
                                   std::int64_t const* extents, call_argument const& a) const {
        std::int64_t const* const operand = operands + std::max<int>(a.operand, 0) * emulation::intrinsic_call::words_of_operand;
        switch (a.is) {
            case role::address:
                return address_of(on, i.operands[a.operand].memory_name,
                                  reinterpret_cast<void const*>(static_cast<std::uintptr_t>(operand[0])), a.value);
            case role::stride: return in_units(operand[2 + a.dimension], a);
            case role::covered: return number(extents[a.dimension]);
            case role::value: return {{}, 0, {}, false};
            default: return number(a.value);
        }
    }
    /// An address of this process, or a number of a row, as the device has it.
    expected_argument address_of(emulator const& on, ir::label const& memory_name, void const* address, std::int64_t flags) const {
        memory const seen = with_room(on.what(), on.what().memories[on.what().memories.find(memory_name)]);
        int const under = memory_under(on.what(), memory_name);
        memory const& m = on.what().memories[under];
        std::int64_t offset = -1;
        int bank = 0;
        if (m.is_numbered()) {
            std::uint64_t const row = reinterpret_cast<std::uintptr_t>(address) & ~m.address_flags;
            for (bank = 0; bank < m.banks; ++bank) {
                std::uint64_t const at = row * static_cast<std::uint64_t>(m.address_unit), first = m.position(bank, 0);
                if (at < first || at >= first + static_cast<std::uint64_t>(m.bank_capacity())) continue;
                offset = static_cast<std::int64_t>(at - first);
                break;
            }
        } else {
            for (bank = 0; bank < m.banks && offset < 0; ++bank) {
                std::byte const* const first = on.base(under, bank);
                auto const* const here = static_cast<std::byte const*>(address);
                if (first != nullptr && here >= first && here < first + m.bank_capacity()) offset = here - first;
            }
            --bank;
        }
        if (offset < 0) {
            for (place const& one : places_) {
                auto const* const here = static_cast<std::byte const*>(address);
                if (here >= one.first && here < one.first + one.bytes) return {{}, here - one.first, one.tensor};
            }
            return {{}, 0, {}, false};
        }
        if (seen.is_numbered()) return number(static_cast<std::int64_t>(seen.number_of(seen.position(bank, offset))) | flags);
        std::uint64_t const of_core = seen.has_core_bases() ? seen.core_offset(on.core()) : 0;
        if (seen.has_address()) return number(static_cast<std::int64_t>(seen.position(bank, offset) + of_core) | flags);
        return {{}, bank * m.bank_capacity() + offset, (m.per_agent ? agent_ + "." : "") + m.name.str()};
    }

    std::map<std::string, std::vector<std::string>> names_;
    std::vector<place> places_;
    std::map<std::pair<std::string, int>, std::vector<expected_call>> calls_;  ///< by agent beside the caller, and core
    std::map<std::string, std::string> agents_;                                ///< whose calls an agent's are
    std::map<std::string, std::set<std::string>> callers_;                     ///< likewise, by function
    std::string layer_, agent_, beside_;
    std::mutex access_;
};

}  // namespace tilewright::bring_up
