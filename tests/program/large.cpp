#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/program/program_plan.hpp>

#include "catch.hpp"
#include "folder.hpp"

// Programs as large as networks are: tools plan them at run time, where they are not held to what the compiler keeps in a constant.

namespace {

using namespace tilewright;

/// Chains of sums, a chain for each length, taken in turn. Each sum adds an earlier one of its chain, as residual networks do.
struct network {
    static constexpr int lengths[] = {40, 64, 100, 256, 1000};

    struct sum {
        int chain, left, right;  ///< numbers of sums; -1: the input of the chain
    };
    std::vector<sum> sums;
    std::vector<int> last;  ///< of each chain

    network(int kernels, unsigned seed) : last(std::size(lengths), -1) {
        std::mt19937 random(seed);
        std::vector<std::vector<int>> of_chain(std::size(lengths), {-1});
        for (int at = 0; at < kernels; ++at) {
            auto const chain = random() % std::size(lengths);
            auto const& before = of_chain[chain];
            std::size_t const back = 1 + random() % std::min<std::size_t>(before.size(), 6);
            sums.push_back({static_cast<int>(chain), before.back(), before[before.size() - back]});
            of_chain[chain].push_back(at);
            last[chain] = at;
        }
    }
    /// What every chain gives for its input: evaluated as it is written.
    std::map<int, std::vector<std::int32_t>> results(std::vector<std::vector<std::int32_t>> const& inputs) const {
        std::map<int, std::vector<std::int32_t>> made;
        auto const value = [&](int which, int chain) -> std::vector<std::int32_t> const& {
            return which < 0 ? inputs[static_cast<std::size_t>(chain)] : made.at(which);
        };
        for (int at = 0; at < static_cast<int>(sums.size()); ++at) {
            sum const& s = sums[static_cast<std::size_t>(at)];
            std::vector<std::int32_t> added = value(s.left, s.chain);
            std::vector<std::int32_t> const& right = value(s.right, s.chain);
            for (std::size_t element = 0; element < added.size(); ++element)
                added[element] = static_cast<std::int32_t>(static_cast<std::uint32_t>(added[element]) * 3u +
                                                           static_cast<std::uint32_t>(right[element]) + static_cast<std::uint32_t>(at));
            made[at] = added;
        }
        return made;
    }
};

/// The network as a program. What it points at lives here.
struct network_program {
    memory dram{.name = "dram"}, pool{.name = "pool", .capacity = 1024_KiB, .alignment = 16};
    machine chip{"chip", dram, pool};
    agent cpu{"cpu", chip};
    tensor<std::int32_t> left{"left"}, right{"right"}, out{"out"};
    std::deque<std::vector<ir::node>> computations;
    std::deque<schedule> schedules;
    program made{"net"};

