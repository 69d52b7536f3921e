#include <tilewright/tune/tune.hpp>
using namespace tilewright;

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 8_KiB};
constexpr engine loader{"loader"}, storer{"storer"};
constexpr auto get = transfer("get", dram, spad).on(loader).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto put = transfer("put", spad, dram).on(storer).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto dsp = machine("dsp", dram, spad, loader, storer, get, put);

constexpr axis i{"i", 4096}, o{"o"}, n{"n"};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};
constexpr auto triple = out(i) = in(i)*3;

// The schedule, with two numbers left open.
constexpr schedule tiled(tune::configuration const& c) {
    schedule s(triple, dsp);
    s.split(i, o, n, c["tile"]);
    s.cache_read(in, spad).at(o).by(get).buffers(static_cast<int>(c["versions"]));
    s.cache_write(out, spad).at(o).by(put).buffers(static_cast<int>(c["versions"]));
    return s;
}

int main(int count, char** arguments) {
    tune::problem const problem{.name = "triple",
                                .shape = {4096},
                                .configurations = {{tune::range("tile", 64, 1024, 64), {"versions", {1, 2, 3}}},
                                                   [](tune::configuration const& c) { return c["tile"] * c["versions"] <= 2048; }},
                                .scheduled = tiled,
                                .semantics = &semantics_of<dsp>};
    return tune::main(problem, count, arguments);
}
