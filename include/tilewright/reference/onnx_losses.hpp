#pragma once
#include <tilewright/reference/onnx_normalisation.hpp>

// What training minimises, which expanded models of tests have.
namespace tilewright::reference::of_onnx {

/// A loss of logarithms of probabilities, [batch][classes][…], for targets, [batch][…]. The mean is weighted, as the sum is.
///
/// @param weights  of the classes, or null
inline elements loss_of(call const& of, elements const& in, std::vector<double> const& logarithms, elements const* weights) {
    auto const& targets = of.operand(1);
    require(in.extents.size() > 1 && targets.extents.size() + 1 == in.extents.size(), "targets of another rank");
    shape without_classes = in.extents;
    without_classes.erase(without_classes.begin() + 1);
    require(targets.extents == without_classes, "targets that do not fit");
    auto const classes = integers_of(targets);
    auto const factors = weights != nullptr ? floats_of(*weights) : std::vector<double>(static_cast<std::size_t>(in.extents[1]), 1);
    require(static_cast<std::int64_t>(factors.size()) == in.extents[1], "weights of another number of classes");
    bool const ignores = of.has("ignore_index");
    std::int64_t const ignored = of.integer("ignore_index", 0);
    std::vector<double> made;
    double sum = 0, weight = 0;
    each_index(targets.extents, [&](shape index) {
        std::int64_t const target = classes[made.size()];
        made.push_back(0);
        if (ignores && target == ignored) return;
        require(target >= 0 && target < in.extents[1], "a target that is no class");
        index.insert(index.begin() + 1, target);
        double const factor = factors[static_cast<std::size_t>(target)];
        made.back() = -logarithms[place_of(index, in.extents)] * factor;
        sum += made.back();
        weight += factor;
    });
    std::string const how = of.word("reduction", "mean");
    require(how == "none" || how == "sum" || how == "mean", "a reduction of another name");
    if (how == "none") return of_reals(in.type, targets.extents, made);
    return of_reals(in.type, {}, {how == "sum" ? sum : sum / weight});
}

inline elements negative_log_likelihood_loss(call const& of) { return loss_of(of, of.operand(0), floats_of(of.operand(0)), of.find(2)); }

/// The second result has the logarithms of the softmax over classes.
inline results softmax_cross_entropy_loss(call const& of) {
    auto const& in = of.operand(0);
    require(in.extents.size() > 1, "an operand without classes");
    auto values = floats_of(in);
    each_line(in.extents, 1, [&](places const& line) {
        std::vector<double> numbers;
        for (std::size_t const place : line) numbers.push_back(values[place]);
        double const sum = std::log(subtract_largest(numbers));
        for (std::size_t at = 0; at < line.size(); ++at) values[line[at]] = numbers[at] - sum;
    });
    return {loss_of(of, in, values, of.find(2)), of_reals(in.type, in.extents, values)};
}

}  // namespace tilewright::reference::of_onnx
