#pragma once
#include <array>
#include <bit>
#include <tilewright/emulate/semantics.hpp>
#include <utility>

#include "oracle/oracle.hpp"

// The semantics of a machine that is made at run time: the oracle interprets them, so that an emulated instruction is no code of the
// library's.
namespace fuzz {

/// The machine whose parts are carried out; one at a time in a process.
inline machine const*& interpreted_machine() {
    static machine const* current = nullptr;
    return current;
}

namespace detail {

inline void interpret_intrinsic(int which, void* const* addresses, std::int64_t const* strides, std::int64_t const* extents) {
    machine const& m = *interpreted_machine();
    intrinsic_description const& what = m.intrinsics[which];
    computation_view const semantics = m.view(what.semantics);
    tilewright::ir::stage whole;
    read_stage(semantics, 0, whole);
    std::vector<ir::node> nodes(semantics.nodes, semantics.nodes + semantics.count);
    for (ir::node& n : nodes) {
        int const axis = n.op == operation::axis_value ? whole.find(n.name) : -1;
        if (axis >= 0 && what.is_flexible(axis)) n.value = extents[axis];
    }
    computation_view const view{nodes.data(), semantics.count};
    auto const operand_of = [&](oracle::tensor_box const& box) {
        int const position = what.find(box.name);
        std::array<std::int64_t, oracle::most_dimensions> by{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d)
            by[d] = static_cast<int>(d) + 1 == box.rank ? 1 : strides[position * max_rank + static_cast<int>(d)];
        return oracle::operand(box, addresses[position], by);
    };
    std::vector<oracle::operand> operands;
    for (oracle::tensor_box const& box : oracle::inputs_of(view)) operands.push_back(operand_of(box));
    oracle::tensor_box const target = oracle::output_of(view);
    oracle::operand const into = operand_of(target);
    bool const updates = what.operands[what.find(target.name)].is == ir::direction::updates;
    operands.push_back(into);
    oracle::result const made = oracle::evaluate(view, operands, {}, {}, {.updates = updates});
    auto const size = static_cast<std::int64_t>(bytes_of(target.type));
    std::array<std::int64_t, oracle::most_dimensions> at{};
    for (std::int64_t number = 0; number < target.elements(); ++number) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(target.rank); ++d) offset += at[d] * into.strides[d];
        std::memcpy(static_cast<std::byte*>(addresses[what.find(target.name)]) + offset * size, made.bytes.data() + number * size,
                    static_cast<std::size_t>(size));
        for (std::size_t d = static_cast<std::size_t>(target.rank); d-- > 0;) {
            if (++at[d] < target.extents[d]) break;
            at[d] = 0;
        }
    }
}

/// Of a fill: the one constant of its semantics.
inline void interpret_fill(int which, void* destination, std::int64_t count) {
    machine const& m = *interpreted_machine();
    computation_view const semantics = m.view(m.transfers[which].semantics);
    ir::node const& number = semantics[semantics[semantics.count - 1].argument(1)];
    visit_scalar(number.type, [&]<class T>(T) {
        T one{};
        if constexpr (std::is_floating_point_v<T>) one = static_cast<T>(std::bit_cast<double>(number.value));
        else one = static_cast<T>(number.value);
        for (std::int64_t at = 0; at < count; ++at) static_cast<T*>(destination)[at] = one;
    });
}

}  // namespace detail

/// The functions of all parts of a machine that has no semantics but those of instructions and of fills.
inline semantics_table interpreted_semantics(machine const& what) {
    semantics_table table;
    [&]<std::size_t... At>(std::index_sequence<At...>) {
        ((table.intrinsics[At] =
              [](void* const* addresses, std::int64_t const* strides, std::int64_t const* extents) {
                  detail::interpret_intrinsic(static_cast<int>(At), addresses, strides, extents);
              }),
         ...);
    }
    (std::make_index_sequence<16>());
    [&]<std::size_t... At>(std::index_sequence<At...>) {
        (
            [&] {
                int const at = static_cast<int>(At);
                if (at >= what.transfers.size() || what.transfers[at].semantics.count == 0) return;
                table.transfers[At] = [](void* destination, void const*, std::int64_t count) {
                    detail::interpret_fill(static_cast<int>(At), destination, count);
                };
                table.destination_bytes[At] =
                    bytes_of(what.view(what.transfers[at].semantics)[what.transfers[at].semantics.count - 1].type);
            }(),
            ...);
    }
    (std::make_index_sequence<12>());
    return table;
}

}  // namespace fuzz
