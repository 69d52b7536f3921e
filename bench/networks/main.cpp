// Whole networks: how long they take to be planned and written as C, what they need, and how fast they are on this processor, beside ONNX
// Runtime on one thread. `networks [PART]`: only models whose name has PART.
#include <onnx/onnx_pb.h>

#include <cmath>
#include <csignal>
#include <iostream>
#include <sstream>
#include <tilewright/reference/onnxruntime.hpp>

#include "comparison.hpp"
#include "networks/on_chip.hpp"
#include "onnx/run_network.hpp"
#include "peers.hpp"

namespace {

namespace fs = std::filesystem;
namespace onnxruntime = tilewright::onnxruntime;
using bytes = std::vector<std::byte>;

/// What projects compile a network with, for this processor.
std::string const c_options = "-O3 -march=native " RUN_NETWORK_C_OPTIONS;

/// Set by Ctrl-C. Work ends at the next step, and temporary files are removed.
volatile std::sig_atomic_t is_interrupted = 0;
struct interrupted : std::exception {};
void go_on() {
    if (is_interrupted) throw interrupted();
}

/// Shows what is going on, on a line that is overwritten.
void progress(std::string const& what) {
    go_on();
    static bool const is_terminal = isatty(STDERR_FILENO) != 0;
    if (is_terminal) std::cerr << "\r\033[K" << what << std::flush;
    else if (!what.empty()) std::cerr << what << std::endl;
}

/// A model, and what ONNX Runtime runs beside it.
struct entry {
    std::string name;  ///< as networks.py knows it
    bool is_int8;

