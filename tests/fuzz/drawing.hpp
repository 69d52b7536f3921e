#pragma once
#include <iterator>
#include <random>
#include <string>

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

    void write(std::string const& more) { text_ += more; }
    std::string const& text() const { return text_; }

  private:
    std::mt19937 random_;
    std::string text_;
};
