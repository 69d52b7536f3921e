#pragma once
#include <set>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/arguments.hpp>
#include <tilewright/c_source/device_parameters.hpp>

// The functions of a machine that generated code calls, and their prototypes.
namespace tilewright::halide::detail {

/// Calls `visit(call, aside)` for every function of a machine; `aside`: it starts or awaits something that touches memory beside the code.
template <class Visit>
void each_function(machine const& where, Visit const& visit) {
    for (int at = 0; at < where.transfers.size(); ++at)
        each_call(where, where.transfers[at], [&](device_call const& call) { visit(call, true); });
    for (int at = 0; at < where.engines.size(); ++at) visit(wait_call_of(where.engines[at]), true);
    for (int kind = 0; kind < where.cores.size() && where.core_count() > 1; ++kind) {
        core const& of = where.cores[kind];
        for (device_call const& call : {barrier_call_of(of), signal_call_of(of), await_call_of(of)}) visit(call, true);
    }
    for (int kind = 0; kind < std::max(where.cores.size(), 1) && where.has_caches(); ++kind) {
        core const& of = where.core_of_kind(kind);
        visit(clean_call_of(of), true), visit(invalidate_call_of(of), true);
    }
    for (int at = 0; at < where.tokens.size(); ++at)
        visit(push_call_of(where.tokens[at]), true), visit(pop_call_of(where.tokens[at]), true);
    for (int at = 0; at < where.configurations.size(); ++at) visit(set_call_of(where.configurations[at]), false);
    for (int at = 0; at < where.intrinsics.size(); ++at)
        each_call(where, where.intrinsics[at], [&](device_call const& call) { visit(call, where.intrinsics[at].is_asynchronous); });
}
/// The name of a kernel's function.
/// @throws std::invalid_argument where it cannot have it
inline void check_kernel_name(machine const& where, std::string const& name) {
    check_function_name(name);
    each_function(where, [&](device_call const& call, bool) {
        if (call.symbol.str() == name)
            throw std::invalid_argument("`" + name + "` is a function of the machine: name the kernel otherwise");
    });
}

/// The parts of its machine that a plan calls, by position there.
struct called_parts {
    std::vector<bool> transfers, intrinsics;
};
inline called_parts called_parts_of(plan_value const& plan) {
    machine const& where = *plan.where;
    called_parts called{std::vector<bool>(static_cast<std::size_t>(where.transfers.size())),
                        std::vector<bool>(static_cast<std::size_t>(where.intrinsics.size()))};
    for (int at = 0; at < plan.movements.size(); ++at) {
        int const which = plan.movements[at].transfer;
        if (which >= 0) called.transfers[static_cast<std::size_t>(which)] = where.transfers[which].core_name.empty();
    }
    for (int at = 0; at < plan.bodies.size(); ++at) {
        body const& b = plan.bodies[at];
        for (int which : {b.intrinsic, b.first_intrinsic}) {
            for (int core = 0; which >= 0 && core < plan.cores; ++core) {
                if (int const own = intrinsic_on(where, which, core); own >= 0) called.intrinsics[static_cast<std::size_t>(own)] = true;
            }
        }
    }
    return called;
}

/// Whether cores wait for each other, so that one that fails must tell the others.
inline bool talks(plan_value const& plan) {
    bool found = plan.messages.size() > 0;
    for (int at = 0; at < plan.steps.size(); ++at) found |= plan.steps[at].kind == step_kind::barrier;
    return found;
}

/// Writes the prototypes of a device's functions.
class c_prototypes {
  public:
    c_prototypes(plan_value const& plan, bool guarded) : plan_(plan), guarded_(guarded) {}

    /// The barrier alone: a program's cores meet between kernels.
    std::vector<std::string> barrier(int cores) {
        add_barriers(cores);
        return list_;
    }
    std::vector<std::string> list() {
        machine const& where = *plan_.where;
        for (int at = 0; at < where.transfers.size(); ++at) {
            if (called_.transfers[static_cast<std::size_t>(at)]) add_transfer(where.transfers[at]);
        }
        for (int at = 0; at < where.configurations.size(); ++at) {
            if (is_set(where.configurations[at])) add_setting(where.configurations[at]);
        }
        for (int at = 0; at < where.engines.size(); ++at) {
            if (plan_.is_busy_aside(at)) add_wait(where.engines[at]);
        }
        for (int at = 0; at < where.tokens.size(); ++at) {
            if (is_passed(at)) add_tokens(where.tokens[at]);
        }
        if (plan_.cores > 1 && talks(plan_)) add_barriers(plan_.cores);
        if (plan_.messages.size() > 0) add_signals();
        each_kind(plan_.cores, [&](core const& of) { add_upkeep(of); });
        for (int at = 0; at < where.intrinsics.size(); ++at) {
            if (called_.intrinsics[static_cast<std::size_t>(at)]) add_intrinsic(where.intrinsics[at]);
        }
        return list_;
    }

  private:
    /// @param argument  `argument(its description, position)`: type and name
    template <class Argument>
    void add(device_call const& call, std::string const& what, Argument const& argument) {
        std::string const line = signature_text(call.symbol.str(), parameters_of_call(call, argument)) + ";";
        if (!written_.insert(line).second) return;
        list_.push_back("/* " + what + " */\n" + (guarded_ ? "#ifndef " + call.symbol.str() + "\n" + line + "\n#endif" : line) + "\n");
    }
    /// Of a function of registers: a header of the user's has its types.
    void add_by_value(std::string const& what, device_call const& call) {
        list_.push_back("/* " + what + ": " + call.symbol.str() + " of the header that defines its registers */\n");
    }

