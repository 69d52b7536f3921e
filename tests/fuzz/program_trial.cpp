#include "fuzz/program_trial.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/halide/jit_program.hpp>

#include "fuzz/program_device.hpp"
#include "fuzz/trial.hpp"
#include "program/drawn_run.hpp"

namespace fuzz {

using namespace tilewright;

namespace {

/// The program as something that runs. @return its code
using program_code = std::function<int()>;

/// C that defines what a program's C of the emulated binding asks for, on the emulated program that is given to `NAME_use`.
/// @param binding  the same in C++: the machine of each kind of kernel is a line of it, which is C, too
std::string c_binding(std::string const& name, std::string const& binding) {
    std::ostringstream text;
    text << "#include \"" << name << ".h\"\nvoid *tilewright_emulated_agent(void *program, int32_t agent);\nstatic void *program;\nvoid "
         << name << "_use(void *given);\nvoid " << name << "_use(void *given) { program = given; }\nvoid *" << name
         << "_program(void);\nvoid *" << name << "_program(void) { return program; }\n";
    std::istringstream lines(binding);
    std::string const head = "extern \"C\" void* ", tail = "_machine()";
    for (std::string line; std::getline(lines, line);) {
        std::size_t const at = line.find(tail);
        if (line.compare(0, head.size(), head) != 0 || at == std::string::npos) continue;
        std::string const declared = "void *" + line.substr(head.size(), at - head.size()) + "_machine(void)";
        text << declared << ";\n" << declared << line.substr(at + tail.size()) << "\n";
    }
    return text.str();
}

}  // namespace

struct program_trial::inside {
    static constexpr char const* name = "drawn";

    std::uint64_t seed;
    std::unique_ptr<programs::drawn_program> drawn;
    std::unique_ptr<program_plan_value> plan{};
    std::unique_ptr<program_emulator> on{};

    /// One run. @return what is wrong; empty: nothing
    std::string check_run(program_code const& code) {
        on->fill_memories(0xa5);
        on->reset();
        auto const address = [&](int at) { return on->address(at); };
        programs::give_inputs(*drawn, *plan, address);
        if (int const said = code(); said != 0 || !on->error().empty())
            return "error: it returns " + std::to_string(said) + " " + on->error();
        if (plan->total_known && static_cast<double>(on->cycles()) != static_cast<double>(plan->cycles()))
            return "cycles: " + std::to_string(on->cycles()) + " executed, " + std::to_string(static_cast<double>(plan->cycles())) +
                   " predicted";
        std::string const wrong = programs::wrong_output(*drawn, *plan, address);
        return wrong.empty() ? wrong : "result: output " + wrong + " differs";
    }
    /// However engines get on; calls of transfers fail in turn, on one agent after the other; then it runs as if nothing had been.
    std::string check(program_code const& code) {
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            on->use(how, seed);
            std::string const wrong = check_run(code);
            if (!wrong.empty()) return wrong + " (engines " + name_of(how) + ")";
        }
        for (int agent = 0; agent < drawn->what.agent_count; ++agent) {
            for (progress how : {progress::earliest, progress::latest}) {
                on->use(how, seed);
                std::string wrong = check_run(code);
                if (!wrong.empty()) return wrong + " (after a failure)";
                std::int64_t calls = 0;
                for (int at = 0; at < on->on(agent).what().transfers.size(); ++at) calls += on->on(agent).transfers(at).calls;
                for (std::int64_t which : failing_calls(calls)) {
                    on->reset();
                    on->on(agent).fail_transfer(which, -9);
                    int const said = code();
                    if (said != -9)
                        return "failure: call " + std::to_string(which) + " of agent " + std::to_string(agent) + " failed, it returns " +
                               std::to_string(said);
                    for (int other = 0; other < drawn->what.agent_count; ++other) {
                        if (on->on(other).in_flight() != 0) return "failure: jobs are left in flight";
                    }
                }
            }
        }
        on->use(progress::random, seed + 1);
        std::string const wrong = check_run(code);
        return wrong.empty() ? wrong : wrong + " (after failures)";
    }
    /// C of a binding, written into a folder and compiled with what it calls. @throws what the library throws
    void* compiled_c(std::filesystem::path const& folder, halide::file_list const& files, std::string const& called) {
        std::filesystem::create_directory(folder);
        for (auto const& [file, text] : files) std::ofstream(folder / file, std::ios::binary) << text;
        std::ofstream(folder / "called.c") << called;
        return compile_c(folder, {std::string(name) + ".c", "called.c"});
    }
    /// On the emulated machines. @return what is wrong; empty: nothing
    std::string check_emulated_c(std::filesystem::path const& folder) {
        halide::detail::c_program_writer writer(*plan, {name, halide::binding::emulated, {}});
        halide::file_list const files = writer.write();
        void* const library = compiled_c(folder, files, c_binding(name, writer.binding("", "")));
        reinterpret_cast<void (*)(void*)>(dlsym(library, (std::string(name) + "_use").c_str()))(on.get());
        return check(reinterpret_cast<int (*)()>(dlsym(library, name)));
    }
    /// On a device of the walk, whose engines and agents are early and late; every call that starts something fails in turn.
    std::string check_device_c(std::filesystem::path const& folder) {
        halide::file_list const files = halide::c_program(*plan, {name, halide::binding::device, {}});
        program_device device(*plan, name, files);
        device_in_use() = &device;
        std::vector<void*> at = device.given();
        void* const library = compiled_c(folder, files, device_functions(name, files.at(0).second, at.size()));
        auto* const call = reinterpret_cast<int (*)(void**)>(dlsym(library, (std::string(name) + "_call").c_str()));
        auto const address = [&](int tensor) { return device.address(plan->tensor_at(tensor)); };
        auto const run = [&](bool late_engines, bool late_agents) -> std::string {
            device.prepare(late_engines, late_agents);
            programs::give_inputs(*drawn, *plan, address);
            if (int const said = call(at.data()); said != 0) return "error: it returns " + std::to_string(said);
            if (std::string const left = device.fault(); !left.empty()) return "error: " + left;
            std::string const wrong = programs::wrong_output(*drawn, *plan, address);
            return wrong.empty() ? wrong : "result: output " + wrong + " differs";
        };
        for (bool late_engines : {false, true}) {
            for (bool late_agents : {false, true}) {
                std::string const how = std::string(" (on a device, engines ") + (late_engines ? "late" : "early") + ", agents " +
                                        (late_agents ? "late)" : "early)");
                if (std::string const wrong = run(late_engines, late_agents); !wrong.empty()) return wrong + how;
                for (std::int64_t which : failing_calls(device.calls())) {
                    device.prepare(late_engines, late_agents, which);
                    int const said = call(at.data());
                    std::string const what = "failure: call " + std::to_string(which) + " failed, ";
                    if (said != program_device::failed_call) return what + "it returns " + std::to_string(said) + how;
                    if (std::string const left = device.fault(); !left.empty()) return what + left + how;
                }
                if (std::string const wrong = run(late_engines, late_agents); !wrong.empty()) return wrong + how + " (after failures)";
            }
        }
        return {};
    }
};

