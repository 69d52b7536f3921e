#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "dma_device.h"
#include "dma_self_test.h"
#include "npu_device.h"
#include "npu_self_test.h"
#include "rows_device.h"
#include "rows_self_test.h"

// Self-tests that are made from machines, run on devices that were written by hand: a right one passes, and each mistake is found and
// named.

namespace {

std::string printed;
void put(char letter) { printed += letter; }
bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

template <class Print>
std::string text_of(Print const& print) {
    printed.clear();
    print();
    return printed;
}

/// A pool of a device, in this process, between bytes that a wrong device may reach.
struct pool {
    static constexpr std::size_t around = std::size_t{1} << 20;
    explicit pool(std::size_t bytes) : all(around + bytes + 4096 + around) {}
    void* begin() { return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(all.data()) + around + 4095) / 4096 * 4096); }
    std::vector<unsigned char> all;
};

struct outcome {
    int result = 0;
    std::string failures{}, rows{};
};

enum class access { by_the_device, by_callbacks, by_reads_alone };

/// The array that an address of the accelerator is in.
unsigned char* in_npu(std::uint64_t address) {
    unsigned char* const inside = npu_at(address);
    return inside != nullptr ? inside : reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(address));
}
outcome run_npu(npu_mistake mistake, access how) {
    npu_has = mistake;
    std::memset(npu_spad, 0, sizeof npu_spad), std::memset(npu_acc, 0, sizeof npu_acc);
    pool dram(npu_self_test_dram_BYTES);
    outcome made;
    npu_self_test_setup setup{};
    setup.dram = dram.begin();
    setup.context = &made;
    setup.failed = [](void* context, npu_self_test_failure const* what) {
        static_cast<outcome*>(context)->failures += text_of([&] { npu_self_test_print(what, put); });
    };
    if (how != access::by_the_device) {
        setup.read = [](void*, int, std::uint64_t address, std::int64_t bytes, void* to) {
            std::memcpy(to, in_npu(address), static_cast<std::size_t>(bytes));
            return 0;
        };
    }
    if (how == access::by_callbacks) {
        setup.write = [](void*, int, std::uint64_t address, std::int64_t bytes, void const* from) {
            std::memcpy(in_npu(address), from, static_cast<std::size_t>(bytes));
            return 0;
        };
    }
    made.result = npu_self_test(&setup);
    made.rows = text_of([] { npu_self_test_print_rows(put); });
    return made;
}

}  // namespace

