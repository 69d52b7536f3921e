#pragma once
#include "catch.hpp"
#include <algorithm>
#include <cstring>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/plan/check_plan.hpp>

#include "guarded.hpp"
#include "oracle/buffers.hpp"
#include "reference/fill.hpp"

/// Runs a plan as it is generated, and compares with the oracle; its algorithm, which Halide runs without the plan, is a peer.
namespace kernels {

/// A dense tensor between pages that cannot be touched.
struct guarded_buffer {
    std::shared_ptr<guarded::block> memory;
    Halide::Buffer<> elements;
};
inline guarded_buffer make_guarded(Halide::Type const& type, std::vector<int> const& extents, std::int64_t alignment, guarded::side at) {
    std::size_t bytes = static_cast<std::size_t>(type.bytes());
    for (int extent : extents) bytes *= static_cast<std::size_t>(extent);
    std::size_t const aligned = static_cast<std::size_t>(std::max<std::int64_t>(alignment, type.bytes()));
    auto memory = std::make_shared<guarded::block>(bytes, aligned, at);
    Halide::Buffer<> const elements(type, memory->begin(), extents);
    return {memory, elements};
}

/// Dense operands of a kernel: inputs in the order of the plan, then the result before and after.
struct operand_data {
    std::vector<Halide::Buffer<>> inputs;
    Halide::Buffer<> output;
    std::vector<std::shared_ptr<guarded::block>> memory{};
    std::int64_t output_alignment = 1;
    guarded::side side = guarded::side::end;  ///< at which the result lies, too

    template <class T>
    T const* in(std::size_t position) const {
        return static_cast<T const*>(inputs.at(position).data());
    }
    template <class T>
    T* out() const {
        return static_cast<T*>(output.data());
    }
    /// Whether nobody has written where no operand is.
    bool is_intact() const {
        return std::all_of(memory.begin(), memory.end(), [](auto const& block) { return block->is_intact(); });
    }
};

inline guarded_buffer make_buffer(tilewright::ir::buffer const& b, guarded::side at) {
    std::vector<int> extents;
    for (int d = b.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(b.extents[d]));
    guarded_buffer made = make_guarded(tilewright::halide::type_of(b.type), extents, b.alignment, at);
    for (int d = b.rank - 1; d >= 0; --d) made.elements.raw_buffer()->dim[b.rank - 1 - d].min = static_cast<int>(b.minimum[d]);
    return made;
}
/// A result to be written, with the contents that the operands have for it.
inline guarded_buffer make_result(operand_data const& data) {
    std::vector<int> extents;
    for (int d = 0; d < data.output.dimensions(); ++d) extents.push_back(data.output.dim(d).extent());
    guarded_buffer made = make_guarded(data.output.type(), extents, data.output_alignment, data.side);
    for (int d = 0; d < data.output.dimensions(); ++d) made.elements.raw_buffer()->dim[d].min = data.output.dim(d).min();
    std::memcpy(made.elements.data(), data.output.data(), data.output.size_in_bytes());
    return made;
}

/// Whether a tensor is read for the amount of a shift.
inline bool is_amount(tilewright::computation_view what, tilewright::ir::label const& tensor) {
    auto const reads = [&](auto const& self, int at) -> bool {
        tilewright::ir::node const& n = what[at];
        bool found = n.op == tilewright::operation::access && n.name == tensor;
        for (int argument = 0; argument < n.argument_count && n.op != tilewright::operation::access; ++argument)
            found = found || self(self, n.argument(argument));
        return found;
    };
    for (int at = 0; at < what.count; ++at) {
        tilewright::operation const op = what[at].op;
        bool const shifts = op == tilewright::operation::shift_left || op == tilewright::operation::shift_right;
        if (shifts && reads(reads, what[at].argument(1))) return true;
    }
    return false;
}

/// Random operands: floats in [-1, 1), integers over the whole range of 8 and 16 bits, small ones of 32 and 64, so that sums do not
/// overflow. Where a stage is wider than 16 bits, those of 16 bits are less than 2^13. Amounts of shifts are less than 8. They lie between
/// pages that cannot be touched, directly at the one before or after.
inline operand_data random_operands(tilewright::plan_value const& plan, std::uint64_t seed, guarded::side at = guarded::side::end) {
    operand_data made;
    made.side = at;
    bool wide = false;
    for (int stage = 0; stage < plan.stages.size(); ++stage) wide = wide || tilewright::bytes_of(plan.stages[stage].type) > 2;
    for (int position = 0; position < plan.buffers.size(); ++position) {
        tilewright::ir::buffer const& b = plan.buffers[position];
        if (b.kind != tilewright::ir::buffer_kind::argument) continue;
        guarded_buffer const given = make_buffer(b, at);
        Halide::Buffer<> const& data = given.elements;
        tilewright::visit_scalar(b.type, [&]<class T>(T) {
            auto* const elements = static_cast<T*>(data.data());
            auto const count = data.number_of_elements();
            if (is_half(b.type)) {
                std::vector<float> numbers(count);
                reference::fill(numbers.data(), count, seed++);
                for (std::size_t element = 0; element < count; ++element)
                    elements[element] = static_cast<T>(tilewright::half_bits_of(b.type, numbers[element]));
            } else if constexpr (std::is_integral_v<T> && sizeof(T) >= 4)
                reference::fill_between(elements, count, seed++, T{0}, is_amount(plan.what, b.tensor) ? T{7} : T{1000});
            else if (std::is_integral_v<T> && sizeof(T) == 2 && wide) {
                reference::fill(elements, count, seed++);
                for (std::size_t element = 0; element < count; ++element) elements[element] = static_cast<T>(elements[element] / 4);
            } else reference::fill(elements, count, seed++);
        });
        made.memory.push_back(given.memory);
        if (b.written) made.output = data, made.output_alignment = b.alignment;
        else made.inputs.push_back(data);
    }
    return made;
}

/// The extents that a plan was asked for at.
inline std::vector<tilewright::axis_extent> extents_of(tilewright::plan_value const& plan) {
    std::vector<tilewright::axis_extent> extents;
    for (int at = 0; at < plan.variables.size(); ++at) {
        tilewright::ir::variable const& v = plan.variables[at];
        if (v.kind == tilewright::ir::variable_kind::extent) extents.emplace_back(v.name, v.extent);
    }
    return extents;
}
/// What a kernel must give, says the oracle. Operands for which that is undefined are a mistake of the test.
/// @param fuses  whether the core's fused multiply-adds are what carries it out, where it has them
inline Halide::Buffer<> expected_of(tilewright::plan_value const& plan, operand_data const& data,
                                    std::vector<double> const& parameters = {}, bool fuses = true) {
    oracle::manner const how{.fuses = fuses && plan.where->host().fused_multiply_add};
    oracle::result const made = oracle::evaluate(plan.what, data.inputs, data.output, parameters, extents_of(plan), how);
    for (oracle::mishap const& one : made.mishaps) UNSCOPED_INFO(to_string(one));
    CHECK(made.has_defined_elements());
    Halide::Buffer<> expected = data.output.copy();
    REQUIRE(made.bytes.size() == expected.size_in_bytes());
    std::memcpy(expected.data(), made.bytes.data(), made.bytes.size());
    return expected;
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
    guarded_buffer const result = make_result(data);
    kernel.run(data.inputs, result.elements, parameters);
    CHECK(result.memory->is_intact());
    CHECK(data.is_intact());
    return result.elements.copy();
}

inline bool same_bits(Halide::Buffer<> const& a, Halide::Buffer<> const& b) {
    return std::memcmp(a.data(), b.data(), a.size_in_bytes()) == 0;
}

/// For what stands beside the kernel as it is: LLVM leaves its loops alone, and the checks of arguments are left to the kernel.
inline Halide::Target quick_target() {
    Halide::Target target = tilewright::halide::jit_target();
    for (auto feature : {Halide::Target::DisableLLVMLoopOpt, Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery})
        target.set_feature(feature);
    return target;
}

/// A kernel compiled from a plan, as it is, with every access checked, and as the algorithm without the plan.
class compiled_kernel {
  public:
    compiled_kernel(tilewright::plan_value const& plan, tilewright::emulator& on)
        : on_(on), planned_(plan, &on), checked_(plan, &on, true, quick_target()), plain_(plan, nullptr, false, quick_target()) {}

