#pragma once
#include <algorithm>
#include <sstream>
#include <tilewright/c_source/call.hpp>
#include <tilewright/c_source/lines.hpp>
#include <tilewright/c_source/opaque_addresses.hpp>
#include <tilewright/c_source/operation.hpp>
#include <tilewright/c_source/sums.hpp>
#include <tilewright/halide/places.hpp>

// Statements of the generated program in C.
namespace tilewright::halide::detail {

/// A buffer that is variables of a C type, each a register.
struct register_variables {
    std::string type;
    int count = 0;
};

/// Writes the body of a C function. It knows serial loops, branches, local arrays of constant size, and values that C has. It refuses
/// everything else.
class c_statements {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

    c_expressions values;
    std::map<std::string, std::string> element_types;     ///< C types of the plan's buffers, by Halide's name
    std::map<std::string, register_variables> registers;  ///< buffers that functions take by value, by Halide's name
    std::set<std::string> fenced;                         ///< functions that start or await something that touches memory beside the code

    /// The whole program: it returns 0; or the first code that a call returned, when nothing is in flight any more.
    std::string function_body(Stmt const& program) {
        status_ = values.names.take("status"), lane_ = values.names.take("lane");
        write(program, true);
        if (drain_.defined()) {
            line("return 0;");
            lines_.push_back({0, "drain: /* what is in flight is awaited, then the code is returned */"});
            statement(Stmt(drain_));
            line("return " + status_ + ";");
        } else {
            end_with_code(lines_, status_);
        }
        bool const keeps = checks_codes_ && std::any_of(lines_.begin(), lines_.end(), [&](c_line const& l) {
                               return l.text.compare(0, 2, "/*") != 0 && has_word(l.text, status_);
                           });
        std::string text = keeps ? "    int " + status_ + " = 0;\n" : "";
        for (c_line const& l : lines_) text += text_of(l);
        return text;
    }
    bool uses_fences() const { return uses_fences_; }

  private:
    void line(std::string const& text) { lines_.push_back({depth_, text}); }
    void declare(std::string const& text) { line(text), declared_ = true; }
    /// Declarations that the expressions of the next line need before it.
    void flush() {
        for (std::string const& declaration : values.lines) declare(declaration);
        values.lines.clear();
    }
    template <class Write>
    void block(std::string const& head, Write const& inside) {
        line(head);
        ++depth_;
        std::size_t const scope = values.scope();
        bool const declared = declared_;
        inside();
        declared_ = declared;
        values.end_scope(scope);
        --depth_;
        line("}");
    }
    /// One of several statements: what it declares is between braces of its own.
    void statement(Stmt const& s) {
        std::size_t const begin = lines_.size(), scope = values.scope();
        bool const declared = declared_;
        declared_ = false;
        write(s, false);
        if (declared_) {
            for (std::size_t at = begin; at < lines_.size(); ++at) ++lines_[at].depth;
            lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(begin), {depth_, "{"});
            line("}");
        }
        declared_ = declared;
        values.end_scope(scope);
    }
    [[noreturn]] static void refuse(Stmt const& s, std::string const& what) {
        std::ostringstream shown;
        shown << s;
        throw unsupported_in_c(what + ": " + shown.str().substr(0, 200));
    }

    void write(Stmt const& s, bool last);
    void let(Halide::Internal::LetStmt const* op, bool last);
    void write_using(std::string const& word, Stmt const& body, bool last);
    bool checked_call(Halide::Internal::LetStmt const* op);
    void call(std::string const& head, Halide::Internal::Call const* op, std::string const& tail);
    void loop(Halide::Internal::For const* op);
    void branch(Halide::Internal::IfThenElse const* op);
    void store(Halide::Internal::Store const* op);
    void allocate(Halide::Internal::Allocate const* op, bool last);
    void evaluate(Expr const& value);
    void value_call(Halide::Internal::Call const* op);
    std::string register_word(Halide::Internal::Call const* op);
    /// Writes something for each lane: in a loop, or by number.
    template <class Write>
    void each_lane(int lanes, bool by_number, Write const& write_one) {
        for (int lane = 0; by_number && lane < lanes; ++lane) write_one(c_lane::at(lane));
        if (by_number) return;
        block("for (int32_t " + lane_ + " = 0; " + lane_ + " < " + std::to_string(lanes) + "; ++" + lane_ + ") {",
              [&] { write_one(c_lane{lane_}); });
    }

    std::vector<c_line> lines_;
    std::string status_, lane_;  ///< words of its own
    int depth_ = 1;
    Stmt drain_;
    std::set<std::string> begins_;  ///< variables that get their first value next
    bool checks_codes_ = false, uses_fences_ = false, declared_ = false;
};

