#pragma once
#include <map>
#include <stdexcept>
#include <tilewright/bring_up/intrinsic_code.hpp>
#include <tilewright/bring_up/refuse_machine.hpp>
#include <tilewright/bring_up/self_test_plan.hpp>
#include <tilewright/bring_up/self_test_text.hpp>
#include <tilewright/bring_up/trace_header.hpp>
#include <tilewright/bring_up/transfer_code.hpp>
#include <tilewright/c_source/ground.hpp>

// A self-test of a device, from the description of its machine.
namespace tilewright::bring_up {

struct self_test_text {
    std::string header, source;
};

/// Writes NAME.h and NAME.c.
class self_test_writer {
  public:
    self_test_writer(machine const& where, self_test_options const& options)
        : where_(where), options_(options), ways_(where), plan_(self_test_planner(where, ways_, options.largest_window).make()) {
        halide::detail::check_function_name(options.name);
        if (words_of_user().count(options.name) != 0)
            throw std::invalid_argument("`" + options.name + "` is a function of the machine: name the self-test otherwise");
        if (plan_.parts.empty()) throw std::invalid_argument("the machine has no C function that a self-test could call");
    }
    self_test_text write() {
        std::string functions, prototypes;
        std::set<std::string> known;
        std::vector<part_functions> made;
        for (std::size_t at = 0; at < plan_.parts.size(); ++at) {
            tested_part const& part = plan_.parts[at];
            int const number = static_cast<int>(at);
            made.push_back(part.is_transfer ? transfer_code(where_, part, number, shared_).write()
                                            : intrinsic_code(where_, part, number, shared_).write());
            functions += "\n/* " + part.name + " */\n" + made.back().text;
            for (std::string const& one : made.back().prototypes) prototypes += known.insert(one).second ? one : "";
        }
        std::string const upkeep = upkeep_text(prototypes, known);
        std::string source =
            "/* A self-test of `" + where_.name.str() + "`, made from what the machine declares. See " + options_.name + ".h. */\n";
        for (std::string const& file : options_.includes) source += "#include \"" + file + "\"\n";
        source += "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n#include \"" + options_.name + ".h\"\n\n" +
                  halide::detail::c_ground(true) + "\n/* What the device provides. */\n" + prototypes + "\n";
        // Constants are always told apart, and members of structures never are.
        std::set<std::string> const constants{"READ",     "WRITTEN",  "REGISTER",   "MAY_BE_SMALL", "BOOL_AT",  "INT64_AT",
                                              "UINT8_AT", "FLOAT_AT", "MOST_SIDES", "MOST_CALLS",   "MEMORIES", "LONGEST_CALL"};
        std::set<std::string> users = words_of_user();
        users.insert(constants.begin(), constants.end());
        source += with_own_words(constants_text() + table_types(), constants);
        source +=
            with_own_words(storage() + filled(self_test_basics_text) + positions() + element_functions() + shared_.operations.text() +
                               functions + tables(made) + "\n" + upkeep + filled(self_test_runner_text) + filled(self_test_print_text),
                           users);
        return {header(), source};
    }

  private:
    /// The functions of the machine, and the types of its registers.
    std::set<std::string> words_of_user() const {
        std::set<std::string> words;
        each_device_function(where_, [&](device_call const& call, std::vector<std::string> const&) { words.insert(call.symbol.str()); });
        for (int at = 0; at < where_.transfers.size(); ++at) words.insert(where_.transfers[at].call.symbol.str());
        for (int at = 0; at < where_.intrinsics.size(); ++at) words.insert(where_.intrinsics[at].call.symbol.str());
        for (int at = 0; at < where_.memories.size(); ++at) {
            std::string const type = where_.memories[at].c_type.str();
            if (!halide::detail::is_reserved(type)) words.insert(type);
        }
        return words;
    }
    std::string filled(std::string const& text) const {
        std::string made;
        for (char letter : text) made += letter == '@' ? options_.name : std::string(1, letter);
        return made;
    }
    std::string upper() const {
        std::string text;
        for (char letter : options_.name) text += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        return text;
    }
    static std::string quoted(std::string const& text) {
        std::string made = "\"";
        for (char letter : text) made += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
        return made + "\"";
    }
    static std::string number(std::int64_t value) { return std::to_string(value); }
    bool is_pool(int memory_at) const {
        return where_.memories[memory_at].is_pool() && plan_.used[static_cast<std::size_t>(memory_at)] > 0;
    }

