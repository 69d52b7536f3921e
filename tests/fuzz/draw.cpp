#include "fuzz/draw.hpp"

#include "fuzz/draw_computation.hpp"
#include "fuzz/draw_machine.hpp"
#include "fuzz/draw_schedule.hpp"

namespace fuzz {

drawn_case draw(std::uint64_t seed) {
    drawn_case made{.seed = seed};
    dice random(seed);
    names named(random, random.one_in(3));
    computation_drawer(random, named, made).draw();
    made.where = draw_machine(random, named);
    schedule_drawer(random, named, made).draw();
    return made;
}

}  // namespace fuzz
