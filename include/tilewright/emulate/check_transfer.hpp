#pragma once
#include <stdexcept>
#include <tilewright/base/divisors.hpp>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/c_functions.hpp>
#include <tilewright/emulate/transfer_job.hpp>
#include <tilewright/machine/call_limits.hpp>

// Whether C functions do what a transfer declares.
namespace tilewright {
namespace emulation {

class transfer_check : part_check {
  public:
    transfer_check(machine const& where, int transfer_at, semantics_table const& semantics, c_functions functions)
        : part_check(where, std::move(functions)),
          what_(where.transfers[transfer_at]),
          does_(semantics.transfers[transfer_at]),
          limits_(detail::limits_of(where_, what_)),
          dimensions_(what_.most_dimensions - 1) {
        read_types();
        find_steps();
    }
    std::string run(int tries) {
        for (int which = 0; which < tries; ++which) {
            free_pieces();
            if (std::string const wrong = check_once(); !wrong.empty()) return what_.name.str() + ": " + wrong;
        }
        return {};
    }

  private:
    /// What a transfer reads, or what it writes.
    struct side {
        int memory = -1;
        scalar_type type = scalar_type::uint8;
        std::int64_t size = 1;   ///< bytes of an element; 0: nothing is read
        std::int64_t step = 1;   ///< of addresses and strides
        std::int64_t reach = 0;  ///< bytes of what the call touches
        piece at{};
    };

    void read_types() {
        if (does_ == nullptr) return;
        computation_view const view = where_.view(what_.semantics);
        ir::stage s;
        read_stage(view, 0, s);
        to_.type = s.type, reads_ = false;
        for (int node = s.target + 1; node < s.store; ++node) {
            if (view[node].op == operation::access) from_.type = view[node].type, reads_ = true;
        }
        to_.size = bytes_of(to_.type), from_.size = reads_ ? bytes_of(from_.type) : 0;
    }
    /// Rows are whole granules; strides whole steps of what they must be multiples of.
    void find_steps() {
        std::int64_t granule = what_.row_granularity;
        each_call(where_, what_, [&](device_call const& call) {
            for (int which = 0; which < call.count; ++which) {
                call_argument const& a = call.arguments[which];
                if (a.value > 1 && (a.is == role::bytes || a.is == role::row_bytes)) granule = detail::lcm(granule, a.value);
            }
        });
        granule_ = detail::lcm(granule, to_.size) / to_.size;
        from_.memory = where_.memories.find(what_.source), to_.memory = where_.memories.find(what_.destination);
        for (side* one : {&from_, &to_}) {
            memory const& m = where_.memories[one->memory];
            one->step = m.is_numbered() ? detail::lcm(what_.address_alignment, m.address_unit) : what_.address_alignment;
        }
    }

    std::string check_once() {
        draw_shape();
        draw_border();
        if (reads_) from_.at = make_piece_for(from_), fill(from_.at, from_.type);
        to_.at = make_piece_for(to_);
        std::vector<std::byte> const before = copy_of(to_.at), read = reads_ ? copy_of(from_.at) : std::vector<std::byte>();
        transfer_job job(does_, call());
        if (what_.border.is) job.write_border(call().border());
        job.finish();
        std::vector<std::byte> const wanted = copy_of(to_.at);
        std::copy(before.begin(), before.end(), to_.at.begin);
        std::string wrong = call_all(what_, [&](call_argument const& a) { return passed(a, job.bytes()); });
        if (!wrong.empty()) return wrong;
        if (reads_ && first_difference(from_.at, read) >= 0) return "the source is overwritten" + shape_text();
        std::int64_t const at = first_difference(to_.at, wanted);
        return at < 0 ? std::string() : difference_text(job, at) + shape_text();
    }
    piece make_piece_for(side const& one) { return make_piece(one.memory, one.reach, detail::lcm(what_.address_alignment, one.size)); }
    /// The call that was drawn.
    transfer_call call() const { return {from_.at.first, to_.at.first, shape_.elements}; }

