#include <set>
#include <tilewright/halide/inject.hpp>
#include <tilewright/halide/jit.hpp>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "kernels/schedules.hpp"

// The statement of the device binding: which functions are called, with which arguments.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, pool{.name = "pool", .capacity = 4_KiB}, near{.name = "near", .base = 0x8000, .capacity = 4_KiB};
constexpr auto in = transfer("in", dram, near)
                        .dimensions(2)
                        .calls("copy_in", argument::literal(3), argument::destination, argument::bytes, argument::row_bytes,
                               argument::extent(0), argument::extent(1), argument::source_stride(1), argument::destination_stride(1));
constexpr auto out = transfer("out", near, dram);
constexpr auto to_pool = transfer("to_pool", dram, pool);
constexpr axis y{"y", 6}, x{"x", 10}, yo{"yo"}, yi{"yi"};
constexpr tensor<std::int16_t> a{"a"}, b{"b"};
constexpr auto m = machine("m", dram, pool, near, in, out, to_pool);
constexpr auto increment = b(y, x) = a(y, 2 * x + 1) + 1;
constexpr auto on_near = schedule(increment, m).split(y, yo, yi, 3).cache_read(a, near).at(yo).by(in).cache_write(b, near).at(yi).by(out);
constexpr auto in_pool = schedule(increment, m).cache_read(a, pool);

std::string statement_of(plan_value const& plan) {
    halide::code_names const names = halide::name_everything(plan);
    std::ostringstream text;
    text << halide::emitter(plan, names, {halide::binding::device, {}, Halide::Target("x86-64-linux")}).program();
    return text.str();
}

/// Runs the loops of a statement and keeps which elements of a tensor of so many columns it asks for, by the iteration of a loop.
class asked_elements : public Halide::Internal::IRVisitor {
  public:
    asked_elements(int columns, std::string loop) : columns_(columns), loop_(std::move(loop)) {}
    std::map<std::int64_t, std::multiset<std::int64_t>> found;

  protected:
    using IRVisitor::visit;
    std::int64_t value(Halide::Expr const& of) const {
        struct known : Halide::Internal::IRMutator {
            using IRMutator::visit;
            int columns = 0;
            Halide::Expr visit(Halide::Internal::Call const* op) override {
                if (op->name == Halide::Internal::Call::buffer_get_stride) return columns;
                if (op->name == Halide::Internal::Call::buffer_get_min) return 0;
                return IRMutator::visit(op);
            }
        } arguments;
        arguments.columns = columns_;
        Halide::Expr const simple = Halide::Internal::simplify(Halide::Internal::substitute(values_, arguments.mutate(of)));
        auto const* number = Halide::Internal::as_const_int(simple);
        if (number == nullptr) throw std::runtime_error("no number");
        return *number;
    }
    void visit(Halide::Internal::For const* op) override {
        std::int64_t const first = value(op->min), count = value(op->extent);
        for (std::int64_t at = first; at < first + count; ++at) {
            values_[op->name] = static_cast<int>(at);
            op->body.accept(this);
        }
        values_.erase(op->name);
    }
    void visit(Halide::Internal::LetStmt const* op) override {
        if (op->value.type() == Halide::Int(32)) values_[op->name] = Halide::Internal::substitute(values_, op->value);
        op->body.accept(this);
    }
    void visit(Halide::Internal::Store const*) override {}
    void visit(Halide::Internal::Call const* op) override {
        if (!op->is_intrinsic(Halide::Internal::Call::prefetch)) return IRVisitor::visit(op);
        found[value(values_.at(loop_))].insert(value(op->args[1]));
    }

  private:
    int columns_;
    std::string loop_;
    std::map<std::string, Halide::Expr> values_;
};

}  // namespace