TEST_CASE("a right device passes, by callbacks that reach its memories") {
    outcome const made = run_npu(npu_is_right, access::by_callbacks);
    CHECK(made.failures == "");
    CHECK(made.result == 0);
    CHECK(contains(made.rows, "mvin: 59 cases, 59 passed\n"));
    CHECK(contains(made.rows, "memories: 3 cases, 3 passed\n"));
}
TEST_CASE("a right device passes through its own transfers, and what nobody can look at is counted and not passed") {
    outcome const made = run_npu(npu_is_right, access::by_the_device);
    CHECK(made.failures == "");
    CHECK(made.result == -1);
    CHECK(contains(made.rows, "mvin: 59 cases, 0 passed, 59 not seen\n"));
    CHECK(contains(made.rows, "mvout: 59 cases, 59 passed\n"));
    CHECK(contains(made.rows, "memories: 3 cases, 1 passed, 2 not reached\n"));
}
TEST_CASE("a probe that only reads sees what no transfer of the device brings out") {
    outcome const made = run_npu(npu_is_right, access::by_reads_alone);
    CHECK(made.failures == "");
    CHECK(made.result == 0);
    CHECK(contains(made.rows, "mvin: 59 cases, 59 passed\n"));
    CHECK(contains(made.rows, "memories: 3 cases, 2 passed, 1 not reached\n"));  // nothing writes acc, but mul16
}
TEST_CASE("each mistake of the accelerator is found and named") {
    auto const found = [](npu_mistake mistake, std::string const& part, std::string const& what) {
        std::string const failures = run_npu(mistake, access::by_callbacks).failures;
        INFO(failures);
        CHECK(run_npu(mistake, access::by_callbacks).result > 0);
        CHECK(contains(failures, part + ", case "));
        CHECK(contains(failures, what));
    };
    found(npu_ignores_source_stride, "mvin", "as if the source stride of dimension 1 were ignored");
    found(npu_ignores_destination_stride, "mvin", "as if the destination stride of dimension 1 were ignored");
    found(npu_loses_last_row, "mvin", "destination[2, 0] in spad at 0x50000044");
    found(npu_loses_last_row, "mvin", "as if it moved one less in dimension 1");
    found(npu_starts_one_row_late, "mvin", "as if it began one further in dimension 1 of the source");
    found(npu_stores_one_row_too_many, "mvin", "stray byte 6 of destination in spad");
    found(npu_stores_one_row_too_many, "mvin", "as if it moved one more in dimension 1");
    found(npu_aligns_addresses, "mvin", "stray byte -1 of destination in spad");
    found(npu_saturates_sums, "mul16", "expected -33280, got");
    found(npu_adds_always, "mul16", "as if it went on from what was there and did not overwrite it");
    found(npu_never_adds, "mac16", "as if it overwrote the result and did not go on from it");
    found(npu_ignores_stride_of_b, "mul16", "as if the stride of dimension 0 of b were ignored");
    found(npu_fails, "mvin", "a function returned 7");
}
TEST_CASE("mistakes are found through the device's own transfers, too") {
    for (int mistake = npu_ignores_source_stride; mistake < npu_mistakes; ++mistake) {
        outcome const made = run_npu(static_cast<npu_mistake>(mistake), access::by_the_device);
        INFO("mistake " << mistake << "\n" << made.failures);
        CHECK(made.result > 0);
        CHECK(made.failures != "");
    }
}
TEST_CASE("one case can be run alone") {
    npu_has = npu_loses_last_row;
    pool dram(npu_self_test_dram_BYTES);
    npu_self_test_setup setup{};
    setup.dram = dram.begin();
    setup.read = [](void*, int, std::uint64_t address, std::int64_t bytes, void* to) {
        std::memcpy(to, in_npu(address), static_cast<std::size_t>(bytes));
        return 0;
    };
    setup.write = [](void*, int, std::uint64_t address, std::int64_t bytes, void const* from) {
        std::memcpy(in_npu(address), from, static_cast<std::size_t>(bytes));
        return 0;
    };
    CHECK(npu_self_test_only(&setup, 18) == 1);
    CHECK(npu_self_test_only(&setup, 0) == 0);
    setup.dram = nullptr;
    CHECK(npu_self_test(&setup) == -1000 - npu_self_test_memory_dram);
    setup.dram = static_cast<unsigned char*>(dram.begin()) + 1;
    CHECK(npu_self_test(&setup) == -1000 - npu_self_test_memory_dram);
}

namespace {

/// Each look at a memory takes some time, in which jobs go on.
outcome run_dma(dma_mistake mistake) {
    dma_has = mistake;
    dma_reset();
    pool ddr(dma_self_test_ddr_BYTES), tcm(dma_self_test_tcm_BYTES);
    std::memset(tcm.begin(), 0x5a, dma_self_test_tcm_BYTES);
    outcome made;
    dma_self_test_setup setup{};
    setup.ddr = ddr.begin(), setup.tcm = tcm.begin();
    setup.context = &made;
    setup.read = [](void*, int, std::uint64_t address, std::int64_t bytes, void* to) {
        std::memcpy(to, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), static_cast<std::size_t>(bytes));
        dma_pass(300);
        return 0;
    };
    setup.write = [](void*, int, std::uint64_t address, std::int64_t bytes, void const* from) {
        std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), from, static_cast<std::size_t>(bytes));
        return 0;
    };
    setup.failed = [](void* context, dma_self_test_failure const* what) {
        static_cast<outcome*>(context)->failures += text_of([&] { dma_self_test_print(what, put); });
    };
    made.result = dma_self_test(&setup);
    made.rows = text_of([] { dma_self_test_print_rows(put); });
    return made;
}

}  // namespace

