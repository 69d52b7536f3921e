// What tilewright_add_network_tool() compiles: prints trained networks, as the library reads them, and writes them as C.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <tilewright/network/given_extents.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
#include <tilewright/c_source/names.hpp>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/eject.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/fit.hpp>
#include <tilewright/import/layer_check.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/placement_report.hpp>
#include <tilewright/network/input_file.hpp>
#include <tilewright/reference/onnxruntime_node.hpp>
#include <tilewright/report/program_run_page.hpp>
#include <tilewright/tune/progress.hpp>
#endif

namespace {

using namespace tilewright;

network::graph read(std::filesystem::path const& model) {
    if (model.extension() == ".onnx") return network::read_onnx(model);
    if (model.extension() == ".tflite") return network::read_tflite(model);
    network::refuse(model.string(), network::refusal::not_a_model, {}, "its name ends neither in .onnx nor in .tflite");
}

#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
/// A model, which of its inputs and outputs are one state, and extents that it leaves to run time.
struct source {
    std::filesystem::path model = {};
    std::vector<imported::state_names> states = {};
    std::vector<network::given_extents> extents = {};
};
network::graph read(source const& from) {
    network::graph made = read(from.model);
    network::give_extents(made, from.extents);
    return made;
}
/// Nothing where it is not imported, placed and planned; then the reasons stand on stderr, a line each.
/// @param shows_layers  where it does not fit, where its layers would run is printed
std::unique_ptr<imported::fitted_network> plan_network(network::graph const& graph, source const& from, std::string const& name,
                                                       bool shows_layers = false) {
    auto const say = [&](std::string const& line) { std::cerr << from.model.string() << ": " << line << '\n'; };
    imported::layers layers = imported::layers_of(graph, from.states);
    for (std::string const& one : layers.refused) say(one);
    if (!layers.refused.empty()) return nullptr;
    try {
        // A build that waits sees for what; one that does not is not told.
        std::optional<tune::progress_line> progress;
        auto const begin = std::chrono::steady_clock::now();
        int begun = 0;  // with concatenations in place, and in strips where it does not fit, it is placed again from its first layer on
        auto const watch = [&](std::int64_t placed, std::int64_t all) {
            if (placed == 0)
                progress.emplace(begun == 0 ? "placing layers" : "placing layers again, attempt " + std::to_string(begun), all), ++begun;
            if (std::chrono::steady_clock::now() - begin >= std::chrono::seconds(2)) progress->show(placed, "");
        };
        auto made =
            std::make_unique<imported::fitted_network>(std::move(layers), ir::label(name.c_str()), imported::tool_is_for().what, watch);
        progress.reset();
        if (!made->plan().refusal) return made;
        if (shows_layers) std::cout << imported::placement_table(*made) << std::flush;
        say(made->refusal());
    } catch (imported::not_placed const& error) {
        std::istringstream lines(error.what());
        for (std::string line; std::getline(lines, line);) say(line);
    }
    return nullptr;
}
std::unique_ptr<imported::fitted_network> plan_network(source const& from, std::string const& name) {
    return plan_network(read(from), from, name);
}
/// The memories that the network uses, with the most bytes that are alive in each.
void print_memories(program_plan_value const& plan) {
    for (int at = 0; at < plan.memories.size(); ++at) {
        memory const& what = plan.memories[at].what;
        if (what.capacity == 0) continue;
        std::int64_t const peak = plan.peak(what).value, constants = plan.constant_bytes(what).value;
        if (peak == 0) continue;
        std::cout << what.name.str() << ": " << peak << " bytes";
        if (constants > 0) std::cout << ", of which constants are " << constants;
        std::cout << (plan.proven(what) ? ", the fewest that this order of kernels needs\n" : ", not proven to be the fewest\n");
    }
}
/// Writes `name`.h, `name`.c, `name`.html, a page that shows the plan, `name`_weights.c and, where the network has constants, their image,
/// which that file takes in. @return whether it is imported and planned
bool write_c(source const& from, std::filesystem::path const& folder, std::string const& name, std::vector<std::string> const& includes) {
    halide::detail::check_function_name(name);
    if (name.size() > ir::label::longest) throw std::invalid_argument("the name `" + name + "` has more than 23 letters");
    auto const made = plan_network(from, name);
    if (!made) return false;
    program_plan_value const& plan = made->plan();
    std::filesystem::create_directories(folder);
    std::vector<std::string> all_includes = made->program().c_includes();
    all_includes.insert(all_includes.end(), includes.begin(), includes.end());
    halide::file_list files = halide::c_program(plan, {.name = name, .includes = all_includes, .constants = halide::constants_in::file});
    // A build knows the names of its files before it knows the network: constants lie in one memory.
    std::string const own = name + "_" + imported::tool_is_for().what.constants().name.str() + ".c", weights = name + "_weights.c";
    auto const found = std::find_if(files.begin(), files.end(), [&](auto const& one) { return one.first == own; });
    if (found != files.end()) found->first = weights;
    else files.emplace_back(weights, "/* The network has no constants. */\n#include \"" + name + ".h\"\n");
    files.emplace_back(name + ".html", report_page(plan));
    files.emplace_back(name + ".layers", imported::placement_table(*made));
    if (halide::detail::write_files(folder, files) != 0) return false;
    for (auto const& [file, text] : files) std::cout << (folder / file).string() << ": " << text.size() << " bytes\n";
    std::cout << "kernels " << plan.kernels.size() << "\n";
    print_memories(plan);
    return true;
}
/// Prints where each layer runs.
bool print_layers(source const& from) {
    auto const made = plan_network(read(from), from, "network", true);
    if (!made) return false;
    std::cout << imported::placement_table(*made);
    print_memories(made->plan());
    return true;
}
/// Writes a header with the network as C++, in a namespace, and a file with its constants beside it.
bool eject(source const& from, std::filesystem::path const& header, std::string const& name) {
    imported::chip_of_tool const on = imported::tool_is_for();
    halide::detail::check_function_name(name);
    auto const made = plan_network(from, "network");
    if (!made) return false;
    std::filesystem::path const folder = std::filesystem::absolute(header).parent_path(), weights = name + "_weights.bin";
    std::vector<std::byte> const elements = imported::ejected_weights(made->program().get());
    halide::file_list files{
        {header.filename().string(), imported::eject(made->program(), name, on.header, on.variable, (folder / weights).string())}};
    if (!elements.empty())
        files.emplace_back(weights.string(), std::string(reinterpret_cast<char const*>(elements.data()), elements.size()));
    if (halide::detail::write_files(folder, files) != 0) return false;
    std::string const why = imported::why_no_program(made->program());
    if (why.empty()) std::cout << "program: " << name << "::network() in " << header.string() << "\n";
    else std::cout << "no program: " << why << "\n";
    if (!elements.empty()) std::cout << "constants: " << elements.size() << " bytes in " << (folder / weights).string() << "\n";
    if (made->strips().empty()) std::cout << "chip: " << name << "::chip in " << header.string() << "\n";
    for (std::string const& one : made->strips()) std::cout << one << "\n";
    return true;
}
/// Inputs that are drawn, the same for a seed: integers of all values, floats from -1 to 1.
std::vector<std::vector<std::byte>> draw_inputs(imported::layers const& of, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::byte>> made;
    for (imported::stored const& one : of.inputs) {
        std::vector<std::byte>& bytes = made.emplace_back(imported::emulated_network::bytes_in(one));
        auto const fill = [&](auto of_type) {
            std::uniform_real_distribution<decltype(of_type)> between(-1, 1);
            for (std::size_t at = 0; at < bytes.size(); at += sizeof of_type)
                of_type = between(random), std::memcpy(&bytes[at], &of_type, sizeof of_type);
        };
        if (one.type == scalar_type::float32) fill(0.0f);
        else if (one.type == scalar_type::float64) fill(0.0);
        else std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    }
    return made;
}
/// By how much two results differ: integers by 1 where they do, floats as a share of the largest of them.
double difference_of(std::vector<std::byte> const& a, std::vector<std::byte> const& b, scalar_type type) {
    auto const of_floats = [&](auto one) {
        double most = 0, largest = 0;
        for (std::size_t at = 0; at < a.size(); at += sizeof one) {
            decltype(one) left, right;
            std::memcpy(&left, &a[at], sizeof left), std::memcpy(&right, &b[at], sizeof right);
            if (std::isnan(left) && std::isnan(right)) continue;
            double const apart = std::abs(static_cast<double>(left) - static_cast<double>(right));
            most = std::isnan(apart) ? HUGE_VAL : std::max(most, apart);
            largest = std::max(largest, std::abs(static_cast<double>(left)));
        }
        return most == 0 ? 0 : most / std::max(largest, 1e-30);
    };
    if (type == scalar_type::float32) return of_floats(0.0f);
    if (type == scalar_type::float64) return of_floats(0.0);
    return a == b ? 0 : 1;
}
/// Runs a network on the emulated machines of its chip, and as plain loops. @return whether results are equal, floats nearly, and cycles
/// are those that were planned
/// @param page  a file for the report of the last run; empty: none
bool emulate(source const& from, int runs, std::string const& page) {
    auto const made = plan_network(from, "network");
    if (!made) return false;
    imported::chip const& loops = imported::this_processor().loops;
    imported::network_program const plain(made->network(), "plain", loops);
    program_plan_value const plan_of_loops = make_program_plan(plain.get());
    if (plan_of_loops.refusal) throw std::runtime_error(to_string(plan_of_loops.refusal));
    imported::emulated_network on_chip(made->program(), imported::tool_is_for().what, made->plan()), in_loops(plain, loops, plan_of_loops);
    if (!page.empty()) on_chip.machines().record(kernel_plans(made->plan()));
    double most = 0;
    bool as_planned = true;
    constexpr progress modes[] = {progress::earliest, progress::latest, progress::random};
    for (int run = 0; run < runs; ++run) {
        auto const inputs = draw_inputs(made->network(), static_cast<std::uint64_t>(run) + 1);
        auto const got = on_chip(inputs, modes[run % 3]), expected = in_loops(inputs);
        for (std::size_t at = 0; at < got.size(); ++at)
            most = std::max(most, difference_of(expected[at], got[at], made->network().outputs[at].type));
        as_planned = as_planned && (!made->plan().cycles_resolved() ||
                                    static_cast<double>(on_chip.cycles()) == static_cast<double>(made->plan().cycles()));
    }
    std::cout << imported::tool_is_for().what.name() << ", emulated: " << on_chip.cycles() << " cycles"
              << (as_planned ? ", as planned" : ", NOT as planned");
    std::cout << "; " << runs << " inputs, results "
              << (most == 0     ? "equal to"
                  : most < 1e-4 ? "nearly equal to"
                                : "DIFFERENT from")
              << " plain loops";
    if (most > 0) std::cout << ", by " << most;
    std::cout << "\n";
    if (!page.empty()) write_report(made->plan(), on_chip.machines(), page);
    return as_planned && most < 1e-4;
}
std::vector<std::vector<std::byte>> read_inputs(network::graph const& of, std::vector<std::string> const& files) {
    std::vector<network::tensor_id> const passed = network::passed_inputs(of);
    if (files.size() != passed.size()) {
        throw std::invalid_argument(std::to_string(files.size()) + " files are given, and the network has " +
                                    std::to_string(passed.size()) + " inputs");
    }
    std::vector<std::vector<std::byte>> made;
    for (network::tensor_id const id : of.inputs) {
        network::tensor const& one = of.tensors[static_cast<std::size_t>(id)];
        std::vector<std::int64_t> const extents = network::usual_extents(one);
        // What is kept is 0 before the first run.
        if (made.size() < files.size()) made.push_back(network::read_input(files[made.size()], one.type, extents));
        else made.emplace_back(static_cast<std::size_t>(imported::count_of(extents) * network::bytes_of(one.type)));
        if (network::is_half(one.type)) made.back() = network::as_float32(one.type, made.back());
    }
    return made;
}
/// Compares what each kernel of the emulated chip makes with a reference. @return whether nothing differs
/// @param library  ONNX Runtime, which is the reference then; or empty
/// @param files    of the inputs; none: they are drawn
bool check(source const& from, std::string const& library, std::vector<std::string> const& files) {
    network::graph const graph = read(from);
    auto const made = plan_network(graph, from, "network");
    if (!made) return false;
    reference::node_reference computed_by = reference::results_of;
    if (!library.empty()) {
        if (graph.format != "onnx") throw std::invalid_argument("ONNX Runtime takes no model of TensorFlow Lite");
        auto const judge = std::make_shared<reference::onnxruntime_nodes>(library, from.model);
        computed_by = [judge](auto const&... what) { return (*judge)(what...); };
        std::cout << "reference: ONNX Runtime " << judge->version() << "\n";
    }
    imported::layers const& layers = made->network();
    auto const inputs = files.empty() ? draw_inputs(layers, 1) : read_inputs(graph, files);
    imported::emulated_network on_chip(made->program(), imported::tool_is_for().what, made->plan());
    imported::made_tensors tensors;
    on_chip(inputs, progress::latest, &tensors);
    auto const results = imported::check_layers(graph, layers, inputs, tensors, computed_by);
    std::cout << imported::check_table(results);
    return imported::all_agree(results);
}
#endif

/// One line with the file. @return 1, as an exit code and as a count
int failed(char const* model, std::exception const& error) {
    bool const names_it = dynamic_cast<network::model_error const*>(&error) != nullptr;
    std::string line = (names_it ? "" : model + std::string(": ")) + error.what();
    for (char& letter : line) letter = static_cast<unsigned char>(letter) < 0x20 ? '?' : letter;
    std::cerr << line << '\n';
    return 1;
}

#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
/// The values of `--option value` among arguments, which lose them.
std::vector<std::string> take_option(std::vector<std::string>& from, std::string const& option) {
    std::vector<std::string> values;
    for (std::size_t at = 0; at + 1 < from.size();) {
        if (from[at] != option) {
            ++at;
            continue;
        }
        values.push_back(from[at + 1]);
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(at), from.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    }
    return values;
}
std::vector<imported::state_names> states_of(std::vector<std::string> const& texts) {
    std::vector<imported::state_names> made;
    for (std::string const& one : texts) {
        std::size_t const equals = one.find('=');
        if (equals == std::string::npos) throw std::invalid_argument("--state " + one + ": INPUT=OUTPUT is wanted");
        made.push_back({one.substr(0, equals), one.substr(equals + 1)});
    }
    return made;
}
std::vector<network::given_extents> extents_of(std::vector<std::string> const& texts) {
    std::vector<network::given_extents> made;
    for (std::string const& one : texts) {
        std::size_t const equals = one.rfind('=');
        std::istringstream numbers(equals == std::string::npos ? "" : one.substr(equals + 1));
        network::given_extents& added = made.emplace_back();
        added.name = one.substr(0, equals);
        for (std::string number; std::getline(numbers, number, ',');) {
            std::int64_t extent = 0;
            auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
            if (error == std::errc() && end == number.data() + number.size()) added.extents.push_back(extent);
            else added.extents.clear(), numbers.setstate(std::ios::failbit);
        }
        if (added.extents.empty()) throw std::invalid_argument("--extent " + one + ": NAME=NUMBER or INPUT=NUMBER,NUMBER,… is wanted");
    }
    return made;
}
/// Does what the arguments after the tool's name say with one model. @return the exit code, or nothing where they are none
std::optional<int> run(std::vector<std::string> arguments) {
    std::string const command = arguments[0];
    std::size_t const model_at = command == "--c" || command == "--eject" ? 3 : 1;
    std::vector<std::string> const states = take_option(arguments, "--state");
    std::vector<std::string> const extents = take_option(arguments, "--extent");
    std::vector<std::string> const library = take_option(arguments, "--onnxruntime");
    std::vector<std::string> const page = take_option(arguments, "--report");
    std::size_t const count = arguments.size();
    bool const has_option =
        std::any_of(arguments.begin() + 1, arguments.end(), [](std::string const& one) { return one.starts_with("--"); });
    if (count <= model_at || has_option || (!library.empty() && command != "--check") || library.size() > 1) return std::nullopt;
    if ((!page.empty() && command != "--emulate") || page.size() > 1) return std::nullopt;
    std::vector<std::string> const rest(arguments.begin() + static_cast<std::ptrdiff_t>(model_at) + 1, arguments.end());
    try {
        source const from{arguments[model_at], states_of(states), extents_of(extents)};
        if (command == "--c") return write_c(from, arguments[1], arguments[2], rest) ? 0 : 1;
        if (command == "--check") return check(from, library.empty() ? "" : library[0], rest) ? 0 : 1;
        if (command == "--layers" && rest.empty()) return print_layers(from) ? 0 : 1;
        if (command == "--eject" && rest.empty()) return eject(from, arguments[1], arguments[2]) ? 0 : 1;
        int const runs = rest.empty() ? 3 : std::atoi(rest[0].c_str());
        if (command == "--emulate" && rest.size() <= 1 && runs > 0) return emulate(from, runs, page.empty() ? "" : page[0]) ? 0 : 1;
    } catch (std::exception const& error) {
        return failed(arguments[model_at].c_str(), error);
    }
    return std::nullopt;
}
#endif

int usage(char const* tool) {
    std::cerr << "usage: " << tool << " --print model.onnx|model.tflite ...\n"
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
              << "       " << tool << " --c FOLDER NAME MODEL [C_INCLUDE ...]\n"
              << "       " << tool << " --layers MODEL\n"
              << "       " << tool << " --eject HEADER NAMESPACE MODEL\n"
              << "       " << tool << " --emulate MODEL [INPUTS] [--report PAGE]\n"
              << "       " << tool << " --check MODEL [--onnxruntime LIBRARY] [INPUT_FILE ...]\n"
              << "MODEL is model.onnx or model.tflite; after it may stand --state INPUT=OUTPUT, for each thing that it keeps from run to "
                 "run, and\n"
              << "--extent NAME=NUMBER or --extent INPUT=NUMBER,NUMBER,... for extents that it leaves to run time\n"
#endif
        ;
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return usage(arguments[0]);
    if (std::strcmp(arguments[1], "--print") != 0) {
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
        if (std::optional<int> const code = run({arguments + 1, arguments + count})) return *code;
#endif
        return usage(arguments[0]);
    }
    int refused = 0;
    for (int at = 2; at < count; ++at) {
        try {
            std::cout << write(read(arguments[at]));
        } catch (std::exception const& error) {
            refused += failed(arguments[at], error);
        }
    }
    return refused > 0 ? 1 : 0;
}
