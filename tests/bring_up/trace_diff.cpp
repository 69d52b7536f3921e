#include <tilewright/bring_up/trace_diff.hpp>

#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <tilewright/bring_up/program_trace.hpp>
#include <tilewright/c_source/c_source.hpp>

#include "catch.hpp"
#include "folder.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/multicast.hpp"
#include "kernels/systolic.hpp"
#include "kernels/values.hpp"
#include "kernels/views.hpp"
#include "program/alike_program.hpp"
#include "program/chip.hpp"
#include "program/core_program.hpp"
#include "program/engine_program.hpp"

// The C of kernels of all kinds, with its trace hooks, on a device whose functions do nothing but return: it calls what the emulator says.

using namespace tilewright;
using namespace tilewright::bring_up;

namespace {

/// A program in C that runs a kernel, its cores at the same time, and prints its trace. Machine addresses are mapped: loops of the core
/// touch them.
class silent_device {
  public:
    /// @param entry  the function of the header that each core runs
    /// @param dense  the kernel whose strides its parameters ask for; null: a program
    silent_device(machine const& where, std::string const& header, std::string const& entry, plan_value const* dense) : plan_(dense) {
        text_ << "#define _GNU_SOURCE\n#define TILEWRIGHT_TRACE_STORAGE\n#include <pthread.h>\n#include <stdatomic.h>\n"
                 "#include <stdbool.h>\n#include <stdio.h>\n#include <sys/mman.h>\n"
                 "_Thread_local int now;\n"
                 "#include <tilewright/runtime/trace.h>\n#include \""
              << entry
              << ".h\"\n"
                 "uint64_t tilewright_cycles(void) { static atomic_ullong passed; return passed += 3; }\n"
                 "static void write_letter(char letter) { putchar(letter); }\n";
        static std::regex const prototype(R"(int (\w+)\(([^)]*)\);)");
        std::string call;
        for (std::sregex_iterator at(header.begin(), header.end(), prototype), end; at != end; ++at) {
            if ((*at)[1] == entry) call = call_with((*at)[2]);
            else text_ << "int " << (*at)[1] << "(" << (*at)[2] << ") { return 0; }\n";
        }
        text_ << "static void *run(void *core) {\n    now = (int)(intptr_t)core;\n    return (void *)(intptr_t)" << entry << "(" << call
              << ");\n}\nint main(void) {\n    pthread_t threads[TILEWRIGHT_TRACE_CORES];\n    int code = 0;\n";
        for (int at = 0; at < where.memories.size(); ++at) {
            memory const& m = where.memories[at];
            if (m.has_address()) {
                text_ << "    mmap((void *)" << m.bank_base(0) / 4096 * 4096
                      << "ul, 1 << 23, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);\n";
            }
        }
        text_ << "    for (intptr_t core = 0; core < TILEWRIGHT_TRACE_CORES; ++core)\n"
                 "        pthread_create(&threads[core], NULL, run, (void *)core);\n"
                 "    for (int core = 0; core < TILEWRIGHT_TRACE_CORES; ++core) {\n        void *result;\n"
                 "        pthread_join(threads[core], &result);\n        code |= result != NULL;\n    }\n"
                 "    tilewright_trace_dump(write_letter);\n    return code;\n}\n";
    }
    std::string text() const { return text_.str(); }

  private:
    std::string call_with(std::string const& parameters) {
        std::istringstream from(parameters);
        std::string call;
        int count = 0;
        for (std::string one; std::getline(from, one, ',');) {
            std::string const name = one.substr(one.find_last_of(" *") + 1);
            call += call.empty() ? "" : ", ";
            if (one.find('*') != std::string::npos) {
                std::string const memory = "memory_" + std::to_string(count++);
                text_ << "static _Alignas(4096) char " << memory << "[1 << 20];\n";
                call += "(void *)" + memory;
            } else {
                call += name == "core" ? "now" : stride_of(name);
            }
        }
        return call;
    }
    /// Of a dense tensor; 1 for a scalar.
    std::string stride_of(std::string const& name) const {
        static std::regex const stride(R"((\w+)_stride_(\d+))");
        std::smatch found;
        if (!std::regex_match(name, found, stride)) return "1";
        for (int at = 0; plan_ != nullptr && at < plan_->buffers.size(); ++at) {
            ir::buffer const& b = plan_->buffers[at];
            if (b.kind == ir::buffer_kind::argument && b.tensor.str() == found[1]) return std::to_string(b.stride(std::stoi(found[2])));
        }
        return "1";
    }

