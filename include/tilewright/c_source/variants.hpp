#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <tilewright/c_source/arguments.hpp>
#include <tilewright/halide/tool_subject.hpp>
#include <tilewright/runtime/processor.h>

// A kernel that is compiled for several targets, one function for each, of which a processor runs the first that it can.
namespace tilewright::halide::detail {

/// One of them: a schedule, and the target of Halide's that it is compiled for.
struct variant {
    std::string schedule, target;
    std::string function;      ///< of the object
    std::string instructions;  ///< features that functions of the machine need beside the target, joined by "-"
};
struct kernel_variants {
    std::string name;
    bool device = false;
    std::vector<plan_value const*> plans;  ///< one for each variant, or one for all
    std::unique_ptr<plan_value> merged;    ///< the first, whose arguments are what every variant takes
    std::vector<pool> pools;               ///< large enough for every variant
    std::vector<variant> variants;
    bool asks = false;  ///< whether a processor is asked what it has; else there is one variant, which is C++

    plan_value const& plan() const { return *merged; }
};

/// What the schedules of a kernel must agree about, and what their common arguments are.
class argument_merge {
  public:
    /// @param all  has the schedules, the first of them merged
    argument_merge(kernel_variants& all, std::span<tool_kernel const> schedules) : all_(all), schedules_(schedules) {}

    /// @throws std::invalid_argument naming both schedules, and the argument about which they differ
    void add(std::size_t number) {
        number_ = number;
        plan_value const& other = *all_.plans[number];
        plan_value& made = *all_.merged;
        argument_list const ours = arguments_of(made), theirs = arguments_of(other);
        if (made.run_time_extents > 0 || other.run_time_extents > 0)
            refuse("leave extents to run time, which is for kernels of one schedule: make a kernel of each");
        if (made.cores != other.cores) differ("cores", std::to_string(made.cores), std::to_string(other.cores));
        if (ours.kept_result >= 0 || theirs.kept_result >= 0)
            refuse("leave the result in a memory of the machine, which is for kernels of one schedule");
        differ("tensors", std::to_string(ours.tensor_count), std::to_string(theirs.tensor_count));
        for (int at = 0; at < ours.tensor_count; ++at) merge_tensor(made.buffers[ours.tensors[at]], other.buffers[theirs.tensors[at]]);
        differ("scalar parameters", std::to_string(ours.parameter_count), std::to_string(theirs.parameter_count));
        for (int at = 0; at < ours.parameter_count; ++at) {
            node const &a = made.what[ours.parameters[at]], &b = other.what[theirs.parameters[at]];
            differ("scalar parameter " + std::to_string(at), c_type(a.type) + " " + a.name.str(), c_type(b.type) + " " + b.name.str());
        }
        merge_pools(pools_of(other, all_.device));
    }

  private:
    [[noreturn]] void refuse(std::string const& why) const {
        throw std::invalid_argument("schedules `" + std::string(schedules_[0].schedule_name) + "` and `" +
                                    std::string(schedules_[number_].schedule_name) + "` " + why);
    }
    void differ(std::string const& what, std::string const& first, std::string const& other) const {
        if (first != other) refuse("must take the same arguments, but they differ in " + what + ": " + first + ", and " + other);
    }
    static std::string numbers(fixed_array<std::int64_t, max_rank> const& of, int rank) {
        std::string text;
        for (int d = 0; d < rank; ++d) text += (d > 0 ? " x " : "") + std::to_string(of[d]);
        return text;
    }
    void merge_tensor(buffer& made, buffer const& other) const {
        std::string const what = "tensor `" + made.tensor.str() + "`";
        differ("the tensor at the place of `" + made.tensor.str() + "`", made.tensor.str(), other.tensor.str());
        differ("the element type of " + what, c_type(made.type), c_type(other.type));
        differ("the rank of " + what, std::to_string(made.rank), std::to_string(other.rank));
        differ("the extents of " + what, numbers(made.extents, made.rank), numbers(other.extents, other.rank));
        differ("the lowest index of " + what, numbers(made.minimum, made.rank), numbers(other.minimum, other.rank));
        differ("whether they write " + what, made.written ? "yes" : "no", other.written ? "yes" : "no");
        made.dense_from = std::min(made.dense_from, other.dense_from);
        made.alignment = tilewright::detail::lcm(made.alignment, other.alignment);
        for (int d = 0; d < made.rank; ++d) {
            std::int64_t const ours = made.stride_multiples[d], theirs = other.stride_multiples[d];
            made.stride_multiples[d] = ours > 0 && theirs > 0 ? tilewright::detail::lcm(ours, theirs) : std::max(ours, theirs);
            std::int64_t const most = made.longest_strides[d], least = other.longest_strides[d];
            made.longest_strides[d] = most > 0 && least > 0 ? std::min(most, least) : std::max(most, least);
        }
    }
    void merge_pools(std::vector<pool> const& others) {
        auto const list = [](std::vector<pool> const& of) {
            std::string text;
            for (pool const& one : of) text += (text.empty() ? "" : ", ") + one.name;
            return text.empty() ? "none" : text;
        };
        differ("memories whose addresses they take", list(all_.pools), list(others));
        for (std::size_t at = 0; at < others.size(); ++at) {
            all_.pools[at].bytes = std::max(all_.pools[at].bytes, others[at].bytes);
            all_.pools[at].alignment = tilewright::detail::lcm(all_.pools[at].alignment, others[at].alignment);
        }
    }

