#pragma once
#include <deque>
#include <map>
#include <tilewright/import/joined_loops.hpp>
#include <tilewright/import/loops.hpp>
#include <utility>

// A chain of layers that is computed depth-first: all of its layers for some rows of the result, then for the next ones. What stays inside
// of the chain is as large as a strip needs, and rows where strips overlap are computed again.
namespace tilewright::imported {

/// The rows [begin, end) of one dimension of a tensor.
struct row_range {
    int dimension = 0;
    std::int64_t begin = 0, end = 0;

    std::int64_t count() const { return end - begin; }
    /// @pre both are of one dimension
    void include(row_range const& other) { begin = std::min(begin, other.begin), end = std::max(end, other.end); }
};

/// Layers that follow each other in a network, and how they are cut: `count` strips along a dimension of what the last one makes.
struct strip_chain {
    std::size_t first = 0, last = 0;
    int dimension = 0;
    std::int64_t count = 1;

    /// The rows of a strip of so many rows, but for the last one.
    std::int64_t rows_of(std::int64_t extent) const { return (extent + count - 1) / count; }
};

namespace detail {

/// A layer for some rows of its result: the rows that it needs of what it reads, and the layer itself.
class strip_of_layer {
  public:
    /// @param of, shapes  outlive it; shapes are of what the network is given and makes
    strip_of_layer(layer const& of, tensor_shapes const& shapes)
        : of_(of), nodes_(nodes_of(of)), stages_(stages_of(nodes_)), shapes_(shapes), own_shapes_(shapes_of_stages(stages_)) {}
    /// @return whether it can be computed for these rows by itself: one dimension of each tensor moves with them, by an affine index
    bool needs(row_range const& rows) {
        if (stages_.empty() || rows.dimension >= stages_.back().rank) return false;
        ir::label const& axis = stages_.back().axes[rows.dimension].name;
        if (of_.rescaled && of_.rescaled->channel == axis) return false;
        rows_ = {{stages_.back().output.str(), rows}};
        whole_.clear();
        for (std::size_t at = stages_.size(); at-- > 0;) {
            if (!read(stages_[at])) return false;
        }
        return std::none_of(whole_.begin(), whole_.end(), [&](std::string const& one) { return rows_.count(one) != 0; });
    }
    /// The rows of tensors, for which `needs` has said yes. It reads all of what is not among them.
    std::map<std::string, row_range> const& rows() const { return rows_; }
    std::vector<std::string> const& whole() const { return whole_; }
    /// Calls `visit(tensor, rows)` for those that are not only its own.
    template <class Visit>
    void each_outside(Visit const& visit) {
        for (auto& [tensor, rows] : rows_) {
            if (!is_own(tensor)) visit(tensor, rows);
        }
    }

    /// The layer for these rows. @param inside  tensors that are cut to the rows, and what they are called then
    layer made(ir::label const& name, std::map<std::string, ir::label> const& inside) const {
        layer strip = of_;
        strip.name = name;
        strip.strip_of = of_.known_as();
        strip.nodes = pruned(rewritten(of_.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
            auto const known = rows_.find(one.name.str());
            bool const has_rows = one.op == operation::access || one.op == operation::store;
            if (one.op == operation::axis_value) {
                auto const extent = extents_.find(one.name.str());
                if (extent != extents_.end()) one.value = extent->second;
            } else if (has_rows && known != rows_.end()) {
                if (one.op == operation::access && !is_target(at))
                    one.arguments[known->second.dimension] = moved_index(to, at, known->second);
                if (auto const renamed = inside.find(one.name.str()); renamed != inside.end()) one.name = renamed->second;
            }
            return put(to, one);
        }));
        for (auto const& [tensor, rows] : rows_) {
            if (is_own(tensor) || inside.count(tensor) != 0) continue;
            std::vector<std::int64_t>& begin = strip.parts[tensor];
            begin.resize(shape_of(tensor)->size(), 0);
            begin[static_cast<std::size_t>(rows.dimension)] += rows.begin;
        }
        return strip;
    }
    /// Iterations of its stages for these rows.
    double iterations() const {
        double all = 0;
        for (ir::stage const& one : stages_) {
            double of_it = 1;
            for (int axis = 0; axis < one.axis_count; ++axis) of_it *= static_cast<double>(extent_of(one.axes[axis]));
            all += of_it;
        }
        return all;
    }

