#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Operators that scale elements by what others beside them are.
namespace tilewright::reference::of_onnx {

/// Calls `use` with the places of each line of elements along an axis.
template <class Use>
void each_line(shape const& extents, std::size_t axis, Use const& use) {
    shape starts = extents, line = {extents[axis]}, steps = strides_of(extents);
    starts[axis] = 1;
    for (std::size_t const start : walk<std::size_t>(starts, 0, steps))
        use(walk<std::size_t>(line, static_cast<std::int64_t>(start), {steps[axis]}));
}

/// Makes other numbers of each line that a softmax looks at: along one axis, or before version 13 over all extents from the axis on.
template <class Change>
elements over_softmax_lines(call const& of, Change const& change) {
    auto const& in = of.operand(0);
    auto values = floats_of(in);
    std::size_t axis = 0;
    shape extents = in.extents;
    if (of.version() >= 13) {
        axis = axis_of(of.integer("axis", -1), extents.size());
    } else {
        axis = split_axis(of, extents.size());
        extents = {count_between(extents, 0, axis), count_between(extents, axis, extents.size())};
        axis = 1;
    }
    each_line(extents, axis, [&](places const& line) {
        std::vector<double> numbers;
        for (std::size_t const place : line) numbers.push_back(values[place]);
        change(numbers);
        for (std::size_t at = 0; at < line.size(); ++at) values[line[at]] = numbers[at];
    });
    return of_reals(in.type, in.extents, values);
}

/// Subtracts the largest number. @return the sum of exponentials
inline double subtract_largest(std::vector<double>& numbers) {
    double sum = 0;
    double const most = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    for (double& one : numbers) one -= most, sum += std::exp(one);
    return sum;
}
inline elements softmax(call const& of) {
    return over_softmax_lines(of, [](std::vector<double>& numbers) {
        double const sum = subtract_largest(numbers);
        for (double& one : numbers) one = std::exp(one) / sum;
    });
}
inline elements log_softmax(call const& of) {
    return over_softmax_lines(of, [](std::vector<double>& numbers) {
        double const sum = std::log(subtract_largest(numbers));
        for (double& one : numbers) one -= sum;
    });
}
/// 1 for the first of the largest numbers, else 0.
inline elements hardmax(call const& of) {
    return over_softmax_lines(of, [](std::vector<double>& numbers) {
        auto const most = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
        for (std::size_t at = 0; at < numbers.size(); ++at) numbers[at] = static_cast<std::ptrdiff_t>(at) == most ? 1 : 0;
    });
}

/// The mean of numbers, and of the squares of what they differ from it.
struct moments {
    double mean = 0, variance = 0;

