#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tilewright {

/// The end of a region that lies directly at a page which cannot be touched; at the other one, what is left of a page comes first.
enum class region_side : std::uint8_t { beginning, end };

/// A block of memory between two pages that cannot be touched, so that running off either end stops the process at once.
///
/// It lies anywhere in the process; its first byte is aligned to `alignment`, and it starts as zeros.
class guarded_region {
  public:
    guarded_region() = default;
    guarded_region(std::size_t bytes, std::size_t alignment, region_side at = region_side::beginning) : bytes_(bytes) {
        std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t const slack = alignment > page ? alignment : 0;
        std::size_t const inside = (bytes + page - 1) / page * page;
        mapped_ = inside + slack + 2 * page;
        mapping_ = static_cast<std::byte*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (mapping_ == MAP_FAILED) throw std::bad_alloc();
        auto const lowest = reinterpret_cast<std::uintptr_t>(mapping_) + page;
        auto const step = alignment > page ? alignment : page;
        begin_ = reinterpret_cast<std::byte*>((lowest + step - 1) / step * step);
        if (mprotect(begin_, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
        if (at == region_side::end) begin_ += (inside - bytes) / alignment * alignment;
    }
    guarded_region(guarded_region&& other) noexcept { swap(other); }
    guarded_region& operator=(guarded_region&& other) noexcept {
        swap(other);
        return *this;
    }
    ~guarded_region() {
        if (mapping_ != nullptr) munmap(mapping_, mapped_);
    }

    std::byte* begin() const { return begin_; }
    std::size_t size() const { return bytes_; }
    bool holds(void const* address, std::size_t bytes) const {
        auto const first = reinterpret_cast<std::uintptr_t>(begin_), at = reinterpret_cast<std::uintptr_t>(address);
        return begin_ != nullptr && at >= first && bytes <= bytes_ && at - first <= bytes_ - bytes;
    }

  private:
    void swap(guarded_region& other) noexcept {
        std::swap(mapping_, other.mapping_);
        std::swap(mapped_, other.mapped_);
        std::swap(begin_, other.begin_);
        std::swap(bytes_, other.bytes_);
    }

    std::byte* mapping_ = nullptr;
    std::size_t mapped_ = 0;
    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tilewright