    kernel_variants& all_;
    std::span<tool_kernel const> schedules_;
    std::size_t number_ = 0;
};

/// The features that C functions of a machine need of a processor, joined by "-".
inline std::string instructions_of(machine const& of) {
    std::string all;
    for (int at = 0; at < of.cores.size(); ++at) {
        std::string const one = of.cores[at].instructions.str();
        if (!one.empty()) all += (all.empty() ? "" : "-") + one;
    }
    return all;
}

/// @throws std::invalid_argument where a variant can never be chosen, since whatever runs it runs one in front of it
inline void check_order(std::vector<variant> const& variants) {
    auto const needs_of = [](variant const& one) {
        return tilewright_target_needs(one.target.c_str()) | tilewright_features_need(one.instructions.c_str());
    };
    auto const is_known = [](variant const& one) { return one.target.compare(0, 4, "host") != 0; };  // Halide finds out what that is
    for (std::size_t late = 1; late < variants.size(); ++late) {
        for (std::size_t early = 0; early < late; ++early) {
            if (!is_known(variants[early]) || !is_known(variants[late])) continue;
            if ((needs_of(variants[early]) & ~needs_of(variants[late])) == 0)
                throw std::invalid_argument("target " + variants[late].target + " is never chosen: what can run it can run " +
                                            variants[early].target + ", which stands in front of it");
        }
    }
}

/// @param targets  one for each schedule, or any number for the only one; none, where the code is C++
inline kernel_variants variants_of(std::span<tool_kernel const> schedules, std::vector<std::string> const& targets, bool device) {
    kernel_variants made;
    made.name = schedules[0].name;
    made.device = device;
    made.asks = !targets.empty();
    if (schedules.size() > 1 && targets.size() != schedules.size())
        throw std::invalid_argument(std::to_string(schedules.size()) + " schedules need as many targets, not " +
                                    std::to_string(targets.size()));
    for (tool_kernel const& one : schedules) made.plans.push_back(&one.plan);
    made.merged = std::make_unique<plan_value>(schedules[0].plan);
    made.pools = pools_of(*made.merged, device);
    std::size_t const count = std::max<std::size_t>(targets.size(), 1);
    for (std::size_t at = 0; at < count; ++at) {
        std::string const suffix = count > 1 ? "_" + std::to_string(at) : "";
        tool_kernel const& of = schedules[schedules.size() > 1 ? at : 0];
        made.variants.push_back({of.schedule_name, made.asks ? targets[at] : "C++", made.name + "_unchecked" + suffix,
                                 device ? instructions_of(*of.plan.where) : ""});
    }
    argument_merge merge(made, schedules);
    for (std::size_t at = 1; at < schedules.size(); ++at) merge.add(at);
    check_order(made.variants);
    return made;
}

}  // namespace tilewright::halide::detail
