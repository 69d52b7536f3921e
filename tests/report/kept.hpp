#pragma once
#include <deque>
#include <tilewright/machine/machine.hpp>

/// A machine that a test describes in passing: schedules point at it, so it must stay.
inline tilewright::machine const& kept(tilewright::machine const& what) {
    static std::deque<tilewright::machine> all;
    return all.emplace_back(what);
}
