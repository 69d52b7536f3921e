#define TILEWRIGHT_TRACE_STORAGE
#include <tilewright/runtime/trace.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <tilewright/bring_up/trace_tool.hpp>

#include "catch.hpp"
#include "dma_device.h"
#include "dma_traced_test.h"
#include "npu_device.h"
#include "traced.hpp"
#include "traced_add.h"
#include "traced_both.h"
#include "traced_matmul.h"

// What devices were asked for, and how long they took: traces are compared with the emulator, and costs are fitted to them.

using namespace tilewright;
using namespace tilewright::bring_up;

extern "C" std::uint64_t tilewright_cycles() { return dma_cycles; }

namespace {

std::string dumped;
void put(char letter) { dumped += letter; }
std::vector<core_trace> dump() {
    dumped.clear();
    tilewright_trace_dump(put);
    std::istringstream from(dumped);
    return read_trace(from);
}
bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::vector<core_trace> run_matmul(npu_mistake has = npu_is_right) {
    npu_has = has;
    std::vector<std::int8_t> a(64 * 64, 1), b(64 * 64, 2);
    std::vector<std::int32_t> c(64 * 64);
    tilewright_trace_clear();
    int const code = traced_matmul(a.data(), 64, b.data(), 64, c.data(), 64);
    CHECK(code == (has == npu_fails ? 7 : 0));
    if (code == 0) CHECK(c[100] == 128);
    return dump();
}
std::vector<core_trace> run_add() {
    dma_has = dma_is_right;
    dma_reset();
    std::vector<std::int16_t> left(1000, 30000), right(1000, 3000), out(1000);
    std::vector<std::max_align_t> tcm(768 / sizeof(std::max_align_t));  // as traced_add.h says
    tilewright_trace_clear();
    CHECK(traced_add(left.data(), right.data(), tcm.data(), out.data()) == 0);
    CHECK(out[999] == 32767);
    return dump();
}
call_log const& calls_of_matmul() {
    static call_log log(lesson_matmul::npu);
    static bool const made = [] {
        log_calls(log, plan<traced::matmul_on_npu>, semantics_of<lesson_matmul::npu>);
        return true;
    }();
    (void)made;
    return log;
}

}  // namespace

