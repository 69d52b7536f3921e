#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/argument_rules.hpp>
#include <tilewright/c_source/binding_header.hpp>
#include <utility>

// NAME_entry.c of a kernel that is an object: the function that callers call. It checks the arguments, then runs the object.
namespace tilewright::halide::detail {

/// Writes the entry: a table of what arguments must be, and the function that compares them with it.
class binding_entry {
  public:
    explicit binding_entry(kernel_variants const& kernel)
        : kernel_(kernel), plan_(kernel.plan()), name_(kernel.name), device_(kernel.device), names_(plan_, name_, device_) {}

    std::string text() {
        text_ << "/* Entry of kernel " << name_ << ": checks what it is given, then runs it. Written by its binding tool. */\n"
              << "#include \"" << name_ << ".h\"\n"
              << (plan_.run_time_extents > 0 ? "#include <string.h>\n" : "")
              << (kernel_.asks ? "#include <tilewright/runtime/processor.h>\n\n" : "\n");
        for (variant const& one : kernel_.variants)
            text_ << "int " << one.function << "("
                  << parameter_list(plan_, words_,
                                    {.result = kept_ != nullptr ? "struct halide_buffer_t *" + result_ : "", .pool = "uint64_t "})
                  << ");\n";
        if (device_)
            text_ << "\n/* Nothing, but where it stands the compiler does not mix memory accesses. */\n__attribute__((weak)) int "
                     "tilewright_fence(void) { return 0; }\n";
        if (kept_ != nullptr && !device_) text_ << "void *" << name_ << "_result(void);\n";
        if (!passed_.empty()) add_table();
        if (kernel_.asks) add_choice();
        add_variant_function();
        text_ << "\nint " << name_ << "(" << parameter_list(plan_, words_) << ") {\n";
        if (kernel_.asks) check_processor();
        check_pools();
        if (!passed_.empty()) check_tensors();
        if (kept_ != nullptr) describe_result();
        run();
        text_ << "}\n";
        return text_.str();
    }

