#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tilewright/reference/onnx_places.hpp>
#include <vector>

// Attention, and rows that are turned by their positions.
namespace tilewright::reference::of_onnx {

/// An operand as heads: where the element of a batch, head, row and position stands.
struct heads {
    std::vector<double> values;
    std::int64_t batch = 0, count = 0, rows = 0, size = 0;
    bool rows_first = false;

    heads(elements const& from, std::int64_t given) : values(floats_of(from)), rows_first(from.extents.size() == 3) {
        shape const& extents = from.extents;
        require(extents.size() == 4 || (rows_first && given > 0 && extents[2] % given == 0), "heads that do not fit");
        batch = extents[0];
        count = rows_first ? given : extents[1];
        rows = extents[rows_first ? 1 : 2];
        size = rows_first ? extents[2] / given : extents[3];
    }
    std::size_t place(std::int64_t b, std::int64_t head, std::int64_t row, std::int64_t at) const {
        std::int64_t const outer = rows_first ? (b * rows + row) * count + head : (b * count + head) * rows + row;
        return static_cast<std::size_t>(outer * size + at);
    }
};

inline elements rotary_embedding(call const& of) {
    auto const& in = of.operand(0);
    heads const x(in, of.integer("num_heads", 0));
    auto const cosines = floats_of(of.operand(1)), sines = floats_of(of.operand(2));
    std::int64_t const asked = of.integer("rotary_embedding_dim", 0), turned = asked == 0 ? x.size : asked, half = turned / 2;
    require(of.operand(1).extents.back() == half && of.operand(2).extents == of.operand(1).extents, "angles that do not fit");
    bool const beside = of.integer("interleaved", 0) != 0;
    std::vector<std::int64_t> positions;
    if (of.find(3) != nullptr) positions = integers_of(of.operand(3));
    std::vector<double> made = x.values;
    each_index({x.batch, x.count, x.rows, half}, [&](shape const& at) {
        std::int64_t const number = at[0] * x.rows + at[2],
                           row = positions.empty() ? number : positions.at(static_cast<std::size_t>(number));
        auto const angle = static_cast<std::size_t>(row * half + at[3]);
        std::size_t const first = x.place(at[0], at[1], at[2], beside ? 2 * at[3] : at[3]),
                          second = x.place(at[0], at[1], at[2], beside ? 2 * at[3] + 1 : at[3] + half);
        double const a = x.values[first], b = x.values[second], c = cosines.at(angle), s = sines.at(angle);
        made[first] = a * c - b * s, made[second] = a * s + b * c;
    });
    return of_reals(in.type, in.extents, made);
}

/// Results: what is attended to, keys and values as heads, and the scores. @throws not_covered  for keys of earlier runs
inline results attention(call const& of) {
    heads const q(of.operand(0), of.integer("q_num_heads", 0)), k(of.operand(1), of.integer("kv_num_heads", 0)),
        v(of.operand(2), of.integer("kv_num_heads", 0));
    for (std::size_t const one : {4U, 5U, 6U}) require(of.find(one) == nullptr, "keys and values of earlier runs");
    require(of.integer("qk_matmul_output_mode", 0) == 0 && of.integer("softmax_precision", 1) == 1,
            "scores after a mask, or another precision");
    double const cap = of.real("softcap", 0), scale = of.has("scale") ? of.real("scale", 1) : 1 / std::sqrt(static_cast<double>(q.size));
    bool const causal = of.integer("is_causal", 0) != 0;
    auto const* mask = of.find(3);
    require(cap == 0 || (mask == nullptr && !causal), "a mask together with softcap");
    shape const scored{q.batch, q.count, q.rows, k.rows};
    places at_mask;
    std::vector<double> masks;
    if (mask != nullptr) at_mask = broadcast_places(mask->extents, scored), masks = reals_of(*mask);
    std::vector<double> scores(static_cast<std::size_t>(count_of(scored)));
    shape const made_extents = q.rows_first ? shape{q.batch, q.rows, q.count * v.size} : shape{q.batch, q.count, q.rows, v.size};
    std::vector<double> made(static_cast<std::size_t>(count_of(made_extents)));
    std::int64_t const group = q.count / k.count;
    each_index({q.batch, q.count, q.rows}, [&](shape const& at) {
        std::int64_t const b = at[0], head = at[1], row = at[2];
        std::vector<double> shares;
        std::size_t const first = place_of({b, head, row, 0}, scored);
        for (std::int64_t key = 0; key < k.rows; ++key) {
            double score = 0;
            for (std::int64_t one = 0; one < q.size; ++one)
                score += q.values[q.place(b, head, row, one)] * k.values[k.place(b, head / group, key, one)];
            std::size_t const place = first + static_cast<std::size_t>(key);
            score *= scale, scores[place] = score;
            if (cap != 0) score = cap * std::tanh(score / cap);
            bool const truths = mask != nullptr && mask->type == element_type::boolean;
            bool const hidden = (truths && masks[at_mask[place]] == 0) || (causal && key > row);
            if (mask != nullptr && !truths) score += masks[at_mask[place]];
            shares.push_back(hidden ? -std::numeric_limits<double>::infinity() : score);
        }
        double const most = *std::max_element(shares.begin(), shares.end());
        double sum = 0;
        for (double& one : shares) one = std::exp(one - most), sum += one;
        for (std::int64_t one = 0; one < v.size; ++one) {
            double whole = 0;
            for (std::int64_t key = 0; key < k.rows; ++key)
                whole += shares[static_cast<std::size_t>(key)] / sum * v.values[v.place(b, head / group, key, one)];
            std::int64_t const outer = q.rows_first ? (b * q.rows + row) * q.count + head : (b * q.count + head) * q.rows + row;
            made[static_cast<std::size_t>(outer * v.size + one)] = whole;
        }
    });
    auto const as_heads = [](elements const& from, heads const& of_it) {
        std::vector<double> all;
        shape const extents{of_it.batch, of_it.count, of_it.rows, of_it.size};
        each_index(extents, [&](shape const& at) { all.push_back(of_it.values[of_it.place(at[0], at[1], at[2], at[3])]); });
        return of_reals(from.type, extents, all);
    };
    element_type const type = of.operand(0).type;
    return {of_reals(type, made_extents, made), as_heads(of.operand(1), k), as_heads(of.operand(2), v), of_reals(type, scored, scores)};
}

}  // namespace tilewright::reference::of_onnx
