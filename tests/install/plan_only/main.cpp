#include <cstdio>

#include "brighten.hpp"

static_assert(TILEWRIGHT_VERSION == TILEWRIGHT_VERSION_MAJOR * 10'000 + TILEWRIGHT_VERSION_MINOR * 100 + TILEWRIGHT_VERSION_PATCH);

int main() {
    constexpr double bytes{tilewright::plan<consumer::brighten_on_dsp>.peak(consumer::spad)};
    std::printf("tilewright %d.%d.%d: %.0f bytes\n", TILEWRIGHT_VERSION_MAJOR, TILEWRIGHT_VERSION_MINOR, TILEWRIGHT_VERSION_PATCH, bytes);
}
