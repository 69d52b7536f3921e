#pragma once
#include <memory>
#include <tilewright/emulate/caches.hpp>
#include <tilewright/emulate/core_meeting.hpp>
#include <tilewright/emulate/engine_set.hpp>
#include <tilewright/emulate/memories.hpp>

namespace tilewright::emulation {

/// What the accesses of a core and its engines mean to others: to cores that are watched, and to caches.
class shared_access {
  public:
    shared_access(machine const& what, memories const& where, engine_set const& engines) : what_(what), where_(where), engines_(engines) {
        if (what.has_caches()) see(std::make_shared<caches>());
    }

    /// The core is one of a team.
    void join(core_meeting& team, int core) { team_ = &team, core_ = core; }
    core_meeting* team() const { return team_; }
    int core() const { return core_; }
    /// From now on the caches are these. @pre the machine has some
    void see(std::shared_ptr<caches> const& all) { caches_ = all, view_ = all->join(); }
    std::shared_ptr<caches> const& seen() const { return caches_; }
    void reset() {
        if (caches_) caches_->reset(view_);
        follows_ = false;
        results_.clear();
    }

    bool is_watched() const { return team_ != nullptr && team_->watches(); }
    /// Whether jobs have to tell which bytes they touch.
    bool asks_for_ranges() const { return is_watched() || caches_ != nullptr; }

    /// What the core itself touches. @return what is wrong with it
    std::optional<refused_call> code(ir::label const& who, byte_range const& range, bool writes) {
        if (auto refused = touch(who, {range}, writes)) return refused;
        std::int64_t const line = line_at(range);
        if (line == 0) return {};
        if (writes) return caches_->write(view_, range, line), std::nullopt;
        return refusal_of(who, " reads ", caches_->read(view_, range));
    }
    /// A job that is given to an engine, or that the core carries out. @return what is wrong with it
    std::optional<refused_call> job(ir::label const& who, flight const& next, bool by_core) {
        auto refused = touch(who, next.reads, false);
        if (!refused) refused = touch(who, next.writes, true);
        if (!refused) refused = touch(who, next.elsewhere, true);
        for (byte_range const& range : next.reads) {
            if (refused || line_at(range) == 0) continue;
            refused = refusal_of(who, " reads ", by_core ? caches_->read(view_, range) : caches_->read_memory(range));
        }
        for (byte_range const& range : next.writes) {
            std::int64_t const line = line_at(range);
            if (line > 0 && by_core) caches_->write(view_, range, line);
            if (line > 0 && !by_core) caches_->write_memory(range, line);
            // It is the same memory, of other cores.
            for (byte_range const& other : next.elsewhere) {
                if (line > 0) caches_->write_memory(other, line);
            }
        }
        return refused;
    }
    /// The core cleans its cache for some bytes, and may forget them.
    void keep_up(memory const& of, byte_range const& range, bool invalidates) {
        std::vector<byte_range> arriving;
        if (!follows_) return;
        each_unknown([&](flight const& f) { arriving.insert(arriving.end(), f.writes.begin(), f.writes.end()); });
        caches_->keep_up(view_, range, of.cache_line, invalidates, arriving);
    }
    /// An argument of the kernel: the caller has written it, whatever caches still have, or the kernel is to write it.
    void argument(byte_range const& range, bool written) {
        follows_ = caches_ != nullptr;
        if (line_at(range) == 0) return;
        if (written) results_.push_back(range);
        else caches_->miss(view_, range);
    }
    /// The kernel is over. @return what is wrong with the caches then
    std::optional<refused_call> end() {
        if (!follows_) return {};
        follows_ = false;
        auto const wrong = caches_->end(view_, results_);
        results_.clear();
        return refusal_of({}, "", wrong);
    }
    /// What the engines do that the core does not know to be complete.
    std::vector<core_access> still_touched() const {
        std::vector<core_access> still;
        if (!is_watched()) return still;
        each_unknown([&](flight const& f) {
            for (byte_range const& range : f.reads) still.push_back({range, false});
            for (byte_range const& range : f.writes) still.push_back({range, true});
            for (byte_range const& range : f.elsewhere) still.push_back({range, true});
        });
        return still;
    }

  private:
    template <class Visit>
    void each_unknown(Visit const& visit) const {
        for (int lane = 0; lane < engines_.size(); ++lane) {
            for (flight const& f : engines_[lane].flights()) {
                if (!engines_.is_known(-1, lane, f)) visit(f);
            }
        }
    }
    /// @return what is wrong with the accesses, as one of several cores
    std::optional<refused_call> touch(ir::label const& who, std::vector<byte_range> const& ranges, bool writes) {
        for (std::size_t at = 0; is_watched() && at < ranges.size(); ++at) {
            std::string const wrong = team_->touch(core_, {ranges[at], writes});
            if (!wrong.empty()) return refused_call{emulation_bad_access, who.str() + ": " + wrong};
        }
        return {};
    }
    /// The lines of the caches where bytes lie; 0: there are none, or nobody tells what the core's loops touch.
    std::int64_t line_at(byte_range const& range) const {
        if (!follows_) return 0;
        place const at = where_.find(reinterpret_cast<void const*>(range.begin), 1);
        return what_.memories[at ? at.memory : 0].cache_line;  // what the caller passes lies in the first memory
    }
    std::optional<refused_call> refusal_of(ir::label const& who, char const* does, std::optional<caches::fault> const& wrong) const {
        if (!wrong) return {};
        return refused_call{emulation_stale_line,
                            who.str() + does + where_.device_address(reinterpret_cast<void const*>(wrong->at)) + ": " + wrong->why};
    }

    machine const& what_;
    memories const& where_;
    engine_set const& engines_;
    core_meeting* team_ = nullptr;
    int core_ = 0;
    std::shared_ptr<caches> caches_;
    int view_ = 0;
    bool follows_ = false;  ///< a kernel runs that tells of its arguments, and so of all that its loops touch
    std::vector<byte_range> results_;
};

}  // namespace tilewright::emulation
