#pragma once
#include <map>
#include <stdexcept>
#include <tilewright/bring_up/intrinsic_cases.hpp>
#include <tilewright/bring_up/intrinsic_code.hpp>
#include <tilewright/bring_up/self_test_text.hpp>
#include <tilewright/bring_up/transfer_cases.hpp>
#include <tilewright/bring_up/transfer_code.hpp>
#include <tilewright/c_source/ground.hpp>

// A self-test of a device, from the description of its machine.
namespace tilewright::bring_up {

struct self_test_text {
    std::string header, source;
};

/// All cases of a machine's parts, and where their windows lie.
struct self_test_plan {
    std::vector<tested_part> parts{};
    std::vector<test_case> cases{};
    std::vector<std::int64_t> stages{};  ///< of each memory: where bytes stop on the way to another one
    std::vector<std::int64_t> used{};    ///< of each memory: bytes from its first on
    std::vector<std::int64_t> reach{};   ///< likewise, with windows at its end
    std::vector<std::string> left_out{};
};

class self_test_planner {
  public:
    self_test_planner(machine const& where, memory_ways const& ways, std::int64_t largest)
        : where_(where), ways_(ways), largest_(largest) {}

    /// Bytes of a row by which the ways lead.
    static std::int64_t row_of_way(machine const& where, memory_ways const& ways, int transfer_at) {
        transfer_description const& t = where.transfers[transfer_at];
        std::int64_t const grain = ways.grain[static_cast<std::size_t>(memory_under(where, t.destination))];
        std::int64_t const most = t.largest_row_bytes > 0 ? std::min<std::int64_t>(t.largest_row_bytes, 4096) : 4096;
        if (most < grain)
            throw std::invalid_argument("rows of `" + t.name.str() + "` have at most " + std::to_string(most) +
                                        " bytes, and pieces of memory are multiples of " + std::to_string(grain));
        return most / grain * grain;
    }
    self_test_plan make() {
        // What is loaded comes first, what computes next, and last what brings out results that nothing else can put there.
        for (int const turn : {0, 1, 2, 3}) {
            for (int at = 0; at < where_.transfers.size(); ++at) add_transfer(at, turn);
            for (int at = 0; at < where_.intrinsics.size(); ++at) add_intrinsic(at, turn);
        }
        place_stages();
        return std::move(plan_);
    }

  private:
    void add_transfer(int at, int turn) {
        transfer_description const& t = where_.transfers[at];
        int const source = memory_under(where_, t.source);
        bool const late = !ways_.is_reached(where_, source, true);
        if (turn != (late ? 3 : 0)) return;
        if (!t.core_name.empty())
            return void(plan_.left_out.push_back(t.name.str() + ": a core copies by code, and no function is called"));
        transfer_cases cases(where_, ways_, at, static_cast<int>(plan_.parts.size()), largest_);
        keep(cases.make(), cases.part());
    }
    void add_intrinsic(int at, int turn) {
        intrinsic_description const& i = where_.intrinsics[at];
        bool updates = false, nameless = false;
        for (int o = 0; o < i.operand_count; ++o) {
            updates |= i.operands[o].is == ir::direction::updates;
            memory const& m = where_.memories[memory_under(where_, i.operands[o].memory_name)];
            nameless |= m.registers > 0 && !m.passes_values();
        }
        if (turn != (updates ? 2 : 1)) return;
        if (!is_on(where_, i.core_name, 0)) return void(plan_.left_out.push_back(i.name.str() + ": core 0 does not have it"));
        if (nameless) return void(plan_.left_out.push_back(i.name.str() + ": registers without a type in C"));
        intrinsic_cases cases(where_, ways_, at, static_cast<int>(plan_.parts.size()), largest_);
        keep(cases.make(), cases.part());
    }
    void keep(std::vector<test_case>&& cases, tested_part const& part) {
        for (std::string const& what : part.left_out) plan_.left_out.push_back(part.name + ", " + what);
        if (cases.empty()) return void(plan_.left_out.push_back(part.name + ": no case fits"));
        plan_.parts.push_back(part);
        for (test_case& one : cases) plan_.cases.push_back(std::move(one));
    }
    void place_stages() {
        std::size_t const memories = static_cast<std::size_t>(where_.memories.size());
        std::vector<std::int64_t> last(memories, INT64_MAX), stage_bytes(memories, 0);
        plan_.used.assign(memories, 0), plan_.stages.assign(memories, 0), plan_.reach.assign(memories, 0);
        each_window([&](operand_side const& side, window const& w) {
            memory const& m = where_.memories[side.memory];
            std::size_t const at = static_cast<std::size_t>(side.memory);
            plan_.reach[at] = std::max(plan_.reach[at], w.offset + w.bytes);
            bool const at_end = m.capacity > 0 && w.offset + w.bytes > m.banks * m.bank_capacity() - ways_.grain[at];
            if (at_end) last[at] = std::min(last[at], w.offset);
            else plan_.used[at] = std::max(plan_.used[at], w.offset + w.bytes);
        });
        for (std::size_t at = 0; at < memories; ++at) {
            for (int which : {ways_.in[at], ways_.out[at]}) {
                if (which < 0) continue;
                transfer_description const& t = where_.transfers[which];
                std::size_t const near = static_cast<std::size_t>(memory_under(where_, which == ways_.in[at] ? t.source : t.destination));
                stage_bytes[near] = std::max(stage_bytes[near], row_of_way(where_, ways_, which));
            }
        }
        for (std::size_t at = 0; at < memories; ++at) {
            if (stage_bytes[at] == 0) continue;
            memory const& m = where_.memories[static_cast<int>(at)];
            plan_.stages[at] = room::rounded(plan_.used[at], ways_.grain[at]);
            std::int64_t const end = plan_.stages[at] + stage_bytes[at];
            if (m.capacity > 0 && (end > m.banks * m.bank_capacity() || end > last[at]))
                throw std::invalid_argument("`" + m.name.str() + "` has no room for windows of " + std::to_string(largest_) +
                                            " bytes and what is brought through it: ask for smaller windows");
            plan_.used[at] = end, plan_.reach[at] = std::max(plan_.reach[at], end);
        }
    }
    template <class Visit>
    void each_window(Visit const& visit) const {
        for (test_case const& one : plan_.cases) {
            tested_part const& part = plan_.parts[static_cast<std::size_t>(one.part)];
            for (test_call const& call : one.calls) {
                for (std::size_t at = 0; at < call.windows.size(); ++at) {
                    if (!part.sides[at].by_value) visit(part.sides[at], call.windows[at]);
                }
            }
        }
    }

