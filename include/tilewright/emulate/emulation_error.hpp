#pragma once
#include <cstdint>
#include <string>

namespace tilewright {

/// What an emulated machine refuses to do at run time, as the return code of the kernel.
enum emulation_error : std::int32_t {
    emulation_bad_address = -1001,       // an access outside the memory that the transfer or the intrinsic works on
    emulation_unknown_part = -1002,      // a call names a part that the machine does not have
    emulation_illegal_transfer = -1003,  // dimensions, a row, an extent, an address or a stride that the transfer does not take
    emulation_bad_access = -1004,        // checked runs: bytes in flight, without contents, or outside of their buffer
    emulation_bank_conflict = -1005,     // what computes, or a transfer, uses a bank with one port that a transfer in flight uses
    emulation_not_waited = -1006,        // the kernel ended while jobs were in flight
    emulation_stale_setting = -1008,     // a call finds a configuration set to something else than it needs
    emulation_deadlock = -1009,          // a core waits at a barrier to which another one never comes
    emulation_stale_line = -1010,        // bytes that a cache has, or may have, otherwise than their memory
    emulation_no_token = -1007,          // an engine would wait for ever: a token is popped that was not pushed, or too many are under way
};

namespace emulation {

/// A call that is not carried out: the code that it returns, and what it wanted.
struct refused_call {
    std::int32_t code = 0;
    std::string text;
};

}  // namespace emulation
}  // namespace tilewright
