#pragma once
#include <deque>
#include <tilewright/c_source/argument_rules.hpp>
#include <tilewright/c_source/program_words.hpp>
#include <tilewright/runtime/entry.h>

// The kernels of a program in C, and their calls with what the plan gives them.
namespace tilewright::halide::detail {

class c_program_kernels : protected c_program_words {
  protected:
    using c_program_words::c_program_words;

    /// Plans the kernels, gives every word of the file to one thing, and writes the kernels.
    void write_kernels() {
        for (int at = 0; at < plan_.kernels.size(); ++at) builds_.push_back(build_kernel(plan_, at));
        take_words(builds_);
        for (int at = 0; at < plan_.kernels.size(); ++at) write_kernel(at);
    }
    /// The kernel whose functions another one has, too: itself, if it is the first of its kind.
    int first_alike(int kernel_at) const { return first_alike_[static_cast<std::size_t>(kernel_at)]; }
    /// What a kernel's function is called.
    std::string const& function_name(int kernel_at) const { return kernel_name(first_alike(kernel_at)); }
    /// Whether it is a copy by an engine, which one function begins and another completes.
    bool copies(int kernel_at) const { return plan_.agent_of(plan_.kernel_at(kernel_at)).is_engine(); }
    /// Whether a struct says where everything is: for calls that others make.
    bool has_places() const {
        bool others = !on_device();
        for (int at = 0; at < plan_.kernels.size(); ++at) others |= plan_.agent_of(plan_.kernel_at(at)).is_aside();
        return others;
    }
    /// "at->act_mem", or "act_mem" where that is a variable.
    std::string placed(std::string const& word) const { return has_places() ? "at->" + word : word; }
    /// A call of a kernel with the arguments that the plan gives it.
    std::string call_text(int kernel_at) const {
        c_kernel_code const& code = code_at(kernel_at);
        bool const planned = is_planned(kernel_at);
        std::map<std::string, std::string> const values = values_of(kernel_at);
        std::string given;
        for (std::string const& word : planned ? code.steps_take : code.signature.parameter_words(build_at(kernel_at).plan))
            given += (given.empty() ? "" : ", ") + values.at(word);
        return function_name(kernel_at) + (planned ? "_steps(" : "(") + given + ")";
    }
    std::string unused_text(int kernel_at) const { return call_text(kernel_at).find("at->") == std::string::npos ? "(void)at;\n    " : ""; }

    c_kernel_code const& code_at(int kernel_at) const { return codes_[static_cast<std::size_t>(kernel_at)]; }

    std::vector<c_kernel_code> codes_;

