#pragma once
#include <sstream>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/device_functions.hpp>
#include <tilewright/c_source/variants.hpp>

// NAME.h of a kernel that is an object: its arguments are descriptors of Halide's.
namespace tilewright::halide::detail {

/// The words of a kernel's header and entry.
struct entry_words {
    c_names names;
    argument_words arguments;

    entry_words(plan_value const& plan, std::string const& name, bool device) {
        for (char const* made : {"", "_unchecked", "_result", "_variant", "_chosen", "_choose"}) names.reserve(name + made);
        arguments = words_of_arguments(plan, names, device);
    }
};

/// How a list of a kernel's arguments is written.
struct parameter_form {
    bool types = true;            ///< of parameters; without, as arguments of a call
    std::string result{};         ///< what stands for a result that is kept
    std::string pool = "void *";  ///< in front of the names of pools
};
inline std::string parameter_list(plan_value const& plan, argument_words const& words, parameter_form const& form = {}) {
    std::vector<std::string> inputs, outputs;
    std::vector<buffer> const passed = passed_buffers(plan);
    for (std::size_t at = 0; at < passed.size(); ++at)
        (passed[at].written ? outputs : inputs).push_back((form.types ? "struct halide_buffer_t *" : "") + words.tensors[at]);
    argument_list const list = arguments_of(plan);
    for (int at = 0; at < list.parameter_count; ++at) {
        node const& n = plan.what[list.parameters[at]];
        inputs.push_back((form.types ? c_type(n.type) + " " : "") + words.parameters[static_cast<std::size_t>(at)]);
    }
    for (std::string const& one : words.pools) inputs.push_back(form.pool + one);
    if (!form.result.empty()) outputs.push_back(form.result);
    std::string text;
    for (auto const* part : {&inputs, &outputs}) {
        for (std::string const& one : *part) text += (text.empty() ? "" : ", ") + one;
    }
    return text.empty() && form.types ? "void" : text;
}

/// "in: int8_t, 5 x 6 elements from in[-1, 2] on"
inline std::string used_text(plan_value const& plan, std::size_t position, std::string const& word) {
    buffer const b = passed_buffers(plan)[position];
    std::string extents;
    for (int d = 0; d < b.rank; ++d) {
        extents += (d > 0 ? " x " : "") + std::to_string(b.extents[d]);
        for (int at = 0; at < plan.shapes.size(); ++at) {
            shape const& one = plan.shapes[at];
            if (position_of(plan, one.buffer) == static_cast<int>(position)) extents = "as many", d = b.rank;
        }
    }
    std::string const elements = b.rank == 0 ? "one element"
                                             : extents + " elements" + (extents == "as many" ? " as the extents make" : "") + " from " +
                                                   first_element_text(b, word) + " on";
    return word + ": " + c_type(b.type) + ", " + elements + (b.written ? ", written" : "");
}

/// What a processor is asked, and the function that says what it runs.
inline std::string variants_text(kernel_variants const& kernel) {
    std::string text = "\n/* What runs, by schedule and target";
    text += kernel.variants.size() > 1 ? "; a processor runs the first of these that it can:\n" : ":\n";
    for (variant const& one : kernel.variants) text += " *   " + one.schedule + ", " + one.target + "\n";
    text += kernel.asks
                ? " * The text of the line that this processor runs; NULL if it can run none: the kernel then returns\n"
                  " * TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_PROCESSOR, 0), and runs nothing. */\n"
                : " * The text of that line. The code is for what its compiler was told to compile for, and no processor is asked. */\n";
    return text + "const char *" + kernel.name + "_variant(void);\n";
}
/// What the machines of all variants provide.
inline std::string device_text(kernel_variants const& kernel) {
    std::vector<std::string> all;
    for (plan_value const* plan : kernel.plans) {
        for (std::string const& one : device_prototype_list(*plan)) {
            if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
        }
    }
    std::string text;
    for (std::string const& one : all) text += one;
    return text;
}

inline std::string header_text(kernel_variants const& kernel) {
    plan_value const& plan = kernel.plan();
    std::string const& name = kernel.name;
    bool const device = kernel.device;
    std::ostringstream text;
    argument_words const words = entry_words(plan, name, device).arguments;
    text << "/* Kernel " << name << " on machine " << plan.where->name.str() << ", written by its binding tool. */\n"
         << "#ifndef TILEWRIGHT_KERNEL_" << name << "\n#define TILEWRIGHT_KERNEL_" << name << "\n\n"
         << "#include <stdbool.h>\n#include <stdint.h>\n#include <tilewright/runtime/entry.h>\n\n#ifdef __cplusplus\nextern \"C\" "
            "{\n#endif\n\n"
         << "/* 0; or -(2000 + 100 * kind + position) of an argument that the kernel cannot run on, see tilewright/runtime/entry.h;\n"
            " * or the code of a device function that failed.\n *\n"
            " * Of a tensor, host is a pointer to the element whose index are the minima of dim; in dim, the last dimension stands first.\n"
            " * tilewright::call takes pointers to elements, with an index where a tensor is not used from element 0 on.\n";
    std::vector<buffer> const passed = passed_buffers(plan);
    for (std::size_t at = 0; at < passed.size(); ++at) text << " *   " << used_text(plan, at, words.tensors[at]) << "\n";
    text << " */\n"
         << "int " << name << "(" << parameter_list(plan, words) << ");\n";
    for (std::size_t at = 0; at < passed.size(); ++at) {
        if (std::string const rules = layout_rules(passed[at]); !rules.empty())
            text << "/* " << words.tensors[at] << ": " << rules << ". */\n";
    }
    for (std::size_t at = 0; at < kernel.pools.size(); ++at) {
        pool const& one = kernel.pools[at];
        text << "/* " << words.pools[at] << ": " << one.bytes << " bytes, at a multiple of " << one.alignment
             << ", for this call alone. */\n#define TILEWRIGHT_" << name << "_" << words.pools[at] << "_BYTES " << one.bytes << "\n";
    }
    if (std::string const kept = kept_result_text(plan); !kept.empty()) text << "/* " << kept << " */\n";
    text << variants_text(kernel);
    if (device) text << "\n/* What the device provides. Each returns 0, or a code that ends the kernel. */\n" << device_text(kernel);
    text << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return text.str();
}

}  // namespace tilewright::halide::detail
