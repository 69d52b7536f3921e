#pragma once
#include <set>
#include <tilewright/base/label_text.hpp>
#include <tilewright/bring_up/c_semantics.hpp>
#include <tilewright/bring_up/test_case.hpp>
#include <tilewright/bring_up/word_space.hpp>
#include <tilewright/c_source/device_parameters.hpp>

// What the C of transfers and of intrinsics has in common.
namespace tilewright::bring_up {

/// What the C functions of all parts share.
struct c_shared {
    c_operations operations;
    std::set<scalar_type> loaded, stored;  ///< types of elements
    std::set<int> addressed;               ///< memories, or views, whose addresses are asked for

    std::string load(scalar_type type) {
        loaded.insert(type);
        return "load_" + std::string(name_of(type));
    }
    std::string store(scalar_type type) {
        stored.insert(type);
        return "store_" + std::string(name_of(type));
    }
};

/// The functions of one part: `call_3`, `wait_3`, `model_3` and `flaw_3` of part 3.
struct part_functions {
    std::string text{};
    bool waits = false;
    std::vector<std::string> prototypes{};  ///< of the device's functions
};

/// Positions in the numbers of a call, as C reads them.
struct number_at {
    static std::string of(std::size_t position) { return "n[" + std::to_string(position) + "]"; }
    static std::string offset(std::size_t window) { return of(3 * window); }
    static std::string first(std::size_t window) { return of(3 * window + 2); }
};

/// Writes calls of a part as generated kernels make them.
class c_calls {
  public:
    c_calls(machine const& where, tested_part const& part, c_shared& shared) : where_(where), part_(part), shared_(shared) {}

