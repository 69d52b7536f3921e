#pragma once
#include <concepts>
#include <span>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/plan/plan.hpp>
#include <type_traits>

// What is wrong with the arguments of a call, as one error that names the argument and says what it should be.
namespace tilewright {

/// A pointer, and the index of the element that it points to, of `Rank` numbers: see `points_to`.
template <class Element, int Rank>
struct pointer_to_element {
    static constexpr int rank = Rank;

    Element* pointer = nullptr;
    fixed_array<std::int64_t, max_rank> index{};
};

/// A view of several dimensions that knows its extents and strides, such as std::mdspan: what such views have in common is enough.
template <class View>
concept strided_view = requires(View const& view, std::size_t dimension) {
    { view.data_handle() } -> std::convertible_to<std::remove_reference_t<decltype(*view.data_handle())>*>;
    { view.extent(dimension) } -> std::convertible_to<std::int64_t>;
    { view.stride(dimension) } -> std::convertible_to<std::int64_t>;
    requires(View::rank() <= std::size_t{max_rank});
};

namespace detail {

using namespace ir;

/// What a strided view shows: `first` is its element [0, 0, ...]. Extents and strides are counted in elements.
template <class Element, int Rank>
struct strided_elements {
    Element* first = nullptr;
    fixed_array<std::int64_t, max_rank> extents{}, strides{};
};

/// An argument of `call` as it is passed on: a range that knows its size is a span.
template <class Operand>
constexpr auto as_operand(Operand& given) {
    if constexpr (strided_view<Operand>) {
        strided_elements<std::remove_reference_t<decltype(*given.data_handle())>, static_cast<int>(Operand::rank())> shown{
            .first = given.data_handle()};
        for (std::size_t d = 0; d < Operand::rank(); ++d) {
            shown.extents[static_cast<int>(d)] = static_cast<std::int64_t>(given.extent(d));
            shown.strides[static_cast<int>(d)] = static_cast<std::int64_t>(given.stride(d));
        }
        return shown;
    } else if constexpr (requires { std::span(given); }) {
        return std::span(given);
    } else {
        return given;
    }
}

/// What a caller gives for an argument of a kernel.
struct given_argument {
    enum class form : std::uint8_t { other, value, pointer, range, pointed, view };

