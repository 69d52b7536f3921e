#include "c_source/compiled.hpp"

// What C source cannot express is refused by name; names that C has taken are given others.

using namespace tilewright;
using Halide::Expr;
using Halide::Internal::Stmt;

namespace {

std::string said_of(Stmt const& program) {
    halide::detail::c_statements code;
    code.values.bind("out", {"out", halide::detail::c_variable::kind::elements});
    try {
        code.function_body(program);
    } catch (halide::unsupported_in_c const& wrong) {
        return wrong.what();
    }
    return "nothing";
}
Stmt stored(Expr const& value) {
    return Halide::Internal::Store::make("out", value, 0, Halide::Internal::Parameter(), Halide::Internal::const_true(),
                                         Halide::Internal::ModulusRemainder());
}
bool holds(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("operations, types and statements that C source does not know") {
    using namespace Halide::Internal;
    CHECK(said_of(stored(Expr(2.0f))) == "nothing");
    CHECK(holds(said_of(stored(Halide::sqrt(Variable::make(Halide::Float(32), "v")))), "`sqrt_f32`"));
    CHECK(holds(said_of(stored(Halide::popcount(Expr(5u) + Load::make(Halide::UInt(32), "out", 0, {}, {}, const_true(), {})))),
                "`popcount`"));
    CHECK(holds(said_of(stored(Load::make(Halide::Float(16), "out", 0, {}, {}, const_true(), {}) + make_const(Halide::Float(16), 1))),
                "type float16"));
    CHECK(holds(said_of(stored(Variable::make(Halide::Int(32), "lost"))), "`lost`"));
    CHECK(holds(said_of(For::make("i", 0, 4, ForType::Parallel, Halide::DeviceAPI::None, stored(1))), "a loop that is not serial"));
    CHECK(holds(said_of(Allocate::make("room", Halide::Int(32), Halide::MemoryType::Auto,
                                       {Load::make(Halide::Int(32), "out", 0, {}, {}, const_true(), {})}, const_true(), stored(1))),
                "memory for `room`"));
    CHECK(holds(said_of(AssertStmt::make(const_false(), 3)), "a statement of this kind"));
}
TEST_CASE("names that C or the source itself has taken") {
    static constexpr memory dram{.name = "dram"}, l1{.name = "l1", .base = 64, .capacity = 4_KiB};
    static constexpr auto load = transfer("load", dram, l1);
    static constexpr auto where = machine("taken_words", dram, l1, load);
    static constexpr axis status{"status", 8}, lane{"lane", 8}, register_{"register"}, kernel{"kernel"};
    static constexpr tensor<std::int32_t> auto_{"auto"}, overlap{"overlap"};
    static constexpr auto sums = overlap(status, lane) = auto_(status, lane) + cast<std::int32_t>(status);
    static constexpr auto named =
        schedule(sums, where).split(lane, register_, kernel, 4).vectorize(kernel).cache_read(auto_, l1).at(status);
    c_kernels::check_c_source(named, plan<named>, plan<named>, emulated<where>());
}
