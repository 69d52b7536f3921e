#pragma once
#include <algorithm>
#include <optional>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/memories.hpp>
#include <tilewright/emulate/transfer_job.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

namespace tilewright::emulation {

/// What a checked run knows of every byte of the machine's memories: which buffer of the plan was last written there, and when.
///
/// Arguments of the kernel are not included. The queues know what is in flight, not this.
class shadow {
  public:
    /// Why a byte must not be used as it is used.
    struct fault {
        void const* address = nullptr;
        std::string why;
    };

    shadow(machine const& what, memories const& where) : what_(what), where_(where) {}

    bool on() const { return !buffers_.empty(); }
    /// @param code_reports whether loops that stay code report what they touch; otherwise the contents of buffers that they touch are not
    /// judged
    void watch(plan_value const& plan, bool code_reports) {
        buffers_.clear();
        code_has_reported_ = false;
        for (int at = 0; at < plan.buffers.size(); ++at) {
            ir::buffer const& b = plan.buffers[at];
            watched w{.what = b, .judged = code_reports || !b.code_access};
            std::int64_t bytes = bytes_of(b.type);
            for (int d = b.block_dimensions; d < b.rank; ++d) bytes *= b.extents[d];
            w.bytes = bytes;
            w.released.resize(static_cast<std::size_t>(b.versions));
            buffers_.push_back(std::move(w));
        }
        partial_ = plan.limits.size() > 0;
        stages_.clear();
        for (int at = 0; at < plan.stages.size(); ++at) stages_.push_back(plan.stages[at].output);
        if (banks_.empty()) {
            banks_.resize(static_cast<std::size_t>(what_.memories.size() * max_banks));
            for (int m = 0; m < what_.memories.size(); ++m) {
                for (int bank = 0; where_.base(m, bank) != nullptr; ++bank)
                    cells_of({m, bank}).resize(static_cast<std::size_t>(what_.memories[m].bank_capacity()));
            }
        }
        clear();
    }
    void stop() { buffers_.clear(); }
    /// Nothing has been written.
    void clear() {
        if (!on()) return;
        for (cells& bank : banks_) std::fill(bank.owner.begin(), bank.owner.end(), nobody);
        for (watched& w : buffers_) {
            w.current = -1;
            w.argument = {};
            std::fill(w.released.begin(), w.released.end(), 0);
        }
        now_ = 1;
    }
    /// Where an argument lies.
    void bind(int buffer, void const* first, std::int64_t bytes) {
        auto const begin = reinterpret_cast<std::uintptr_t>(first);
        buffers_[buffer].argument = {begin, begin + static_cast<std::uintptr_t>(bytes)};
    }
    /// Loops that stay code report an access.
    void hear_code() { code_has_reported_ = true; }
    /// A transfer, an intrinsic or a tile body begins.
    void begin_step() { ++now_; }

    bool is_buffer(std::int64_t at) const { return at >= 0 && at < std::ssize(buffers_); }
    ir::label const& buffer_name(int at) const { return buffers_[at].what.name; }
    ir::label stage_name(int at) const { return at >= 0 && at < std::ssize(stages_) ? stages_[at] : ir::label("?"); }

