#pragma once
#include <sstream>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/program_kernels.hpp>
#include <tilewright/runtime/argument_error.h>

// The function of a program: it checks what it is given, knows where everything is, and runs the steps.
namespace tilewright::halide::detail {

class c_program_entry : protected c_program_kernels {
  protected:
    using c_program_kernels::c_program_kernels;

    std::string places_text() const {
        std::string text = core_.empty() ? "" : "    int32_t " + core_ + ";\n";
        for (std::string const& one : passed_declarations()) text += "    " + one + ";\n";
        for (int at = 0; at < plan_.memories.size(); ++at) {
            int const banks = memory_at(at).what.banks;
            if (is_addressed(at))
                text += "    " + const_text(at) + "unsigned char *" + word_of_memory(at) +
                        (banks > 1 ? "[" + std::to_string(banks) + "]" : "") + ";\n";
        }
        return text.empty() ? no_places : text;
    }
    /// Where functions of the device may be inline: no access to memory moves across one that begins or joins a kernel on an agent.
    bool is_fenced(ir::program_step const& s) const {
        if (!on_device() || options_.includes.empty() || s.kind == ir::program_step_kind::run) return false;
        return s.kind == ir::program_step_kind::barrier || plan_.agent_of(plan_.kernel_at(s.kernel)).is_aside();
    }
    /// What a core does that has failed: the others stop, too.
    std::string failing_text() const {
        if (plan_.cores == 1 || !on_device()) return "";
        return "static int " + options_.name + "_failed(int32_t " + core_ + ", int " + status_ + ") {\n    (void)" +
               barrier_text(plan_.machine_of_cores(), plan_.cores, core_, status_) + "; /* the other cores stop, too */\n    return " +
               status_ + ";\n}\n";
    }
    std::string entry_text() const { return checks_text() + (has_places() ? bound_places_text() : variables_text()) + steps_text(); }

  private:
    static constexpr char const* no_places = "    int nothing;\n";