  private:
    /// Nothing of a constant.
    std::vector<std::int64_t> const* shape_of(std::string const& tensor) const {
        for (tensor_shapes const* shapes : {&own_shapes_, &shapes_}) {
            if (auto const found = shapes->find(tensor); found != shapes->end()) return &found->second;
        }
        return nullptr;
    }
    /// Of a loop, for these rows.
    std::int64_t extent_of(ir::stage_axis const& loop) const {
        auto const cut = extents_.find(loop.name.str());
        return cut == extents_.end() ? loop.extent : cut->second;
    }
    bool is_own(std::string const& tensor) const {
        return std::any_of(of_.inner.begin(), of_.inner.end(), [&](inner_stage const& one) { return one.result.str() == tensor; });
    }
    /// Finds the rows that a stage needs of what it reads.
    bool read(ir::stage const& of) {
        auto const known = rows_.find(of.output.str());
        int const moving = known == rows_.end() ? -1 : known->second.dimension;
        row_range const own = known == rows_.end() ? row_range{} : known->second;
        if (moving >= 0) extents_[of.axes[moving].name.str()] = own.count();
        if (moving >= 0 && is_a_value(of, of.axes[moving].name)) return false;
        for (int at = of.first; at <= of.store; ++at) {
            ir::node const& one = nodes_[at];
            if (one.op != operation::access || at == of.target) continue;
            int dimension = -1;
            row_range needed;
            for (int d = 0; d < one.argument_count; ++d) {
                ir::stage_index const index = index_of(nodes_, of, at, d);
                if (!index.affine) return false;
                if (moving < 0 || index.coefficients[moving] == 0) continue;
                if (dimension >= 0) return false;
                dimension = d;
                needed = needed_rows(of, index, moving, own, extent_of_access(one, d));
                needed.dimension = d;
            }
            if (dimension < 0) {
                whole_.push_back(one.name.str());
                continue;
            }
            if (shape_of(one.name.str()) == nullptr) return false;
            auto const [found, is_new] = rows_.emplace(one.name.str(), needed);
            if (found->second.dimension != dimension) return false;
            found->second.include(needed);
        }
        return true;
    }
    std::int64_t extent_of_access(ir::node const& access, int dimension) const {
        ir::node const& index = nodes_[access.argument(dimension)];
        if (index.op == operation::within) return index.value;
        auto const* const known = shape_of(access.name.str());
        return known == nullptr ? 1 : known->at(static_cast<std::size_t>(dimension));
    }
    /// The part of [0, extent) that an index covers; at least one row, where it is all outside.
    static row_range needed_rows(ir::stage const& of, ir::stage_index const& index, int moving, row_range const& own, std::int64_t extent) {
        std::int64_t low = index.constant, high = index.constant;
        for (int axis = 0; axis < of.axis_count; ++axis) {
            std::int64_t const first = axis == moving ? own.begin : 0, last = axis == moving ? own.end - 1 : of.axes[axis].extent - 1;
            std::int64_t const a = index.coefficients[axis] * first, b = index.coefficients[axis] * last;
            low += std::min(a, b), high += std::max(a, b);
        }
        low = std::clamp<std::int64_t>(low, 0, extent - 1), high = std::clamp<std::int64_t>(high, 0, extent - 1);
        return {0, low, high + 1};
    }
    /// Whether a stage computes with the number of the row itself.
    bool is_a_value(ir::stage const& of, ir::label const& axis) const {
        std::vector<int> left{of.store};
        while (!left.empty()) {
            int const at = left.back();
            left.pop_back();
            ir::node const& one = nodes_[at];
            if (one.op == operation::axis_value && one.name == axis) return true;
            if (one.op == operation::constant || one.op == operation::access) continue;
            for (int argument = 0; argument < one.argument_count; ++argument) left.push_back(one.argument(argument));
        }
        return false;
    }
    bool is_target(int access) const {
        return std::any_of(stages_.begin(), stages_.end(), [&](ir::stage const& one) { return one.target == access; });
    }
    /// The index of an access along its rows, counted from the first rows of the stage and of the tensor.
    std::int16_t moved_index(std::vector<ir::node>& to, int access, row_range const& of_tensor) const {
        auto const in =
            std::find_if(stages_.begin(), stages_.end(), [&](ir::stage const& one) { return one.first <= access && access <= one.store; });
        auto const of_stage = rows_.find(in->output.str());
        ir::stage_index index = index_of(nodes_, *in, access, of_tensor.dimension);
        std::int64_t const begin = of_stage == rows_.end() ? 0 : of_stage->second.begin;
        if (of_stage != rows_.end()) index.constant += index.coefficients[of_stage->second.dimension] * begin;
        index.constant -= of_tensor.begin;
        std::vector<value> terms;
        for (int axis = 0; axis < in->axis_count; ++axis) {
            if (index.coefficients[axis] == 0) continue;
            terms.push_back(times(along(in->axes[axis].name, extent_of(in->axes[axis])), index.coefficients[axis]));
        }
        std::int16_t const sum = append(to, total(terms, index.constant).nodes);
        ir::node around = nodes_[nodes_[access].argument(of_tensor.dimension)];
        if (around.op != operation::within) return sum;
        around.value = of_tensor.count();
        around.arguments[0] = sum;
        return put(to, around);
    }