program_trial::program_trial(programs::recipe const& of, std::uint64_t seed)
    : inside_(std::make_unique<inside>(inside{seed, programs::build(of)})) {}
program_trial::~program_trial() = default;

outcome program_trial::run() try {
    inside& in = *inside_;
    auto const failed = [](std::string const& text) { return outcome{outcome::kind::failed, "program_" + text}; };
    in.plan = std::make_unique<program_plan_value>(make_program_plan(in.drawn->what, 20'000));
    if (in.plan->refusal)
        return {outcome::kind::refused, "program_" + std::string(name_of(in.plan->refusal.kind)) + ": " + to_string(in.plan->refusal)};
    if (std::string const fault = programs::fault_of(*in.plan); !fault.empty()) return failed("plan: " + fault);
    in.on =
        std::make_unique<program_emulator>(*in.plan, std::vector<semantics_table>(static_cast<std::size_t>(in.drawn->what.agent_count)));
    {
        halide::jit_program compiled(*in.on);
        std::string const wrong = in.check([&] { return compiled.run(); });
        if (!wrong.empty()) return failed(wrong);
    }
    halide::jit_program checked(*in.on, true);
    in.on->use(progress::latest);
    std::string const wrong = in.check_run([&] { return checked.run(); });
    if (!wrong.empty()) return failed(wrong + " (every access checked)");
    return {};
} catch (std::exception const& wrong) {
    return {outcome::kind::failed, std::string("program_exception: ") + wrong.what()};
}

outcome program_trial::run_c() {
    std::string folder = (std::filesystem::temp_directory_path() / "tilewright_fuzz_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return {outcome::kind::failed, "c_program_exception: no folder for C source"};
    outcome found{.in_c = true};
    try {
        std::string wrong = inside_->check_emulated_c(folder + "/emulated");
        if (wrong.empty()) wrong = inside_->check_device_c(folder + "/device");
        if (!wrong.empty()) found = {outcome::kind::failed, "c_program_" + wrong, true};
    } catch (std::exception const& wrong) {
        found = {outcome::kind::failed, std::string("c_program_exception: ") + wrong.what()};
    }
    std::filesystem::remove_all(folder);
    return found;
}

programs::recipe draw_program(std::uint64_t seed) {
    auto const drawn = static_cast<std::uint32_t>(seed);
    programs::recipe const made = programs::drawer(drawn).draw_recipe();
    return drawn % 4 == 1 ? programs::in_parts(made, drawn) : made;
}

outcome try_program(programs::recipe const& of, std::uint64_t seed, bool with_c) try {
    program_trial one(of, seed);
    outcome found = one.run();
    if (found.is == outcome::kind::agreed && with_c) found = one.run_c();
    return found;
} catch (std::exception const& wrong) {
    return {outcome::kind::refused, std::string("no_program: ") + wrong.what()};  // a recipe that names what it does not have
}

}  // namespace fuzz