    plan_value const* plan_;
    std::ostringstream text_;
};

struct traced_kernel {
    std::unique_ptr<call_log> expected;
    std::vector<core_trace> trace;
};
/// Compiles a device and runs it. @return nothing where it fails
/// @param cores, records  of the rings
std::optional<std::vector<core_trace>> trace_of_device(folder const& here, std::string const& sources, int cores, int records = 16384) {
    std::string const flags = " -w -O1 -I. -I" TILEWRIGHT_INCLUDE
                              " -pthread -DTILEWRIGHT_TRACE '-DTILEWRIGHT_TRACE_CORE()=now' -DTILEWRIGHT_TRACE_RECORDS=" +
                              std::to_string(records) + " -DTILEWRIGHT_TRACE_CORES=" + std::to_string(std::max(cores, 1));
    std::string const command =
        "cd " + here.name() + " && " TILEWRIGHT_C_GCC + flags + " " + sources + " main.c -o device && ./device > trace";
    if (std::system(command.c_str()) != 0) return std::nullopt;
    return trace_of_file(here / "trace");
}
/// Nothing where the device did not run.
/// @param records  of each core's ring
std::optional<traced_kernel> run(schedule const& of, semantics_table const& semantics, int records = 16384) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    traced_kernel made{std::make_unique<call_log>(*plan->where), {}};
    log_calls(*made.expected, *plan, semantics);
    folder const here;
    halide::c_source_text const text = halide::c_source(of, *plan, {"kernel", halide::binding::device, {"trace_of.h"}});
    here.write("kernel.c", "extern _Thread_local int now;\n" + text.source);
    here.write("kernel.h", text.header);
    here.write("trace_of.h", trace_header(*plan->where, "trace_of"));
    here.write("main.c", silent_device(*plan->where, text.header, "kernel", plan.get()).text());
    auto const trace = trace_of_device(here, "kernel.c", plan->cores, records);
    if (!trace) return std::nullopt;
    made.trace = *trace;
    return made;
}

/// Likewise of a program on one machine.
traced_kernel run_program(program_plan_value const& plan, std::vector<semantics_table> const& semantics) {
    machine const& where = *plan.of->agents[0].where;
    traced_kernel made{std::make_unique<call_log>(machines_of(plan)), {}};
    log_calls(*made.expected, plan, semantics);
    folder const here;
    std::string header;
    for (auto const& [name, text] : halide::c_program(plan, {"whole", halide::binding::device, {"now.h", "trace_of.h"}})) {
        here.write(name, text);
        if (name == "whole.h") header = text;
    }
    here.write("now.h", "extern _Thread_local int now;\n");
    here.write("trace_of.h", trace_header(where, "trace_of"));
    here.write("main.c", silent_device(where, header, "whole", nullptr).text());
    auto const trace = trace_of_device(here, "whole.c", plan.cores);
    REQUIRE(trace);
    made.trace = *trace;
    return made;
}
/// The layers that a core works for, in their order.
std::vector<std::string> layers_of(call_log const& log, int core) {
    std::vector<std::string> all;
    for (expected_call const& one : log.of_core(core)) {
        if (!one.layer.empty() && (all.empty() || all.back() != one.layer)) all.push_back(one.layer);
    }
    return all;
}

