#pragma once
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/program/program_plan.hpp>
#include <vector>

/// Networks as compiled C, for tests and benchmarks: planned, written, compiled, loaded and called.
namespace networks {

namespace fs = std::filesystem;
namespace tw = tilewright;

/// What was made of a network.
struct written_network {
    std::vector<fs::path> sources = {};            ///< to be compiled together
    std::size_t bytes_of_c = 0;                    ///< the whole C of the network
    std::int64_t weights = 0, arena = 0;           ///< bytes
    bool proven = false;                           ///< no order of offsets needs a smaller arena
    std::size_t kernels = 0;                       ///< of the plan
    double seconds_to_plan = 0, seconds_to_c = 0;  ///< from layers to a plan, and from there to files
};

namespace detail {

/// C that takes pointers in lists, so that one call serves all networks.
inline std::string caller_of(std::string const& name, tw::imported::network_program const& from, tw::program_plan_value const& plan) {
    tw::imported::layers const& of = from.network();
    std::string text = "#include \"" + name + ".h\"\n#include <stddef.h>\n";
    bool const pool = plan.peak(from.arena()).value > 0,
               constants = std::any_of(of.constants.begin(), of.constants.end(), [&](auto const&one) { return of.is_read(one.what); });
    if (pool) text += "static _Alignas(64) unsigned char arena[TILEWRIGHT_" + name + "_arena_BYTES];\n";
    text += "int call_" + name + "(void *const *in, void *const *out) {\n    (void)in; (void)out;\n";
    if (pool || constants) text += "    struct " + name + "_memories memories = {0};\n";
    if (pool) text += "    memories.arena = arena;\n";
    if (constants) text += "    memories.weights = (void *)" + name + "_weights_image;\n";
    text += "    return " + name + "(";
    bool first = true;
    auto const add = [&](std::string const& one) { text += (first ? "" : ", ") + one, first = false; };
    for (std::size_t at = 0; at < of.inputs.size(); ++at) {
        if (of.is_read(of.inputs[at])) add("in[" + std::to_string(at) + "]");
    }
    for (std::size_t at = 0; at < of.outputs.size(); ++at) add("out[" + std::to_string(at) + "]");
    if (pool || constants) add("&memories");
    return text + ");\n}\n";
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace detail

/// Plans a network and writes it as C into a folder, with a function `call_NAME(in, out)` that takes lists of pointers.
///
/// @param made  of which nothing is refused
/// @throws std::runtime_error with the reason where it is not planned or not written
inline written_network write_network(tw::imported::layers made, fs::path const& folder, std::string const& name) {
    written_network result;
    auto begin = std::chrono::steady_clock::now();
    tw::imported::network_program const whole(std::move(made), tw::ir::label(name.c_str()));
    tw::program_plan_value const plan = make_program_plan(whole.get());
    result.seconds_to_plan = detail::seconds_since(begin);
    if (plan.refusal) throw std::runtime_error(to_string(plan.refusal));
    begin = std::chrono::steady_clock::now();
    auto const files = tw::halide::c_program(plan, {.name = name, .constants = tw::halide::constants_in::file});
    fs::create_directories(folder);
    if (tw::halide::detail::write_files(folder, files) != 0) throw std::runtime_error("files cannot be written to " + folder.string());
    result.seconds_to_c = detail::seconds_since(begin);
    for (auto const& [file, text] : files) {
        if (fs::path(file).extension() != ".c") continue;
        bool const is_code = file == name + ".c";
        result.sources.insert(is_code ? result.sources.begin() : result.sources.end(), folder / file);
        if (is_code) result.bytes_of_c = text.size();
    }
    result.sources.push_back(folder / ("call_" + name + ".c"));
    std::ofstream(result.sources.back()) << detail::caller_of(name, whole, plan);
    result.weights = plan.constant_bytes(whole.weights()).value;
    result.arena = plan.peak(whole.arena()).value;
    result.proven = plan.proven(whole.arena());
    result.kernels = plan.kernels.size();
    return result;
}

/// Compiles files of C, or links objects, to a file. @throws std::runtime_error with what the compiler said
inline void compile(std::vector<fs::path> const& sources, fs::path const& to, std::string const& options) {
    fs::path const said = to.string() + ".said";
    // Weights are files beside the source that takes them in.
    std::string command =
        "gcc -std=c11 -fPIC " + options + " -Wa,-I,'" + sources.at(0).parent_path().string() + "' -o '" + to.string() + "'";
    for (fs::path const& one : sources) command += " '" + one.string() + "'";
    command += " -lm 2> '" + said.string() + "'";
    if (std::system(command.c_str()) == 0) return;
    std::ifstream in(said);
    throw std::runtime_error("gcc: " + std::string(std::istreambuf_iterator<char>(in), {}).substr(0, 600));
}

/// Compiled networks.
class library {
  public:
    using function = int (*)(void* const*, void* const*);

    explicit library(fs::path const& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) throw std::runtime_error(dlerror());
    }
    library(library const&) = delete;
    ~library() { dlclose(handle_); }

    function caller(std::string const& name) const {
        auto const found = reinterpret_cast<function>(dlsym(handle_, ("call_" + name).c_str()));
        if (found == nullptr) throw std::runtime_error(dlerror());
        return found;
    }

  private:
    void* handle_;
};

/// Room for one argument of a compiled function, with bytes on both sides of it that must stay.
struct argument_room {
    static constexpr std::size_t guard = 64;
    explicit argument_room(std::size_t bytes) : size(bytes), room(bytes + 2 * guard + 64) { std::memset(room.data(), 0xa5, room.size()); }
    std::byte* data() {
        auto const at = reinterpret_cast<std::uintptr_t>(room.data());
        return room.data() + guard + (64 - at % 64) % 64;
    }
    bool kept() {
        for (std::size_t at = 0; at < guard; ++at) {
            if (data()[size + at] != std::byte{0xa5} || *(data() - 1 - at) != std::byte{0xa5}) return false;
        }
        return true;
    }
    std::size_t size;
    std::vector<std::byte> room;
};

/// The arguments of one call: copies of the inputs, and room for outputs of so many bytes.
class call_arguments {
  public:
    call_arguments(call_arguments const&) = delete;
    call_arguments(std::vector<std::vector<std::byte>> const& inputs, std::vector<std::size_t> const& outputs) {
        for (auto const& one : inputs) {
            rooms_.emplace_back(one.size());
            if (!one.empty()) std::memcpy(rooms_.back().data(), one.data(), one.size());
        }
        for (std::size_t const bytes : outputs) rooms_.emplace_back(bytes);
        for (std::size_t at = 0; at < rooms_.size(); ++at) (at < inputs.size() ? in_ : out_).push_back(rooms_[at].data());
    }
    int operator()(library::function call) { return call(in_.data(), out_.data()); }
    std::byte const* output(std::size_t at) const { return static_cast<std::byte const*>(out_[at]); }
    bool kept() {
        return std::all_of(rooms_.begin(), rooms_.end(), [](argument_room& one) { return one.kept(); });
    }

  private:
    std::vector<argument_room> rooms_ = {};
    std::vector<void*> in_ = {}, out_ = {};
};

}  // namespace networks
