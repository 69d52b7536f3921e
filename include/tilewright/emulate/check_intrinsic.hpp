#pragma once
#include <stdexcept>
#include <tilewright/base/divisors.hpp>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/c_functions.hpp>
#include <tilewright/emulate/configuration_registers.hpp>
#include <tilewright/emulate/operands.hpp>
#include <tilewright/emulate/semantics.hpp>

// Whether C functions do what an intrinsic declares. Nothing is planned, and nothing is needed but the machine and the functions.
namespace tilewright {
namespace emulation {

class intrinsic_check : part_check {
  public:
    intrinsic_check(machine const& where, int intrinsic_at, intrinsic_function does, c_functions functions)
        : part_check(where, std::move(functions)), what_(where.intrinsics[intrinsic_at]), does_(does) {
        computation_view const view = where_.view(what_.semantics);
        read_stage(view, 0, stage_);
        for (int o = 0; o < what_.operand_count; ++o) {
            operand& made = operands_.emplace_back(operand_footprint(where_, what_, o));
            for (int at = 0; at < view.count; ++at) {
                if (view[at].op == operation::access && view[at].name == what_.operands[o].tensor)
                    made.type = view[at].type, made.rank = view[at].argument_count;
            }
        }
    }
    std::string run(int tries) {
        for (int which = 0; which < tries; ++which) {
            free_pieces();
            if (std::string const wrong = check_once(which == 0); !wrong.empty()) return what_.name.str() + ": " + wrong + shape_text();
        }
        return {};
    }

  private:
    struct operand {
        explicit operand(operand_footprint what) : footprint(std::move(what)) {}
        operand_footprint footprint;
        scalar_type type{};
        int rank = 0;
        fixed_array<std::int64_t, max_rank> strides{};
        piece memory{};
    };

