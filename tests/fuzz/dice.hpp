#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace fuzz {

/// Numbers at random: equal seeds give equal numbers, on every platform.
class dice {
  public:
    explicit dice(std::uint64_t seed) : random_(seed * 0x9e37'79b9'7f4a'7c15ull + 0x1234'5678'9abc'def1ull) {}

    std::uint64_t bits() { return random_(); }
    int below(int count) { return count <= 1 ? 0 : static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool one_in(int count) { return below(count) == 0; }
    bool percent(int chance) { return below(100) < chance; }
    template <class List>
    auto& any_of(List& list) {
        return list[below(static_cast<int>(std::size(list)))];
    }
    /// A position, each as likely as its weight says.
    int weighted(std::initializer_list<int> weights) {
        int all = 0, at = 0;
        for (int weight : weights) all += weight;
        int left = below(all);
        for (int weight : weights) {
            if (left < weight) return at;
            left -= weight, ++at;
        }
        return 0;
    }
    template <class List>
    void shuffle(List& list) {
        for (std::size_t left = list.size(); left > 1; --left) std::swap(list[left - 1], list[below(static_cast<int>(left))]);
    }

  private:
    std::mt19937_64 random_;
};

}  // namespace fuzz
