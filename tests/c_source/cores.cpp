#include "kernels/multicast.hpp"
#include "kernels/unlike_cores.hpp"

#include <sys/mman.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tilewright/emulate/core_team.hpp>

#include "c_source/compiled.hpp"

// Kernels that several cores share, as C: on emulated cores, and on a device whose engines move nothing before they are waited for.

using namespace tilewright;
using namespace cores_of_dsp;

namespace {

/// The core that a thread of this process plays.
thread_local int mine = 0;

/// Four cores with engines that do their jobs in order when they are waited for, and a barrier.
struct lazy_cores {
    struct job {
        std::int64_t tag;
        char* destination;
        char const* source;
        std::int64_t row_bytes, rows, destination_stride, source_stride;
        std::int64_t cores = 1;  ///< that get it, from core 0 on

        void carry_out() const {
            for (std::int64_t core = 0; core < cores; ++core) {
                char* const own = destination + (tcm.core_bases[static_cast<std::size_t>(core)] - tcm.core_bases[0]) * (cores > 1 ? 1 : 0);
                for (std::int64_t row = 0; row < rows; ++row) {
                    auto const bytes = static_cast<std::size_t>(row_bytes);
                    if (source == nullptr) std::memset(own + row * destination_stride, 0, bytes);
                    else std::memcpy(own + row * destination_stride, source + row * source_stride, bytes);
                }
            }
        }
    };
    std::deque<job> of_core[4], of_channel[8], of_noc;  ///< the DMA engine of each core, the one of all, and the one that writes to all
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::array<std::int64_t, 3>, int> signals;  ///< from, to, queue
    int come = 0, meetings = 0;
    std::int64_t failed = 0;
    int starts = 0, fail_at = 0, cores = 4;

