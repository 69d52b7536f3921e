#include "kernels/channels.hpp"

#include <sys/mman.h>

#include <deque>
#include <tilewright/plan/planner.hpp>

#include "c_source/compiled.hpp"
#include "fuzz/drawing.hpp"

// Transfers on the channels of one engine, in C source: on the emulated machine, and on a device that moves nothing before the channel is
// waited for.

using namespace tilewright;
using channels::dsp_with, channels::l1, channels::l2;

namespace {

/// A DMA engine with channels, each of which does its jobs in order when it is waited for, and not before.
struct lazy_device {
    struct job {
        std::int64_t tag;
        char* destination;
        char const* source;
        std::int64_t row_bytes, rows, destination_stride, source_stride;
    };
    completion completes = completion::by_engine;
    std::vector<std::deque<job>> queues{};
    int starts = 0, fail_at = 0;

    void use(engine const& e) {
        completes = e.completes;
        queues.assign(static_cast<std::size_t>(e.channels), {});
        starts = fail_at = 0;
    }
    std::size_t in_flight() const {
        std::size_t all = 0;
        for (auto const& queue : queues) all += queue.size();
        return all;
    }
    int start(std::int64_t channel, job const& what) {
        if (channel < 0 || channel >= static_cast<std::int64_t>(queues.size())) return 45;
        if (++starts == fail_at) return 44;
        queues[channel].push_back(what);
        return 0;
    }
    int wait(std::int64_t channel, std::int64_t value) {
        if (channel < 0 || channel >= static_cast<std::int64_t>(queues.size()) || value < 0) return 46;
        std::deque<job>& queue = queues[channel];
        std::size_t count = queue.size();
        if (completes == completion::by_transfer) {
            while (count > 0 && queue[count - 1].tag != value) --count;
        } else {
            count -= std::min(count, completes == completion::by_engine ? 0 : static_cast<std::size_t>(value));
        }
        for (; count > 0; --count, queue.pop_front()) {
            job const& j = queue.front();
            for (std::int64_t row = 0; row < j.rows; ++row)
                std::memcpy(j.destination + row * j.destination_stride, j.source + row * j.source_stride,
                            static_cast<std::size_t>(j.row_bytes));
        }
        return 0;
    }
} device;

bool map_device() {
    auto const map = [](memory const& m) {
        void* const wanted = reinterpret_cast<void*>(m.base);
        return mmap(wanted, static_cast<std::size_t>(m.capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                    -1, 0) == wanted;
    };
    static bool const mapped = map(l1) && map(l2);
    return mapped;
}

constexpr machine one = dsp_with(1, completion::by_channel), two = dsp_with(2, completion::by_channel),
                  three = dsp_with(3, completion::by_transfer), four = dsp_with(4, completion::by_engine),
                  shallow = dsp_with(3, completion::by_channel, 1);
struct subject {
    machine const* where;
    semantics_table const* semantics;
};
constexpr subject subjects[] = {{&one, &semantics_of<one>},
                                {&two, &semantics_of<two>},
                                {&three, &semantics_of<three>},
                                {&four, &semantics_of<four>},
                                {&shallow, &semantics_of<shallow>}};

constexpr axis eo{"eo"}, ei{"ei"};
constexpr tensor<std::uint8_t> x{"x"}, y{"y"};

/// On the lazy device: what the oracle says, and nothing is in flight, however early a call fails.
void check_on_device(schedule const& made, plan_value const& plan) {
    REQUIRE(map_device());
    for (c_kernels::compiler const& with :
         {c_kernels::compilers[0], c_kernels::compiler{TILEWRIGHT_C_GCC, "-O1 -fsanitize=undefined -fno-sanitize-recover"}}) {
        c_kernels::c_kernel const kernel(made, plan, {"kernel", halide::binding::device, {}}, {}, with);
        INFO(kernel.text().source);
        kernels::operand_data const data = kernels::random_operands(plan, 17);
        Halide::Buffer<> const wanted = kernels::expected_of(plan, data);
        kernels::guarded_buffer result = kernels::make_result(data);
        device.use(plan.where->engines[0]);
        CHECK(kernel.run(plan, data, result.elements, {}) == 0);
        CHECK(kernels::same_bits(result.elements, wanted));
        CHECK(device.in_flight() == 0);
        for (int const last = device.starts, failing = std::max(1, last - 3); int at : {1, 2, failing, last}) {
            device.use(plan.where->engines[0]);
            device.fail_at = at;
            kernels::guarded_buffer other = kernels::make_result(data);
            CHECK(kernel.run(plan, data, other.elements, {}) == 44);
            CHECK(device.in_flight() == 0);
        }
    }
}

}  // namespace

extern "C" {
int dma_start(std::int64_t channel, std::int64_t tag, void* destination, void const* source, std::int64_t row_bytes, std::int64_t rows,
              std::int64_t destination_stride, std::int64_t source_stride) {
    return device.start(channel, {tag, static_cast<char*>(destination), static_cast<char const*>(source), row_bytes, rows,
                                  destination_stride, source_stride});
}
int dma_wait(std::int64_t channel, std::int64_t value) { return device.wait(channel, value); }
}

TEST_CASE("channels that are lazy until each is waited for, in C", "[long]") {
    axis const e{"e", 500};
    auto const twice = y(e) = x(e) + x(e);
    for (subject const& on_what : subjects) {
        for (int versions : {1, 2, 3, 4}) {
            INFO(on_what.where->engines[0].channels << " channels, " << versions << " versions");
            schedule made(twice, *on_what.where);
            made.split(e, eo, ei, 64).cache_read(x, l1).at(eo).buffers(versions).cache_write(y, l1).at(eo).buffers(5 - versions);
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            REQUIRE(!plan->refusal);
            check_on_device(made, *plan);
        }
    }
}
TEST_CASE("drawn products on channels, in C on a device and on the emulated machine", "[long]") {
    std::uint32_t seed = 1;
    for (int count = 0; count < 15;) {
        drawing draw(seed++);
        subject const& on_what = subjects[static_cast<std::size_t>(count) % std::size(subjects)];
        channels::draw_product(draw, *on_what.where, [&](schedule const& made) {
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            if (plan->refusal) return;
            INFO("seed " << seed - 1);
            check_on_device(made, *plan);
            emulator on(*on_what.where, *on_what.semantics);
            c_kernels::check_c_source(made, *plan, *plan, on);
            ++count;
        });
    }
}