    std::string header() const {
        std::string text =
            "/* A self-test of `" + where_.name.str() + "`: whether its functions do what the machine declares of them.\n *\n";
        std::map<int, int> counts;
        for (test_case const& one : plan_.cases) ++counts[one.part];
        for (std::size_t at = 0; at < plan_.parts.size(); ++at)
            text += " * " + plan_.parts[at].name + ": " + number(counts[static_cast<int>(at)]) + " cases\n";
        for (std::string const& what : plan_.left_out) text += " * left out: " + what + "\n";
        std::string const guard = upper() + "_H";
        text +=
            " */\n#ifndef " + guard + "\n#define " + guard + "\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
        text += "#define " + options_.name + "_CASES " + number(static_cast<std::int64_t>(plan_.cases.size())) + "\n#define " +
                options_.name + "_ROWS " + number(static_cast<std::int64_t>(plan_.parts.size()) + 1) +
                " /* one for each part, and one for the memories */\n";
        text += "\n/* The memories, by number. */\nenum {";
        for (int at = 0; at < where_.memories.size(); ++at)
            text += (at > 0 ? ", " : " ") + options_.name + "_memory_" + where_.memories[at].name.str() + " = " + number(at);
        text += " };\n";
        std::string pools;
        for (int at = 0; at < where_.memories.size(); ++at) {
            if (!is_pool(at)) continue;
            std::string const name = where_.memories[at].name.str(), bytes = options_.name + "_" + name + "_BYTES",
                              alignment = options_.name + "_" + name + "_ALIGNMENT";
            text += "#define " + bytes + " " + number(plan_.reach[static_cast<std::size_t>(at)]) + "\n#define " + alignment + " " +
                    number(ways_.grain[static_cast<std::size_t>(at)]) + "\n";
            pools += "    void *" + name + "; /* " + bytes + " bytes at a multiple of " + alignment + " */\n";
        }
        text += filled(
            "/* What a test is given. All but the addresses may be 0. */\nstruct @_setup {\n" + pools +
            "    /* Read and write memories of a device that pointers of this program do not reach; then all memories are read and written "
            "so.\n     * One alone: the other way leads as without it.\n"
            "     * Addresses are bytes: as the device has them, or from the first byte of a memory that has none. They return 0, or a "
            "code. */\n"
            "    int (*read)(void *context, int memory, uint64_t address, int64_t bytes, void *to);\n"
            "    int (*write)(void *context, int memory, uint64_t address, int64_t bytes, const void *from);\n"
            "    void (*failed)(void *context, const struct @_failure *what); /* is told the first failure of each part */\n"
            "    void *context;\n"
            "    int all_failures;  /* not 0: all of them */\n"
            "    uint32_t patience; /* steps of a loop that late bytes are waited for, once something is wrong; 0: 100000 */\n};\n\n");
        std::string const setup_at = "struct " + options_.name + "_setup {";
        // What a failure is stands first in the text that is the same for all machines; the setup names it only by its tag.
        text.insert(text.find("/* What a test is given."), "struct " + options_.name + "_failure;\n");
        return text + filled(self_test_header_text) + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    }

