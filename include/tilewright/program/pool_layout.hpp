#pragma once
#include <tilewright/plan/offsets.hpp>
#include <tilewright/program/order.hpp>

// Offsets of all that lives in a memory of a program: tensors and the kernels' own buffers.
namespace tilewright::detail {

constexpr int first_in_place(program_planning& p, int tensor_at) {
    while (p.tensor(tensor_at).in_place_of >= 0) tensor_at = p.tensor(tensor_at).in_place_of;
    return tensor_at;
}

constexpr std::int64_t aligned_down(std::int64_t offset, std::int64_t alignment) { return offset / alignment * alignment; }

/// How the buffers of a kernel's own are placed.
enum class scratch_style : std::uint8_t {
    /// Each by itself, alive for a part of its kernel.
    single,
    /// Those that share bytes in the kernel's plan as one piece, alive as long as the kernel runs.
    pieces,
};

/// What goes to an offset of its own: a tensor with those that take its bytes over, or buffers of a kernel.
struct pool_box {
    std::int16_t tensor = -1;  ///< the first of them; -1: buffers
    std::int64_t base = 0;     ///< of buffers: its offset in the kernel's plan
    bool piece = false;        ///< of buffers: in the banks that the kernel's plan has them in
};

/// The boxes of a memory, and where they are.
struct pool_boxes {
    constexpr pool_boxes(int most, int scratch) : what(most), place(most), box_of(scratch) {}

    work_array<pool_box> what;
    work_array<ir::placed_buffer> place;
    work_array<int> box_of;  ///< of each buffer
    int count = 0;
    ir::offset_result found{};

    constexpr ir::placed_buffer& add(pool_box const& one) {
        what.at[count] = one;
        return place.at[count++];
    }
};

/// Lays one memory of a program out: constants first, one behind the other, for they are one image; then everything else, by
/// `assign_offsets`.
///
/// Time is counted in points. A step is one, but where a kernel's buffers are placed one by one it has as many as these need; tensors are
/// alive over whole steps.
class pool_layout {
    // It stands first: clang 14 can only use a member template in the compiler that it has read already.
    /// Calls `visit(from, to, kernel)` for the buffers of each kernel here.
    template <class Visit>
    constexpr void each_kernel(Visit&& visit) {
        for (int from = 0, to = 0; from < p.plan.scratch.size(); from = to) {
            to = p.plan.scratch_end(from);
            if (scratch(from).memory == memory_at_) visit(from, to, p.kernel(scratch(from).kernel));
        }
    }

  public:
    constexpr pool_layout(program_planning& planned, int memory_position)
        : p(planned),
          memory_at_(memory_position),
          what_(planned.memory_at(memory_position).what),
          pool_(planned.plan.pools[static_cast<std::size_t>(memory_position)]) {
        pool_ = {.alignment = what_.alignment};
    }

    /// @return whether it fits
    constexpr bool lay_out(std::int64_t budget) {
        int boxes = 0;
        for (int at = 0; at < p.plan.tensors.size(); ++at) {
            if (lies_here(p.tensor(at))) boxes += take_tensor(p.tensor(at)) ? 1 : 0;
        }
        for (int at = 0; at < p.plan.scratch.size(); ++at) {
            if (scratch(at).memory != memory_at_) continue;
            pool_.used = true;
            pool_.alignment = std::lcm(pool_.alignment, scratch(at).alignment);
            ++boxes;
        }
        // Behind what is fixed, everything counts from an aligned base.
        if (boxes > 0) fixed_ = aligned_up(fixed_, pool_.alignment);
        pool_.peak = pool_.lower_bound = fixed_;
        if (boxes == 0) return pool_.peak <= what_.bank_capacity();
        // With more boxes than the budget could look at in pairs, buffers of a kernel stay together, where it has several.
        bool few = true;
        each_kernel([&](int from, int to, ir::program_kernel const&) { few &= to - from == 1; });
        few |= std::int64_t{boxes} * boxes <= budget;
        int const scratch_count = p.plan.scratch.size();
        pool_boxes best(boxes, scratch_count);
        place(best, few ? scratch_style::single : scratch_style::pieces, budget);
        pool_.lower_bound = fixed_ + best.found.lower_bound;
        if (!few) pool_.lower_bound = most_alive();
        // The kernels' plans may have arranged better what the search was not done with.
        bool const again = few && !best.found.proven && styles_differ_;
        pool_boxes other(again ? boxes : 0, scratch_count);
        if (again) place(other, scratch_style::pieces, budget);
        bool const take_other = again && other.found.peak < best.found.peak;
        apply(take_other ? other : best);
        pool_.peak = fixed_ + (take_other ? other : best).found.peak;
        pool_.proven = pool_.peak == pool_.lower_bound;
        return pool_.peak <= what_.bank_capacity();
    }

