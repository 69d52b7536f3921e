#pragma once
#include <cstdlib>
#include <fstream>
#include <string>
#include <tilewright/base/fixed_array.hpp>
#include <tilewright/machine/cache_level.hpp>

namespace tilewright {

/// The caches of the processor that runs this, as Linux describes those of its first core: for data, the nearest first.
///
/// @param like    what is not described: how many bytes come in a cycle; all, where nothing is described
/// @param folder  where the descriptions are
inline fixed_array<cache_level, max_cache_levels> caches_of_this_processor(
    fixed_array<cache_level, max_cache_levels> const& like, std::string const& folder = "/sys/devices/system/cpu/cpu0/cache") {
    fixed_array<cache_level, max_cache_levels> found{};
    for (int index = 0;; ++index) {
        std::string const here = folder + "/index" + std::to_string(index) + "/";
        auto const read = [&](char const* name) {
            std::string text;
            std::ifstream(here + name) >> text;
            return text;
        };
        std::string const type = read("type"), size = read("size");
        int const level = std::atoi(read("level").c_str());
        if (type.empty()) break;
        if (type == "Instruction" || level < 1 || level > max_cache_levels) continue;
        std::int64_t const unit = size.back() == 'K' ? 1024 : size.back() == 'M' ? 1024 * 1024 : 1;
        found[level - 1] = {.bytes = std::atoll(size.c_str()) * unit,
                            .line = std::atoll(read("coherency_line_size").c_str()),
                            .ways = std::atoll(read("ways_of_associativity").c_str()),
                            .bytes_per_cycle = like[level - 1].bytes_per_cycle};
    }
    // What cannot be described here, such as sets that are shared out in odd parts, is left as it is.
    std::int64_t before = 0;
    for (cache_level const& one : found) {
        if (one.bytes == 0) break;
        if (one.line < 1 || one.ways < 1 || !one.is_whole() || one.bytes <= before) return like;
        before = one.bytes;
    }
    return before > 0 ? found : like;
}

}  // namespace tilewright