constexpr machine by_tokens = accelerators::accelerator(accelerators::ordered::by_tokens, 16);
schedule product_by_tokens() {
    static constexpr axis m{"m", 32}, n{"n", 16}, k{"k", 16}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
    static constexpr tensor<std::int8_t> A{"A"}, B{"B"};
    static constexpr tensor<std::int32_t> C{"C"};
    static constexpr auto product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    schedule made(product, by_tokens);
    made.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki);
    made.cache_read(A, accelerators::inputs).at(ko).buffers(2).cache_read(B, accelerators::weights).at(ko).buffers(2);
    return made.cache_write(C, accelerators::sums).at(no).buffers(2).tensorize(mi, ni, ki, by_tokens.intrinsics[0]);
}

class checker {
  public:
    /// The device does what the emulator does; and each function that is called with another argument is named.
    void check(schedule const& of, semantics_table const& semantics) {
        CAPTURE(of.where().name.str(), ++kernels_);
        std::optional<traced_kernel> const made = run(of, semantics);
        REQUIRE(made);
        CHECK(trace_difference::between(*made->expected, made->trace) == "");
        std::set<std::string> seen;
        for (std::size_t core = 0; core < made->trace.size(); ++core) {
            for (std::size_t at = 0; at < made->trace[core].calls.size(); ++at) {
                traced_call const& call = made->trace[core].calls[at];
                if (call.arguments.empty() || !seen.insert(call.symbol).second) continue;
                check_changed(*made, core, at);
            }
        }
    }
    std::set<std::string> const& named() const { return named_; }

  private:
    void check_changed(traced_kernel const& made, std::size_t core, std::size_t at) {
        for (std::size_t which = 0; which < made.trace[core].calls[at].arguments.size(); ++which) {
            // What the trace cannot know: data, and where something is that only the device knows, at its first use.
            expected_argument const& should = made.expected->of_core(made.trace[core].core)[at].arguments[which];
            if (!should.known || !should.base.empty()) continue;
            std::vector<core_trace> changed = made.trace;
            ++changed[core].calls[at].arguments[which];
            std::string const text = trace_difference::between(*made.expected, changed), symbol = changed[core].calls[at].symbol;
            CAPTURE(symbol, which, text);
            CHECK(text.find("core " + std::to_string(made.trace[core].core) + ", call " + std::to_string(at) + ": " + symbol + ": `" +
                            should.name + "` should be ") == 0);
            named_.insert(symbol);
        }
    }

    std::set<std::string> named_;
    int kernels_ = 0;
};

}  // namespace

