#pragma once
#include <set>
#include <tilewright/bring_up/room.hpp>
#include <tilewright/emulate/operands.hpp>
#include <utility>

// The cases of an intrinsic: every extent, stride and alignment that it takes, one at a time, and values up to the ends of the types.
namespace tilewright::bring_up {

class intrinsic_cases {
  public:
    intrinsic_cases(machine const& where, memory_ways const& ways, int intrinsic_at, int part, std::int64_t largest)
        : where_(where), ways_(ways), i_(where.intrinsics[intrinsic_at]), part_(part), largest_(largest) {
        computation_view const view = where.view(i_.semantics);
        read_stage(view, 0, stage_);
        about_ = {false, intrinsic_at, i_.name.str(), {}, {}};
        for (int o = 0; o < i_.operand_count; ++o) {
            operand_constraint const& declared = i_.operands[o];
            footprints_.emplace_back(where, i_, o);
            operand_side side{declared.tensor.str(), memory_under(where, declared.memory_name), where.memories.find(declared.memory_name)};
            side.by_value = passes_values(where, declared.memory_name);
            side.reads = footprints_.back().reads, side.writes = footprints_.back().writes;
            for (int at = 0; at < view.count; ++at) {
                if (view[at].op == operation::access && view[at].name == declared.tensor)
                    side.type = view[at].type, side.rank = view[at].argument_count;
            }
            side.element = bytes_of(side.type);
            side.in_place = declared.in_place;
            about_.sides.push_back(side);
        }
        // What the result overwrites in place has the result's window.
        if (int const tied = i_.find_in_place(); tied >= 0) about_.sides[static_cast<std::size_t>(result())].reads = true;
        about_.choose_small();
    }
    tested_part const& part() const { return about_; }

    std::vector<test_case> make() {
        shape const whole = at_most(most_extents());
        add(whole, "");
        extents();
        strides(whole);
        alignments(whole);
        shape last = whole;
        last.at_end = true;
        add(last, "at the end of the memories");
        values(whole);
        return std::move(cases_);
    }

  private:
    struct shape {
        std::array<std::int64_t, ir::stage::most_axes> extents{};
        /// Of each operand: how many units its rows, planes, … lie further apart than they need; and its first element further in.
        std::vector<std::array<std::int64_t, max_rank>> gaps{};
        std::vector<std::int64_t> skews{};
        bool at_end = false;
    };
    int result() const { return i_.find(stage_.output); }
    static constexpr std::int64_t furthest = -1;
    /// Elements of a call that are tried of an axis of any length, and products of all axes.
    static constexpr std::int64_t most_along = 4096, most_steps = 1 << 19;

    shape at_most(std::array<std::int64_t, ir::stage::most_axes> const& extents) const {
        shape made;
        made.extents = extents;
        made.gaps.resize(about_.sides.size());
        made.skews.resize(about_.sides.size());
        return made;
    }
    /// As much as there is of each axis, as far as windows and time reach.
    std::array<std::int64_t, ir::stage::most_axes> most_extents() {
        std::array<std::int64_t, ir::stage::most_axes> made{};
        for (int axis = 0; axis < stage_.axis_count; ++axis) made[static_cast<std::size_t>(axis)] = stage_.axes[axis].extent;
        auto const cut = [&](std::int64_t most) {
            for (int axis = 0; axis < stage_.axis_count; ++axis) {
                std::int64_t& extent = made[static_cast<std::size_t>(axis)];
                if (!i_.is_flexible(axis) || extent <= most) continue;
                leave_out("extents of " + stage_.axes[axis].name.str() + " beyond " + std::to_string(most) +
                          ": larger than a window, or long");
                extent = most;
            }
        };
        for (std::int64_t most = most_along; most >= 1 && !fits(at_most(made)); most /= 2) cut(most);
        return made;
    }
    bool fits(shape const& s) {
        double steps = 1;
        for (int axis = 0; axis < stage_.axis_count; ++axis) steps *= static_cast<double>(s.extents[static_cast<std::size_t>(axis)]);
        test_call unused;
        return steps <= static_cast<double>(most_steps) && take_call(s, unused);
    }