  private:
    /// Asks the processor once. Several threads may do so at the same time: all of them find the same.
    void add_choice() {
        text_ << "\n";
        for (variant const& one : kernel_.variants)
            text_ << "const struct halide_filter_metadata_t *" << one.function << "_metadata(void);\n";
        text_ << "\n/* 1 + the number of the variant that this processor runs; -1: it can run none; 0: it has not been asked yet. */\n"
              << "static int " << name_ << "_chosen;\nstatic int " << name_ << "_choose(void) {\n    int number = -1;\n";
        for (std::size_t at = 0; at < kernel_.variants.size(); ++at) {
            variant const& one = kernel_.variants[at];
            text_ << "    " << (at > 0 ? "else " : "") << "if (tilewright_can_run(" << one.function << "_metadata()->target)"
                  << (one.instructions.empty() ? "" : " && tilewright_has(\"" + one.instructions + "\")") << ") number = " << at + 1
                  << ";\n";
        }
        text_ << "    __atomic_store_n(&" << name_ << "_chosen, number, __ATOMIC_RELAXED);\n    return number;\n}\n";
    }
    void add_variant_function() {
        text_ << "const char *" << name_ << "_variant(void) {\n";
        auto const text_of = [](variant const& one) { return "\"" + one.schedule + ", " + one.target + "\""; };
        if (!kernel_.asks) {
            text_ << "    return " << text_of(kernel_.variants[0]) << ";\n}\n";
            return;
        }
        text_ << "    static const char *const variants[] = {";
        for (std::size_t at = 0; at < kernel_.variants.size(); ++at) text_ << (at > 0 ? ", " : "") << text_of(kernel_.variants[at]);
        text_ << "};\n    const int number = " << name_ << "_choose();\n    return number > 0 ? variants[number - 1] : NULL;\n}\n";
    }
    void check_processor() {
        text_ << "    int " << number_ << " = __atomic_load_n(&" << name_ << "_chosen, __ATOMIC_RELAXED);\n    if (" << number_
              << " <= 0 && (" << number_ << " = " << name_
              << "_choose()) < 0) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_PROCESSOR, 0);\n";
    }
    void run() {
        std::string const given = parameter_list(
            plan_, words_, {.types = false, .result = kept_ != nullptr ? "&" + result_ : "", .pool = "(uint64_t)(uintptr_t)"});
        std::size_t const last = kernel_.variants.size() - 1;
        for (std::size_t at = 0; at < last; ++at)
            text_ << "    if (" << number_ << " == " << at + 1 << ") return " << kernel_.variants[at].function << "(" << given << ");\n";
        text_ << "    return " << kernel_.variants[last].function << "(" << given << ");\n";
    }
    static char const* type_code(scalar_type type) {
        if (is_float(type)) return "halide_type_float";
        return is_unsigned(as_generated(type)) || type == scalar_type::boolean ? "halide_type_uint" : "halide_type_int";
    }
    template <class Values>
    void add_numbers(Values const& values, int count) {
        text_ << "{";
        for (int at = 0; at < (count > 0 ? count : 1); ++at) text_ << (at > 0 ? ", " : "") << (count > 0 ? values[at] : 0);
        text_ << "}";
    }
    void add_table() {
        text_ << "\nstatic const struct tilewright_argument " << (plan_.run_time_extents > 0 ? at_least_ : arguments_) << "[] = {\n";
        for (std::size_t at = 0; at < passed_.size(); ++at) {
            tilewright_argument const rules = rules_of_argument(plan_, static_cast<int>(at));
            text_ << "    /* " << passed_[at].tensor.str() << " */ {" << type_code(passed_[at].type) << ", " << int{rules.type_bits} << ", "
                  << rules.rank << ", " << rules.written << ", ";
            add_numbers(rules.minimum, rules.rank);
            text_ << ", ";
            add_numbers(rules.extent, rules.rank);
            text_ << ", " << rules.dense_from << ", ";
            add_numbers(rules.stride_multiple, rules.rank);
            text_ << ", ";
            add_numbers(rules.longest_stride, rules.rank);
            text_ << ", " << rules.alignment << ", " << rules.exact << ", " << rules.may_be_result << "},\n";
        }
        text_ << "};\n";
    }
    void check_pools() {
        std::size_t position = passed_.size();
        std::vector<pool> const& pools = kernel_.pools;
        for (std::size_t at = 0; at < pools.size(); ++at) {
            text_ << "    if (" << words_.pools[at] << " == NULL) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, " << position
                  << ");\n"
                  << "    if ((uintptr_t)" << words_.pools[at] << " % " << pools[at].alignment
                  << " != 0) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, " << position << ");\n";
            ++position;
        }
    }
    void check_tensors() {
        text_ << "    struct halide_buffer_t *" << given_ << "[] = {";
        for (std::size_t at = 0; at < passed_.size(); ++at) text_ << (at > 0 ? ", " : "") << words_.tensors[at];
        text_ << "};\n";
        if (plan_.run_time_extents > 0) read_extents();
        text_ << "    const int " << code_ << " = tilewright_check_arguments(" << arguments_ << ", " << passed_.size() << ", " << given_
              << ");\n    if (" << code_ << " != 0) return " << code_ << ";\n";
    }
    std::string error(char const* kind, int buffer_at) const {
        return "return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_" + std::string(kind) + ", " + std::to_string(position_of(plan_, buffer_at)) +
               ");\n";
    }
    /// Reads the extents that are left to run time, and makes of what the arguments have to be at least what they have to be at them.
    void read_extents() {
        text_ << "    struct tilewright_argument " << arguments_ << "[sizeof " << at_least_ << " / sizeof " << at_least_ << "[0]];\n";
        for (int at = 0; at < plan_.variables.size(); ++at) {
            variable const& v = plan_.variables[at];
            if (v.kind == variable_kind::count) text_ << count_text(plan_, words_, at);
            if (v.kind == variable_kind::extent) read_extent(at, shape_of_extent(plan_, at, true));
        }
        text_ << step_checks_text(plan_, words_, [&](char const* kind, int buffer_at) { return error(kind, buffer_at); });
        text_ << "    memcpy(" << arguments_ << ", " << at_least_ << ", sizeof " << at_least_ << ");\n";
        for (int at = 0; at < plan_.shapes.size(); ++at) {
            shape const& one = plan_.shapes[at];
            std::int64_t const minimum = plan_.buffers[one.buffer].minimum[one.dimension];
            text_ << "    if (tilewright_reach(&" << arguments_ << "[" << position_of(plan_, one.buffer) << "].extent[" << one.dimension
                  << "], " << number_text(plan_, words_, one.end) << " - " << minimum << ")) " << error("WRONG_EXTENT", one.buffer);
        }
    }
    void read_extent(int variable_at, shape const& from) {
        buffer const& b = plan_.buffers[from.buffer];
        std::string const tensor = words_.tensors[static_cast<std::size_t>(position_of(plan_, from.buffer))],
                          extent = words_.number(variable_at);
        text_ << "    if (" << tensor << " == NULL || " << tensor << "->dim == NULL) " << error("NULL_BUFFER", from.buffer) << "    if ("
              << tensor << "->dimensions != " << b.rank << ") " << error("WRONG_RANK", from.buffer) << "    const int64_t " << extent
              << " = " << tensor << "->dim[" << b.rank - 1 - from.dimension << "].extent;\n    if (" << extent << " < 1 || " << extent
              << " > " << plan_.variables[variable_at].extent << ") " << error("RUN_TIME_EXTENT", from.buffer);
    }