  private:
    kernel_build const& build_at(int kernel_at) const { return builds_[static_cast<std::size_t>(kernel_at)]; }
    void write_kernel(int at) {
        kernel_build const& made = build_at(at);
        c_source_options const how{kernel_name(at), options_.to, options_.includes};
        bool const planned = is_planned(at);
        if (planned) check_arguments(at);
        called_by const caller = planned ? called_by::plan : called_by::program;
        c_kernel_code& code = codes_.emplace_back(c_kernel_writer(*made.what, made.plan, how, caller).write("static ", copies(at)));
        if (made.plan.cores > 1 && on_device()) {
            for (std::string const& one : c_prototypes(made.plan, true).barrier(plan_.cores)) code.device.push_back(one);
        }
        int const first = kinds_.emplace(kind_text(at), at).first->second;
        first_alike_.push_back(first);
        // Its text is there, and what that needs is asked for.
        if (first != at) code.functions.clear(), code.emulator.clear();
    }
    /// Equal for kernels of an agent whose functions are the same but for the names of what is their own, and so are the comments on them.
    std::string kind_text(int kernel_at) const {
        c_kernel_code const& code = code_at(kernel_at);
        ir::program_kernel const& kernel = plan_.kernel_at(kernel_at);
        std::string directives;
        for (std::string const& one : code.directives) directives += one;
        std::string const text = "/*" + directives + "*/" + code.functions;
        return std::to_string(kernel.agent) + (kernel.is_copy() ? " copies " : " ") + c_unnamed(code.own).of(text);
    }
    /// Whether the plan decides all that a kernel is given: callers of the program pass none of its tensors.
    bool is_planned(int kernel_at) const {
        plan_value const& plan = build_at(kernel_at).plan;
        argument_list const list = arguments_of(plan);
        bool planned = plan.cores == 1;
        for (int at = 0; at < list.tensor_count; ++at)
            planned &= !plan_.tensor_at(use_of(plan_, kernel_at, plan, list.tensors[at]).tensor).passed;
        return planned;
    }
    /// Such a kernel checks nothing when it runs, so its arguments are checked here, by the same function.
    void check_arguments(int kernel_at) const {
        plan_value const& plan = build_at(kernel_at).plan;
        argument_list const list = arguments_of(plan);
        std::deque<std::vector<halide_dimension_t>> shapes;
        std::deque<halide_buffer_t> buffers;
        std::vector<tilewright_argument> rules;
        std::vector<halide_buffer_t*> passed;
        for (int position = 0; position < list.tensor_count; ++position) {
            buffer const& b = plan.buffers[list.tensors[position]];
            ir::program_use const& u = use_of(plan_, kernel_at, plan, list.tensors[position]);
            ir::program_tensor const& t = plan_.tensor_at(u.tensor);
            rules.push_back(rules_of_argument(plan, position));
            std::vector<halide_dimension_t>& shape = shapes.emplace_back();
            for (int d = b.rank - 1; d >= 0; --d)
                shape.emplace_back(rules.back().minimum[d], rules.back().extent[d], static_cast<std::int32_t>(ir::stride_of(t, u, b, d)));
            halide_buffer_t& one = buffers.emplace_back();
            one.host = reinterpret_cast<std::uint8_t*>(some_address(t) +
                                                       static_cast<std::uintptr_t>(ir::first_element(t, u, b) * bytes_of(t.type)));
            one.type = halide_type_t(halide_type_int, rules.back().type_bits);  // a rule says nothing of the code
            one.dimensions = b.rank;
            one.dim = shape.data();
            passed.push_back(&one);
        }
        int code = tilewright_check_arguments(rules.data(), list.tensor_count, passed.data());
        std::vector<pool> const pools = pools_of(plan, on_device());
        for (int at = 0; at < static_cast<int>(pools.size()) && code == 0; ++at) {
            int const here = memory_here(kernel_at, list.pools[at]);
            if (!memory_at(here).what.has_address() && pool_at(here).alignment % pools[static_cast<std::size_t>(at)].alignment != 0)
                code = TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, list.tensor_count + at);
        }
        if (code != 0)
            throw std::logic_error("kernel `" + kernel_name(kernel_at) + "` cannot run on what the plan gives it: code " +
                                   std::to_string(code));
    }
    /// Where a tensor may be: at the address that its memory has; or at any, no better aligned than callers have to have the memory. Far
    /// above all addresses: 0 is one, too, and no pointer for the check.
    std::uintptr_t some_address(ir::program_tensor const& t) const {
        memory_value const& m = memory_at(t.memory).what;
        if (m.has_address()) return static_cast<std::uintptr_t>(m.position(t.bank, t.offset)) + (std::uintptr_t{1} << 60);
        auto const alignment = static_cast<std::uintptr_t>(std::max<std::int64_t>(pool_at(t.memory).alignment, 1));
        auto const which = static_cast<std::uintptr_t>(t.memory * max_banks + t.bank + 1);
        return alignment * ((which << 38) + 1) + static_cast<std::uintptr_t>(t.offset);
    }
    /// What the plan gives a kernel, by the words of its signature.
    std::map<std::string, std::string> values_of(int kernel_at) const {
        kernel_build const& made = build_at(kernel_at);
        c_signature const& signature = code_at(kernel_at).signature;
        std::map<std::string, std::string> values;
        if (!signature.core.empty()) values[signature.core] = placed(core_);
        for (c_argument const& a : signature.tensors) {
            buffer const& b = made.plan.buffers[a.at];
            ir::program_use const& u = use_of(plan_, kernel_at, made.plan, a.at);
            ir::program_tensor const& t = plan_.tensor_at(u.tensor);
            values[a.word] = address_of(u, ir::first_element(t, u, b));
            for (int d = 0; d + 1 < b.rank; ++d) values[a.strides[static_cast<std::size_t>(d)]] = std::to_string(ir::stride_of(t, u, b, d));
        }
        for (std::size_t at = 0; at < signature.pools.size(); ++at) {
            auto const& [memory, word] = signature.pools[at];
            int const here = memory_here(kernel_at, memory);
            std::int64_t const first = code_at(kernel_at).pools[at].first;
            values[word] = placed(word_of_memory(here)) + (memory_at(here).what.banks > 1 ? "[0]" : "") +
                           (first == 0 ? "" : " + " + std::to_string(first));
        }
        return values;
    }
    /// A memory of a kernel's machine, among those of the program.
    int memory_here(int kernel_at, int memory_of_kernel) const {
        return plan_.memory_of(plan_.kernel_at(kernel_at).agent, build_at(kernel_at).plan.where->memories[memory_of_kernel].name);
    }
    /// "(const float *)(at->act_mem + 4096)"
    std::string address_of(ir::program_use const& u, std::int64_t first) const {
        ir::program_tensor const& t = plan_.tensor_at(u.tensor);
        std::string const element = (u.written ? "" : "const ") + tensor_type(t) + " *";
        if (t.passed)
            return (t.kind == ir::tensor_kind::input ? "" : "(" + element + ")") + placed(word_of_tensor(u.tensor)) +
                   (first == 0 ? "" : " + " + std::to_string(first));
        std::int64_t const offset = t.offset + first * bytes_of(t.type);
        std::string const memory = placed(word_of_memory(t.memory)) + bank_text(t);
        return "(" + element + ")" + (offset == 0 ? memory : "(" + memory + " + " + std::to_string(offset) + ")");
    }
    std::string bank_text(ir::program_tensor const& t) const {
        return memory_at(t.memory).what.banks > 1 ? "[" + std::to_string(t.bank) + "]" : "";
    }

    std::vector<kernel_build> builds_;
    std::map<std::string, int> kinds_;  ///< the first kernel of each
    std::vector<int> first_alike_;
};

}  // namespace tilewright::halide::detail