  private:
    constexpr bool lies_here(ir::program_tensor const& t) const { return t.memory == memory_at_ && !t.passed; }
    constexpr ir::program_scratch& scratch(int at) { return p.plan.scratch[static_cast<std::size_t>(at)]; }
    /// @return whether it needs a box
    constexpr bool take_tensor(ir::program_tensor& t) {
        pool_.used = true;
        pool_.alignment = std::lcm(pool_.alignment, t.alignment);
        if (t.kind != ir::tensor_kind::constant) return t.in_place_of < 0;
        t.offset = aligned_up(fixed_, t.alignment);
        pool_.constants = fixed_ = t.offset + t.bytes;
        return false;
    }

    constexpr void place(pool_boxes& boxes, scratch_style style, std::int64_t budget) {
        for (int at = 0; at < p.plan.tensors.size(); ++at) {
            if (lies_here(p.tensor(at)) && p.tensor(at).kind != ir::tensor_kind::constant && p.tensor(at).in_place_of < 0)
                add_tensor(boxes, at);
        }
        int const tensors = boxes.count, steps = p.plan.steps.size();
        work_array<char> single(p.plan.scratch.size());
        work_array<int> more(steps), points(steps + 1);  // of each step: points beyond the first, and the first
        each_kernel([&](int from, int to, ir::program_kernel const& k) {
            single.at[from] = is_single(boxes, tensors, from, style);
            if (!single.at[from]) return;
            more.at[k.first_step] = p.plan.scratch_points(from) - 1;
            styles_differ_ |= to - from > 1;
        });
        for (int at = 0; at < steps; ++at) points.at[at + 1] = points.at[at] + 1 + more.at[at];
        for (int at = 0; at < tensors; ++at) {
            ir::placed_buffer& t = boxes.place.at[at];
            t.born = points.at[t.born], t.dead = points.at[t.dead];
        }
        each_kernel([&](int from, int to, ir::program_kernel const& k) {
            for (int at = from; at < to && single.at[from]; ++at) add_buffer(boxes, at, points.at[k.first_step]);
            if (!single.at[from]) add_pieces(boxes, from, to, points.at[k.first_step], points.at[k.last_step + 1]);
        });
        std::int64_t const room = what_.bank_capacity() < fixed_ ? 0 : what_.bank_capacity() - fixed_;
        boxes.found = assign_offsets(std::span<ir::placed_buffer>(boxes.place.begin(), static_cast<std::size_t>(boxes.count)),
                                     {.capacity = room * what_.banks, .banks = what_.banks}, budget);
    }
    /// A tensor's box; its lifetime in steps.
    constexpr void add_tensor(pool_boxes& boxes, int at) {
        ir::program_tensor const& t = p.tensor(at);
        ir::placed_buffer& one = boxes.add({.tensor = static_cast<std::int16_t>(at)});
        one.bytes = t.bytes, one.alignment = t.alignment, one.born = t.born, one.dead = t.dead;
        for (int other = 0; other < p.plan.tensors.size(); ++other) {
            if (p.tensor(other).in_place_of < 0 || first_in_place(p, other) != at) continue;
            one.alignment = std::lcm(one.alignment, p.tensor(other).alignment);
            one.dead = one.dead < p.tensor(other).dead ? p.tensor(other).dead : one.dead;
        }
    }
    /// Whether the buffers of a kernel, from position `from` on, have lifetimes of their own. What begins or ends while a kernel works
    /// aside does so at an unknown time of it: then each of them is in its way all the time, and they may only share bytes as the kernel
    /// has it.
    /// @pre the boxes of tensors still count in steps
    constexpr bool is_single(pool_boxes const& boxes, int tensors, int from, scratch_style style) {
        ir::program_kernel const& k = p.kernel(scratch(from).kernel);
        if (style == scratch_style::pieces || k.keeps_sharing) return false;
        if (k.first_step == k.last_step) return true;
        bool alone = true;
        auto const check = [&](int born, int dead) {
            alone &= dead <= k.first_step || born > k.last_step || (born <= k.first_step && dead > k.last_step);
        };
        for (int at = 0; at < tensors; ++at) check(boxes.place.at[at].born, boxes.place.at[at].dead);
        each_kernel([&](int, int, ir::program_kernel const& other) { check(other.first_step, other.last_step + 1); });
        return alone;
    }
    constexpr void add_buffer(pool_boxes& boxes, int at, int first_point) {
        ir::program_scratch const& s = scratch(at);
        boxes.box_of.at[at] = boxes.count;
        ir::placed_buffer& one = boxes.add({.base = s.offset});
        one.bytes = s.bytes_in_bank, one.alignment = s.alignment;
        one.born = first_point + s.born, one.dead = first_point + s.dead;
        one.bank_count = s.bank_count;
        if (what_.banks > 1 && !s.any_bank) one.bank = s.bank;
    }
    /// Pieces of what the kernel's plan has laid out: they go from one byte that none of its buffers goes across to the next. In a memory
    /// of several banks it is one, over all of them.
    constexpr void add_pieces(pool_boxes& boxes, int from, int to, int born, int dead) {
        std::int64_t alignment = 1;
        for (int at = from; at < to; ++at) alignment = std::lcm(alignment, scratch(at).alignment);
        for (std::int64_t done = 0;;) {
            std::int64_t base = no_offset;
            for (int at = from; at < to; ++at) {
                if (scratch(at).offset >= done && scratch(at).offset < base) base = scratch(at).offset;
            }
            if (base == no_offset) return;
            base = what_.banks > 1 ? 0 : aligned_down(base, alignment);
            std::int64_t end = base + 1;
            for (int at = from; at < to; ++at) {
                ir::program_scratch const& s = scratch(at);
                bool const joins = what_.banks > 1 || (s.offset >= base && aligned_down(s.offset, alignment) < end);
                if (!joins || s.offset + s.bytes_in_bank <= end) continue;
                end = s.offset + s.bytes_in_bank;
                at = from - 1;  // what was passed may join now
            }
            for (int at = from; at < to; ++at) {
                if (scratch(at).offset >= base && scratch(at).offset < end) boxes.box_of.at[at] = boxes.count;
            }
            ir::placed_buffer& one = boxes.add({.base = base, .piece = true});
            one.bytes = end - base, one.alignment = alignment, one.born = born, one.dead = dead;
            one.bank_count = what_.banks;
            done = end;
        }
    }
    /// Bytes that are alive at one time, from the base, or of the fullest bank.
    constexpr std::int64_t most_alive() {
        std::int64_t most = 0;
        for (int at = 0; at < p.plan.steps.size(); ++at) {
            std::int64_t const here = p.plan.live_bytes(memory_at_, at);
            most = most < here ? here : most;
        }
        return (most + what_.banks - 1) / what_.banks;
    }