inline void c_statements::write(Stmt const& s, bool last) {
    using namespace Halide::Internal;
    if (!s.defined()) return;
    switch (s.node_type()) {
        case IRNodeType::Block: {
            auto const* const first = s.as<Block>()->first.as<Store>();
            if (first != nullptr && begins_.count(first->name) != 0) store(first);
            else statement(s.as<Block>()->first);
            return write(s.as<Block>()->rest, last);
        }
        case IRNodeType::LetStmt: return let(s.as<LetStmt>(), last);
        case IRNodeType::For: return loop(s.as<For>());
        case IRNodeType::IfThenElse: return branch(s.as<IfThenElse>());
        case IRNodeType::Store: return store(s.as<Store>());
        case IRNodeType::Allocate: return allocate(s.as<Allocate>(), last);
        case IRNodeType::Evaluate: return evaluate(s.as<Evaluate>()->value);
        case IRNodeType::ProducerConsumer: return write(s.as<ProducerConsumer>()->body, last);
        case IRNodeType::Free: return;  // local arrays go by themselves
        default: break;
    }
    refuse(s, "a statement of this kind");
}

inline void c_statements::let(Halide::Internal::LetStmt const* op, bool last) {
    using namespace Halide::Internal;
    if (checked_call(op)) return;
    find_name user(op->name);
    op->body.accept(&user);
    if (!user.found && is_pure(op->value)) return write(op->body, last);
    Halide::Type const type = op->value.type();
    auto const element = element_types.find(op->name);
    if (element != element_types.end() && type.is_handle()) {
        std::string const where = values.pointer(op->value);
        flush();
        std::string const word = values.define(op->name, c_variable::kind::elements);
        bool const plain = where.find_first_of(" ?+") == std::string::npos;
        declare(element->second + " *const " + word + " = (" + element->second + " *)" + (plain ? where : "(" + where + ")") + ";");
        return write_using(word, op->body, last);
    } else if (type == Halide::UInt(64) && op->name.find(address_suffix) != std::string::npos) {
        std::string const where = values.pointer(op->value);
        flush();
        std::string const word = values.define(op->name, c_variable::kind::address);
        declare((is_opaque(op->name) ? "unsigned char *" : "unsigned char *const ") + word + " = " + where + ";");
        return write_using(word, op->body, last);
    } else if (type.is_handle()) {
        std::string const where = values.text(op->value);
        flush();
        declare("void *const " + values.define(op->name) + " = " + where + ";");
    } else if (type.is_scalar()) {
        std::string const value = values.text(op->value);
        // Fields of arguments turn out to be numbers here.
        if (type == Halide::Int(32) && value.size() < 10 && value.find_first_not_of("0123456789") == std::string::npos)
            return write(substitute(op->name, Expr(std::stoi(value)), op->body), last);
        bool const non_negative = values.is_non_negative(op->value);
        flush();
        declare("const " + c_type(type) + " " + values.define(op->name, c_variable::kind::value, non_negative) + " = " + value + ";");
    } else {
        std::string const word = values.names.take(plain_name(op->name));
        declare(c_type(type) + " " + word + "[" + std::to_string(type.lanes()) + "];");
        each_lane(type.lanes(), crosses_lanes(op->value), [&](c_lane const& lane) {
            std::string const value = values.text(op->value, lane);
            flush();
            line(word + "[" + lane.word + "] = " + value + ";");
        });
        values.bind(op->name, {word, c_variable::kind::lanes});
    }
    write(op->body, last);
}

/// A variable that the body does not use, such as the address of an empty block, is not declared, because compilers object.
inline void c_statements::write_using(std::string const& word, Stmt const& body, bool last) {
    std::size_t const declared_at = lines_.size() - 1;
    write(body, last);
    for (std::size_t at = declared_at + 1; at < lines_.size(); ++at) {
        if (lines_[at].text.compare(0, 2, "/*") != 0 && has_word(lines_[at].text, word)) return;
    }
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(declared_at));
}