TEST_CASE("a device call has the arguments that the machine lists, in their order") {
    std::string const text = statement_of(plan<on_near>);
    INFO(text);
    // 3 rows of 19 elements of 2 bytes; rows in the scratchpad follow each other
    CHECK(text.find("copy_in((int64)3, (void *)reinterpret(b2_a.near.address), (int64)114, (int64)38, (int64)19, (int64)3, "
                    "int64(_halide_buffer_get_stride((halide_buffer_t *)b0_a.buffer, 1))*(int64)2, (int64)38)") != std::string::npos);
    CHECK(text.find("let b2_a.near.address = (uint64)32768") != std::string::npos);
    // 114 bytes of a, then b: two-byte elements need no more alignment
    CHECK(text.find("let b3_b.near.address = (uint64)32882") != std::string::npos);
    CHECK(text.find("allocate") == std::string::npos);
    CHECK(text.find("tilewright_emulate") == std::string::npos);
}
TEST_CASE("a fence stands where a buffer takes the bytes of another one") {
    plan_value const& in_turn = plan<kernels::blur_in_turn>;
    int fences = 0, calls = 0;
    for (int at = 0; at < in_turn.steps.size(); ++at) fences += in_turn.steps[at].kind == ir::step_kind::fence;
    std::string const text = statement_of(in_turn), call = std::string(halide::fence_name) + "(";
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) ++calls;
    INFO(text);
    CHECK(fences == 2);
    CHECK(calls == fences);
}
TEST_CASE("a call has the flags of its addresses, and not of others") {
    constexpr memory rows{.name = "rows", .capacity = 1_KiB, .host_visible = false, .address_unit = 64};
    constexpr axis lane{"lane", 16};
    constexpr tensor<std::int32_t> from{"from"}, to{"to"}, given{"given"}, twice{"twice"};
    auto const step = intrinsic("step", to(lane) = from(lane) * 2)
                          .reads(from, rows)
                          .writes(to, rows)
                          .calls("step", argument::address(from), argument::address(to).with(argument::bit(30)));
    auto const on = machine("on", dram, rows, transfer("in", dram, rows), transfer("out", rows, dram), step);
    auto const what = twice(lane) = given(lane) * 2;
    std::string const text =
        statement_of(make_plan(schedule(what, on).cache_read(given, rows).cache_write(twice, rows).tensorize(lane, step)));
    INFO(text);
    std::string const without = "/(uint64)64, (uint64)0), (uint64)0)", with = "/(uint64)64, (uint64)0), (uint64)1073741824)";
    std::size_t const begin = text.find("step("), first = text.find(without, begin), second = text.find(with, begin);
    REQUIRE(second != std::string::npos);
    CHECK(begin < first);
    CHECK(first < second);
    CHECK(text.find(with) == second);
    CHECK(text.find(with, second + 1) == std::string::npos);
}
TEST_CASE("what a conversion wraps may be negative, as far as Halide knows") {
    using namespace Halide;
    Expr const v = Internal::Variable::make(Int(32), "v");
    Internal::Scope<Internal::Interval> values;
    values.push("v", Internal::Interval(0, 255));
    // Both ends of the range wrap to numbers that are not negative; 128 is one that is.
    for (Expr const& wide : {cast(Int(64), v) * Internal::make_const(Int(64), 20000000),
                             cast(Int(64), cast(UInt(32), v)) * Internal::make_const(Int(64), 20000000)}) {
        Internal::Interval const found = Internal::bounds_of_expr_in_scope(halide::convert(Int(32), wide), values);
        CHECK((!found.has_lower_bound() || Internal::can_prove(found.min < 0)));
        CHECK(Internal::can_prove(Internal::substitute("v", 128, halide::convert(Int(32), wide)) < 0));
    }
}
TEST_CASE("the device binding needs an address for every memory that holds a buffer") {
    CHECK_THROWS_WITH(statement_of(plan<in_pool>), Catch::Contains("`pool` has no address, and none is given"));
}
TEST_CASE("a program that finds no place in the lowered code is refused, not dropped") {
    halide::inject_program pass("no such stage", Halide::Internal::Evaluate::make(0), halide::jit_target());
    CHECK_THROWS_WITH(pass.mutate(Halide::Internal::Evaluate::make(1)), Catch::Contains("found 0 times"));
}

TEST_CASE("the iterations of a loop share the lines of the next block, and ask for each of them") {
    constexpr int depth = 12, columns = 96, width = 32;
    kernel::gemm<float> const problem(kernel::gemm_shape{6, columns, depth});
    auto const asked = [&](kernel::gemm_tile const& tile) {
        auto const made = std::make_unique<plan_value>(make_plan(kernel::tiled_gemm(problem, tile)));
        INFO((made->refusal ? to_string(made->refusal) : std::string()));
        REQUIRE(!made->refusal);
        halide::code_names const names = halide::name_everything(*made);
        halide::emission how{halide::binding::device, {}, Halide::Target("x86-64-linux-avx2-fma")};
        how.pools[made->where->memories.find(targets::avx2::l2.name)] = Halide::Internal::make_const(Halide::UInt(64), 0);
        auto const loop = std::find_if(names.variables.begin(), names.variables.end(), [](std::string const& name) {
            return name.size() > 3 && name.compare(name.size() - 3, 3, "_no") == 0;
        });
        REQUIRE(loop != names.variables.end());
        asked_elements seen(columns, *loop);
        halide::emitter(*made, names, how).program().accept(&seen);
        return seen.found;
    };
    for (int unrolled : {1, 2, 4, 12}) {
        INFO(unrolled << " steps written out");
        // 3 tiles of 2 rows, 12 / unrolled iterations each, for 12 rows of two lines
        auto const found = asked({2, 2, 6, width, depth, true, false, 1, unrolled, true, true, true});
        REQUIRE(found.size() == columns / width);
        for (auto const& [block, elements] : found) {
            std::set<std::int64_t> expected;
            for (int row = 0; row < depth; ++row) {
                for (int line : {0, 16}) expected.insert(row * columns + (static_cast<int>(block) + 1) * width + line);
            }
            CHECK(std::set<std::int64_t>(elements.begin(), elements.end()) == expected);
            int const iterations = 6 / 2 * 2 * depth / unrolled;
            CHECK(static_cast<int>(elements.size()) == (24 + iterations - 1) / iterations * iterations);
        }
    }
}
