#pragma once
#include <tilewright/c_source/run_time_extents.hpp>
#include <tilewright/c_source/words.hpp>
#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/runtime/argument_error.h>
#include <utility>

// The C function that users of a kernel's C source call: typed pointers, strides, extents that are left to run time; and its checks.
namespace tilewright::halide::detail {

/// A tensor as the function takes it.
struct c_argument {
    int at = -1;  ///< buffer of the plan
    std::string word;
    std::vector<std::string> strides;  ///< parameters, for every dimension but the last
    std::vector<std::string> extents;  ///< of the region that the kernel uses: a number, or an expression
};

/// What the function is given, in its order: inputs with their strides, scalar parameters, addresses of memories, the result with its
/// strides, extents.
struct c_signature {
    std::vector<c_argument> tensors;
    argument_words words;
    std::vector<std::pair<int, std::string>> pools;    ///< memory of the machine, word
    std::vector<std::pair<int, std::string>> extents;  ///< variable of the plan, word
    std::string core;                                  ///< the word for the core that runs it; empty: there is one

    std::string parameters(plan_value const& plan) const {
        std::string text;
        auto const add = [&](std::string const& one) { text += (text.empty() ? "" : ", ") + one; };
        if (!core.empty()) add("int32_t " + core);
        auto const add_tensors = [&](bool written) {
            for (c_argument const& a : tensors) {
                buffer const& b = plan.buffers[a.at];
                if (b.written != written) continue;
                add((written ? "" : "const ") + c_type(b.type) + " *" + a.word);
                for (std::string const& stride : a.strides) add("int64_t " + stride);
            }
        };
        add_tensors(false);
        argument_list const list = arguments_of(plan);
        int parameter = 0;
        for (std::string const& word : words.parameters) add(c_type(plan.what[list.parameters[parameter++]].type) + " " + word);
        for (auto const& [at, word] : pools) add("void *" + word);
        add_tensors(true);
        for (auto const& [at, word] : extents) add("int64_t " + word);
        return text.empty() ? "void" : text;
    }
    /// The words of the parameters, in their order.
    std::vector<std::string> parameter_words(plan_value const& plan) const {
        std::string rest = parameters(plan) + ",";
        std::vector<std::string> found;
        for (std::size_t end = rest.find(','); end != std::string::npos; end = rest.find(',')) {
            std::size_t const name = rest.find_last_of(" *", end) + 1;
            found.push_back(rest.substr(name, end - name));
            rest.erase(0, end + 1);
        }
        return found;
    }
};

inline c_signature c_signature_of(plan_value const& plan, c_names& names, bool device) {
    c_signature made;
    if (plan.cores > 1) made.core = names.take("core");
    argument_list const list = arguments_of(plan);
    made.words = words_of_arguments(plan, names, device);
    for (auto const& [at, word] : made.words.numbers) {
        if (plan.variables[at].kind == variable_kind::extent) made.extents.emplace_back(at, word);
    }
    for (int position = 0; position < list.tensor_count; ++position) {
        c_argument one;
        one.at = list.tensors[position];
        buffer const& b = plan.buffers[one.at];
        one.word = made.words.tensors[static_cast<std::size_t>(position)];
        for (int d = 0; d < b.rank; ++d) {
            if (d + 1 < b.rank) one.strides.push_back(names.take(one.word + "_stride_" + std::to_string(d)));
            std::int64_t const minimum = b.minimum[d];
            std::string extent;
            for (int which = 0; which < plan.shapes.size(); ++which) {
                shape const& reach = plan.shapes[which];
                if (reach.buffer != one.at || reach.dimension != d) continue;
                std::string const end =
                    reach.plain ? made.words.number(plan.term_at(reach.end, 0).variable)
                                : number_text(plan, made.words, reach.end) + (minimum == 0 ? "" : " - (" + std::to_string(minimum) + ")");
                extent = extent.empty() ? end : "((" + extent + ") > (" + end + ") ? (" + extent + ") : (" + end + "))";
            }
            one.extents.push_back(extent.empty() ? std::to_string(b.extents[d]) : extent);
        }
        made.tensors.push_back(one);
    }
    for (int at = 0; at < list.pool_count && device; ++at)
        made.pools.emplace_back(list.pools[at], made.words.pools[static_cast<std::size_t>(at)]);
    return made;
}

/// "A: 24 x 36 elements, without gaps": what of a tensor the kernel touches, how it lies, and where its pointer points.
inline std::string region_text(plan_value const& plan, c_argument const& a) {
    buffer const& b = plan.buffers[a.at];
    std::string extents;
    bool moved = false;
    for (int d = 0; d < b.rank; ++d) {
        extents += (d > 0 ? " x " : "") + a.extents[static_cast<std::size_t>(d)];
        moved |= b.minimum[d] != 0;
    }
    std::string const rules = layout_rules(b);
    return a.word + ": " + (b.rank == 0 ? "one element" : extents + " elements") + (rules.empty() ? "" : ", " + rules) +
           (b.written ? ", written" : "") +
           (tilewright::detail::may_be_result(plan, a.at) ? "; may be the very elements that are written" : "") +
           (moved ? "; points to " + first_element_text(b, a.word) : "");
}

/// The checks in front of a kernel: they return a code before anything runs. The rules and codes are those of runtime/entry.h, but here
/// the plan's numbers stand in the code, and type and rank are the compiler's to check.
class c_checks {
  public:
    c_checks(plan_value const& plan, c_signature const& signature) : plan_(plan), signature_(signature) {}

