#include "fuzz/trial.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/plan/check_plan.hpp>
#include <tilewright/plan/planner.hpp>

#include "c_source/caller.hpp"
#include "fuzz/build.hpp"
#include "fuzz/interpreted.hpp"
#include "fuzz/operands.hpp"

namespace fuzz {

namespace {

outcome failed(std::string const& category, std::string const& text) { return {outcome::kind::failed, category + ": " + text}; }

/// What a kernel is run with, at some extents, and what it must give.
struct setting_of_run {
    plan_value plan;
    std::vector<placed_tensor> tensors{};  ///< inputs in the order of the plan, then the result
    std::vector<std::vector<std::byte>> contents{};
    oracle::result wanted;
    std::vector<axis_extent> extents{};
};

}  // namespace

std::vector<std::int64_t> failing_calls(std::int64_t calls) {
    constexpr std::int64_t most = 24;
    std::vector<std::int64_t> found;
    for (std::int64_t at = 0; at < std::min(calls, most); ++at) found.push_back(calls <= most ? 1 + at : 1 + at * (calls - 1) / (most - 1));
    return found;
}

struct trial::inside {
    drawn_case what;
    std::unique_ptr<built_case> built;
    std::unique_ptr<plan_value> plan;
    std::vector<std::unique_ptr<setting_of_run>> runs{};
    std::vector<double> parameters{};
    std::unique_ptr<emulator> on{};     ///< of a kernel for one core
    std::unique_ptr<core_team> team{};  ///< of a kernel for several

    explicit inside(drawn_case const& of) : what(of), built(build(of)) {}

    bool overlaps() const { return plan->rings.size() > 0 || tilewright::detail::is_ordered_aside(*plan); }

    int cores() const { return plan->cores; }
    bool multicasts() const {
        bool found = false;
        for (int at = 0; at < plan->movements.size(); ++at) found |= plan->is_multicast(plan->movements[at]);
        return found;
    }
    emulator& on_core(int core) { return team ? team->on(core) : *on; }
    template <class Visit>
    void each_core(Visit const& visit) {
        for (int core = 0; core < cores(); ++core) visit(on_core(core));
    }
    std::string error() const { return team ? team->error() : on->error(); }
    std::int64_t cycles() const { return team ? team->cycles() : on->cycles(); }
    std::int64_t serial_cycles() {
        std::int64_t all = 0;
        each_core([&](emulator const& core) { all += core.serial_cycles(); });
        return all;
    }
    /// Of which each may hand the turn over to another core.
    static constexpr std::int64_t many_calls = 3000;
    std::int64_t transfers(int core) {
        std::int64_t all = 0;
        for (int at = 0; at < plan->where->transfers.size(); ++at) all += on_core(core).transfers(at).calls;
        return all;
    }
    /// In the last run.
    std::int64_t calls() {
        std::int64_t all = 0;
        for (int core = 0; core < cores(); ++core) {
            all += transfers(core) + on_core(core).code().calls;
            for (int at = 0; at < plan->where->intrinsics.size(); ++at) all += on_core(core).intrinsics(at).calls;
        }
        return all;
    }
    std::size_t in_flight() {
        std::size_t all = 0;
        each_core([&](emulator const& core) { all += core.in_flight(); });
        return all;
    }
    void use(progress how) {
        each_core([&](emulator& core) { core.use(how, what.seed); });
    }

    /// The kernel as something that runs on operands. @return its code, or text of what it threw
    using kernel = std::function<std::string(setting_of_run&)>;

