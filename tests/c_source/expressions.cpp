#include <limits>
#include <sstream>

#include "c_source/compiled.hpp"
#include "fuzz/drawing.hpp"

// Expressions of all operations and types, drawn at random, through Halide's compiler and through C: in vectors and one by one, the bits
// are the same. What neither defines is left out: signed overflow of 32 bits and more, and floating point that fits no integer.

using namespace tilewright;
using Halide::Expr;

namespace {

constexpr int elements = 64;
Halide::Type const types[] = {Halide::Bool(),   Halide::Int(8),   Halide::Int(16),  Halide::Int(32),   Halide::Int(64),  Halide::UInt(8),
                              Halide::UInt(16), Halide::UInt(32), Halide::UInt(64), Halide::Float(32), Halide::Float(64)};

/// Draws expressions over inputs of every type.
class expressions {
  public:
    expressions(drawing& draw, std::map<std::string, Halide::ImageParam>& inputs, Halide::Var x) : draw_(draw), inputs_(inputs), x_(x) {}

    /// Floating point is strict wherever something else is made of it.
    Expr of(Halide::Type const& type, int depth) { return halide::strict(drawn(type, depth)); }

  private:
    Expr drawn(Halide::Type const& type, int depth) {
        if (depth == 0) return leaf(type);
        if (type.is_bool()) return condition(depth);
        int const kind = draw_.below(type.is_float() ? 10 : 12);
        if (kind == 8) return converted(type, draw_.any_of(types), depth);
        if (kind == 9) return leaf(type);
        // One operand after the other, so that every compiler draws the same.
        Expr const a = of(type, depth - 1);
        switch (kind) {
            case 0: return tamed(a + of(type, depth - 1));
            case 1: return tamed(a - of(type, depth - 1));
            case 2: return tamed(a * of(type, depth - 1));
            case 3: return a / divisor(type, depth);
            case 4: return a % divisor(type, depth);
            case 5: return Halide::min(a, of(type, depth - 1));
            case 6: return Halide::max(a, of(type, depth - 1));
            case 7: {
                Expr const b = of(type, depth - 1);
                return Halide::select(condition(depth), a, b);
            }
            case 10: return tamed(shifted(a) << amount(type, depth));
            default: return shifted(a) >> amount(type, depth);
        }
    }

    /// No literal 0: GCC warns of a product with one that is shifted, which it folds while it converts it.
    static Expr shifted(Expr const& e) { return Halide::Internal::is_const_zero(e) ? Halide::Internal::make_one(e.type()) : e; }
    /// Small enough that what is made of it does not overflow.
    Expr tamed(Expr const& e) {
        bool const can_overflow = e.type().is_int() && e.type().bits() >= 32;
        return can_overflow ? e % Halide::Internal::make_const(e.type(), 4001) - Halide::Internal::make_const(e.type(), 2000) : e;
    }
    /// Also 0 and below it, but not what makes the lowest value overflow.
    Expr divisor(Halide::Type const& type, int depth) {
        Expr const any = draw_.below(2) == 0 ? constant(type) : of(type, depth - 1);
        return type.is_int() ? Halide::select(any == -1, Halide::Internal::make_const(type, 3), any) : any;
    }
    /// What the language shifts by: nothing below 0, and less than the bits.
    Expr amount(Halide::Type const& type, int depth) {
        return of(type, depth - 1) % Halide::Internal::make_const(type, type.bits() >= 32 ? 7 : type.bits());
    }
    Expr converted(Halide::Type const& type, Halide::Type const& from, int depth) {
        Expr const value = of(from, depth - 1);
        if (type.is_int_or_uint() && from.is_float()) {
            Expr const low = Halide::Internal::make_const(from, type.is_uint() ? 0 : -100), high = Halide::Internal::make_const(from, 100);
            return Halide::cast(type, Halide::select(value > low && value < high, value, Halide::Internal::make_one(from)));
        }
        return tamed(Halide::cast(type, value));
    }
    Expr condition(int depth) {
        Halide::Type const& type = draw_.any_of(types);
        int const kind = draw_.below(9);
        if (kind > 4) {
            Expr const a = kind == 5 ? condition(depth - 1 > 0 ? depth - 1 : 1) : of(Halide::Bool(), depth - 1);
            if (kind > 6) return kind == 7 ? !a : a;
            Expr const b = of(Halide::Bool(), depth - 1);
            return kind == 5 ? a && b : a || b;
        }
        Expr const a = of(type, depth - 1), b = of(type, depth - 1);
        switch (kind) {
            case 0: return equal(a, b);
            case 1: return type.is_float() ? !equal(a, b) : a != b;
            case 2: return less(a, b);
            case 3: return type.is_float() ? less(a, b) || equal(a, b) : a <= b;
            default: return type.is_float() ? less(b, a) : a > b;
        }
    }
    /// Floating point is compared in the two ways that Halide does not invert: a NaN is neither less nor not less.
    static Expr equal(Expr const& a, Expr const& b) { return a.type().is_float() ? Halide::strict_float(a == b) : a == b; }
    static Expr less(Expr const& a, Expr const& b) { return a.type().is_float() ? Halide::strict_float(a < b) : a < b; }

