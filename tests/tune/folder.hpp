#pragma once
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace tune_test {

/// A folder of its own, for one test.
class folder {
  public:
    folder() {
        std::string made = (std::filesystem::temp_directory_path() / "tune_test_XXXXXX").string();
        if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("no folder for a test");
        name_ = made;
    }
    ~folder() { std::filesystem::remove_all(name_); }
    folder(folder const&) = delete;
    std::string const& name() const { return name_; }
    std::string operator/(std::string const& file) const { return name_ + "/" + file; }

  private:
    std::string name_;
};

}  // namespace tune_test
