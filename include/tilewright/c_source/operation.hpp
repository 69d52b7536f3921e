#pragma once
#include <bit>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <tilewright/c_source/expression.hpp>

// Operations of the generated program in C: arithmetic, comparisons, conversions, accesses, lanes.
namespace tilewright::halide::detail {

inline c_expressions::piece c_expressions::write(Expr const& whole, c_lane const& lane) {
    using namespace Halide::Internal;
    Halide::Type const type = whole.type();
    if (!type.is_handle()) c_type(type);  // refuses types that C does not have
    Expr const e = type.is_int() && type.is_scalar() && is_number(whole) ? simplify(whole) : whole;
    switch (e.node_type()) {
        case IRNodeType::IntImm:
        case IRNodeType::UIntImm:
        case IRNodeType::FloatImm: return literal(e);
        case IRNodeType::Variable: return named(e.as<Variable>(), lane);
        case IRNodeType::Cast: return converted(type, e.as<Cast>()->value, lane);
        case IRNodeType::Add: return arithmetic(e.as<Add>()->a, e.as<Add>()->b, " + ", sum, lane);
        case IRNodeType::Sub: return arithmetic(e.as<Sub>()->a, e.as<Sub>()->b, " - ", sum, lane);
        case IRNodeType::Mul: return arithmetic(e.as<Mul>()->a, e.as<Mul>()->b, " * ", product, lane);
        case IRNodeType::Div: return rounded("divide", " / ", e.as<Div>()->a, e.as<Div>()->b, lane);
        case IRNodeType::Mod: return rounded("modulo", " % ", e.as<Mod>()->a, e.as<Mod>()->b, lane);
        case IRNodeType::Min: return helper_call("minimum", type, {write(e.as<Min>()->a, lane).text, write(e.as<Min>()->b, lane).text});
        case IRNodeType::Max: return helper_call("maximum", type, {write(e.as<Max>()->a, lane).text, write(e.as<Max>()->b, lane).text});
        case IRNodeType::EQ: return compared(e.as<EQ>()->a, e.as<EQ>()->b, " == ", equality, lane);
        case IRNodeType::NE: return compared(e.as<NE>()->a, e.as<NE>()->b, " != ", equality, lane);
        case IRNodeType::LT: return compared(e.as<LT>()->a, e.as<LT>()->b, " < ", order, lane);
        case IRNodeType::LE: return compared(e.as<LE>()->a, e.as<LE>()->b, " <= ", order, lane);
        case IRNodeType::GT: return compared(e.as<GT>()->a, e.as<GT>()->b, " > ", order, lane);
        case IRNodeType::GE: return compared(e.as<GE>()->a, e.as<GE>()->b, " >= ", order, lane);
        case IRNodeType::And: return all_of(e.as<And>(), lane);
        case IRNodeType::Or: return any_of(e.as<Or>(), lane);
        case IRNodeType::Not: return {"!" + held(write(e.as<Not>()->a, lane), word), unary};
        case IRNodeType::Select: return chosen(e.as<Select>(), lane);
        case IRNodeType::Load: return loaded(e.as<Load>(), lane);
        case IRNodeType::Ramp: return stepped(e.as<Ramp>(), lane);
        case IRNodeType::Broadcast: {
            auto const* const op = e.as<Broadcast>();
            int const inner = op->value.type().lanes();
            return write(op->value, inner == 1 ? c_lane{} : c_lane::at(lane.number % inner));
        }
        case IRNodeType::Shuffle: return picked(e.as<Shuffle>(), lane);
        case IRNodeType::VectorReduce: return combined(e.as<VectorReduce>(), lane);
        case IRNodeType::Let: return let(e.as<Let>(), lane);
        case IRNodeType::Call: return called(e.as<Call>(), lane);
        default: break;
    }
    std::ostringstream shown;
    shown << e;
    throw unsupported_in_c("`" + shown.str() + "`");
}

inline c_expressions::piece c_expressions::literal(Expr const& e) {
    using namespace Halide::Internal;
    Halide::Type const type = e.type();
    if (auto const* const op = e.as<IntImm>()) return {c_integer(op->value, type.bits()), op->value < 0 ? unary : word};
    if (auto const* const op = e.as<UIntImm>()) return {c_unsigned(op->value, type.bits()), word};
    double const value = e.as<FloatImm>()->value;
    std::string const decimal = c_float(value, type.bits());
    if (!decimal.empty()) return {decimal, std::signbit(value) ? unary : word};
    auto const bits =
        type.bits() == 32 ? std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))} : std::bit_cast<std::uint64_t>(value);
    return helper_call("of_bits", type, {c_unsigned(bits, type.bits())});
}

