#pragma once
#include <map>
#include <set>
#include <string>
#include <tilewright/program/kernel_plans.hpp>
#include <vector>

/// Whether a kernel that is run where the program puts its buffers finds in them what it left there. Knows addresses and the kernel's
/// steps, and nothing of lifetimes.
namespace programs {

using namespace tilewright;

/// Bytes of a bank that a part of a buffer takes.
struct part_bytes {
    int memory = 0, bank = 0;  ///< of the kernel's machine
    std::int64_t begin = 0, end = 0;
};
inline part_bytes bytes_of_part(plan_value const& plan, ir::buffer const& b, int part) {
    int const banks = plan.where->memories[b.memory].banks;
    std::int64_t const begin = b.offset + part / banks * b.part_stride;
    return {b.memory, (b.bank + part) % banks, begin, begin + b.bytes / b.blocks};
}

/// Follows who wrote every byte last. What is started is at work from then until it is waited for.
class byte_owners {
  public:
    using run = detail::program_run<byte_owners>;
    static constexpr int most_visits = 1 << 30;

    std::string fault;

    explicit byte_owners(plan_value const& plan) : plan_(plan) {}

    void start(run& in, int movement_at) {
        ir::movement const& m = in.movement_at(movement_at);
        if (in.elements_of(m) == 0) return;
        std::int64_t const number = in.number_of(m);
        std::pair const from(m.source, m.source < 0 ? 0 : in.version_of(m.source, m.at.ring, number));
        std::pair const to(m.destination, in.version_of(m.destination, m.at.ring, number));
        read(from);
        write(to);
        if (m.at.ring >= 0) under_way_[{m.at.ring, number}].push_back({from, to});
    }
    void wait(run& in, int wait_at) {
        ir::ring_step const& until = plan_.waits[wait_at];
        for (auto const& [from, to] : under_way_[{until.ring, in.value_of(until.step)}]) read(from), read(to);
        under_way_.erase({until.ring, in.value_of(until.step)});
    }
    void push(run&, int) {}
    void pop(run&, int) {}
    void compute(run& in, int body_at, std::int64_t times) {
        if (times == 0) return;
        for (bool writing : {false, true}) {
            plan_.each_use(
                plan_.bodies[body_at],
                [&](ir::use const& u, bool reads, bool writes) {
                    std::pair const what(u.buffer, in.version_of(u.buffer, -1, 0));
                    if (reads && !writing) read(what);
                    if (writes && writing) write(what);
                },
                true);
        }
    }
    void sign(run const&, detail::run_signature&) const {}
    void skip(run const&, std::int64_t, detail::run_signature const&, detail::run_signature const&) {}

  private:
    using version = std::pair<int, int>;  ///< of a buffer

    /// Calls `visit(byte)` for all bytes of a version.
    template <class Visit>
    void each_byte(version const& what, Visit&& visit) const {
        if (what.first < 0) return;
        ir::buffer const& b = plan_.buffers[what.first];
        if (b.kind == ir::buffer_kind::argument || plan_.where->memories[b.memory].registers > 0) return;
        for (int part = what.second * b.blocks; part < (what.second + 1) * b.blocks; ++part) {
            part_bytes const at = bytes_of_part(plan_, b, part);
            for (std::int64_t byte = at.begin; byte < at.end; ++byte) visit(std::tuple(at.memory, at.bank, byte));
        }
    }
    void read(version const& what) {
        each_byte(what, [&](auto const& byte) {
            auto const found = owners_.find(byte);
            if (!fault.empty() || (found != owners_.end() && found->second == what)) return;
            fault = plan_.buffers[what.first].name.str() + " is read, but ";
            fault += found == owners_.end() ? "was never written" : plan_.buffers[found->second.first].name.str() + " lies there";
        });
    }
    void write(version const& what) {
        each_byte(what, [&](auto const& byte) { owners_[byte] = what; });
    }

    plan_value const& plan_;
    std::map<std::tuple<int, int, std::int64_t>, version> owners_;
    std::map<std::pair<int, std::int64_t>, std::vector<std::pair<version, version>>> under_way_;
};

/// What is wrong with the places of a kernel's own buffers; empty: nothing.
inline std::string scratch_fault(plan_value const& plan) {
    byte_owners owners(plan);
    byte_owners::run run(plan, owners, detail::visiting::everything);
    run.run();
    return owners.fault;
}

}  // namespace programs