    /// Refuses what the program cannot run on.
    std::string checks_text() const {
        std::ostringstream text;
        if (!core_.empty())
            text << "    if (" << core_ << " < 0 || " << core_ << " >= " << plan_.cores << ") return "
                 << TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_CORE, 0) << "; /* no such core */\n";
        int position = 0;
        auto const refuse = [&](std::string const& condition, int kind, char const* what) {
            text << "    if (" << condition << ") return " << told_to_all(std::to_string(TILEWRIGHT_ARGUMENT_ERROR(kind, position)))
                 << "; /* " << what << " */\n";
        };
        auto const check = [&](std::string const& word, std::int64_t alignment, char const* missing) {
            refuse(word + " == NULL", TILEWRIGHT_NULL_HOST, missing);
            if (alignment > 1)
                refuse("(uintptr_t)" + word + " % " + std::to_string(alignment) + " != 0", TILEWRIGHT_MISALIGNED, "not aligned");
            ++position;
        };
        auto const check_tensor = [&](int at, ir::program_tensor const& t) { check(word_of_tensor(at), t.alignment, "no data"); };
        each_passed(ir::tensor_kind::input, check_tensor);
        each_passed(ir::tensor_kind::output, check_tensor);
        if (is_any_given()) refuse(memories_ + " == NULL", TILEWRIGHT_NULL_HOST, "no memories");
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (is_given(at)) check(memories_ + "->" + word_of_memory(at), pool_at(at).alignment, "no memory");
        }
        return text.str();
    }
    /// Where everything is, at the addresses that the function is given.
    std::string bound_places_text() const {
        std::ostringstream text;
        text << "    struct " << options_.name << "_places " << at_ << ";\n"
             << (places_text() == no_places ? "    " + at_ + ".nothing = 0;\n" : "");
        if (!core_.empty()) text << "    " << at_ << "." << core_ << " = " << core_ << ";\n";
        auto const place = [&](int at, ir::program_tensor const&) {
            text << "    " << at_ << "." << word_of_tensor(at) << " = " << word_of_tensor(at) << ";\n";
        };
        each_passed(ir::tensor_kind::input, place);
        each_passed(ir::tensor_kind::output, place);
        for (int at = 0; at < plan_.memories.size(); ++at) {
            int const banks = memory_at(at).what.banks;
            for (int bank = 0; bank < banks && is_addressed(at); ++bank)
                text << "    " << at_ << "." << word_of_memory(at) << (banks > 1 ? "[" + std::to_string(bank) + "]" : "") << " = "
                     << address_of_bank(at, bank) << ";\n";
        }
        return text.str();
    }
    /// Likewise as variables.
    std::string variables_text() const {
        std::string calls, text;
        for (int at = 0; at < plan_.kernels.size(); ++at) calls += call_text(at);
        for (int at = 0; at < plan_.memories.size(); ++at) {
            int const banks = memory_at(at).what.banks;
            if (!is_addressed(at) || !has_word(calls, word_of_memory(at))) continue;
            std::string addresses = address_of_bank(at, 0);
            for (int bank = 1; bank < banks; ++bank) addresses += ", " + address_of_bank(at, bank);
            text += "    " + const_text(at) + "unsigned char *const " + word_of_memory(at) +
                    (banks > 1 ? "[" + std::to_string(banks) + "] = {" + addresses + "}" : " = " + addresses) + ";\n";
        }
        return text;
    }
    /// The steps, each with a way out that leaves nothing under way.
    std::string steps_text() const {
        std::ostringstream text;
        text << "    int " << status_ << " = 0;\n";
        std::map<int, std::int16_t> running;  // of each agent, the kernel
        for (int at = 0; at < plan_.steps.size(); ++at) {
            ir::program_step const& s = plan_.steps[at];
            bool const meets = s.kind == ir::program_step_kind::barrier;
            if (s.kind == ir::program_step_kind::join) running.erase(plan_.kernel_at(s.kernel).agent);
            text << "    /* " << (meets ? "all cores meet" : said_of(s)) << " */\n"
                 << fenced("    " + (is_of_core_0(s) ? if_core_0() : ""), status_ + " = ", s);
            std::string const returned = meets ? status_ : told_to_all(status_);
            if (running.empty()) {
                text << "    if (" << status_ << " != 0) return " << returned << ";\n";
            } else {
                // Nothing is under way when the caller has the code.
                text << "    if (" << status_ << " != 0) {\n";
                for (auto const& [agent, kernel] : running)
                    text << fenced("        " + (plan_.cores > 1 ? if_core_0() : ""), "(void)", {ir::program_step_kind::join, kernel});
                text << "        return " << returned << ";\n    }\n";
            }
            if (s.kind == ir::program_step_kind::start) running[plan_.kernel_at(s.kernel).agent] = s.kernel;
        }
        text << "    return 0;\n";
        return text.str();
    }
    /// A code that one of several cores returns; the others learn of it.
    std::string told_to_all(std::string const& code) const {
        return plan_.cores > 1 && on_device() ? options_.name + "_failed(" + core_ + ", " + code + ")" : code;
    }
    /// Of a program that several cores run, what they do not share is for core 0.
    bool is_of_core_0(ir::program_step const& s) const {
        return plan_.cores > 1 && s.kind != ir::program_step_kind::barrier && plan_.kernel_at(s.kernel).cores == 1;
    }
    std::string if_core_0() const { return "if (" + core_ + " == 0) "; }
    /// "start conv on npu"; a kernel of cores names no agent, but core 0 where it runs it alone.
    std::string said_of(ir::program_step const& s) const {
        constexpr char const* steps[] = {"", "start ", "join "};
        ir::program_kernel const& k = plan_.kernel_at(s.kernel);
        std::string const said = steps[static_cast<int>(s.kind)] + k.name.str();
        if (!plan_.is_of_cores(k.agent)) return said + " on " + plan_.agent_of(k).name.str();
        return said + (is_of_core_0(s) ? ", on core 0" : "");
    }
    std::string address_of_bank(int memory, int bank) const {
        memory_value const& m = memory_at(memory).what;
        std::string const cast = "(" + const_text(memory) + "unsigned char *)";
        if (!on_device())
            return cast + "tilewright_program_memory(" + options_.name + "_program(), " + std::to_string(memory) + ", " +
                   std::to_string(bank) + ")";
        if (m.is_pool())
            return cast + memories_ + "->" + word_of_memory(memory) + (bank == 0 ? "" : " + " + std::to_string(bank * m.bank_capacity()));
        std::ostringstream text;
        text << cast << "(uintptr_t)0x" << std::hex << m.bank_base(bank) << "u";
        return text.str();
    }
    std::string fenced(std::string const& indent, std::string const& head, ir::program_step const& s) const {
        std::string const fence = is_fenced(s) ? indent + "TILEWRIGHT_FENCE();\n" : "";
        return fence + indent + head + step_text(s) + ";\n" + fence;
    }
    /// The call that carries out a step.
    std::string step_text(ir::program_step const& s) const {
        using enum ir::program_step_kind;
        if (s.kind == barrier && on_device()) return barrier_text(plan_.machine_of_cores(), plan_.cores, core_, c_integer(0, 64));
        if (s.kind == barrier) return "tilewright_program_barrier(" + options_.name + "_program())";
        agent const& on = plan_.agent_of(plan_.kernel_at(s.kernel));
        std::string const name = kernel_name(s.kernel), kernel = name + "_here";
        if (on_device() && s.kind == join) return on.is_engine() ? function_name(s.kernel) + "_complete()" : on.join.str() + "()";
        if (!has_places()) return call_text(s.kernel);
        if (on_device())
            return s.kind == start && on.is_aside() ? on.start.str() + "(" + kernel + ", &" + at_ + ")" : kernel + "(&" + at_ + ")";
        std::string const agent = "(" + options_.name + "_program(), " + std::to_string(plan_.kernel_at(s.kernel).agent);
        if (s.kind == join) return "tilewright_program_join" + agent + ")";
        if (s.kind == start && on.is_engine())
            return "tilewright_program_begin" + agent + ", " + kernel + ", " + name + "_complete_here, &" + at_ + ")";
        return (s.kind == run ? "tilewright_program_run" : "tilewright_program_start") + agent + ", " + kernel + ", &" + at_ + ")";
    }
};

}  // namespace tilewright::halide::detail
