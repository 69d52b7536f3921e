#pragma once
#include <cstring>
#include <tilewright/emulate/calls.hpp>

#include "catch.hpp"

/// A small machine, and the calls that generated code would make of it.
namespace driven {

using namespace tilewright;
using namespace tilewright::ir;

inline constexpr axis i{"i", 4}, z{"z", 1};
inline constexpr tensor<std::uint8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::uint16_t> w{"w"}, v{"v"};

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x4000, .capacity = 1_KiB};
inline constexpr memory tcm{.name = "tcm", .base = 0x8000, .capacity = 256, .banks = 2, .ports = 1};
inline constexpr engine loader{"loader"}, channel{.name = "channel", .depth = 2, .completes = completion::by_channel}, array{"array"};

/// 10 cycles of latency after 1 cycle for every 4 bytes.
inline constexpr auto load =
    transfer("load", dram, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto store = transfer("store", spad, dram).on(channel).asynchronous().cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto plain = transfer("plain", dram, spad).cost({.latency = 3, .setup = 2, .bytes_per_cycle = 4});
inline constexpr auto widen = transfer("widen", spad, spad, w(z) = cast<std::uint16_t>(a(z)));
inline constexpr auto to_tcm = transfer("to_tcm", dram, tcm).on(loader).asynchronous();
inline constexpr auto beside = transfer("beside", dram, tcm).on(channel).asynchronous();
inline constexpr auto add = intrinsic("add", b(i) += a(i)).reads(a, spad).updates(b, spad).on(array).cycles(5);
inline constexpr auto copy = intrinsic("copy", b(i) = a(i)).reads(a, spad).writes(b, spad).cycles(5);
inline constexpr auto behind = intrinsic("behind", b(i) = a(i)).reads(a, spad).writes(b, spad).on(loader).cycles(5);
inline constexpr auto narrow = intrinsic("narrow", b(i) = a(i)).reads(a, tcm).writes(b, spad).cycles(5);
inline constexpr auto raise = intrinsic("raise", b(i) = a(i) * 3).reads(a, spad).writes(b, spad).in_place(a).cycles(5);
inline constexpr auto npu =
    machine("npu", dram, spad, tcm, loader, channel, array, load, store, plain, widen, to_tcm, beside, add, copy, behind, narrow, raise);

/// Its calls by name. The argument memory is `host`: tensors `A` (buffer 0) and `B` (buffer 1).
struct device {
    enum { at_load, at_store, at_plain, at_widen, at_to_tcm, at_beside };
    enum { at_add, at_copy, at_behind, at_narrow, at_raise };
    enum { on_loader, on_channel, on_array };

    emulator on{npu, semantics_of<npu>};
    std::vector<std::uint8_t> A = std::vector<std::uint8_t>(512), B = std::vector<std::uint8_t>(512);

    device() {
        for (std::size_t at = 0; at < A.size(); ++at) A[at] = static_cast<std::uint8_t>(at * 7 + 1);
    }
    std::uint8_t* at(memory const& m, std::int64_t offset, int bank = 0) const {
        return reinterpret_cast<std::uint8_t*>(on.base(m, bank)) + offset;
    }
    /// One row.
    int move(int which, void* source, void* destination, std::int64_t bytes, std::int64_t tag = -1, int from = -1, int to = -1) {
        std::int64_t shape[] = {bytes, 1, 1, 0, tag, from, to};
        return tilewright_emulate_transfer(&on, which, source, destination, shape);
    }
    int start_load(std::int64_t from, std::int64_t offset, std::int64_t bytes, std::int64_t tag, int to = -1) {
        return move(at_load, A.data() + from, at(spad, offset), bytes, tag, 0, to);
    }
    int start_store(std::int64_t offset, std::int64_t to, std::int64_t bytes, std::int64_t tag, int from = -1) {
        return move(at_store, at(spad, offset), B.data() + to, bytes, tag, from, 1);
    }
    int wait(int engine_at, std::int64_t value) { return tilewright_emulate_wait(&on, engine_at, value); }
    int compute(int which, void* from, void* to, int from_buffer = -1, int to_buffer = -1) {
        auto const bits = [](void* address) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)); };
        std::int64_t operands[] = {bits(from), from_buffer, 1, 0, 0, 0, 0, 0, bits(to), to_buffer, 1, 0, 0, 0, 0, 0};
        return tilewright_emulate_intrinsic(&on, which, operands);
    }
    int code(std::int64_t cycles) { return tilewright_emulate_code(&on, cycles, 1, 0, 0, 0, 0, 0, 0); }
    int touch(int buffer, void* address, std::int64_t bytes, bool writes) {
        return tilewright_emulate_access(&on, 0, buffer, reinterpret_cast<std::uintptr_t>(address), bytes, writes ? 1 : 0);
    }
    int end() { return tilewright_emulate_end(&on); }
};

/// A plan with the buffers that the calls name: arguments A and B, then those that are given.
inline plan_value plan_with(std::initializer_list<buffer> staged) {
    plan_value plan;
    plan.where = &npu;
    buffer argument{.name = "A", .tensor = "A", .type = scalar_type::uint8, .rank = 1, .bytes = 512};
    argument.extents[0] = 512;
    plan.buffers.push(argument);
    argument.name = argument.tensor = "B";
    argument.written = true;
    plan.buffers.push(argument);
    for (buffer const& b : staged) plan.buffers.push(b);
    plan.stages.push({.output = "B"});
    return plan;
}
inline buffer staged(label name, std::int64_t offset, std::initializer_list<std::int64_t> extents, int ordinal, int versions = 1,
                     int memory_at = 1) {
    buffer b{.name = name, .tensor = name, .kind = buffer_kind::staged, .memory = static_cast<std::int16_t>(memory_at)};
    b.type = scalar_type::uint8;
    b.bytes = 1;
    for (std::int64_t extent : extents) b.extents[b.rank++] = extent, b.bytes *= extent;
    b.offset = offset;
    b.versions = static_cast<std::int16_t>(versions);
    b.bank = 0;
    b.part_stride = b.bytes;
    b.ordinal = static_cast<std::int16_t>(ordinal);
    return b;
}

}  // namespace driven
