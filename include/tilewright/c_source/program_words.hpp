#pragma once
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/kernel_code.hpp>
#include <tilewright/program/kernel_plans.hpp>

// What the memories, tensors and kernels of a program are called in its C file, and what its function is given.
namespace tilewright::halide::detail {

class c_program_words {
  protected:
    using memory_value = tilewright::memory;

    c_program_words(program_plan_value const& plan, c_source_options const& options) : plan_(plan), options_(options) {}

    bool on_device() const { return options_.to == binding::device; }
    ir::program_memory const& memory_at(int at) const { return plan_.memories[at]; }
    ir::pool_use const& pool_at(int at) const { return plan_.pools[at]; }
    /// Bytes that a program needs of a memory, from its first one; where banks have addresses of their own, of the fullest.
    std::int64_t bytes_of_memory(int memory) const {
        memory_value const& m = memory_at(memory).what;
        std::int64_t bytes = pool_at(memory).peak;
        if (m.has_address()) return bytes;
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.memory == memory && !t.passed) bytes = std::max(bytes, t.bank * m.bank_capacity() + t.offset + t.bytes);
        }
        for (int at = 0; at < plan_.scratch.size(); ++at) {
            ir::program_scratch const& s = plan_.scratch_at(at);
            for (int n = 0; n < s.bank_count && s.memory == memory; ++n)
                bytes = std::max(bytes, (s.bank + n) % m.banks * m.bank_capacity() + s.offset + s.bytes_in_bank);
        }
        return bytes;
    }
    /// Of a tensor, from the first byte of its memory.
    std::int64_t offset_of(ir::program_tensor const& t) const {
        memory_value const& m = memory_at(t.memory).what;
        return static_cast<std::int64_t>(m.position(t.bank, t.offset) - m.position(0, 0));
    }
    std::string const& word_of_memory(int at) const { return memory_words_[static_cast<std::size_t>(at)]; }
    std::string const& word_of_tensor(int at) const { return tensor_words_[static_cast<std::size_t>(at)]; }
    static std::string as_word(label const& name) {
        std::string word = name.str();
        std::replace(word.begin(), word.end(), '.', '_');
        return word;
    }
    std::string const& kernel_name(int at) const { return kernel_words_[static_cast<std::size_t>(at)]; }
    std::string image_name(int memory) const { return options_.name + "_" + word_of_memory(memory); }
    /// Gives every word of the file to one thing: users' tensors and memories first.
    void take_words(std::vector<kernel_build> const& builds) {
        check_function_name(options_.name);
        for (char const* made : {"", "_program", "_places", "_memories", "_failed"}) words_.reserve(options_.name + made);
        auto const reserve = [&](label const& symbol) {
            if (symbol.str() == options_.name)
                throw std::invalid_argument("`" + options_.name + "` is a function of a machine: name the program otherwise");
            words_.reserve(symbol.str());
        };
        for (kernel_build const& made : builds)
            each_function(*made.plan.where, [&](device_call const& call, bool) { reserve(call.symbol); });
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            agent const& one = plan_.of->agents[a];
            if (one.is_aside()) reserve(one.start), reserve(one.join);
        }
        for (int at = 0; at < plan_.memories.size(); ++at)
            memory_words_.push_back(words_.take(as_word(memory_at(at).name), {"_BYTES", "_IMAGE_BYTES"}));
        for (int at = 0; at < plan_.tensors.size(); ++at) tensor_words_.push_back(words_.take(as_word(plan_.tensor_at(at).name)));
        for (int at = 0; at < plan_.memories.size(); ++at) words_.reserve(image_name(at) + "_image");
        for (int at = 0; at < plan_.kernels.size(); ++at)
            kernel_words_.push_back(words_.take(options_.name + "_" + as_word(plan_.kernel_at(at).name),
                                                {"_steps", "_share", "_complete", "_here", "_complete_here", "_machine"}));
        if (plan_.cores > 1) core_ = words_.take("core");
        at_ = words_.take("at"), status_ = words_.take("status"), memories_ = words_.take("memories");
    }
    /// Whether the caller gives the address of a memory, and the program uses it.
    bool is_given(int memory) const { return on_device() && pool_at(memory).used && memory_at(memory).what.is_pool(); }
    /// Whether the program has to know where a memory is: tensors lie there, or kernels are told.
    bool is_addressed(int memory) const {
        bool found = is_given(memory);
        for (int at = 0; at < plan_.tensors.size(); ++at) found |= plan_.tensor_at(at).memory == memory && !plan_.tensor_at(at).passed;
        return found;
    }

    /// Whether the program only reads a memory: its constants are all that is there, and may stay in flash.
    bool is_constant(int memory) const {
        bool constant = pool_at(memory).constants > 0;
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.memory == memory && t.kind != ir::tensor_kind::constant) constant = false;
        }
        for (int at = 0; at < plan_.scratch.size(); ++at) {
            if (plan_.scratch_at(at).memory == memory) constant = false;
        }
        return constant;
    }
    /// "const " of such a memory.
    std::string const_text(int memory) const { return is_constant(memory) ? "const " : ""; }

    std::string tensor_type(ir::program_tensor const& t) const { return c_type(t.type); }
    /// "float[8][500]"
    std::string shape_text(ir::program_tensor const& t) const {
        std::string text = is_half(t.type) ? name_of(t.type) : tensor_type(t);
        for (int d = 0; d < t.rank; ++d) text += "[" + std::to_string(t.extents[d]) + "]";
        return text;
    }
    template <class Visit>
    void each_passed(ir::tensor_kind kind, Visit const& visit) const {
        for (int s = 0; s < plan_.of->statements_size(); ++s) {
            for (int at = 0; at < plan_.tensors.size(); ++at) {
                ir::program_tensor const& t = plan_.tensor_at(at);
                if (t.kind == kind && t.statement == s && t.passed) visit(at, t);
            }
        }
    }
    /// "const float *image", inputs in front of outputs.
    std::vector<std::string> passed_declarations() const {
        std::vector<std::string> all;
        each_passed(ir::tensor_kind::input,
                    [&](int at, ir::program_tensor const& t) { all.push_back("const " + tensor_type(t) + " *" + word_of_tensor(at)); });
        each_passed(ir::tensor_kind::output,
                    [&](int at, ir::program_tensor const& t) { all.push_back(tensor_type(t) + " *" + word_of_tensor(at)); });
        return all;
    }
    bool is_any_given() const {
        bool any = false;
        for (int at = 0; at < plan_.memories.size(); ++at) any |= is_given(at);
        return any;
    }
    /// The number of the core, if there are several; inputs, outputs, and all memories together.
    std::string parameters() const {
        std::string text;
        auto const add = [&](std::string const& one) { text += (text.empty() ? "" : ", ") + one; };
        if (!core_.empty()) add("int32_t " + core_);
        for (std::string const& one : passed_declarations()) add(one);
        if (is_any_given()) add("const struct " + options_.name + "_memories *" + memories_);
        return text.empty() ? "void" : text;
    }

    program_plan_value const& plan_;
    c_source_options options_;
    std::string at_, status_, memories_;  ///< of the entry
    std::string core_;                    ///< likewise, if there are several

  private:
    c_names words_;
    std::vector<std::string> memory_words_, tensor_words_, kernel_words_;
};

}  // namespace tilewright::halide::detail
