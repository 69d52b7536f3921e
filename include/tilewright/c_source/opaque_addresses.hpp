#pragma once
#include <Halide.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tilewright/c_source/find_node.hpp>
#include <tilewright/halide/by_value.hpp>
#include <tilewright/halide/places.hpp>
#include <utility>
#include <vector>

// Addresses of registers' words that compilers do not see through.
namespace tilewright::halide::detail {

/// Moves a pointer on by a number, and what it is then compilers do not know, but for the alignment: `tilewright.opaque(pointer, number,
/// alignment)`.
inline constexpr char const* opaque_name = "tilewright.opaque";
/// Brings it back by a number.
inline constexpr char const* back_name = "tilewright.back";
/// The end of names of such pointers.
inline constexpr char const* opaque_suffix = ".on";

inline bool is_opaque(std::string const& name) {
    std::string const suffix = opaque_suffix;
    return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}
inline bool moves_pointer(Halide::Internal::Call const* call) { return call->name == opaque_name || call->name == back_name; }
/// In C. @param word  the pointer
inline std::string text_of_move(Halide::Internal::Call const* call, std::string const& word) {
    auto const number = [&](std::size_t at) { return std::to_string(*Halide::Internal::as_const_int(call->args[at])); };
    if (call->name == back_name) return word + " -= " + number(1) + ";";
    std::string const opaque = "TILEWRIGHT_OPAQUE(" + word + ", " + number(2) + ");";
    return number(1) == "0" ? opaque : word + " += " + number(1) + "; " + opaque;
}

/// What a function on registers reads from or writes to.
inline Halide::Expr address_of_word(Halide::Expr const& given) {
    using namespace Halide::Internal;
    auto const* const call = given.as<Call>();
    if (call != nullptr && call->name == read_address_name) return address_of_word(call->args[0]);
    if (call != nullptr && call->is_intrinsic(Call::reinterpret) && call->type.is_handle()) return call->args[0];
    return given.type() == Halide::UInt(64) ? given : Halide::Expr();
}

/// A pointer of its own for words that a loop reaches by numbers, where compilers spoil that:
///
/// - Words that lie further apart than a load of two words reaches. The pointer moves on. Without more, compilers find out how far it is
///   from where it was, and use that.
/// - Words that are the same in all iterations. Compilers would load all of them in front of the loop, and keep them in memory, one by one.
///
/// Only in loops without branches and other loops inside.
class opaque_addresses : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;
    /// Bytes that a load of two words reaches on Arm.
    static constexpr std::int64_t reach = 1020;
    /// Words of one address that compilers may keep.
    static constexpr std::size_t few = 8;

  protected:
    using IRMutator::visit;
    Stmt visit(Halide::Internal::LetStmt const* op) override {
        if (op->value.type() == Halide::UInt(64)) alignments_[op->name] = alignment_of(op->value);
        return IRMutator::visit(op);
    }
    Stmt visit(Halide::Internal::For const* op) override {
        using namespace Halide::Internal;
        // It is none in C.
        if (is_const_one(op->extent) && as_const_int(op->min) != nullptr) return mutate(substitute(op->name, op->min, op->body));
        Stmt body = mutate(op->body);
        uses const all(body);
        if (all.branches) return For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
        std::vector<walk> outside;
        for (auto const& [name, offsets] : all.offsets) {
            walk on = walk_over(name, offsets, all.inside.count(name) != 0);
            if (on.origins.empty()) continue;
            on.alignment = alignment_of(variable_of(name));
            for (std::int64_t one : on.origins) on.alignment = std::min(on.alignment, alignment_of(Expr(one)));
            body = walked(on).mutate(body);
            if (!on.inside) {
                if (on.origins.size() == 1) body = Block::make(moved(on, opaque_name, 0), body);
                else body = Block::make(body, moved(on, back_name, on.origins.back() - on.origins.front()));
                outside.push_back(on);
            }
        }
        Stmt made = For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
        for (walk const& on : outside) made = LetStmt::make(on.to, begin_of(on), made);
        return made;
    }

  private:
    /// A pointer that walks: where it stands for each use of an address, one after the other.
    struct walk {
        std::string from, to;  ///< the variable, and the one that takes its place
        bool inside = false;   ///< whether each iteration has it anew
        std::vector<std::int64_t> origins;
        std::vector<std::size_t> which;  ///< of the origins, for each use
        std::int64_t alignment = 1;
    };
    static Expr variable_of(std::string const& name) { return Halide::Internal::Variable::make(Halide::UInt(64), name); }
    static Expr moved_by(Expr const& address, std::int64_t number) {
        using namespace Halide::Internal;
        return number == 0 ? address : address + Cast::make(Halide::UInt(64), make_const(Halide::Int(64), number));
    }
    static Expr begin_of(walk const& on) { return moved_by(variable_of(on.from), on.origins.front()); }
    static Stmt moved(walk const& on, char const* how, std::int64_t number) {
        using namespace Halide::Internal;
        return Evaluate::make(
            Call::make(Halide::Int(32), how, {variable_of(on.to), static_cast<int>(number), static_cast<int>(on.alignment)}, Call::Extern));
    }