    Expr constant(Halide::Type const& type) {
        if (type.is_bool()) return draw_.below(2) == 0 ? Halide::Internal::const_true() : Halide::Internal::const_false();
        if (type.is_float()) {
            double const eighths = draw_.between(-40, 40) * 0.375;
            return Halide::Internal::make_const(type, draw_.below(3) == 0 ? eighths + 0.1 : eighths);
        }
        return Halide::Internal::make_const(type, type.is_uint() ? draw_.between(0, 30) : draw_.between(-20, 20));
    }
    Expr leaf(Halide::Type const& type) {
        if (draw_.below(4) == 0) return constant(type);
        if (type == Halide::Int(32) && draw_.below(5) == 0) return x_;
        Halide::ImageParam& input = inputs_.at(halide::detail::type_word(type));
        Expr const at[] = {x_, x_, x_ + draw_.between(1, 15), elements - 1 - x_, x_ / 3, 2 * x_};
        return input(at[draw_.below(6)]);
    }

    drawing& draw_;
    std::map<std::string, Halide::ImageParam>& inputs_;
    Halide::Var x_;
};

/// Inputs of all values that matter, NaN and infinities included.
Halide::Buffer<> values_of(Halide::Type const& type, std::uint32_t seed) {
    Halide::Buffer<> made(type, std::vector<int>{2 * elements + 16});
    drawing draw(seed);
    for (scalar_type candidate = scalar_type::boolean; candidate <= scalar_type::float64;
         candidate = static_cast<scalar_type>(static_cast<int>(candidate) + 1)) {
        if (halide::type_of(candidate) != type) continue;
        visit_scalar(candidate, [&]<class T>(T) {
            auto* const first = static_cast<T*>(made.data());
            for (int at = 0; at < 2 * elements + 16; ++at) {
                if constexpr (std::is_same_v<T, bool>) first[at] = draw.below(2) == 0;
                else if constexpr (std::is_floating_point_v<T>) {
                    T const special[] = {T(0),    T(-0.0),  std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                                         T(1e30), T(-1e-30)};
                    first[at] = draw.below(4) == 0 ? draw.any_of(special) : static_cast<T>(draw.between(-90000, 90000)) / T(1024);
                } else if constexpr (sizeof(T) >= 4) first[at] = static_cast<T>(draw.between(std::is_signed_v<T> ? -2000 : 0, 2000));
                else first[at] = static_cast<T>(draw.generator()());
            }
        });
    }
    return made;
}

/// The body of a lowered Func as a C function `int NAME(const T *in..., T *out)`, which takes pointers in the order of `types`.
std::string c_function(Halide::Func f, std::string const& name, std::map<std::string, Halide::ImageParam> const& inputs,
                       halide::detail::c_helpers& helpers) {
    using namespace Halide;
    Target const bare("x86-64-linux-no_asserts-no_bounds_query-no_runtime");
    Module const module = Pipeline(f).compile_to_module(Pipeline(f).infer_arguments(), "piece", bare);
    halide::detail::find_production found;
    found.name = f.name();
    module.functions().back().body.accept(&found);
    REQUIRE(found.body.defined());
    Internal::Stmt const body = found.whole();
    halide::detail::c_statements code;
    code.values.helpers = helpers;
    std::string begin = "int " + name + "(void **given);\nint " + name + "(void **given) {\n";
    int position = 0;
    for (Type const& type : types) {
        std::string const c = halide::detail::c_type(type), word = "in_" + halide::detail::type_word(type);
        begin += "    const " + c + " *const " + word + " = given[" + std::to_string(position++) + "];\n    (void)" + word + ";\n";
        code.values.bind(inputs.at(halide::detail::type_word(type)).name(), {word, halide::detail::c_variable::kind::elements});
    }
    begin += "    " + halide::detail::c_type(f.output_types()[0]) + " *const out = given[" + std::to_string(position) + "];\n";
    code.values.bind(f.name(), {"out", halide::detail::c_variable::kind::elements});
    std::string const text = begin + code.function_body(body) + "}\n";
    helpers = code.values.helpers;
    return text;
}

}  // namespace