    /// The plan's result is what the oracle says, bit for bit, and Halide makes the same of the algorithm without the plan; the run
    /// allocated nothing and cost what the plan says. With asynchronous transfers that holds however they make progress, and no access that
    /// is checked is a bad one. The operands lie at a page that cannot be touched, once after them and once before.
    /// @param plan  what the kernel was compiled from, or that at some extents
    /// @return the result, and the operands that it was made of
    operand_data check(tilewright::plan_value const& plan, std::vector<double> const& parameters = {}) {
        using namespace tilewright;
        INFO(planned_.statement());
        CHECK(!check_plan(plan, ir::visiting::everything));
        operand_data data = random_operands(plan, 17);
        operand_data const below = random_operands(plan, 17, guarded::side::beginning), given = random_operands(plan, 17);
        Halide::Buffer<> const wanted = expected_of(plan, data, parameters);
        {
            INFO("without the plan");
            bool const fuses = plan.where->host().fused_multiply_add;
            Halide::Buffer<> const rounded = fuses ? expected_of(plan, data, parameters, false) : wanted;
            CHECK(same_bits(result_of(plain_, data, parameters), rounded));
        }
        allocations() = 0;
        auto const check_run = [&](halide::jit_kernel& kernel, operand_data const& operands) {
            INFO("operands at the " << (operands.side == guarded::side::end ? "end" : "beginning"));
            on_.reset();
            Halide::Buffer<> result = operands.output;
            CHECK_NOTHROW(result = result_of(kernel, operands, parameters));
            CHECK(on_.error() == "");
            CHECK(on_.cycles() == predict(plan).cycles);
            CHECK(on_.serial_cycles() == plan.total_cycles);
            for (int at = 0; at < plan.where->configurations.size(); ++at)
                CHECK(on_.counted(plan.where->configurations[at]).calls == plan.settings_of(at));
            CHECK(same_bits(result, wanted));
            for (std::size_t at = 0; at < operands.inputs.size(); ++at) CHECK(same_bits(operands.inputs[at], given.inputs[at]));
        };
        bool const overlaps = plan.rings.size() > 0 || tilewright::detail::is_ordered_aside(plan);
        // Memories that end where their last buffer does, and that begin where their first one does.
        for (region_side at : {region_side::beginning, region_side::end}) {
            INFO("memories at the " << (at == region_side::end ? "end" : "beginning"));
            on_.enclose(plan, at);
            check_run(planned_, at == region_side::beginning ? below : data);
        }
        on_.stop_enclosing();
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            if (!overlaps && how != progress::earliest) break;
            INFO("transfers complete: " << name_of(how));
            on_.use(how, 29);
            check_run(planned_, how == progress::latest || how == progress::threads ? below : data);
        }
        on_.use(progress::earliest);
        CHECK(allocations() == 0);
        if (overlaps || plan.step_extents.size() > 0) {
            INFO("every access checked");
            on_.check(plan);
            check_run(checked_, data);
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
