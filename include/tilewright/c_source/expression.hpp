#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <tilewright/c_source/find_node.hpp>
#include <tilewright/c_source/helpers.hpp>
#include <tilewright/c_source/names.hpp>
#include <tilewright/halide/names.hpp>
#include <vector>

// Values of the generated program as C expressions.
namespace tilewright::halide::detail {

/// What the name of a Halide variable stands for in C.
struct c_variable {
    enum class kind : std::uint8_t {
        value,     // a scalar; of a vector that is computed lane by lane, the lane at hand
        lanes,     // an array with an element for each lane
        elements,  // a pointer to the first element of a buffer
        address,   // a pointer to bytes, which the program counts with as a number
    };
    std::string word;
    kind is = kind::value;
    bool non_negative = false;
    bool is_const = false;  ///< elements: the kernel only reads them
    bool is_bool = false;   ///< elements
};

/// One lane of a vector: by number, or the one that the loop around stands at.
struct c_lane {
    std::string word;  ///< empty: the value is a scalar
    int number = -1;

    static c_lane at(int which) { return {std::to_string(which), which}; }
};

/// Whether an expression is a sum or product of numbers alone.
inline bool is_number(Halide::Expr const& e) {
    using namespace Halide::Internal;
    if (auto const* const op = e.as<Add>()) return is_number(op->a) && is_number(op->b);
    if (auto const* const op = e.as<Mul>()) return is_number(op->a) && is_number(op->b);
    if (auto const* const op = e.as<Cast>()) return op->type.is_int() && op->value.type().is_int() && is_number(op->value);
    return e.as<IntImm>() != nullptr;
}

/// Whether a lane of a vector is made of other lanes of its parts: then each is written on its own.
inline bool crosses_lanes(Halide::Expr const& e) {
    using namespace Halide::Internal;
    return holds_node(e, [](Halide::Expr const& part) {
        auto const* const ramp = part.as<Ramp>();
        auto const* const broadcast = part.as<Broadcast>();
        return part.as<Shuffle>() != nullptr || part.as<VectorReduce>() != nullptr || (ramp != nullptr && ramp->base.type().is_vector()) ||
               (broadcast != nullptr && broadcast->value.type().is_vector());
    });
}

/// Writes expressions. What has to stand in front of the statement that uses them is collected in `lines`.
class c_expressions {
  public:
    using Expr = Halide::Expr;

    std::vector<std::string> lines;                 ///< declarations that what was written needs
    std::map<std::string, std::string> prototypes;  ///< of the functions that are called, by symbol
    std::set<std::string> used;                     ///< Halide's names of the variables that are used
    c_helpers helpers;
    c_names names;
    /// The C expression of a call that reads what Halide keeps in a buffer's descriptor.
    std::function<std::string(std::string const& buffer, std::string const& field, int dimension)> field_of;

    /// @return the word that stands for a Halide name from now on
    std::string define(std::string const& name, c_variable::kind is = c_variable::kind::value, bool non_negative = false) {
        std::string const taken = names.take(plain_name(name));
        bind(name, {taken, is, non_negative});
        return taken;
    }
    void bind(std::string const& name, c_variable const& what) { bound_.emplace_back(name, what); }
    std::size_t scope() const { return bound_.size(); }
    void end_scope(std::size_t begin) {
        for (std::size_t at = begin; at < bound_.size(); ++at) names.give_back(bound_[at].second.word);
        bound_.resize(begin);
    }
    c_variable const& variable(std::string const& name) {
        for (auto at = bound_.rbegin(); at != bound_.rend(); ++at) {
            if (at->first == name) return used.insert(name), at->second;
        }
        throw unsupported_in_c("`" + name + "`, which nothing in the program defines");
    }

    /// An expression that needs no parentheses around it where a whole one can stand.
    std::string text(Expr const& e, c_lane const& lane = {}) { return write(prepared(e), lane).text; }
    /// An index, of any size.
    std::string index(Expr const& e, c_lane const& lane) {
        auto const* const known = Halide::Internal::as_const_int(e);
        return known != nullptr && e.type().is_scalar() && *known >= 0 && *known <= INT32_MAX ? std::to_string(*known) : text(e, lane);
    }
    /// An address as a pointer to bytes.
    std::string pointer(Expr const& address) { return pointer_piece(prepared(address)).text; }
    /// A lane of a vector, or a scalar, is never below 0, as far as can be seen.
    bool is_non_negative(Expr const& e) const;

