#pragma once
#include <map>
#include <random>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/compute/tensor.hpp>

/// Draws numbers, and writes down what was made of them.
class drawing {
  public:
    explicit drawing(std::uint32_t seed) : random_(seed) {}

    int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    template <class List>
    auto const& any_of(List const& list) {
        return *(std::begin(list) + below(static_cast<int>(std::size(list))));
    }
    std::mt19937& generator() { return random_; }

    /// An axis of up to `most` elements; one in three is left to run time, half of those with an upper bound.
    tilewright::axis extent(char const* name, int most) {
        most_[name] = most;
        std::int64_t const given = between(1, most), kind = below(6);
        tilewright::axis const made{name, kind == 0 ? tilewright::dynamic : kind == 1 ? tilewright::dynamic.up_to(most) : given};
        write("axis " + std::string(name) + "{\"" + name + "\", " +
              (kind == 0   ? "dynamic"
               : kind == 1 ? "dynamic.up_to(" + std::to_string(most) + ")"
                           : std::to_string(given)) +
              "};\n");
        return made;
    }
    int most(tilewright::ir::label const& name) const { return most_.at(name.str()); }

    void write(std::string const& more) { text_ += more; }
    std::string const& text() const { return text_; }

  private:
    std::mt19937 random_;
    std::string text_;
    std::map<std::string, int> most_;
};