    static std::string table_types() {
        return R"(/* One operand of a part, and what its windows hold. */
struct side {
    const char *name;
    unsigned char memory, type, size, is;
    signed char same; /* the operand in whose place it lies; -1: it has a window of its own */
};
/* What is called. Numbers of a call: of each operand its window (the offset in the memory, bytes, and where the operand begins in it). Then, of
 * a transfer: channel, border, elements of a row, border before and after; for each dimension from 1 up: extent, source stride, destination
 * stride, border before and after. Of an intrinsic: its extents, then the outer strides of each operand. */
struct part {
    const char *name;
    int sides, length;
    const struct side *side;
    int (*call)(const int32_t *n, int64_t tag, unsigned char *const *at);
    int (*wait)(const int32_t *n, int64_t tag, int64_t pending);
    void (*model)(const int32_t *n, unsigned char *const *at);
    const char *(*flaw)(int which, const int32_t *n, int32_t *changed);
};
struct test {
    unsigned char part, calls, values;
    unsigned short tiny;
    uint32_t first; /* of its numbers */
    const char *text;
};
/* The transfer by which bytes come into a memory or out of it, in rows of `most` bytes; part -1: there is none. */
struct way {
    int part, near;
    int64_t most;
};
struct place {
    const char *name;
    bool direct, is_register, is_pool;
    int64_t grain, used, stage;
    struct way in, out;
};
/* One call of a case: its numbers, what is expected in its windows, and what the models and registers are given. */
struct made_call {
    const int32_t *n;
    unsigned char *window[MOST_SIDES], *first[MOST_SIDES], *given[MOST_SIDES];
};
)";
    }
    /// The most that cases need: bytes of all windows of one, of a window, and of a register; windows, calls, and numbers of a call.
    struct room_for_cases {
        std::int64_t windows = 1, largest = 1024, registers = 1;
        std::size_t sides = 1, calls = 1, length = 16;
    };
    room_for_cases most_of_cases() const {
        room_for_cases most;
        for (test_case const& one : plan_.cases) {
            tested_part const& part = plan_.parts[static_cast<std::size_t>(one.part)];
            std::int64_t all = 0;
            for (test_call const& call : one.calls) {
                for (window const& w : call.windows) all += w.bytes, most.largest = std::max(most.largest, w.bytes);
                most.length = std::max(most.length, call.numbers.size() + 3 * call.windows.size());
            }
            most.windows = std::max({most.windows, all, most.largest});
            most.sides = std::max(most.sides, part.sides.size()), most.calls = std::max(most.calls, one.calls.size());
        }
        for (int at = 0; at < where_.memories.size(); ++at) {
            memory const& m = where_.memories[at];
            if (m.passes_values()) most.registers = std::max(most.registers, m.register_bytes());
        }
        return most;
    }
    std::string constants_text() const {
        room_for_cases const most = most_of_cases();
        return "enum { READ = 1, WRITTEN = 2, REGISTER = 4, MAY_BE_SMALL = 8 };\n"
               "enum { BOOL_AT = 1, INT64_AT = 5, UINT8_AT = 6, FLOAT_AT = 10 };\n"
               "enum { MEMORIES = " +
               number(where_.memories.size()) + ", MOST_SIDES = " + std::to_string(most.sides) +
               ", MOST_CALLS = " + std::to_string(most.calls) + ", LONGEST_CALL = " + std::to_string(most.length) + " };\n";
    }
    std::string storage() const {
        room_for_cases const most = most_of_cases();
        std::string const largest = number(most.largest);
        return "/* What should be in the windows of a case, what is seen in one, and what a mistake would make of it. */\n"
               "static unsigned char expected[" +
               number(most.windows) + "], seen[" + largest + "], tried[" + largest + "], registers[MOST_CALLS][MOST_SIDES][" +
               number(most.registers) + "];\nvolatile int32_t " + options_.name + "_now;\n";
    }
    std::string positions() const {
        std::string text;
        bool loads = false;
        for (tested_part const& part : plan_.parts) loads |= part.is_transfer && part.sides.size() > 1;
        if (loads)
            text =
                "/* Whether a model would read what is not kept. */\nstatic bool strays(const unsigned char *from, int size) {\n"
                "    return lowest != NULL && (from < expected || from + size > expected + sizeof expected);\n}\n";
        text += "\n/* The address of a byte of a memory, counted from its first. */\n";
        std::string cases;
        std::set<int> all = shared_.addressed;
        for (int at = 0; at < where_.memories.size(); ++at) {
            if (!where_.memories[at].is_view()) all.insert(at);
        }
        for (int at : all) {
            memory const m = with_room(where_, where_.memories[at]);
            std::string const name = m.name.str();
            text += "static uint64_t position_" + name + "(int64_t offset) {\n";
            int const under = memory_under(where_, m.name);
            bool const scattered = m.has_address() && m.banks > 1 && m.bank_capacity() > 0;
            if (scattered) {
                text += "    static const uint64_t banks[] = {";
                for (int bank = 0; bank < m.banks; ++bank) text += (bank > 0 ? ", " : "") + hexadecimal(m.bank_base(bank));
                text += "};\n    return banks[offset / " + number(m.bank_capacity()) + "] + (uint64_t)(offset % " +
                        number(m.bank_capacity()) + ");\n}\n";
            } else if (m.has_address()) {
                text += "    return " + hexadecimal(m.bank_base(0)) + " + (uint64_t)offset;\n}\n";
            } else if (!m.is_numbered() && is_pool(under)) {
                text += "    return on->" + where_.memories[under].name.str() + " == NULL ? 0 : (uint64_t)(uintptr_t)on->" +
                        where_.memories[under].name.str() + " + (uint64_t)offset;\n}\n";
            } else {
                text += "    return (uint64_t)offset;\n}\n";
            }
            cases += "        case " + number(at) + ": return position_" + name + "(offset);\n";
        }
        return text + "static uint64_t position(int memory, int64_t offset) {\n    switch (memory) {\n" + cases +
               "        default: return (uint64_t)offset;\n    }\n}\n";
    }
    static std::string hexadecimal(std::uint64_t value) {
        char text[32]{};
        std::snprintf(text, sizeof text, "UINT64_C(0x%llx)", static_cast<unsigned long long>(value));
        return text;
    }
    std::string element_functions() const {
        std::string text = "\n/* Elements, wherever they lie. */\n";
        for (scalar_type const type : shared_.loaded)
            text += "static " + c_type_of(type) + " load_" + name_of(type) + "(const unsigned char *from) {\n    " + c_type_of(type) +
                    " value;\n    copy(&value, from, sizeof value);\n    return value;\n}\n";
        for (scalar_type const type : shared_.stored)
            text += std::string("static void store_") + name_of(type) + "(unsigned char *to, " + c_type_of(type) +
                    " value) { copy(to, &value, sizeof value); }\n";
        return text;
    }
    /// The functions that keep caches up. @param prototypes  receives those of the device
    std::string upkeep_text(std::string& prototypes, std::set<std::string>& known) const {
        std::string cases;
        core const& of = where_.core_at(0);
        for (int at = 0; at < where_.memories.size(); ++at) {
            memory const& m = where_.memories[at];
            if (!m.is_cached() || !is_direct(m)) continue;
            std::string one = "        case " + number(at) + ": ";
            for (bool const cleans : {true, false}) {
                device_call const call = cleans ? clean_call_of(of) : invalidate_call_of(of);
                std::vector<std::string> given;
                for (int which = 0; which < call.count; ++which) {
                    call_argument const& a = call.arguments[which];
                    given.push_back(a.is == role::source  ? "(const void *)(uintptr_t)position(memory, offset)"
                                    : a.is == role::bytes ? "bytes"
                                    : a.is == role::core  ? "0"
                                                          : c_calls::literal(a));
                }
                std::string const prototype = c_calls::prototype(call, halide::detail::upkeep_parameter);
                if (known.insert(prototype).second) prototypes += prototype;
                one += (cleans ? "return into ? " : " : ") + c_calls::call_text(call, given);
            }
            cases += one + ";\n";
        }
        return "/* What a core writes comes into the memory, and what it reads comes out of it, whatever its cache has. */\n"
               "static int keep_up(int memory, int64_t offset, int64_t bytes, bool into) {\n    (void)offset, (void)bytes, (void)into;\n"
               "    switch (memory) {\n" +
               cases + "        default: return 0;\n    }\n}\n";
    }

