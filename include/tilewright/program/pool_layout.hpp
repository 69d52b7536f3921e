#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/offsets/assign_offsets.hpp>
#include <tilewright/program/check_places.hpp>

// Offsets of all that lives in a memory of a program: tensors and the kernels' own buffers.
namespace tilewright::detail {

constexpr std::int64_t aligned_down(std::int64_t offset, std::int64_t alignment) { return offset / alignment * alignment; }

/// How the buffers of a kernel's own are placed.
enum class scratch_style : std::uint8_t {
    /// Each by itself, alive for a part of its kernel.
    single,
    /// Buffers that share bytes in the kernel's plan are one piece, alive as long as the kernel runs.
    pieces,
};

/// Buffers of a kernel that keep their relative places, as its own plan has them: bytes from `base` on, in banks that follow each other,
/// round all of the memory.
struct scratch_piece {
    std::int64_t base = 0, end = 0, alignment = 1;
    int bank = 0, bank_count = 1;
    int members = 1;
};

/// A box with an offset of its own: a tensor and the tensors that take its bytes over, or buffers of a kernel.
struct pool_box {
    std::int16_t tensor = -1;  ///< the first of them; -1: buffers
    std::int64_t base = 0;     ///< of buffers: its offset in the kernel's plan
    bool keeps_bank = false;   ///< of buffers: they lie in the banks that the kernel's plan has them in
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

/// Lays out one memory of a program. The constants come first, one after the other, because they are one image. `assign_offsets` places
/// everything else.
///
/// Time is counted in points. A step is one point or, if a kernel's buffers are placed one by one, as many as these need. Tensors are alive
/// over whole steps.
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
          pool_(planned.plan.pools[memory_position]) {
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
            pool_.alignment = lcm(pool_.alignment, scratch(at).alignment);
            ++boxes;
        }
        // After the fixed part, everything counts from an aligned base.
        if (boxes > 0) fixed_ = aligned_up(fixed_, pool_.alignment);
        pool_.peak = pool_.lower_bound = fixed_;
        if (lies_in_constants()) return true;
        if (boxes == 0) return pool_.peak <= what_.bank_capacity();
        // With more boxes than the budget could look at in pairs, buffers of a kernel stay together, where it has several.
        bool few = true;
        each_kernel([&](int from, int to, ir::program_kernel const&) { few &= to - from == 1; });
        few |= std::int64_t{boxes} * boxes <= budget;
        int const scratch_count = p.plan.scratch.size();
        pool_boxes best(boxes, scratch_count);
        place(best, few ? scratch_style::single : scratch_style::pieces, budget);
        // The bytes that are alive at one time are a bound, whatever shares bytes. The search has a better bound for its boxes, which is
        // not valid if boxes take bytes in which nothing lies.
        std::int64_t const alive = most_alive(), searched = few && !has_holes_ ? fixed_ + best.found.lower_bound : 0;
        pool_.lower_bound = alive < searched ? searched : alive;
        if (searched > alive) pool_.as_planned = rigid_;
        // The kernels' plans may have a better arrangement, if the search did not finish.
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
    constexpr ir::program_scratch& scratch(int at) { return p.plan.scratch[at]; }
    /// @return whether it needs a box
    constexpr bool take_tensor(ir::program_tensor& t) {
        pool_.used = true;
        pool_.alignment = lcm(pool_.alignment, t.alignment);
        if (t.kind != ir::tensor_kind::constant) return t.in_place_of < 0;
        t.offset = aligned_up(fixed_, t.alignment);
        pool_.constants = fixed_ = t.offset + t.bytes;
        return false;
    }

