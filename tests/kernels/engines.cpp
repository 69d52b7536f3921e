#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Instructions that run on engines of their own while the core goes on, ordered by tokens, by interlocks, or by waits of the core.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory inputs{.name = "inputs", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16, .host_visible = false};
constexpr memory weights{.name = "weights", .base = 0x2000'0000, .capacity = 32_KiB, .alignment = 16, .host_visible = false};
constexpr memory sums{.name = "sums", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 16};
constexpr axis i{"i", 8}, j{"j", 8}, l{"l", 8};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"}, d{"d"};
constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));

enum class ordered : std::uint8_t { by_tokens, by_more_tokens, by_core, by_interlocks, by_tokens_one_way };

/// Loads, an array that multiplies, a unit for vectors and stores work side by side.
/// @param overwrites whether an instruction starts a sum; if not, a transfer fills what is added to
constexpr machine accelerator(ordered how, int depth, bool overwrites = true) {
    machine made("accelerator", dram, inputs, weights, sums);
    auto const on_channel = [&](char const* name) {
        return engine{.name = name, .depth = depth, .completes = completion::by_channel, .interlocked = how == ordered::by_interlocks};
    };
    engine const load = on_channel("load"), array = on_channel("array"), vectors = on_channel("vectors");
    engine const store{.name = "store", .depth = depth, .interlocked = how == ordered::by_interlocks};
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

constexpr machine by_tokens = accelerator(ordered::by_tokens, 16), by_more_tokens = accelerator(ordered::by_more_tokens, 3),
                  by_core = accelerator(ordered::by_core, 16), by_interlocks = accelerator(ordered::by_interlocks, 5),
                  by_tokens_one_way = accelerator(ordered::by_tokens_one_way, 2);
constexpr machine filling_by_tokens = accelerator(ordered::by_tokens, 16, false), filling_by_core = accelerator(ordered::by_core, 4, false),
                  filling_by_interlocks = accelerator(ordered::by_interlocks, 16, false);

constexpr axis m{"m", 48}, n{"n", 40}, k{"k", 56};
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, D{"D"};
constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
constexpr auto matmul = C(m, n) += product;
constexpr auto more_matmul = C(m, n) = C(m, n) + sum(k, product);
constexpr axis p{"p", 48}, q{"q", 40}, po{"po"}, pi{"pi"}, qo{"qo"}, qi{"qi"};
constexpr auto relu_of_matmul = stages(C(m, n) += product, D(p, q) = max(C(p, q), 0));

void add_products(kernels::operand_data const& data, std::vector<std::int32_t>& into, int rows, int columns, int depth) {
    auto const* const left = data.in<std::int8_t>(0);
    auto const* const right = data.in<std::int8_t>(1);
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
            for (int z = 0; z < depth; ++z) into[static_cast<std::size_t>(y * columns + x)] += left[y * depth + z] * right[z * columns + x];
        }
    }
}
void matmul_by_hand(kernels::operand_data const& data) {
    std::vector<std::int32_t> all(48 * 40);
    add_products(data, all, 48, 40, 56);
    std::copy(all.begin(), all.end(), data.out<std::int32_t>());
}

/// Runs what `direct` schedules on a machine, in all orders in which its engines can get on.
template <machine const& Where, class Direct, class Reference>
void on_machine(computation_view what, Direct const& direct, Reference const& reference) {
    INFO(Where.tokens.size() << " kinds of tokens, queues " << Where.engines[0].depth << " deep"
                             << (Where.engines[0].interlocked ? ", interlocked" : ""));
    schedule made(what, Where);
    direct(made);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    emulator on(Where, semantics_of<Where>);
    kernels::check_kernel(*plan, on, reference);
    if (!plan->refusal) CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
}
template <class Direct, class Reference>
void on_every_machine(computation_view what, Direct const& direct, Reference const& reference) {
    on_machine<by_tokens>(what, direct, reference);
    on_machine<by_more_tokens>(what, direct, reference);
    on_machine<by_core>(what, direct, reference);
    on_machine<by_interlocks>(what, direct, reference);
    on_machine<by_tokens_one_way>(what, direct, reference);
}
template <class Direct, class Reference>
void on_every_filling_machine(computation_view what, Direct const& direct, Reference const& reference) {
    on_machine<filling_by_tokens>(what, direct, reference);
    on_machine<filling_by_core>(what, direct, reference);
    on_machine<filling_by_interlocks>(what, direct, reference);
}

schedule& tiled(schedule& s) { return s.tile(m, n, mo, no, mi, ni, 16, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki); }

}  // namespace

