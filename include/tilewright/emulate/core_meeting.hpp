#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/emulate/emulation_error.hpp>
#include <tilewright/emulate/transfer_job.hpp>
#include <vector>

namespace tilewright::emulation {

/// Bytes that a core, or one of its engines, touches.
struct core_access {
    byte_range range{};
    bool writes = false;
};

/// What the emulator of one core asks of the team that it belongs to: see `core_team`.
class core_meeting {
  public:
    virtual ~core_meeting() = default;

    /// The core is about to do something; another core may have its turn first.
    virtual void turn(int core) = 0;
    /// The core comes to a barrier. Returns when all have come.
    /// @param now  its clock: that of the last one, and what the barrier takes, when it returns
    /// @param still  what its engines still do, and it does not know to be complete
    /// @return 0, or the code of the core that failed; `emulation_deadlock` when a core never comes
    virtual std::int32_t barrier(int core, std::int64_t& now, std::vector<core_access> const& still) = 0;
    /// The core sends a signal to another one. @return 0, or `emulation_no_token` when the queue is full or is not there
    virtual std::int32_t signal(int core, int peer, int queue, std::int64_t now, std::vector<core_access> const& still) = 0;
    /// The core waits for a signal of another one, and takes it. @param now  as above
    virtual std::int32_t await(int core, int peer, int queue, std::int64_t& now) = 0;
    virtual int cores() const = 0;
    /// Where a bank of a memory of core `core` lies in this process.
    virtual std::byte* base_of(int core, int memory, int bank) const = 0;
    /// Whether accesses of several cores to the same bytes are looked for.
    virtual bool watches() const = 0;
    /// @return what is wrong with an access: another core touches the bytes, and no barrier lies between; empty: nothing is
    virtual std::string touch(int core, core_access const& one) = 0;
};

}  // namespace tilewright::emulation