    /// One run, at one end of the pages, compared with what is wanted. @return what is wrong; empty: nothing
    std::string check_run(kernel const& code, setting_of_run& with, bool high, bool counts) {
        for (std::size_t at = 0; at < with.tensors.size(); ++at) with.tensors[at].place(high), with.tensors[at].fill(with.contents[at]);
        each_core([](emulator& core) { core.reset(); });
        std::string const said = code(with);
        if (!said.empty() || !error().empty()) return "error: " + said + " " + error();
        std::string const wrong = difference(with.wanted, with.tensors.back().dense());
        if (!wrong.empty()) return "result: " + wrong;
        for (std::size_t at = 0; at < with.tensors.size(); ++at) {
            if (!with.tensors[at].is_clean_around()) return "outside: bytes around " + with.tensors[at].box().name.str() + " were written";
            if (at + 1 < with.tensors.size() && with.tensors[at].dense() != with.contents[at])
                return "outside: " + with.tensors[at].box().name.str() + " was written";
        }
        if (!counts) return {};
        if (!(cycles() == predict(with.plan).cycles))
            return "cycles: " + std::to_string(cycles()) + " executed, " + std::to_string(static_cast<double>(predict(with.plan).cycles)) +
                   " predicted";
        if (serial_cycles() != with.plan.total_cycles)
            return "cycles: " + std::to_string(serial_cycles()) + " executed one after the other, " +
                   std::to_string(with.plan.total_cycles) + " predicted";
        return {};
    }
    /// In every way in which engines can get on.
    std::string check_progress(kernel const& code, setting_of_run& with, std::string const& how_compiled, bool threads) {
        if (team) return check_interleavings(code, with, how_compiled, threads);
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            if ((!overlaps() && how != progress::earliest) || (how == progress::threads && !threads)) break;
            use(how);
            std::string const wrong = check_run(code, with, how != progress::earliest, true);
            if (!wrong.empty()) return wrong + " (" + how_compiled + ", engines " + name_of(how) + ")";
        }
        use(progress::earliest);
        if (!overlaps()) {
            std::string const wrong = check_run(code, with, true, true);
            if (!wrong.empty()) return wrong + " (" + how_compiled + ", operands at the end of their pages)";
        }
        return {};
    }
    /// Whichever of the cores goes on when several can, with engines that are early or late.
    std::string check_interleavings(kernel const& code, setting_of_run& with, std::string const& how_compiled, bool aside,
                                    bool watched = false) {
        struct way {
            interleaving turns;
            std::uint64_t seed;
            progress engines;
            bool again = false;  ///< in turns that come in another way, too
        };
        using enum interleaving;
        way const ways[] = {{first, 1, progress::earliest},        {last, 1, progress::latest},
                            {random, what.seed, progress::random}, {random, what.seed + 1, progress::earliest},
                            {first, 1, progress::latest, true},    {last, 1, progress::earliest, true},
                            {threads, 1, progress::random},        {threads, 1, progress::latest, true}};
        for (way const& one : ways) {
            if (one.turns == threads && !aside) continue;
            if (one.again && (watched || !overlaps())) continue;
            if (calls() > many_calls && one.turns != first && one.turns != last) continue;
            team->use(one.turns, one.seed);
            use(one.engines);
            std::string const wrong = check_run(code, with, one.engines == progress::latest, true);
            if (!wrong.empty())
                return wrong + " (" + how_compiled + ", " + std::to_string(cores()) + " cores in turns " +
                       std::to_string(static_cast<int>(one.turns)) + ", seed " + std::to_string(one.seed) + ", engines " +
                       name_of(one.engines) + ")";
        }
        team->use(first);
        use(progress::earliest);
        return {};
    }
    /// Calls of transfers fail, one in each run: the code comes back, nothing is left in flight, and the next run is as good as ever.
    std::string check_failures(kernel const& code, setting_of_run& with) {
        use(progress::latest);
        std::string wrong = check_run(code, with, false, true);
        std::int64_t calls = 0;
        std::vector<std::int64_t> of_core;
        for (int core = 0; core < cores(); ++core) calls += of_core.emplace_back(transfers(core));
        for (std::int64_t n : failing_calls(calls)) {
            if (!wrong.empty()) break;
            std::int64_t own = n;
            int core = 0;
            while (own > of_core[static_cast<std::size_t>(core)]) own -= of_core[static_cast<std::size_t>(core++)];
            each_core([](emulator& one) { one.reset(); });
            if (team) team->use(n % 2 == 0 ? interleaving::first : interleaving::last);
            on_core(core).fail_transfer(own, -9);
            std::string const said = code(with);
            std::string const call = "call " + std::to_string(own) + (team ? " of core " + std::to_string(core) : "");
            if (said.find("-9") == std::string::npos) wrong = "failure: " + call + " failed, the kernel says " + said;
            else if (in_flight() != 0) wrong = "failure: " + call + " failed, jobs are left in flight";
        }
        if (wrong.empty() && calls > 0) {
            wrong = check_run(code, with, false, true);
            if (!wrong.empty()) wrong += " (after a failure)";
        }
        if (team) team->use(interleaving::first);
        use(progress::earliest);
        return wrong;
    }