    layer const& of_;
    computation_view nodes_;
    std::vector<ir::stage> stages_;
    tensor_shapes const& shapes_;
    tensor_shapes own_shapes_;
    std::map<std::string, row_range> rows_ = {};
    std::map<std::string, std::int64_t> extents_ = {};  ///< of loops over rows
    std::vector<std::string> whole_ = {};
};

/// The layers of a chain, in their order, for some rows.
using strip_of_layers = std::deque<strip_of_layer>;

/// The rows of each layer of a chain that one strip needs: of what its last layer makes, these. Nothing where a layer cannot be cut so.
inline std::optional<strip_of_layers> strip_of_chain(layers const& of, tensor_shapes const& shapes, strip_chain const& chain,
                                                     row_range const& rows) {
    std::map<std::string, row_range> wanted{{of.all[chain.last].nodes.back().name.str(), rows}};
    std::vector<std::string> whole;
    strip_of_layers made;
    for (std::size_t at = chain.last + 1; at-- > chain.first;) {
        auto const own = wanted.find(of.all[at].nodes.back().name.str());
        if (own == wanted.end()) return std::nullopt;  // nobody in the chain reads it by rows
        strip_of_layer& one = made.emplace_front(of.all[at], shapes);
        if (!one.needs(own->second)) return std::nullopt;
        bool agree = true;
        one.each_outside([&](std::string const& tensor, row_range const& needed) {
            auto const [found, is_new] = wanted.emplace(tensor, needed);
            agree = agree && found->second.dimension == needed.dimension;
            found->second.include(needed);
        });
        if (!agree) return std::nullopt;
        whole.insert(whole.end(), one.whole().begin(), one.whole().end());
    }
    for (std::size_t at = chain.first; at < chain.last; ++at) {
        if (std::find(whole.begin(), whole.end(), of.all[at].nodes.back().name.str()) != whole.end()) return std::nullopt;
    }
    // Who reads a tensor has all rows of it that the strip has, which others may need.
    for (strip_of_layer& one : made)
        one.each_outside([&](std::string const& tensor, row_range& rows_of_it) { rows_of_it = wanted.at(tensor); });
    return made;
}
/// Whether what the layers of a chain make, but for the last, is read in the chain alone.
inline bool stays_inside(layers const& of, strip_chain const& chain) {
    for (std::size_t at = chain.first; at < chain.last; ++at) {
        ir::label const& tensor = of.all[at].nodes.back().name;
        for (stored const& one : of.outputs) {
            if (one.name == tensor) return false;
        }
        for (std::size_t reader = 0; reader < of.all.size(); ++reader) {
            bool const in_chain = at <= reader && reader <= chain.last;
            if (!in_chain && accesses(of.all[reader], tensor)) return false;
        }
    }
    return true;
}

/// All strips of a chain. Nothing where it cannot be computed so: something of it is read elsewhere, a layer reads all rows of another one,
/// or is cut.
inline std::optional<std::vector<strip_of_layers>> strips_of_chain(layers const& of, tensor_shapes const& shapes,
                                                                   strip_chain const& chain) {
    if (!stays_inside(of, chain)) return std::nullopt;
    for (std::size_t at = chain.first; at <= chain.last; ++at) {
        if (!of.all[at].parts.empty()) return std::nullopt;
    }
    auto const& whole = shapes.at(of.all[chain.last].nodes.back().name.str());
    if (chain.dimension >= static_cast<int>(whole.size())) return std::nullopt;
    std::int64_t const extent = whole[static_cast<std::size_t>(chain.dimension)], rows = chain.rows_of(extent);
    std::vector<strip_of_layers> made;
    for (std::int64_t begin = 0; begin < extent; begin += rows) {
        auto strip = strip_of_chain(of, shapes, chain, {chain.dimension, begin, std::min(begin + rows, extent)});
        if (!strip) return std::nullopt;
        made.push_back(std::move(*strip));
    }
    return made;
}
inline double iterations_of(std::vector<strip_of_layers> const& strips) {
    double all = 0;
    for (strip_of_layers const& strip : strips) {
        for (strip_of_layer const& one : strip) all += one.iterations();
    }
    return all;
}

}  // namespace detail

