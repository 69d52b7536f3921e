#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/machine/machine.hpp>

namespace tilewright {

/// The name of the channel of a lane: "dma", or "dma.2" if there are several.
inline std::string lane_name(machine const& of, int lane) {
    int const at = of.engine_of_lane(lane);
    return of.engines[at].name.str() + (of.engines[at].has_channels() ? "." + std::to_string(lane - of.first_lane(at)) : "");
}

}  // namespace tilewright