    std::string text() {
        for (auto const& [at, word] : signature_.extents)
            refuse_if(word + " < 1 || " + word + " > " + std::to_string(plan_.variables[at].extent), TILEWRIGHT_RUN_TIME_EXTENT,
                      "an extent out of range", position_of(plan_, shape_of_extent(plan_, at, true).buffer));
        for (int at = 0; at < plan_.variables.size(); ++at) {
            if (plan_.variables[at].kind == variable_kind::count) text_ += count_text(plan_, signature_.words, at);
        }
        text_ += step_checks_text(plan_, signature_.words, [&](char const*, int buffer_at) {
            return code_text(TILEWRIGHT_RUN_TIME_EXTENT, "more steps than can be counted", position_of(plan_, buffer_at)) + "\n";
        });
        for (std::size_t position = 0; position < signature_.tensors.size(); ++position) check(static_cast<int>(position));
        std::vector<pool> const pools = pools_of(plan_, !signature_.pools.empty());
        for (std::size_t at = 0; at < pools.size(); ++at) {
            std::string const& word = signature_.pools[at].second;
            int const position = static_cast<int>(signature_.tensors.size() + at);
            refuse_if(word + " == NULL", TILEWRIGHT_NULL_HOST, "no memory", position);
            if (pools[at].alignment > 1)
                refuse_if("(uintptr_t)" + word + " % " + std::to_string(pools[at].alignment) + " != 0", TILEWRIGHT_MISALIGNED,
                          "not aligned as its buffers are", position);
        }
        for (std::size_t written = 0; written < signature_.tensors.size(); ++written) {
            if (!plan_.buffers[signature_.tensors[written].at].written) continue;
            for (std::size_t other = 0; other < signature_.tensors.size(); ++other) {
                if (other == written) continue;
                overlaps_ = true;
                refuse_if(apart_unless_same(signature_.tensors[written], signature_.tensors[other]) + "tilewright_overlap(" +
                              bytes_of_argument(signature_.tensors[written]) + ", " + bytes_of_argument(signature_.tensors[other]) + ")",
                          TILEWRIGHT_OVERLAP, "the result shares bytes with it", static_cast<int>(other));
            }
        }
        return text_;
    }
    /// Whether the checks call `overlap`, see `c_overlap`.
    bool overlaps() const { return overlaps_; }

