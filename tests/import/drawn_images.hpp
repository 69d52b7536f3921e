#pragma once
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <tilewright/import/layers.hpp>
#include <tilewright/import/value.hpp>

#include "oracle/oracle.hpp"

// Networks of images that are drawn layer by layer, and what the oracle makes of them.
namespace import_tests {

using namespace tilewright;
using namespace tilewright::imported;

inline value in32(std::int64_t of) { return number(of, scalar_type::int32); }

/// A network of images, drawn layer by layer: [rows][columns][channels] of int32, or the channels first.
class drawn_network {
  public:
    layers made = {};

    drawn_network(std::uint32_t seed, bool channels_first) : random_(seed), first_(channels_first) {
        stored in{"in0", scalar_type::int32, shape(9 + below(8), 5 + below(4), 1 + below(3))};
        made.inputs.push_back(in);
        images_.push_back(in);
    }
    int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
    /// @param kind  0: a convolution, 1: of one pixel, 2: by two, 3: depthwise, 4: the largest of a window, 5: a sum with another image,
    ///              6: of single elements
    void add(int kind) {
        stored const x = images_.back();
        std::int64_t const h = x.extents[row()], w = x.extents[column()], channels = x.extents[channel()];
        std::int64_t const taps = kind == 1 ? 1 : 3, stride = kind == 2 ? 2 : 1, filters = kind < 3 ? 1 + below(4) : channels;
        std::int64_t const rows = (h + stride - 1) / stride, columns = (w + stride - 1) / stride;
        value const y = along("y", rows), i = along("x", columns), f = along("f", filters), r = along("r", taps), s = along("s", taps);
        auto const tapped = [&](value const& c, std::int64_t border) {
            value const in_row = within(y * in32(stride) + r - in32(taps / 2), "wy", h),
                        in_column = within(i * in32(stride) + s - in32(taps / 2), "wx", w), in_channel = within(c, "wc", channels);
            return padded_element(x.name, x.type, order(in_row, in_column, in_channel), border);
        };
        if (kind < 3) {
            value const c = along("c", channels);
            stored const weights = constant({filters, taps, taps, channels});
            value const weight = element(weights.name, weights.type, {f, r, s, c});
            keep(reduced(operation::reduce_sum, {r, s, c}, tapped(c, 5) * weight), rows, columns, filters);
        } else if (kind == 3) {
            stored const weights = constant({filters, taps, taps});
            keep(reduced(operation::reduce_sum, {r, s}, tapped(f, -2) * element(weights.name, weights.type, {f, r, s})), rows, columns,
                 filters);
        } else if (kind == 4) {
            keep(reduced(operation::reduce_maximum, {r, s}, tapped(f, -1000)), rows, columns, filters);
        } else if (kind == 5) {
            stored other = x;
            for (stored const& one : images_) other = one.extents == x.extents ? one : other;
            for (stored const& one : images_) {
                if (one.extents == x.extents && below(2) == 0) other = one;
            }
            keep(element(x.name, x.type, order(y, i, f)) + element(other.name, other.type, order(y, i, f)) * in32(3), rows, columns,
                 filters);
        } else {
            keep(larger_of(element(x.name, x.type, order(y, i, f)), in32(below(7))) + in32(1), rows, columns, filters);
        }
    }
    /// Images that have the extents of a drawn one but along a drawn dimension, after each other there; one may come twice.
    void join() {
        stored whole = images_[static_cast<std::size_t>(below(static_cast<int>(images_.size())))];
        auto const along_it = static_cast<std::size_t>(below(3));
        std::vector<stored> fitting, parts;
        for (stored const& one : images_) {
            stored like = one;
            like.extents[along_it] = whole.extents[along_it];
            if (like.extents == whole.extents) fitting.push_back(one);
        }
        for (int count = 2 + below(4); count > 0; --count)
            parts.push_back(fitting[static_cast<std::size_t>(below(static_cast<int>(fitting.size())))]);
        whole.extents[along_it] = 0;
        for (stored const& one : parts) whole.extents[along_it] += one.extents[along_it];
        std::vector<value> index;
        for (std::size_t at = 0; at < 3; ++at) index.push_back(along(std::array{"a", "b", "c"}[at], whole.extents[at]));
        value chosen;
        std::int64_t end = whole.extents[along_it];
        for (std::size_t at = parts.size(); at-- > 0;) {
            stored const& one = parts[at];
            std::int64_t const begin = end - one.extents[along_it];
            std::vector<value> read = index;
            read[along_it] = read[along_it] - in32(begin);
            for (std::size_t d = 0; d < 3; ++d) read[d] = within(read[d], std::array{"wa", "wb", "wc"}[d], one.extents[d]);
            value const part = padded_element(one.name, one.type, read, 0);
            chosen = chosen.nodes.empty() ? part : choose(index[along_it] < in32(end), part, chosen);
            end = begin;
        }
        std::string const number = std::to_string(made.all.size());
        whole.name = ir::label(("t" + number).c_str());
        made.all.push_back(
            {ir::label(("k" + number).c_str()), stage_of(element(whole.name, whole.type, index), chosen), {}, "node " + number});
        images_.push_back(whole);
    }
    /// The next kernel reads another image than the last one.
    void branch() { std::swap(images_[static_cast<std::size_t>(below(static_cast<int>(images_.size())))], images_.back()); }
    /// A tensor between kernels becomes an output as well.
    /// @pre `finish` has found the others
    void give_one() {
        stored const& drawn = images_[static_cast<std::size_t>(below(static_cast<int>(images_.size())))];
        auto const is_it = [&](stored const& one) { return one.name == drawn.name; };
        bool const is_argument = is_it(made.inputs[0]) || std::any_of(made.outputs.begin(), made.outputs.end(), is_it);
        if (!is_argument) made.outputs.push_back(drawn);
    }
    void finish() {
        made.outputs.push_back(images_.back());
        std::set<std::string> read;
        for (layer const& one : made.all) {
            for (ir::node const& node : one.nodes) {
                if (node.op == operation::access && node.name != one.nodes.back().name) read.insert(node.name.str());
            }
        }
        for (stored const& one : images_) {
            bool const is_last = one.name == images_.back().name, is_input = one.name == made.inputs[0].name;
            if (!is_last && !is_input && read.count(one.name.str()) == 0) made.outputs.push_back(one);
        }
    }

