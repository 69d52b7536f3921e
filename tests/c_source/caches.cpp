#include "kernels/caches.hpp"

#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <deque>

#include "c_source/compiled.hpp"

// Kernels on cores with caches, as C, on a device that keeps nothing coherent: each core is a process, whose own memory is its cache. What
// it loads and stores there comes from the memory of all, and goes there, only when it is told to.

using namespace tilewright;
using namespace cached_cores;

namespace {

constexpr std::int64_t line = 64;

/// What all cores have in common.
struct common {
    std::atomic<int> come, meetings, failed;
    std::atomic<int> signals[2][2][16];  ///< from, to, queue
};
common* shared = nullptr;
int mine = 0, core_count = 1;
/// Calls that do nothing.
enum class left_out { none, cleans, invalidates } without = left_out::none;

/// A range of addresses: as the core has it in its cache, as it has read it, and as the memory is.
struct cached_range {
    char *cache, *memory;
    std::vector<char> read;
    std::int64_t bytes;
};
std::deque<cached_range> ranges;

/// Bytes that all processes see.
char* map_shared(std::size_t bytes) {
    return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}
bool map_at(std::uint64_t base, std::int64_t bytes) {
    void* const wanted = reinterpret_cast<void*>(base);
    return mmap(wanted, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                0) == wanted;
}
cached_range* range_of(void const* address) {
    auto const* const at = static_cast<char const*>(address);
    for (cached_range& one : ranges) {
        if (at >= one.cache && at < one.cache + one.bytes) return &one;
    }
    return nullptr;
}
/// Where an engine finds an address.
char* in_memory(void const* address) {
    cached_range const* const found = range_of(address);
    auto* const at = static_cast<char*>(const_cast<void*>(address));
    return found == nullptr ? at : found->memory + (at - found->cache);
}
/// Writes changed lines back; then, if it is to forget them, reads all lines anew.
int keep_up(void const* address, std::int64_t bytes, bool forgets) {
    cached_range* const found = range_of(address);
    if (found == nullptr) return 61;
    std::int64_t const first = (static_cast<char const*>(address) - found->cache) / line * line;
    for (std::int64_t at = first; at < static_cast<char const*>(address) - found->cache + bytes && at < found->bytes; at += line) {
        auto const size = static_cast<std::size_t>(std::min(line, found->bytes - at));
        char *const cache = found->cache + at, *const memory = found->memory + at, *const read = found->read.data() + at;
        if (std::memcmp(cache, read, size) != 0) std::memcpy(memory, cache, size), std::memcpy(read, cache, size);
        // The memory is read once: another core may write it meanwhile, and a second look would make the line seem changed.
        if (forgets) std::memcpy(cache, memory, size), std::memcpy(read, cache, size);
    }
    return 0;
}

struct job {
    std::int64_t tag;
    char* destination;
    char const* source;
    std::int64_t row_bytes, rows, destination_stride, source_stride;
};
std::deque<job> dma_jobs, l2_jobs[4];

int start(std::deque<job>& queue, std::int64_t tag, void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows,
          std::int64_t source_stride, std::int64_t destination_stride) {
    queue.push_back({tag, in_memory(destination), in_memory(source), row_bytes, rows, destination_stride, source_stride});
    return 0;
}
/// Jobs are done when they are waited for.
int wait(std::deque<job>& queue, std::int64_t tag) {
    std::size_t count = queue.size();
    while (count > 0 && queue[count - 1].tag != tag) --count;
    for (; count > 0; --count, queue.pop_front()) {
        job const& j = queue.front();
        for (std::int64_t row = 0; row < j.rows; ++row)
            std::memcpy(j.destination + row * j.destination_stride, j.source + row * j.source_stride,
                        static_cast<std::size_t>(j.row_bytes));
    }
    return 0;
}

}  // namespace