    void reset() {
        for (auto& queue : of_core) queue.clear();
        for (auto& queue : of_channel) queue.clear();
        of_noc.clear();
        signals.clear();
        come = meetings = starts = fail_at = 0;
        failed = 0;
    }
    int start(std::deque<job>& queue, job const& what) {
        std::lock_guard<std::mutex> const lock(mutex);
        if (++starts == fail_at) return 44;
        queue.push_back(what);
        return 0;
    }
    int wait(std::deque<job>& queue, std::int64_t tag) {
        std::lock_guard<std::mutex> const lock(mutex);
        std::size_t count = queue.size();
        while (count > 0 && queue[count - 1].tag != tag) --count;
        for (; count > 0; --count, queue.pop_front()) queue.front().carry_out();
        return 0;
    }
    int barrier(std::int64_t status) {
        std::unique_lock<std::mutex> lock(mutex);
        if (status != 0 && failed == 0) failed = status;
        if (failed != 0) return changed.notify_all(), static_cast<int>(failed);
        int const mine = meetings;
        if (++come == cores) come = 0, ++meetings, changed.notify_all();
        changed.wait(lock, [&] { return meetings != mine || failed != 0; });
        return meetings != mine ? 0 : static_cast<int>(failed);
    }
    int signal(std::int64_t to, std::int64_t queue) {
        std::lock_guard<std::mutex> const lock(mutex);
        ++signals[{mine, to, queue}];
        changed.notify_all();
        return 0;
    }
    int await(std::int64_t from, std::int64_t queue) {
        std::unique_lock<std::mutex> lock(mutex);
        int& sent = signals[{from, mine, queue}];
        changed.wait(lock, [&] { return sent > 0 || failed != 0; });
        if (sent == 0) return static_cast<int>(failed);
        --sent;
        return 0;
    }
    bool is_idle() const {
        bool idle = true;
        for (auto const& [name, sent] : signals) idle = idle && (sent == 0 || failed != 0);
        for (auto const& queue : of_core) idle = idle && queue.empty();
        for (auto const& queue : of_channel) idle = idle && queue.empty();
        return idle && of_noc.empty();
    }
} device;

bool map_device() {
    auto const map = [](std::uint64_t base, memory const& m) {
        void* const wanted = reinterpret_cast<void*>(base);
        return mmap(wanted, static_cast<std::size_t>(m.capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                    -1, 0) == wanted;
    };
    static bool const mapped = map(l2.base, l2) && map(tcm.core_bases[0], tcm) && map(tcm.core_bases[1], tcm) &&
                               map(tcm.core_bases[2], tcm) && map(tcm.core_bases[3], tcm);
    return mapped;
}

int run_on_device(c_kernels::c_kernel const& kernel, plan_value const& plan, kernels::operand_data const& data, Halide::Buffer<>& result,
                  int (&codes)[4]) {
    std::vector<std::thread> threads;
    for (int core = 0; core < plan.cores; ++core)
        threads.emplace_back([&, core] {
            mine = core;
            codes[core] = kernel.run(plan, data, result, {}, core);
        });
    for (std::thread& thread : threads) thread.join();
    return codes[0] != 0 ? codes[0] : codes[1] != 0 ? codes[1] : codes[2] != 0 ? codes[2] : codes[3];
}

std::vector<schedule> kernels_of_four() {
    std::vector<schedule> all = with_barriers();
    for (schedule const& of : with_signals()) all.push_back(of);
    all.push_back(schedule(matmul, four)
                      .split(m, mo, mi, 5)
                      .distribute(mo, dsp)
                      .cache_read(A, tcm)
                      .at(mo)
                      .buffers(2)
                      .cache_read(B, tcm)
                      .at("mo.core")
                      .cache_write(C, tcm)
                      .at(mo)
                      .buffers(2));
    return all;
}
std::vector<schedule> kernels_of_two_kinds() {
    std::vector<schedule> all = unlike_cores::in_shares();
    for (schedule const& of : unlike_cores::by_stages()) all.push_back(of);
    return all;
}
/// c = a * b of so many rows, or c + a * b.
void multiply(void const* a, std::int64_t a_stride, void const* b, std::int64_t b_stride, void* c, std::int64_t c_stride, std::int64_t rows,
              bool begins) {
    auto const* const left = static_cast<std::int8_t const*>(a);
    auto const* const right = static_cast<std::int8_t const*>(b);
    auto* const sums = static_cast<std::int32_t*>(c);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < 6; ++j) {
            std::int32_t& sum = sums[i * c_stride + j];
            if (begins) sum = 0;
            for (std::int64_t r = 0; r < 5; ++r) sum += left[i * a_stride + r] * right[r * b_stride + j];
        }
    }
}

}  // namespace

