#pragma once
#include <tilewright/emulate/binding.hpp>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/emulate/iterations.hpp>

// The C functions that code of the emulated binding calls. The first argument is the emulator.
extern "C" {

[[gnu::used]] inline void* tilewright_emulated_machine(tilewright::machine const* what, tilewright::semantics_table const* semantics) {
    return &tilewright::shared_emulator(*what, *semantics);
}
[[gnu::used]] inline std::uint64_t tilewright_emulated_base(void* machine, std::int32_t memory, std::int32_t bank) {
    return reinterpret_cast<std::uintptr_t>(static_cast<tilewright::emulator*>(machine)->base(memory, bank));
}
[[gnu::used]] inline std::int32_t tilewright_emulate_transfer(void* machine, std::int32_t transfer, void* source, void* destination,
                                                              void* shape) {
    return static_cast<tilewright::emulator*>(machine)->transfer(transfer, source, destination, static_cast<std::int64_t const*>(shape));
}
[[gnu::used]] inline std::int32_t tilewright_emulate_wait(void* machine, std::int32_t lane, std::int64_t value) {
    return static_cast<tilewright::emulator*>(machine)->wait(lane, value);
}
[[gnu::used]] inline std::int32_t tilewright_emulate_configure(void* machine, std::int32_t configuration, void* values) {
    return static_cast<tilewright::emulator*>(machine)->configure(configuration, static_cast<std::int64_t const*>(values));
}
[[gnu::used]] inline std::int32_t tilewright_emulate_push(void* machine, std::int32_t tokens, std::int32_t queue) {
    return static_cast<tilewright::emulator*>(machine)->push(tokens, queue);
}
[[gnu::used]] inline std::int32_t tilewright_emulate_pop(void* machine, std::int32_t tokens, std::int32_t queue) {
    return static_cast<tilewright::emulator*>(machine)->pop(tokens, queue);
}
[[gnu::used]] inline std::int32_t tilewright_emulate_intrinsic(void* machine, std::int32_t intrinsic, void* operands) {
    return static_cast<tilewright::emulator*>(machine)->intrinsic(intrinsic, static_cast<std::int64_t const*>(operands));
}
[[gnu::used]] inline std::int32_t tilewright_emulate_code(void* machine, std::int64_t iterations, std::int32_t load, std::int32_t store,
                                                          std::int32_t arithmetic, std::int32_t multiply, std::int32_t divide,
                                                          std::int32_t convert, std::int32_t wait) {
    static_cast<tilewright::emulator*>(machine)->code(iterations, {load, store, arithmetic, multiply, divide, convert, wait});
    return 0;
}
/// `writes`: 0 of a load, 1 of a store, 2 of a store that fills a buffer in front of a transfer.
[[gnu::used]] inline std::int32_t tilewright_emulate_access(void* machine, std::int32_t stage, std::int32_t buffer, std::uint64_t address,
                                                            std::int64_t bytes, std::int32_t writes) {
    return static_cast<tilewright::emulator*>(machine)->access(
        stage, buffer, reinterpret_cast<void const*>(static_cast<std::uintptr_t>(address)), bytes, writes != 0, writes == 2);
}
/// Checked runs: where an argument's elements are that the kernel may touch. `written`: 1 of a result
[[gnu::used]] inline std::int32_t tilewright_emulate_argument(void* machine, std::int32_t buffer, std::uint64_t address, std::int64_t bytes,
                                                              std::int32_t written) {
    static_cast<tilewright::emulator*>(machine)->argument(buffer, reinterpret_cast<void const*>(static_cast<std::uintptr_t>(address)),
                                                          bytes, written != 0);
    return 0;
}
/// The number of the core that the emulator is; 0 if the machine has one core.
[[gnu::used]] inline std::int32_t tilewright_emulated_core(void* machine) { return static_cast<tilewright::emulator*>(machine)->core(); }
/// Returns when all cores have come.
[[gnu::used]] inline std::int32_t tilewright_emulate_barrier(void* machine) {
    return static_cast<tilewright::emulator*>(machine)->barrier();
}
/// Cleans, or invalidates, the cache of the core for bytes of a memory. `counted`: so many of them count as cycles.
[[gnu::used]] inline std::int32_t tilewright_emulate_clean(void* machine, std::int32_t memory, std::uint64_t address, std::int64_t bytes,
                                                           std::int64_t counted) {
    return static_cast<tilewright::emulator*>(machine)->keep_up(memory, address, bytes, counted, false);
}
[[gnu::used]] inline std::int32_t tilewright_emulate_invalidate(void* machine, std::int32_t memory, std::uint64_t address,
                                                                std::int64_t bytes, std::int64_t counted) {
    return static_cast<tilewright::emulator*>(machine)->keep_up(memory, address, bytes, counted, true);
}
/// Sends a signal to another core; returns at once.
[[gnu::used]] inline std::int32_t tilewright_emulate_signal(void* machine, std::int32_t peer, std::int32_t queue) {
    return static_cast<tilewright::emulator*>(machine)->signal(peer, queue);
}
/// Returns when there is a signal of another core, which it takes.
[[gnu::used]] inline std::int32_t tilewright_emulate_await(void* machine, std::int32_t peer, std::int32_t queue) {
    return static_cast<tilewright::emulator*>(machine)->await(peer, queue);
}
[[gnu::used]] inline std::int32_t tilewright_emulate_end(void* machine) { return static_cast<tilewright::emulator*>(machine)->end(); }
/// The argument of `tilewright_emulate_code` where a tile is partial.
[[gnu::used]] inline std::int64_t tilewright_count_iterations(void* loops_and_limits) {
    return tilewright::count_iterations(static_cast<std::int64_t const*>(loops_and_limits));
}
/// Nothing, but the compiler of the kernel does not know that: accesses before it and after it are not mixed.
[[gnu::used]] inline std::int32_t tilewright_fence() { return 0; }

}  // extern "C"