TEST_CASE("a trace is read as it is written, after other lines") {
    std::istringstream from("hello from the board\ncore 1 calls 7 lost 5\nmvin -3 9223372036854775807 = 0 @ 10 25\r\nwait = ? @ 30 0\n");
    std::vector<core_trace> const read = read_trace(from);
    REQUIRE(read.size() == 1);
    CHECK(read[0].core == 1);
    CHECK(read[0].lost == 5);
    REQUIRE(read[0].calls.size() == 2);
    CHECK(read[0].calls[0].symbol == "mvin");
    CHECK(read[0].calls[0].arguments == std::vector<std::int64_t>{-3, INT64_MAX});
    CHECK(read[0].calls[0].cycles() == 15);
    CHECK(!read[0].calls[1].returned);
    auto const refused = [](char const* text) {
        std::istringstream wrong(text);
        CHECK_THROWS_AS(read_trace(wrong), std::invalid_argument);
    };
    refused("no trace\n");
    refused("core 0 calls 1\n");
    refused("core 0 calls 1 lost 0\nmvin 1x = 0 @ 1 2\n");
    refused("core 0 calls 1 lost 0\nmvin 1 = 0 @ 1\n");
}
TEST_CASE("a device that does what the plan says has the emulator's calls") {
    std::vector<core_trace> const trace = run_matmul();
    REQUIRE(trace.size() == 1);
    CHECK(trace[0].calls.size() == 2 * 2 * (2 * (2 + 8) + 1));
    CHECK(trace_difference::between(calls_of_matmul(), trace) == "");
}
TEST_CASE("the first wrong call is named, with what it should be") {
    auto const said = [](auto const& change) {
        std::vector<core_trace> trace = run_matmul();
        change(trace[0]);
        return trace_difference::between(calls_of_matmul(), trace);
    };
    std::string text = said([](core_trace& t) { t.calls.erase(t.calls.begin() + 5); });
    INFO(text);
    CHECK(contains(text, "core 0, call 5: expected mac16(0x50000010, 32, 0x50000610, 32, 0x51000040, 32)\n"));
    text = said([](core_trace& t) { t.calls[0].arguments[4] = 32; });
    CHECK(contains(text, "call 0: mvin: `source_stride_1` should be 64, and is 32"));
    text = said([](core_trace& t) { t.calls[11].arguments[0] += 1; });
    CHECK(contains(text, "call 11: mvin: `source` should be byte 2048 of B, which begins at"));
    text = said([](core_trace& t) { t.calls.resize(50); });
    CHECK(contains(text, "the trace ends after 50 of 84 calls; the next would be m"));
    text = said([](core_trace& t) { t.calls.back().returned = false; });
    CHECK(contains(text, "call 83: mvout("));
    CHECK(contains(text, " has not returned"));
    text = said([](core_trace& t) { t.calls.push_back(t.calls.back()); });
    CHECK(contains(text, "one call more than the 84 of the plan"));
    text = said([](core_trace& t) { std::swap(t.calls[1], t.calls[2]); });
    CHECK(contains(text, "call 1: expected mvin("));
    CHECK(said([](core_trace& t) { t.calls.erase(t.calls.begin(), t.calls.begin() + 7), t.lost = 7; }) == "");
    CHECK(contains(said([](core_trace& t) { t.core = 1; }), "core 0: the trace has no calls of it, and it should make 84"));
    text = trace_difference::between(calls_of_matmul(), run_matmul(npu_fails));
    CHECK((contains(text, "call 0: mvin(") && contains(text, " returned 7")));
}
TEST_CASE("tags, channels and pools of an asynchronous kernel are the emulator's") {
    call_log log(bring_up_dma::device);
    log_calls(log, plan<traced::add_on_dma>, semantics_of<bring_up_dma::device>);
    std::vector<core_trace> trace = run_add();
    CHECK(trace_difference::between(log, trace) == "");
    for (traced_call& one : trace[0].calls) {
        if (one.symbol != "dma_wait") continue;
        one.arguments[1] += 1;
        break;
    }
    CHECK(contains(trace_difference::between(log, trace), "dma_wait: `tag` should be "));
}
TEST_CASE("without TILEWRIGHT_TRACE, nothing is recorded") {
    tilewright_trace_clear();
    npu_has = npu_is_right;
    std::vector<std::int8_t> bytes(64);
    mvin(bytes.data(), reinterpret_cast<void*>(std::uintptr_t{0x50000000}), 64, 1, 0, 0);
    CHECK(dump()[0].calls.empty());
}

namespace {

/// The trace of a self-test of the device with channels.
std::vector<core_trace> trace_self_test() {
    dma_has = dma_is_right;
    dma_reset();
    std::vector<std::max_align_t> ddr(dma_traced_test_ddr_BYTES / sizeof(std::max_align_t) + 16),
        tcm(dma_traced_test_tcm_BYTES / sizeof(std::max_align_t) + 16);
    auto const aligned = [](auto& of) { return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(of.data()) + 63) / 64 * 64); };
    dma_traced_test_setup setup{};
    setup.ddr = aligned(ddr), setup.tcm = aligned(tcm);
    setup.read = [](void*, int, std::uint64_t address, std::int64_t bytes, void* to) {
        std::memcpy(to, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), static_cast<std::size_t>(bytes));
        return 0;
    };
    setup.write = [](void*, int, std::uint64_t address, std::int64_t bytes, void const* from) {
        std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), from, static_cast<std::size_t>(bytes));
        return 0;
    };
    tilewright_trace_clear();
    CHECK(dma_traced_test(&setup) == 0);
    return dump();
}
fitted_cost cost_of(std::vector<fitted_cost> const& all, std::string const& part) {
    for (fitted_cost const& one : all) {
        if (one.parts == part) return one;
    }
    return {};
}
/// A call of a blocking copy, `cycles` long.
traced_call copy_of(std::int64_t row_bytes, std::int64_t rows, std::int64_t cycles, std::uint64_t at) {
    return {"mvin", {0, 0x50000000, row_bytes, rows, row_bytes, row_bytes}, 0, true, at, at + static_cast<std::uint64_t>(cycles)};
}

}  // namespace