extern "C" {
int cores_load(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
               std::int64_t destination_stride, std::int64_t tag) {
    return device.start(device.of_core[mine], {tag, static_cast<char*>(destination), static_cast<char const*>(source), row_bytes, rows,
                                               destination_stride, source_stride});
}
int cores_store(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                std::int64_t destination_stride, std::int64_t tag) {
    return cores_load(source, destination, row_bytes, rows, source_stride, destination_stride, tag);
}
int cores_down(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
               std::int64_t destination_stride, std::int64_t tag) {
    return cores_load(source, destination, row_bytes, rows, source_stride, destination_stride, tag);
}
int cores_dma_wait(std::int64_t tag) { return device.wait(device.of_core[mine], tag); }
int cores_fetch(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                std::int64_t destination_stride, std::int64_t channel, std::int64_t tag) {
    if (channel / 2 != mine) return 45;
    return device.start(device.of_channel[channel], {tag, static_cast<char*>(destination), static_cast<char const*>(source), row_bytes,
                                                     rows, destination_stride, source_stride});
}
int cores_up(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
             std::int64_t destination_stride, std::int64_t channel) {
    if (int const code = cores_fetch(source, destination, row_bytes, rows, source_stride, destination_stride, channel, 99); code != 0)
        return code;
    return device.wait(device.of_channel[channel], 99);
}
int cores_l2_wait(std::int64_t channel, std::int64_t tag) { return device.wait(device.of_channel[channel], tag); }
int cores_spread(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                 std::int64_t destination_stride, std::int64_t cores, std::int64_t tag) {
    if (mine != 0 || cores != device.cores) return 48;  // core 0 alone calls it
    return device.start(device.of_noc, {tag, static_cast<char*>(destination), static_cast<char const*>(source), row_bytes, rows,
                                        destination_stride, source_stride, cores});
}
int cores_spread_l2(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                    std::int64_t destination_stride, std::int64_t cores, std::int64_t tag) {
    return cores_spread(source, destination, row_bytes, rows, source_stride, destination_stride, cores, tag);
}
int cores_noc_wait(std::int64_t tag) { return device.wait(device.of_noc, tag); }
int cores_clear(void const*, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t, std::int64_t destination_stride,
                std::int64_t cores) {
    if (int const code = cores_spread(nullptr, destination, row_bytes, rows, 0, destination_stride, cores, 98); code != 0) return code;
    return device.wait(device.of_noc, 98);
}
int cores_spread_now(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                     std::int64_t destination_stride, std::int64_t planes, std::int64_t source_plane, std::int64_t destination_plane,
                     std::int64_t cores) {
    for (std::int64_t plane = 0; plane < planes; ++plane) {
        if (int const code = cores_spread(static_cast<char const*>(source) + plane * source_plane,
                                          static_cast<char*>(destination) + plane * destination_plane, row_bytes, rows, source_stride,
                                          destination_stride, cores, 98);
            code != 0)
            return device.wait(device.of_noc, 98), code;
    }
    return device.wait(device.of_noc, 98);
}
int cores_signal(std::int64_t core, std::int64_t peer, std::int64_t queue) { return core == mine ? device.signal(peer, queue) : 46; }
int cores_await(std::int64_t core, std::int64_t peer, std::int64_t queue) { return core == mine ? device.await(peer, queue) : 46; }
int cores_barrier(std::int64_t core, std::int64_t status) { return core == mine ? device.barrier(status) : 46; }

// Of a machine whose core 0 is of another kind than the rest.
int cores_back(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
               std::int64_t destination_stride) {
    lazy_cores::job{
        0, static_cast<char*>(destination), static_cast<char const*>(source), row_bytes, rows, destination_stride, source_stride}
        .carry_out();
    return 0;
}
int cores_vectors_meet(std::int64_t core, std::int64_t status) { return core == 0 ? 47 : cores_barrier(core, status); }
int control_signal(std::int64_t core, std::int64_t peer, std::int64_t queue) { return core == 0 ? cores_signal(core, peer, queue) : 47; }
int control_await(std::int64_t core, std::int64_t peer, std::int64_t queue) { return core == 0 ? cores_await(core, peer, queue) : 47; }
#define PRODUCT(name, kind, begins)                                                                                      \
    int name(void const* a, std::int64_t a_stride, void const* b, std::int64_t b_stride, void* c, std::int64_t c_stride, \
             std::int64_t rows) {                                                                                        \
        if ((mine == 0) != (kind == 0)) return 47;                                                                       \
        multiply(a, a_stride, b, b_stride, c, c_stride, rows, begins);                                                   \
        return 0;                                                                                                        \
    }
PRODUCT(control_mac, 0, false)
PRODUCT(control_mul, 0, true)
PRODUCT(vector_mac, 1, false)
PRODUCT(vector_mul, 1, true)
}

namespace {

template <auto const& Machine>
void run_emulated(std::vector<schedule> const& all) {
    for (schedule const& of : all) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        core_team team(Machine, semantics_of<Machine>, plan->cores);
        kernels::operand_data const data = kernels::random_operands(*plan, 8);
        Halide::Buffer<> const wanted = kernels::expected_of(*plan, data);
        for (c_kernels::compiler const& with : c_kernels::compilers) {
            c_kernels::c_kernel const kernel(of, *plan, team.on(0), with);
            INFO(kernel.text().source);
            for (interleaving how : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
                team.use(how, 9);
                team.use(how == interleaving::first ? progress::latest : progress::random, 9);
                team.reset();
                kernels::guarded_buffer made = kernels::make_result(data);
                CHECK(team.run([&](int core) { return kernel.run(*plan, data, made.elements, {}, core); }) == 0);
                CHECK(team.error() == "");
                CHECK(team.cycles() == plan->cycles());
                CHECK(kernels::same_bits(made.elements, wanted));
                CHECK(made.memory->is_intact());
            }
        }
    }
}

