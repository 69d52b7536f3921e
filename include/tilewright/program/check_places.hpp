#pragma once
#include <tilewright/program/order.hpp>

// What a program says of the places of tensors in their memories: at_offset, in_bank.
namespace tilewright::detail {

/// Where one tensor is to lie: it has a memory where it can, and fits there.
constexpr void check_place(program_planning& p, program::statement const& said) {
    using enum program::statement_kind;
    auto const refuse = [&](rule broken, std::int64_t first = 0, std::int64_t second = 0) {
        p.refuse(verdict_kind::ill_formed, broken, {said.tensor}, 0, {fact{fact_kind::have, first}, fact{fact_kind::need, second}});
    };
    ir::program_tensor const& t = p.tensor(p.plan.find_tensor(said.tensor));
    bool has_memory = t.kind == ir::tensor_kind::input || t.kind == ir::tensor_kind::output, twice = false;
    p.each_statement([&](int, program::statement const& s) {
        has_memory |= s.kind == pin && s.tensor == said.tensor;
        twice |= s.kind == said.kind && s.tensor == said.tensor && s.count != said.count;
    });
    if (!has_memory || t.passed) return refuse(rule::place_not_given);
    if (twice) return refuse(rule::placed_twice);
    memory const& where = p.memory_at(t.memory).what;
    given_place const place = p.place_given(t.name);
    if (said.kind == in_bank) {
        if (said.count < 0 || said.count >= where.banks) refuse(rule::bank_not_there, said.count, where.banks);
        return;
    }
    if (where.banks > 1 && place.bank < 0) return refuse(rule::offset_of_no_bank, where.banks);
    if (said.count < 0 || said.count > where.bank_capacity() - t.bytes) {
        p.refuse(verdict_kind::ill_formed, rule::place_outside, {t.name}, 0,
                 {fact{fact_kind::need, t.bytes}, fact{fact_kind::from, said.count}, fact{fact_kind::have, where.bank_capacity()}});
        return;
    }
    if (said.count % t.alignment != 0) refuse(rule::place_not_aligned, said.count, t.alignment);
}

/// The tensor whose bytes another one takes over, and so on.
constexpr int first_in_place(program_planning& p, int tensor_at) {
    while (p.tensor(tensor_at).in_place_of >= 0) tensor_at = p.tensor(tensor_at).in_place_of;
    return tensor_at;
}

/// Each place by itself, and that two of them share no bytes at one time.
/// @pre tensors have their memories and their lifetimes
constexpr void check_places(program_planning& p) {
    if (!p.plan.of->gives_places) return;
    p.each_statement([&](int, program::statement const& s) {
        bool const is_place = s.kind == program::statement_kind::at_offset || s.kind == program::statement_kind::in_bank;
        if (is_place && !p.refused()) check_place(p, s);
    });
    for (int a = 0; a < p.plan.tensors.size(); ++a) {
        given_place const of_a = p.place_given(p.tensor(a).name);
        for (int b = 0; b < p.plan.tensors.size() && of_a.any() && !p.refused(); ++b) {
            ir::program_tensor const &first = p.tensor(a), &second = p.tensor(b);
            given_place const of_b = p.place_given(second.name);
            if (a == b || !of_b.any() || first.memory != second.memory) continue;
            if (first_in_place(p, a) == first_in_place(p, b)) {
                if (of_a.offset != of_b.offset || of_a.bank != of_b.bank)
                    p.refuse(verdict_kind::ill_formed, rule::placed_twice, {first.name});
                continue;
            }
            bool const apart = of_a.offset < 0 || of_b.offset < 0 || of_a.bank != of_b.bank || first.dead <= second.born ||
                               second.dead <= first.born || of_a.offset + first.bytes <= of_b.offset ||
                               of_b.offset + second.bytes <= of_a.offset;
            if (!apart) p.refuse(verdict_kind::ill_formed, rule::places_overlap, {first.name, second.name});
        }
    }
}

}  // namespace tilewright::detail