inline c_expressions::piece c_expressions::named(Halide::Internal::Variable const* op, c_lane const& lane) {
    c_variable const& v = variable(op->name);
    if (v.is == c_variable::kind::lanes) return {v.word + "[" + lane.word + "]", word};
    if (v.is == c_variable::kind::address) return {"(uint64_t)(uintptr_t)" + v.word, unary};
    return {v.word, word};
}

/// One kind inside the other gets parentheses, since compilers ask for them.
inline c_expressions::piece c_expressions::all_of(Halide::Internal::And const* op, c_lane const& lane) {
    piece const a = write(op->a, lane), b = write(op->b, lane);
    return {held(a, both) + " && " + held(b, both), both};
}
inline c_expressions::piece c_expressions::any_of(Halide::Internal::Or const* op, c_lane const& lane) {
    piece const a = write(op->a, lane), b = write(op->b, lane);
    auto const inside = [](piece const& p) { return p.holds == either ? p.text : held(p, equality); };
    return {inside(a) + " || " + inside(b), either};
}

inline c_expressions::piece c_expressions::chosen(Halide::Internal::Select const* op, c_lane const& lane) {
    c_lane const of_condition = op->condition.type().is_scalar() ? c_lane{} : lane;
    return {held(write(op->condition, of_condition), either) + " ? " + held(write(op->true_value, lane), either) + " : " +
                held(write(op->false_value, lane), choice),
            choice};
}

inline c_expressions::piece c_expressions::stepped(Halide::Internal::Ramp const* op, c_lane const& lane) {
    int const inner = op->base.type().lanes();
    if (inner > 1 && lane.number < 0) throw std::logic_error("a lane of lanes that has no number");
    c_lane const base_lane = inner > 1 ? c_lane::at(lane.number % inner) : c_lane{};
    int const step = lane.number < 0 ? -1 : lane.number / inner;
    piece const base = write(op->base, base_lane);
    if (step == 0) return base;
    piece moved{step < 0 ? lane.word : std::to_string(step), word};
    if (!Halide::Internal::is_const_one(op->stride)) {
        piece const stride = write(op->stride, base_lane);
        moved = {moved.text + " * " + held(stride, word), product};
    }
    return Halide::Internal::is_const_zero(op->base) ? moved : piece{held(base, sum) + " + " + held(moved, product), sum};
}

inline c_expressions::piece c_expressions::let(Halide::Internal::Let const* op, c_lane const& lane) {
    std::string const value = write(op->value, lane).text;
    bool const never_below = is_non_negative(op->value);
    std::string const name = define(op->name, c_variable::kind::value, never_below);
    lines.push_back("const " + c_type(op->value.type()) + " " + name + " = " + value + ";");
    return write(op->body, lane);
}

/// A literal of 64 bits needs no mark where it meets a value of 64 bits.
inline bool c_expressions::is_wide(Expr const& e) {
    using namespace Halide::Internal;
    if (is_number(e)) return false;
    return e.as<Cast>() != nullptr || e.as<Variable>() != nullptr || e.as<Load>() != nullptr || e.as<Call>() != nullptr ||
           e.as<Add>() != nullptr || e.as<Sub>() != nullptr || e.as<Mul>() != nullptr;
}
inline c_expressions::piece c_expressions::beside(Expr const& other, Expr const& e, c_lane const& lane) {
    using namespace Halide::Internal;
    Expr const known = e.type().is_scalar() && is_number(e) ? simplify(e) : e;
    auto const* const number = known.as<IntImm>();
    if (number != nullptr && number->value > INT32_MIN && number->value <= INT32_MAX && is_wide(other))
        return {c_integer(number->value, 32), number->value < 0 ? unary : word};
    auto const* const widened = e.as<Cast>();
    if (widened != nullptr && e.type() == Halide::Int(64) && widened->value.type() == Halide::Int(32) && is_wide(other))
        return write(widened->value, lane);
    return write(e, lane);
}