/// A network with a chain in strips, and what that costs.
struct network_in_strips {
    layers network;
    double iterations = 0, iterations_before = 0;  ///< of the chain's layers
    std::int64_t rows = 0;                         ///< of a strip of the result, but for the last one
};

/// Nothing where the chain cannot be computed so: something of it is read elsewhere, a layer reads all rows of another one, or is cut.
inline std::optional<network_in_strips> with_strips(layers const& of, tensor_shapes const& shapes, strip_chain const& chain) {
    auto const strips = detail::strips_of_chain(of, shapes, chain);
    auto const whole = detail::strips_of_chain(of, shapes, {chain.first, chain.last, chain.dimension, 1});
    if (!strips || !whole) return std::nullopt;
    ir::label const& result = of.all[chain.last].nodes.back().name;
    network_in_strips made{of, detail::iterations_of(*strips), detail::iterations_of(*whole),
                           chain.rows_of(shapes.at(result.str())[static_cast<std::size_t>(chain.dimension)])};
    std::vector<layer>& all = made.network.all;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(chain.first), all.end());
    for (std::size_t number = 0; number < strips->size(); ++number) {
        std::string const ending = "s" + std::to_string(number);
        std::map<std::string, ir::label> inside;
        for (std::size_t at = chain.first; at < chain.last; ++at) {
            ir::label const& tensor = of.all[at].nodes.back().name;
            inside.emplace(tensor.str(), detail::with_ending(tensor, ending.c_str()));
        }
        for (std::size_t at = chain.first; at <= chain.last; ++at)
            all.push_back((*strips)[number][at - chain.first].made(detail::with_ending(of.all[at].name, ending.c_str()), inside));
    }
    all.insert(all.end(), of.all.begin() + static_cast<std::ptrdiff_t>(chain.last) + 1, of.all.end());
    return made;
}

}  // namespace tilewright::imported
