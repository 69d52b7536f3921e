#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peers {

using environment = std::vector<std::pair<std::string, std::string>>;

/// The environment for a process whose libraries run as they are asked: what `held` says to any of these libraries is left out, whatever it
/// is, and `asked` takes its place. One variable of theirs can overrule another: `ONEDNN_MAX_CPU_ISA` does `DNNL_MAX_CPU_ISA`, and
/// `BLIS_IC_NT` does `BLIS_NUM_THREADS`.
/// @param held  as `environ` is: NAME=value, and a null pointer at the end
inline std::vector<std::string> environment_for_peers(char const* const* held, environment const& asked) {
    constexpr std::string_view said_to_libraries[] = {"OPENBLAS_", "GOTO_", "BLIS_", "DNNL_", "ONEDNN_",
                                                      "OMP_",      "GOMP_", "KMP_",  "MKL_",  "HL_"};
    std::vector<std::string> made;
    for (; *held != nullptr; ++held) {
        bool to_library = false;
        for (std::string_view const family : said_to_libraries) to_library |= std::strncmp(*held, family.data(), family.size()) == 0;
        if (!to_library) made.emplace_back(*held);
    }
    for (auto const& [name, value] : asked) made.push_back(name + "=" + value);
    return made;
}

}  // namespace peers