    std::string tables(std::vector<part_functions> const& made) const {
        std::string text = "\n";
        for (std::size_t at = 0; at < plan_.parts.size(); ++at) {
            tested_part const& part = plan_.parts[at];
            text += "static const struct side sides_" + number(static_cast<std::int64_t>(at)) + "[] = {\n";
            for (std::size_t s = 0; s < part.sides.size(); ++s) {
                operand_side const& side = part.sides[s];
                int const same = side.in_place ? result_of(where_.intrinsics[part.at]) : -1;
                std::string const is =
                    number((side.reads ? 1 : 0) + (side.writes ? 2 : 0) + (side.by_value ? 4 : 0) + (side.may_be_small ? 8 : 0));
                text += "    {" + quoted(side.name) + ", " + number(side.memory) + ", " + number(static_cast<int>(side.type)) + ", " +
                        number(side.element) + ", " + is + ", " + number(same) + "},\n";
            }
            text += "};\n";
        }
        text += "static const struct part parts[] = {\n";
        std::vector<std::size_t> lengths;
        for (std::size_t at = 0; at < plan_.parts.size(); ++at) {
            std::string const n = number(static_cast<std::int64_t>(at));
            lengths.push_back(length_of(static_cast<int>(at)));
            text += "    {" + quoted(plan_.parts[at].name) + ", " + number(static_cast<std::int64_t>(plan_.parts[at].sides.size())) + ", " +
                    number(static_cast<std::int64_t>(lengths.back())) + ", sides_" + n + ", call_" + n + ", " +
                    (made[at].waits ? "wait_" + n : "NULL") + ", model_" + n + ", flaw_" + n + "},\n";
        }
        text += "};\nstruct " + options_.name + "_row " + options_.name + "_rows[] = {\n";
        for (tested_part const& part : plan_.parts) text += "    {" + quoted(part.name) + ", 0, 0, 0, 0, 0, 0},\n";
        text += "    {\"memories\", 0, 0, 0, 0, 0, 0},\n};\n" + places() + "static const int32_t numbers[] = {\n";
        std::string tests = "static const struct test tests[] = {\n";
        std::int64_t next = 0;
        for (test_case const& one : plan_.cases) {
            tests += "    {" + number(one.part) + ", " + number(static_cast<std::int64_t>(one.calls.size())) + ", " +
                     number(static_cast<int>(one.values)) + ", " + number(one.tiny) + ", " + number(next) + ", " + quoted(text_of(one)) +
                     "},\n";
            for (test_call const& call : one.calls) {
                std::string line = "   ";
                for (window const& w : call.windows)
                    line += " " + number(w.offset) + ", " + number(w.bytes) + ", " + number(w.first) + ", ";
                for (std::int64_t value : call.numbers) line += " " + number(value) + ",";
                text += line + "\n";
                next += static_cast<std::int64_t>(3 * call.windows.size() + call.numbers.size());
            }
        }
        return text + "};\n" + tests + "};\n";
    }
    static int result_of(intrinsic_description const& i) {
        for (int o = 0; o < i.operand_count; ++o) {
            if (i.operands[o].is != ir::direction::reads) return o;
        }
        return -1;
    }
    std::size_t length_of(int part) const {
        for (test_case const& one : plan_.cases) {
            if (one.part == part) return 3 * one.calls.front().windows.size() + one.calls.front().numbers.size();
        }
        return 0;
    }
    std::string places() const {
        std::string text = "static const struct place places[] = {\n";
        auto const way = [&](int which, bool into) -> std::string {
            if (which < 0) return "{-1, 0, 0}";
            transfer_description const& t = where_.transfers[which];
            int part = -1;
            for (std::size_t at = 0; at < plan_.parts.size(); ++at) {
                if (plan_.parts[at].is_transfer && plan_.parts[at].at == which) part = static_cast<int>(at);
            }
            return "{" + number(part) + ", " + number(memory_under(where_, into ? t.source : t.destination)) + ", " +
                   number(self_test_planner::row_of_way(where_, ways_, which)) + "}";
        };
        for (int at = 0; at < where_.memories.size(); ++at) {
            memory const& m = where_.memories[at];
            std::size_t const which = static_cast<std::size_t>(at);
            text += "    {" + quoted(m.name.str()) + ", " + (is_direct(m) && !m.is_view() ? "true" : "false") + ", " +
                    (m.registers > 0 ? "true" : "false") + ", " + (is_pool(at) ? "true" : "false") + ", " + number(ways_.grain[which]) +
                    ", " + number(plan_.used[which]) + ", " + number(plan_.stages[which]) + ", " + way(ways_.in[which], true) + ", " +
                    way(ways_.out[which], false) + "},\n";
        }
        return text + "};\n";
    }
    /// What a case is, in words and with its numbers.
    std::string text_of(test_case const& one) const {
        tested_part const& part = plan_.parts[static_cast<std::size_t>(one.part)];
        static char const* const values[] = {"", "lowest values", "highest values", "values at the ends", "large values"};
        std::string text = one.text;
        auto const add = [&](std::string const& more) { text += (text.empty() || more.empty() ? "" : "; ") + more; };
        add(values[static_cast<int>(one.values)]);
        for (std::size_t at = 0; at < part.sides.size(); ++at) {
            if ((one.tiny >> at & 1) != 0) add("small " + part.sides[at].name);
        }
        std::vector<std::int64_t> const& n = one.calls.front().numbers;
        if (part.is_transfer) {
            std::string shape = number(n[2]);
            for (std::size_t at = 5; at < n.size(); at += 5) shape = number(n[at]) + " x " + shape;
            for (std::size_t at = 5; at < n.size(); at += 5) {
                if (n[at] > 1) shape += ", strides " + number(n[at + 1]) + " and " + number(n[at + 2]);
            }
            add(shape);
            return text;
        }
        intrinsic_description const& i = where_.intrinsics[part.at];
        std::string shape;
        ir::stage s;
        read_stage(where_.view(i.semantics), 0, s);
        for (int axis = 0; axis < s.axis_count; ++axis) shape += (axis > 0 ? " x " : "") + number(n[static_cast<std::size_t>(axis)]);
        add(shape);
        return text;
    }

    machine const& where_;
    self_test_options options_;
    memory_ways ways_;
    self_test_plan plan_;
    c_shared shared_;
};

/// NAME.h and NAME.c, which test the C functions of a machine.
/// @throws std::invalid_argument when the description is refused, when the machine calls no function, or when a memory has no room for the
/// windows
inline self_test_text self_test(machine const& where, self_test_options const& options) {
    return self_test_writer(sound(where), options).write();
}

}  // namespace tilewright::bring_up