extern "C" {
int cached_load(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                std::int64_t destination_stride, std::int64_t tag) {
    return start(dma_jobs, tag, source, destination, row_bytes, rows, source_stride, destination_stride);
}
int cached_store(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                 std::int64_t destination_stride, std::int64_t tag) {
    return start(dma_jobs, tag, source, destination, row_bytes, rows, source_stride, destination_stride);
}
int cached_down(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                std::int64_t destination_stride) {
    start(dma_jobs, 999, source, destination, row_bytes, rows, source_stride, destination_stride);
    return wait(dma_jobs, 999);
}
int cached_dma_wait(std::int64_t tag) { return wait(dma_jobs, tag); }
int cached_fetch(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                 std::int64_t destination_stride, std::int64_t channel, std::int64_t tag) {
    return start(l2_jobs[channel], tag, source, destination, row_bytes, rows, source_stride, destination_stride);
}
int cached_drain(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t source_stride,
                 std::int64_t destination_stride, std::int64_t channel, std::int64_t tag) {
    return cached_fetch(source, destination, row_bytes, rows, source_stride, destination_stride, channel, tag);
}
int cached_l2_dma_wait(std::int64_t channel, std::int64_t tag) { return wait(l2_jobs[channel], tag); }
int cached_triple(void const* source, void* result) {
    for (int at = 0; at < 16; ++at) {
        std::int32_t value = 0;
        std::memcpy(&value, in_memory(source) + at * 4, 4);
        value *= 3;
        std::memcpy(in_memory(result) + at * 4, &value, 4);
    }
    return 0;
}
int cached_dsp_clean(void const* address, std::int64_t bytes) { return without == left_out::cleans ? 0 : keep_up(address, bytes, false); }
int cached_dsp_invalidate(void const* address, std::int64_t bytes) {
    return without == left_out::invalidates ? 0 : keep_up(address, bytes, true);
}
int cached_dsp_barrier(std::int64_t core, std::int64_t status) {
    if (core != mine) return 62;
    if (status != 0) shared->failed = static_cast<int>(status);
    int const before = shared->meetings;
    if (++shared->come == core_count) shared->come = 0, ++shared->meetings;
    while (shared->meetings == before && shared->failed == 0) {
    }
    return shared->failed;
}
int cached_dsp_signal(std::int64_t core, std::int64_t peer, std::int64_t queue) { return ++shared->signals[core][peer][queue], 0; }
int cached_dsp_await(std::int64_t core, std::int64_t peer, std::int64_t queue) {
    while (shared->signals[peer][core][queue] == 0 && shared->failed == 0) {
    }
    return --shared->signals[peer][core][queue], static_cast<int>(shared->failed);
}
}

namespace {

/// A tensor's elements, as bytes.
std::pair<char*, std::int64_t> bytes_of(Halide::Buffer<> const& of) {
    return {static_cast<char*>(const_cast<void*>(of.data())), static_cast<std::int64_t>(of.size_in_bytes())};
}
/// The memory of all has what the core has there now; its cache has something else, of long ago.
void see_through_cache(char* at, std::int64_t bytes) {
    char* const memory = map_shared(static_cast<std::size_t>(bytes));
    std::memcpy(memory, at, static_cast<std::size_t>(bytes));
    std::memset(at, 0x5a, static_cast<std::size_t>(bytes));
    ranges.push_back({at, memory, std::vector<char>(at, at + bytes), bytes});
}

/// Runs a kernel, each core in a process of its own. @return 0, the code of a core, or 99 for a result that differs
int run(c_kernels::c_kernel const& kernel, plan_value const& plan, left_out which = left_out::none) {
    without = which;
    kernels::operand_data const data = kernels::random_operands(plan, 8);
    Halide::Buffer<> const wanted = kernels::expected_of(plan, data);
    kernels::guarded_buffer made = kernels::make_result(data);
    shared = reinterpret_cast<common*>(map_shared(sizeof(common)));
    ranges.clear();
    for (Halide::Buffer<> const& one : data.inputs) see_through_cache(bytes_of(one).first, bytes_of(one).second);
    // A kernel may add to what its result was.
    see_through_cache(bytes_of(made.elements).first, bytes_of(made.elements).second);
    see_through_cache(reinterpret_cast<char*>(l2.base), l2.capacity);
    core_count = plan.cores;
    std::vector<pid_t> processes;
    for (int core = 0; core < core_count; ++core) {
        pid_t const process = fork();
        if (process != 0) {
            processes.push_back(process);
            continue;
        }
        mine = core;
        alarm(30);
        _exit(kernel.run(plan, data, made.elements, {}, core) & 0xff);
    }
    int code = 0;
    for (pid_t const process : processes) {
        int status = 0;
        waitpid(process, &status, 0);
        if (code == 0) code = WIFEXITED(status) ? WEXITSTATUS(status) : 98;
    }
    if (code != 0) return code;
    cached_range const& result = ranges[data.inputs.size()];
    return std::memcmp(result.memory, wanted.data(), static_cast<std::size_t>(result.bytes)) == 0 ? 0 : 99;
}

}  // namespace

TEST_CASE("kernels in C on cores whose caches nothing keeps coherent") {
    static bool const mapped = map_at(l2.base, l2.capacity) && map_at(tcm.base, tcm.capacity);
    REQUIRE(mapped);
    for (schedule const& of : with_caches()) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        for (c_kernels::compiler const& with : c_kernels::compilers) {
            c_kernels::c_kernel const kernel(of, *plan, {"kernel", halide::binding::device, {}}, {}, with);
            INFO(kernel.text().header << kernel.text().source);
            CHECK(run(kernel, *plan) == 0);
            // Without, results are wrong: the device is one on which it counts.
            bool cleans = false;
            for (int at = 0; at < plan->steps.size(); ++at) cleans |= plan->steps[at].kind == ir::step_kind::clean;
            CHECK(run(kernel, *plan, left_out::cleans) == (cleans ? 99 : 0));
            CHECK(run(kernel, *plan, left_out::invalidates) == 99);
        }
    }
}
