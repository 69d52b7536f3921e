#pragma once
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <tilewright/halide/names.hpp>
#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <vector>

// The files between a caller and the generated function: header, entry with its checks, binding to the emulator. Does not need Halide.
namespace tilewright::halide {

using namespace ir;

namespace detail {

inline std::string c_type(scalar_type type) {
    if (type == scalar_type::boolean) return "bool";
    if (is_float(type)) return name_of(type);
    return std::string(name_of(type)) + "_t";
}
inline std::string type_code(scalar_type type) {
    if (is_float(type)) return "halide_type_float";
    return is_unsigned(type) || type == scalar_type::boolean ? "halide_type_uint" : "halide_type_int";
}
inline int type_bits(scalar_type type) { return type == scalar_type::boolean ? 1 : 8 * bytes_of(type); }

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
        for (int which = 0; which < plan.buffers.size(); ++which) {
            buffer const& b = plan.buffers[which];
            if (b.kind != buffer_kind::argument && b.memory == memory_at) one.alignment = std::lcm(one.alignment, b.alignment);
        }
    }
    return found;
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
/// The words of a kernel's header and entry.
struct entry_words {
    c_names names;
    argument_words arguments;

    entry_words(plan_value const& plan, std::string const& name, bool device) {
        for (char const* made : {"", "_unchecked", "_result"}) names.reserve(name + made);
        arguments = words_of_arguments(plan, names, device);
    }
};

/// The C parameter list of a kernel, or, without types, its arguments in a call. `result`: what stands for a result that is kept;
/// `pool_prefix` stands in front of the names of pools.
inline std::string parameter_list(plan_value const& plan, argument_words const& words, bool types, std::string const& result = {},
                                  std::string const& pool_prefix = "void *") {
    std::vector<std::string> inputs, outputs;
    std::vector<buffer> const passed = passed_buffers(plan);
    for (std::size_t at = 0; at < passed.size(); ++at)
        (passed[at].written ? outputs : inputs).push_back((types ? "struct halide_buffer_t *" : "") + words.tensors[at]);
    argument_list const list = arguments_of(plan);
    for (int at = 0; at < list.parameter_count; ++at) {
        node const& n = plan.what[list.parameters[at]];
        inputs.push_back((types ? c_type(n.type) + " " : "") + words.parameters[at]);
    }
    for (std::string const& one : words.pools) inputs.push_back(pool_prefix + one);
    if (!result.empty()) outputs.push_back(result);
    std::string text;
    for (auto const* part : {&inputs, &outputs}) {
        for (std::string const& one : *part) text += (text.empty() ? "" : ", ") + one;
    }
    return text.empty() && types ? "void" : text;
}

/// Calls `visit(call, aside)` for every function of a machine; `aside`: it starts or awaits something that touches memory beside the code.
template <class Visit>
void each_function(machine const& where, Visit const& visit) {
    for (int at = 0; at < where.transfers.size(); ++at)
        each_call(where, where.transfers[at], [&](device_call const& call) { visit(call, true); });
    for (int at = 0; at < where.engines.size(); ++at) visit(wait_call_of(where.engines[at]), true);
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

/// `int mvin(const void *source, void *destination, int64_t bytes);` for every function of the device that the plan calls.
/// @param guarded  not of what is a macro: whoever includes the text may define some of them before
inline std::vector<std::string> device_prototype_list(plan_value const& plan, bool guarded = false) {
    std::vector<std::string> list;
    machine const& where = *plan.where;
    std::vector<std::string> written;
    auto const write = [&](device_call const& call, std::string const& what, auto const& argument) {
        std::string line = "int " + call.symbol.str() + "(";
        c_names names;  // what is passed twice has two
        for (int at = 0; at < call.count; ++at) {
            std::string const one = argument(call.arguments[at], at);
            std::size_t const name = one.find_last_of(" *") + 1;
            line += (at > 0 ? ", " : "") + one.substr(0, name) + names.take(one.substr(name));
        }
        line += call.count == 0 ? "void);" : ");";
        for (std::string const& before : written) {
            if (before == line) return;
        }
        written.push_back(line);
        list.push_back("/* " + what + " */\n" + (guarded ? "#ifndef " + call.symbol.str() + "\n" + line + "\n#endif" : line) + "\n");
    };
    std::vector<bool> transfers(static_cast<std::size_t>(where.transfers.size())),
        intrinsics(static_cast<std::size_t>(where.intrinsics.size()));
    for (int at = 0; at < plan.movements.size(); ++at) {
        int const which = plan.movements[at].transfer;
        if (which >= 0) transfers[which] = where.transfers[which].core_name.empty();
    }
    for (int at = 0; at < plan.bodies.size(); ++at) {
        body const& b = plan.bodies[at];
        for (int which : {b.intrinsic, b.first_intrinsic}) {
            if (which >= 0) intrinsics[which] = true;
        }
    }
    for (int at = 0; at < where.transfers.size(); ++at) {
        if (!transfers[at]) continue;
        transfer_description const& t = where.transfers[at];
        if (passes_values(where, t)) {
            list.push_back("/* transfer " + t.name.str() + ": " + t.call.symbol.str() + " of the header that defines its registers */\n");
            continue;
        }
        each_call(where, t, [&](device_call const& call) {
            write(call, "transfer " + t.name.str() + ": " + t.source.str() + " to " + t.destination.str(),
                  [&](call_argument const& a, int position) -> std::string {
                      std::string const d = std::to_string(a.dimension);
                      int const in = memory_of(where, t, a);
                      bool const numbered = in >= 0 && where.memories[in].is_numbered();
                      switch (a.is) {
                          case role::source: return numbered ? "int64_t source" : "const void *source";
                          case role::destination: return numbered ? "int64_t destination" : "void *destination";
                          case role::bytes: return "int64_t bytes";
                          case role::row_bytes: return "int64_t row_bytes";
                          case role::extent: return "int64_t extent_" + d;
                          case role::source_stride: return "int64_t source_stride_" + d;
                          case role::destination_stride: return "int64_t destination_stride_" + d;
                          case role::pad_before: return "int64_t pad_before_" + d;
                          case role::pad_after: return "int64_t pad_after_" + d;
                          case role::pad_value: return "int64_t pad_value";
                          case role::tag: return "int64_t tag";
                          case role::channel: return "int64_t channel";
                          default: return "int64_t literal_" + std::to_string(position);
                      }
                  });
        });
    }
    auto const value_of = [](char const* name) {
        return [name](call_argument const& a, int position) -> std::string {
            if (a.is == role::channel) return "int64_t channel";
            return a.is == role::literal ? "int64_t literal_" + std::to_string(position) : std::string("int64_t ") + name;
        };
    };
    for (int at = 0; at < where.configurations.size(); ++at) {
        configuration const& c = where.configurations[at];
        bool used = false;
        auto const uses = [&](auto const& part) {
            for (int which = part.settings.first; which < part.settings.first + part.settings.count; ++which)
                used |= where.settings[which].configuration_name == c.name;
        };
        for (int which = 0; which < where.transfers.size(); ++which) {
            if (transfers[which]) uses(where.transfers[which]);
        }
        for (int which = 0; which < where.intrinsics.size(); ++which) {
            if (intrinsics[which]) uses(where.intrinsics[which]);
        }
        if (!used) continue;
        write(set_call_of(c), "sets " + c.name.str() + " for what is called from now on",
              [](call_argument const& a, int position) -> std::string {
                  return a.is == role::literal ? "int64_t literal_" + std::to_string(position)
                                               : "int64_t value_" + std::to_string(a.dimension);
              });
    }
    for (int at = 0; at < where.engines.size(); ++at) {
        if (!plan.is_busy_aside(at)) continue;
        engine const& e = where.engines[at];
        bool const tagged = e.completes == completion::by_transfer;
        std::string const of = (e.has_channels() ? "this channel of engine " : "engine ") + e.name.str();
        write(wait_call_of(e),
              "returns when " + std::string(tagged ? "the last job that " + of + " was given with this tag, and all before it, are complete"
                                            : e.completes == completion::by_engine ? "all jobs of " + of + " are complete"
                                                                                   : "at most so many jobs of " + of + " are not complete"),
              value_of(tagged ? "tag" : "pending"));
    }
    for (int at = 0; at < where.tokens.size(); ++at) {
        bool passed = false;
        for (int which = 0; which < plan.links.size(); ++which) passed |= plan.links[which].tokens == at;
        if (!passed) continue;
        tokens const& t = where.tokens[at];
        write(push_call_of(t), "queues a token to " + t.to.str() + " behind what " + t.from.str() + " has been given", value_of("queue"));
        write(pop_call_of(t), "queues a wait for a token of " + t.from.str() + " in front of what " + t.to.str() + " is given next",
              value_of("queue"));
    }
    for (int at = 0; at < where.intrinsics.size(); ++at) {
        if (!intrinsics[at]) continue;
        intrinsic_description const& i = where.intrinsics[at];
        if (passes_values(where, i)) {
            list.push_back("/* intrinsic " + i.name.str() + ": " + i.call.symbol.str() + " of the header that defines its registers */\n");
            continue;
        }
        each_call(where, i, [&](device_call const& call) {
            write(call, "intrinsic " + i.name.str() + "; strides in elements", [&](call_argument const& a, int position) -> std::string {
                if (a.is == role::literal) return "int64_t literal_" + std::to_string(position);
                if (a.is == role::covered) return "int64_t extent_" + std::to_string(a.dimension);
                operand_constraint const& o = i.operands[a.operand];
                if (a.is == role::stride) return "int64_t " + o.tensor.str() + "_stride_" + std::to_string(a.dimension);
                if (a.is == role::value) return "int64_t " + o.tensor.str() + "_value";
                if (where.memories[memory_of(where, i, a)].is_numbered()) return "int64_t " + o.tensor.str();
                return std::string(o.is == direction::reads && !o.in_place ? "const void *" : "void *") + o.tensor.str();
            });
        });
    }
    return list;
}
inline std::string device_prototypes(plan_value const& plan) {
    std::string text;
    for (std::string const& one : device_prototype_list(plan)) text += one;
    return text;
}

/// "dimensions 1 to 3 without gaps, the stride of dimension 0 a multiple of 256, at a multiple of 64 bytes": how an argument must lie.
inline std::string layout_rules(buffer const& b) {
    std::string text;
    auto const add = [&](std::string const& rule) { text += (text.empty() ? "" : ", ") + rule; };
    if (b.rank > 1 && b.dense_from == b.rank - 1) add("the last dimension without gaps");
    if (b.rank > 1 && b.dense_from < b.rank - 1)
        add(b.dense_from == 0 ? "without gaps"
                              : "dimensions " + std::to_string(b.dense_from) + " to " + std::to_string(b.rank - 1) + " without gaps");
    for (int d = 0; d < b.dense_from; ++d) {
        std::int64_t const multiple = b.stride_multiples[d];
        std::int64_t const longest = b.longest_strides[d];
        if (multiple > 1) add("the stride of dimension " + std::to_string(d) + " a multiple of " + std::to_string(multiple));
        if (longest > 0) add("the stride of dimension " + std::to_string(d) + " at most " + std::to_string(longest));
    }
    if (b.alignment > bytes_of(b.type)) add("at a multiple of " + std::to_string(b.alignment) + " bytes");
    return text;
}

inline int position_of(plan_value const& plan, int buffer_at) {
    argument_list const list = arguments_of(plan);
    int at = 0;
    while (list.tensors[at] != buffer_at) ++at;
    return at;
}
/// "in[-1, 2]": the element of the lowest index that is used of an argument.
inline std::string first_element_text(buffer const& b, std::string const& word) {
    std::string index;
    for (int d = 0; d < b.rank; ++d) index += (d > 0 ? ", " : "") + std::to_string(b.minimum[d]);
    return word + "[" + index + "]";
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

inline std::string header_text(plan_value const& plan, std::string const& name, bool device) {
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
         << "int " << name << "(" << parameter_list(plan, words, true) << ");\n";
    for (std::size_t at = 0; at < passed.size(); ++at) {
        if (std::string const rules = layout_rules(passed[at]); !rules.empty())
            text << "/* " << words.tensors[at] << ": " << rules << ". */\n";
    }
    std::vector<pool> const pools = pools_of(plan, device);
    for (std::size_t at = 0; at < pools.size(); ++at) {
        pool const& one = pools[at];
        text << "/* " << words.pools[at] << ": " << one.bytes << " bytes, at a multiple of " << one.alignment
             << ", for this call alone. */\n#define TILEWRIGHT_" << name << "_" << words.pools[at] << "_BYTES " << one.bytes << "\n";
    }
    if (std::string const kept = kept_result_text(plan); !kept.empty()) text << "/* " << kept << " */\n";
    if (device) text << "\n/* What the device provides. Each returns 0, or a code that ends the kernel. */\n" << device_prototypes(plan);
    text << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return text.str();
}

/// A bit for each dimension of an argument that has the extent of an axis which is left to run time.
inline int exact_dimensions(plan_value const& plan, std::size_t position) {
    int bits = 0;
    for (int at = 0; at < plan.shapes.size(); ++at) {
        shape const& one = plan.shapes[at];
        if (one.plain && position_of(plan, one.buffer) == static_cast<int>(position)) bits |= 1 << one.dimension;
    }
    return bits;
}
/// Extents of an argument; 0 where they follow from what is left to run time.
inline fixed_array<std::int64_t, max_rank> constant_extents(plan_value const& plan, std::size_t position) {
    fixed_array<std::int64_t, max_rank> extents = passed_buffers(plan)[position].extents;
    for (int at = 0; at < plan.shapes.size(); ++at) {
        shape const& one = plan.shapes[at];
        if (position_of(plan, one.buffer) == static_cast<int>(position)) extents[one.dimension] = 0;
    }
    return extents;
}
inline std::string extent_of_result(plan_value const& plan, argument_words const& words, buffer const& kept, int dimension) {
    stage_axis const& a = plan.stages[plan.stages.size() - 1].axes[dimension];
    for (int at = 0; at < plan.variables.size() && a.run_time; ++at) {
        variable const& v = plan.variables[at];
        if (v.kind == variable_kind::extent && v.name == a.name) return "(int32_t)" + words.number(at);
    }
    return std::to_string(kept.extents[dimension]);
}
/// A form over such numbers.
inline std::string number_text(plan_value const& plan, argument_words const& words, affine const& form) {
    std::string all = std::to_string(form.constant);
    for (int t = 0; t < form.count; ++t) {
        term const& part = plan.term_at(form, t);
        all += " + " + std::to_string(part.coefficient) + " * " + words.number(part.variable);
    }
    return all;
}
/// How many tiles there are, at the extents. What only counts on towards another number may not be asked for itself.
inline std::string count_text(plan_value const& plan, argument_words const& words, int at) {
    variable const& v = plan.variables[at];
    return "    const int64_t " + words.number(at) + " = (" + number_text(plan, words, v.fused) + ") / " + std::to_string(v.divisor) +
           ";\n    (void)" + words.number(at) + ";\n";
}
/// Refuses extents that make more steps than can be counted. `error(kind, buffer)` is the statement that does.
template <class Error>
std::string step_checks_text(plan_value const& plan, argument_words const& words, Error const& error) {
    std::ostringstream text;
    for (int at = 0; at < plan.rings.size(); ++at) {
        ring const& r = plan.rings[at];
        if (!r.run_time) continue;
        std::string left = std::to_string(stage::most_index - most_versions);  // after division by the trips of a loop: none, if too many
        int asked = 0;
        for (int loop = r.loop_count - 1; loop >= 0; --loop) {
            variable const& v = plan.variables[r.loops[loop]];
            left += " / " + (v.trips >= 0 ? words.number(v.trips) : std::to_string(v.extent));
            if (v.trips >= 0) asked = v.trips;
        }
        while (plan.variables[asked].kind == variable_kind::count) asked = plan.term_at(plan.variables[asked].fused, 0).variable;
        text << "    if (" << left << " < 1) " << error("RUN_TIME_EXTENT", shape_of_extent(plan, asked, true).buffer);
    }
    return text.str();
}
/// Reads the extents that are left to run time, and makes of `at_least` what the arguments have to be at them.
/// @param given  the word of the arguments as they are asked for; @param at_least  of what they have to be whatever the extents are
inline std::string extents_text(plan_value const& plan, argument_words const& words, std::string const& given,
                                std::string const& at_least) {
    if (plan.run_time_extents == 0) return {};
    std::ostringstream text;
    auto const error = [&](char const* kind, int buffer_at) {
        return "return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_" + std::string(kind) + ", " + std::to_string(position_of(plan, buffer_at)) +
               ");\n";
    };
    text << "    struct tilewright_argument " << given << "[sizeof " << at_least << " / sizeof " << at_least << "[0]];\n";
    for (int at = 0; at < plan.variables.size(); ++at) {
        variable const& v = plan.variables[at];
        if (v.kind == variable_kind::count) text << count_text(plan, words, at);
        if (v.kind != variable_kind::extent) continue;
        shape const& from = shape_of_extent(plan, at, true);
        buffer const& b = plan.buffers[from.buffer];
        std::string const tensor = words.tensors[position_of(plan, from.buffer)], extent = words.number(at);
        text << "    if (" << tensor << " == NULL || " << tensor << "->dim == NULL) " << error("NULL_BUFFER", from.buffer) << "    if ("
             << tensor << "->dimensions != " << b.rank << ") " << error("WRONG_RANK", from.buffer) << "    const int64_t " << extent
             << " = " << tensor << "->dim[" << b.rank - 1 - from.dimension << "].extent;\n    if (" << extent << " < 1 || " << extent
             << " > " << v.extent << ") " << error("RUN_TIME_EXTENT", from.buffer);
    }
    text << step_checks_text(plan, words, error);
    text << "    memcpy(" << given << ", " << at_least << ", sizeof " << at_least << ");\n";
    for (int at = 0; at < plan.shapes.size(); ++at) {
        shape const& one = plan.shapes[at];
        std::int64_t const minimum = plan.buffers[one.buffer].minimum[one.dimension];
        text << "    if (tilewright_reach(&" << given << "[" << position_of(plan, one.buffer) << "].extent[" << one.dimension << "], "
             << number_text(plan, words, one.end) << " - " << minimum << ")) " << error("WRONG_EXTENT", one.buffer);
    }
    return text.str();
}

/// The word of a memory whose address is an argument.
inline std::string const& word_of_pool(plan_value const& plan, argument_words const& words, int memory_at) {
    argument_list const list = arguments_of(plan);
    std::size_t at = 0;
    while (list.pools[at] != memory_at) ++at;
    return words.pools[at];
}

inline std::string entry_text(plan_value const& plan, std::string const& name, bool device) {
    std::ostringstream text;
    auto const numbers = [&](auto const& values, int count) {
        text << "{";
        for (int at = 0; at < (count > 0 ? count : 1); ++at) text << (at > 0 ? ", " : "") << (count > 0 ? values[at] : 0);
        text << "}";
    };
    std::vector<buffer> const passed = passed_buffers(plan);
    buffer const* const kept = kept_result(plan);
    entry_words all(plan, name, device);
    argument_words const& words = all.arguments;
    std::string const arguments = all.names.take("arguments"), at_least = all.names.take("at_least"), given = all.names.take("given"),
                      code = all.names.take("code"), dim = all.names.take("dim"), result = all.names.take("result");
    text << "/* Entry of kernel " << name << ": checks what it is given, then runs it. Written by its binding tool. */\n"
         << "#include \"" << name << ".h\"\n"
         << (plan.run_time_extents > 0 ? "#include <string.h>\n\n" : "\n") << "int " << name << "_unchecked("
         << parameter_list(plan, words, true, kept != nullptr ? "struct halide_buffer_t *" + result : "", "uint64_t ") << ");\n";
    if (device)
        text << "\n/* Nothing, but where it stands the compiler does not mix memory accesses. */\n__attribute__((weak)) int "
                "tilewright_fence(void) { return 0; }\n";
    if (kept != nullptr && !device) text << "void *" << name << "_result(void);\n";
    if (!passed.empty()) {
        text << "\nstatic const struct tilewright_argument " << (plan.run_time_extents > 0 ? at_least : arguments) << "[] = {\n";
        for (std::size_t at = 0; at < passed.size(); ++at) {
            buffer const& b = passed[at];
            text << "    /* " << b.tensor.str() << " */ {" << type_code(b.type) << ", " << type_bits(b.type) << ", " << b.rank << ", "
                 << (b.written ? 1 : 0) << ", ";
            numbers(b.minimum, b.rank);
            text << ", ";
            numbers(constant_extents(plan, at), b.rank);
            text << ", " << int{b.dense_from} << ", ";
            numbers(b.stride_multiples, b.rank);
            text << ", ";
            numbers(b.longest_strides, b.rank);
            text << ", " << b.alignment << ", " << exact_dimensions(plan, at) << ", "
                 << (tilewright::detail::may_be_result(plan, arguments_of(plan).tensors[at]) ? 1 : 0) << "},\n";
        }
        text << "};\n";
    }
    text << "\nint " << name << "(" << parameter_list(plan, words, true) << ") {\n";
    std::size_t position = passed.size();
    std::vector<pool> const pools = pools_of(plan, device);
    for (std::size_t at = 0; at < pools.size(); ++at) {
        text << "    if (" << words.pools[at] << " == NULL) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, " << position << ");\n"
             << "    if ((uintptr_t)" << words.pools[at] << " % " << pools[at].alignment
             << " != 0) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, " << position << ");\n";
        ++position;
    }
    if (!passed.empty()) {
        text << "    struct halide_buffer_t *" << given << "[] = {";
        for (std::size_t at = 0; at < passed.size(); ++at) text << (at > 0 ? ", " : "") << words.tensors[at];
        text << "};\n"
             << extents_text(plan, words, arguments, at_least) << "    const int " << code << " = tilewright_check_arguments(" << arguments
             << ", " << passed.size() << ", " << given << ");\n    if (" << code << " != 0) return " << code << ";\n";
    }
    if (kept != nullptr) {
        text << "    struct halide_dimension_t " << dim << "[] = {";
        for (int d = kept->rank - 1; d >= 0; --d)
            text << "{0, " << extent_of_result(plan, words, *kept, d) << ", " << kept->stride(d) << ", 0}" << (d > 0 ? ", " : "");
        if (kept->rank == 0) text << "{0, 1, 1, 0}";
        text << "};\n    struct halide_buffer_t " << result << " = {0};\n    " << result << ".host = (uint8_t *)";
        // Code does not touch a memory whose addresses are numbers: Halide wants a pointer that is not null, and leaves it alone.
        if (device && plan.where->memories[kept->memory].is_numbered()) text << "(uintptr_t)1u;\n";
        else if (device && plan.where->memories[kept->memory].is_pool())
            text << word_of_pool(plan, words, kept->memory) << " + " << kept->offset << ";\n";
        else if (device)
            text << "(uintptr_t)0x" << std::hex << plan.where->memories[kept->memory].base + static_cast<std::uint64_t>(kept->offset)
                 << std::dec << "u;\n";
        else text << name << "_result();\n";
        text << "    " << result << ".type.code = " << type_code(kept->type) << ";\n    " << result
             << ".type.bits = " << type_bits(kept->type) << ";\n    " << result << ".type.lanes = 1;\n    " << result
             << ".dimensions = " << kept->rank << ";\n    " << result << ".dim = " << dim << ";\n";
    }
    text << "    return " << name << "_unchecked("
         << parameter_list(plan, words, false, kept != nullptr ? "&" + result : "", "(uint64_t)(uintptr_t)") << ");\n}\n";
    return text.str();
}

inline std::string binding_text(plan_value const& plan, std::string const& name, std::string const& header, std::string const& schedule) {
    std::ostringstream text;
    text << "// Runs kernel " << name << " on the emulated machine " << plan.where->name.str() << ". Written by its binding tool.\n"
         << "#include \"" << header << "\"\n#include <tilewright/emulate/calls.hpp>\n\n"
         << "extern \"C\" void* " << name << "_machine() { return &tilewright::emulated<(" << schedule << ".where())>(); }\n";
    if (buffer const* kept = kept_result(plan)) {
        text << "extern \"C\" void* " << name << "_result() { return tilewright::emulated<(" << schedule << ".where())>().base("
             << kept->memory << ") + " << kept->offset << "; }\n";
    }
    return text.str();
}

}  // namespace detail

/// The program of a kernel's binding tool: `tool emulated|device DIRECTORY HEADER SCHEDULE` writes NAME.h, NAME_entry.c and, for the
/// emulated binding, NAME_binding.cpp.
/// @return 0, or 1 after a message
inline int write_binding_files(plan_value const& plan, std::string const& name, int count, char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    if (given.size() != 4 || (given[0] != "emulated" && given[0] != "device")) {
        std::cerr << "usage: " << arguments[0] << " emulated|device DIRECTORY HEADER SCHEDULE\n";
        return 1;
    }
    bool const device = given[0] == "device";
    detail::check_kernel_name(*plan.where, name);
    std::filesystem::path const directory = given[1];
    auto const write = [&](std::string const& file, std::string const& text) {
        std::ofstream out(directory / file);
        out << text;
        if (!out.flush()) std::cerr << "cannot write " << directory / file << "\n";
        return static_cast<bool>(out);
    };
    bool good =
        write(name + ".h", detail::header_text(plan, name, device)) && write(name + "_entry.c", detail::entry_text(plan, name, device));
    if (good && !device) good = write(name + "_binding.cpp", detail::binding_text(plan, name, given[2], given[3]));
    return good ? 0 : 1;
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::halide
