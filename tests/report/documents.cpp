#include "report/documents.hpp"

#include <set>
#include <tilewright/report/program_report.hpp>
#include <tilewright/targets/x86_avx2.hpp>

#include "04_two_blocks/two_blocks.hpp"
#include "07_run_time/run_time.hpp"
#include "09_network/digits_network.hpp"
#include "emulate/page.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/in_place.hpp"
#include "kernels/multicast.hpp"
#include "kernels/scales.hpp"
#include "kernels/schedules.hpp"
#include "kernels/systolic.hpp"
#include "kernels/unlike_cores.hpp"
#include "kernels/views.hpp"
#include "program/core_program.hpp"
#include "program/one_pool.hpp"
#include "report/reference.hpp"
#include "report/two_layers.hpp"

using namespace tilewright;

namespace {

void print(plan_value const& plan, char const* file = "") {
    print_document("plan", to_json(plan), file);
    static std::set<std::string> shown;
    std::string const machine = to_json(*plan.where);
    if (shown.insert(machine).second) print_document("machine", machine);
}
void print_refused(schedule const& of, char const* file = "") {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    if (!plan->refusal) throw std::logic_error("it is not refused");
    print(*plan, file);
}
void print(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    if (plan->refusal) throw std::logic_error(to_string(plan->refusal));
    print(*plan);
}
void print(std::vector<schedule> const& list) {
    for (schedule const& of : list) print(of);
}
void print(program_plan_value const& plan, char const* file = "") { print_document("program", to_json(plan), file); }

/// Every enumerator of a description, more than any one machine has, and parts that do not go together.
machine all_of_them() {
    machine made("all \"of\" \\ them\t");
    for (completion how : {completion::by_transfer, completion::by_channel, completion::by_engine})
        made.add(engine{.name = "engine", .completes = how});
    for (int first = 0; first <= static_cast<int>(role::element_bytes); first += device_call::most_arguments) {
        device_call call{.symbol = "call"};
        for (int at = first; at <= static_cast<int>(role::element_bytes) && at < first + device_call::most_arguments; ++at)
            call.push({.is = static_cast<role>(at), .value = -at});
        made.more_calls.push(call);
    }
    for (int at = 0; at <= static_cast<int>(operation::invalid); ++at) {
        made.semantics[made.semantics_count].op = static_cast<operation>(at);
        made.semantics[made.semantics_count++].type = static_cast<scalar_type>(at % (static_cast<int>(scalar_type::bfloat16) + 1));
    }
    made.add(transfer("bordered", memory{.name = "here"}, memory{.name = "there"}).dimensions(2));
    made.transfers.parts[0].border = {.is = true, .value = -1, .longest = 3};
    return made;
}

void print_refused() {
    using namespace reference_examples;
    print_refused(schedule(matmul, dsp).split(m, mo, mi, 0));
    print_refused(lesson_run_time::all_rows);
    print_refused(schedule(matmul, dsp).cache_read(A, memory{.name = "elsewhere", .capacity = 1_KiB}));
    machine const small("small", dram, memory{.name = "small", .capacity = 191}, transfer("load", dram, memory{.name = "small"}));
    print_refused(schedule(matmul, small).cache_read(A, memory{.name = "small"}), "plans.json");
}

template <class... T>
void print_types() {
    using reference_examples::x;
    auto const print_type = [](auto const& to, auto const& from) {
        auto const copied = to(x) = from(x);
        print(schedule(copied, reference_examples::dsp));
    };
    (print_type(tensor<T>("to"), tensor<T>("from")), ...);
}

/// Loads, an array, a unit for vectors and stores, which tokens order, or the core.
void print_ordered(accelerators::ordered how) {
    using namespace accelerators;
    machine const where = accelerator(how, 3);
    axis const m{"m", 48}, n{"n", 40}, k{"k", 56};
    tensor<std::int8_t> const A{"A"}, B{"B"};
    tensor<std::int32_t> const C{"C"};
    auto const matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    schedule made(matmul, where);
    made.tile(m, n, "mo", "no", "mi", "ni", 16, 16).split(k, "ko", "ki", 16).reorder("mo", "no", "ko", "mi", "ni", "ki");
    made.cache_read(A, inputs).at("ko").buffers(2).cache_read(B, weights).at("ko").buffers(2).cache_write(C, sums).at("no").buffers(2);
    print(made.tensorize("mi", "ni", "ki", where.intrinsics[where.intrinsics.find("mac")]));
}

void print_programs() {
    print(program_plan<two_layers_program::two_layers>, "program.json");
    print(program_plan<core_programs::shared_by_four>);
    print(program_plan<lesson_network::digits_network>);
    for (std::int64_t bytes : {1120, 1116, 4096}) {
        one_pool::chip_of_one_pool const chip(bytes);
        agent const caller("caller", chip.where), aside = agent("aside", chip.where).aside("aside_start", "aside_join");
        print(make_program_plan(chip.with_one_tensor(caller, bytes == 4096 ? aside : caller)));
    }
    program cached("cached");
    agent const two("two", cached_cores::two);
    schedule const twice(cached_cores::twice, cached_cores::two);
    cached.input(cached_cores::in, cached_cores::dram).run("twice", two, twice).bind(cached_cores::in, cached_cores::in);
    print(make_program_plan(cached.bind(cached_cores::out, cached_cores::out).output(cached_cores::out, cached_cores::dram)));
    auto const unresolved = std::make_unique<program_plan_value>(program_plan<two_layers_program::two_layers>);
    unresolved->total_known = false;
    print(*unresolved);
}

}  // namespace

/// Prints plans, programs and machines of all kinds, for schema_test.py and jq_test.py to read.
int main() {
    print(plan<emulator_page::matmul_on_npu>, "plan.json");
    print(plan<emulator_page::matmul_on_npu>, "plans.json");
    print_refused();
    for (schedule const* of :
         {&kernels::blur_in_turn, &kernels::row_max_on_dsp, &features::matmul_by_dots, &features::scaled_on_core,
          &features::rank_six_on_core, &features::constant_by_dma, &systolic::matmul_pipelined, &systolic::positive_by_rows,
          &scales::layer_on_npu, &views::layer_on_npu, &lesson_two_blocks::in_two_blocks, &lesson_two_blocks::across_two_blocks})
        print(*of);
    print(in_place::layer_on_vta);
    print(schedule(reference_examples::matmul, reference_examples::dsp).store_in(reference_examples::C, reference_examples::tcm));
    print_types<bool, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float16, bfloat16>();
    for (auto const& list : {cached_cores::with_caches(), cores_of_dsp::with_barriers(), cores_of_dsp::with_signals(),
                             cores_of_dsp::with_multicasts(), unlike_cores::in_shares(), unlike_cores::by_stages()})
        print(list);
    for (accelerators::ordered how : {accelerators::ordered::by_tokens, accelerators::ordered::by_core_for_all}) print_ordered(how);
    for (std::int64_t rows : {1, 64, 100}) print(plan<lesson_run_time::any_rows>.at({{lesson_run_time::m, rows}}));
    print_document("machine", to_json(targets::avx2::host));
    print_document("machine", to_json(all_of_them()));
    print_document("machine/memory", to_json(emulator_page::spad));
    print_document("machine/engine", to_json(emulator_page::loader));
    print_document("machine/core", to_json(cores_of_dsp::dsp));
    print_programs();
}
