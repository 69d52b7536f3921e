#include "compiled.hpp"

// Devices whose loads write the border of what they read, and which do their work as late as they may.

using namespace c_kernels;

namespace {

constexpr memory dram{.name = "dram"};
alignas(64) std::int8_t scratch[32 * 1024];
memory const near_by{.name = "near_by", .base = reinterpret_cast<std::uintptr_t>(scratch), .capacity = sizeof scratch, .alignment = 64};
constexpr engine loader{"loader"};
constexpr axis h{"h", 13}, w{"w", 11}, c{"c", 5}, y{"y", 13}, x{"x", 11}, f{"f", 3}, r{"r", 3}, s{"s", 3};
constexpr axis yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
constexpr tensor<std::int8_t> in{"in"}, W{"W"};
constexpr tensor<std::int32_t> out{"out"};

/// Extents are those of what is written; what is read is less by the pads. The elements are bytes. 77: a call that it cannot make.
constexpr char const* device_h = R"(#include <stdint.h>
static struct job {
    const int8_t *source;
    int8_t *destination;
    int64_t row, rows, row_source, row_to, planes, plane_source, plane_to, left, right, above, below, front, behind, value, tag;
} jobs[16];
static int begun, finished;
static inline void run(const struct job *j) {
    for (int64_t p = 0; p < j->planes; ++p) {
        for (int64_t r = 0; r < j->rows; ++r) {
            for (int64_t e = 0; e < j->row; ++e) {
                int inside = p >= j->front && p < j->planes - j->behind && r >= j->above && r < j->rows - j->below && e >= j->left &&
                             e < j->row - j->right;
                int8_t *to = j->destination + p * j->plane_to + r * j->row_to + e;
                *to = (int8_t)j->value;
                if (inside) *to = j->source[(p - j->front) * j->plane_source + (r - j->above) * j->row_source + e - j->left];
            }
        }
    }
}
static inline int load(const void *source, void *destination, int64_t row, int64_t rows, int64_t row_source, int64_t row_to,
                       int64_t planes, int64_t plane_source, int64_t plane_to, int64_t left, int64_t right, int64_t above,
                       int64_t below, int64_t front, int64_t behind, int64_t value, int64_t tag) {
    struct job one = {source, destination, row, rows, row_source, row_to, planes, plane_source, plane_to,
                      left, right, above, below, front, behind, value, tag};
    if (left + right >= row || above + below >= rows || front + behind >= planes) return 77;
    if (left < 0 || right < 0 || above < 0 || below < 0 || front < 0 || behind < 0) return 77;
    jobs[begun++ % 16] = one;
    return 0;
}
static inline int plain(const void *source, void *destination, int64_t row, int64_t rows, int64_t row_source, int64_t row_to,
                        int64_t planes, int64_t plane_source, int64_t plane_to) {
    struct job one = {source, destination, row, rows, row_source, row_to, planes, plane_source, plane_to, 0, 0, 0, 0, 0, 0, 0, 0};
    run(&one);
    return 0;
}
static inline int counted(const void *source, void *destination, int64_t elements, int64_t size) {
    if (size != 1 && size != 4) return 78;
    for (int64_t at = 0; at < elements * size; ++at) ((int8_t *)destination)[at] = ((const int8_t *)source)[at];
    return 0;
}
static inline int loader_wait(int64_t tag) {
    int last = begun;
    while (last > finished && jobs[(last - 1) % 16].tag != tag) --last;
    while (finished < last) run(&jobs[finished++ % 16]);
    return 0;
}
)";

constexpr compiler careful{TILEWRIGHT_C_GCC, "-O1 -fsanitize=undefined -fno-sanitize-recover=undefined"};
/// Ends where a pointer leaves what it points into.
constexpr compiler trapping{TILEWRIGHT_C_CLANG, "-O1 -fsanitize=pointer-overflow -fsanitize-trap=pointer-overflow"};

