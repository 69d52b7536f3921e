#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/reference.hpp"

// What real instructions have beside their arithmetic, one machine for each: a configuration register, memories whose addresses are numbers
// of rows, a step of two calls, a bit of an address that says whether sums go on.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory bytes{.name = "bytes", .base = 0x2000, .capacity = 16_KiB, .alignment = 16};
constexpr memory sums{.name = "sums", .base = 0x8000, .capacity = 16_KiB, .alignment = 32};
constexpr axis i{"i", 8}, j{"j", 8}, l{"l", 8}, any{"any", 1};
constexpr tensor<std::int8_t> a{"a"}, b{"b"}, s8{"s8"};
constexpr tensor<std::int32_t> c{"c"}, s32{"s32"};
constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));

constexpr axis m{"m", 20}, n{"n", 24}, k{"k", 10}, mo{"mo"}, mi{"mi"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};
constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

constexpr auto multiply_add = intrinsic("multiply_add", c(i, j) += product).reads(a, bytes).reads(b, bytes).updates(c, sums);
constexpr auto load = transfer("load", dram, bytes).dimensions(2), store = transfer("store", sums, dram).dimensions(2);
constexpr auto zeros = transfer("zeros", dram, bytes, s8(any) = 0).dimensions(2),
               none = transfer("none", dram, sums, s32(any) = 0).dimensions(2);

// The distance of the rows that a load reads stands in a register.
constexpr configuration stride("stride");
constexpr auto load_by_register =
    transfer("load", dram, bytes)
        .dimensions(2)
        .uses(stride, argument::source_stride(1))
        .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::destination_stride(1));
constexpr auto configured = machine("configured", dram, bytes, sums, stride, load_by_register, store, zeros, none, multiply_add);

// Rows of 8 bytes have numbers, and nothing lies elsewhere.
constexpr memory rows{.name = "rows", .capacity = 16_KiB, .alignment = 8, .host_visible = false, .address_unit = 8};
constexpr auto load_rows = transfer("load", dram, rows)
                               .dimensions(2)
                               .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                      argument::source_stride(1), argument::destination_stride(1).in_units_of(8));
constexpr auto zero_rows =
    transfer("zeros", dram, rows, s8(any) = 0)
        .dimensions(2)
        .calls("zeros", argument::destination, argument::row_bytes, argument::extent(1), argument::destination_stride(1).in_units_of(8));
constexpr auto multiply_add_rows =
    intrinsic("multiply_add", c(i, j) += product)
        .reads(a, rows)
        .reads(b, rows)
        .updates(c, sums)
        .calls("multiply_add", argument::address(a), argument::stride(a, 0).in_units_of(8), argument::address(b),
               argument::stride(b, 0).in_units_of(8), argument::address(c), argument::stride(c, 0));
constexpr auto numbered = machine("numbered", dram, rows, sums, load_rows, store, zero_rows, none, multiply_add_rows);

// One call says where the second factor is, the next one computes.
constexpr auto multiply_add_twice =
    intrinsic("multiply_add", c(i, j) += product)
        .reads(a, bytes)
        .reads(b, bytes)
        .updates(c, sums)
        .calls("preload", argument::address(b), argument::stride(b, 0))
        .then("compute", argument::address(a), argument::stride(a, 0), argument::address(c), argument::stride(c, 0));
constexpr auto of_two_calls = machine("of_two_calls", dram, bytes, sums, load, store, zeros, none, multiply_add_twice);

// A bit of the address of the sums says whether they go on: two forms of one function, and nothing has to be filled in front.
constexpr memory flagged_sums{.name = "flagged_sums", .capacity = 16_KiB, .alignment = 32, .host_visible = false, .address_unit = 32};
constexpr auto store_flagged = transfer("store", flagged_sums, dram).dimensions(2);
constexpr auto form(ir::label name, ir::direction of_sums, std::int64_t flags) {
    auto made = intrinsic(name, c(i, j) += product).reads(a, bytes).reads(b, bytes);
    return (of_sums == ir::direction::updates ? made.updates(c, flagged_sums) : made.writes(c, flagged_sums))
        .calls("multiply", argument::address(a), argument::stride(a, 0), argument::address(b), argument::stride(b, 0),
               argument::address(c).with(flags), argument::stride(c, 0));
}
constexpr auto overwrite = form("overwrite", ir::direction::writes, 0), go_on = form("go_on", ir::direction::updates, argument::bit(30));
constexpr auto of_two_forms = machine("of_two_forms", dram, bytes, flagged_sums, load, store_flagged, zeros, overwrite, go_on);

/// Plans and runs a product whose tiles divide nothing. @return the plan, to be looked at
template <auto const& On>
std::unique_ptr<plan_value> check(memory const& operands, memory const& results, intrinsic const& by) {
    auto plan = std::make_unique<plan_value>(make_plan(schedule(matmul, On)
                                                           .split(m, mo, mi, 8)
                                                           .split(k, ko, ki, 8)
                                                           .reorder(mo, ko, mi, n, ki)
                                                           .cache_read(A, operands)
                                                           .at(ko)
                                                           .cache_read(B, operands)
                                                           .at(ko)
                                                           .cache_write(C, results)
                                                           .at(mo)
                                                           .tensorize(mi, n, ki, by)));
    kernels::check_kernel(*plan, emulated<On>(), [](kernels::operand_data const& d) {
        reference::matmul_nn(20, 24, 10, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
    return plan;
}

}  // namespace

TEST_CASE("a register that is set where it changes") {
    // Rows of A are 10 bytes apart and rows of B 24: both are loaded in each of 3 x 2 steps.
    CHECK(check<configured>(bytes, sums, multiply_add)->calls(stride) == 2 * 3 * 2);
}
TEST_CASE("rows by number") { check<numbered>(rows, sums, multiply_add_rows); }
TEST_CASE("a step of two calls") { check<of_two_calls>(bytes, sums, multiply_add_twice); }
TEST_CASE("an overwriting form beside one that goes on, told apart by a bit of an address") {
    auto const plan = check<of_two_forms>(bytes, flagged_sums, go_on);
    // In the first of two blocks of k, and in the second one; 3 x 3 tiles of C.
    CHECK(plan->calls(overwrite) == 3 * 3);
    CHECK(plan->calls(go_on) == 3 * 3);
}