    /// Whether all bytes of `range` belong to one version of the buffer, and there to one block.
    std::optional<fault> inside(int buffer, byte_range const& range) const {
        watched const& w = buffers_[buffer];
        if (w.what.kind == ir::buffer_kind::argument) {
            bool const known = w.argument.begin != w.argument.end;
            bool const before = range.begin < w.argument.begin;
            if (!known || (!before && range.end <= w.argument.end)) return {};
            return fault{reinterpret_cast<void const*>(before ? range.begin : w.argument.end), "outside of the argument"};
        }
        auto const* const first = reinterpret_cast<void const*>(range.begin);
        place const at = where_.find(first, 1);
        std::int64_t const bytes = static_cast<std::int64_t>(range.end - range.begin);
        int const part = w.part_of(what_, at);
        if (part < 0) return fault{first, "outside of the buffer"};
        std::int64_t const left = w.bytes - (at.offset - w.offset_of(what_, part));
        if (bytes > left)
            return fault{reinterpret_cast<void const*>(range.begin + static_cast<std::uintptr_t>(left)), "outside of the buffer"};
        return {};
    }
    /// An intrinsic or code is going to use bytes of a buffer: the first of them that cannot be read. @pre inside
    std::optional<fault> use(int buffer, byte_range const& range, bool reads) {
        watched& w = buffers_[buffer];
        if (w.what.kind == ir::buffer_kind::argument) return {};
        place const at = where_.find(reinterpret_cast<void const*>(range.begin), 1);
        int const version = w.version_of(what_, at);
        if (w.current != version) {
            // The steps have gone on: the former contents of the version have been used.
            if (w.current >= 0) w.released[w.current] = w.last_use;
            w.current = version;
        }
        w.last_use = now_;
        if (!reads || !w.judged) return {};
        cells const& bank = cells_of(at);
        for (std::uintptr_t byte = range.begin; byte < range.end; ++byte) {
            std::int64_t const cell = at.offset + static_cast<std::int64_t>(byte - range.begin);
            auto const* const address = reinterpret_cast<void const*>(byte);
            if (auto why = contents(buffer, bank.owner[cell])) return fault{address, *why};
            if (bank.written[cell] <= w.released[version])
                return fault{address, "stale: this version was not filled again since its last use"};
        }
        return {};
    }
    /// Whether instructions may read lanes that hold nothing: in partial tiles, nobody uses what they make of those.
    bool has_idle_lanes() const { return partial_; }
    /// Whether bytes of a buffer can be read. @pre inside
    bool is_filled(int buffer, byte_range const& range) const {
        watched const& w = buffers_[buffer];
        if (w.what.kind == ir::buffer_kind::argument || !w.judged) return true;
        place const at = where_.find(reinterpret_cast<void const*>(range.begin), 1);
        int const version = w.version_of(what_, at);
        cells const& bank = cells_of(at);
        std::int64_t const end = at.offset + static_cast<std::int64_t>(range.end - range.begin);
        for (std::int64_t cell = at.offset; cell < end; ++cell) {
            if (bank.owner[cell] != buffer || bank.written[cell] <= w.released[version]) return false;
        }
        return true;
    }
    /// Bytes of a buffer hold nothing that may be used. @pre inside
    void empty(int buffer, byte_range const& range) {
        if (buffers_[buffer].what.kind == ir::buffer_kind::argument) return;
        place const at = where_.find(reinterpret_cast<void const*>(range.begin), 1);
        std::fill_n(cells_of(at).owner.begin() + at.offset, range.end - range.begin, nobody);
    }
    /// Bytes of a buffer are written. @pre inside
    void write(int buffer, byte_range const& range) {
        if (buffers_[buffer].what.kind == ir::buffer_kind::argument) return;
        place const at = where_.find(reinterpret_cast<void const*>(range.begin), 1);
        cells& bank = cells_of(at);
        auto const count = range.end - range.begin;
        std::fill_n(bank.owner.begin() + at.offset, count, static_cast<std::int8_t>(buffer));
        std::fill_n(bank.written.begin() + at.offset, count, now_);
    }
    /// A transfer is started. Bytes without contents may move between memories of the machine, and stay without; they must not leave it.
    /// @pre its rows are inside of its buffers @return the first byte that must not be read
    std::optional<fault> move(transfer_job const& job, int source, int destination) {
        bool const from_shadow = source >= 0 && buffers_[source].what.kind != ir::buffer_kind::argument && buffers_[source].judged;
        bool const to_shadow = buffers_[destination].what.kind != ir::buffer_kind::argument;
        std::optional<fault> found;
        job.each_row(0, [&](std::int64_t from, std::int64_t to, bool inside) {
            byte_range const into = row_of(job.destination + to, job.row * job.destination_size);
            write(destination, into);
            if (!from_shadow || !inside) return transfer_job::next::row;
            byte_range const out_of = row_of(job.source + from, job.read_row() * job.source_size);
            place const at = where_.find(job.source + from, 1);
            cells const& bank = cells_of(at);
            for (std::int64_t byte = 0; byte < job.read_row() * job.source_size; ++byte) {
                auto why = contents(source, bank.owner[at.offset + byte]);
                if (!why) continue;
                if (!to_shadow) {
                    found = fault{reinterpret_cast<void const*>(out_of.begin + static_cast<std::uintptr_t>(byte)), *why};
                    return transfer_job::next::stop;
                }
                // A copy moves byte by byte, everything else element by element.
                std::int64_t const first = job.function == nullptr ? byte : byte / job.source_size * job.destination_size;
                std::int64_t const count = job.function == nullptr ? 1 : job.destination_size;
                place const target = where_.find(job.destination + to + job.row_before * job.destination_size + first, 1);
                std::fill_n(cells_of(target).owner.begin() + target.offset, count, nobody);
            }
            return transfer_job::next::row;
        });
        return found;
    }