    fs::path model() const { return fs::path(NETWORKS_FOLDER) / (name + (is_int8 ? ".tflite" : ".onnx")); }
    fs::path peer() const { return fs::path(NETWORKS_FOLDER) / (name + (is_int8 ? ".int8.onnx" : ".onnx")); }
    std::string title() const { return model().filename().string(); }
};

/// The models, in an order that begins with the small ones.
std::vector<entry> all_entries() {
    char const* const all[] = {"autoencoder_640",     "autoencoder_640_deep", "ds_cnn_49x10",     "resnet_8_32",
                               "mobilenet_v1_025_96", "transformer_128x256",  "mobilenet_v2_224", "resnet_18_224"};
    std::vector<entry> made;
    for (bool const is_int8 : {false, true}) {
        for (std::string const name : all) {
            if (!is_int8 || name != "transformer_128x256") made.push_back({name, is_int8});  // networks.py writes it with floats alone
        }
    }
    return made;
}

/// Has networks.py write the models that are missing, or older than it.
void write_models(std::vector<entry> const& entries) {
    for (entry const& one : entries) {
        auto const is_there = [](fs::path const& file) {
            return fs::exists(file) && fs::last_write_time(file) > fs::last_write_time(NETWORKS_WRITER);
        };
        if (is_there(one.model()) && is_there(one.peer())) continue;
        progress("writing " + one.name);
        if (networks::detail::fails("'" NETWORKS_PYTHON "' -B '" NETWORKS_WRITER "' " + one.name + " '" NETWORKS_FOLDER "' >&2")) {
            go_on();
            throw std::runtime_error("networks.py has not written " + one.name);
        }
    }
}

/// Elements between -1 and 1, or bytes of all values, drawn the same way each time.
bytes drawn(onnxruntime::tensor const& like) {
    std::size_t count = 1;
    for (std::int64_t const extent : like.extents) count *= static_cast<std::size_t>(extent);
    bytes made(count * onnxruntime::bytes_of(like.type));
    unsigned seed = 1;
    for (std::size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        if (like.type == onnx::TensorProto::FLOAT) {
            float const value = static_cast<float>(seed >> 8) * 0x1p-23f - 1;
            std::memcpy(&made[at * sizeof value], &value, sizeof value);
        } else {
            made[at] = static_cast<std::byte>(seed >> 24);
        }
    }
    return made;
}

/// Bytes of code and constants of an object, as `size` counts them.
std::int64_t bytes_of_object(fs::path const& object) {
    fs::path const listed = object.string() + ".size";
    if (networks::detail::fails("size '" + object.string() + "' > '" + listed.string() + "'"))
        throw std::runtime_error("size: " + object.string());
    std::ifstream in(listed);
    std::string titles;
    std::getline(in, titles);
    std::int64_t text = 0, data = 0;
    in >> text >> data;
    return text + data;
}

/// What is found about one model.
struct row {
    std::string refused = {};
    networks::written_network written = {};
    double seconds_to_compile = 0;
    std::int64_t object = 0, small_object = 0;       ///< bytes with -O3, with -Os
    double milliseconds = 0, peer_milliseconds = 0;  ///< medians
    double ratio = 0;                                ///< how many times as fast as ONNX Runtime, by the rounds
    double apart = 0, apart_as_written = 0;          ///< from ONNX Runtime at its best and as the model says
};

/// The largest difference: of floats, in the largest magnitude; of bytes, in steps, where the peer's are 128 more.
double largest_difference(std::byte const* got, onnxruntime::tensor const& expected) {
    double difference = 0, magnitude = 0;
    if (expected.type != onnx::TensorProto::FLOAT) {
        for (std::size_t at = 0; at < expected.bytes.size(); ++at) {
            int const is = static_cast<std::int8_t>(got[at]), should = std::to_integer<int>(expected.bytes[at]) - 128;
            difference = std::max(difference, static_cast<double>(std::abs(is - should)));
        }
        return difference;
    }
    for (std::size_t at = 0; at < expected.bytes.size(); at += sizeof(float)) {
        float is = 0, should = 0;
        std::memcpy(&is, got + at, sizeof is);
        std::memcpy(&should, &expected.bytes[at], sizeof should);
        difference = std::max(difference, std::abs(static_cast<double>(is) - static_cast<double>(should)));
        magnitude = std::max(magnitude, std::abs(static_cast<double>(should)));
        if (std::isnan(is) != std::isnan(should)) return std::numeric_limits<double>::infinity();
    }
    return magnitude > 0 ? difference / magnitude : difference;
}

row measured(entry const& of, fs::path const& folder, onnxruntime::runtime const& peer) {
    row made;
    progress(of.title() + ": planning");
    tilewright::imported::layers layers = networks::layers_of(networks::read_network(of.model()));
    if (!layers.refused.empty()) {
        made.refused = layers.refused[0];
        if (layers.refused.size() > 1) made.refused += "; and " + std::to_string(layers.refused.size() - 1) + " more";
        return made;
    }
    made.written = networks::write_network(std::move(layers), folder, "net", networks::arena_check::none);
    progress(of.title() + ": compiling");
    auto const begin = std::chrono::steady_clock::now();
    networks::compile({folder / "net.c"}, folder / "net.o", c_options + " -c");
    made.seconds_to_compile = networks::detail::seconds_since(begin);
    go_on();
    networks::compile({folder / "net.c"}, folder / "small.o", "-Os -c");
    made.object = bytes_of_object(folder / "net.o");
    made.small_object = bytes_of_object(folder / "small.o");
    std::vector<fs::path> parts = made.written.sources;
    parts[0] = folder / "net.o";
    networks::compile(parts, folder / "net.so", c_options + " -shared");
    networks::library const compiled(folder / "net.so");
    auto const call = compiled.caller("net");

    progress(of.title() + ": running");
    std::vector<bytes> inputs;
    onnxruntime::session best(peer, of.peer(), onnxruntime::mode::at_its_best);
    for (std::size_t at = 0; at < best.inputs(); ++at) inputs.push_back(drawn(best.input(at)));
    best.give(inputs);
    best.run();
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < best.outputs(); ++at) sizes.push_back(best.output(at).bytes.size());
    onnxruntime::session as_written(peer, of.peer(), onnxruntime::mode::as_written);
    as_written.give(inputs);
    as_written.run();
    // The peer's bytes are 128 more, and its images have their channels first.
    auto const input_shape = best.input(0).extents;
    if (of.is_int8) {
        bytes moved(inputs[0].size());
        std::size_t const channels = input_shape.size() == 4 ? static_cast<std::size_t>(input_shape[1]) : 1,
                          pixels = moved.size() / channels;
        for (std::size_t at = 0; at < moved.size(); ++at) moved[at % pixels * channels + at / pixels] = inputs[0][at] ^ std::byte{0x80};
        inputs[0] = moved;
    }
    networks::call_arguments arguments(inputs, sizes);
    if (int const code = arguments(call); code != 0) throw std::runtime_error("code " + std::to_string(code));
    for (std::size_t at = 0; at < best.outputs(); ++at) {
        made.apart = std::max(made.apart, largest_difference(arguments.output(at), best.output(at)));
        made.apart_as_written = std::max(made.apart_as_written, largest_difference(arguments.output(at), as_written.output(at)));
    }