    explicit moments(std::vector<double> const& of) {
        auto const count = static_cast<double>(of.size());
        for (double const one : of) mean += one / count;
        for (double const one : of) variance += (one - mean) * (one - mean) / count;
    }
};

/// Normalises groups of so many neighbours to mean 0 and variance 1. @return the mean and the inverse deviation of each
inline std::vector<std::pair<double, double>> normalise_groups(std::vector<double>& values, std::int64_t group, double epsilon) {
    std::vector<std::pair<double, double>> made;
    for (std::size_t first = 0, size = static_cast<std::size_t>(group); first + size <= values.size() && size > 0; first += size) {
        auto const begin = values.begin() + static_cast<std::ptrdiff_t>(first), end = begin + group;
        moments const found(std::vector<double>(begin, end));
        double const inverse = 1 / std::sqrt(found.variance + epsilon);
        for (auto at = begin; at != end; ++at) *at = (*at - found.mean) * inverse;
        made.emplace_back(found.mean, inverse);
    }
    return made;
}

/// Multiplies by one operand and adds another. @param at  the place in these of each number
inline void scale_and_shift(std::vector<double>& values, std::vector<double> const& scale, std::vector<double> const* shift,
                            places const& at) {
    for (std::size_t to = 0; to < values.size(); ++to) values[to] = values[to] * scale[at[to]] + (shift != nullptr ? (*shift)[at[to]] : 0);
}

/// For each element, the place of its channel.
inline places channel_places(shape const& extents) {
    require(extents.size() > 1, "an operand without channels");
    shape steps(extents.size(), 0);
    steps[1] = 1;
    return walk<std::size_t>(extents, 0, steps);
}

/// For inference. Operands: the input, then for each channel a scale, a shift, a mean and a variance.
inline elements batch_normalization(call const& of) {
    auto const& in = of.operand(0);
    require(of.integer("training_mode", 0) == 0 && of.integer("spatial", 1) != 0, "training, or one scale for each element");
    require(of.version() >= 7 || of.integer("is_test", 0) != 0, "training");
    auto values = floats_of(in);
    places const at = channel_places(in.extents);
    std::vector<double> channels[4];
    for (std::size_t one = 0; one < 4; ++one) {
        require(of.operand(one + 1).extents == shape{in.extents[1]}, "an operand with another number of channels");
        channels[one] = reals_of(of.operand(one + 1));
    }
    auto const& [scale, shift, mean, variance] = channels;
    double const epsilon = of.real("epsilon", 1e-5f);
    for (std::size_t to = 0; to < values.size(); ++to) {
        std::size_t const channel = at[to];
        values[to] = (values[to] - mean[channel]) / std::sqrt(variance[channel] + epsilon) * scale[channel] + shift[channel];
    }
    return of_reals(in.type, in.extents, values);
}

/// Over all extents from an axis on. The further results are the mean and the inverse deviation, with extents of 1 there.
inline results layer_normalization(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", -1), in.extents.size());
    auto values = floats_of(in);
    auto const found = normalise_groups(values, count_between(in.extents, axis, in.extents.size()), of.real("epsilon", 1e-5f));
    scale_and_shift(values, reals_of(of.operand(1)), nullptr, broadcast_places(of.operand(1).extents, in.extents));
    if (auto const* shift = of.find(2)) {
        places const at = broadcast_places(shift->extents, in.extents);
        auto const added = reals_of(*shift);
        for (std::size_t to = 0; to < values.size(); ++to) values[to] += added[at[to]];
    }
    shape groups = in.extents;
    std::fill(groups.begin() + static_cast<std::ptrdiff_t>(axis), groups.end(), 1);
    std::vector<double> means, inverses;
    for (auto const& [mean, inverse] : found) means.push_back(mean), inverses.push_back(inverse);
    auto const kept = of.integer("stash_type", 1) == 1 ? element_type::float32 : in.type;
    return {of_reals(in.type, in.extents, values), of_reals(kept, groups, means), of_reals(kept, groups, inverses)};
}

/// By the root of the mean of squares, from an axis on.
inline elements rms_normalization(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", -1), in.extents.size());
    auto values = floats_of(in);
    auto const count = static_cast<std::size_t>(count_between(in.extents, axis, in.extents.size()));
    places const at = broadcast_places(of.operand(1).extents, in.extents);
    auto const scale = reals_of(of.operand(1));
    for (std::size_t first = 0; first < values.size(); first += count) {
        double squares = 0;
        for (std::size_t one = first; one < first + count; ++one) squares += values[one] * values[one];
        double const root = std::sqrt(squares / static_cast<double>(count) + of.real("epsilon", 1e-5f));
        for (std::size_t one = first; one < first + count; ++one) values[one] *= scale[at[one]] / root;
    }
    return of_reals(in.type, in.extents, values);
}

/// By the norm of each line along an axis. Where that is 0, so are all elements.
inline elements lp_normalization(call const& of) {
    auto const& in = of.operand(0);
    auto values = floats_of(in);
    std::int64_t const power = of.integer("p", 2);
    require(power == 1 || power == 2, "a power of another kind");
    each_line(in.extents, axis_of(of.integer("axis", -1), in.extents.size()), [&](places const& line) {
        double norm = 0;
        for (std::size_t const at : line) norm += power == 1 ? std::abs(values[at]) : values[at] * values[at];
        if (power == 2) norm = std::sqrt(norm);
        for (std::size_t const at : line) values[at] = norm == 0 ? 0 : values[at] / norm;
    });
    return of_reals(in.type, in.extents, values);
}

/// Each channel of each batch by itself.
inline elements instance_normalization(call const& of) {
    auto const& in = of.operand(0);
    auto values = floats_of(in);
    places const at = channel_places(in.extents);
    for (std::size_t one : {1U, 2U}) require(of.operand(one).extents == shape{in.extents[1]}, "an operand with another number of channels");
    normalise_groups(values, count_between(in.extents, 2, in.extents.size()), of.real("epsilon", 1e-5f));
    auto const shift = reals_of(of.operand(2));
    scale_and_shift(values, reals_of(of.operand(1)), &shift, at);
    return of_reals(in.type, in.extents, values);
}

/// Groups of channels. A scale and a shift belong to a group in version 18, to a channel from 21 on.
inline elements group_normalization(call const& of) {
    auto const& in = of.operand(0);
    auto values = floats_of(in);
    places at = channel_places(in.extents);
    std::int64_t const groups = of.integer("num_groups", 0), channels = in.extents[1];
    require(groups > 0 && channels % groups == 0, "channels that do not fall into groups");
    normalise_groups(values, channels / groups * count_between(in.extents, 2, in.extents.size()), of.real("epsilon", 1e-5f));
    if (of.version() < 21) {
        for (std::size_t& one : at) one /= static_cast<std::size_t>(channels / groups);
    }
    for (std::size_t one : {1U, 2U}) {
        require(count_of(of.operand(one).extents) == (of.version() < 21 ? groups : channels), "an operand with another number of channels");
    }
    auto const shift = reals_of(of.operand(2));
    scale_and_shift(values, reals_of(of.operand(1)), &shift, at);
    return of_reals(in.type, in.extents, values);
}

/// To mean 0 and variance 1 along axes, by default all but the channels.
inline elements mean_variance_normalization(call const& of) {
    auto const& in = of.operand(0);
    auto values = floats_of(in);
    shape starts = in.extents, inner(in.extents.size(), 1);
    shape const steps = strides_of(in.extents);
    for (std::int64_t const one : of.integers("axes", shape{0, 2, 3})) {
        std::size_t const axis = axis_of(one, in.extents.size());
        starts[axis] = 1, inner[axis] = in.extents[axis];
    }
    for (std::size_t const start : walk<std::size_t>(starts, 0, steps)) {
        places const group = walk<std::size_t>(inner, static_cast<std::int64_t>(start), steps);
        std::vector<double> numbers;
        for (std::size_t const place : group) numbers.push_back(values[place]);
        moments const found(numbers);
        for (std::size_t const place : group) values[place] = (values[place] - found.mean) / (std::sqrt(found.variance) + 1e-9);
    }
    return of_reals(in.type, in.extents, values);
}

/// Divides by a power of the squares of channels beside: (size - 1) / 2 before, and size / 2 behind.
inline elements lrn(call const& of) {
    auto const& in = of.operand(0);
    auto const values = floats_of(in);
    std::int64_t const size = of.integer("size", 0), channels = in.extents.size() > 1 ? in.extents[1] : 0;
    require(size > 0 && channels > 0, "no channels");
    double const alpha = of.real("alpha", 0.0001f), beta = of.real("beta", 0.75f), bias = of.real("bias", 1);
    std::int64_t const step = strides_of(in.extents)[1];
    places const channel_of = channel_places(in.extents);
    std::vector<double> made(values.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
        auto const channel = static_cast<std::int64_t>(channel_of[at]);
        double squares = 0;
        for (std::int64_t one = std::max<std::int64_t>(0, channel - (size - 1) / 2); one <= std::min(channels - 1, channel + size / 2);
             ++one) {
            double const value = values[static_cast<std::size_t>(static_cast<std::int64_t>(at) + (one - channel) * step)];
            squares += value * value;
        }
        made[at] = values[at] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
    }
    return of_reals(in.type, in.extents, made);
}

}  // namespace tilewright::reference::of_onnx
