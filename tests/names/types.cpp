#include "names/names.hpp"

using namespace tilewright;

// A type of each name, used at namespace scope and in a function.
#define TYPE(name)     \
    struct name {      \
        int first = 1; \
    };                 \
    constexpr int first_of(name const& own) { return own.first; }
OWN_NAMES(TYPE)

constexpr int in_a_function() {
    int ones = 0;
#define USE(name)    \
    name own_##name; \
    ones += first_of(own_##name);
    OWN_NAMES(USE)
    return ones;
}
static_assert(in_a_function() > 60);

// And the library beside them.
constexpr memory dram{.name = "dram"};
constexpr auto host = machine("host", dram);
constexpr axis i{"i", 4096};
constexpr tensor<float> in{"in"}, out{"out"};
constexpr auto twice = out(i) = in(i)*2;
constexpr auto on_host = schedule(twice, host);
static_assert(plan<on_host>.cycles() > 0);