    auto const seconds_of = [](auto const& run) {
        auto const start = std::chrono::steady_clock::now();
        run();
        return networks::detail::seconds_since(start);
    };
    std::function<void()> const ours = [&] { go_on(), arguments(call); };
    std::function<void()> const theirs = [&] { go_on(), best.run(); };
    double const slow = std::max(seconds_of(ours), seconds_of(theirs));
    int const repeats = static_cast<int>(std::clamp(0.005 / slow, 1.0, 1000.0));
    int const rounds = static_cast<int>(std::clamp(4 / (slow * repeats), 5.0, 200.0));
    peers::rounds const taken({ours, theirs}, rounds, repeats);
    made.milliseconds = 1e3 * taken.seconds(0), made.peer_milliseconds = 1e3 * taken.seconds(1), made.ratio = taken.ratio_to(1);
    if (!arguments.kept()) throw std::runtime_error("an input, or bytes beside an argument, were written");
    return made;
}

std::string figure(double value, int digits = 3) {
    std::ostringstream text;
    text.precision(digits);
    text << value;
    return text.str();
}

void print_heads() {
    std::printf("%-28s %7s %7s %7s %9s %6s %9s %8s %6s %6s %9s %9s %6s %9s %9s\n", "", "plan s", "C s", "gcc s", "arena", "proven",
                "weights", "C", "/ -O3", "/ -Os", "ms", "ORT ms", "times", "apart", "unfused");
}
void print(entry const& of, row const& one) {
    if (!one.refused.empty()) {
        std::printf("%-28s refused: %s\n", of.title().c_str(), one.refused.c_str());
        return;
    }
    auto const over = [&](std::int64_t object) { return static_cast<double>(one.written.bytes_of_c) / static_cast<double>(object); };
    std::printf("%-28s %7.2f %7.2f %7.2f %9lld %6s %9lld %8zu %6.2f %6.2f %9.4f %9.4f %6.3f %9s %9s\n", of.title().c_str(),
                one.written.seconds_to_plan, one.written.seconds_to_c, one.seconds_to_compile, static_cast<long long>(one.written.arena),
                one.written.proven ? "yes" : "no", static_cast<long long>(one.written.weights), one.written.bytes_of_c, over(one.object),
                over(one.small_object), one.milliseconds, one.peer_milliseconds, one.ratio, figure(one.apart).c_str(),
                figure(one.apart_as_written).c_str());
    std::fflush(stdout);
}

/// The share for which the array is needed, the most that this can be, and the share for which it is at work; dashes where there is
/// nothing.
std::string shares(networks::array_use const& of) {
    char text[32] = "      -       -       -";
    if (of.cycles > 0)
        std::snprintf(text, sizeof text, "%5.1f %% %5.1f %% %5.1f %%", 100 * of.share(), 100 * of.bound(), 100 * of.share_at_work());
    return text;
}

