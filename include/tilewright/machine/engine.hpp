#pragma once
#include <tilewright/compute/label.hpp>

namespace tilewright {

/// A unit that carries out jobs in order: a DMA channel, a matrix unit.
struct engine {
    label name;
};

}  // namespace tilewright
