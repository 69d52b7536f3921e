#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>
#include <vector>

// Networks that are written as C, compiled and run: every argument has bytes after it that must stay.

/// Room for one argument of the compiled function, with bytes around it that must stay.
struct argument_room {
    static constexpr std::size_t guard = 64;
    explicit argument_room(std::size_t bytes) : size(bytes), room(bytes + 2 * guard + 64) { std::memset(room.data(), 0xa5, room.size()); }
    std::byte* data() {
        auto const at = reinterpret_cast<std::uintptr_t>(room.data()) + guard;
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

/// C that takes pointers in lists, so that one call serves all networks. The arena and what follows it is checked.
inline std::string caller_of(tilewright::imported::layers const& of, tilewright::program_plan_value const& plan,
                             tilewright::imported::network_program const& from) {
    std::string text = "#include \"net.h\"\n#include <stddef.h>\n#include <string.h>\n";
    bool const pool = plan.peak(from.arena()).value > 0,
               constants = std::any_of(of.constants.begin(), of.constants.end(),
                                       [&](tilewright::imported::known_tensor const&one) { return of.is_read(one.what); });
    if (pool) text += "static _Alignas(64) unsigned char arena[TILEWRIGHT_net_arena_BYTES + 64];\n";
    text += "int call(void *const *in, void *const *out) {\n    (void)in; (void)out;\n";
    if (pool) text += "    memset(arena, 0xa5, sizeof arena);\n";
    if (pool || constants) text += "    struct net_memories memories = {0};\n";
    if (pool) text += "    memories.arena = arena;\n";
    if (constants) text += "    memories.weights = (void *)net_weights_image;\n";
    text += "    const int code = net(";
    bool first = true;
    auto const add = [&](std::string const& one) { text += (first ? "" : ", ") + one, first = false; };
    for (std::size_t at = 0; at < of.inputs.size(); ++at) {
        if (of.is_read(of.inputs[at])) add("in[" + std::to_string(at) + "]");
    }
    for (std::size_t at = 0; at < of.outputs.size(); ++at) add("out[" + std::to_string(at) + "]");
    if (pool || constants) add("&memories");
    text += ");\n";
    if (pool) {
        text += "    for (size_t at = TILEWRIGHT_net_arena_BYTES; at < sizeof arena; ++at)\n        if (arena[at] != 0xa5) return -1;\n";
    }
    return text + "    return code;\n}\n";
}

/// A network as a function in a library.
class compiled_network {
  public:
    /// @throw std::runtime_error  it is not planned, or does not compile
    compiled_network(tilewright::imported::layers made, std::filesystem::path const& folder) {
        using namespace tilewright;
        imported::network_program const whole(std::move(made), "net");
        program_plan_value const plan = make_program_plan(whole.get());
        if (plan.refusal) throw std::runtime_error(to_string(plan.refusal));
        kernels = plan.kernels.size();
        if (halide::detail::write_files(folder, halide::c_program(plan, {.name = "net"})) != 0) throw std::runtime_error("no files");
        std::ofstream(folder / "call.c") << caller_of(whole.network(), plan, whole);
        std::string const in = folder.string() + "/";
        std::string const command = "gcc -std=c11 -O1 -Wall -Wextra -Werror -fPIC -shared -o " + in + "net.so " + in + "net.c " + in +
                                    "call.c -lm 2> " + in + "said";
        if (std::system(command.c_str()) != 0) {
            std::ifstream said(folder / "said");
            throw std::runtime_error(std::string(std::istreambuf_iterator<char>(said), {}).substr(0, 600));
        }
        library_ = dlopen((in + "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        call_ = reinterpret_cast<int (*)(void* const*, void* const*)>(dlsym(library_, "call"));
    }
    compiled_network(compiled_network const&) = delete;
    ~compiled_network() {
        if (library_ != nullptr) dlclose(library_);
    }

    /// @param inputs   the bytes of each
    /// @param outputs  in: as many bytes as each has; out: its bytes
    /// @throw std::runtime_error  the function returns a code, or writes beside an argument
    void run(std::vector<std::vector<std::byte>> const& inputs, std::vector<std::vector<std::byte>>& outputs) const {
        std::deque<argument_room> rooms;
        std::vector<void*> in, out;
        for (auto const& one : inputs) {
            std::memcpy(rooms.emplace_back(one.size()).data(), one.data(), one.size());
            in.push_back(rooms.back().data());
        }
        for (auto const& one : outputs) out.push_back(rooms.emplace_back(one.size()).data());
        if (int const code = call_(in.data(), out.data()); code != 0) throw std::runtime_error("code " + std::to_string(code));
        for (argument_room& one : rooms) {
            if (!one.kept()) throw std::runtime_error("bytes beside an argument were written");
        }
        for (std::size_t at = 0; at < inputs.size(); ++at) {
            if (std::memcmp(in[at], inputs[at].data(), inputs[at].size()) != 0) throw std::runtime_error("an input was written");
        }
        for (std::size_t at = 0; at < outputs.size(); ++at) std::memcpy(outputs[at].data(), out[at], outputs[at].size());
    }

    std::size_t kernels = 0;

  private:
    void* library_ = nullptr;
    int (*call_)(void* const*, void* const*) = nullptr;
};