TEST_CASE("a device with channels, borders and conversions passes") {
    outcome const made = run_dma(dma_is_right);
    CHECK(made.failures == "");
    CHECK(made.result == 0);
    CHECK(!contains(made.rows, "not "));
}
TEST_CASE("each mistake of the DMA and of the instruction is found and named") {
    auto const found = [](dma_mistake mistake, std::string const& part, std::string const& what) {
        outcome const made = run_dma(mistake);
        INFO(made.failures);
        CHECK(made.result > 0);
        CHECK(contains(made.failures, part + ", case "));
        CHECK(contains(made.failures, what));
    };
    found(dma_waits_for_nothing, "fetch", "it came later: the wait returned early");
    found(dma_ignores_channel, "store", "(channel 1");
    found(dma_swaps_planes, "fetch", "as if the destination had the stride of the source");
    found(dma_leaves_border, "fetch_bordered", "as if the border were not written");
    found(dma_borders_one_row_less, "fetch_bordered", "a border of 0 and 1 in dimension 1");
    found(dma_widens_without_sign, "widen", "expected -");
    found(dma_does_not_turn, "turn", "rows and columns change places");
    found(dma_clears_one_less, "clear", "as if rows were one element shorter");
    found(dma_wraps, "add_saturating", "expected 32767, got -");
    found(dma_adds_whole_vectors, "add_saturating", "stray byte");
}

namespace {

unsigned char* in_rows(int memory, std::uint64_t address) {
    switch (memory) {
        case rows_self_test_memory_spad: return rows_spad + address;
        case rows_self_test_memory_sums: return rows_sums + address;
        case rows_self_test_memory_tcm: return rows_tcm + (address - 0x10000000u);
        default: return reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(address));
    }
}
outcome run_rows(rows_mistake mistake) {
    rows_has = mistake;
    pool dram(rows_self_test_dram_BYTES);
    outcome made;
    rows_self_test_setup setup{};
    setup.dram = dram.begin();
    setup.context = &made;
    setup.read = [](void*, int memory, std::uint64_t address, std::int64_t bytes, void* to) {
        std::memcpy(to, in_rows(memory, address), static_cast<std::size_t>(bytes));
        return 0;
    };
    setup.write = [](void*, int memory, std::uint64_t address, std::int64_t bytes, void const* from) {
        std::memcpy(in_rows(memory, address), from, static_cast<std::size_t>(bytes));
        return 0;
    };
    setup.failed = [](void* context, rows_self_test_failure const* what) {
        static_cast<outcome*>(context)->failures += text_of([&] { rows_self_test_print(what, put); });
    };
    made.result = rows_self_test(&setup);
    made.rows = text_of([] { rows_self_test_print_rows(put); });
    return made;
}

}  // namespace

TEST_CASE("a device whose addresses are numbers of rows, and which is configured before it is called, passes") {
    outcome const made = run_rows(rows_is_right);
    CHECK(made.failures == "");
    CHECK(made.result == 0);
    CHECK(contains(made.rows, "multiply_add: "));
    CHECK(!contains(made.rows, "not "));
}
TEST_CASE("each mistake of the device of rows is found and named") {
    auto const found = [](rows_mistake mistake, std::string const& part, std::string const& what) {
        outcome const made = run_rows(mistake);
        INFO(made.failures);
        CHECK(made.result > 0);
        CHECK(contains(made.failures, part + ", case "));
        CHECK(contains(made.failures, what));
    };
    found(rows_keeps_stride, "mvin", "destination[1, 0] in spad");
    found(rows_ignores_flag, "multiply_add", "as if it overwrote the result and did not go on from it");
    found(rows_lets_negative_through, "mvout_positive", "expected 0, got -");
    found(rows_loads_whole_rows, "mvin", "stray byte 1 of destination in spad");
}

TEST_CASE("the reference shows what a self-test says") {
    std::ifstream from(BRING_UP_PAGE);
    std::string const page(std::istreambuf_iterator<char>(from), {});
    CHECK(contains(page, "```\n" + run_npu(npu_is_right, access::by_callbacks).rows + "```\n"));
    std::string const failures = run_npu(npu_ignores_source_stride, access::by_callbacks).failures;
    CHECK(contains(page, "```\n" + failures.substr(0, failures.find('\n')) + "\n```\n"));
}