    form is = form::other;
    scalar_type element = scalar_type::literal;  ///< of a type that no tensor has: literal
    bool is_constant = false;
    int rank = 0;  ///< of a view, or of an index
};
template <class Element>
constexpr given_argument given_elements(given_argument::form is, int rank = 0) {
    using plain = std::remove_const_t<Element>;
    if constexpr (one_of<plain, char, wchar_t>) {
        // What callers have in letters is what letters are on this processor.
        using number = std::conditional_t<std::is_signed_v<plain>, std::make_signed_t<plain>, std::make_unsigned_t<plain>>;
        return {is, scalar_type_of<number>(), std::is_const_v<Element>, rank};
    } else if constexpr (arithmetic<plain> || one_of<plain, float16, bfloat16>)
        return {is, scalar_type_of<plain>(), std::is_const_v<Element>, rank};
    else return {is, scalar_type::literal, std::is_const_v<Element>, rank};
}
template <class Operand>
inline constexpr given_argument given_as = given_elements<Operand>(given_argument::form::value);
template <class Element>
inline constexpr given_argument given_as<Element*> = given_elements<Element>(given_argument::form::pointer);
template <class Element, std::size_t Extent>
inline constexpr given_argument given_as<std::span<Element, Extent>> = given_elements<Element>(given_argument::form::range);
template <class Element, int Rank>
inline constexpr given_argument given_as<pointer_to_element<Element, Rank>> = given_elements<Element>(given_argument::form::pointed, Rank);
template <class Element, int Rank>
inline constexpr given_argument given_as<strided_elements<Element, Rank>> = given_elements<Element>(given_argument::form::view, Rank);

enum class call_fault : std::uint8_t { none, number, elements, constant, tensor, first_element, dimensions, scalar, address };

/// The first thing that is wrong with the arguments of a call.
struct call_mistake {
    call_fault fault = call_fault::none;
    int argument = 0;  ///< counted from 1
    label name{};      ///< of the tensor, parameter or memory
    scalar_type needed = scalar_type::literal, given = scalar_type::literal;
    int need = 0, have = 0;  ///< arguments, or dimensions
    bool of_index = false;   ///< dimensions: those of an index, not of a view
};

/// Whether a tensor is used from element 0 on.
constexpr bool begins_at_zero(buffer const& b) {
    bool zero = true;
    for (int d = 0; d < b.rank; ++d) zero = zero && b.minimum[d] == 0;
    return zero;
}

constexpr call_mistake mistake_of_tensor(buffer const& b, given_argument const& one, int argument) {
    using enum given_argument::form;
    call_mistake found{.argument = argument, .name = b.tensor, .needed = b.type, .given = one.element};
    if (one.is == value || one.is == other) found.fault = call_fault::tensor;
    else if (one.element != b.type) found.fault = call_fault::elements;
    else if (b.written && one.is_constant) found.fault = call_fault::constant;
    else if (one.is == pointer && !begins_at_zero(b)) found.fault = call_fault::first_element;
    else if ((one.is == view || one.is == pointed) && one.rank != b.rank) {
        found.fault = call_fault::dimensions, found.need = b.rank, found.have = one.rank;
        found.of_index = one.is == pointed;
    }
    return found;
}

/// @param given  what the caller gives, in order: inputs, scalar parameters, addresses of memories or none of them, the result
constexpr call_mistake first_call_mistake(plan_value const& plan, given_argument const* given, int count) {
    using enum given_argument::form;
    argument_list const list = arguments_of(plan);
    int const without_pools = list.tensor_count + list.parameter_count, pools = count - without_pools;
    if (pools != 0 && pools != list.pool_count) {
        bool const takes_pools = pools > 0 && list.pool_count > 0;
        return {.fault = call_fault::number, .need = without_pools + (takes_pools ? list.pool_count : 0), .have = count};
    }
    for (int at = 0; at < count; ++at) {
        given_argument const& one = given[at];
        int const parameter = at - list.input_count, pool = parameter - list.parameter_count;
        call_mistake found{.argument = at + 1, .given = one.element};
        if (parameter >= 0 && parameter < list.parameter_count) {
            node const& n = plan.what[list.parameters[parameter]];
            found.name = n.name, found.needed = n.type;
            if (one.is != value || one.element != n.type) found.fault = call_fault::scalar;
        } else if (pool >= 0 && pool < pools) {
            found.name = plan.where->memories[list.pools[pool]].name;
            if (one.is != pointer && one.is != range) found.fault = call_fault::address;
        } else {
            int const tensor = at < list.input_count ? at : at - list.parameter_count - pools;
            found = mistake_of_tensor(plan.buffers[list.tensors[tensor]], one, at + 1);
        }
        if (found.fault != call_fault::none) return found;
    }
    return {};
}

constexpr text_line sentence_of(call_mistake const& m) {
    text_line line;
    if (m.fault == call_fault::number) {
        line.put("the kernel takes ");
        line.put(std::int64_t{m.need});
        line.put(" arguments, and ");
        line.put(std::int64_t{m.have});
        line.put(m.have == 1 ? " is given" : " are given");
        return line;
    }
    line.put("argument ");
    line.put(std::int64_t{m.argument});
    line.put(", `");
    line.put(m.name);
    line.put("`, is ");
    char const* const given = m.given == scalar_type::literal ? "another type" : name_of(m.given);
    switch (m.fault) {
        case call_fault::elements:
        case call_fault::scalar:
            line.put(m.fault == call_fault::elements ? "a tensor of " : "a scalar of type ");
            line.put(name_of(m.needed));
            line.put(", and ");
            line.put(given);
            line.put(" is given");
            break;
        case call_fault::dimensions:
            line.put("a tensor of rank ");
            line.put(std::int64_t{m.need});
            line.put(m.of_index ? ", and an index of rank " : ", and a view of rank ");
            line.put(std::int64_t{m.have});
            line.put(" is given");
            break;
        case call_fault::constant: line.put("written, and const elements are given"); break;
        case call_fault::tensor:
            line.put("a tensor: a pointer, a range or view that knows its size, or points_to(pointer, index...)");
            break;
        case call_fault::first_element: line.put("used from another element than 0 on: points_to(pointer, index...) says which"); break;
        case call_fault::address: line.put("the address of a memory"); break;
        default: break;
    }
    return line;
}

template <schedule const& Schedule, class... Operands>
inline constexpr call_mistake mistake_in_call = [] {
    given_argument const given[] = {given_as<decltype(as_operand(std::declval<Operands&>()))>..., {}};
    return first_call_mistake(planned<Schedule>::value, given, sizeof...(Operands));
}();

#if defined(__clang__) && __clang_major__ >= 19
template <call_mistake const& M>
inline constexpr text_line call_sentence = [] {
    text_line line;
    line.put("wrong call: ");
    line.put(sentence_of(M).letters.elements);
    return line;
}();
template <call_mistake const& M>
struct shown_call {
    static constexpr bool ok = false;
    static constexpr std::size_t size() { return static_cast<std::size_t>(call_sentence<M>.size); }
    static constexpr char const* data() { return call_sentence<M>.letters.elements; }
};
#elif defined(__clang__)
// clang prints no text of the compiler's: a name is shown as its letters.
template <int Number, class Name, class Needed>
struct argument_is_another {
    static constexpr bool ok = false;
};
template <scalar_type Element>
struct needs_elements;
template <scalar_type Element>
struct needs_elements_that_are_not_const;
template <scalar_type Element>
struct needs_pointer_or_range_of;
template <scalar_type Element>
struct needs_points_to;
template <int Dimensions>
struct needs_rank;
template <scalar_type Type>
struct needs_scalar;
struct needs_address_of_memory;
template <call_mistake const& M>
auto* shown_need() {
    if constexpr (M.fault == call_fault::elements) return static_cast<needs_elements<M.needed>*>(nullptr);
    else if constexpr (M.fault == call_fault::constant) return static_cast<needs_elements_that_are_not_const<M.needed>*>(nullptr);
    else if constexpr (M.fault == call_fault::tensor) return static_cast<needs_pointer_or_range_of<M.needed>*>(nullptr);
    else if constexpr (M.fault == call_fault::first_element) return static_cast<needs_points_to<M.needed>*>(nullptr);
    else if constexpr (M.fault == call_fault::dimensions) return static_cast<needs_rank<M.need>*>(nullptr);
    else if constexpr (M.fault == call_fault::scalar) return static_cast<needs_scalar<M.needed>*>(nullptr);
    else return static_cast<needs_address_of_memory*>(nullptr);
}
template <int Need, int Have>
struct arguments_are {
    static constexpr bool ok = false;
};
template <call_mistake const& M>
inline constexpr text_line call_name = [] {
    text_line line;
    line.put(M.name);
    return line;
}();
template <call_mistake const& M, std::size_t... At>
argument_is_another<M.argument, as::named<call_name<M>.letters[At]...>, std::remove_pointer_t<decltype(shown_need<M>())>> spell_call(
    std::index_sequence<At...>);
template <call_mistake const& M>
auto shown_mistake() {
    if constexpr (M.fault == call_fault::number) return arguments_are<M.need, M.have>();
    else return decltype(spell_call<M>(std::make_index_sequence<static_cast<std::size_t>(call_name<M>.size)>())){};
}
template <call_mistake const& M>
using shown_call = decltype(shown_mistake<M>());
#else
template <call_mistake const& M>
inline constexpr text_line call_sentence = sentence_of(M);
template <call_mistake const& M>
using shown_call = refused<sized<call_sentence<M>>>;
#endif

}  // namespace detail
}  // namespace tilewright