    std::unique_ptr<setting_of_run> prepare(std::vector<axis_extent> const& extents) {
        auto made = std::make_unique<setting_of_run>(
            setting_of_run{.plan = extents.empty() ? *plan : plan->at(extents), .wanted = {}, .extents = extents});
        // A stage may compute more than is read of it: then the oracle reads more than the kernel.
        std::vector<oracle::tensor_box> boxes = oracle::inputs_of(made->plan.what, extents);
        boxes.push_back(oracle::output_of(made->plan.what, extents));
        std::deque<std::vector<std::byte>> whole;
        std::vector<oracle::operand> operands;
        std::uint64_t seed = what.seed * 31 + extents.size();
        for (bool written : {false, true}) {
            for (int at = 0; at < made->plan.buffers.size(); ++at) {
                ir::buffer const& b = made->plan.buffers[at];
                if (b.kind != ir::buffer_kind::argument || b.written != written) continue;
                ++seed;
                made->tensors.emplace_back(b, seed % 3 == 0 ? 1 + static_cast<std::int64_t>(seed % 5) : 0);
                tensor const* of = nullptr;
                for (tensor const& t : what.tensors) {
                    if (b.tensor == ir::label(t.name.c_str())) of = &t;
                }
                oracle::tensor_box box = made->tensors.back().box();
                for (oracle::tensor_box const& read : boxes) {
                    if (read.name == box.name) box = joined(box, read);
                }
                whole.push_back(draw_elements(*of, box.elements(), seed));
                operands.emplace_back(box, whole.back().data());
                made->contents.push_back(part_of(box, whole.back(), made->tensors.back().box()));
            }
        }
        for (std::size_t at = 0; at < made->tensors.size(); ++at) operands.emplace_back(made->tensors[at].box(), made->contents[at].data());
        std::vector<oracle::parameter_value> values = oracle::parameters_of(made->plan.what);
        for (oracle::parameter_value& v : values) {
            for (parameter const& p : what.parameters) {
                if (v.name == ir::label(p.name.c_str()))
                    visit_scalar(v.type, [&]<class T>(T) { v = oracle::parameter_value(v.name, static_cast<T>(p.given)); });
            }
        }
        made->wanted = oracle::evaluate(made->plan.what, operands, values, extents);
        return made;
    }
};

trial::trial(drawn_case const& of) : inside_(std::make_unique<inside>(of)) {}
trial::~trial() = default;
drawn_case const& trial::what() const { return inside_->what; }

outcome trial::plan() try {
    inside& in = *inside_;
    in.plan = std::make_unique<plan_value>(make_plan(in.built->made));
    if (in.plan->refusal) {
        if (to_string(in.plan->refusal).empty()) return failed("verdict", "a refusal without words");
        std::string const name = name_of(in.plan->refusal.kind);
        return {outcome::kind::refused, name + ": " + to_string(in.plan->refusal)};
    }
    for (int pass = 0; pass < (in.plan->run_time_extents > 0 ? 2 : 1); ++pass) {
        std::vector<axis_extent> extents;
        for (stage const& s : in.what.stages) {
            for (axis const& a : s.axes) {
                ir::label const name(a.name.c_str());
                bool const known = std::any_of(extents.begin(), extents.end(), [&](axis_extent const& e) { return e.name == name; });
                if (a.open && !known) extents.emplace_back(name, pass == 0 ? a.extent : 1 + (a.extent - 1) / 3);
            }
        }
        in.runs.push_back(in.prepare(extents));
        setting_of_run& with = *in.runs.back();
        if (!with.wanted.mishaps.empty()) return {outcome::kind::undefined, oracle::to_string(with.wanted.mishaps.front())};
        if (!(predict(with.plan).cycles == predict(with.plan, ir::visiting::everything).cycles))
            return failed("plan", "cycles by periods and by all steps differ");
        if (verdict const wrong = check_plan(with.plan, ir::visiting::everything)) return failed("plan", to_string(wrong));
    }
    ir::argument_list const list = ir::arguments_of(*in.plan);
    for (int at = 0; at < list.parameter_count; ++at) {
        ir::node const& n = in.plan->what[list.parameters[at]];
        for (parameter const& p : in.what.parameters) {
            if (n.name == ir::label(p.name.c_str())) in.parameters.push_back(p.given);
        }
    }
    interpreted_machine() = &in.built->where;
    semantics_table const semantics = interpreted_semantics(in.built->where);
    if (in.cores() > 1) in.team = std::make_unique<core_team>(in.built->where, semantics, in.cores());
    else in.on = std::make_unique<emulator>(in.built->where, semantics);
    return {.cores = in.cores(), .multicasts = in.multicasts()};
} catch (std::exception const& wrong) {
    return failed("exception", std::string("planned: ") + wrong.what());
}