    /// Whether a tensor was given a place that the constants take; then the program is refused.
    constexpr bool lies_in_constants() {
        for (int at = 0; at < p.plan.tensors.size() && !p.refused(); ++at) {
            ir::program_tensor const& t = p.tensor(at);
            std::int64_t const offset = lies_here(t) ? p.place_given(t.name).offset : -1;
            if (offset >= 0 && offset < fixed_)
                p.refuse(verdict_kind::ill_formed, rule::place_in_constants, {t.name}, 0,
                         {fact{fact_kind::have, offset}, fact{fact_kind::need, fixed_}});
        }
        return p.refused();
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
        put_where_given(one, t);
        for (int other = 0; other < p.plan.tensors.size(); ++other) {
            if (p.tensor(other).in_place_of < 0 || first_in_place(p, other) != at) continue;
            one.alignment = lcm(one.alignment, p.tensor(other).alignment);
            one.dead = one.dead < p.tensor(other).dead ? p.tensor(other).dead : one.dead;
            put_where_given(one, p.tensor(other));
        }
    }
    constexpr void put_where_given(ir::placed_buffer& one, ir::program_tensor const& t) const {
        given_place const place = p.place_given(t.name);
        if (place.bank >= 0) one.bank = static_cast<int>(place.bank);
        if (place.offset < 0) return;
        one.fixed = true;
        one.offset = place.offset - fixed_;
        if (one.bank < 0) one.bank = 0;  // the only one
    }
    /// Whether the buffers of a kernel, from position `from` on, have lifetimes of their own. Other kernels begin or end at an unknown time
    /// of a kernel that works beside the caller. Then each of its buffers is in their way all the time, and they may share bytes only as
    /// the kernel's plan has it.
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
    constexpr scratch_piece piece_of(int at) {
        ir::program_scratch const& s = scratch(at);
        bool const wide = what_.banks > 1;
        return {aligned_down(s.offset, s.alignment), s.offset + s.bytes_in_bank, s.alignment, wide ? s.bank : 0, wide ? s.bank_count : 1};
    }
    constexpr bool lies_in(scratch_piece const& one, int bank) const {
        return (bank - one.bank + what_.banks) % what_.banks < one.bank_count;
    }
    constexpr bool meet(scratch_piece const& a, scratch_piece const& b) const {
        bool in_one_bank = false;
        for (int bank = 0; bank < what_.banks; ++bank) in_one_bank |= lies_in(a, bank) && lies_in(b, bank);
        return in_one_bank && a.base < b.end && b.base < a.end;
    }
    /// The smallest piece that holds two pieces, in the fewest banks that follow each other.
    constexpr scratch_piece joined_piece(scratch_piece const& a, scratch_piece const& b) const {
        scratch_piece both{.alignment = lcm(a.alignment, b.alignment), .bank_count = what_.banks + 1, .members = a.members + b.members};
        both.base = aligned_down(a.base < b.base ? a.base : b.base, both.alignment);
        both.end = a.end < b.end ? b.end : a.end;
        for (int first = 0; first < what_.banks; ++first) {
            int needed = 0;
            for (int bank = 0; bank < what_.banks; ++bank) {
                int const along = (bank - first + what_.banks) % what_.banks;
                if ((lies_in(a, bank) || lies_in(b, bank)) && needed <= along) needed = along + 1;
            }
            if (needed < both.bank_count) both.bank = first, both.bank_count = needed;
        }
        return both;
    }
    /// Pieces of the layout in the kernel's plan. Buffers that share bytes there are one piece, and so are pieces that reach across each
    /// other: all of them fit next to each other, as they do in that plan.
    constexpr void add_pieces(pool_boxes& boxes, int from, int to, int born, int dead) {
        int const count = to - from;
        work_array<scratch_piece> pieces(count);
        work_array<int> piece_at(count);  // of each buffer
        for (int at = 0; at < count; ++at) pieces.at[at] = piece_of(from + at), piece_at.at[at] = at;
        auto const is_one = [&](int piece) { return piece_at.at[piece] == piece; };
        for (int a = 0; a < count; ++a) {
            for (int b = 0; b < count && is_one(a); ++b) {
                if (a == b || !is_one(b) || !meet(pieces.at[a], pieces.at[b])) continue;
                int const into = a < b ? a : b, gone = a < b ? b : a;
                pieces.at[into] = joined_piece(pieces.at[a], pieces.at[b]);
                for (int at = 0; at < count; ++at) piece_at.at[at] = piece_at.at[at] == gone ? into : piece_at.at[at];
                a = into, b = -1;  // pieces that were passed may join now
            }
        }
        ir::program_kernel const& k = p.kernel(scratch(from).kernel);
        for (int piece = 0; piece < count; ++piece) {
            if (!is_one(piece)) continue;
            scratch_piece const& of = pieces.at[piece];
            bool any_bank = !k.keeps_sharing;
            for (int at = 0; at < count; ++at) {
                if (piece_at.at[at] != piece) continue;
                boxes.box_of.at[from + at] = boxes.count;
                any_bank &= scratch(from + at).any_bank;
            }
            if (of.members > 1) rigid_.add(scratch(from).kernel);
            has_holes_ |= is_hollow(of, from, to, boxes);
            ir::placed_buffer& one = boxes.add({.base = of.base, .keeps_bank = what_.banks > 1 && !any_bank});
            one.bytes = of.end - of.base, one.alignment = of.alignment, one.born = born, one.dead = dead;
            one.bank_count = of.bank_count;
            if (what_.banks > 1 && !any_bank) one.bank = of.bank;
        }
    }
    /// Whether the next box, a piece, has bytes in which none of its buffers lies.
    constexpr bool is_hollow(scratch_piece const& of, int from, int to, pool_boxes const& boxes) {
        for (int bank = 0; bank < what_.banks; ++bank) {
            std::int64_t reached = of.base;
            for (int at = from; at < to && lies_in(of, bank); ++at) {
                scratch_piece const one = piece_of(at);
                bool const here = boxes.box_of.at[at] == boxes.count && lies_in(one, bank);
                if (!here || scratch(at).offset > reached || one.end <= reached) continue;
                reached = one.end;
                at = from - 1;
            }
            if (lies_in(of, bank) && reached < of.end) return true;
        }
        return false;
    }
    /// The most bytes that are alive at one time, from the base, or in the fullest bank.
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
                if (!boxes.what.at[box].keeps_bank) s.bank = static_cast<std::int16_t>(boxes.place.at[box].bank);
            }
        });
    }

    program_planning& p;
    int memory_at_;
    memory const& what_;
    ir::pool_use& pool_;
    std::int64_t fixed_ = 0;      ///< bytes from the base that nothing else is placed in
    bool styles_differ_ = false;  ///< a kernel has several buffers that were placed one by one
    bool has_holes_ = false;      ///< a piece has bytes that nothing of its kernel lies in
    ir::kernel_set rigid_{};      ///< kernels of which several buffers are one piece
};

}  // namespace tilewright::detail
