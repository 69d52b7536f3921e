#include <tilewright/plan/planner.hpp>
#include <tilewright/report/loop_program.hpp>

#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/run_kernel.hpp"

// Instructions that run on engines of their own while the core goes on, ordered by tokens, by interlocks, or by waits of the core.

using namespace tilewright;
using namespace accelerators;

namespace {

constexpr machine by_tokens = accelerator(ordered::by_tokens, 16), by_more_tokens = accelerator(ordered::by_more_tokens, 3),
                  by_core = accelerator(ordered::by_core, 16), by_core_for_all = accelerator(ordered::by_core_for_all, 16),
                  by_interlocks = accelerator(ordered::by_interlocks, 5), by_some_interlocks = accelerator(ordered::by_some_interlocks, 4),
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
            for (int z = 0; z < depth; ++z) into[y * columns + x] += left[y * depth + z] * right[z * columns + x];
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
    on_machine<by_core_for_all>(what, direct, reference);
    on_machine<by_interlocks>(what, direct, reference);
    on_machine<by_some_interlocks>(what, direct, reference);
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

TEST_CASE("loads, multiplications and stores side by side, in one to four versions", "[long]") {
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
TEST_CASE("operands at levels of their own share a queue of tokens", "[long]") {
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
TEST_CASE("a sum that is loaded, continued and stored by engines", "[long]") {
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
TEST_CASE("what one engine computes another one goes on with", "[long]") {
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
TEST_CASE("between stages on one engine, or on engines that hold each other back, the core does not wait") {
    auto const lines = [](machine const& where) {
        schedule s(relu_of_matmul, where);
        s.tile(p, q, po, qo, pi, qi, 16, 8).reorder(po, qo, pi, qi).cache_write(D, sums).at(qo).buffers(2);
        s.tensorize(pi, qi, where.intrinsics[where.intrinsics.count - 1]);
        tiled(s.stage(C).store_in(C, sums)).cache_read(A, inputs).at(ko).buffers(2).cache_read(B, weights).at(ko).buffers(2);
        s.tensorize(mi, ni, ki, where.intrinsics[0]);
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        REQUIRE(!plan->refusal);
        CHECK(!detail::find_hazard(*plan, ir::visiting::everything));
        emulator on(where, semantics_of<by_tokens>);
        kernels::check_kernel(*plan, on);
        std::string const text = loop_program(*plan);
        return std::pair(text.find("wait for array"), text.find("relu"));
    };
    machine one_engine = by_tokens;
    for (int at = 0; at < one_engine.intrinsics.count; ++at) one_engine.intrinsics.parts[at].engine_name = "array";
    // By tokens between two engines, the core orders what has no steps in common.
    auto const [wait_of_two, relu_of_two] = lines(by_tokens);
    CHECK(wait_of_two < relu_of_two);
    for (machine const& where : {one_engine, accelerator(ordered::by_interlocks, 4)}) {
        auto const [wait, relu] = lines(where);
        CHECK(relu < wait);  // at the end of the kernel
        CHECK(wait != std::string::npos);
    }
}
TEST_CASE("tiles that end early", "[long]") {
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
            for (auto& operand : where.intrinsics.parts[at].operands) {
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
TEST_CASE("after a push or a pop that fails no token is left, and the kernel can run again") {
    for (bool const shares : {false, true}) {
        // With one queue for all, tokens are counted.
        machine const where = accelerator(shares ? ordered::by_tokens : ordered::by_more_tokens, 4);
        schedule made(matmul, where);
        tiled(made).cache_read(A, inputs).at(mo).buffers(2).cache_read(B, weights).at(ko).buffers(3);
        made.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, where.intrinsics[0]);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        REQUIRE(!plan->refusal);
        emulator on(where, semantics_of<by_tokens>);
        halide::jit_kernel kernel(*plan, &on);
        kernels::operand_data const data = kernels::random_operands(*plan, 5);
        Halide::Buffer<> const wanted = kernels::result_of(kernel, data, {});
        for (progress how : {progress::earliest, progress::latest}) {
            on.use(how);
            int failed = 0;
            for (int failing = 1; failing < 60; ++failing) {
                INFO(name_of(how) << ", push or pop " << failing << (shares ? ", shared" : ""));
                on.reset();
                on.fail_token(failing, 77);
                CHECK_THROWS_WITH(kernels::result_of(kernel, data, {}), Catch::Contains("77"));
                CHECK(on.in_flight() == 0);
                for (int at = 0; at < where.tokens.size(); ++at) {
                    for (int queue = 0; queue < where.tokens[at].queue_count; ++queue) CHECK(on.pop(at, queue) == emulation_no_token);
                }
                ++failed;
            }
            CHECK(failed == 59);
            // No reset: what the failing run has left would show.
            Halide::Buffer<> again;
            CHECK_NOTHROW(again = kernels::result_of(kernel, data, {}));
            CHECK(kernels::same_bits(again, wanted));
        }
    }
}
TEST_CASE("after a transfer that fails nothing is in flight and no token is left") {
    schedule made(matmul, by_tokens);
    tiled(made).cache_read(A, inputs).at(mo).buffers(2).cache_read(B, weights).at(ko).buffers(3);
    made.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, by_tokens.intrinsics[0]);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    emulator on(by_tokens, semantics_of<by_tokens>);
    halide::jit_kernel kernel(*plan, &on);
    kernels::operand_data const data = kernels::random_operands(*plan, 5);
    for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        on.use(how);
        for (int failing : {1, 2, 5, 40, 100}) {
            INFO(name_of(how) << ", transfer " << failing);
            on.reset();
            on.fail_transfer(failing, 77);
            CHECK_THROWS_WITH(kernels::result_of(kernel, data, {}), Catch::Contains("77"));
            CHECK(on.in_flight() == 0);
            for (int at = 0; at < by_tokens.tokens.size(); ++at) CHECK(on.pop(at, 0) == emulation_no_token);
        }
    }
    on.reset();
    on.use(progress::latest);
    CHECK_NOTHROW(kernels::result_of(kernel, data, {}));
}

namespace {

// One engine loads, which the core need not wait for, and adds, which it waits for.
constexpr memory main_memory{.name = "main_memory"}, scratch{.name = "scratch", .capacity = 4_KiB, .host_visible = true};
constexpr engine one_engine{.name = "one_engine", .depth = 8};
constexpr auto load_late =
    transfer("load_late", main_memory, scratch).on(one_engine).asynchronous().cost({.latency = 40, .setup = 2, .bytes_per_cycle = 8});
constexpr auto store_back = transfer("store_back", scratch, main_memory).on(one_engine).cost({.bytes_per_cycle = 8});
constexpr axis lane{"lane", 4};
constexpr tensor<std::int32_t> from{"from"}, to{"to"};
constexpr auto add_four =
    intrinsic("add_four", to(lane) = from(lane) + 1).reads(from, scratch).writes(to, scratch).on(one_engine).cycles(3);
constexpr auto shared_engine = machine("shared_engine", main_memory, scratch, one_engine, load_late, store_back, add_four);

}  // namespace

TEST_CASE("steps that the core waits for one by one come behind a load that their engine was given before") {
    constexpr tensor<std::int32_t> X{"X"}, Y{"Y"};
    static constexpr axis i{"i", 64}, io{"io"}, ii{"ii"};
    static constexpr auto one_more = Y(i) = X(i) + 1;
    on_machine<shared_engine>(
        one_more.view(),
        [&](schedule& s) {
            s.split(i, io, ii, 16).cache_read(X, scratch).at(io).buffers(2).cache_write(Y, scratch).at(io).tensorize(ii, add_four);
        },
        [](kernels::operand_data const& data) {
            for (int at = 0; at < 64; ++at) data.out<std::int32_t>()[at] = data.in<std::int32_t>(0)[at] + 1;
        });
}