    /// A power of 2 that an address is a multiple of: at most `most_alignment`.
    std::int64_t alignment_of(Expr const& e) const {
        using namespace Halide::Internal;
        constexpr std::int64_t most_alignment = 16;
        if (auto const* const number = as_const_int(e)) return *number == 0 ? most_alignment : std::min(*number & -*number, most_alignment);
        if (auto const* const number = as_const_uint(e)) return alignment_of(Expr(static_cast<std::int64_t>(*number)));
        if (auto const* const known = e.as<Variable>()) {
            auto const found = alignments_.find(known->name);
            return found != alignments_.end() ? found->second : 1;
        }
        if (auto const* const same = e.as<Cast>()) return alignment_of(same->value);
        if (auto const* const sum = e.as<Add>()) return std::min(alignment_of(sum->a), alignment_of(sum->b));
        if (auto const* const product = e.as<Mul>()) return std::min(alignment_of(product->a) * alignment_of(product->b), most_alignment);
        if (auto const* const either = e.as<Select>()) return std::min(alignment_of(either->true_value), alignment_of(either->false_value));
        return 1;
    }

    /// A variable and a number, or no name.
    static std::pair<std::string, std::int64_t> parts_of(Expr const& address) {
        using namespace Halide::Internal;
        if (auto const* const alone = address.as<Variable>()) return {alone->name, 0};
        auto const* const sum = address.as<Add>();
        auto const* const base = sum != nullptr ? sum->a.as<Variable>() : nullptr;
        auto const* const number = base != nullptr ? sum->b.as<Cast>() : nullptr;
        if (number == nullptr || number->value.type() != Halide::Int(64)) return {};
        Expr const simple = simplify(number->value);
        auto const* const value = as_const_int(simple);
        return value != nullptr ? std::pair{base->name, *value} : std::pair{std::string(), std::int64_t{0}};
    }
    template <class Action>
    static void each_address(Halide::Internal::Evaluate const* op, Action const& action) {
        auto const* const call = op->value.as<Halide::Internal::Call>();
        if (call == nullptr || call->name != value_call_name) return;
        for (std::size_t at = 2; at < call->args.size(); ++at) {
            Expr const address = address_of_word(call->args[at]);
            if (!address.defined()) continue;
            if (auto const [name, number] = parts_of(address); !name.empty()) action(at, address, name, number);
        }
    }

    /// The addresses of words in a loop, in the order in which they are used.
    struct uses : Halide::Internal::IRVisitor {
        using IRVisitor::visit;
        std::map<std::string, std::vector<std::int64_t>> offsets;
        std::set<std::string> inside;
        bool branches = false;
        explicit uses(Stmt const& body) { body.accept(this); }
        void visit(Halide::Internal::For const*) override { branches = true; }
        void visit(Halide::Internal::IfThenElse const*) override { branches = true; }
        void visit(Halide::Internal::LetStmt const* op) override { inside.insert(op->name), IRVisitor::visit(op); }
        void visit(Halide::Internal::Evaluate const* op) override {
            each_address(op,
                         [&](std::size_t, Expr const&, std::string const& name, std::int64_t number) { offsets[name].push_back(number); });
        }
    };

    /// @return one without origins where the address stays as it is
    static walk walk_over(std::string const& name, std::vector<std::int64_t> const& offsets, bool inside) {
        walk on{name, name + opaque_suffix, inside, {}, {}};
        std::int64_t least = offsets[0], most = offsets[0];
        for (std::int64_t one : offsets) {
            std::int64_t const from = std::min(least, one), to = std::max(most, one);
            bool const goes_on = to - from > reach;
            if (goes_on) on.origins.push_back(least);
            least = goes_on ? one : from, most = goes_on ? one : to;
            on.which.push_back(on.origins.size());
        }
        on.origins.push_back(least);
        auto const [first, last] = std::minmax_element(offsets.begin(), offsets.end());
        // Words that are used to and fro would move it all the time.
        bool const steady = static_cast<std::int64_t>(on.origins.size()) <= 1 + 2 * (*last - *first) / reach;
        bool const one = on.origins.size() == 1;
        if (!steady || (one && (inside || offsets.size() < few))) on.origins.clear();
        return on;
    }

    /// A statement in which a pointer takes the place of an address.
    class walked : public IRMutator {
      public:
        explicit walked(walk const& on) : on_(on) {}

      protected:
        using IRMutator::visit;
        Stmt visit(Halide::Internal::LetStmt const* op) override {
            using namespace Halide::Internal;
            if (op->name != on_.from) return IRMutator::visit(op);
            // Compilers would move it from iteration to iteration, too, and need a register for each of the two.
            Stmt const body = Block::make(moved(on_, opaque_name, 0), mutate(op->body));
            Expr const begin = moved_by(op->value, on_.origins.front());
            if (!stmt_uses_var(body, op->name)) return LetStmt::make(on_.to, begin, body);
            return LetStmt::make(op->name, op->value, LetStmt::make(on_.to, begin_of(on_), body));
        }
        Stmt visit(Halide::Internal::Evaluate const* op) override {
            using namespace Halide::Internal;
            auto const* const call = op->value.as<Call>();
            std::vector<Expr> arguments = call != nullptr ? call->args : std::vector<Expr>();
            Stmt before;
            each_address(op, [&](std::size_t at, Expr const& address, std::string const& name, std::int64_t number) {
                if (name != on_.from) return;
                std::size_t const next = on_.which[use_++];
                if (next != now_) before = moved(on_, opaque_name, on_.origins[next] - on_.origins[now_]);
                now_ = next;
                arguments[at] = substitute(address, moved_by(variable_of(on_.to), number - on_.origins[now_]), arguments[at]);
            });
            if (arguments.empty()) return op;
            Stmt const made = Evaluate::make(Call::make(call->type, call->name, arguments, call->call_type));
            return before.defined() ? Block::make(before, made) : made;
        }

      private:
        walk const& on_;
        std::size_t use_ = 0, now_ = 0;
    };

    std::map<std::string, std::int64_t> alignments_;
};

}  // namespace tilewright::halide::detail