TEST_CASE("devices that do what the plan says make the calls of the emulator: addresses, settings, tokens, waits, cores, caches, views") {
    checker of_all;
    of_all.check(systolic::matmul_by_rows, semantics_of<systolic::npu>);
    of_all.check(systolic::positive_by_rows, semantics_of<systolic::npu>);
    of_all.check(systolic::matmul_pipelined, semantics_of<systolic::npu_aside>);
    of_all.check(product_by_tokens(), semantics_of<by_tokens>);
    for (schedule const& one : cached_cores::with_caches()) of_all.check(one, semantics_of<cached_cores::two>);
    for (schedule const& one : cores_of_dsp::with_multicasts()) of_all.check(one, semantics_of<cores_of_dsp::with_noc>);
    of_all.check(views::layer_on_npu, semantics_of<views::npu>);
    of_all.check(values::scaled_on_npu, semantics_of<values::npu>);
    of_all.check(values::floats_on_npu, semantics_of<values::npu>);
    of_all.check(features::scaled_on_core, semantics_of<features::core_with_tcm>);
    CHECK(of_all.named().size() > 20);
}
TEST_CASE("where the ring of a core is too short, its last calls are compared with the emulator's last ones, and it is said") {
    schedule const of = cached_cores::with_caches().back();
    auto const whole = run(of, semantics_of<cached_cores::two>), made = run(of, semantics_of<cached_cores::two>, 3);
    REQUIRE((whole && made));
    REQUIRE(made->trace.size() == 2);
    CHECK(lost_text(whole->trace) == "");
    CHECK(trace_difference::between(*made->expected, made->trace) == "");
    for (std::size_t core = 0; core < 2; ++core) {
        std::size_t const all = whole->trace[core].calls.size();
        REQUIRE(all > 3);
        CHECK(made->trace[core].calls.size() == 3);
        CHECK(made->trace[core].lost == static_cast<std::int64_t>(all - 3));
        CHECK(lost_text(made->trace)
                  .find("core " + std::to_string(core) + ": the first " + std::to_string(all - 3) +
                        " calls are lost, since the ring was too short") != std::string::npos);
        // The calls that were kept have their own numbers.
        std::vector<core_trace> changed = made->trace;
        changed[core].calls[1].symbol = "other";
        CHECK(trace_difference::between(*made->expected, changed)
                  .find("core " + std::to_string(core) + ", call " + std::to_string(all - 2) + ": expected ") == 0);
    }
}
TEST_CASE("the trace of a program has the calls of all its kernels, one after the other") {
    program_plan_value const& plan = program_plan<alike_programs::kinds>;
    folder const here;
    halide::file_list const files = halide::c_program(plan, {"whole", halide::binding::device, {"trace_of.h"}});
    for (auto const& [name, text] : files) here.write(name, text);
    here.write("trace_of.h", trace_header(alike_programs::where, "trace_of"));
    static std::regex const prototype(R"(int (\w+)\(([^)]*)\);)");
    std::ostringstream device;
    device << "#define TILEWRIGHT_TRACE_STORAGE\n#include <stdbool.h>\n#include <stdio.h>\n#include <tilewright/runtime/trace.h>\n"
              "#include \"whole.h\"\nuint64_t tilewright_cycles(void) { static uint64_t passed; return passed += 3; }\n"
              "static void write_letter(char letter) { putchar(letter); }\nstatic int32_t tensors[7][100];\nstatic _Alignas(64) int32_t "
              "pool[2048];\n";
    std::set<std::string> known;
    std::string const header = trace_header(alike_programs::where, "trace_of");
    for (std::sregex_iterator at(header.begin(), header.end(), prototype), end; at != end; ++at) {
        if (known.insert((*at)[1]).second) device << "int " << (*at)[1] << "(" << (*at)[2] << ") { return 0; }\n";
    }
    device << "int main(void) {\n    const struct whole_memories memories = {.pool = pool};\n"
              "    const int code = whole(tensors[0], tensors[1], tensors[2], tensors[3], tensors[4], tensors[5], tensors[6], &memories);\n"
              "    tilewright_trace_dump(write_letter);\n    return code;\n}\n";
    here.write("main.c", device.str());
    std::string const command = "cd " + here.name() +
                                " && " TILEWRIGHT_C_GCC " -w -O1 -I. -I" TILEWRIGHT_INCLUDE
                                " -DTILEWRIGHT_TRACE whole.c main.c -o device && ./device > trace";
    REQUIRE(std::system(command.c_str()) == 0);
    std::vector<core_trace> const trace = trace_of_file(here / "trace");
    REQUIRE(trace.size() == 1);
    std::vector<std::pair<std::string, int>> in_a_row;
    for (traced_call const& one : trace[0].calls) {
        if (in_a_row.empty() || in_a_row.back().first != one.symbol) in_a_row.emplace_back(one.symbol, 0);
        ++in_a_row.back().second;
    }
    // Three kernels load what they double or triple; of the others, three call an instruction for each of ten rows.
    CHECK(in_a_row == std::vector<std::pair<std::string, int>>{{"get", 3}, {"add10", 10}, {"sub10", 10}, {"add10", 10}});
    // Costs are fitted to the calls of all of them.
    std::string const costs = fit_text(alike_programs::where, trace);
    CHECK(costs.find("add10: .cycles(3)\n    20 calls; error at most 0.0 %") != std::string::npos);
    CHECK(costs.find("sub10: .cycles(3)\n    10 calls; error at most 0.0 %") != std::string::npos);

    // So are they compared with the emulator's, and the layer of the first wrong one is named.
    call_log expected(machines_of(plan));
    log_calls(expected, plan, {semantics_of<alike_programs::where>});
    CHECK(trace_difference::between(expected, trace) == "");
    CHECK(layers_of(expected, 0) == std::vector<std::string>{"double_a", "double_b", "triple_a", "add", "subtract", "add_again"});
    // Three loads; ten calls of each of three layers: the fifth of the last one.
    std::vector<core_trace> changed = trace;
    std::swap(changed[0].calls[27], changed[0].calls[28]);
    CHECK(trace_difference::between(expected, changed).find("core 0, call 27 (add_again, call 4): add10: `") == 0);
    changed = trace;
    changed[0].calls.erase(changed[0].calls.begin() + 3, changed[0].calls.begin() + 13);
    CHECK(trace_difference::between(expected, changed).find("core 0, call 3 (add, call 0): expected add10(") == 0);
    changed = trace;
    changed[0].calls[1].arguments[0] = changed[0].calls[0].arguments[0] + 4;
    CHECK(trace_difference::between(expected, changed).find("(double_b, call 0)") ==
          std::string::npos);  // the first use of b says where it is
    changed[0].calls[2].arguments[0] += 4;
    CHECK(trace_difference::between(expected, changed).find("core 0, call 2 (triple_a, call 0): get: `source` should be byte 0 of a") == 0);
}
TEST_CASE("a trace of a program that cores share has each core's layers") {
    auto made = run_program(program_plan<core_programs::shared_by_four>, {semantics_of<core_programs::quad>});
    REQUIRE(made.trace.size() == 4);
    CHECK(trace_difference::between(*made.expected, made.trace) == "");
    // In `sum`, all wait for what core 0 brings them.
    CHECK(layers_of(*made.expected, 3) == std::vector<std::string>{"twice", "sum"});
    // Core 2 meets the others before it brings its first row.
    std::vector<traced_call>& calls = made.trace[2].calls;
    auto const first = std::find_if(calls.begin(), calls.end(), [](traced_call const& c) { return c.symbol == "bring"; });
    REQUIRE(first != calls.begin());
    auto const number = std::to_string(first - calls.begin());
    first->arguments[0] += 4;
    CHECK(trace_difference::between(*made.expected, made.trace).find("core 2, call " + number + " (twice, call 0): bring: `source`") == 0);
    calls.erase(calls.begin());
    CHECK(trace_difference::between(*made.expected, made.trace).find("core 2, call 0: expected ") == 0);  // a barrier of the program
}
TEST_CASE("copies by engines of the caller's machine are layers of a trace") {
    program_plan_value const& plan = program_plan<engine_programs::copying>;
    call_log log(machines_of(plan));
    CHECK(machines_of(plan).size() == 1);
    log_calls(log, plan, std::vector<semantics_table>(static_cast<std::size_t>(plan.of->agent_count)));
    std::set<std::string> layers;
    for (std::string const& one : layers_of(log, 0)) layers.insert(one);
    for (int k = 0; k < plan.kernels.size(); ++k) {
        if (plan.kernel_at(k).is_copy()) CHECK(layers.count(plan.kernel_at(k).name.str()) == 1);
    }
}

