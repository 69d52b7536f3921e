#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <tilewright/base/divisors.hpp>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/layout_rules.hpp>
#include <tilewright/c_source/names.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <vector>

// What a kernel is given, and what that is called in C. Does not need Halide.
namespace tilewright::halide {

using namespace ir;

namespace detail {

inline std::string c_type(scalar_type type) {
    if (type == scalar_type::boolean) return "bool";
    if (is_float(type)) return name_of(type);
    return std::string(name_of(as_generated(type))) + "_t";
}

inline std::vector<buffer> passed_buffers(plan_value const& plan) {
    argument_list const list = arguments_of(plan);
    std::vector<buffer> passed;
    for (int at = 0; at < list.tensor_count; ++at) passed.push_back(plan.buffers[list.tensors[at]]);
    return passed;
}
inline buffer const* kept_result(plan_value const& plan) {
    int const at = arguments_of(plan).kept_result;
    return at < 0 ? nullptr : &plan.buffers[at];
}

/// Where that result stays, as headers say it; empty where the caller has it.
inline std::string kept_result_text(plan_value const& plan) {
    buffer const* const kept = kept_result(plan);
    if (kept == nullptr) return "";
    memory const& m = plan.where->memories[kept->memory];
    return "The result stays in " + (m.banks > 1 ? "bank " + std::to_string(kept->bank) + " of " : "") + "memory " + m.name.str() + ", " +
           std::to_string(kept->offset) + " bytes from its base.";
}

/// The memories whose addresses a kernel is given, and what these are multiples of.
struct pool {
    std::string name;
    std::int64_t bytes = 0;  ///< from its first; of several banks, to the end of what the last one that is used holds
    std::int64_t alignment = 1;
    /// Of its own buffers, the first lies there, or less than `alignment` after it. Counted from there, kernels that differ only in their
    /// place have the same offsets.
    std::int64_t first = 0;
};
inline std::vector<pool> pools_of(plan_value const& plan, bool device) {
    std::vector<pool> found;
    argument_list const list = arguments_of(plan);
    for (int at = 0; at < list.pool_count && device; ++at) {
        int const memory_at = list.pools[at];
        memory const& m = plan.where->memories[memory_at];
        pool& one = found.emplace_back(pool{m.name.str(), 0, m.alignment});
        for (int bank = 0; bank < m.banks; ++bank) {
            if (std::int64_t const used = plan.peak_bytes(memory_at, bank); used > 0) one.bytes = bank * m.bank_capacity() + used;
        }
        std::int64_t first = one.bytes;
        for (int which = 0; which < plan.buffers.size(); ++which) {
            buffer const& b = plan.buffers[which];
            if (b.kind == buffer_kind::argument || b.memory != memory_at) continue;
            one.alignment = tilewright::detail::lcm(one.alignment, b.alignment);
            for (int part = 0; part < b.parts(); ++part)
                first = std::min(first, b.bank_of(part, m.banks) * m.bank_capacity() + b.offset_of(part, m.banks));
        }
        one.first = first / one.alignment * one.alignment;
    }
    return found;
}

/// "act_mem: 4096 bytes, at a multiple of 16"
inline std::string pool_text(pool const& one) {
    return one.name + ": " + std::to_string(one.bytes) + " bytes, at a multiple of " + std::to_string(one.alignment);
}

/// What a kernel's arguments are called in C.
struct argument_words {
    std::vector<std::string> tensors, parameters, pools;  ///< in the order of `arguments_of`
    std::map<int, std::string> numbers;                   ///< by variable: extents that are left to run time, counts of tiles that follow

    std::string const& number(int variable_at) const { return numbers.at(variable_at); }
};
inline argument_words words_of_arguments(plan_value const& plan, c_names& names, bool device) {
    argument_words words;
    argument_list const list = arguments_of(plan);
    for (buffer const& b : passed_buffers(plan)) words.tensors.push_back(names.take(b.tensor.str()));
    for (int at = 0; at < list.parameter_count; ++at) words.parameters.push_back(names.take(plan.what[list.parameters[at]].name.str()));
    for (pool const& one : pools_of(plan, device)) words.pools.push_back(names.take(one.name));
    for (int at = 0; at < plan.variables.size(); ++at) {
        variable const& v = plan.variables[at];
        if (v.kind == variable_kind::extent) words.numbers[at] = names.take("extent_" + v.name.str());
        if (v.kind == variable_kind::count) words.numbers[at] = names.take("count_" + std::to_string(at) + "_" + v.name.str());
    }
    return words;
}

inline int position_of(plan_value const& plan, int buffer_at) {
    argument_list const list = arguments_of(plan);
    int at = 0;
    while (list.tensors[at] != buffer_at) ++at;
    return at;
}
/// The word of a memory whose address is an argument.
inline std::string const& word_of_pool(plan_value const& plan, argument_words const& words, int memory_at) {
    argument_list const list = arguments_of(plan);
    int at = 0;
    while (list.pools[at] != memory_at) ++at;
    return words.pools[static_cast<std::size_t>(at)];
}

/// "in[-1, 2]": the element of the lowest index that is used of an argument.
inline std::string first_element_text(buffer const& b, std::string const& word) {
    std::string index;
    for (int d = 0; d < b.rank; ++d) index += (d > 0 ? ", " : "") + std::to_string(b.minimum[d]);
    return word + "[" + index + "]";
}

}  // namespace detail
}  // namespace tilewright::halide