/// LLVM leaves its loops alone.
static Halide::Target quick_target() { return halide::jit_target().with_feature(Halide::Target::DisableLLVMLoopOpt); }

outcome trial::run(bool quick) try {
    inside& in = *inside_;
    interpreted_machine() = &in.built->where;
    auto const as_buffer = [](placed_tensor const& t) {
        std::vector<halide_dimension_t> shape;
        for (int d = t.box().rank - 1; d >= 0; --d) {
            auto const at = static_cast<std::size_t>(d);
            shape.emplace_back(static_cast<std::int32_t>(t.box().minimum[at]), static_cast<std::int32_t>(t.box().extents[at]),
                               static_cast<std::int32_t>(t.strides()[at]));
        }
        return Halide::Buffer<>(halide::type_of(t.type()), t.first(), static_cast<int>(shape.size()), shape.data());
    };
    auto const runs = [&](halide::jit_kernel& kernel) -> inside::kernel {
        return [&](setting_of_run& with) -> std::string {
            std::vector<Halide::Buffer<>> inputs;
            for (std::size_t at = 0; at + 1 < with.tensors.size(); ++at) inputs.push_back(as_buffer(with.tensors[at]));
            try {
                if (!in.team) kernel.run(inputs, as_buffer(with.tensors.back()), in.parameters);
                else if (std::int32_t const code = kernel.run(*in.team, inputs, as_buffer(with.tensors.back()), in.parameters); code != 0)
                    return "it returns " + std::to_string(code);
            } catch (std::exception const& said) {
                return std::string("it says ") + said.what();
            }
            return {};
        };
    };
    auto const compiled = [&](bool checked) {
        return in.team ? halide::jit_kernel(*in.plan, *in.team, checked, quick ? quick_target() : halide::jit_target())
                       : halide::jit_kernel(*in.plan, in.on.get(), checked);
    };
    if (!quick || !in.team) {
        halide::jit_kernel kernel = compiled(false);
        for (auto const& with : in.runs) {
            std::string wrong = in.check_progress(runs(kernel), *with, "compiled at run time", true);
            if (wrong.empty() && with == in.runs.front()) wrong = in.check_failures(runs(kernel), *with);
            if (!wrong.empty()) return {outcome::kind::failed, wrong};
        }
    }
    halide::jit_kernel checked = compiled(true);
    for (auto const& with : in.runs) {
        if (in.team) {
            in.team->watch();
            std::string const wrong = in.check_interleavings(runs(checked), *with, "every access watched", quick, true);
            in.team->watch(false);
            if (!wrong.empty()) return {outcome::kind::failed, wrong};
            continue;  // an emulator knows what its core has written, and not what the others have
        }
        for (progress how : {progress::earliest, progress::latest}) {
            if (how != progress::earliest && !in.overlaps()) continue;
            in.use(how);
            in.on->check(with->plan);
            std::string const wrong = in.check_run(runs(checked), *with, false, true);
            in.on->stop_checking();
            if (!wrong.empty()) return {outcome::kind::failed, wrong + " (every access checked)"};
        }
    }
    in.use(progress::earliest);
    return {.cores = in.cores(), .multicasts = in.multicasts()};
} catch (std::exception const& wrong) {
    return failed("exception", wrong.what());
}

