#include <tilewright/report/json.hpp>

// A list that forgets a member: what compilers say where a report walks it.

struct part {
    int rows = 0;
    tilewright::fixed_array<int, 2> extents{};
    bool last = false;
#if defined(FORGOTTEN)
    int forgotten = 0;
#endif
};
struct whole {
    part first{}, second{};
    int count = 0;
#if defined(FORGOTTEN_BESIDE_A_CONSTRUCTOR)
    int forgotten = 0;
#endif

    constexpr explicit whole(int parts) : count(parts) {}
};
BOOST_HANA_ADAPT_STRUCT(part, rows, extents, last);
BOOST_HANA_ADAPT_STRUCT(whole, first, second, count);

static_assert(tilewright::equal(whole(2), whole(2)));
static_assert(!tilewright::equal(whole(1), whole(2)));