namespace {

/// A cpu that loads for two npus beside it, whose machine is the same.
struct two_npus {
    machine cpu_machine = chip::cpu_machine, npu_machine = chip::npu_machine;
    agent npu0, npu1, cpu;
    schedule doubled, added;
    program what{"whole"};
    program_plan_value plan;

    two_npus()
        : npu0(agent("npu0", with_room(npu_machine)).aside("npu0_start", "npu0_join")),
          npu1(agent("npu1", npu_machine).aside("npu1_start", "npu1_join")),
          cpu("cpu", with_room(cpu_machine)),
          doubled(chip::doubled, npu_machine),
          added(chip::added, cpu_machine) {
        using namespace chip;
        doubled.cache_read(x, spad).at(i).cache_write(r, spad).at(i);
        what.input(in, l2).run("a", npu0, doubled).bind(x, in).bind(r, t0).run("b", npu1, doubled).bind(x, in).bind(r, t1);
        what.run("c", cpu, added).bind(x, t0).bind(y, t1).bind(r, out).output(out, l2);
        plan = make_program_plan(what);
    }
    void log(call_log& into) const { log_calls(into, plan, std::vector<semantics_table>(static_cast<std::size_t>(plan.of->agent_count))); }

  private:
    /// Three tensors are alive together.
    static machine const& with_room(machine& of) {
        for (memory& one : of.memories.parts) {
            if (one.name == chip::act.name) one.capacity = 1200;
        }
        return of;
    }
};

/// Each agent has a thread, whose ring is its own.
constexpr char const* device_of_two_npus = R"(#define TILEWRIGHT_TRACE_STORAGE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
_Thread_local int now;
#include <tilewright/runtime/trace.h>
#include "whole.h"
uint64_t tilewright_cycles(void) { static atomic_ullong passed; return passed += 3; }
static void write_letter(char letter) { putchar(letter); }
int fetch(const void *source, void *destination, int64_t bytes) { return 0; }
int mvin(const void *source, void *destination, int64_t bytes) { return 0; }
int mvout(const void *source, void *destination, int64_t bytes) { return 0; }
static struct work { pthread_t thread; int core; int (*kernel)(void *); void *arguments; } works[3];
static void *run(void *at) {
    struct work *const w = at;
    now = w->core;
    return (void *)(intptr_t)w->kernel(w->arguments);
}
static int start(int core, int (*kernel)(void *), void *arguments) {
    works[core] = (struct work){.core = core, .kernel = kernel, .arguments = arguments};
    return pthread_create(&works[core].thread, NULL, run, &works[core]);
}
static int join(int core) {
    void *code;
    return pthread_join(works[core].thread, &code) + (int)(intptr_t)code;
}
int npu0_start(int (*kernel)(void *), void *arguments) { return start(1, kernel, arguments); }
int npu1_start(int (*kernel)(void *), void *arguments) { return start(2, kernel, arguments); }
int npu0_join(void) { return join(1); }
int npu1_join(void) { return join(2); }
int main(void) {
    static _Alignas(64) char act[1200], spads[2][128], l2[4096];
    int const code = whole(&(struct whole_memories){.act = act, .npu0_spad = spads[0], .npu1_spad = spads[1], .l2 = l2});
    tilewright_trace_dump(write_letter);
    return code;
}
)";