    constexpr void apply(pool_boxes const& boxes) {
        for (int at = 0; at < boxes.count; ++at) {
            pool_box const& box = boxes.what.at[at];
            ir::placed_buffer const& place = boxes.place.at[at];
            std::int64_t const offset = fixed_ + place.offset;
            for (int t = 0; t < p.plan.tensors.size() && box.tensor >= 0; ++t) {
                if (!lies_here(p.tensor(t)) || first_in_place(p, t) != box.tensor) continue;
                p.tensor(t).offset = offset;
                p.tensor(t).bank = static_cast<std::int16_t>(place.bank);
            }
        }
        each_kernel([&](int from, int to, ir::program_kernel const&) {
            for (int at = from; at < to; ++at) {
                ir::program_scratch& s = scratch(at);
                int const box = boxes.box_of.at[at];
                s.offset += fixed_ + boxes.place.at[box].offset - boxes.what.at[box].base;
                if (!boxes.what.at[box].piece) s.bank = static_cast<std::int16_t>(boxes.place.at[box].bank);
            }
        });
    }

    program_planning& p;
    int memory_at_;
    memory const& what_;
    ir::pool_use& pool_;
    std::int64_t fixed_ = 0;      ///< bytes from the base that nothing else is placed in
    bool styles_differ_ = false;  ///< a kernel has several buffers that were placed one by one
};

}  // namespace tilewright::detail