    void draw_shape() {
        std::int64_t const longest =
            what_.largest_row_bytes > 0 ? std::max<std::int64_t>(what_.largest_row_bytes / to_.size / granule_, 1) : 40;
        std::int64_t const row = granule_ * between(1, std::min<std::int64_t>(longest, 40));
        shape_ = {row, to_.size, from_.size, dimensions_, -1, -1, -1};
        from_.reach = row * from_.size, to_.reach = row * to_.size;
        int deduced = limits_.deduced;
        for (int dimension = 1; dimension <= dimensions_; ++dimension) {
            std::int64_t* const one = shape_.elements + transfer_call::along_at(dimensions_, dimension);
            std::int64_t const most = limits_.extent(dimension);
            bool const has_extent = limits_.tells(dimension) || deduced-- > 0;
            one[0] = has_extent ? between(1, most > 0 ? std::min<std::int64_t>(most, 6) : 6) : 1;
            one[1] = reads_ ? next_stride(limits_.strides(true, dimension), from_) : 0;
            one[2] = next_stride(limits_.strides(false, dimension), to_);
            if ((reads_ && one[1] == 0) || one[2] == 0) one[0] = 1;
            from_.reach += (one[0] - 1) * one[1], to_.reach += (one[0] - 1) * one[2];
        }
    }
    /// A stride that the side takes after what it covers so far, or 0.
    std::int64_t next_stride(stride_limits const& taken, side const& of) {
        std::int64_t const step = detail::lcm(detail::lcm(of.step, std::max<std::int64_t>(of.size, 1)), taken.unit());
        std::int64_t const least = (of.reach + step - 1) / step * step;
        if (taken.none) return least == of.reach ? of.reach : 0;
        if (taken.exactly > 0) return taken.exactly >= of.reach && taken.exactly % step == 0 ? taken.exactly : 0;
        std::int64_t const drawn = least + between(0, 2) * step;
        return taken.most == 0 || drawn <= taken.most ? drawn : least <= taken.most ? least : 0;
    }
    /// What follows a dimension without a stride follows what is read of it: that has no border.
    void draw_border() {
        shape_[transfer_call::border_at(dimensions_)] = what_.border.any_value ? between(0, 255) : what_.border.value;
        bool follows = false;
        for (int dimension = dimensions_; dimension >= 0 && what_.border.is; --dimension) {
            std::int64_t left = call().extent(dimension) - 1;
            std::int64_t* const ends = shape_.elements + transfer_call::pads_at(dimensions_, dimension);
            for (int end = 0; end < 2 && !follows; ++end) {
                if (!limits_.pads(dimension, end == 0 ? 1 : 2)) continue;
                ends[end] = between(0, limits_.longest_pad > 0 ? std::min(left, limits_.longest_pad) : left);
                left -= ends[end];
            }
            follows |= dimension > 0 && limits_.strides(true, dimension).none;
        }
    }

    /// What the functions are given for an argument of the call. @param bytes of all rows
    passed_value passed(call_argument const& a, std::int64_t bytes) const {
        transfer_call const made = call();
        bool const present = a.dimension >= 1 && a.dimension <= dimensions_;
        switch (a.is) {
            case role::source: return {reads_ ? from_.at.address | static_cast<std::uint64_t>(a.value) : 0};
            case role::destination: return {to_.at.address | static_cast<std::uint64_t>(a.value)};
            case role::bytes: return in_units(bytes, a);
            case role::row_bytes: return in_units(made.row_bytes(), a);
            case role::element_bytes: return {static_cast<std::uint64_t>(made.destination_size())};
            case role::extent: return {static_cast<std::uint64_t>(a.dimension == 0 || present ? made.extent(a.dimension) : 1)};
            case role::source_stride: return in_units(present ? made.source_stride(a.dimension) : 0, a);
            case role::destination_stride: return in_units(present ? made.destination_stride(a.dimension) : 0, a);
            case role::pad_before:
            case role::pad_after: {
                if (a.dimension > dimensions_) return {0};
                return {static_cast<std::uint64_t>(made.pads(a.dimension)[a.is == role::pad_after ? 1 : 0])};
            }
            case role::cores: return {1};  // on trial, the core that calls is the only one
            case role::pad_value: return {static_cast<std::uint64_t>(made.border()[0])};
            case role::tag:
            case role::channel: return {0};
            default: return {static_cast<std::uint64_t>(a.value)};
        }
    }
    std::string shape_text() const {
        transfer_call const made = call();
        std::string shape = " (" + std::to_string(made.row()) + " elements in a row";
        for (int dimension = 1; dimension <= dimensions_; ++dimension)
            shape += ", " + std::to_string(made.extent(dimension)) + " at strides " + std::to_string(made.source_stride(dimension)) +
                     " and " + std::to_string(made.destination_stride(dimension));
        for (int dimension = 0; dimension <= dimensions_ && what_.border.is; ++dimension) {
            std::int64_t const* const ends = made.pads(dimension);
            shape += ", a border of " + std::to_string(ends[0]) + " and " + std::to_string(ends[1]) + " in dimension " +
                     std::to_string(dimension);
        }
        return shape + ")";
    }
    /// @param at the first byte of the destination's piece that is wrong
    std::string difference_text(transfer_job const& job, std::int64_t at) const {
        std::int64_t const behind = at - (to_.at.first - to_.at.begin);
        bool moved = false;
        for (byte_range const& range : job.writes()) {
            auto const address = reinterpret_cast<std::uintptr_t>(to_.at.begin + at);
            moved |= address >= range.begin && address < range.end;
        }
        return "byte " + std::to_string(behind) + " of the destination " +
               (moved ? "is not what it should be" : "is overwritten, where no row lies");
    }

    transfer_description const& what_;
    transfer_function does_;
    detail::call_limits limits_;
    int dimensions_;  ///< besides the row
    bool reads_ = true;
    side from_, to_;
    std::int64_t granule_ = 1;  ///< elements
    fixed_array<std::int64_t, transfer_call::end_at(max_rank, true)> shape_{};
};

}  // namespace emulation

/// Compares the C functions of a transfer with what it declares: random contents, extents and strides; bytes around and between rows must
/// stay. What is asynchronous must be complete when its call returns.
template <auto const& Machine>
std::string check_transfer(transfer const& what, c_functions functions, int tries = 50) {
    int const at = Machine.transfers.find(what.name);
    if (at < 0) throw std::invalid_argument("the machine has no transfer `" + what.name.str() + "`");
    return emulation::transfer_check(Machine, at, semantics_of<Machine>, std::move(functions)).run(tries);
}

}  // namespace tilewright