    machine const& where_;
    memory_ways const& ways_;
    std::int64_t largest_;
    self_test_plan plan_;
};

/// Writes NAME.h and NAME.c.
class self_test_writer {
  public:
    self_test_writer(machine const& where, self_test_options const& options)
        : where_(where), options_(options), ways_(where), plan_(self_test_planner(where, ways_, options.largest_window).make()) {
        halide::detail::check_function_name(options.name);
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
                  halide::detail::c_ground(true) + "\n/* What the device provides. */\n" + prototypes + "\n" + table_types() + storage() +
                  filled(self_test_basics_text) + positions() + element_functions() + shared_.operations.text() + functions + tables(made) +
                  "\n" + upkeep + filled(self_test_runner_text) + filled(self_test_print_text);
        return {header(), source};
    }

  private:
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
            "so.\n"
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

    std::string table_types() const {
        std::string text =
            "enum { READ = 1, WRITTEN = 2, REGISTER = 4 };\nenum { BOOL_AT = 1, INT64_AT = 5, UINT8_AT = 6, FLOAT_AT = 10 };\n";
        return text + R"(/* One operand of a part, and what its windows hold. */
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
)";
    }
    std::string storage() const {
        std::int64_t windows = 1, largest = 1024, registers = 1;
        std::size_t sides = 1, calls = 1, length = 16;
        for (test_case const& one : plan_.cases) {
            tested_part const& part = plan_.parts[static_cast<std::size_t>(one.part)];
            std::int64_t all = 0;
            for (test_call const& call : one.calls) {
                for (window const& w : call.windows) all += w.bytes, largest = std::max(largest, w.bytes);
                length = std::max(length, call.numbers.size() + 3 * call.windows.size());
            }
            windows = std::max(windows, all), sides = std::max(sides, part.sides.size()), calls = std::max(calls, one.calls.size());
        }
        for (int at = 0; at < where_.memories.size(); ++at) {
            memory const& m = where_.memories[at];
            if (m.passes_values()) registers = std::max(registers, m.register_bytes());
        }
        auto const text = [](std::size_t value) { return std::to_string(value); };
        return "enum { MEMORIES = " + number(where_.memories.size()) + ", MOST_SIDES = " + text(sides) + ", MOST_CALLS = " + text(calls) +
               ", LONGEST_CALL = " + text(length) +
               " };\n/* What should be in the windows of a case, what is seen in one, and what a mistake would make of it. */\n" +
               "static unsigned char expected[" + number(std::max(windows, largest)) + "], seen[" + number(largest) + "], tried[" +
               number(largest) + "], registers[MOST_CALLS][MOST_SIDES][" + number(registers) + "];\nvolatile int32_t " + options_.name +
               "_now;\n";
    }
    std::string positions() const {
        std::string text =
            "/* What a model reads lies in what is kept. */\nstatic bool strays(const unsigned char *from, int size) {\n"
            "    return lowest != NULL && (from < expected || from + size > expected + sizeof expected);\n}\n"
            "\n/* The address of a byte of a memory, counted from its first. */\n";
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
                int same = -1;
                if (!part.is_transfer) {
                    intrinsic_description const& i = where_.intrinsics[part.at];
                    if (i.operands[static_cast<int>(s)].in_place) same = result_of(i);
                }
                std::string const is = number((side.reads ? 1 : 0) + (side.writes ? 2 : 0) + (side.by_value ? 4 : 0));
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
/// @throws std::invalid_argument when the machine calls none, or when a memory has no room for the windows
inline self_test_text self_test(machine const& where, self_test_options const& options) { return self_test_writer(where, options).write(); }

}  // namespace tilewright::bring_up