  private:
    std::size_t row() const { return first_ ? 1 : 0; }
    std::size_t column() const { return first_ ? 2 : 1; }
    std::size_t channel() const { return first_ ? 0 : 2; }
    std::vector<std::int64_t> shape(std::int64_t h, std::int64_t w, std::int64_t c) const {
        return first_ ? std::vector<std::int64_t>{c, h, w} : std::vector<std::int64_t>{h, w, c};
    }
    std::vector<value> order(value const& y, value const& x, value const& c) const {
        return first_ ? std::vector<value>{c, y, x} : std::vector<value>{y, x, c};
    }
    stored constant(std::vector<std::int64_t> const& extents) {
        std::vector<std::int64_t> values;
        for (std::int64_t at = 0; at < count_of(extents); ++at) values.push_back(below(7) - 3);
        made.constants.push_back(known_int32(values, extents));
        made.constants.back().what.name = ir::label(("c" + std::to_string(made.constants.size())).c_str());
        return made.constants.back().what;
    }
    void keep(value const& what, std::int64_t h, std::int64_t w, std::int64_t c) {
        std::string const number = std::to_string(made.all.size());
        stored const result{ir::label(("t" + number).c_str()), scalar_type::int32, shape(h, w, c)};
        value const target = element(result.name, result.type, order(along("y", h), along("x", w), along("f", c)));
        made.all.push_back({ir::label(("k" + number).c_str()), stage_of(target, what), {}, "node " + number});
        images_.push_back(result);
    }

    std::mt19937 random_;
    bool first_;
    std::vector<stored> images_ = {};
};

inline std::vector<std::byte> drawn_bytes(stored const& like, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::int32_t> values(static_cast<std::size_t>(count_of(like.extents)));
    for (std::int32_t& one : values) one = static_cast<std::int32_t>(random() % 21) - 10;
    std::vector<std::byte> bytes(values.size() * sizeof values[0]);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}
/// The outputs of a network of whole layers.
inline std::vector<std::vector<std::byte>> expected(layers const& of, std::vector<std::byte> const& input) {
    std::map<std::string, std::pair<stored, std::vector<std::byte>>> known;
    known[of.inputs[0].name.str()] = {of.inputs[0], input};
    for (known_tensor const& one : of.constants) known[one.what.name.str()] = {one.what, one.bytes};
    for (layer const& one : of.all) {
        std::vector<oracle::operand> operands;
        for (auto const& [name, tensor] : known) {
            oracle::tensor_box box{
                .name = tensor.first.name, .type = tensor.first.type, .rank = static_cast<int>(tensor.first.extents.size())};
            std::copy(tensor.first.extents.begin(), tensor.first.extents.end(), box.extents.begin());
            operands.push_back({box, tensor.second.data()});
        }
        oracle::result const made = oracle::evaluate({one.nodes.data(), static_cast<int>(one.nodes.size())}, operands);
        stored what{one.nodes.back().name, made.box.type, {}};
        for (int at = 0; at < made.box.rank; ++at) what.extents.push_back(made.box.extents[static_cast<std::size_t>(at)]);
        known[what.name.str()] = {what, made.bytes};
    }
    std::vector<std::vector<std::byte>> outputs;
    for (stored const& one : of.outputs) outputs.push_back(known.at(one.name.str()).second);
    return outputs;
}
inline drawn_network drawn(std::uint32_t seed) {
    drawn_network of(seed, seed % 2 == 1);
    for (int at = 0, count = 2 + of.below(5); at < count; ++at) of.add(of.below(7));
    of.finish();
    return of;
}

}  // namespace import_tests
