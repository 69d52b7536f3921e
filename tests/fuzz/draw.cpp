#include "fuzz/draw.hpp"

#include "fuzz/draw_computation.hpp"
#include "fuzz/draw_cores.hpp"
#include "fuzz/draw_machine.hpp"
#include "fuzz/draw_schedule.hpp"
#include "fuzz/draw_tied.hpp"

namespace fuzz {

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
    return made;
}

}  // namespace fuzz