TEST_CASE("the costs of a device are found from the trace of its self-test") {
    std::vector<core_trace> const trace = trace_self_test();
    CHECK(trace[0].lost == 0);
    std::vector<fitted_cost> const all = cost_fit(bring_up_dma::device, trace).fit();
    // The device takes 2 cycles more to start a job, and 1 to wait, than its engine does.
    fitted_cost const fetch = cost_of(all, "fetch"), store = cost_of(all, "store"), add = cost_of(all, "add_saturating");
    CHECK(fetch.line == ".cost({.latency = 32, .setup = 10, .bytes_per_cycle = 8})");
    CHECK(fetch.worst < 0.05);
    CHECK(store.line == ".cost({.latency = 22, .setup = 12, .bytes_per_cycle = 4})");
    CHECK(store.worst < 0.05);
    CHECK(add.line == ".cycles(6, per(i).in_units_of(8))");
    CHECK(add.worst == 0);
    CHECK(add.measured > 10);
}
TEST_CASE("costs that no machine can say are named, and so is what was not measured") {
    std::vector<core_trace> traces(1);
    std::uint64_t at = 0;
    for (std::int64_t rows = 1; rows < 9; ++rows) traces[0].calls.push_back(copy_of(64, rows, 100 + 64 * rows * 2, at += 10000));
    fitted_cost slow = cost_of(cost_fit(lesson_matmul::npu, traces).fit(), "mvin");
    CHECK(contains(slow.remarks, "a byte takes 2.00 cycles, and a machine moves a whole number of bytes in one"));
    CHECK(slow.worst > 0.05);
    traces[0].calls.clear();
    for (int times = 0; times < 4; ++times) traces[0].calls.push_back(copy_of(64, 4, 50, at += 10000));
    CHECK(contains(cost_of(cost_fit(lesson_matmul::npu, traces).fit(), "mvin").remarks,
                   "all calls moved as many bytes, so bytes_per_cycle stays as it is declared"));
    CHECK(cost_of(cost_fit(lesson_matmul::npu, traces).fit(), "mvout").line == "");
    CHECK(contains(fit_text(lesson_matmul::npu, traces), "mvout: nothing to say, of 0 calls"));
    for (traced_call& one : traces[0].calls) one.end = one.begin;
    CHECK(contains(fit_text(lesson_matmul::npu, traces), "mvin: nothing to say, of 4 calls\n    the counter did not move"));
    // Measured values that scatter: the line is the best one, and its error is said.
    traces[0].calls.clear();
    for (std::int64_t rows = 1; rows < 17; ++rows)
        traces[0].calls.push_back(copy_of(64, rows, 20 + 4 * rows + (rows % 2 == 0 ? 2 : -2), at += 10000));
    fitted_cost const scattered = cost_of(cost_fit(lesson_matmul::npu, traces).fit(), "mvin");
    CHECK(scattered.line == ".cost({.latency = 0, .setup = 20, .bytes_per_cycle = 16})");
    CHECK(scattered.worst == Approx(2.0 / 22));
    CHECK(scattered.mean > 0.02);
    CHECK(scattered.declared_worst > 1);
    CHECK(contains(scattered.remarks, "latency and setup cannot be told apart"));
}
TEST_CASE("least squares keep to numbers that are not negative") {
    std::vector<std::vector<double>> const rows{{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    CHECK(least_squares(rows, {5, 7, 9, 11})[0] == Approx(5));
    CHECK(least_squares(rows, {5, 7, 9, 11})[1] == Approx(2));
    std::vector<double> const falling = least_squares(rows, {9, 7, 5, 3});
    CHECK(falling[0] == Approx(6));
    CHECK(falling[1] == 0);
    CHECK(least_squares({{1, 1}, {1, 1}}, {4, 4})[0] + least_squares({{1, 1}, {1, 1}}, {4, 4})[1] == Approx(4));
    CHECK(least_squares({}, {}).empty());
}
TEST_CASE("the tool of a kernel reads a trace from a file") {
    std::vector<core_trace> const trace = run_matmul();
    std::ofstream(TRACE_FILE) << dumped;
    std::string wrong = dumped;
    wrong.replace(wrong.find(" 32 32 "), 7, " 32 31 ");
    std::ofstream(WRONG_TRACE_FILE) << wrong;
    std::string const tool = TRACE_TOOL;
    CHECK(std::system((tool + " diff " TRACE_FILE " > " TRACE_FILE ".said").c_str()) == 0);
    CHECK(std::system((tool + " diff " WRONG_TRACE_FILE " > " WRONG_TRACE_FILE ".said").c_str()) / 256 == 2);
    CHECK(std::system((tool + " fit " TRACE_FILE " > /dev/null").c_str()) == 0);
    CHECK(std::system((tool + " 2> /dev/null").c_str()) / 256 == 1);
    CHECK(std::system((tool + " diff /nowhere 2> /dev/null").c_str()) / 256 == 1);
    auto const text_of = [](char const* file) {
        std::ifstream from(file);
        return std::string(std::istreambuf_iterator<char>(from), {});
    };
    CHECK(text_of(TRACE_FILE ".said") == "84 calls, as the emulator makes them\n");
    CHECK(contains(text_of(WRONG_TRACE_FILE ".said"), "core 0, call 0: mvin: `extent_1` should be 32, and is 31"));
    // A ring that was too short for the first seven calls.
    std::string shortened = dumped;
    for (int times = 0; times < 7; ++times)
        shortened.erase(shortened.find('\n') + 1, shortened.find('\n', shortened.find('\n') + 1) - shortened.find('\n'));
    shortened.replace(shortened.find("lost 0"), 6, "lost 7");
    std::ofstream(WRONG_TRACE_FILE) << shortened;
    std::string const lost = "core 0: the first 7 calls are lost, since the ring was too short: raise TILEWRIGHT_TRACE_RECORDS\n";
    CHECK(std::system((tool + " diff " WRONG_TRACE_FILE " > " WRONG_TRACE_FILE ".said").c_str()) == 0);
    CHECK(text_of(WRONG_TRACE_FILE ".said") == lost + "77 calls, as the emulator makes them\n");
    CHECK(std::system((tool + " fit " WRONG_TRACE_FILE " > " WRONG_TRACE_FILE ".said").c_str()) == 0);
    CHECK(text_of(WRONG_TRACE_FILE ".said").find(lost) == 0);
}
TEST_CASE("the tool of a program names the layer of the first wrong call") {
    npu_has = npu_is_right;
    std::vector<std::int8_t> a(64 * 64, 1), a2(64 * 64, 3), b(64 * 64, 2);
    std::vector<std::int32_t> c(64 * 64), c2(64 * 64);
    tilewright_trace_clear();
    REQUIRE(traced_both(a.data(), a2.data(), b.data(), c.data(), c2.data()) == 0);
    CHECK((c[100] == 128 && c2[100] == 384));
    std::vector<core_trace> trace = dump();
    auto const said = [](std::string const& text, int code) {
        std::ofstream(PROGRAM_TRACE_FILE) << text;
        CHECK(std::system((PROGRAM_TRACE_TOOL " diff " PROGRAM_TRACE_FILE " > " PROGRAM_TRACE_FILE ".said")) / 256 == code);
        std::ifstream from(PROGRAM_TRACE_FILE ".said");
        return std::string(std::istreambuf_iterator<char>(from), {});
    };
    CHECK(said(dumped, 0) == "168 calls, as the emulator makes them\n");
    CHECK(std::system(PROGRAM_TRACE_TOOL " diff npu=" PROGRAM_TRACE_FILE " > /dev/null") == 0);
    CHECK(std::system(PROGRAM_TRACE_TOOL " diff cpu=" PROGRAM_TRACE_FILE " 2> " PROGRAM_TRACE_FILE ".said") / 256 == 1);
    std::ifstream complaint(PROGRAM_TRACE_FILE ".said");
    CHECK(contains(std::string(std::istreambuf_iterator<char>(complaint), {}), "no agent `cpu` runs kernels"));
    // Each product has 84 calls. The reference shows what is said when the sixth of the second one is left out.
    std::string wrong = dumped;
    std::size_t at = 0;
    for (int line = 0; line < 1 + 84 + 5; ++line) at = wrong.find('\n', at) + 1;
    wrong.erase(at, wrong.find('\n', at) + 1 - at);
    wrong.replace(wrong.find("calls 168"), 9, "calls 167");
    std::string const text = said(wrong, 2);
    INFO(text);
    CHECK(contains(text, "core 0, call 89 (again, call 5): expected mac16("));
    std::ifstream from(BRING_UP_PAGE);
    CHECK(contains(std::string(std::istreambuf_iterator<char>(from), {}), "\n" + text + "```\n"));
}
TEST_CASE("the reference shows what the tool says") {
    std::ifstream from(BRING_UP_PAGE);
    std::string const page(std::istreambuf_iterator<char>(from), {});
    std::vector<core_trace> trace = run_matmul();
    trace[0].calls.erase(trace[0].calls.begin() + 5);
    std::string const wrong = trace_difference::between(calls_of_matmul(), trace), fit = fit_text(bring_up_dma::device, trace_self_test());
    INFO(wrong << fit);
    CHECK(contains(page, "\n" + wrong + "```\n"));
    CHECK(contains(page, fit.substr(0, fit.find("fetch_bordered"))));
}
