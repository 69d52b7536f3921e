#pragma once
#include "catch.hpp"
#include <cstring>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/bounds.hpp>
#include <tilewright/plan/prediction.hpp>

#include "reference/fill.hpp"

/// Runs a plan as it is generated, and its algorithm without the plan.
namespace kernels {

/// Dense operands of a kernel: inputs in the order of the plan, then the result before and after.
struct operand_data {
    std::vector<Halide::Buffer<>> inputs;
    Halide::Buffer<> output;

    template <class T>
    T const* in(std::size_t position) const {
        return static_cast<T const*>(inputs.at(position).data());
    }
    template <class T>
    T* out() const {
        return static_cast<T*>(output.data());
    }
};

inline Halide::Buffer<> make_buffer(tilewright::ir::buffer const& b) {
    std::vector<int> extents;
    for (int d = b.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(b.extents[static_cast<std::size_t>(d)]));
    Halide::Buffer<> made(tilewright::halide::type_of(b.type), extents);
    for (int d = b.rank - 1; d >= 0; --d)
        made.raw_buffer()->dim[b.rank - 1 - d].min = static_cast<int>(b.minimum[static_cast<std::size_t>(d)]);
    return made;
}

/// Random operands: floats in [-1, 1), integers over the whole range of 8 and 16 bits, small ones of 32 and 64, so that sums do not
/// overflow.
inline operand_data random_operands(tilewright::plan_value const& plan, std::uint64_t seed) {
    operand_data made;
    for (int at = 0; at < plan.buffers.size(); ++at) {
        tilewright::ir::buffer const& b = plan.buffers[static_cast<std::size_t>(at)];
        if (b.kind != tilewright::ir::buffer_kind::argument) continue;
        Halide::Buffer<> data = make_buffer(b);
        tilewright::visit_scalar(b.type, [&]<class T>(T) {
            auto* const elements = static_cast<T*>(data.data());
            auto const count = data.number_of_elements();
            if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) reference::fill_between(elements, count, seed++, T{0}, T{1000});
            else reference::fill(elements, count, seed++);
        });
        if (b.written) made.output = data;
        else made.inputs.push_back(data);
    }
    return made;
}

/// Halide's allocations while a kernel runs.
inline int& allocations() {
    static int count = 0;
    return count;
}

/// Runs a kernel on operands; the result that it leaves, with what it allocated counted.
inline Halide::Buffer<> result_of(tilewright::halide::jit_kernel& kernel, operand_data const& data, std::vector<double> const& parameters) {
    Halide::JITHandlers counting;
    counting.custom_malloc = [](Halide::JITUserContext*, std::size_t bytes) {
        return ++allocations(), std::aligned_alloc(128, (bytes + 255) / 128 * 128);
    };
    counting.custom_free = [](Halide::JITUserContext*, void* address) { std::free(address); };
    kernel.pipeline().jit_handlers() = counting;
    Halide::Buffer<> result = data.output.copy();
    kernel.run(data.inputs, result, parameters);
    return result;
}

inline bool same_bits(Halide::Buffer<> const& a, Halide::Buffer<> const& b) {
    return std::memcmp(a.data(), b.data(), a.size_in_bytes()) == 0;
}

/// A kernel compiled from a plan, as it is, with every access checked, and as the algorithm without the plan.
class compiled_kernel {
  public:
    compiled_kernel(tilewright::plan_value const& plan, tilewright::emulator& on)
        : on_(on), planned_(plan, &on), checked_(plan, &on, true), plain_(plan, nullptr) {}

    /// The plan's result equals the algorithm's own, bit for bit; the run allocated nothing and cost what the plan says. With asynchronous
    /// transfers that holds however they make progress, and no access that is checked is a bad one.
    /// @param plan  what the kernel was compiled from, or that at some extents
    /// @return the result, and the operands that it was made of
    operand_data check(tilewright::plan_value const& plan, std::vector<double> const& parameters = {}) {
        using namespace tilewright;
        INFO(planned_.statement());
        CHECK(!detail::find_excess(plan, detail::visiting::everything));
        operand_data data = random_operands(plan, 17);
        Halide::Buffer<> const wanted = result_of(plain_, data, parameters);
        allocations() = 0;
        auto const check_run = [&](halide::jit_kernel& kernel) {
            on_.reset();
            Halide::Buffer<> result = data.output;
            CHECK_NOTHROW(result = result_of(kernel, data, parameters));
            CHECK(on_.error() == "");
            CHECK(on_.cycles() == predict(plan).cycles);
            CHECK(on_.serial_cycles() == plan.total_cycles);
            for (int at = 0; at < plan.where->configurations.size(); ++at)
                CHECK(on_.counted(plan.where->configurations[at]).calls == plan.settings_of(at));
            CHECK(same_bits(result, wanted));
        };
        bool const overlaps = plan.rings.size() > 0 || tilewright::detail::is_ordered_aside(plan);
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            if (!overlaps && how != progress::earliest) break;
            INFO("transfers complete: " << name_of(how));
            on_.use(how, 29);
            check_run(planned_);
        }
        on_.use(progress::earliest);
        CHECK(allocations() == 0);
        if (overlaps || plan.step_extents.size() > 0) {
            INFO("every access checked");
            on_.check(plan);
            check_run(checked_);
            on_.stop_checking();
        }
        data.output = wanted;
        return data;
    }

  private:
    tilewright::emulator& on_;
    tilewright::halide::jit_kernel planned_, checked_, plain_;
};

/// Compiles a plan and checks it.
inline operand_data check_kernel(tilewright::plan_value const& plan, tilewright::emulator& on, std::vector<double> const& parameters = {}) {
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);
    return compiled_kernel(plan, on).check(plan, parameters);
}

/// Likewise, and `expected`, which fills the result, given the operands as they were before, makes the same bits.
template <class Reference>
void check_kernel(tilewright::plan_value const& plan, tilewright::emulator& on, Reference const& expected,
                  std::vector<double> const& parameters = {}) {
    operand_data const made = check_kernel(plan, on, parameters);
    operand_data const by_hand = random_operands(plan, 17);
    expected(by_hand);
    CHECK(same_bits(made.output, by_hand.output));
}

}  // namespace kernels