    /// "spad 0x50000040, A.spad version 1 [2, 0] of directive 6", "argument A in dram".
    std::string text_of(int buffer, void const* address) const {
        if (!is_buffer(buffer)) return where_.device_address(address);
        watched const& w = buffers_[buffer];
        ir::buffer const& b = w.what;
        if (b.kind == ir::buffer_kind::argument) return "argument " + b.name.str() + " in " + what_.memories[b.memory].name.str();
        std::string text = where_.device_address(address) + ", " + b.name.str();
        place const at = where_.find(address, 1);
        int const part = w.part_of(what_, at);
        if (part >= 0 && b.versions > 1) text += " version " + std::to_string(part / b.blocks);
        if (part >= 0) {
            std::int64_t element = (part % b.blocks * w.bytes + at.offset - w.offset_of(what_, part)) / bytes_of(b.type);
            text += " [";
            for (int d = 0; d < b.rank; ++d) {
                text += (d == 0 ? "" : ", ") + std::to_string(element / b.stride(d));
                element %= b.stride(d);
            }
            text += "]";
        }
        return text + " of directive " + std::to_string(b.ordinal);
    }

  private:
    static constexpr std::int8_t nobody = -1;
    static_assert(plan_value::most_buffers < 128);

    struct cells {
        ir::list<std::int8_t> owner;      ///< the buffer whose contents a byte has
        ir::list<std::uint32_t> written;  ///< the step

        void resize(std::size_t bytes) {
            owner.resize(bytes);
            written.resize(bytes);
        }
    };
    struct watched {
        ir::buffer what;
        bool judged = true;      ///< whether all writes to it are known
        std::int64_t bytes = 0;  ///< of one part
        byte_range argument{};   ///< empty: not known
        int current = -1;        ///< the version that was used last, by intrinsics or code
        std::uint32_t last_use = 0;
        ir::list<std::uint32_t> released{};  ///< of each version: the last step that used its former contents

        std::int64_t offset_of(machine const& where, int part) const { return what.offset_of(part, where.memories[what.memory].banks); }
        int part_of(machine const& where, place const& at) const {
            int const banks = where.memories[what.memory].banks;
            for (int part = 0; part < what.parts() && at.memory == what.memory; ++part) {
                std::int64_t const first = offset_of(where, part);
                if (at.bank == what.bank_of(part, banks) && at.offset >= first && at.offset < first + bytes) return part;
            }
            return -1;
        }
        /// @pre the byte is one of the buffer's
        int version_of(machine const& where, place const& at) const { return part_of(where, at) / what.blocks; }
    };

    static byte_range row_of(std::byte const* first, std::int64_t bytes) {
        auto const begin = reinterpret_cast<std::uintptr_t>(first);
        return {begin, begin + static_cast<std::uintptr_t>(bytes)};
    }
    cells& cells_of(place const& at) { return banks_[at.memory * max_banks + at.bank]; }
    cells const& cells_of(place const& at) const { return banks_[at.memory * max_banks + at.bank]; }
    /// Why a byte of `owner`'s has no contents of `buffer`.
    std::optional<std::string> contents(int buffer, int owner) const {
        if (owner == buffer) return {};
        if (owner == nobody && buffers_[buffer].what.code_access && !code_has_reported_)
            return "never written, as far as loops that stay code report: if this kernel's do not, say check(plan, false)";
        if (owner == nobody) return "never written";
        return "stale: " + buffer_name(owner).str() + " has overwritten it";
    }

    machine const& what_;
    memories const& where_;
    bool partial_ = false;
    bool code_has_reported_ = false;  ///< since the plan is watched
    ir::list<watched> buffers_;
    ir::list<ir::label> stages_;
    ir::list<cells> banks_;
    std::uint32_t now_ = 1;  ///< the step; a version that was never released was released at 0
};

}  // namespace tilewright::emulation