/// `let status = call in { if (status != 0) wait for everything; assert(status == 0) }`: the way out is the same everywhere.
inline bool c_statements::checked_call(Halide::Internal::LetStmt const* op) {
    using namespace Halide::Internal;
    auto const* const what = op->value.as<Call>();
    auto const* const both = op->body.as<Block>();
    auto const* const check = (both != nullptr ? both->rest : op->body).as<AssertStmt>();
    auto const* const code = check != nullptr ? check->message.as<Variable>() : nullptr;
    auto const* const way_out = both != nullptr ? both->first.as<IfThenElse>() : nullptr;
    if (what == nullptr || code == nullptr || code->name != op->name || (both != nullptr && way_out == nullptr)) return false;
    Expr const status = Variable::make(Halide::Int(32), op->name);
    if (!equal(check->condition, status == 0) ||
        (way_out != nullptr && (!equal(way_out->condition, status != 0) || way_out->else_case.defined())))
        return false;
    if (way_out != nullptr) {
        if (drain_.defined() && !equal(drain_, way_out->then_case)) refuse(way_out->then_case, "two ways out of one kernel");
        drain_ = way_out->then_case;
    }
    checks_codes_ = checks_codes_ || what->name != fence_name;
    call(status_ + " = ", what, "if (" + status_ + " != 0) " + (way_out != nullptr ? "goto drain;" : "return " + status_ + ";"));
    return true;
}
/// A call whose result goes to `head`; then `tail`.
inline void c_statements::call(std::string const& head, Halide::Internal::Call const* op, std::string const& tail) {
    if (op->name == fence_name) {
        uses_fences_ = true;
        return line("TILEWRIGHT_FENCE();");
    }
    std::string const text = values.text(op);
    bool const is_fenced = fenced.count(op->name) != 0;
    uses_fences_ = uses_fences_ || is_fenced;
    flush();
    if (is_fenced) line("TILEWRIGHT_FENCE();");
    line(head + text + ";");
    if (is_fenced) line("TILEWRIGHT_FENCE();");
    if (!tail.empty()) line(tail);
}

inline void c_statements::loop(Halide::Internal::For const* op) {
    using namespace Halide::Internal;
    if (op->for_type != ForType::Serial) refuse(op, "a loop that is not serial");
    std::string const first = values.text(op->min);
    bool const from_zero = is_const_zero(op->min), non_negative = values.is_non_negative(op->min);
    auto const* const count = as_const_int(op->extent);
    // Evaluated once: what the loop does may change it.
    std::string const end = from_zero ? values.text(op->extent) : values.text(simplify(op->min + op->extent));
    bool const plain =
        (count != nullptr && (from_zero || as_const_int(op->min) != nullptr)) || (from_zero && op->extent.as<Variable>() != nullptr);
    flush();
    std::size_t const scope = values.scope();
    std::string const word = values.define(op->name, c_variable::kind::value, non_negative);
    std::string bound = end, more;
    if (!plain) {
        bound = values.define(op->name + "_end");
        more = ", " + bound + " = " + end;
    }
    block("for (int32_t " + word + " = " + first + more + "; " + word + " < " + bound + "; ++" + word + ") {",
          [&] { write(op->body, true); });
    values.end_scope(scope);
}

inline void c_statements::branch(Halide::Internal::IfThenElse const* op) {
    std::string const condition = values.text(op->condition);
    flush();
    block("if (" + condition + ") {", [&] { write(op->then_case, true); });
    if (!op->else_case.defined()) return;
    lines_.pop_back();
    block("} else {", [&] { write(op->else_case, true); });
}

inline void c_statements::store(Halide::Internal::Store const* op) {
    using namespace Halide::Internal;
    c_variable const target = values.variable(op->name);
    std::string const into = target.word;
    Halide::Type const type = op->value.type();
    if (target.is == c_variable::kind::value) {  // see `sums_in_variables`
        std::string const value = values.text(op->value);
        flush();
        if (begins_.erase(op->name) != 0) return declare(c_type(type) + " " + into + " = " + value + ";");
        if (value != into) line(into + " = " + value + ";");  // what is added may be 0
        return;
    }
    bool const always = is_const_one(op->predicate);
    auto const write_one = [&](c_lane const& lane, std::string const& from) {
        std::string const where = values.index(op->index, lane);
        std::string const value = from.empty() ? values.text(op->value, lane) : from + "[" + lane.word + "]";
        std::string const condition = always ? "" : values.text(op->predicate, lane);
        flush();
        line((always ? "" : "if (" + condition + ") ") + into + "[" + where + "] = " + value + ";");
    };
    if (type.is_scalar()) return write_one({}, "");
    bool const by_number = crosses_lanes(op->value) || crosses_lanes(op->index) || crosses_lanes(op->predicate);
    // All lanes are computed before one is stored: that shows where a lane loads what another one stores.
    auto const meets = [&](Expr const& e) {
        return holds_node(e, [&](Expr const& part) {
            auto const* const load = part.as<Load>();
            if (load == nullptr || load->name != op->name) return false;
            auto const* const ramp = op->index.as<Ramp>();
            bool const apart = ramp != nullptr && ramp->base.type().is_scalar() && is_const(ramp->stride) && !is_const_zero(ramp->stride);
            return !apart || by_number || !equal(load->index, op->index);
        });
    };
    if (!meets(op->value) && !meets(op->index) && !meets(op->predicate))
        return each_lane(type.lanes(), by_number, [&](c_lane const& lane) { write_one(lane, ""); });
    if (meets(op->index) || meets(op->predicate)) refuse(op, "a vector stored where it is read to find out where");
    std::size_t const scope = values.scope();
    std::string const all = values.define(op->name + "_lanes", c_variable::kind::lanes);
    declare(c_type(type) + " " + all + "[" + std::to_string(type.lanes()) + "];");
    each_lane(type.lanes(), by_number, [&](c_lane const& lane) {
        std::string const value = values.text(op->value, lane);
        flush();
        line(all + "[" + lane.word + "] = " + value + ";");
    });
    each_lane(type.lanes(), by_number, [&](c_lane const& lane) { write_one(lane, all); });
    values.end_scope(scope);
}