    /// How the functions of a part begin.
    static std::string head_of_call(std::string const& number) {
        return "static int call_" + number +
               "(const int32_t *n, int64_t tag, unsigned char *const *at) {\n    (void)n, (void)tag, (void)at;\n";
    }
    static std::string head_of_model(std::string const& number) {
        return "static void model_" + number +
               "(const int32_t *n, unsigned char *const *at) {\n    bool unused = false;\n    (void)unused;\n";
    }
    /// A call that returns the register of a window.
    static std::string call_into(std::size_t window, device_call const& call, std::vector<std::string> const& given) {
        std::string const r = "r" + std::to_string(window);
        return "    " + r + " = " + call_text(call, given) + ";\n    copy(at[" + std::to_string(window) + "], &" + r + ", sizeof " + r +
               ");\n";
    }
    /// The address of a window's first element, as a call is given it.
    std::string address(std::size_t window, bool written, std::int64_t flags) const {
        operand_side const& side = part_.sides[window];
        memory const& seen = where_.memories[side.seen];
        shared_.addressed.insert(side.seen);
        std::string const position =
            "position_" + seen.name.str() + "(" + number_at::offset(window) + " + " + number_at::first(window) + ")";
        std::string const bits = flags == 0 ? "" : " | UINT64_C(" + std::to_string(static_cast<std::uint64_t>(flags)) + ")";
        if (!seen.is_numbered()) return std::string(written ? "(void *)" : "(const void *)") + "(uintptr_t)(" + position + bits + ")";
        return "(int64_t)(" + position + " / " + std::to_string(seen.address_unit) + " | UINT64_C(" + std::to_string(seen.address_flags) +
               ")" + bits + ")";
    }
    static std::string in_units(std::string const& value, call_argument const& a) {
        return a.value > 1 ? "(" + value + ") / " + std::to_string(a.value) : value;
    }
    /// Lines that set what a part uses. @param argument  `argument(value)`: the C of a value
    template <class Description, class Argument>
    std::string settings(Description const& what, std::vector<std::string>& prototypes, Argument const& argument) const {
        std::string lines;
        for (int at = what.settings.first; at < what.settings.first + what.settings.count; ++at) {
            required_setting const& s = where_.settings[at];
            device_call const call = set_call_of(where_.configurations[where_.configurations.find(s.configuration_name)]);
            std::vector<std::string> given;
            for (int position = 0; position < call.count; ++position) {
                call_argument const& a = call.arguments[position];
                given.push_back(a.is == role::literal ? literal(a) : argument(s.values[a.dimension]));
            }
            prototypes.push_back(prototype(call, halide::detail::setting_parameter));
            lines += called(call, given);
        }
        return lines;
    }
    /// The body of a function that sets what a part uses, and calls what stands for the part.
    /// @param argument   `argument(a)`: the C of an argument
    /// @param parameter  `parameter(a, position)`: how it is declared
    template <class Description, class Argument, class Parameter>
    std::string calls_of(Description const& what, part_functions& made, Argument const& argument, Parameter const& parameter) const {
        std::string text = "    int code = 0;\n" + settings(what, made.prototypes, argument);
        each_call(where_, what, [&](device_call const& call) {
            std::vector<std::string> given;
            for (int at = 0; at < call.count; ++at) given.push_back(argument(call.arguments[at]));
            made.prototypes.push_back(prototype(call, parameter));
            text += called(call, given);
        });
        return text + "    return code;\n}\n";
    }
    static std::string literal(call_argument const& a) { return c_value::constant(scalar_type::int64, a.value); }
    static std::string called(device_call const& call, std::vector<std::string> const& given) {
        return "    code = " + call_text(call, given) + ";\n    if (code != 0) return code;\n";
    }
    static std::string call_text(device_call const& call, std::vector<std::string> const& given) {
        std::string text = user_word(call.symbol.str()) + "(";
        for (std::size_t at = 0; at < given.size(); ++at) text += (at > 0 ? ", " : "") + given[at];
        return text + ")";
    }
    /// A declaration that stands only where the name is no macro.
    template <class Parameter>
    static std::string prototype(device_call const& call, Parameter const& parameter) {
        return "#ifndef " + call.symbol.str() + "\n" +
               halide::detail::signature_text(call.symbol.str(), halide::detail::parameters_of_call(call, parameter)) + ";\n#endif\n";
    }
    /// The call of the function that waits for what a part has started; empty where there is none.
    std::string wait(std::string const& number, ir::label const& engine_name, bool asynchronous, std::string const& channel,
                     part_functions& made) const {
        int const on = where_.engines.find(engine_name);
        if (!asynchronous || on < 0) return {};
        engine const& e = where_.engines[on];
        device_call const call = wait_call_of(e);
        std::vector<std::string> given;
        for (int at = 0; at < call.count; ++at) {
            call_argument const& a = call.arguments[at];
            given.push_back(a.is == role::tag       ? "tag"
                            : a.is == role::pending ? "pending"
                            : a.is == role::channel ? "(int64_t)" + channel
                                                    : literal(a));
        }
        char const* const value = e.completes == completion::by_transfer ? "tag" : "pending";
        made.prototypes.push_back(
            prototype(call, [value](call_argument const& a, int position) { return halide::detail::value_parameter(a, position, value); }));
        made.waits = true;
        return "static int wait_" + number +
               "(const int32_t *n, int64_t tag, int64_t pending) {\n    (void)n, (void)tag, (void)pending;\n    return " +
               call_text(call, given) + ";\n}\n";
    }
    /// A register in front of a call, with the bytes of a window.
    std::string register_text(std::size_t window, bool filled) const {
        memory const& m = where_.memories[part_.sides[window].memory];
        std::string const name = "r" + std::to_string(window), type = user_word(m.c_type.str());
        return "    " + type + " " + name + ";\n" +
               (filled ? "    copy(&" + name + ", at[" + std::to_string(window) + "], sizeof " + name + ");\n" : "");
    }

  private:
    machine const& where_;
    tested_part const& part_;
    c_shared& shared_;
};

}  // namespace tilewright::bring_up
