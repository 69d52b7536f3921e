#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <tilewright/bring_up/self_test.hpp>
#include <tilewright/compute/functions.hpp>

#include "catch.hpp"
#include "folder.hpp"
#include "oracle/oracle.hpp"

// What a self-test expects of an instruction is what the oracle computes. Here the oracle is the device: each instruction of a machine
// calls it, and the self-test, in C, judges it. A device that rounds otherwise fails.

using namespace tilewright;

namespace {

constexpr memory ram{.name = "ram"};
constexpr axis i{"i", 40}, k{"k", 7};
template <class T>
constexpr tensor<T> x{"x"};
template <class T>
constexpr tensor<T> y{"y"};
template <class T>
constexpr tensor<T> z{"z"};

machine const* judged = nullptr;
bool fails = false, was_undefined = false;

/// Computes the instruction at `at` as the oracle does.
int judge(int at, void* to, void const* left, void const* right) {
    intrinsic_description const& what = judged->intrinsics[at];
    computation_view const view = judged->view(what.semantics);
    std::vector<oracle::operand> operands;
    for (oracle::tensor_box const& box : oracle::inputs_of(view)) {
        void const* const data = box.name == ir::label("x") ? left : box.name == ir::label("y") ? right : to;
        operands.emplace_back(box, data);
    }
    bool const updates = what.operands[what.operand_count - 1].is == ir::direction::updates;
    if (updates && operands.size() < 3) operands.emplace_back(oracle::output_of(view), to);
    oracle::result made = oracle::evaluate(view, operands, {}, {}, {.updates = updates});
    was_undefined |= !made.has_defined_elements();
    if (fails) made.bytes[made.bytes.size() / 2] ^= std::byte{1};
    std::memcpy(to, made.bytes.data(), made.bytes.size());
    return 0;
}

/// The start of the setup and the rows of a self-test, as its header declares them.
struct setup {
    void* ram = nullptr;
    void *read = nullptr, *write = nullptr, *failed = nullptr, *context = nullptr;
    int all = 0;
    std::uint32_t patience = 0;
};
struct row_in_c {
    char const* part = nullptr;
    std::int32_t cases = 0, passed = 0, failed = 0, undefined = 0, unseen = 0, unreached = 0;
};

struct row : row_in_c {
    explicit row(row_in_c const& of) : row_in_c(of), name(of.part) {}
    std::string name;
};

/// The rows of a machine's self-test, which was compiled and run; a message where it does not please the compiler.
std::vector<row> run(machine const& where, char const* compiler, bool with_failure = false) {
    judged = &where, fails = with_failure, was_undefined = false;
    folder const made;
    bring_up::self_test_text const text = bring_up::self_test(where, {"judged", {}, 8192});
    made.write("judged.h", text.header), made.write("judged.c", text.source);
    std::string const in = made.path.string() + "/";
    std::string const command = std::string(compiler) + " -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror -ffreestanding -fPIC -shared -o " +
                                in + "judged.so " + in + "judged.c 2> " + in + "said";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(made.read("said"));
    void* const library = dlopen((in + "judged.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    std::vector<std::max_align_t> memory(65536 / sizeof(std::max_align_t));
    setup const given{memory.data()};
    reinterpret_cast<int (*)(setup const*)>(dlsym(library, "judged"))(&given);
    auto const* const rows = static_cast<row_in_c const*>(dlsym(library, "judged_rows"));
    std::vector<row> const found(rows, rows + where.intrinsics.size());
    dlclose(library);
    return found;
}

template <class Result, class Operand, class Value>
void add(machine& to, char const* symbol, Value const& value) {
    intrinsic made = intrinsic(symbol, z<Result>(i) = value).reads(x<Operand>, ram).reads(y<Operand>, ram).writes(z<Result>, ram);
    made.calls(symbol, argument::address(x<Operand>), argument::address(y<Operand>), argument::address(z<Result>));
    to.add(made);
}
template <class T>
auto const left = x<T>(i);
template <class T>
auto const right = y<T>(i);

/// @param whole  of types whose every value is defined for all operations below
void expect_all(machine const& where, bool whole) {
    for (char const* compiler : {TILEWRIGHT_C_GCC, TILEWRIGHT_C_CLANG}) {
        for (row const& one : run(where, compiler)) {
            INFO(one.name << " by " << compiler);
            CHECK(one.passed > 0);
            CHECK(one.failed == 0);
            CHECK(one.passed + one.undefined == one.cases);
            if (whole) CHECK(one.undefined == 0);
        }
        CHECK(!was_undefined);
    }
    for (row const& one : run(where, TILEWRIGHT_C_GCC, true)) {
        CHECK(one.passed <= (whole ? 0 : one.cases / 2));  // another bit of what is no number is right
        CHECK(one.failed > 0);
    }
}
template <class T>
machine arithmetic_of() {
    machine m("judged", ram);
    add<T, T>(m, "judge_0", left<T> + right<T> - left<T> * right<T>);
    add<T, T>(m, "judge_1", left<T> / right<T>);
    add<T, T>(m, "judge_2", left<T> % right<T>);
    add<T, T>(m, "judge_3", min(left<T>, right<T>) - max(left<T>, right<T>));
    add<T, T>(m, "judge_4", select(left<T> < right<T>, left<T>, right<T> - left<T>));
    add<bool, T>(m, "judge_5", (left<T> <= right<T> && !(left<T> == 1)) || left<T> != right<T>);
    add<std::int8_t, T>(m, "judge_6", saturating_cast<std::int8_t>(left<T>) + saturating_cast<std::int8_t>(right<T>));
    add<float, T>(m, "judge_7", cast<float>(left<T>) / 3.0f - cast<float>(right<T>));
    add<std::uint16_t, T>(m, "judge_8", cast<std::uint16_t>(left<T>) - cast<std::uint16_t>(right<T>));
    return m;
}
}  // namespace

#define JUDGE(at) \
    extern "C" int judge_##at(void const* left, void const* right, void* to) { return judge(at, to, left, right); }
JUDGE(0)
JUDGE(1)
JUDGE(2)
JUDGE(3)
JUDGE(4)
JUDGE(5)
JUDGE(6)
JUDGE(7)
JUDGE(8)

TEST_CASE("arithmetic of narrow and of unsigned integers is the oracle's, for all values") {
    expect_all(arithmetic_of<std::int8_t>(), true);
    expect_all(arithmetic_of<std::int16_t>(), true);
    expect_all(arithmetic_of<std::uint8_t>(), true);
    expect_all(arithmetic_of<std::uint16_t>(), true);
    expect_all(arithmetic_of<std::uint32_t>(), true);
}
TEST_CASE("arithmetic of integers that may not overflow is the oracle's where it is defined, and nothing else is asked") {
    expect_all(arithmetic_of<std::int32_t>(), false);
    expect_all(arithmetic_of<std::int64_t>(), false);
}
TEST_CASE("arithmetic of floating point is the oracle's") {
    expect_all(arithmetic_of<float>(), false);
    expect_all(arithmetic_of<double>(), false);
}
TEST_CASE("shifts, conversions of bits, and sums brought back to bytes are the oracle's") {
    machine m("judged", ram);
    add<std::int32_t, std::int32_t>(m, "judge_0", left<std::int32_t> << right<std::int32_t>);
    add<std::int32_t, std::int32_t>(m, "judge_1", left<std::int32_t> >> right<std::int32_t>);
    add<std::int16_t, std::int16_t>(m, "judge_2", rounding_shift_right(left<std::int16_t>, 3) + right<std::int16_t>);
    add<std::int8_t, std::int32_t>(m, "judge_3", requantize<std::int8_t>(left<std::int32_t>, 1518500250, right<std::int32_t>, 3));
    add<std::int8_t, std::int32_t>(m, "judge_4",
                                   requantize<std::int8_t, rounding::doubling_high>(left<std::int32_t>, right<std::int32_t>, 9));
    add<std::int32_t, float>(m, "judge_5", cast<std::int32_t>(left<float> * 1000.0f + right<float>));
    add<std::uint8_t, float>(m, "judge_6", saturating_cast<std::uint8_t>(left<float> - right<float>));
    add<std::uint32_t, float>(m, "judge_7", reinterpret<std::uint32_t>(left<float>) - reinterpret<std::uint32_t>(right<float>));
    expect_all(m, false);
}
TEST_CASE("numbers of 16 bits are converted as the oracle converts them") {
    auto const judged_halves = []<class Half>(Half) {
        machine m("judged", ram);
        add<float, Half>(m, "judge_0", max(cast<float>(left<Half>), cast<float>(right<Half>)));
        add<Half, float>(m, "judge_1", cast<Half>(select(left<float> < right<float>, left<float>, right<float>)));
        add<Half, float>(m, "judge_2", cast<Half>(left<float> * 0x1p-130f + right<float>));
        add<Half, Half>(m, "judge_3", select(cast<float>(left<Half>) < cast<float>(right<Half>), left<Half>, 0.75));
        add<std::uint16_t, Half>(m, "judge_4", reinterpret<std::uint16_t>(left<Half>) + reinterpret<std::uint16_t>(right<Half>));
        expect_all(m, false);
    };
    judged_halves(float16());
    judged_halves(bfloat16());
}
TEST_CASE("reductions begin and go on as the oracle's do") {
    machine m("judged", ram);
    constexpr tensor<std::int8_t> a{"x"}, b{"y"};
    constexpr tensor<std::int32_t> c{"z"};
    constexpr tensor<float> u{"x"}, v{"y"}, w{"z"};
    auto const add_form = [&](intrinsic form, char const* symbol, any_tensor const& one, any_tensor const& other, any_tensor const& to,
                              bool updates) {
        form.reads(one, ram).reads(other, ram);
        (updates ? form.updates(to, ram) : form.writes(to, ram))
            .calls(symbol, argument::address(one), argument::address(other), argument::address(to));
        m.add(form);
    };
    auto const products = cast<std::int32_t>(a(i + k)) * cast<std::int32_t>(b(k));
    add_form(intrinsic("judge_0", c(i) = sum(k, products)), "judge_0", a, b, c, false);
    add_form(intrinsic("judge_1", c(i) += products), "judge_1", a, b, c, true);
    add_form(intrinsic("judge_2", w(i) = sum(k, u(i + k) * v(k))), "judge_2", u, v, w, false);
    add_form(intrinsic("judge_3", w(i) = maximum(k, u(i + k) - v(k))), "judge_3", u, v, w, false);
    add_form(intrinsic("judge_4", c(i) = minimum(k, products)), "judge_4", a, b, c, false);
    for (row const& one : run(m, TILEWRIGHT_C_GCC)) {
        INFO(one.name);
        CHECK(one.passed > 0);
        CHECK(one.failed == 0);
    }
    for (row const& one : run(m, TILEWRIGHT_C_GCC, true)) CHECK(one.failed > 0);
}