/// Arithmetic of 8 and 16 bits wraps. C computes it with more bits, so the result is converted back.
inline c_expressions::piece c_expressions::arithmetic(Expr const& a, Expr const& b, char const* sign, level holds, c_lane const& lane) {
    Halide::Type const type = a.type();
    piece const left = is_number(a) && !is_number(b) ? beside(b, a, lane) : write(a, lane);
    // Beside nothing, which has no width, a value is widened.
    piece const right = left.text == "0" ? write(b, lane) : beside(a, b, lane);
    if (!type.is_float() && right.text == "0" && holds == sum) return left;
    // At the first iteration of a loop that it is taken out of.
    if (type.is_int() && (left.text == "0" || left.text == "(int64_t)0") && sign[1] == '*') return {"0", word};
    if (type.is_int() && type.bits() >= 32 && left.text == "0" && sign[1] == '+') return right;
    if (!type.is_float() && type.bits() >= 32 && Halide::Internal::is_const_zero(a) && sign[1] == '+') return write(b, lane);
    if (!type.is_float() && right.text == "1" && holds == product) return left;
    // The right operand of the same sign keeps its parentheses, because rounding goes from left to right.
    if (type.is_float() || type.bits() >= 32) {
        auto const next = static_cast<level>(static_cast<int>(holds) + 1);
        return {held(left, holds) + sign + held(right, next), holds};
    }
    if (type.is_bool()) throw unsupported_in_c("arithmetic of bool");
    std::string const wide = type.is_int() ? "(int32_t)" : "(uint32_t)";
    return {"(" + c_type(type) + ")(" + wide + held(left, unary) + sign + held(right, unary) + ")", unary};
}

inline c_expressions::piece c_expressions::rounded(char const* helper, char const* sign, Expr const& a, Expr const& b, c_lane const& lane) {
    using namespace Halide::Internal;
    Halide::Type const type = a.type();
    piece const left = write(a, lane), right = write(b, lane);
    if (type.is_float() && sign[1] == '/') return {held(left, product) + sign + held(right, unary), product};
    if (type.is_float()) return helper_call(helper, type, {left.text, right.text});
    Expr const divisor = b.as<Broadcast>() != nullptr ? b.as<Broadcast>()->value : b;
    auto const* const whole = as_const_int(divisor);
    auto const* const natural = as_const_uint(divisor);
    bool const positive = (whole != nullptr && *whole > 0) || (natural != nullptr && *natural > 0);
    if (positive && is_non_negative(a)) {
        std::string const text = held(left, product) + sign + held(right, unary);
        return type.bits() < 32 ? piece{"(" + c_type(type) + ")(" + text + ")", unary} : piece{text, product};
    }
    // Rounded down by a power of 2: the sign moves along, and what is lost is the remainder.
    bool const of_two = whole != nullptr && *whole > 0 && (*whole & (*whole - 1)) == 0;
    if (of_two && sign[1] == '/')
        return shifted(" >> ", type, left, {std::to_string(std::countr_zero(static_cast<std::uint64_t>(*whole))), word});
    if (of_two) {
        std::string const text = held(left, word) + " & " + c_integer(*whole - 1, 32 < type.bits() && *whole - 1 > INT32_MAX ? 64 : 32);
        return {type.bits() < 32 ? "(" + c_type(type) + ")(" + text + ")" : "(" + text + ")", word};
    }
    if (type.bits() >= 32) return helper_call(helper, type, {left.text, right.text});
    // Compilers take what was promoted to an `int` for signed.
    auto const widened = [&](piece const& p) { return type.is_int() ? p.text : "(uint32_t)" + held(p, unary); };
    return {"(" + c_type(type) + ")" + helper_call(helper, type.with_bits(32), {widened(left), widened(right)}).text, unary};
}