std::vector<std::string> trial::write_c(std::filesystem::path const& folder, std::string const& name) const {
    inside const& in = *inside_;
    try {
        halide::c_source_text const text = halide::c_source(in.built->made, *in.plan, {name, halide::binding::emulated, {}});
        std::ofstream(folder / (name + ".h")) << text.header;
        std::ofstream(folder / (name + ".c")) << text.source << c_kernels::caller_text(*in.plan, name, name + "_call");
    } catch (halide::unsupported_in_c const&) {
        return {};
    }
    return {name + ".c"};
}

outcome trial::run_c(void* library, std::string const& name) try {
    inside& in = *inside_;
    interpreted_machine() = &in.built->where;
    auto* const use = reinterpret_cast<void (*)(void*)>(dlsym(library, ("use_machine_of_" + name).c_str()));
    auto* const call = reinterpret_cast<c_kernels::call_type*>(dlsym(library, (name + "_call").c_str()));
    if (!in.team) use(in.on.get());
    inside::kernel const code = [&](setting_of_run& with) -> std::string {
        std::vector<void*> tensors;
        std::vector<std::int64_t> strides, extents;
        for (placed_tensor const& t : with.tensors) {
            tensors.push_back(t.first());
            for (int d = 0; d + 1 < t.box().rank; ++d) strides.push_back(t.strides()[d]);
        }
        for (int at = 0; at < in.plan->run_time_extents; ++at) {
            ir::shape const& from = ir::shape_of_extent(*in.plan, at, true);
            extents.push_back(with.plan.buffers[from.buffer].extents[from.dimension]);
        }
        extents.push_back(0);
        auto const on = [&](int core) {
            std::vector<std::int64_t> own = extents;
            own.back() = core;
            return call(tensors.data(), strides.data(), in.parameters.data(), own.data());
        };
        int const said = in.team ? in.team->run(on) : on(0);
        return said == 0 ? std::string() : "it returns " + std::to_string(said);
    };
    for (auto const& with : in.runs) {
        std::string wrong = in.check_progress(code, *with, "C source", in.cores() > 1);
        if (wrong.empty() && with == in.runs.front()) wrong = in.check_failures(code, *with);
        if (!wrong.empty()) return {outcome::kind::failed, "c_" + wrong, true};
    }
    return {.in_c = true, .cores = in.cores(), .multicasts = in.multicasts()};
} catch (std::exception const& wrong) {
    return failed("c_exception", wrong.what());
}

void* compile_c(std::filesystem::path const& folder, std::vector<std::string> const& files) {
    std::string command = "cd " + folder.string() +
                          " && " TILEWRIGHT_FUZZ_CC
                          " -std=c11 -Wall -Wextra -Wpedantic -Werror -ffreestanding -fPIC -O1 -fsanitize=undefined,address"
                          " -fno-sanitize-recover=all -shared -o all.so";
    for (std::string const& file : files) command += " " + file;
    if (std::system((command + " 2> said").c_str()) != 0) {
        std::ifstream said(folder / "said");
        throw std::runtime_error(std::string(std::istreambuf_iterator<char>(said), {}));
    }
    void* const library = dlopen((folder / "all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return library;
}

outcome try_case(drawn_case const& of, bool with_c) {
    outcome found;
    trial one(of);
    found = one.plan();
    if (found.is != outcome::kind::agreed) return found;
    found = one.run();
    if (found.is != outcome::kind::agreed || !with_c) return found;
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewright_fuzz_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return failed("exception", "no folder for C source");
    try {
        std::vector<std::string> const files = one.write_c(pattern, "one");
        if (!files.empty()) found = one.run_c(compile_c(pattern, files), "one");
    } catch (std::exception const& wrong) {
        found = failed("c_exception", wrong.what());
    }
    std::filesystem::remove_all(pattern);
    return found;
}

}  // namespace fuzz
