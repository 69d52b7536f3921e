#pragma once
#include <tilewright/machine/machine.hpp>

namespace tilewright::targets {

/// What a schedule asks of a core with vector registers. Schedules that are given one serve all of them: vectors are as wide as its
/// registers, and tiles of as many as it has.
///
/// `inline constexpr vector_core vectors{host, l2, ymm};` in the target of a processor.
class vector_core {
  public:
    /// @param host     the machine, with static storage
    /// @param blocks   its memory for packed blocks
    /// @param vectors  its registers
    constexpr vector_core(machine const& host, memory const& blocks, memory const& vectors)
        : host_(&host), blocks_(&blocks), vectors_(&vectors) {}

    constexpr machine const& host() const { return *host_; }
    constexpr memory const& blocks() const { return *blocks_; }
    constexpr memory const& registers() const { return *vectors_; }
    constexpr std::int64_t vector_bytes() const { return vectors_->register_bytes(); }
    /// Elements of one register.
    template <class Element>
    constexpr std::int64_t lanes_of() const {
        return vector_bytes() / static_cast<std::int64_t>(sizeof(Element));
    }

  private:
    machine const* host_;
    memory const *blocks_, *vectors_;
};

}  // namespace tilewright::targets