    static std::string literal(int position) { return literal_parameter(position); }
    /// Arguments of a call that is given one value, and maybe a channel.
    static auto value(char const* name) {
        return [name](call_argument const& a, int position) { return value_parameter(a, position, name); };
    }

    void add_transfer(transfer_description const& t) {
        machine const& where = *plan_.where;
        if (passes_values(where, t)) return add_by_value("transfer " + t.name.str(), t.call);
        std::string const to_all = t.is_multicast ? " of each core, at the offset that it has in that of core 0" : "";
        each_call(where, t, [&](device_call const& call) {
            add(call, "transfer " + t.name.str() + ": " + t.source.str() + " to " + t.destination.str() + to_all,
                [&](call_argument const& a, int position) { return transfer_parameter(where, t, a, position); });
        });
    }
    /// Whether a call needs values of a configuration.
    bool is_set(configuration const& c) const {
        machine const& where = *plan_.where;
        bool used = false;
        auto const uses = [&](auto const& part) {
            for (int which = part.settings.first; which < part.settings.first + part.settings.count; ++which)
                used |= where.settings[which].configuration_name == c.name;
        };
        for (int which = 0; which < where.transfers.size(); ++which) {
            if (called_.transfers[static_cast<std::size_t>(which)]) uses(where.transfers[which]);
        }
        for (int which = 0; which < where.intrinsics.size(); ++which) {
            if (called_.intrinsics[static_cast<std::size_t>(which)]) uses(where.intrinsics[which]);
        }
        return used;
    }
    void add_setting(configuration const& c) {
        add(set_call_of(c), "sets " + c.name.str() + " for what is called from now on", setting_parameter);
    }

    void add_wait(engine const& e) {
        bool const tagged = e.completes == completion::by_transfer;
        std::string const of = (e.has_channels() ? "this channel of engine " : "engine ") + e.name.str();
        add(wait_call_of(e),
            "returns when " + std::string(tagged ? "the last job that " + of + " was given with this tag, and all before it, are complete"
                                          : e.completes == completion::by_engine ? "all jobs of " + of + " are complete"
                                                                                 : "at most so many jobs of " + of + " are not complete"),
            value(tagged ? "tag" : "pending"));
    }

    bool is_passed(int tokens_at) const {
        bool passed = false;
        for (int which = 0; which < plan_.links.size(); ++which) passed |= plan_.links[which].tokens == tokens_at;
        return passed;
    }
    void add_tokens(tokens const& t) {
        add(push_call_of(t), "queues a token to " + t.to.str() + " after what " + t.from.str() + " has been given", value("queue"));
        add(pop_call_of(t), "queues a wait for a token of " + t.from.str() + " in front of what " + t.to.str() + " is given next",
            value("queue"));
    }

    template <class Visit>
    void each_kind(int cores, Visit const& visit) const {
        machine const& where = *plan_.where;
        for (int kind = 0; kind <= where.kind_of(cores - 1); ++kind) visit(where.core_of_kind(kind));
    }
    void add_barriers(int cores) {
        each_kind(cores, [&](core const& of) { add_barrier(of, cores); });
    }
    void add_barrier(core const& of, int cores) {
        add(barrier_call_of(of),
            "returns 0 when " + std::to_string(cores) + " cores" + (plan_.where->has_unlike_cores() ? "" : " of " + of.name.str()) +
                " have come with status 0; or the status of one that failed, which comes with it and does not wait",
            [](call_argument const& a, int position) {
                return a.is == role::core ? "int64_t core" : a.is == role::status ? "int64_t status" : literal(position);
            });
    }

    void add_signals() {
        each_kind(plan_.cores, [&](core const& of) { add_signals(of); });
    }
    void add_signals(core const& of) {
        auto const argument = [](call_argument const& a, int position) {
            return a.is == role::core    ? "int64_t core"
                   : a.is == role::peer  ? "int64_t peer"
                   : a.is == role::queue ? "int64_t queue"
                                         : literal(position);
        };
        add(signal_call_of(of), "sends a signal to core `peer`, which then sees what this one has written; returns at once", argument);
        add(await_call_of(of),
            "takes the oldest signal of core `peer` in this queue, when there is one; or returns the status of a core that failed",
            argument);
    }

    void add_upkeep(core const& of) {
        bool cleans = false, invalidates = false;
        for (int at = 0; at < plan_.steps.size(); ++at) {
            cleans |= plan_.steps[at].kind == step_kind::clean;
            invalidates |= plan_.steps[at].kind == step_kind::invalidate;
        }
        if (cleans)
            add(clean_call_of(of), "writes lines of the cache back; when it returns, engines and other cores see them", upkeep_parameter);
        if (invalidates)
            add(invalidate_call_of(of), "writes lines of the cache back that this core has written, and forgets them: it reads them anew",
                upkeep_parameter);
    }

    void add_intrinsic(intrinsic_description const& i) {
        machine const& where = *plan_.where;
        if (passes_values(where, i)) return add_by_value("intrinsic " + i.name.str(), i.call);
        each_call(where, i, [&](device_call const& call) {
            add(call, "intrinsic " + i.name.str() + "; strides in elements",
                [&](call_argument const& a, int position) { return intrinsic_parameter(where, i, a, position); });
        });
    }
    plan_value const& plan_;
    bool guarded_;
    called_parts called_ = called_parts_of(plan_);
    std::set<std::string> written_;
    std::vector<std::string> list_;
};

/// `int mvin(const void *source, void *destination, int64_t bytes);` for every function of the device that the plan calls.
/// @param guarded  each prototype only if its name is no macro: whoever includes the text may define some of them before
inline std::vector<std::string> device_prototype_list(plan_value const& plan, bool guarded = false) {
    return c_prototypes(plan, guarded).list();
}

}  // namespace tilewright::halide::detail