  private:
    /// How tightly a piece of text holds together.
    enum level { choice, either, both, equality, order, sum, product, unary, word };
    struct piece {
        std::string text;
        level holds = word;
    };
    static std::string held(piece const& p, level least) { return p.holds < least ? "(" + p.text + ")" : p.text; }
    /// Lets are no matter where lanes cross or branches may not be taken: there, their values stand in their place.
    static Expr prepared(Expr const& e) {
        bool const mixed = holds_node(e, [](Expr const& part) {
            auto const* const call = part.as<Halide::Internal::Call>();
            return call != nullptr && call->is_intrinsic(Halide::Internal::Call::if_then_else);
        });
        return mixed || crosses_lanes(e) ? Halide::Internal::substitute_in_all_lets(e) : e;
    }

    piece write(Expr const& e, c_lane const& lane);
    piece literal(Expr const& e);
    piece named(Halide::Internal::Variable const* op, c_lane const& lane);
    piece all_of(Halide::Internal::And const* op, c_lane const& lane);
    piece any_of(Halide::Internal::Or const* op, c_lane const& lane);
    piece chosen(Halide::Internal::Select const* op, c_lane const& lane);
    piece stepped(Halide::Internal::Ramp const* op, c_lane const& lane);
    piece let(Halide::Internal::Let const* op, c_lane const& lane);
    piece arithmetic(Expr const& a, Expr const& b, char const* sign, level holds, c_lane const& lane);
    piece rounded(char const* helper, char const* sign, Expr const& a, Expr const& b, c_lane const& lane);
    static piece shifted(char const* sign, Halide::Type const& type, piece const& value, piece const& amount);
    piece shifted(Halide::Internal::Call const* op, c_lane const& lane);
    static bool is_wide(Expr const& e);
    piece beside(Expr const& other, Expr const& e, c_lane const& lane);
    static std::optional<std::pair<std::int64_t, std::int64_t>> range_by_type(Expr e);
    std::optional<piece> decided(Expr const& a, Expr const& b, std::string_view sign, c_lane const& lane);
    piece compared(Expr const& a, Expr const& b, char const* sign, level holds, c_lane const& lane);
    piece converted(Halide::Type const& to, Expr const& value, c_lane const& lane);
    piece widened_product(Halide::Type const& to, Halide::Internal::Call const* op, c_lane const& lane);
    piece loaded(Halide::Internal::Load const* op, c_lane const& lane);
    piece picked(Halide::Internal::Shuffle const* op, c_lane const& lane);
    piece combined(Halide::Internal::VectorReduce const* op, c_lane const& lane);
    piece called(Halide::Internal::Call const* op, c_lane const& lane);
    piece external(Halide::Internal::Call const* op);
    bool begins_at_pointer(Expr const& address);
    static bool is_zero_offset(Expr offset);
    static Expr signed_offset(Expr const& offset);
    piece offset_piece(Expr const& offset);
    piece pointer_piece(Expr const& address);
    piece helper_call(std::string const& what, Halide::Type const& type, std::vector<std::string> const& arguments) {
        std::string all;
        for (std::string const& one : arguments) all += (all.empty() ? "" : ", ") + one;
        return {helpers.use(what, type) + "(" + all + ")", word};
    }

    std::vector<std::pair<std::string, c_variable>> bound_;
};

inline bool c_expressions::is_non_negative(Expr const& e) const {
    using namespace Halide::Internal;
    if (e.type().is_uint()) return true;
    if (auto const* const known = as_const_int(e)) return *known >= 0;
    if (auto const* const v = e.as<Variable>()) {
        for (auto at = bound_.rbegin(); at != bound_.rend(); ++at) {
            if (at->first == v->name) return at->second.non_negative;
        }
        return false;
    }
    auto const each = [&](auto const* op) { return is_non_negative(op->a) && is_non_negative(op->b); };
    if (auto const* const op = e.as<Add>()) return each(op);
    if (auto const* const op = e.as<Mul>()) return each(op);
    if (auto const* const op = e.as<Div>()) return each(op);
    if (auto const* const op = e.as<Min>()) return each(op);
    if (auto const* const op = e.as<Max>()) return is_non_negative(op->a) || is_non_negative(op->b);
    if (e.as<Mod>() != nullptr) return true;
    if (auto const* const op = e.as<Broadcast>()) return is_non_negative(op->value);
    if (auto const* const op = e.as<Ramp>()) return is_non_negative(op->base) && is_non_negative(op->stride);
    if (auto const* const op = e.as<Select>()) return is_non_negative(op->true_value) && is_non_negative(op->false_value);
    if (auto const* const op = e.as<Cast>())
        return op->type.is_int() && op->value.type().is_int() && op->type.bits() >= op->value.type().bits() && is_non_negative(op->value);
    return false;
}

}  // namespace tilewright::halide::detail
