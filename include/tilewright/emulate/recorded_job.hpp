#pragma once
#include <tilewright/base/label.hpp>

namespace tilewright {

enum class job_kind : std::uint8_t { transfer, intrinsic, code, wait };

constexpr char const* name_of(job_kind kind) {
    constexpr char const* names[] = {"transfer", "intrinsic", "code", "wait"};
    return names[static_cast<int>(kind)];
}

/// Something that an emulated machine has done, in cycles since the emulator was reset.
struct recorded_job {
    job_kind kind = job_kind::code;
    int engine = -1;   ///< that it occupied; -1: the core
    ir::label name{};  ///< of the transfer, of the intrinsic; "code"; of the engine that is waited for
    std::int64_t begin = 0;
    std::int64_t end = 0;       ///< of the occupation
    std::int64_t complete = 0;  ///< latency later
    std::int64_t bytes = 0;     ///< transfer: at the destination
    ir::label buffer{};         ///< transfer: the destination, or the source where that is no argument of the kernel; empty: not known
    std::int64_t tag = -1;      ///< transfer: -1 when it was blocking
    int channel = 0;            ///< of the engine
};

}  // namespace tilewright