  private:
    static bool is_number(std::string const& text) { return text.find_first_not_of("0123456789") == std::string::npos; }
    static std::string held(std::string const& text) {
        bool const whole = text.find(' ') == std::string::npos || (text[0] == '(' && text.find(')') + 1 == text.size());
        return whole ? text : "(" + text + ")";
    }
    static std::string times(std::string const& a, std::string const& b) {
        if (a == "1") return b;
        if (b == "1") return a;
        if (is_number(a) && is_number(b)) return std::to_string(std::stoll(a) * std::stoll(b));
        return held(a) + " * " + held(b);
    }
    static std::string code_text(int kind, std::string const& what, int position) {
        return "return " + std::to_string(TILEWRIGHT_ARGUMENT_ERROR(kind, position)) + "; /* " + what + " */";
    }
    void refuse_if(std::string const& condition, int kind, std::string const& what, int position) {
        text_ += "    if (" + condition + ") " + code_text(kind, what, position) + "\n";
    }
    void check(int position) {
        c_argument const& a = signature_.tensors[static_cast<std::size_t>(position)];
        buffer const& b = plan_.buffers[a.at];
        refuse_if(a.word + " == NULL", TILEWRIGHT_NULL_HOST, "no data", position);
        for (std::string const& extent : a.extents) {
            if (!is_number(extent) && extent.find(' ') != std::string::npos)
                refuse_if(extent + " > INT32_MAX", TILEWRIGHT_WRONG_EXTENT, "too many elements", position);
        }
        // Elements up to the end of the dimensions further in, and as many if there were no gaps.
        std::string reach = b.rank == 0 ? "1" : a.extents.back(), dense = reach;
        for (int d = b.rank - 2; d >= 0; --d) {
            auto const index = static_cast<std::size_t>(d);
            std::string const &stride = a.strides[index], &extent = a.extents[index];
            if (is_number(extent) && std::stoll(extent) <= 1) {
                refuse_if(stride + " < 0 || " + stride + " > INT32_MAX", TILEWRIGHT_WRONG_STRIDE, "no stride", position);
                continue;
            }
            std::string const several = is_number(extent) ? "" : held(extent) + " > 1 && ";
            auto const where_several = [&](std::string const& c) { return several.empty() ? c : several + "(" + c + ")"; };
            if (!several.empty()) refuse_if(stride + " < 0 || " + stride + " > INT32_MAX", TILEWRIGHT_WRONG_STRIDE, "no stride", position);
            refuse_if(where_several(stride + " < " + reach), TILEWRIGHT_WRONG_STRIDE, "rows overlap", position);
            if (d >= b.dense_from)
                refuse_if(where_several(stride + " != " + dense), TILEWRIGHT_WRONG_STRIDE, "gaps where a transfer moves all at once",
                          position);
            refuse_if(where_several(stride + " > INT32_MAX / " + held(extent)), TILEWRIGHT_WRONG_EXTENT, "too many elements", position);
            std::int64_t const multiple = b.stride_multiples[d];
            if (multiple > 1)
                refuse_if(where_several(stride + " % " + std::to_string(multiple) + " != 0"), TILEWRIGHT_WRONG_STRIDE,
                          "not the multiple that a transfer takes", position);
            if (std::int64_t const longest = b.longest_strides[d]; longest > 0)
                refuse_if(where_several(stride + " > " + std::to_string(longest)), TILEWRIGHT_WRONG_STRIDE, "longer than a transfer takes",
                          position);
            std::string const whole = times(stride, extent);
            reach = several.empty() ? whole : "(" + held(extent) + " > 1 ? " + whole + " : " + reach + ")";
            dense = times(dense, extent);
        }
        if (b.alignment > 1)
            refuse_if("(uintptr_t)" + a.word + " % " + std::to_string(b.alignment) + " != 0", TILEWRIGHT_MISALIGNED,
                      "not aligned as a transfer takes it", position);
    }
    /// Of an input that may be the result: only what is not the same elements must be apart.
    std::string apart_unless_same(c_argument const& result, c_argument const& other) const {
        if (!tilewright::detail::may_be_result(plan_, other.at)) return {};
        std::string same = "(const void *)" + result.word + " == (const void *)" + other.word;
        for (std::size_t d = 0; d < result.strides.size(); ++d) same += " && " + result.strides[d] + " == " + other.strides[d];
        return "!(" + same + ") && ";
    }
    /// "A, 2 * (1 + 23 * A_stride_0 + 35)"
    std::string bytes_of_argument(c_argument const& a) const {
        buffer const& b = plan_.buffers[a.at];
        std::string elements;
        std::int64_t fixed = 1;
        for (int d = 0; d < b.rank; ++d) {
            auto const index = static_cast<std::size_t>(d);
            std::string const& extent = a.extents[index];
            std::string const stride = d + 1 < b.rank ? a.strides[index] : "1";
            std::string const last = is_number(extent) ? std::to_string(std::stoll(extent) - 1) : "(" + extent + " - 1)";
            if (is_number(last) && stride == "1") fixed += std::stoll(last);
            else if (last != "0") elements += " + " + times(last, stride);
        }
        return a.word + ", " + times(std::to_string(bytes_of(b.type)), std::to_string(fixed) + elements);
    }

    plan_value const& plan_;
    c_signature const& signature_;
    std::string text_;
    bool overlaps_ = false;
};

}  // namespace tilewright::halide::detail