/// A shift by an amount that is known to be less than the bits. What is shifted to the left loses what is beyond the top. C shifts fewer
/// than 32 bits as an `int`, and the result is converted back.
inline c_expressions::piece c_expressions::shifted(char const* sign, Halide::Type const& type, piece const& value, piece const& amount) {
    bool const left = sign[1] == '<';
    bool const narrow = type.bits() < 32, back = narrow || (left && type.is_int());
    std::string const natural = !left || !back ? "" : narrow ? "(uint32_t)" : "(" + c_type(type.with_code(halide_type_uint)) + ")";
    std::string const text = natural + held(value, natural.empty() ? word : unary) + sign + held(amount, word);
    return {back ? "(" + c_type(type) + ")(" + text + ")" : "(" + text + ")", back ? unary : word};
}
/// The language shifts by 0 up to one less than the bits. Of an amount that is not known, only as many bits count: no other amount is
/// undefined in C.
inline c_expressions::piece c_expressions::shifted(Halide::Internal::Call const* op, c_lane const& lane) {
    using namespace Halide::Internal;
    Halide::Type const type = op->type;
    char const* const sign = op->is_intrinsic(Call::shift_left) ? " << " : " >> ";
    piece const value = write(op->args[0], op->args[0].type().is_scalar() ? c_lane{} : lane);
    Expr amount = op->args[1];
    c_lane const of_amount = amount.type().is_scalar() ? c_lane{} : lane;
    if (auto const* const same = amount.as<Broadcast>()) amount = same->value;
    // The amount has few bits, whatever the type of the value.
    for (auto const* wide = amount.as<Cast>(); wide != nullptr && wide->type.bits() > 32 && wide->value.type().bits() <= 32;
         wide = amount.as<Cast>())
        amount = wide->value;
    std::optional<std::int64_t> known;
    Expr const number = simplify(amount);
    if (auto const* const whole = as_const_int(number)) known = *whole;
    if (auto const* const natural = as_const_uint(number)) known = static_cast<std::int64_t>(*natural);
    if (known && *known >= 0 && *known < type.bits()) return shifted(sign, type, value, {std::to_string(*known), word});
    piece const by{held(write(amount, of_amount), word) + " & " + std::to_string(type.bits() - 1), equality};
    return shifted(sign, type, value, by);
}

/// The range of an integer by its type, before it was widened; of a number, the number.
inline std::optional<std::pair<std::int64_t, std::int64_t>> c_expressions::range_by_type(Expr e) {
    using namespace Halide::Internal;
    if (auto const* const op = e.as<IntImm>()) return std::pair{op->value, op->value};
    for (Cast const* op = e.as<Cast>(); op != nullptr && op->type.can_represent(op->value.type()); op = e.as<Cast>()) e = op->value;
    Halide::Type const t = e.type();
    if (!(t.is_int() || t.is_uint()) || t.bits() > 32) return {};
    std::int64_t const half = std::int64_t{1} << (t.bits() - 1);
    return t.is_uint() ? std::pair{std::int64_t{0}, 2 * half - 1} : std::pair{-half, half - 1};
}
/// A comparison with a number that has the same result for every value of the other side: compilers would warn. Its sides still count as
/// used.
inline std::optional<c_expressions::piece> c_expressions::decided(Expr const& a, Expr const& b, std::string_view sign, c_lane const& lane) {
    auto const of_lane = [](Expr const& e) {
        auto const* const op = e.as<Halide::Internal::Broadcast>();
        return op != nullptr ? op->value : e;
    };
    bool const known = is_number(of_lane(a));
    if (known == is_number(of_lane(b))) return {};
    auto const left = range_by_type(of_lane(a)), right = range_by_type(of_lane(b));
    if (!left || !right) return {};
    auto const [lowest, highest] = *left;
    auto const [least, most] = *right;
    bool const below = highest<least, above = lowest> most, not_above = highest <= least, not_below = lowest >= most;
    std::optional<bool> is;
    if (sign == " == " && (below || above)) is = false;
    if (sign == " != " && (below || above)) is = true;
    if (sign == " < " && (below || not_below)) is = below;
    if (sign == " <= " && (not_above || above)) is = not_above;
    if (sign == " > " && (above || not_above)) is = above;
    if (sign == " >= " && (not_below || below)) is = not_below;
    if (!is) return {};
    return piece{"((void)" + held(write(known ? b : a, lane), unary) + ", " + (*is ? "1" : "0") + ")", word};
}

inline c_expressions::piece c_expressions::compared(Expr const& a, Expr const& b, char const* sign, level holds, c_lane const& lane) {
    if (std::optional<piece> const known = decided(a, b, sign, lane)) return *known;
    auto const next = static_cast<level>(static_cast<int>(holds) + 1);
    // Compilers ask for parentheses where one comparison, or what is not so, is compared again.
    level const least = next > sum ? next : sum;
    auto const side = [&](piece const& p) { return p.text.starts_with('!') ? "(" + p.text + ")" : held(p, least); };
    return {side(beside(b, a, lane)) + sign + side(beside(a, b, lane)), holds};
}

