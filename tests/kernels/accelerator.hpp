#pragma once
#include <tilewright/machine/machine.hpp>

/// Machines with loads, an array that multiplies, a unit for vectors and stores, which work side by side and are ordered in several ways.
namespace accelerators {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory inputs{.name = "inputs", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory weights{.name = "weights", .base = 0x2000'0000, .capacity = 32_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory sums{.name = "sums", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 16};

enum class ordered : std::uint8_t {
    by_tokens,
    by_more_tokens,
    by_core,
    by_core_for_all,
    by_interlocks,
    by_some_interlocks,
    by_tokens_one_way
};

/// The steps of the array are rows x columns x depth.
struct array_shape {
    std::int64_t rows = 8, columns = 8, depth = 8;
};

/// @param depth       of every queue
/// @param overwrites  whether an instruction starts a sum; if not, a transfer fills what is added to
/// @param channels    of the engines that load and store; tokens have one
constexpr machine accelerator(ordered how, int depth, bool overwrites = true, array_shape const& steps = {}, int channels = 1) {
    machine made("accelerator", dram, inputs, weights, sums);
    auto const on_channel = [&](char const* name) {
        return engine{.name = name,
                      .depth = depth,
                      .completes = how == ordered::by_core_for_all ? completion::by_engine : completion::by_channel,
                      .interlocked = how == ordered::by_interlocks ||
                                     (how == ordered::by_some_interlocks && (ir::label(name) == "load" || ir::label(name) == "array"))};
    };
    engine const array = on_channel("array"), vectors = on_channel("vectors");
    engine load = on_channel("load");
    load.channels = channels;
    engine const store{.name = "store",
                       .depth = depth,
                       .channels = channels,
                       .completes = how == ordered::by_core_for_all ? completion::by_engine : completion::by_transfer,
                       .interlocked = how == ordered::by_interlocks};
    for (engine const& e : {load, array, vectors, store}) made.add(e);
    int const queues = how == ordered::by_more_tokens ? 4 : 1;
    auto const add_tokens = [&](engine const& from, engine const& to) { made.add(tokens(from, to).queues(queues)); };
    if (how == ordered::by_tokens || how == ordered::by_more_tokens) {
        for (engine const& unit : {array, vectors}) {
            add_tokens(load, unit), add_tokens(unit, load);
            add_tokens(unit, store), add_tokens(store, unit);
        }
        add_tokens(array, vectors), add_tokens(vectors, array);
    }
    if (how == ordered::by_tokens_one_way) add_tokens(load, array), add_tokens(array, store), add_tokens(array, vectors);
    axis const i{"i", steps.rows}, j{"j", steps.columns}, l{"l", steps.depth};
    tensor<std::int8_t> const a{"a"}, b{"b"};
    tensor<std::int32_t> const c{"c"}, d{"d"};
    auto const term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
    transfer_cost const cost{.latency = 20, .setup = 4, .bytes_per_cycle = 8};
    made.add(transfer("load_inputs", dram, inputs).on(load).asynchronous().dimensions(2).cost(cost));
    made.add(transfer("load_weights", dram, weights).on(load).asynchronous().dimensions(2).cost(cost));
    made.add(transfer("load_sums", dram, sums).on(load).asynchronous().dimensions(2).cost(cost));
    made.add(transfer("store_sums", sums, dram).on(store).asynchronous().dimensions(2).cost(cost));
    made.add(intrinsic("mac", c(i, j) += term).reads(a, inputs).reads(b, weights).updates(c, sums).on(array).asynchronous().cycles(9));
    if (overwrites)
        made.add(
            intrinsic("mul", c(i, j) = sum(l, term)).reads(a, inputs).reads(b, weights).writes(c, sums).on(array).asynchronous().cycles(7));
    else made.add(transfer("clear", dram, sums, c(i) = 0).dimensions(2).cost(cost));
    made.add(intrinsic("relu", d(i, j) = max(c(i, j), 0)).reads(c, sums).writes(d, sums).on(vectors).asynchronous().cycles(5));
    return made;
}

}  // namespace accelerators
