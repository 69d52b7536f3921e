#pragma once
#include <tilewright/c_source/program_words.hpp>

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
    int first_alike(int kernel_at) const { return first_alike_[kernel_at]; }
    /// What a kernel's function is called.
    std::string const& function_name(int kernel_at) const { return kernel_name(first_alike(kernel_at)); }
    /// Whether it is a copy by an engine, which one function begins and another completes.
    bool copies(int kernel_at) const { return plan_.agent_of(plan_.kernel_at(kernel_at)).is_engine(); }
    /// A call of a kernel with the arguments that the plan gives it.
    std::string call_text(int kernel_at) const {
        kernel_build const& made = builds_[kernel_at];
        c_signature const& signature = codes_[kernel_at].signature;
        std::string inputs = codes_[kernel_at].cores > 1 ? "at->" + core_ : std::string(), result;
        for (c_argument const& a : signature.tensors) {
            buffer const& b = made.plan.buffers[a.at];
            ir::program_use const& u = use_of(plan_, kernel_at, made.plan, a.at);
            ir::program_tensor const& t = plan_.tensor_at(u.tensor);
            std::string text = address_of(u, ir::first_element(t, u, b));
            for (int d = 0; d + 1 < b.rank; ++d) text += ", " + std::to_string(ir::stride_of(t, u, b, d));
            (b.written ? result : inputs) += (b.written || inputs.empty() ? "" : ", ") + text;
        }
        for (std::size_t at = 0; at < signature.pools.size(); ++at) {
            int const memory = signature.pools[at].first;
            int const here = plan_.memory_of(plan_.kernel_at(kernel_at).agent, made.plan.where->memories[memory].name);
            std::int64_t const first = codes_[kernel_at].pools[at].first;
            inputs += (inputs.empty() ? "" : ", ") + ("at->" + word_of_memory(here)) + (memory_at(here).what.banks > 1 ? "[0]" : "") +
                      (first == 0 ? "" : " + " + std::to_string(first));
        }
        return function_name(kernel_at) + "(" + inputs + (inputs.empty() || result.empty() ? "" : ", ") + result + ")";
    }
    std::string unused_text(int kernel_at) const { return call_text(kernel_at).find("at->") == std::string::npos ? "(void)at;\n    " : ""; }

    std::vector<c_kernel_code> codes_;

  private:
    void write_kernel(int at) {
        kernel_build const& made = builds_[at];
        c_source_options const how{kernel_name(at), options_.to, options_.includes};
        c_kernel_code& code = codes_.emplace_back(c_kernel_writer(*made.what, made.plan, how, true).write("static ", copies(at)));
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
        c_kernel_code const& code = codes_[kernel_at];
        ir::program_kernel const& kernel = plan_.kernel_at(kernel_at);
        std::string const text = "/*" + code.directives + "*/" + code.functions;
        return std::to_string(kernel.agent) + (kernel.is_copy() ? " copies " : " ") + c_unnamed(code.own).of(text);
    }
    /// "(const float *)(at->act_mem + 4096)"
    std::string address_of(ir::program_use const& u, std::int64_t first) const {
        ir::program_tensor const& t = plan_.tensor_at(u.tensor);
        std::string const element = (u.written ? "" : "const ") + tensor_type(t) + " *";
        if (t.passed)
            return (t.kind == ir::tensor_kind::input ? "" : "(" + element + ")") + ("at->" + word_of_tensor(u.tensor)) +
                   (first == 0 ? "" : " + " + std::to_string(first));
        std::int64_t const offset = t.offset + first * bytes_of(t.type);
        return "(" + element + ")(at->" + word_of_memory(t.memory) + bank_text(t) + " + " + std::to_string(offset) + ")";
    }
    std::string bank_text(ir::program_tensor const& t) const {
        return memory_at(t.memory).what.banks > 1 ? "[" + std::to_string(t.bank) + "]" : "";
    }

    std::vector<kernel_build> builds_;
    std::map<std::string, int> kinds_;  ///< the first kernel of each
    std::vector<int> first_alike_;
};

}  // namespace tilewright::halide::detail