    std::string check_once(bool whole) {
        for (int axis = 0; axis < stage_.axis_count; ++axis) {
            std::int64_t const most = stage_.axes[axis].extent;
            bool const flexible = what_.is_flexible(axis);
            // Where a step takes any length, some are enough.
            extents_[axis] = !flexible ? most : whole ? std::min<std::int64_t>(most, 64) : between(1, std::min<std::int64_t>(most, 64));
        }
        fixed_array<void*, intrinsic_description::most_operands> addresses{};
        fixed_array<std::int64_t, intrinsic_description::most_operands * max_rank> strides{};
        ir::list<std::vector<std::byte>> wanted;
        for (int o = 0; o < what_.operand_count; ++o) {
            operand& one = operands_[o];
            one.footprint.cover(extents_.elements);
            if (what_.operands[o].in_place) continue;
            choose_strides(o);
            std::copy(begin(one.strides), end(one.strides), strides.elements + o * max_rank);
            std::int64_t const alignment =
                detail::lcm(detail::lcm(what_.address_alignment, constraint(o).alignment), one.footprint.element_bytes);
            one.memory =
                make_piece(where_.memories.find(what_.operands[o].memory_name), one.footprint.reach(one.strides.elements), alignment);
            fill(one.memory, one.type);
        }
        if (int const tied = what_.find_in_place(); tied >= 0) {
            operand &read = operands_[tied], &written = operands_[result()];
            read.strides = written.strides;
            std::copy(begin(read.strides), end(read.strides), strides.elements + tied * max_rank);
            read.memory = {written.memory.first, {}, written.memory.begin, written.memory.size, written.memory.address};
        }
        ir::list<std::vector<std::byte>> before;
        for (operand& one : operands_) before.push_back(copy_of(one.memory));
        // What should come out is made in place, and put back.
        for (int o = 0; o < what_.operand_count; ++o) addresses[o] = operands_[o].memory.first;
        does_(addresses.elements, strides.elements, extents_.elements);
        for (operand& one : operands_) wanted.push_back(copy_of(one.memory));
        for (int o = 0; o < what_.operand_count; ++o) {
            std::copy(before[o].begin(), before[o].end(), operands_[o].memory.begin);
        }
        std::string wrong = call_all(what_, [&](call_argument const& a) -> passed_value {
            switch (a.is) {
                case role::address: return {operands_[a.operand].memory.address | static_cast<std::uint64_t>(a.value)};
                case role::stride: return in_units(stride_of(a.operand, a.dimension), a);
                case role::covered: return {static_cast<std::uint64_t>(extents_[a.dimension])};
                case role::value: {
                    operand const& one = operands_[a.operand];
                    return {static_cast<std::uint64_t>(argument_of(one.type, one.memory.first))};
                }
                default: return {static_cast<std::uint64_t>(a.value)};
            }
        });
        for (int o = 0; o < what_.operand_count && wrong.empty(); ++o) {
            if (!what_.operands[o].in_place) wrong = difference(o, wanted[o]);
        }
        return wrong;
    }
    std::int64_t stride_of(int o, int dimension) const {
        operand const& one = operands_[o];
        return dimension + 1 == one.rank ? 1 : one.strides[dimension];
    }
    int result() const { return what_.find(stage_.output); }
    /// What is asked of an operand; of the result, with what is asked of the one that it overwrites.
    operand_constraint constraint(int o) const {
        operand_constraint all = what_.operands[o];
        int const tied = what_.find_in_place();
        if (tied < 0 || o != result()) return all;
        operand_constraint const& read = what_.operands[tied];
        all.alignment = detail::lcm(all.alignment, read.alignment),
        all.stride_multiple = detail::lcm(all.stride_multiple, read.stride_multiple);
        bool const shorter = read.longest_stride > 0 && (all.longest_stride == 0 || read.longest_stride < all.longest_stride);
        if (shorter) all.longest_stride = read.longest_stride;
        return all;
    }
    /// Rows as far apart as they are long, or a little further.
    void choose_strides(int o) {
        operand& one = operands_[o];
        fixed_array<std::int64_t, max_rank> reached{};
        for (auto const& run : one.footprint.runs()) {
            for (int d = 0; d < one.rank; ++d) reached[d] = std::max(reached[d], run.first[d] + (d + 1 == one.rank ? run.count : 1));
        }
        one.strides = {};
        std::int64_t length = 1;
        for (int d = one.rank - 1; d >= 0; --d) {
            std::int64_t stride = 1;
            if (d + 1 < one.rank) {
                operand_constraint const declared = constraint(o);
                std::int64_t unit = detail::lcm(what_.stride_alignment, declared.stride_multiple);
                each_call(where_, what_, [&](device_call const& call) {
                    for (int which = 0; which < call.count; ++which) {
                        call_argument const& a = call.arguments[which];
                        bool const mine = a.operand == o || (a.operand == what_.find_in_place() && o == result());
                        if (a.is == role::stride && mine && a.dimension == d && a.value > 1) unit = detail::lcm(unit, a.value);
                    }
                });
                std::int64_t const least = (length + unit - 1) / unit * unit;
                stride = least + (detail::takes_gaps(where_, what_, o, d) ? between(0, 3) : 0) * unit;
                if (declared.longest_stride > 0 && stride > declared.longest_stride) stride = least;
            }
            one.strides[d] = stride;
            length = stride * reached[d];
        }
    }
    std::string difference(int o, std::vector<std::byte> const& wanted) {
        operand& one = operands_[o];
        std::int64_t const at = first_difference(one.memory, wanted);
        if (at < 0) return {};
        std::int64_t const behind = at - (one.memory.first - one.memory.begin), size = one.footprint.element_bytes;
        std::string const name = what_.operands[o].tensor.str();
        for (auto const& run : one.footprint.runs()) {
            std::int64_t const first = one.footprint.byte_offset(run, one.strides.elements);
            if (behind < first || behind >= first + run.count * size) continue;
            std::int64_t const element = (behind - first) / size;
            std::string index;
            for (int d = 0; d < one.rank; ++d)
                index += (d > 0 ? ", " : "") + std::to_string(run.first[d] + (d + 1 == one.rank ? element : 0));
            std::byte const* const is = one.memory.first + first + element * size;
            std::byte const* const should = wanted.data() + (is - one.memory.begin);
            return name + "[" + index + "] is " + text_of(one.type, is) + " and should be " + text_of(one.type, should);
        }
        return "byte " + std::to_string(behind) + " from the beginning of " + name + " is overwritten, where no element of it lies";
    }
    std::string shape_text() const {
        std::string text;
        for (int axis = 0; axis < stage_.axis_count; ++axis) text += (axis == 0 ? " (extents " : " x ") + std::to_string(extents_[axis]);
        for (int o = 0; o < what_.operand_count; ++o) {
            for (int d = 0; d + 1 < operands_[o].rank; ++d)
                text += "; stride " + std::to_string(d) + " of " + what_.operands[o].tensor.str() + " " + std::to_string(stride_of(o, d));
        }
        return text + ")";
    }

    intrinsic_description const& what_;
    intrinsic_function does_;
    ir::stage stage_{};
    ir::list<operand> operands_;
    extent_list extents_{};
};

}  // namespace emulation

/// Compares the C functions of an intrinsic with what it declares: random operands and strides, extents where it takes up to so many; bytes
/// around and between the operands must stay. Bits are compared, so sums of floating point have to be made in the declared order.
/// @return the first difference in words; empty when there is none
/// @throws std::invalid_argument when a function is missing, or the machine has no such part
template <auto const& Machine>
std::string check_intrinsic(intrinsic const& what, c_functions functions, int tries = 50) {
    int const at = Machine.intrinsics.find(what.name);
    if (at < 0) throw std::invalid_argument("the machine has no intrinsic `" + what.name.str() + "`");
    return emulation::intrinsic_check(Machine, at, semantics_of<Machine>.intrinsics[at], std::move(functions)).run(tries);
}

}  // namespace tilewright
