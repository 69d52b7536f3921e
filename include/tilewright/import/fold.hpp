#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <tilewright/import/evaluate.hpp>
#include <utility>

// Kernels that read constants alone are computed once, when the network is imported: weights that a file has as integers and a product of
// floats reads.
namespace tilewright::imported::detail {

/// Limits of what is computed in advance.
inline constexpr std::int64_t most_folded = std::int64_t{1} << 22;          ///< elements of a result
inline constexpr std::int64_t most_unread_folded = 4096;                    ///< likewise, where it is far larger than what is read
inline constexpr std::int64_t most_folded_growth = 4;                       ///< bytes of a result for each byte that is read: int8 as float
inline constexpr std::int64_t steps_for_each = 64, fewest_steps = 1 << 20;  ///< nodes that are evaluated, for each element and at least

/// What is known of a network that is folded: the constants, and bytes of each.
class constant_folding {
  public:
    explicit constant_folding(layers& of) : of_(of) {
        for (known_tensor const& one : of.constants) bytes_[one.what.name.str()] = static_cast<std::int64_t>(one.bytes.size());
    }
    void run() {
        std::set<std::string> gone;
        for (layer const& one : of_.all) {
            auto made = folded(one);
            if (!made) continue;
            gone.insert(one.name.str());
            keep(std::move(*made));
        }
        std::erase_if(of_.all, [&](layer const& one) { return gone.count(one.name.str()) != 0; });
    }

  private:
    std::optional<known_tensor> folded(layer const& one) const {
        ir::label const& name = one.nodes.back().name;
        // The caller's memory is written in each run.
        for (stored const& output : of_.outputs) {
            if (output.name == name) return std::nullopt;
        }
        auto const read = bytes_read(one);
        auto const count = elements_of_result(one);
        if (!read || !count || *count > most_folded) return std::nullopt;
        if (*count > most_unread_folded && *count * bytes_of(one.nodes.back().type) > most_folded_growth * *read) return std::nullopt;
        return evaluator(of_, most_folded, std::max(fewest_steps, steps_for_each * *count)).result_of(one);
    }
    /// Of the constants that a kernel reads. Nothing where it reads something else, or reduces floats: in which order is up to its
    /// schedule.
    std::optional<std::int64_t> bytes_read(layer const& one) const {
        std::set<std::string> own, counted;
        own.insert(one.nodes.back().name.str());
        for (inner_stage const& inner : one.inner) own.insert(inner.result.str());
        std::int64_t all = 0;
        for (ir::node const& node : one.nodes) {
            bool const reduces =
                node.op == operation::reduce_sum || node.op == operation::reduce_maximum || node.op == operation::reduce_minimum;
            if (reduces && is_float(node.type)) return std::nullopt;
            if (node.op != operation::access || own.count(node.name.str()) != 0) continue;
            auto const found = bytes_.find(node.name.str());
            if (found == bytes_.end()) return std::nullopt;
            if (counted.insert(found->first).second) all += found->second;
        }
        return all;
    }
    static std::optional<std::int64_t> elements_of_result(layer const& one) {
        std::vector<ir::stage> const stages = stages_of(nodes_of(one));
        if (stages.empty()) return std::nullopt;
        std::int64_t count = 1;
        for (int at = 0; at < stages.back().rank; ++at) count *= stages.back().axes[at].extent;
        return count;
    }
    /// Equal constants are one.
    void keep(known_tensor made) {
        for (known_tensor const& one : of_.constants) {
            if (one.what.type != made.what.type || one.what.extents != made.what.extents || one.bytes != made.bytes) continue;
            for (layer& reader : of_.all) {
                for (ir::node& node : reader.nodes) {
                    if (node.op == operation::access && node.name == made.what.name) node.name = one.what.name;
                }
            }
            for (std::optional<view>& where : of_.tensors) {
                if (where && where->of.name == made.what.name) where->of.name = one.what.name;
            }
            return;
        }
        bytes_[made.what.name.str()] = static_cast<std::int64_t>(made.bytes.size());
        of_.constants.push_back(std::move(made));
    }

    layers& of_;
    std::map<std::string, std::int64_t> bytes_ = {};
};

/// Makes constants of what kernels compute that read constants alone, but for results of the network. The limits are above; what needs bits
/// of floats, such as `Exp`, stays a kernel as well.
inline void fold_constants(layers& of) { constant_folding(of).run(); }

}  // namespace tilewright::imported::detail