    void extents() {
        std::array<std::int64_t, ir::stage::most_axes> const whole = most_extents();
        std::array<std::int64_t, ir::stage::most_axes> ones = whole, odd = whole;
        bool any = false;
        for (int axis = 0; axis < stage_.axis_count; ++axis) {
            if (!i_.is_flexible(axis)) continue;
            any = true;
            std::size_t const at = static_cast<std::size_t>(axis);
            ones[at] = 1, odd[at] = std::max<std::int64_t>(1, (whole[at] - 1) | 1);
            if (odd[at] >= whole[at]) odd[at] = std::max<std::int64_t>(1, whole[at] - 1);
            for (std::int64_t const extent :
                 {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{5}, std::int64_t{7}, std::int64_t{8},
                  std::int64_t{15}, std::int64_t{16}, std::int64_t{17}, whole[at] - 1}) {
                if (extent < 1 || extent >= whole[at]) continue;
                std::array<std::int64_t, ir::stage::most_axes> some = whole;
                some[at] = extent;
                add(at_most(some), std::to_string(extent) + " of " + stage_.axes[axis].name.str());
            }
        }
        if (!any) return;
        add(at_most(ones), "one of each axis");
        add(at_most(odd), "not all of each axis");
    }
    void strides(shape const& whole) {
        for (std::size_t o = 0; o < about_.sides.size(); ++o) {
            if (i_.operands[static_cast<int>(o)].in_place) continue;
            for (int d = 0; d + 1 < about_.sides[o].rank; ++d) {
                if (!detail::takes_gaps(where_, i_, static_cast<int>(o), d)) continue;
                for (std::int64_t const gap : {std::int64_t{1}, std::int64_t{3}, furthest}) {
                    shape s = whole;
                    s.gaps[o][static_cast<std::size_t>(d)] = gap;
                    add(s, "gaps in dimension " + std::to_string(d) + " of " + about_.sides[o].name);
                }
            }
        }
        shape all = whole;
        for (auto& gaps : all.gaps) gaps.fill(1);
        add(all, "gaps in all operands");
    }
    void alignments(shape const& whole) {
        for (std::size_t o = 0; o < about_.sides.size(); ++o) {
            if (about_.sides[o].by_value || i_.operands[static_cast<int>(o)].in_place) continue;
            for (std::int64_t const steps : {1, 2, 3}) {
                shape s = whole;
                s.skews[o] = steps * step(static_cast<int>(o));
                add(s, about_.sides[o].name + " " + std::to_string(s.skews[o]) + " bytes further");
            }
        }
    }
    void values(shape const& whole) {
        std::vector<unsigned> wide;  // a bit for each window that may be small
        for (std::size_t o = 0; o < about_.sides.size(); ++o) {
            if (about_.sides[o].may_be_small) wide.push_back(1u << o);
        }
        for (int kind = 0; kind < pattern_count; ++kind) {
            for (unsigned chosen = 0; chosen < 1u << wide.size(); ++chosen) {
                unsigned tiny = 0;
                for (std::size_t at = 0; at < wide.size(); ++at) tiny |= (chosen >> at & 1) != 0 ? wide[at] : 0;
                auto const as = static_cast<pattern>(kind);
                if (chosen == 0 || as == pattern::mixed || as == pattern::large) add(whole, "", as, tiny);
            }
        }
    }

