#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

/// A folder of its own for one test, which is gone with the object.
class folder {
  public:
    folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tilewright_test_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for a test");
        path = pattern;
    }
    folder(folder const&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    void write(std::string const& name, std::string const& text) const { std::ofstream(path / name) << text; }
    std::string read(std::string const& name) const {
        std::ifstream in(path / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string name() const { return path.string(); }
    std::string operator/(std::string const& file) const { return (path / file).string(); }

    std::filesystem::path path;
};