/// The networks of int8 on a chip: where layers go, cycles as planned and as the emulated chip counts them. @return how busy its array is
networks::array_use print_on_chip(std::vector<entry> const& entries, int& code) {
    std::printf(
        "\nint8 on the chip of lesson 14, with larger memories, loads that write borders, a vector unit that finds the largest bytes of "
        "windows,\nand a controller that goes on beside it and the array.\n`busy`: of layers that sum products over 16 channels or more, "
        "the share of their cycles for which the array is "
        "needed; `images`: of\nthose that have several pixels. `at most`: that share if each of these layers took no longer than the array "
        "is needed, or than the\nload of its operands, each once: one vector uses each weight once. `at work`: the share for which it "
        "carries out calls, full or not.\n\n%-28s %7s %9s %6s %12s %12s %7s %7s %7s %7s %7s %7s\n",
        "", "plan s", "act_mem", "proven", "cycles", "emulated", "busy", "at most", "at work", "images", "at most", "at work");
    networks::array_use all, images;
    for (entry const& one : entries) {
        if (!one.is_int8) continue;
        progress(one.title() + ": on a chip");
        tilewright::imported::layers layers = networks::layers_of(networks::read_network(one.model()));
        std::vector<bytes> inputs;
        for (auto const& input : layers.inputs) {
            onnxruntime::tensor like;
            like.type = onnx::TensorProto::INT8, like.extents = input.extents;
            inputs.push_back(drawn(like));
        }
        networks::chip_figures const found = networks::on_chip(std::move(layers), inputs);
        progress("");
        if (!found.refused.empty() || found.emulated != found.cycles) code = EXIT_FAILURE;
        if (!found.refused.empty()) {
            std::printf("%-28s FAILED: %s\n", one.title().c_str(), found.refused.c_str());
            continue;
        }
        all.add(found.array), images.add(found.images);
        std::printf("%-28s %7.2f %9lld %6s %12.0f %12.0f %s %s  %d of %d layers on the npu%s\n", one.title().c_str(), found.seconds_to_plan,
                    found.act_bytes, found.proven ? "yes" : "no", found.cycles, found.emulated, shares(found.array).c_str(),
                    shares(found.images).c_str(), found.on_npu, found.layers, found.emulated == found.cycles ? "" : ": NOT AS PLANNED");
        std::fflush(stdout);
    }
    if (all.cycles > 0) std::printf("%-28s %46s %s %s\n", "all", "", shares(all).c_str(), shares(images).c_str());
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    std::string const part = count > 1 ? arguments[1] : "";
    std::string pattern = (fs::temp_directory_path() / "tilewright_networks_XXXXXX").string();
    int code = EXIT_SUCCESS, planned = 0, asked = 0;
    peers::summary speed;
    networks::array_use array;
    try {
        onnxruntime::runtime const peer(NETWORKS_ONNXRUNTIME);
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("there is no folder to work in");
        for (int const one : {SIGINT, SIGTERM}) std::signal(one, [](int) { is_interrupted = 1; });
        peers::detail::stay_on(sched_getcpu());
        std::vector<entry> entries;
        for (entry const& one : all_entries()) {
            if (one.title().find(part) != std::string::npos) entries.push_back(one);
        }
        write_models(entries);
        progress("");
        std::printf("ONNX Runtime %s on the processor (no other provider), one thread, at its best; this processor has %s\n",
                    peer.version().c_str(),
                    peers::has_vnni()     ? "AVX-512 with VNNI"
                    : peers::has_avx512() ? "AVX-512"
                                          : "no AVX-512");
        std::printf("here: gcc %s. `/ -O3`, `/ -Os`: bytes of C without weights over bytes of object code (at most 5 wanted).\n",
                    c_options.c_str());
        std::printf(
            "`apart`: the largest difference of a result from ONNX Runtime's, in the largest magnitude (at most 1e-5 wanted), of bytes in "
            "steps;\n`unfused`: likewise, where each operator runs by itself. `times`: how many times as fast as ONNX Runtime.\n\n");
        print_heads();
        for (entry const& one : entries) {
            ++asked;
            fs::path const own = fs::path(pattern) / one.title();
            fs::create_directory(own);
            try {
                row const found = measured(one, own, peer);
                progress("");
                print(one, found);
                if (found.refused.empty()) ++planned, speed.add(found.ratio);
            } catch (std::runtime_error const& error) {
                go_on();  // Ctrl-C ends the compiler as well
                progress("");
                std::printf("%-28s FAILED: %s\n", one.title().c_str(), error.what());
                code = EXIT_FAILURE;
            }
            fs::remove_all(own);
        }
        array = print_on_chip(entries, code);
    } catch (interrupted const&) {
        std::fprintf(stderr, "\nnetworks: stopped\n");
        code = 128 + SIGINT;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "\nnetworks: %s\n", error.what());
        code = EXIT_FAILURE;
    }
    std::error_code ignored;
    if (fs::path(pattern).filename().string().find("XXXXXX") == std::string::npos) fs::remove_all(pattern, ignored);
    if (code == EXIT_SUCCESS)
        std::printf("networks: planned=%d/%d utilisation=%s to_onnxruntime=%s\n", planned, asked,
                    array.cycles > 0 ? figure(array.share()).c_str() : "none",
                    speed.count > 0 ? figure(speed.geometric_mean()).c_str() : "none");
    return code;
}
