#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

/// Memory for operands and pools of tests, where every access outside stops the process.
namespace guarded {

/// The end of a block that lies directly at a page which cannot be touched. The other one has such a page after what is left of its own,
/// and that rest is watched: `is_intact`.
enum class side : std::uint8_t { beginning, end };
inline constexpr side both_sides[] = {side::beginning, side::end};

/// A block of bytes between two pages that cannot be touched.
class block {
  public:
    /// @param alignment  of the first byte, a power of two. At the end, up to `alignment - 1` bytes follow the block that are only watched
    block(std::size_t bytes, std::size_t alignment, side at) : bytes_(bytes) {
        std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t const step = alignment > page ? alignment : page;
        inside_ = (bytes + step - 1) / step * step;
        if (inside_ == 0) inside_ = step;
        mapped_ = inside_ + step + 2 * page;
        mapping_ = static_cast<std::byte*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (mapping_ == MAP_FAILED) throw std::bad_alloc();
        auto const lowest = reinterpret_cast<std::uintptr_t>(mapping_) + page;
        first_ = reinterpret_cast<std::byte*>((lowest + step - 1) / step * step);
        if (mprotect(first_, inside_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
        std::memset(first_, mark, inside_);
        begin_ = at == side::beginning ? first_ : first_ + (inside_ - bytes) / alignment * alignment;
    }
    block(block const&) = delete;
    block& operator=(block const&) = delete;
    ~block() { munmap(mapping_, mapped_); }

    std::byte* begin() const { return begin_; }
    std::size_t size() const { return bytes_; }
    /// Whether nobody has written to what lies between the block and the pages that cannot be touched.
    bool is_intact() const {
        for (std::byte const* at = first_; at != first_ + inside_; ++at) {
            if (at == begin_) at += bytes_;
            if (at == first_ + inside_) break;
            if (*at != std::byte{mark}) return false;
        }
        return true;
    }

  private:
    static constexpr unsigned char mark = 0xa5;

    std::byte *mapping_ = nullptr, *first_ = nullptr, *begin_ = nullptr;
    std::size_t bytes_ = 0, inside_ = 0, mapped_ = 0;
};

/// `count` elements of a type, all bits 0.
template <class T>
class array {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit array(std::size_t count, side at = side::end, std::size_t alignment = alignof(T))
        : block_(std::make_shared<block>(count * sizeof(T), alignment, at)), count_(count) {
        if (count > 0) std::memset(static_cast<void*>(data()), 0, count * sizeof(T));
    }

    T* data() const { return reinterpret_cast<T*>(block_->begin()); }
    std::size_t size() const { return count_; }
    T& operator[](std::size_t at) const { return data()[at]; }
    T* begin() const { return data(); }
    T* end() const { return data() + count_; }
    bool is_intact() const { return block_->is_intact(); }

  private:
    std::shared_ptr<block> block_;
    std::size_t count_ = 0;
};

}  // namespace guarded