TEST_CASE("drawn expressions in C and in Halide's object", "[long]") {
    constexpr std::uint32_t seeds = 4;
    constexpr int functions = 40;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        drawing draw(seed);
        std::map<std::string, Halide::ImageParam> inputs;
        std::vector<Halide::Buffer<>> data;
        std::vector<void*> given;
        for (Halide::Type const& type : types) {
            std::string const word = halide::detail::type_word(type);
            Halide::ImageParam& made = inputs[word] = Halide::ImageParam(type, 1, "in_" + word);
            made.dim(0).set_min(0);
            data.push_back(values_of(type, seed * 100 + static_cast<std::uint32_t>(data.size())));
            made.set(data.back());
            given.push_back(data.back().data());
        }
        given.push_back(nullptr);
        halide::detail::c_helpers helpers;
        std::string all;
        std::vector<Halide::Func> made;
        for (int at = 0; at < functions; ++at) {
            Halide::Var x("x");
            Expr const value = expressions(draw, inputs, x).of(draw.any_of(types), draw.between(1, 4));
            Halide::Func f("f");
            f(x) = halide::strict(value);
            f.output_buffer().dim(0).set_bounds(0, elements);
            if (int const lanes = 1 << draw.below(5); lanes > 1) f.vectorize(x, lanes);
            all += c_function(f, "f" + std::to_string(at), inputs, helpers) + "\n";
            made.push_back(f);
        }
        std::vector<Halide::Buffer<>> wanted;
        for (Halide::Func& f : made) wanted.push_back(f.realize({elements}, halide::jit_target()));
        std::vector<c_kernels::compiler> compilers(std::begin(c_kernels::compilers), std::end(c_kernels::compilers));
        if (__builtin_cpu_supports("fma") != 0) {
            // Compilers that could merge a multiplication and an addition.
            compilers.push_back({TILEWRIGHT_C_GCC, "-O3 -mfma -std=gnu11"});
            compilers.push_back({TILEWRIGHT_C_CLANG, "-O3 -mfma -std=gnu11"});
        }
        for (c_kernels::compiler const& with : compilers) {
            folder in;
            in.write("all.c", "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n" +
                                  std::string(halide::detail::floating_point_ground) + helpers.text() + all);
            std::string const path = in.path.string();
            std::string const command = std::string(with.name) + " " + c_kernels::strict_flags + " " + with.flags + " -shared -o " + path +
                                        "/all.so " + path + "/all.c 2> " + path + "/said";
            bool const compiled = std::system(command.c_str()) == 0;
            INFO(in.read("said").substr(0, 3000));
            REQUIRE(compiled);
            void* const library = dlopen((path + "/all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
            REQUIRE(library != nullptr);
            for (int at = 0; at < functions; ++at) {
                std::ostringstream shown;
                shown << made[at].value();
                Halide::Buffer<> const& want = wanted[at];
                Halide::Buffer<> result(want.type(), std::vector<int>{elements});
                given.back() = result.data();
                std::string const name = "f" + std::to_string(at);
                REQUIRE(reinterpret_cast<int (*)(void**)>(dlsym(library, name.c_str()))(given.data()) == 0);
                INFO("seed " << seed << ", " << with.name << ", " << name << ": " << shown.str());
                std::string const text = all.substr(all.find("int " + name + "(void **given) {"));
                INFO(text.substr(0, text.find("\n}\n")));
                CHECK(kernels::same_bits(result, want));
            }
            dlclose(library);
        }
    }
}