std::string difference(call_log const& expected, std::vector<core_trace> const& traces) {
    return trace_difference::between(expected, traces);
}

}  // namespace

TEST_CASE("agents beside the caller are compared each by itself: by whose trace it is, or by their functions") {
    two_npus const of;
    REQUIRE(to_string(of.plan.refusal) == "; ");
    call_log expected(machines_of(of.plan));
    of.log(expected);
    folder const here;
    for (auto const& [name, text] :
         halide::c_program(of.plan, {"whole", halide::binding::device, {"now.h", "trace_of_cpu.h", "trace_of_npu.h"}}))
        here.write(name, text);
    here.write("now.h", "extern _Thread_local int now;\n");
    here.write("trace_of_cpu.h", trace_header(of.cpu_machine, "trace_of_cpu"));
    here.write("trace_of_npu.h", trace_header(of.npu_machine, "trace_of_npu"));
    here.write("main.c", device_of_two_npus);
    std::optional<std::vector<core_trace>> const run = trace_of_device(here, "whole.c", 3);
    REQUIRE((run && run->size() == 3));
    std::vector<core_trace> made = *run;
    CHECK((made[0].calls.size() == 1 && made[1].calls.size() == 20 && made[2].calls.size() == 20));

    // Both npus have the same functions, so somebody has to say whose a trace is.
    CHECK_THROWS_WITH(difference(expected, made), Catch::Contains("several agents call `mvin` beside each other: write whose trace it is"));
    made[1].agent = "npu0", made[2].agent = "npu1";
    CHECK(difference(expected, made) == "");
    made[0].agent = "cpu";
    CHECK(difference(expected, made) == "");
    // Each processor with its own trace, in which it is core 0.
    made[1].core = made[2].core = 0;
    CHECK(difference(expected, made) == "");
    made[2].agent = "npu2";
    CHECK_THROWS_WITH(difference(expected, made), Catch::Contains("no agent `npu2` runs kernels"));
    made[2].agent = "npu0";
    CHECK_THROWS_WITH(difference(expected, made), Catch::Contains("calls of agent `npu0` stand in several rings"));
    made[2].agent = "npu1";

    std::vector<core_trace> changed = made;
    changed[2].calls[4].arguments[2] += 1;
    CHECK(difference(expected, changed).find("agent npu1, call 4 (b, call 4): mvin: `bytes` should be 40, and is 41\n") == 0);
    changed = made;
    changed[1].calls.clear();
    CHECK(difference(expected, changed) == "agent npu0: the trace has no calls of it, and it should make 20\n");
    changed = made;
    changed[1].calls.erase(changed[1].calls.begin(), changed[1].calls.begin() + 6), changed[1].lost = 6;
    CHECK(difference(expected, changed) == "");
}
TEST_CASE("where functions say who calls, one ring can have the calls of several agents") {
    // The second product is of the caller's, whose machine has other functions.
    static machine const own("own", chip::act, chip::spad, transfer("own_mvin", chip::act, chip::spad),
                             transfer("own_mvout", chip::spad, chip::act));
    using namespace chip;
    static schedule const staged = schedule(doubled, own).cache_read(x, spad).at(i).cache_write(r, spad).at(i);
    static agent const here("here", own);
    program mixed("mixed");
    mixed.input(in, act).run("a", npu0, staged_on_npu).bind(x, in).bind(r, t0).run("b", here, staged).bind(x, t0).bind(r, out);
    mixed.output(out, act);
    program_plan_value const plan = make_program_plan(mixed);
    REQUIRE(to_string(plan.refusal) == "; ");
    call_log expected(machines_of(plan));
    log_calls(expected, plan, std::vector<semantics_table>(2));
    REQUIRE((expected.of_core(0).size() == 20 && expected.of_agent("npu0").size() == 20));

    // What the emulator was asked for, the agent's calls in between.
    std::vector<core_trace> made(1);
    auto const add = [&](expected_call const& one) {
        traced_call call{one.symbol};
        for (expected_argument const& a : one.arguments) call.arguments.push_back((a.base.empty() ? 0 : 0x1000) + a.value);
        made[0].calls.push_back(call);
    };
    for (std::size_t at = 0; at < 20; ++at) add(expected.of_core(0)[at]), add(expected.of_agent("npu0")[at]);
    CHECK(difference(expected, made) == "");
    std::vector<core_trace> changed = made;
    ++changed[0].calls[7].arguments[2];
    CHECK(difference(expected, changed).find("agent npu0, call 3 (a, call 3): mvout: `bytes` should be 40, and is 41\n") == 0);
    changed = made;
    ++changed[0].calls[6].arguments[2];
    CHECK(difference(expected, changed).find("core 0, call 3 (b, call 3): own_mvout: `bytes` should be 40, and is 41\n") == 0);
    changed = made;
    changed[0].lost = 2;
    CHECK_THROWS_WITH(difference(expected, changed),
                      Catch::Contains("core 0 lost calls, and its trace has those of agents that work beside"));
}