    static any_tensor named(char kind, int number) { return {ir::label((kind + std::to_string(number)).c_str()), scalar_type::int32}; }
    any_tensor tensor_of(network const& of, int which, int chain) const {
        bool const result = which >= 0 && which == of.last[static_cast<std::size_t>(chain)];
        return named(which < 0 ? 'x' : result ? 'y' : 't', which < 0 || result ? chain : which);
    }
    explicit network_program(network const& of) {
        for (int chain = 0; chain < static_cast<int>(std::size(network::lengths)); ++chain) made.input(named('x', chain), dram);
        for (int at = 0; at < static_cast<int>(of.sums.size()); ++at) {
            network::sum const& s = of.sums[static_cast<std::size_t>(at)];
            axis const i{"i", network::lengths[s.chain]};
            bool const same = s.left == s.right;
            if (same) keep(out(i) = left(i) * 3 + left(i) + at);
            else keep(out(i) = left(i) * 3 + right(i) + at);
            made.run(ir::label(("k" + std::to_string(at)).c_str()), cpu, schedules.back());
            made.bind(left, tensor_of(of, s.left, s.chain)).bind(out, tensor_of(of, at, s.chain));
            if (!same) made.bind(right, tensor_of(of, s.right, s.chain));
        }
        for (int chain = 0; chain < static_cast<int>(std::size(network::lengths)); ++chain) {
            if (of.last[static_cast<std::size_t>(chain)] >= 0) made.output(named('y', chain), dram);
        }
    }
    template <int Count>
    void keep(computation<Count> const& what) {
        computations.emplace_back(begin(what.nodes), end(what.nodes));
        schedules.emplace_back(computation_view{computations.back().data(), Count}, chip);
    }
};

/// The bytes of the most tensors that are alive together, told by the order of the kernels alone.
std::int64_t most_alive(network const& of, program_plan_value const& plan) {
    std::map<std::string, int> end;
    for (int k = 0; k < plan.kernels.size(); ++k) {
        for (int u = 0; u < plan.uses.size(); ++u) {
            if (plan.uses[u].kernel != k || plan.uses[u].written) continue;
            int& last = end[plan.tensor_at(plan.uses[u].tensor).name.str()];
            last = std::max<int>(last, plan.kernel_at(k).first_step);
        }
    }
    std::int64_t most = 0;
    for (int step = 0; step < plan.steps.size(); ++step) {
        std::int64_t alive = 0;
        for (int at = 0; at < static_cast<int>(of.sums.size()); ++at) {
            int const chain = of.sums[static_cast<std::size_t>(at)].chain;
            if (at == of.last[static_cast<std::size_t>(chain)]) continue;  // in dram
            int const born = plan.kernel_at(plan.find_kernel(ir::label(("k" + std::to_string(at)).c_str()))).first_step;
            // A sum that is read for the last time can give its bytes to the result of that step.
            if (born <= step && end.at("t" + std::to_string(at)) > step) alive += 4 * network::lengths[chain];
        }
        most = std::max(most, alive);
    }
    return most;
}

}  // namespace

