#pragma once
#include <tilewright/c_source/expression.hpp>

// Calls of the generated program in C, and the addresses that these pass.
namespace tilewright::halide::detail {

inline c_expressions::piece c_expressions::called(Halide::Internal::Call const* op, c_lane const& lane) {
    using namespace Halide::Internal;
    Halide::Type const type = op->type;
    auto const argument = [&](int at) -> Expr const& { return op->args[static_cast<std::size_t>(at)]; };
    auto const own_lane = [&](Expr const& e) { return e.type().is_scalar() ? c_lane{} : lane; };
    auto const written = [&](int at) { return write(argument(at), own_lane(argument(at))); };
    if (op->is_intrinsic(
            {Call::likely, Call::likely_if_innermost, Call::strict_float, Call::promise_clamped, Call::unsafe_promise_clamped}))
        return written(0);
    if (op->is_intrinsic(Call::return_second)) return written(1);
    if (op->is_intrinsic(Call::widening_mul) && type.is_int_or_uint()) return widened_product(type, op, lane);
    if (op->is_intrinsic(Call::if_then_else)) {
        if (op->args.size() != 3) throw unsupported_in_c("`if_then_else` without a value for both cases");
        return {held(written(0), either) + " ? " + held(written(1), either) + " : " + held(written(2), choice), choice};
    }
    if (op->is_intrinsic({Call::shift_left, Call::shift_right})) return shifted(op, lane);
    if (op->is_intrinsic(Call::abs) && argument(0).type().is_int()) return helper_call("absolute", argument(0).type(), {written(0).text});
    if (op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
        char const* const sign = op->is_intrinsic(Call::bitwise_and) ? " & " : op->is_intrinsic(Call::bitwise_or) ? " | " : " ^ ";
        std::string const text = held(written(0), word) + sign + held(written(1), word);
        return {type.bits() < 32 ? "(" + c_type(type) + ")(" + text + ")" : "(" + text + ")", word};
    }
    if (op->is_intrinsic(Call::bitwise_not)) return {"(" + c_type(type) + ")~" + held(written(0), word), unary};
    if (op->is_intrinsic({Call::div_round_to_zero, Call::mod_round_to_zero}) && type.is_int_or_uint()) {
        char const* const sign = op->is_intrinsic(Call::div_round_to_zero) ? " / " : " % ";
        std::string const text = held(written(0), word) + sign + held(written(1), word);
        return {"(" + c_type(type) + ")(" + text + ")", unary};
    }
    if (op->is_intrinsic(Call::reinterpret)) {
        Halide::Type const from = argument(0).type();
        if (type.is_handle()) return pointer_piece(argument(0));
        if (from.is_handle()) return {"(uint64_t)(uintptr_t)" + held(pointer_piece(argument(0)), word), unary};
        if (type.bits() == from.bits() && type.is_int_or_uint() && from.is_int_or_uint())
            return {"(" + c_type(type) + ")" + held(written(0), unary), unary};
        if (type.bits() == from.bits() && type.is_float() && from.is_int_or_uint()) {
            std::string const sign = from.is_int() ? "(" + c_type(from.with_code(halide_type_uint)) + ")" : "";
            return helper_call("of_bits", type, {sign.empty() ? written(0).text : sign + held(written(0), unary)});
        }
        if (type.bits() == from.bits() && from.is_float() && type.is_int_or_uint())
            return {"(" + c_type(type) + ")" + helper_call("bits", from, {written(0).text}).text, unary};
    }
    if (op->is_intrinsic(Call::make_struct)) {
        std::string all;
        for (int at = 0; at < static_cast<int>(op->args.size()); ++at) {
            if (argument(at).type() != Halide::Int(64)) throw unsupported_in_c("a structure of other numbers than int64");
            auto const* const number = as_const_int(argument(at));
            bool const fits = number != nullptr && *number > INT32_MIN && *number <= INT32_MAX;
            all += (at == 0 ? "" : ", ") + (fits ? std::to_string(*number) : written(at).text);
        }
        std::string const name = define("numbers");
        lines.push_back("const int64_t " + name + "[] = {" + all + "};");
        return {name, word};
    }
    for (char const* field : {Call::buffer_get_stride, Call::buffer_get_min, Call::buffer_get_extent}) {
        if (op->name != field) continue;
        auto const* const of = argument(0).as<Variable>();
        auto const* const dimension = as_const_int(argument(1));
        if (of == nullptr || dimension == nullptr || !field_of) break;
        return {field_of(of->name, op->name, static_cast<int>(*dimension)), word};
    }
    if (op->call_type == Call::Extern || op->call_type == Call::ExternCPlusPlus) {
        if (type.is_vector()) throw unsupported_in_c("a call of `" + op->name + "` for many lanes at once");
        return external(op);
    }
    if (op->is_intrinsic()) {
        // Halide writes what it has found (widening_mul, saturating_add, …) in simpler operations, where there is a way.
        Expr const simpler = lower_intrinsic(op);
        if (simpler.defined() && !simpler.same_as(op)) return write(prepared(simpler), lane);
    }
    throw unsupported_in_c("the operation `" + op->name + "`");
}

/// A call of a function of the machine, or of the emulator.
inline c_expressions::piece c_expressions::external(Halide::Internal::Call const* op) {
    auto const spelled = [](Halide::Type const& type, bool given) -> std::string {
        return type.is_handle() ? (given ? "const void *" : "void *") : c_type(type);
    };
    std::string arguments, types;
    for (Expr const& argument : op->args) {
        // The prototype converts.
        Expr const known = is_number(argument) ? Halide::Internal::simplify(argument) : argument;
        auto const* const number = known.as<Halide::Internal::IntImm>();
        bool const fits = number != nullptr && number->value > INT32_MIN && number->value <= INT32_MAX;
        arguments += (arguments.empty() ? "" : ", ") + (fits ? std::to_string(number->value) : write(argument, {}).text);
        types += (types.empty() ? "" : ", ") + spelled(argument.type(), true);
    }
    std::string const result = spelled(op->type, false);
    std::string const prototype = result + (result.back() == '*' ? "" : " ") + op->name + "(" + (types.empty() ? "void" : types) + ");";
    auto const known = prototypes.emplace(op->name, prototype).first;
    if (known->second != prototype) throw unsupported_in_c("two functions that are both called `" + op->name + "`");
    return {op->name + "(" + arguments + ")", word};
}

/// Whether an address is a pointer, or moves from one.
inline bool c_expressions::begins_at_pointer(Expr const& address) {
    return holds_node(address, [&](Expr const& part) {
        auto const* const v = part.as<Halide::Internal::Variable>();
        return v != nullptr && (v->type.is_handle() || variable(v->name).is == c_variable::kind::address);
    });
}
inline bool c_expressions::is_zero_offset(Expr offset) {
    while (auto const* const widened = offset.as<Halide::Internal::Cast>()) offset = widened->value;
    return Halide::Internal::is_const_zero(offset);
}
inline Halide::Expr c_expressions::signed_offset(Expr const& offset) {
    auto const* const widened = offset.as<Halide::Internal::Cast>();
    return Halide::cast<std::int64_t>(widened != nullptr && widened->value.type().is_int() ? widened->value : offset);
}
/// An offset as an operand of an addition to a pointer.
inline c_expressions::piece c_expressions::offset_piece(Expr const& offset) {
    auto const* const widened = offset.as<Halide::Internal::Cast>();
    bool const is_signed = widened != nullptr && widened->value.type() == Halide::Int(64);
    auto const* const number = is_signed ? Halide::Internal::as_const_int(widened->value) : nullptr;
    if (number != nullptr && *number >= 0 && *number <= INT32_MAX) return {std::to_string(*number), word};
    return write(is_signed ? widened->value : offset, {});
}

/// The program computes with addresses as numbers of 64 bits. In C they are pointers to bytes that move by offsets.
inline c_expressions::piece c_expressions::pointer_piece(Expr const& address) {
    using namespace Halide::Internal;
    if (auto const* const v = address.as<Variable>()) {
        c_variable const& known = variable(v->name);
        if (known.is == c_variable::kind::address) return {known.word, word};
        if (v->type.is_handle() && known.is == c_variable::kind::elements)
            return {(known.is_const ? "(const unsigned char *)" : "(unsigned char *)") + known.word, unary};
        if (v->type.is_handle()) return {known.word, word};
    }
    if (auto const* const c = address.as<Call>()) {
        if (c->is_intrinsic(Call::reinterpret) && (c->type.is_handle() || c->args[0].type().is_handle())) return pointer_piece(c->args[0]);
        if (c->is_intrinsic(Call::make_struct) || (c->type.is_handle() && c->call_type == Call::Extern)) return write(address, {});
    }
    auto const moved_from_pointer = [&](Expr const& one) {
        auto const* const made = one.as<Add>();
        return made != nullptr && begins_at_pointer(made->a) ? made : nullptr;
    };
    if (moved_from_pointer(address) != nullptr) {
        // Offsets are added to each other first: by one of them alone, the pointer might leave what it points into.
        Expr begin = address, offset;
        for (auto const* one = moved_from_pointer(begin); one != nullptr; one = moved_from_pointer(begin)) {
            if (!is_zero_offset(one->b)) offset = offset.defined() ? signed_offset(one->b) + signed_offset(offset) : one->b;
            begin = one->a;
        }
        piece const moved = offset.defined() ? offset_piece(offset) : piece{"0", word};
        if (moved.text == "0" || moved.text == "(int64_t)0" || moved.text == "(uint64_t)0") return pointer_piece(begin);
        return {held(pointer_piece(begin), sum) + " + " + held(moved, product), sum};
    }
    if (auto const* const s = address.as<Select>())
        return {held(write(s->condition, {}), either) + " ? " + held(pointer_piece(s->true_value), either) + " : " +
                    held(pointer_piece(s->false_value), choice),
                choice};
    if (auto const* const known = as_const_uint(address)) {
        char text[24]{};
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(*known));
        return *known == 0 ? piece{"NULL", word}
                           : piece{"(unsigned char *)(uintptr_t)" +
                                       (*known >> 32 == 0 ? text + std::string("u") : "UINT64_C(" + std::string(text) + ")"),
                                   unary};
    }
    return {"(unsigned char *)(uintptr_t)" + held(write(address, {}), word), unary};
}

}  // namespace tilewright::halide::detail
