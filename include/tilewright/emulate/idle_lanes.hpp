#pragma once
#include <tilewright/emulate/machine_parts.hpp>
#include <tilewright/emulate/shadow.hpp>

namespace tilewright::emulation {

/// An element of an operand, and its bytes.
struct operand_element {
    int buffer = -1;
    byte_range range{};
    std::vector<std::byte> before{};     ///< the call
    std::vector<std::byte> first_out{};  ///< what came out first

    operand_element(int of, byte_range const& where) : buffer(of), range(where), before(bytes()) {}

    std::byte* begin() const { return reinterpret_cast<std::byte*>(range.begin); }
    std::byte* end() const { return reinterpret_cast<std::byte*>(range.end); }
    std::vector<std::byte> bytes() const { return {begin(), end()}; }
    void put_back() const { std::copy(before.begin(), before.end(), begin()); }
};

/// Finds what an instruction makes of lanes that hold nothing. In partial tiles it reads such lanes, and nobody uses the result.
class idle_lanes {
  public:
    idle_lanes(intrinsic_part& part, intrinsic_call const& call, shadow const& known) : part_(part), call_(call) {
        for (int o = 0; o < part.is.operand_count; ++o) {
            operand_footprint& operand = part.operands[o];
            for (auto const& run : operand.runs()) {
                std::uintptr_t at = part.range_of(call, o, run).begin;
                auto const size = static_cast<std::uintptr_t>(operand.element_bytes);
                for (std::int64_t e = 0; e < run.count; ++e, at += size) {
                    operand_element const here(static_cast<int>(call.buffers[o]), {at, at + size});
                    if (operand.reads && !known.is_filled(here.buffer, here.range)) idle_.push_back(here);
                    if (operand.writes) written_.push_back(here);
                }
            }
        }
    }

    /// The elements that the call writes and that depend on elements without contents: they come out different when different bytes stand
    /// there. Afterwards the operands are as they were.
    std::vector<std::pair<int, byte_range>> results() {
        std::vector<std::pair<int, byte_range>> different;
        // Bytes that make small numbers of every type, and other ones.
        for (auto const filler : {std::byte{0x35}, std::byte{0x4b}}) {
            for (operand_element const& e : written_) e.put_back();
            for (operand_element const& e : idle_) std::fill(e.begin(), e.end(), filler);
            part_.carry_out(call_);
            for (operand_element& e : written_) {
                std::vector<std::byte> const now = e.bytes();
                if (e.first_out.empty()) e.first_out = now;
                else if (e.first_out != now) different.emplace_back(e.buffer, e.range);
            }
        }
        for (operand_element const& e : written_) e.put_back();
        for (operand_element const& e : idle_) e.put_back();
        return different;
    }

  private:
    intrinsic_part& part_;
    intrinsic_call const& call_;
    std::vector<operand_element> idle_, written_;
};

}  // namespace tilewright::emulation