/// @return how many runs were made to fail
int run_on_device(std::vector<schedule> const& all) {
    REQUIRE(map_device());
    int failures = 0;
    for (schedule const& of : all) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        kernels::operand_data const data = kernels::random_operands(*plan, 8);
        Halide::Buffer<> const wanted = kernels::expected_of(*plan, data);
        for (c_kernels::compiler const& with : c_kernels::compilers) {
            c_kernels::c_kernel const kernel(of, *plan, {"kernel", halide::binding::device, {}}, {}, with);
            INFO(kernel.text().source);
            int codes[4]{};
            device.reset();
            device.cores = plan->cores;
            kernels::guarded_buffer made = kernels::make_result(data);
            CHECK(run_on_device(kernel, *plan, data, made.elements, codes) == 0);
            CHECK(kernels::same_bits(made.elements, wanted));
            CHECK(device.is_idle());
            // A call that fails on one core ends all of them at their next barrier; nothing stays in flight, and nothing hangs.
            int const calls = device.starts;
            for (int fail_at = 1; fail_at <= calls; fail_at += 1 + calls / 7) {
                device.reset();
                device.fail_at = fail_at;
                CHECK(run_on_device(kernel, *plan, data, made.elements, codes) == 44);
                for (int code : codes) CHECK((code == 0 || code == 44));
                CHECK(device.is_idle());
                ++failures;
            }
            CHECK(kernel.run(*plan, data, made.elements, {}, plan->cores) == -3000);
            CHECK(kernel.run(*plan, data, made.elements, {}, -1) == -3000);
        }
    }
    return failures;
}

}  // namespace

TEST_CASE("cores share a kernel in C on emulated cores") { run_emulated<four>(kernels_of_four()); }
TEST_CASE("cores of two kinds share a kernel in C on emulated cores") { run_emulated<unlike_cores::mixed>(kernels_of_two_kinds()); }
TEST_CASE("one call brings a tile to all cores in C on emulated cores") {
    run_emulated<with_noc>(with_multicasts());
    run_emulated<unlike_cores::mixed_noc>(unlike_cores::with_multicasts());
}

TEST_CASE("one call of core 0 brings a tile to all cores in C on a device") {
    CHECK(run_on_device(with_multicasts()) >= 40);
    CHECK(run_on_device(unlike_cores::with_multicasts()) >= 5);
}
TEST_CASE("the prototype of a multicast has the number of cores, and core 0 alone calls it") {
    schedule const of = with_multicasts()[6];  // three of four cores
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    REQUIRE(plan->cores == 3);
    c_kernels::c_kernel const kernel(of, *plan, {"kernel", halide::binding::device, {}}, {}, c_kernels::compilers[0]);
    std::string const &text = kernel.text().source, &header = kernel.text().header;
    INFO(header << text);
    CHECK(header.find("l2 to tcm of each core, at the offset that it has in that of core 0") != std::string::npos);
    CHECK(header.find("int64_t destination_stride_1, int64_t cores, int64_t tag);") != std::string::npos);
    std::size_t const call = text.find("cores_spread_l2(B_l2_address, B_tcm_address_0, 6, 20, 18, 6, 3, 1)");
    REQUIRE(call != std::string::npos);
    CHECK(text.rfind("if (core == 0) {", call) > text.rfind("}", call));
}
TEST_CASE("cores share a kernel in C on a device") { CHECK(run_on_device(kernels_of_four()) >= 40); }
TEST_CASE("cores of two kinds share a kernel in C on a device, each by the functions of its kind") {
    CHECK(run_on_device(kernels_of_two_kinds()) >= 25);
}
