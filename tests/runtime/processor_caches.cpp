#include <unistd.h>

#include <filesystem>
#include <tilewright/runtime/processor_caches.hpp>

#include "catch.hpp"

// What Linux says of caches, from a folder that is laid out as Linux does.

using namespace tilewright;

namespace {

class described {
  public:
    described() : folder_(std::filesystem::temp_directory_path() / ("tilewright_caches_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~described() { std::filesystem::remove_all(folder_); }
    void add(int index, char const* type, int level, char const* size, int line, int ways) const {
        std::filesystem::path const here = folder_ / ("index" + std::to_string(index));
        std::filesystem::create_directories(here);
        std::ofstream(here / "type") << type << "\n";
        std::ofstream(here / "level") << level << "\n";
        std::ofstream(here / "size") << size << "\n";
        std::ofstream(here / "coherency_line_size") << line << "\n";
        std::ofstream(here / "ways_of_associativity") << ways << "\n";
    }
    fixed_array<cache_level, max_cache_levels> read() const {
        return caches_of_this_processor({{{.bytes = 4096, .bytes_per_cycle = 32}, {.bytes = 8192, .bytes_per_cycle = 8}}},
                                        folder_.string());
    }

  private:
    std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("caches for data are read, level by level") {
    described const here;
    here.add(0, "Data", 1, "48K", 64, 12);
    here.add(1, "Instruction", 1, "32K", 64, 8);
    here.add(2, "Unified", 2, "2M", 64, 16);
    auto const found = here.read();
    CHECK(found[0] == cache_level{.bytes = 48 * 1024, .line = 64, .ways = 12, .bytes_per_cycle = 32});
    CHECK(found[1] == cache_level{.bytes = 2 * 1024 * 1024, .line = 64, .ways = 16, .bytes_per_cycle = 8});
    CHECK(found[2] == cache_level{});
}
TEST_CASE("where nothing is described, or no whole sets, caches stay as they were said to be") {
    described const here;
    CHECK(here.read()[0].bytes == 4096);
    here.add(0, "Data", 1, "1000", 64, 8);
    CHECK(here.read()[0].bytes == 4096);
    CHECK(here.read()[1].bytes == 8192);
}
