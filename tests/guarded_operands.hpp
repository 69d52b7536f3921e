#pragma once
#include <tilewright/plan/plan.hpp>
#include <type_traits>

#include "catch.hpp"
#include "guarded.hpp"
#include "oracle/oracle.hpp"
#include "reference/fill.hpp"

/// Random operands of a kernel that is called with pointers, between pages that cannot be touched, and what the oracle says of them.
///
/// They are dense, and aligned as the plan asks for and no more. Integers of 32 and 64 bits are small, so that sums do not overflow.
class guarded_operands {
  public:
    /// @param parameters  those of the computation, by name
    /// @param extents     of axes that are left to run time
    guarded_operands(tilewright::plan_value const& plan, guarded::side at, std::vector<oracle::parameter_value> const& parameters = {},
                     std::vector<tilewright::axis_extent> const& extents = {}, std::uint64_t seed = 17) {
        using namespace tilewright;
        std::vector<oracle::tensor_box> boxes = oracle::inputs_of(plan.what, extents);
        boxes.push_back(oracle::output_of(plan.what, extents));
        std::vector<oracle::operand> operands;
        for (oracle::tensor_box const& box : boxes) {
            std::int64_t alignment = bytes_of(box.type);
            for (int b = 0; b < plan.buffers.size(); ++b) {
                ir::buffer const& one = plan.buffers[b];
                if (one.kind == ir::buffer_kind::argument && one.tensor == box.name) alignment = std::max(alignment, one.alignment);
            }
            blocks_.push_back(
                std::make_unique<guarded::block>(static_cast<std::size_t>(box.bytes()), static_cast<std::size_t>(alignment), at));
            visit_scalar(box.type, [&]<class T>(T) {
                auto* const elements = reinterpret_cast<T*>(blocks_.back()->begin());
                auto const count = static_cast<std::size_t>(box.elements());
                if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) reference::fill_between(elements, count, seed++, T{0}, T{1000});
                else reference::fill(elements, count, seed++);
            });
            operands.emplace_back(box, blocks_.back()->begin());
        }
        oracle::manner const how{.fuses = plan.where->host().fused_multiply_add};
        expected_ = oracle::evaluate(plan.what, operands, parameters, extents, how);
        CHECK(expected_.has_defined_elements());
        for (std::size_t input = 0; input + 1 < blocks_.size(); ++input)
            given_.emplace_back(blocks_[input]->begin(), blocks_[input]->begin() + blocks_[input]->size());
    }

    /// @param position  in the order in which the computation reads its tensors; the result comes last
    template <class T>
    T* at(std::size_t position) const {
        return reinterpret_cast<T*>(blocks_.at(position)->begin());
    }
    /// The result is what the oracle says, and nothing but the result was written.
    void check() const {
        CHECK(std::memcmp(blocks_.back()->begin(), expected_.bytes.data(), expected_.bytes.size()) == 0);
        for (auto const& one : blocks_) CHECK(one->is_intact());
        for (std::size_t input = 0; input < given_.size(); ++input)
            CHECK(std::memcmp(blocks_[input]->begin(), given_[input].data(), given_[input].size()) == 0);
    }

  private:
    std::vector<std::unique_ptr<guarded::block>> blocks_;  ///< of the inputs, then of the result
    std::vector<std::vector<std::byte>> given_;
    oracle::result expected_;
};