inline void c_statements::allocate(Halide::Internal::Allocate const* op, bool last) {
    int const size = op->constant_allocation_size();
    if (size <= 0 || op->new_expr.defined() || !Halide::Internal::is_const_one(op->condition))
        refuse(op->body, "memory for `" + op->name + "`, whose size is not constant");
    if (auto const held = registers.find(op->name); held != registers.end()) {
        // Where the first value is made under a condition, compilers may not see through it.
        bool const empty = has_branches(op->body);
        for (int which = 0; which < held->second.count; ++which) {
            std::string const number = std::to_string(which);
            declare(held->second.type + " " + values.define(op->name + "." + number) + (empty ? " = {0};" : ";"));
        }
        return write(op->body, last);
    }
    std::string const type = c_type(op->type);
    if (op->name.find(held_suffix) != std::string::npos) {
        values.define(op->name);
        begins_.insert(op->name);
        return write(op->body, last);
    }
    declare(type + " " + values.define(op->name, c_variable::kind::elements) + "[" +
            std::to_string(static_cast<std::int64_t>(size) * op->type.lanes()) + "];");
    write(op->body, last);
}

/// The variable that holds a register.
inline std::string c_statements::register_word(Halide::Internal::Call const* op) {
    using namespace Halide::Internal;
    std::string const name = op->args[0].as<StringImm>()->value;
    Expr const element = simplify(op->args[1]);
    auto const *const first = as_const_int(element), *const lanes = as_const_int(op->args[2]);
    if (first == nullptr || lanes == nullptr || *first % *lanes != 0) {
        std::ostringstream shown;
        shown << element;
        throw unsupported_in_c("a register of `" + name + "` that begins at element " + shown.str());
    }
    return values.variable(name + "." + std::to_string(*first / *lanes)).word;
}
/// `made = function(register, address, number);`
inline void c_statements::value_call(Halide::Internal::Call const* op) {
    using namespace Halide::Internal;
    std::string text;
    for (std::size_t at = 2; at < op->args.size(); ++at) {
        Expr const& given = op->args[at];
        auto const* const called = given.as<Call>();
        text += at > 2 ? ", " : "";
        if (called != nullptr && called->name == register_name) text += register_word(called);
        else if (called != nullptr && called->name == read_address_name) text += "(const void *)(" + values.pointer(called->args[0]) + ")";
        else if (given.type().is_handle()) text += "(void *)(" + values.pointer(given) + ")";
        else text += values.text(simplify(given));
    }
    auto const* const made = op->args[1].as<Call>();
    std::string const into = made != nullptr ? register_word(made) + " = " : "";
    flush();
    line(into + op->args[0].as<StringImm>()->value + "(" + text + ");");
}

inline void c_statements::evaluate(Expr const& value) {
    using namespace Halide::Internal;
    if (is_const(value)) return;
    auto const* const what = value.as<Call>();
    if (what != nullptr && what->name == remark_name) return line("/* " + what->args[0].as<StringImm>()->value + " */");
    if (what != nullptr && what->name == value_call_name) return value_call(what);
    if (what != nullptr && moves_pointer(what)) return line(text_of_move(what, values.pointer(what->args[0])));
    if (what == nullptr || what->call_type != Call::Extern) refuse(Evaluate::make(value), "a value that nothing uses");
    call("(void)", what, "");
}

}  // namespace tilewright::halide::detail
