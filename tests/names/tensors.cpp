#include "names/names.hpp"

using namespace tilewright;

constexpr memory dram{.name = "dram"}, tcm{.name = "tcm", .capacity = 64_KiB};
constexpr engine dma{"dma"};
constexpr auto load = transfer("load", dram, tcm).on(dma).asynchronous();
constexpr auto dsp = machine("dsp", dram, tcm, dma, load);
constexpr axis i{"i", 4096}, io{"io"}, ii{"ii"};
constexpr tensor<float> out{"out"};

// A tensor of each name, and a kernel that reads it.
#define TENSOR(name)                                    \
    constexpr tensor<float> name{#name};                \
    constexpr auto twice_##name = out(i) = name(i) * 2; \
    constexpr auto name##_on_dsp = schedule(twice_##name, dsp).split(i, io, ii, 512).cache_read(name, tcm).at(io).buffers(2);
OWN_NAMES(TENSOR)

// Planning them all would take long: half a dozen are.
#define COUNT(name) +(name##_on_dsp.directive_count() == 4)
static_assert(0 OWN_NAMES(COUNT) > 60);
static_assert(plan<node_on_dsp>.peak(tcm) == 4_KiB);
static_assert(plan<label_on_dsp>.peak(tcm) == 4_KiB);
static_assert(plan<stage_on_dsp>.cycles() == plan<share_on_dsp>.cycles());
static_assert(plan<rule_on_dsp>.cycles() == plan<fact_on_dsp>.cycles());

// All in one function, where some are loops.
constexpr auto weighted(axis const& row, axis const& channel) {
    constexpr tensor<float> value{"value"}, share{"share"}, core{"core"};
    return core(row) = sum(channel, value(row, channel) * share(channel));
}
constexpr axis row_of_values{"row", 64}, channel_of_values{"channel", 16};
constexpr auto weighted_values = weighted(row_of_values, channel_of_values);
constexpr auto weighted_on_dsp = schedule(weighted_values, dsp).cache_read(share, tcm);
static_assert(plan<weighted_on_dsp>.peak(tcm) == 64);

// Names that the C library has, too, in a namespace of the program's own.
namespace app {
TENSOR(index)
TENSOR(link)
TENSOR(time)
static_assert(plan<index_on_dsp>.peak(tcm) == 4_KiB);
static_assert(plan<link_on_dsp>.peak(tcm) == plan<time_on_dsp>.peak(tcm));
}  // namespace app
