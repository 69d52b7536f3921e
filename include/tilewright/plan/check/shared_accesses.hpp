#pragma once
#include <tilewright/plan/check/core_copies.hpp>
#include <tilewright/plan/check/core_side.hpp>
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/check/whole_index.hpp>

// What cores have done with the places that they share, while a program runs.
namespace tilewright::detail {

/// What the cores have touched of the places that more than one of them sees, and what each of them knows of that.
///
/// A core knows what another one has done before a barrier, or before a signal that it has taken. What it does not know of must lie apart
/// from what it touches, unless both only read. A transfer is done when its core has waited for it, however many barriers come before that.
struct shared_accesses {
    static constexpr int most = 64, most_marks = 32, most_signals = 64;
    static constexpr std::int16_t copy_of_all = -1;

    struct access {
        buffer_id buffer = no_buffer;
        std::int16_t version = 0;
        std::int16_t core = 0;
        std::int16_t copy = 0;  ///< whose copy, of a buffer that each core has
        bool writes = false;
        bool by_core = false;              ///< by loads and stores, through a cache if there is one
        bool whole_version = false;        ///< a transfer fills or empties all of it, so interlocks hold back what else touches it
        std::int16_t lane = -1, tag = -1;  ///< of a job that its core has not waited for; -1: of what is complete
        std::int16_t movement = -1;
        std::int64_t index = 0;  ///< among what its core does
        fixed_array<core_side, max_rank> sides{};
        /// The fused loop, or other whole, that the indices give in parts, and where it stands.
        whole_index whole{};
        core_side of_whole{};
        bool in_parts = false;  ///< the indices are parts of what moves with the core, and do not give the whole of it

        constexpr void include(access const& other, int rank) {
            for (int d = 0; d < rank; ++d) sides[d].include(other.sides[d]);
            of_whole.include(other.of_whole);
            if (!whole.same(other.whole)) whole = {};
            in_parts |= other.in_parts;
            whole_version &= other.whole_version;
        }
    };
    /// A mark after jobs that lane `from` was given: a core waits for it, or lane `to` takes it as a token. When a job that `to` was given
    /// `since` then is complete, so are those jobs.
    struct mark {
        std::int16_t core = -1, link = -1, from = -1, to = -1;
        std::int64_t number = 0, end = 0;
        std::int64_t since = -1;  ///< -1: it is not taken yet

        constexpr bool comes_after(access const& a) const { return a.core == core && a.lane == from && a.index < end; }
        constexpr bool holds_back(access const& a) const { return since >= 0 && a.core == core && a.lane == to && a.index >= since; }
    };
    /// Buffers that each core has, and that multicasts write to, or others that lie on their bytes.
    buffer_set reached{};
    fixed_array<access, most> all{};
    int count = 0;
    fixed_array<mark, most_marks> marks{};
    int mark_count = 0;
    fixed_array<std::int64_t, max_cores> given{};  ///< how much each core has done
    using knowledge = fixed_array<std::int64_t, max_cores>;
    fixed_array<knowledge, max_cores> known{};  ///< to each core: how much each of the others has done
    /// A signal that is sent, and not taken yet.
    struct sent {
        message what{};
        knowledge knows{};
    };
    fixed_array<sent, most_signals> signals{};
    int signal_count = 0;
    hazard found{};

    constexpr bool knows(int core, access const& a) const { return core == a.core || (a.lane < 0 && known[core][a.core] > a.index); }
    /// Forgets what all cores know of.
    constexpr void forget(int cores) {
        int kept = 0;
        for (int at = 0; at < count; ++at) {
            bool known_to_all = true;
            for (int core = 0; core < cores; ++core) known_to_all &= knows(core, all[at]);
            if (!known_to_all) all[kept++] = all[at];
        }
        count = kept;
    }
    constexpr void remove_mark(int position) {
        for (int at = position + 1; at < mark_count; ++at) marks[at - 1] = marks[at];
        --mark_count;
    }
    /// The oldest makes room: less is known then, which is safe.
    constexpr void add(mark const& next) {
        if (mark_count == most_marks) remove_mark(0);
        marks[mark_count++] = next;
    }
    /// Forgets marks that are taken, after jobs of which none is in flight.
    constexpr void forget_marks() {
        for (int at = mark_count - 1; at >= 0; --at) {
            bool matters = marks[at].since < 0;
            for (int which = 0; which < count && !matters; ++which) matters = marks[at].comes_after(all[which]);
            if (!matters) remove_mark(at);
        }
    }
};

}  // namespace tilewright::detail
