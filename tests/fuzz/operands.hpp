#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/emulate/region.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <vector>

#include "fuzz/recipe.hpp"
#include "oracle/oracle.hpp"

namespace fuzz {

/// A tensor in the caller's memory, between two pages that cannot be touched: its last byte in front of one, or its first byte behind the
/// other.
class placed_tensor {
  public:
    /// @param gaps  elements that the strides of dimensions skip, where the kernel leaves the caller free
    placed_tensor(ir::buffer const& b, std::int64_t gaps);

    /// Moves it to one end of its pages, with what surrounds it marked.
    void place(bool high);
    oracle::tensor_box const& box() const { return box_; }
    scalar_type type() const { return type_; }
    std::byte* first() const { return first_; }
    std::array<std::int64_t, oracle::most_dimensions> const& strides() const { return strides_; }

    /// Writes the elements of a dense tensor.
    void fill(std::vector<std::byte> const& dense);
    std::vector<std::byte> dense() const;
    /// Whether what lies around its elements, and between them, is as `place` left it.
    bool is_clean_around() const;

  private:
    template <class Visit>
    void each_element(Visit const& visit) const;

    scalar_type type_;
    oracle::tensor_box box_;
    std::array<std::int64_t, oracle::most_dimensions> strides_{};
    std::int64_t bytes_ = 0, alignment_ = 1;
    guarded_region region_;
    std::byte* first_ = nullptr;
};

/// Elements as the recipe of a tensor says, dense.
std::vector<std::byte> draw_elements(tensor const& of, std::int64_t count, std::uint64_t seed);

/// The box around two.
oracle::tensor_box joined(oracle::tensor_box a, oracle::tensor_box const& b);
/// The elements of a box that lies in another one, dense like those of the other one.
std::vector<std::byte> part_of(oracle::tensor_box const& whole, std::vector<std::byte> const& elements, oracle::tensor_box const& part);

/// The first element in which a result differs from what is wanted, in words; empty: none. Undefined elements and bits of NaN do not count.
std::string difference(oracle::result const& wanted, std::vector<std::byte> const& got);

}  // namespace fuzz