    /// What is asked of an operand; of the result, with what is asked of the one that it overwrites.
    operand_constraint constraint(int o) const {
        operand_constraint all = i_.operands[o];
        int const tied = i_.find_in_place();
        if (tied < 0 || o != result()) return all;
        operand_constraint const& read = i_.operands[tied];
        all.alignment = detail::lcm(all.alignment, read.alignment);
        all.stride_multiple = detail::lcm(all.stride_multiple, read.stride_multiple);
        if (read.longest_stride > 0 && (all.longest_stride == 0 || read.longest_stride < all.longest_stride))
            all.longest_stride = read.longest_stride;
        return all;
    }
    std::int64_t step(int o) const {
        operand_side const& side = about_.sides[static_cast<std::size_t>(o)];
        return detail::lcm(address_step(where_.memories[side.seen], detail::lcm(i_.address_alignment, constraint(o).alignment)),
                           side.element);
    }
    /// Elements that strides of a dimension are multiples of.
    std::int64_t stride_unit(int o, int dimension) const {
        std::int64_t unit = detail::lcm(i_.stride_alignment, constraint(o).stride_multiple);
        each_call(where_, i_, [&](device_call const& call) {
            for (int at = 0; at < call.count; ++at) {
                call_argument const& a = call.arguments[at];
                bool const mine = a.operand == o || (a.operand == i_.find_in_place() && o == result());
                if (a.is == role::stride && mine && a.dimension == dimension && a.value > 1) unit = detail::lcm(unit, a.value);
            }
        });
        return unit;
    }
    /// The strides of an operand, outermost first. @return whether it can have such
    bool set_strides(shape const& s, int o, std::array<std::int64_t, max_rank>& strides) {
        operand_side const& side = about_.sides[static_cast<std::size_t>(o)];
        std::array<std::int64_t, max_rank> reached{};
        for (auto const& run : footprints_[static_cast<std::size_t>(o)].runs()) {
            for (int d = 0; d < side.rank; ++d) {
                std::int64_t& most = reached[static_cast<std::size_t>(d)];
                most = std::max(most, run.first[d] + (d + 1 == side.rank ? run.count : 1));
            }
        }
        std::int64_t length = 1;
        std::int64_t const longest = constraint(o).longest_stride;
        for (int d = side.rank - 1; d >= 0; --d) {
            std::size_t const at = static_cast<std::size_t>(d);
            strides[at] = 1;
            if (d + 1 < side.rank) {
                std::int64_t const unit = stride_unit(o, d), least = room::rounded(length, unit),
                                   gap = detail::takes_gaps(where_, i_, o, d) ? s.gaps[static_cast<std::size_t>(o)][at] : 0;
                strides[at] = gap != furthest ? least + gap * unit : longest > 0 ? longest / unit * unit : least + 9 * unit;
                if (longest > 0 && strides[at] > longest) return false;
            }
            length = strides[at] * reached[at];
        }
        return true;
    }
    bool take_call(shape const& s, test_call& made) {
        room in(where_, ways_, largest_);
        made.windows.assign(about_.sides.size(), {});
        made.numbers.assign(s.extents.begin(), s.extents.begin() + stage_.axis_count);
        int const tied = i_.find_in_place();
        std::array<std::int64_t, max_rank> of_result{};
        auto const take = [&](int o) {
            std::size_t const at = static_cast<std::size_t>(o);
            operand_side const& side = about_.sides[at];
            std::array<std::int64_t, max_rank> strides{};
            footprints_[at].cover(s.extents.data());
            if (o != tied && !set_strides(s, o, strides)) return false;
            if (o == tied) strides = of_result;
            if (o == result()) of_result = strides;
            for (int d = 0; d + 1 < side.rank; ++d) made.numbers.push_back(strides[static_cast<std::size_t>(d)]);
            if (o == tied) return true;
            return in.take(side.memory, footprints_[at].reach(strides.data()), s.skews[at], s.at_end && o == result(), step(o),
                           made.windows[at]) ||
                   (s.at_end && in.take(side.memory, footprints_[at].reach(strides.data()), s.skews[at], false, step(o), made.windows[at]));
        };
        if (tied >= 0) {
            // Its strides are those of the result, which stand at the result's own place.
            footprints_[static_cast<std::size_t>(result())].cover(s.extents.data());
            if (!set_strides(s, result(), of_result)) return false;
        }
        bool all = true;
        for (int o = 0; o < i_.operand_count; ++o) all = all && take(o);
        if (all && tied >= 0) made.windows[static_cast<std::size_t>(tied)] = made.windows[static_cast<std::size_t>(result())];
        return all;
    }
    void add(shape const& s, std::string const& text, pattern values = pattern::mixed, unsigned tiny = 0) {
        test_case made{part_, values, tiny, {}, text};
        test_call& call = made.calls.emplace_back();
        if (!take_call(s, call)) return;
        if (!call.is_short()) return leave_out(text + ": numbers of more than 32 bits");
        std::string key = std::to_string(static_cast<int>(values)) + " " + std::to_string(tiny);
        for (std::int64_t number : call.numbers) key += " " + std::to_string(number);
        for (window const& w : call.windows) key += " " + std::to_string(w.first) + (s.at_end ? " end" : "");
        if (known_.insert(key).second) cases_.push_back(std::move(made));
    }
    void leave_out(std::string const& what) {
        if (std::find(about_.left_out.begin(), about_.left_out.end(), what) == about_.left_out.end()) about_.left_out.push_back(what);
    }

    machine const& where_;
    memory_ways const& ways_;
    intrinsic_description const& i_;
    int part_;
    std::int64_t largest_;
    ir::stage stage_{};
    tested_part about_;
    std::vector<emulation::operand_footprint> footprints_;
    std::vector<test_case> cases_;
    std::set<std::string> known_;
};

}  // namespace tilewright::bring_up