    /// A descriptor of a result that stays in a memory of the machine.
    void describe_result() {
        text_ << "    struct halide_dimension_t " << dim_ << "[] = {";
        for (int d = kept_->rank - 1; d >= 0; --d)
            text_ << "{0, " << extent_of_result(d) << ", " << kept_->stride(d) << ", 0}" << (d > 0 ? ", " : "");
        if (kept_->rank == 0) text_ << "{0, 1, 1, 0}";
        text_ << "};\n    struct halide_buffer_t " << result_ << " = {0};\n    " << result_ << ".host = (uint8_t *)" << address_of_result()
              << ";\n    " << result_ << ".type.code = " << type_code(kept_->type) << ";\n    " << result_
              << ".type.bits = " << type_bits(kept_->type) << ";\n    " << result_ << ".type.lanes = 1;\n    " << result_
              << ".dimensions = " << kept_->rank << ";\n    " << result_ << ".dim = " << dim_ << ";\n";
    }
    std::string address_of_result() const {
        if (!device_) return name_ + "_result()";
        memory const& m = plan_.where->memories[kept_->memory];
        // Code does not touch a memory whose addresses are numbers: Halide wants a pointer that is not null, and leaves it alone.
        if (m.is_numbered()) return "(uintptr_t)1u";
        if (m.is_pool()) return word_of_pool(plan_, words_, kept_->memory) + " + " + std::to_string(kept_->offset);
        std::ostringstream address;
        address << "(uintptr_t)0x" << std::hex << m.base + static_cast<std::uint64_t>(kept_->offset) << "u";
        return address.str();
    }
    std::string extent_of_result(int dimension) const {
        stage_axis const& a = plan_.stages[plan_.stages.size() - 1].axes[dimension];
        for (int at = 0; at < plan_.variables.size() && a.run_time; ++at) {
            variable const& v = plan_.variables[at];
            if (v.kind == variable_kind::extent && v.name == a.name) return "(int32_t)" + words_.number(at);
        }
        return std::to_string(kept_->extents[dimension]);
    }

    kernel_variants const& kernel_;
    plan_value const& plan_;
    std::string name_;
    bool device_;
    std::vector<buffer> passed_ = passed_buffers(plan_);
    buffer const* kept_ = kept_result(plan_);
    entry_words names_;
    argument_words const& words_ = names_.arguments;
    std::string arguments_ = names_.names.take("arguments");  ///< what arguments have to be
    std::string at_least_ = names_.names.take("at_least");    ///< likewise whatever the extents are that are left to run time
    std::string given_ = names_.names.take("given"), code_ = names_.names.take("code"), dim_ = names_.names.take("dim"),
                result_ = names_.names.take("result"), number_ = names_.names.take("number");
    std::ostringstream text_;
};

inline std::string entry_text(kernel_variants const& kernel) { return binding_entry(kernel).text(); }

}  // namespace tilewright::halide::detail
