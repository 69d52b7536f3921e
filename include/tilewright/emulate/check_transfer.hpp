#pragma once
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
          at_(static_cast<std::size_t>(transfer_at)),
          semantics_(semantics) {}
    std::string run(int tries) {
        for (int which = 0; which < tries; ++which) {
            free_pieces();
            if (std::string const wrong = check_once(); !wrong.empty()) return what_.name.str() + ": " + wrong;
        }
        return {};
    }

  private:
    std::string check_once() {
        scalar_type type = scalar_type::uint8, source_type = scalar_type::uint8;
        bool reads = true;
        if (semantics_.transfers[at_] != nullptr) {
            computation_view const view = where_.view(what_.semantics);
            stage s;
            read_stage(view, 0, s);
            type = s.type, reads = false;
            for (int node = s.target + 1; node < s.store; ++node) {
                if (view[node].op == operation::access) source_type = view[node].type, reads = true;
            }
        }
        std::int64_t const to_size = bytes_of(type), from_size = reads ? bytes_of(source_type) : 0;
        // Rows are whole granules; strides whole steps of what they must be multiples of.
        detail::call_limits const limits = detail::limits_of(where_, what_);
        std::int64_t granule = what_.row_granularity, to_step = what_.address_alignment, from_step = what_.address_alignment;
        auto const whole_units = [&](call_argument const& a) {
            if (a.value > 1 && (a.is == role::bytes || a.is == role::row_bytes)) granule = std::lcm(granule, a.value);
        };
        each_call(where_, what_, [&](device_call const& call) {
            for (int which = 0; which < call.count; ++which) whole_units(call.arguments[which]);
        });
        int const from = where_.memories.find(what_.source), to = where_.memories.find(what_.destination);
        if (where_.memories[from].is_numbered()) from_step = std::lcm(from_step, where_.memories[from].address_unit);
        if (where_.memories[to].is_numbered()) to_step = std::lcm(to_step, where_.memories[to].address_unit);
        granule = std::lcm(granule, to_size) / to_size;
        std::int64_t const longest =
            what_.largest_row_bytes > 0 ? std::max<std::int64_t>(what_.largest_row_bytes / to_size / granule, 1) : 40;
        std::int64_t const row = granule * between(1, std::min<std::int64_t>(longest, 40));
        int const count = what_.most_dimensions - 1;
        std::array<std::int64_t, 3 * max_rank> along{};
        std::int64_t from_reach = row * from_size, to_reach = row * to_size;
        // A stride that the side takes, or 0.
        auto const next_stride = [&](stride_limits const& taken, std::int64_t reach, std::int64_t size, std::int64_t step) -> std::int64_t {
            step = std::lcm(std::lcm(step, std::max<std::int64_t>(size, 1)), taken.multiple);
            std::int64_t const least = (reach + step - 1) / step * step;
            if (taken.none) return least == reach ? reach : 0;
            if (taken.exactly > 0) return taken.exactly >= reach && taken.exactly % step == 0 ? taken.exactly : 0;
            std::int64_t const drawn = least + between(0, 2) * step;
            return taken.most == 0 || drawn <= taken.most ? drawn : least <= taken.most ? least : 0;
        };
        int deduced = limits.deduced;
        for (int d = count - 1; d >= 0; --d) {
            std::int64_t* const one = along.data() + 3 * d;
            int const dimension = count - d;
            std::int64_t const most = limits.extent(dimension);
            bool const has_extent = limits.tells(dimension) || deduced-- > 0;
            one[0] = has_extent ? between(1, most > 0 ? std::min<std::int64_t>(most, 6) : 6) : 1;
            one[1] = reads ? next_stride(limits.strides(true, dimension), from_reach, from_size, from_step) : 0;
            one[2] = next_stride(limits.strides(false, dimension), to_reach, to_size, to_step);
            if ((reads && one[1] == 0) || one[2] == 0) one[0] = 1;
            from_reach += (one[0] - 1) * one[1], to_reach += (one[0] - 1) * one[2];
        }
        // The value, then the border in front and behind of the row and of each dimension, outermost first. What follows a dimension
        // without a stride follows what is read of it: that has no border.
        std::array<std::int64_t, 3 + 2 * max_rank> pads{what_.border.any_value ? between(0, 255) : what_.border.value};
        bool follows = false;
        for (int dimension = count; dimension >= 0 && what_.border.is; --dimension) {
            std::int64_t left = (dimension == 0 ? row : along[3 * (count - dimension)]) - 1;
            std::int64_t* const ends = pads.data() + 1 + (dimension == 0 ? 0 : 2 * (count - dimension + 1));
            for (int end = 0; end < 2 && !follows; ++end) {
                if (!limits.pads(dimension, end == 0 ? 1 : 2)) continue;
                ends[end] = between(0, limits.longest_pad > 0 ? std::min(left, limits.longest_pad) : left);
                left -= ends[end];
            }
            follows |= dimension > 0 && limits.strides(true, dimension).none;
        }
        piece source, destination;
        if (reads) source = make_piece(from, from_reach, std::lcm(what_.address_alignment, from_size)), fill(source, source_type);
        destination = make_piece(to, to_reach, std::lcm(what_.address_alignment, to_size));
        std::vector<std::byte> const before = copy_of(destination), read = reads ? copy_of(source) : std::vector<std::byte>();
        transfer_job job(semantics_.transfers[at_], source.first, destination.first, row, to_size, from_size, count, along.data());
        if (what_.border.is) job.write_border(pads.data());
        job.finish();
        std::vector<std::byte> const wanted = copy_of(destination);
        std::copy(before.begin(), before.end(), destination.begin);
        std::string wrong = call_all(what_, [&](call_argument const& a) -> passed_value {
            std::int64_t const* const one = a.dimension >= 1 && a.dimension <= count ? along.data() + 3 * (count - a.dimension) : nullptr;
            switch (a.is) {
                case role::source: return {reads ? source.address | static_cast<std::uint64_t>(a.value) : 0};
                case role::destination: return {destination.address | static_cast<std::uint64_t>(a.value)};
                case role::bytes: return in_units(job.bytes(), a);
                case role::row_bytes: return in_units(row * to_size, a);
                case role::extent: return {static_cast<std::uint64_t>(a.dimension == 0 ? row : one != nullptr ? one[0] : 1)};
                case role::source_stride: return in_units(one != nullptr ? one[1] : 0, a);
                case role::destination_stride: return in_units(one != nullptr ? one[2] : 0, a);
                case role::pad_before:
                case role::pad_after: {
                    if (a.dimension > count) return {0};
                    int const at = (a.dimension == 0 ? 1 : 2 * (count - a.dimension) + 3) + (a.is == role::pad_after ? 1 : 0);
                    return {static_cast<std::uint64_t>(pads[at])};
                }
                case role::pad_value: return {static_cast<std::uint64_t>(pads[0])};
                case role::tag:
                case role::channel: return {0};
                default: return {static_cast<std::uint64_t>(a.value)};
            }
        });
        if (!wrong.empty()) return wrong;
        std::string shape = " (" + std::to_string(row) + " elements in a row";
        for (int d = count - 1; d >= 0; --d)
            shape += ", " + std::to_string(along[3 * d]) + " at strides " + std::to_string(along[3 * d + 1]) + " and " +
                     std::to_string(along[3 * d + 2]);
        for (int dimension = 0; dimension <= count && what_.border.is; ++dimension) {
            std::int64_t const* const ends = pads.data() + 1 + (dimension == 0 ? 0 : 2 * (count - dimension + 1));
            shape += ", a border of " + std::to_string(ends[0]) + " and " + std::to_string(ends[1]) + " in dimension " +
                     std::to_string(dimension);
        }
        shape += ")";
        if (reads && first_difference(source, read) >= 0) return "the source is overwritten" + shape;
        std::int64_t const at = first_difference(destination, wanted);
        if (at < 0) return {};
        std::int64_t const behind = at - (destination.first - destination.begin);
        bool moved = false;
        for (byte_range const& range : job.writes()) {
            auto const address = reinterpret_cast<std::uintptr_t>(destination.begin + at);
            moved |= address >= range.begin && address < range.end;
        }
        return "byte " + std::to_string(behind) + " of the destination " +
               (moved ? "is not what it should be" : "is overwritten, where no row lies") + shape;
    }

    transfer_description const& what_;
    std::size_t at_;
    semantics_table const& semantics_;
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
