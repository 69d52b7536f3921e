#pragma once
#include <dlfcn.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tilewright/import/layers.hpp>
#include <tilewright/network/graph.hpp>
#include <vector>

/// Networks as compiled C, for tests and benchmarks: planned, written, compiled, loaded and called. What reads, imports, plans and writes
/// them takes minutes to compile: it stands in run_network.cpp, a library.
namespace networks {

namespace fs = std::filesystem;
namespace tw = tilewright;

/// What was made of a network.
struct written_network {
    std::vector<fs::path> sources = {};            ///< to be compiled together
    fs::path whole = {};                           ///< includes them all
    std::size_t bytes_of_c = 0;                    ///< the whole C of the network
    std::int64_t weights = 0, arena = 0;           ///< bytes
    bool proven = false;                           ///< no order of offsets needs a smaller arena
    std::size_t kernels = 0;                       ///< of the plan
    double seconds_to_plan = 0, seconds_to_c = 0;  ///< from layers to a plan, and from there to files
};

/// Whether a call fills the arena before it, and returns -1 where the bytes after the arena were written. That takes time.
enum class arena_check { none, each_call };

namespace detail {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs a command. Where Ctrl-C ended it, this process gets the signal as well, which it does not while it waits. @return whether it failed
inline bool fails(std::string const& command) {
    int const status = std::system(command.c_str());
    bool const stopped =
        status != -1 && ((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) || (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT));
    if (stopped) std::raise(SIGINT);
    return status != 0;
}

}  // namespace detail

/// Reads a file of ONNX or of TensorFlow Lite. @throws tilewright::network::model_error
tw::network::graph read_network(fs::path const& file);

/// imported::layers_of(), compiled once.
tw::imported::layers layers_of(tw::network::graph const& graph);

/// The operators that are imported, in the order of their tables.
std::vector<std::string> imported_onnx_operators();
std::vector<std::string> imported_microsoft_operators();
std::vector<std::string> imported_tflite_operators();

/// Plans a network and writes it as C into a folder, with a function `call_NAME(in, out)` that takes lists of pointers.
///
/// @param made  of which nothing is refused
/// @throws std::runtime_error with the reason where it is not planned or not written
written_network write_network(tw::imported::layers made, fs::path const& folder, std::string const& name,
                              arena_check check = arena_check::each_call);

/// Compiles files of C, or links objects, to a file. @throws std::runtime_error with what the compiler said
inline void compile(std::vector<fs::path> const& sources, fs::path const& to, std::string const& options) {
    fs::path const said = to.string() + ".said";
    // Weights are files beside the source that takes them in.
    std::string command = "gcc -std=c11 -fPIC -I'" RUN_NETWORK_C_INCLUDES "' " + options + " -Wa,-I,'" +
                          sources.at(0).parent_path().string() + "' -o '" + to.string() + "'";
    for (fs::path const& one : sources) command += " '" + one.string() + "'";
    command += " -lm 2> '" + said.string() + "'";
    if (!detail::fails(command)) return;
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

/// A network after a compiler.
struct compiled_network {
    std::shared_ptr<library> in = {};
    std::string why_not = {};  ///< where there is no library
};

/// Compiles networks of different names in one folder, by one call of the compiler. Where that fails, each is compiled by itself.
inline std::vector<compiled_network> compile_together(std::vector<written_network> const& all, fs::path const& folder,
                                                      std::string const& options) {
    std::vector<compiled_network> made(all.size());
    std::vector<fs::path> sources;
    for (written_network const& one : all) sources.push_back(one.whole);
    if (sources.empty()) return made;
    try {
        compile(sources, folder / "all.so", options);
        auto const in = std::make_shared<library>(folder / "all.so");
        for (compiled_network& one : made) one.in = in;
    } catch (std::exception const&) {
        for (std::size_t at = 0; at < all.size(); ++at) try {
                fs::path const own = sources[at].string() + ".so";
                compile({sources[at]}, own, options);
                made[at].in = std::make_shared<library>(own);
            } catch (std::exception const& error) {
                made[at].why_not = error.what();
            }
    }
    return made;
}

/// Works at parts of so many things, on all processors. Each part has a folder of its own.
///
/// @param keeps  the folders stay
/// @param work   is given the first thing of a part, how many there are, and the folder
/// @return where the folders are, or were @throws std::runtime_error where there is no folder to work in
template <class Work>
fs::path in_parts(std::size_t count, std::size_t together, bool keeps, Work const& work) {
    std::string pattern = (fs::temp_directory_path() / "tilewright_parts_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("there is no folder to work in");
    std::atomic<std::size_t> next = 0;
    auto const all_of_one = [&] {
        for (std::size_t first = together * next++; first < count; first = together * next++) {
            fs::path const own = fs::path(pattern) / std::to_string(first);
            fs::create_directory(own);
            work(first, std::min(together, count - first), own);
            if (!keeps) fs::remove_all(own);
        }
    };
    std::vector<std::thread> workers;
    for (unsigned at = 0; at < std::max(1u, std::thread::hardware_concurrency()); ++at) workers.emplace_back(all_of_one);
    for (std::thread& one : workers) one.join();
    if (!keeps) fs::remove_all(pattern);
    return pattern;
}

/// Room for one argument of a compiled function, with bytes around it that must stay.
struct argument_room {
    static constexpr std::size_t guard = 64;
    explicit argument_room(std::size_t bytes) : size(bytes), room(bytes + 2 * guard + 64) { std::memset(room.data(), 0xa5, room.size()); }
    std::byte* data() {
        auto const at = reinterpret_cast<std::uintptr_t>(room.data());
        return room.data() + guard + (64 - at % 64) % 64;
    }
    bool kept() {
        std::byte const* const first = data();
        for (std::size_t at = 0; at < guard; ++at) {
            if (first[size + at] != std::byte{0xa5} || *(first - 1 - at) != std::byte{0xa5}) return false;
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
    call_arguments(std::vector<std::vector<std::byte>> inputs, std::vector<std::size_t> const& outputs) : inputs_(std::move(inputs)) {
        for (auto const& one : inputs_) {
            rooms_.emplace_back(one.size());
            if (!one.empty()) std::memcpy(rooms_.back().data(), one.data(), one.size());
        }
        for (std::size_t const bytes : outputs) rooms_.emplace_back(bytes);
        for (std::size_t at = 0; at < rooms_.size(); ++at) (at < inputs_.size() ? in_ : out_).push_back(rooms_[at].data());
    }
    int operator()(library::function call) { return call(in_.data(), out_.data()); }
    std::byte const* output(std::size_t at) const { return static_cast<std::byte const*>(out_[at]); }
    /// Whether inputs, and bytes around all arguments, are as they were.
    bool kept() {
        for (std::size_t at = 0; at < inputs_.size(); ++at) {
            if (!inputs_[at].empty() && std::memcmp(in_[at], inputs_[at].data(), inputs_[at].size()) != 0) return false;
        }
        return std::all_of(rooms_.begin(), rooms_.end(), [](argument_room& one) { return one.kept(); });
    }

  private:
    std::vector<std::vector<std::byte>> inputs_;
    std::vector<argument_room> rooms_ = {};
    std::vector<void*> in_ = {}, out_ = {};
};

}  // namespace networks
