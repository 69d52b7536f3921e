#include "fuzz/draw.hpp"

#include <numeric>

#include "fuzz/draw_computation.hpp"
#include "fuzz/draw_cores.hpp"
#include "fuzz/draw_machine.hpp"
#include "fuzz/draw_schedule.hpp"
#include "fuzz/draw_tied.hpp"

namespace fuzz {

namespace {

/// Half of the machines of several cores have caches: cores see some of their memories through lines of 16 to 64 bytes.
void draw_caches(std::uint64_t seed, machine_parts& where) {
    dice random(seed + 0xcac4e);
    if (!is_for_cores(seed) || random.one_in(2)) return;
    std::int64_t const line = std::int64_t{16} << random.between(0, 2), each = random.between(0, 5), call = random.between(0, 40);
    for (memory& m : where.memories) {
        bool const lies_right = !m.has_address() || m.bank_base(0) % static_cast<std::uint64_t>(line) == 0;
        if (m.registers > 0 || m.is_numbered() || m.is_view() || m.banks > 1 || !lies_right || random.one_in(3)) continue;
        m.alignment = std::lcm(m.alignment, line);
        m.cache_line = line, m.line_cycles = each, m.upkeep_cycles = call;
    }
}

}  // namespace

drawn_case draw(std::uint64_t seed) {
    drawn_case made{.seed = seed};
    dice random(seed);
    names named(random, random.one_in(3));
    computation_drawer(random, named, made).draw();
    machine_parts const where = made.where = draw_machine(random, named);
    schedule_drawer::tensorized by = schedule_drawer(random, named, made).draw();
    // Drawn last, so that other cases stay what their seeds gave.
    if (by.stage >= 0 && random.percent(45)) {
        if (random.percent(70)) {
            draw_plain_stages(random, named, made);
            made.where = where;
            by = schedule_drawer(random, named, made).draw(0);
        }
        if (by.stage >= 0) tying_drawer(random, named, made, by.stage, by.steps).draw();
    }
    if (is_for_cores(seed)) cores_drawer(random, named, made, by.nests).draw();
    draw_caches(seed, made.where);
    return made;
}

}  // namespace fuzz
