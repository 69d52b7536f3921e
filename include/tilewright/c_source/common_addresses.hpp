#pragma once
#include <Halide.h>

#include <algorithm>
#include <set>
#include <string>
#include <tilewright/c_source/find_node.hpp>
#include <tilewright/c_source/opaque_addresses.hpp>
#include <tilewright/halide/places.hpp>
#include <utility>
#include <vector>

// Addresses of registers' words that differ in a number.
namespace tilewright::halide::detail {

/// A signed sum, and the number in it that depends on nothing: 2 (8 m + 3) is 2 (8 m) and 6. Without a sum: if it is only a number.
inline std::pair<Halide::Expr, std::int64_t> with_number_apart(Halide::Expr const& e) {
    using namespace Halide::Internal;
    Halide::Expr const none;
    if (!e.type().is_int() || e.type().bits() < 32) return {e, 0};
    if (auto const* const number = as_const_int(e)) return {none, *number};
    if (auto const* const wide = e.as<Cast>(); wide != nullptr && wide->value.type().is_int() && wide->value.type().bits() >= 32) {
        auto const [moving, still] = with_number_apart(wide->value);
        return still == 0 ? std::pair{e, still} : std::pair{moving.defined() ? Halide::cast(e.type(), moving) : none, still};
    }
    if (auto const* const both = e.as<Add>()) {
        auto const [left, of_left] = with_number_apart(both->a);
        auto const [right, of_right] = with_number_apart(both->b);
        return {left.defined() && right.defined() ? left + right : left.defined() ? left : right, of_left + of_right};
    }
    if (auto const* const times = e.as<Mul>()) {
        if (auto const* const factor = as_const_int(times->b)) {
            auto const [moving, still] = with_number_apart(times->a);
            return {moving.defined() ? moving * times->b : none, still * *factor};
        }
    }
    return {e, 0};
}

/// Functions on registers are the compiler's to arrange, and it names addresses by a register and a number. Loops name what their addresses
/// have in common, once:
///
///     for (m…) { a = load(base + 128 m); b = load(base + 128 m + 4); }   →   for (m…) { at = base + 128 m; a = load(at); b = load(at + 4);
///     }
///
/// Compilers that are left to find this out find another sum for each load, and keep them all in memory.
class common_addresses : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

  protected:
    using IRMutator::visit;
    Stmt visit(Halide::Internal::For const* op) override {
        using namespace Halide::Internal;
        Stmt body = mutate(op->body);
        found const all(op->name, body);
        std::vector<std::pair<std::string, Expr>> names;
        std::vector<place> const& places = all.places;
        for (std::size_t at = 0; at < places.size(); ++at) {
            auto const is_same = [&](place const& one) { return equal(one.moving, places[at].moving); };
            auto const first = std::find_if(places.begin(), places.end(), is_same);
            if (first != places.begin() + static_cast<std::ptrdiff_t>(at) || std::count_if(places.begin(), places.end(), is_same) < 2)
                continue;
            names.emplace_back(places[at].base + ".moved." + std::to_string(count_++), places[at].moving);
        }
        if (!names.empty()) body = use_names(all, names).mutate(body);
        for (auto one = names.rbegin(); one != names.rend(); ++one) body = LetStmt::make(one->first, one->second, body);
        return For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
    }

  private:
    /// An address: what moves, which begins at the variable `base`, and the number.
    struct place {
        std::string base;
        Expr moving;
        std::int64_t still = 0;
    };

    /// The addresses in a loop that its index moves, and nothing that it defines itself.
    struct found : Halide::Internal::IRVisitor {
        using IRVisitor::visit;
        std::string loop;
        std::set<std::string> inside;
        std::vector<place> places;
        found(std::string const& name, Stmt const& body) : loop(name) { body.accept(this); }

        void visit(Halide::Internal::For const* op) override { inside.insert(op->name), IRVisitor::visit(op); }
        void visit(Halide::Internal::LetStmt const* op) override { inside.insert(op->name), IRVisitor::visit(op); }
        void visit(Halide::Internal::Evaluate const* op) override {
            each_address(op, [&](Expr const& address) {
                place const one = place_of(address);
                if (one.moving.defined()) places.push_back(one);
            });
        }
        /// Without `moving` where it is none of these.
        place place_of(Expr const& address) const {
            using namespace Halide::Internal;
            auto const* const sum = address.as<Add>();
            auto const* const offset = sum != nullptr ? sum->b.as<Cast>() : nullptr;
            if (offset == nullptr || offset->value.type() != Halide::Int(64)) return {};
            place made;
            bool moves = false, other = false;
            (void)holds_node(address, [&](Expr const& part) {
                auto const* const v = part.as<Variable>();
                other |= part.as<Load>() != nullptr || part.as<Call>() != nullptr;
                if (v == nullptr) return false;
                moves |= v->name == loop, other |= inside.count(v->name) != 0;
                if (v->type == Halide::UInt(64) && v->name.find(address_suffix) != std::string::npos) made.base = v->name;
                return false;
            });
            auto const [moving, still] = with_number_apart(offset->value);
            if (!moves || other || made.base.empty() || still < 0) return {};
            made.moving = moving.defined() ? sum->a + Halide::cast<std::uint64_t>(simplify(moving)) : sum->a;
            made.still = still;
            return made;
        }
    };
    template <class Action>
    static void each_address(Halide::Internal::Evaluate const* op, Action const& action) {
        auto const* const call = op->value.as<Halide::Internal::Call>();
        if (call == nullptr || call->name != value_call_name) return;
        for (std::size_t at = 2; at < call->args.size(); ++at) {
            if (Expr const address = address_of_word(call->args[at]); address.defined()) action(address);
        }
    }

    class use_names : public IRMutator {
      public:
        use_names(found const& all, std::vector<std::pair<std::string, Expr>> const& names) : all_(all), names_(names) {}

      protected:
        using IRMutator::visit;
        Stmt visit(Halide::Internal::Evaluate const* op) override {
            using namespace Halide::Internal;
            auto const* const call = op->value.as<Call>();
            if (call == nullptr || call->name != value_call_name) return op;
            std::vector<Expr> arguments = call->args;
            for (std::size_t at = 2; at < arguments.size(); ++at) arguments[at] = named(arguments[at]);
            return Evaluate::make(Call::make(call->type, call->name, arguments, call->call_type));
        }

      private:
        Expr named(Expr const& given) const {
            using namespace Halide::Internal;
            Expr const address = address_of_word(given);
            if (!address.defined()) return given;
            place const one = all_.place_of(address);
            for (auto const& [name, moving] : names_) {
                if (!one.moving.defined() || !equal(one.moving, moving)) continue;
                Expr const at = Variable::make(Halide::UInt(64), name);
                Expr const moved = one.still == 0 ? at : at + Cast::make(Halide::UInt(64), make_const(Halide::Int(64), one.still));
                return substitute(address, moved, given);
            }
            return given;
        }
        found const& all_;
        std::vector<std::pair<std::string, Expr>> const& names_;
    };

    int count_ = 0;
};

}  // namespace tilewright::halide::detail
