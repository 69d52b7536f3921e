#include <bit>
#include <tilewright/compute/stage.hpp>

#include "catch.hpp"

using namespace tilewright;

namespace {

constexpr axis i{"i", 8}, j{"j", 4}, k{"k", 6};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"}, c32{"c32"};
constexpr tensor<float> x{"x"};
constexpr parameter<std::int32_t> bias{"bias"};

template <int Count>
constexpr bool breaks(computation<Count> const& what, ir::rule expected) {
    ir::stage s;
    return read_stage(what.view(), 0, s).broken == expected;
}
template <int Count>
constexpr ir::stage normal(computation<Count> const& what) {
    ir::stage s;
    read_stage(what.view(), 0, s);
    return s;
}

// Names
static_assert(ir::label("abc") == ir::label("abc") && ir::label("abc") != ir::label("abd") && ir::label("abc") != ir::label("ab"));
static_assert(ir::label("12345678901234567890123").size() == 23 && !ir::label("12345678901234567890123").cut());
static_assert(ir::label("123456789012345678901234").cut());

// A literal takes the type of the other side, on either side.
static_assert((a(i) + 1).root().type == scalar_type::int8);
static_assert((1 + x(i)).nodes[0].type == scalar_type::float32);
static_assert(std::bit_cast<double>((2 * x(i)).nodes[0].value) == 2.0);
static_assert((a(i) < b(i)).root().type == scalar_type::boolean);
static_assert(cast<float>(a(i)).root().type == scalar_type::float32);
static_assert(select(a(i) > 0, a(i), 0).root().type == scalar_type::int8);

// What an expression cannot be
static_assert(breaks(c(i) = cast<std::int32_t>(a(i)) + a(i), ir::rule::operands_of_different_types));
static_assert(breaks(a(i) = a(i) * b(i), ir::rule::reading_its_own_output));
static_assert(breaks(b(i) = a(i) + 128, ir::rule::literal_that_does_not_fit));
static_assert(breaks(b(i) = a(i) + 0.5, ir::rule::literal_that_does_not_fit));
static_assert(breaks(b(i) = select(a(i), a(i), 0), ir::rule::condition_without_bool));
static_assert(breaks(c(i) = a(i), ir::rule::operands_of_different_types));
static_assert(breaks(c(i) = sum(k, cast<std::int32_t>(a(k))) * 2, ir::rule::reduction_inside_a_value));
static_assert(breaks(b(i) = a(k), ir::rule::axis_only_on_the_right));
static_assert(breaks(c(i) = sum(k, cast<std::int32_t>(a(k + j))), ir::rule::axis_not_reduced));
static_assert(breaks(b(i + j) = a(i), ir::rule::target_without_plain_axes));
static_assert(breaks(b(i, i) = a(i), ir::rule::target_without_plain_axes));
static_assert(breaks(b(i) = a(i * i), ir::rule::index_not_affine));
static_assert(breaks(b(i) = a(axis{"i", 9}), ir::rule::axis_with_two_extents));
static_assert(breaks(b(axis{"q"}) = a(axis{"q"}), ir::rule::axis_without_extent));

// Normal form
constexpr auto matmul = c(i, j) += cast<std::int32_t>(a(i, k)) * cast<std::int32_t>(b(k, j));
static_assert(breaks(matmul, ir::rule::none));
static_assert(normal(matmul).axis_count == 3 && normal(matmul).axes[2].name == ir::label("k") && normal(matmul).axes[2].reduction);
static_assert(normal(matmul).reduction == operation::reduce_sum && !normal(matmul).continues);
static_assert(normal(c(i) = sum(k, cast<std::int32_t>(a(k)))).axes[1].extent == 6);
static_assert(normal(c(i) = c(i) + sum(k, cast<std::int32_t>(a(i + k)))).continues);
static_assert(normal(c(i) = sum(k, cast<std::int32_t>(a(i + k))) + c(i)).continues);
static_assert(normal(c(i) = c(i) + bias).continues);

// What a reduction starts from: either side, an expression, a constant; not two reductions, nor what is added further out.
constexpr auto started = c(i) = 2 * c32(i) + sum(k, cast<std::int32_t>(a(i + k)));
static_assert(normal(started).start >= 0 && normal(started).reduction == operation::reduce_sum && !normal(started).continues);
static_assert(normal(started).axis_count == 2 && !normal(started).axes[0].reduction && normal(started).axes[1].reduction);
constexpr auto behind = c(i) = sum(k, cast<std::int32_t>(a(i + k))) + 2 * c32(i);
static_assert(normal(behind).start > normal(behind).body && normal(started).start < normal(started).body);
constexpr auto nodes_in_start = [](auto const& what) {
    int count = 0;
    for (int at = 0; at < normal(what).store; ++at) count += normal(what).is_in_start(at) ? 1 : 0;
    return count;
};
static_assert(nodes_in_start(started) == 4 && nodes_in_start(behind) == 4);  // the literal, the axis, the access and the product
static_assert(normal(c(i) = 5 + sum(k, cast<std::int32_t>(a(i + k)))).start >= 0);
static_assert(normal(c(i) = max(c32(i), maximum(k, cast<std::int32_t>(a(i + k))))).start >= 0);
static_assert(normal(matmul).start < 0 && normal(c(i) = c(i) + sum(k, cast<std::int32_t>(a(i + k)))).start < 0);
static_assert(breaks(c(i) = max(c32(i), sum(k, cast<std::int32_t>(a(i + k)))), ir::rule::reduction_inside_a_value));
static_assert(breaks(c(i) = sum(k, cast<std::int32_t>(a(k))) + sum(k, cast<std::int32_t>(a(i + k))), ir::rule::reduction_inside_a_value));
static_assert(breaks(c(i) = sum(k, cast<std::int32_t>(a(i + k))) + 1 + c32(i), ir::rule::reduction_inside_a_value));
static_assert(breaks(c(i) = c32(k) + sum(k, cast<std::int32_t>(a(i + k))), ir::rule::start_along_a_reduction));
static_assert(breaks(c(i) = c(i) + 1 + sum(k, cast<std::int32_t>(a(i + k))), ir::rule::reading_its_own_output));

// Affine indices: 2 * (i - 3) + k * 4 - j
constexpr auto strided = c(i, j) += cast<std::int32_t>(a(2 * (i - 3) + k * 4 - j));
constexpr ir::stage_index index = [] {
    ir::stage const s = normal(strided);
    int node = 0;
    while (strided.nodes[node].name != ir::label("a")) ++node;
    return index_of(strided.view(), s, node, 0);
}();
static_assert(index.affine && index.constant == -6 && index.coefficients[0] == 2 && index.coefficients[1] == -1 &&
              index.coefficients[2] == 4);

// `>` keeps the order in which operands are written, which is that of a kernel's arguments.
constexpr auto greater = a(i) > b(i);
static_assert(greater.root().op == operation::less && greater.nodes[1].name == ir::label("a") && greater.root().argument(0) == 3);

}  // namespace

TEST_CASE("expressions are built at run time as in the compiler") {
    std::int64_t extent = 8;
    axis const run_time{"i", extent};
    auto const again = c(run_time, j) += cast<std::int32_t>(a(run_time, k)) * cast<std::int32_t>(b(k, j));
    CHECK(again.nodes == matmul.nodes);
}