TEST_CASE("loads, multiplications and stores side by side, in one to four versions") {
    for (int versions : {1, 2, 3, 4}) {
        INFO(versions << " versions");
        auto const direct = [&](schedule& s) {
            tiled(s).cache_read(A, inputs).at(ko).buffers(versions).cache_read(B, weights).at(ko).buffers(versions);
            s.cache_write(C, sums).at(no).buffers(versions).tensorize(mi, ni, ki, s.where().intrinsics[0]);
        };
        on_every_machine(matmul.view(), direct, matmul_by_hand);
        on_every_filling_machine(matmul.view(), direct, matmul_by_hand);
    }
}
TEST_CASE("operands at levels of their own share a queue of tokens") {
    on_every_machine(
        matmul.view(),
        [](schedule& s) {
            tiled(s).cache_read(A, inputs).at(mo).buffers(2).cache_read(B, weights).at(ko).buffers(3);
            s.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, s.where().intrinsics[0]);
        },
        matmul_by_hand);
    on_every_machine(
        matmul.view(),
        [](schedule& s) {
            tiled(s).cache_read(A, inputs).at(ko).buffers(4).prefetch(1).cache_read(B, weights).at(no).buffers(2);
            s.cache_write(C, sums).at(mo).buffers(2).tensorize(mi, ni, ki, s.where().intrinsics[0]);
        },
        matmul_by_hand);
}
TEST_CASE("a sum that is loaded, continued and stored by engines") {
    on_every_machine(
        more_matmul.view(),
        [](schedule& s) {
            tiled(s).cache_read(A, inputs).at(ko).buffers(2).cache_read(B, weights).at(ko).buffers(2);
            s.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, s.where().intrinsics[0]);
        },
        [](kernels::operand_data const& data) {
            std::vector<std::int32_t> all(data.out<std::int32_t>(), data.out<std::int32_t>() + 48 * 40);
            add_products(data, all, 48, 40, 56);
            std::copy(all.begin(), all.end(), data.out<std::int32_t>());
        });
}
TEST_CASE("what one engine computes another one goes on with") {
    auto const by_hand = [](kernels::operand_data const& data) {
        std::vector<std::int32_t> all(48 * 40);
        add_products(data, all, 48, 40, 56);
        for (std::size_t at = 0; at < all.size(); ++at) data.out<std::int32_t>()[at] = std::max(all[at], 0);
    };
    /// Tiles of C, computed by the array where the vectors read them, and by whom their loops are carried out in the end.
    auto const tile_by_tile = [](schedule& s, bool by_vectors, bool stored_by_steps) {
        s.tile(p, q, po, qo, pi, qi, 16, 8).reorder(po, qo, pi, qi).compute_at(C, qo);
        s.cache_write(D, sums).at(qo);
        if (stored_by_steps) s.buffers(2);
        if (by_vectors) s.tensorize(pi, qi, s.where().intrinsics[s.where().intrinsics.count - 1]);
        s.stage(C).store_in(C, sums).split(m, mo, mi, 8).split(n, no, ni, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki);
        s.cache_read(A, inputs).at(ko).buffers(2).cache_read(B, weights).at(ko).buffers(2).tensorize(mi, ni, ki, s.where().intrinsics[0]);
    };
    for (bool by_vectors : {true, false}) {
        for (bool stored_by_steps : {true, false}) {
            INFO("by vectors: " << by_vectors << ", by steps: " << stored_by_steps);
            auto const direct = [&](schedule& s) { tile_by_tile(s, by_vectors, stored_by_steps); };
            on_every_machine(relu_of_matmul.view(), direct, by_hand);
            on_every_filling_machine(relu_of_matmul.view(), direct, by_hand);
        }
    }
    // One stage after the other.
    auto const in_turn = [](schedule& s) {
        s.tile(p, q, po, qo, pi, qi, 16, 8).reorder(po, qo, pi, qi).cache_write(D, sums).at(qo).buffers(2);
        s.tensorize(pi, qi, s.where().intrinsics[s.where().intrinsics.count - 1]);
        tiled(s.stage(C).store_in(C, sums)).cache_read(A, inputs).at(ko).buffers(2).cache_read(B, weights).at(ko).buffers(2);
        s.tensorize(mi, ni, ki, s.where().intrinsics[0]);
    };
    on_every_machine(relu_of_matmul.view(), in_turn, by_hand);
    on_every_filling_machine(relu_of_matmul.view(), in_turn, by_hand);
}
TEST_CASE("tiles that end early") {
    auto const direct = [](schedule& s) {
        s.tile(m, n, mo, no, mi, ni, 24, 24).split(k, ko, ki, 24).reorder(mo, no, ko, mi, ni, ki);
        s.cache_read(A, inputs).at(ko).buffers(2).cache_read(B, weights).at(ko).buffers(3).cache_write(C, sums).at(no).buffers(2);
        s.tensorize(mi, ni, ki, s.where().intrinsics[0]);
    };
    on_every_machine(matmul.view(), direct, matmul_by_hand);
    on_every_filling_machine(matmul.view(), direct, matmul_by_hand);
}
TEST_CASE("engines that work aside keep out of each other's banks") {
    constexpr memory one_port{
        .name = "inputs", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16, .banks = 4, .ports = 1, .host_visible = false};
    auto const multiply = [&](machine const& where, int versions, int bank_of_b) {
        schedule s(matmul.view(), where);
        tiled(s).cache_read(A, inputs).at(ko).buffers(versions).in_bank(0).cache_read(B, inputs).at(ko).buffers(versions).in_bank(
            bank_of_b);
        return s.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, where.intrinsics[0]);
    };
    for (ordered how : {ordered::by_tokens, ordered::by_core, ordered::by_interlocks}) {
        machine where = accelerator(how, 4);
        for (memory& m : where.memories.parts) {
            if (m.name == one_port.name) m = one_port;
        }
        for (int at = 0; at < where.intrinsics.count; ++at) {
            for (auto& operand : where.intrinsics.parts[static_cast<std::size_t>(at)].operands) {
                if (operand.memory_name == weights.name) operand.memory_name = one_port.name;
            }
        }
        emulator on(where, semantics_of<by_tokens>);
        auto const plan = std::make_unique<plan_value>(make_plan(multiply(where, 2, 0)));
        kernels::check_kernel(*plan, on, matmul_by_hand);
        // A multiplication of a step whose operand lies in a bank, while that bank is loaded for a later one.
        verdict const refusal = make_plan(multiply(where, 2, 1)).refusal;
        CHECK(name_of(refusal.kind) == std::string("bank_conflict"));
        CHECK(refusal.names[0] == one_port.name);
    }
}