TEST_CASE("512 kernels are planned at run time, and their C gives what the sums give") {
    network const of(512, 7);
    network_program const in(of);
    REQUIRE(in.made.kernel_count == 512);
    program_plan_value const plan = make_program_plan(in.made);
    INFO(to_string(plan.refusal));
    REQUIRE(!plan.refusal);
    CHECK(plan.tensors.size() == 512 + 5);
    CHECK(plan.proven(in.pool));
    auto const peak = static_cast<std::int64_t>(plan.peak(in.pool).value);
    CHECK(peak >= most_alive(of, plan));
    CHECK(peak < 2 * most_alive(of, plan) + 16 * 64);

    folder made;
    for (auto const& [name, text] : halide::c_program(plan, {.name = "net"})) made.write(name, text);
    made.write("call.c", R"(#include "net.h"
#include <stddef.h>
static _Alignas(16) unsigned char pool[TILEWRIGHT_net_pool_BYTES + 64];
int call(int32_t *const *x, int32_t *const *y) {
    struct net_memories memories = {0};
    memories.pool = pool;
    for (size_t at = 0; at < 64; ++at) pool[TILEWRIGHT_net_pool_BYTES + at] = 0xa5;
    const int code = net(x[0], x[1], x[2], x[3], x[4], y[0], y[1], y[2], y[3], y[4], &memories);
    for (size_t at = 0; at < 64; ++at) if (pool[TILEWRIGHT_net_pool_BYTES + at] != 0xa5) return 1;
    return code;
}
)");
    std::string const in_folder = made.path.string() + "/";
    std::string const command = std::string(TILEWRIGHT_C_GCC) + " -std=c11 -O1 -fPIC -shared -o " + in_folder + "net.so " + in_folder +
                                "net.c " + in_folder + "call.c 2> " + in_folder + "said";
    INFO(made.read("net.h").substr(0, 3000));
    if (std::system(command.c_str()) != 0) FAIL(made.read("said").substr(0, 2000));
    void* const library = dlopen((in_folder + "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    auto const call = reinterpret_cast<int (*)(std::int32_t* const*, std::int32_t* const*)>(dlsym(library, "call"));

    std::mt19937 random(3);
    std::vector<std::vector<std::int32_t>> inputs, results;
    for (int length : network::lengths) {
        inputs.emplace_back(length), results.emplace_back(length);
        for (std::int32_t& value : inputs.back()) value = static_cast<std::int32_t>(random());
    }
    std::vector<std::int32_t*> x, y;
    for (std::size_t chain = 0; chain < inputs.size(); ++chain) x.push_back(inputs[chain].data()), y.push_back(results[chain].data());
    CHECK(call(x.data(), y.data()) == 0);
    auto const expected = of.results(inputs);
    for (std::size_t chain = 0; chain < inputs.size(); ++chain) CHECK(results[chain] == expected.at(of.last[chain]));
    dlclose(library);
}
TEST_CASE("more kernels than a program can have at run time are refused by name") {
    network const of(513, 7);
    program_plan_value const plan = make_program_plan(network_program(of).made);
    CHECK(to_string(plan.refusal).find("kernels: 513, but at most 512 can be held") != std::string::npos);
}

namespace {

/// A chain of sums, each of which adds constants to the sum before it: `tensors` in all, of which one is the input, and one for each kernel
/// its result. Each constant has 4,096 elements of its own.
struct chain_with_constants {
    static constexpr std::int64_t length = 4096;
    static constexpr int most_in_kernel = 7;

    memory dram{.name = "dram"}, wei{.name = "wei", .capacity = 64 * 1024_KiB, .alignment = 16},
        pool{.name = "pool", .capacity = 1024_KiB, .alignment = 16};
    machine chip{"chip", dram, pool, wei};
    agent cpu{"cpu", chip};
    std::vector<std::int32_t> numbers;
    std::deque<std::vector<ir::node>> computations;
    std::deque<schedule> schedules;
    program made{"net"};
    int constants = 0;

    chain_with_constants(int kernels, int tensors) : numbers(static_cast<std::size_t>((tensors - kernels - 1) * length), 1) {
        int left = tensors - kernels - 1;
        made.input(named('t', 0), dram);
        for (int at = 0; at < kernels; ++at) {
            int const taken = std::min(most_in_kernel, left);
            add_kernel(at, taken, std::make_integer_sequence<int, most_in_kernel + 1>());
            left -= taken;
        }
        made.output(named('t', kernels), dram);
    }
    static any_tensor named(char kind, int number) { return {ir::label((kind + std::to_string(number)).c_str()), scalar_type::int32}; }
    any_tensor next_constant() {
        any_tensor const made_here = named('c', constants);
        made.constant(made_here, wei, numbers.data() + constants * length, length);
        ++constants;
        return made_here;
    }
    template <int... Counts>
    void add_kernel(int at, int taken, std::integer_sequence<int, Counts...>) {
        ((taken == Counts ? add_sum(at, std::make_integer_sequence<int, Counts>()) : void()), ...);
        made.run(ir::label(("k" + std::to_string(at)).c_str()), cpu, schedules.back());
    }
    template <int... At>
    void add_sum(int at, std::integer_sequence<int, At...>) {
        axis const i{"i", length};
        std::vector<any_tensor> added;
        ((added.push_back(next_constant()), static_cast<void>(At)), ...);
        auto const what = named('t', at + 1)(i) = (named('t', at)(i) + ... + added[static_cast<std::size_t>(At)](i));
        computations.emplace_back(begin(what.nodes), end(what.nodes));
        schedules.emplace_back(computation_view{computations.back().data(), static_cast<int>(computations.back().size())}, chip);
    }
};

}  // namespace

TEST_CASE("512 kernels with 4,096 tensors, of which constants have 58 MB, are planned at run time") {
    chain_with_constants const in(512, 4096);
    REQUIRE(in.constants == 4096 - 512 - 1);
    program_plan_value const plan = make_program_plan(in.made);
    INFO(to_string(plan.refusal));
    REQUIRE(!plan.refusal);
    CHECK(plan.kernels.size() == 512);
    CHECK(plan.tensors.size() == 4096);
    // Each constant is a multiple of every alignment, and each sum takes over the bytes of the one before it.
    CHECK(static_cast<std::int64_t>(plan.constant_bytes(in.wei).value) == in.constants * in.length * 4);
    CHECK(static_cast<std::int64_t>(plan.peak(in.pool).value) == in.length * 4);
    CHECK(plan.proven(in.pool));
}
TEST_CASE("more tensors than a program can have at run time are refused by name") {
    program_plan_value const plan = make_program_plan(chain_with_constants(512, 4097).made);
    INFO(to_string(plan.refusal));
    CHECK(to_string(plan.refusal).find("tensors: 4097, but at most 4096 can be held") != std::string::npos);
}
