#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/engine_queue.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

namespace tilewright::emulation {

/// The names of the buffers that calls speak of: those of the plan of the kernel, when it is known.
class buffer_names {
  public:
    void read(plan_value const& plan) {
        buffers_.clear();
        for (int at = 0; at < plan.buffers.size(); ++at) {
            ir::buffer const& b = plan.buffers[at];
            buffers_.push_back({b.name, b.kind == ir::buffer_kind::argument});
        }
    }

    /// Empty where there is no such buffer.
    ir::label operator[](std::int64_t at) const { return knows(at) ? buffers_[at].name : ir::label{}; }
    /// The buffer that names a transfer: the one that it fills, or the one that it empties.
    ir::label about(transfer_call const& call) const {
        std::int64_t const to = call.destination_buffer();
        ir::label const source = (*this)[call.source_buffer()], destination = (*this)[to];
        bool const stores = !destination.empty() && buffers_[to].argument;
        return stores && !source.empty() ? source : destination;
    }
    /// "mvin to A.spad, tag 3".
    std::string text_of(machine const& where, flight const& f) const {
        if (!f.moves) return where.intrinsics[f.part].name.str();
        std::string text = where.transfers[f.part].name.str();
        if (ir::label const name = (*this)[f.destination_buffer]; !name.empty()) text += " to " + name.str();
        return text + ", tag " + std::to_string(f.tag);
    }

  private:
    struct named {
        ir::label name{};
        bool argument = false;
    };

    bool knows(std::int64_t at) const { return at >= 0 && at < std::ssize(buffers_); }

    ir::list<named> buffers_;
};

}  // namespace tilewright::emulation