inline c_expressions::piece c_expressions::converted(Halide::Type const& to, Expr const& value, c_lane const& lane) {
    // Products of twice the bits fit into every type that they are converted to.
    auto const* const call = value.as<Halide::Internal::Call>();
    if (call != nullptr && call->is_intrinsic(Halide::Internal::Call::widening_mul) && to.is_int() && to.bits() > value.type().bits())
        return widened_product(to, call, lane);
    piece const from = write(value, lane);
    Halide::Type const of = value.type();
    if (to.element_of() == of.element_of()) return from;
    if (of.is_handle()) throw unsupported_in_c("a pointer that becomes a number by a cast");
    if (to.is_bool()) return {held(from, order) + " != 0", equality};
    // GCC looks through a conversion of fewer signed bits to 32 without sign, and warns that its sign may change. It stops at a sum.
    bool const looked_through = to.is_uint() && to.bits() == 32 && of.is_int() && of.bits() < 32;
    if (looked_through) return {"(uint32_t)(0 + " + held(from, product) + ")", unary};
    return {"(" + c_type(to) + ")" + held(from, unary), unary};
}

inline c_expressions::piece c_expressions::widened_product(Halide::Type const& to, Halide::Internal::Call const* op, c_lane const& lane) {
    Expr const &a = op->args[0], &b = op->args[1];
    piece const left = write(a, a.type().is_scalar() ? c_lane{} : lane), right = write(b, b.type().is_scalar() ? c_lane{} : lane);
    std::string const whole = c_type(to.bits() < 32 ? to.with_bits(32) : to);
    piece const product_of{"(" + whole + ")" + held(left, unary) + " * " + held(right, unary), product};
    return to.bits() < 32 ? piece{"(" + c_type(to) + ")(" + product_of.text + ")", unary} : product_of;
}

inline c_expressions::piece c_expressions::loaded(Halide::Internal::Load const* op, c_lane const& lane) {
    c_variable const from = variable(op->name);
    if (from.is == c_variable::kind::value) return {from.word, word};
    piece const element{from.word + "[" + index(op->index, lane) + "]", word};
    if (Halide::Internal::is_const_one(op->predicate)) return element;
    return {held(write(op->predicate, lane), either) + " ? " + element.text + " : 0", choice};
}

inline c_expressions::piece c_expressions::picked(Halide::Internal::Shuffle const* op, c_lane const& lane) {
    int const number = op->type.is_scalar() ? 0 : lane.number;
    if (number < 0) throw std::logic_error("a lane of a shuffle that has no number");
    int at = op->indices[static_cast<std::size_t>(number)];
    for (Expr const& vector : op->vectors) {
        int const lanes = vector.type().lanes();
        if (at < lanes) return write(vector, lanes == 1 ? c_lane{} : c_lane::at(at));
        at -= lanes;
    }
    throw std::logic_error("a shuffle asks for a lane that it does not have");
}

inline c_expressions::piece c_expressions::combined(Halide::Internal::VectorReduce const* op, c_lane const& lane) {
    using Halide::Internal::VectorReduce;
    if (op->type.is_float() && (op->op == VectorReduce::Add || op->op == VectorReduce::Mul))
        throw unsupported_in_c("a sum of floating-point lanes, whose order is left open");
    int const each = op->value.type().lanes() / op->type.lanes(), first = (op->type.is_scalar() ? 0 : lane.number) * each;
    if (first < 0) throw std::logic_error("a lane of a reduction that has no number");
    // The lanes one after the other, as one expression of scalars whose operands are named.
    Halide::Type const type = op->type.element_of();
    std::size_t const begin = scope();
    Expr whole;
    for (int at = 0; at < each; ++at) {
        std::string const name = "vector_reduce." + std::to_string(at);
        bind(name, {"(" + write(op->value, c_lane::at(first + at)).text + ")"});
        Expr const part = Halide::Internal::Variable::make(type, name);
        if (!whole.defined()) whole = part;
        else if (op->op == VectorReduce::Add) whole = Halide::Internal::Add::make(whole, part);
        else if (op->op == VectorReduce::Mul) whole = Halide::Internal::Mul::make(whole, part);
        else if (op->op == VectorReduce::Min) whole = Halide::Internal::Min::make(whole, part);
        else if (op->op == VectorReduce::Max) whole = Halide::Internal::Max::make(whole, part);
        else if (op->op == VectorReduce::And) whole = Halide::Internal::And::make(whole, part);
        else if (op->op == VectorReduce::Or) whole = Halide::Internal::Or::make(whole, part);
        else throw unsupported_in_c("a saturating sum of lanes");
    }
    piece const made = write(whole, {});
    end_scope(begin);
    return made;
}

}  // namespace tilewright::halide::detail