/// On the device, on the emulated machine by C source, and by Halide's object: what the oracle says.
void check_everywhere(machine const& on, schedule const& made_by) {
    plan_value const plan = make_plan(made_by);
    INFO(to_string(plan.refusal));
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    kernels::operand_data const data = kernels::random_operands(plan, 17);
    Halide::Buffer<> const wanted = kernels::expected_of(plan, data, {});
    for (compiler const& with : {careful, trapping}) {
        c_kernel const kernel(made_by, plan, {"kernel", halide::binding::device, {"device.h"}}, {device_h}, with);
        INFO(kernel.text().source);
        kernels::guarded_buffer result = kernels::make_result(data);
        CHECK(kernel.run(plan, data, result.elements, {}) == 0);
        CHECK(kernels::same_bits(result.elements, wanted));
        CHECK((data.is_intact() && result.memory->is_intact()));
    }
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator emulated(on, none);
    check_c_source(made_by, plan, plan, emulated);
}

}  // namespace

TEST_CASE("a device that is told the border in each direction", "[long]") {
    auto const load = transfer("load", dram, near_by).on(loader).asynchronous().dimensions(3).fills_border();
    auto const on = machine("on", dram, near_by, loader, load);
    auto const conv = out(y, x, f) +=
        cast<std::int32_t>(padded(in(h, w, c), -9)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(r, s, c, f));
    check_everywhere(on, schedule(conv, on).cache_read(in, near_by));
    check_everywhere(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, near_by).at(xo).buffers(2));
    auto const wide = out(y, x, f) +=
        cast<std::int32_t>(padded(in(h, w, c), 5)(y + 2 * r - 3, x + s, c)) * cast<std::int32_t>(W(r, s, c, f));
    check_everywhere(on, schedule(wide, on).tile(y, x, yo, xo, yi, xi, 5, 3).cache_read(in, near_by).at(xo).buffers(3));
    auto const all = out(y, x, c) += cast<std::int32_t>(padded(in(h, w, c), -1)(y + r - 1, x + r - 2, c + r));
    check_everywhere(on, schedule(all, on).split(y, yo, yi, 6).cache_read(in, near_by).at(yo).buffers(2));
}
TEST_CASE("a core that fills the border beside what a device loads", "[long]") {
    auto const on = machine("on", dram, near_by, transfer("plain", dram, near_by).dimensions(3));
    auto const conv = out(y, x, f) +=
        cast<std::int32_t>(padded(in(h, w, c), -9)(y + r - 1, x + s - 1, c)) * cast<std::int32_t>(W(r, s, c, f));
    check_everywhere(on, schedule(conv, on).cache_read(in, near_by));
    check_everywhere(on, schedule(conv, on).tile(y, x, yo, xo, yi, xi, 4, 4).cache_read(in, near_by).at(xo));
}
TEST_CASE("a tile that begins before the data: no pointer leaves it") {
    auto const on = machine("on", dram, near_by, transfer("plain", dram, near_by).dimensions(3));
    axis const i{"i", 29}, io{"io"}, ii{"ii"};
    tensor<std::int32_t> const sums{"sums"};
    auto const backwards = sums(i) = cast<std::int32_t>(in(-2 * i));
    check_everywhere(on, schedule(backwards, on).split(i, io, ii, 17).cache_read(in, near_by).at(io));
    // Shared by cores, its offset alone is a number that wraps.
    memory const own{.name = "own", .capacity = 4_KiB, .per_core = true};
    core const two{.name = "core", .count = 2};
    auto const shared = machine("shared", dram, own, two, transfer("copied", dram, own).on(two));
    schedule const s = schedule(backwards, shared).split(i, io, ii, 17).distribute(io, two).cache_read(in, own).at(io);
    plan_value const plan = make_plan(s);
    INFO(to_string(plan.refusal));
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    std::string const source = halide::c_source(s, plan, {"kernel", halide::binding::emulated, {}}).source;
    INFO(source);
    CHECK(source.find("(const unsigned char *)in + ((") != std::string::npos);
    CHECK(source.find("(const unsigned char *)in + (uint64_t)") == std::string::npos);
}
TEST_CASE("a function that is told how many elements it moves, and how large one is") {
    auto const load = transfer("counted", dram, near_by)
                          .calls("counted", argument::source, argument::destination, argument::extent(0), argument::element_bytes);
    auto const on = machine("on", dram, near_by, load);
    axis const i{"i", 30}, io{"io"}, ii{"ii"};
    tensor<std::int32_t> const wide{"wide"}, sums{"sums"};
    auto const added = sums(i) = cast<std::int32_t>(in(i)) + wide(i);
    check_everywhere(on, schedule(added, on).split(i, io, ii, 16).cache_read(in, near_by).at(io).cache_read(wide, near_by).at(io));
}
