#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/import/loops.hpp>
#include <utility>

namespace tilewright::imported {

/// The kernels and constants of a network that are made so far.
class kernel_list {
  public:
    layers result = {};
    std::string made_for = {};  ///< the node of the model that kernels are made for from here on

    /// Elements that an operator makes, as kernels read them. Those that are there already are the same constant.
    view constant(known_tensor what) {
        for (known_tensor const& one : result.constants) {
            if (one.what.type != what.what.type || one.bytes != what.bytes) continue;
            view const same = keep({one.what.name, one.what.type, {}}, what.what.extents);
            if (same.of.extents == one.what.extents) return same;
        }
        view const made = keep({numbered("c", result.constants.size()), what.what.type, {}}, what.what.extents);
        result.constants.emplace_back(made.of, std::move(what.bytes));
        return made;
    }
    /// A view of which each dimension is a whole dimension of a stored tensor: a copy, where it is another.
    view plain(view const& what) { return is_plain(what) ? what : copied(what, what.shape(), true); }
    /// A view that can be read at any index: a copy, where a reshape has joined dimensions.
    view indexable(view const& what) {
        bool const several = std::any_of(what.dimensions.begin(), what.dimensions.end(), [](auto const& one) { return one.size() > 1; });
        return several ? copied(what, what.shape(), true) : what;
    }
    /// The same elements, row by row, as another shape: a copy, where rows are cut in other places.
    view reshaped(view const& what, std::vector<std::int64_t> const& to) {
        auto const made = imported::reshaped(what, to);
        return made ? *made : copied(what, to, false);
    }
    /// A view whose factors are whole dimensions of a stored tensor: itself, or a copy.
    view with_whole_factors(view const& from) {
        if (has_whole_factors(from)) return from;
        space const loops = loops_over({from}, from.shape());
        return compute(loops, imported::at(from, loops));
    }
    /// A view whose dimension is one dimension of a stored tensor: itself, or a copy. Element y of factors a and b, b of extent s, is y = a
    /// s + b: the copy takes the sum over a of what stands at (a, y - a s), of which one is inside.
    view joined(view const& from, int dimension) {
        if (from.dimensions[static_cast<std::size_t>(dimension)].size() < 2) return from;
        view const x = with_whole_factors(from);
        space loops = loops_over({x}, x.shape());
        auto const at = static_cast<std::size_t>(dimension);
        factors const& parts = x.dimensions[at];
        loops.extents[at] = {x.extent(dimension)};
        loops.axes[at] = {along("joined", x.extent(dimension))};
        std::vector<value> outer, index;
        value inner = loops.axes[at][0];
        std::int64_t step = x.extent(dimension);
        for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
            step /= parts[part].extent;
            outer.push_back(along(ir::label(("part" + std::to_string(part)).c_str()), parts[part].extent));
            inner = inner - detail::times(outer.back(), step);
        }
        index = outer;
        index.push_back(inner);
        std::vector<std::vector<value>> all = loops.axes;
        all[at] = index;
        value const nothing = nothing_to_add(x.type());
        return compute(loops, nothing + reduced(operation::reduce_sum, outer, padded_at_factors(x, all, nothing)));
    }
    /// Each element of a view by itself, in a kernel of its own.
    template <class Make>
    view each(view const& what, Make const& make) {
        space const over_it = loops_over({what}, what.shape());
        return compute(over_it, make(imported::at(what, over_it)));
    }
    /// Loops over a shape that all of these views have. Views that are reshaped in ways which do not fit each other are copied.
    /// So are views that have more factors than a result has dimensions.
    space loops(std::vector<view>& all, std::vector<std::int64_t> const& shape) {
        if (can_share_loops(all, shape)) {
            space const made = loops_over(all, shape);
            if (axes_of(made) <= max_rank) return made;
        }
        for (view& one : all) one = indexable(one);
        return loops_over(all, shape);
    }

    /// A kernel for a tensor that only kernels read: `what` at each point of the loops.
    view compute(space const& loops_over_it, value const& what) { return store(next_name(), loops_over_it, what); }
    /// A stage of the kernel that the next `compute` ends. Its loops over the first `shared` dimensions are those of that kernel: it is
    /// computed for one iteration of them.
    view stage(space const& loops_over_it, value const& what, std::size_t shared) {
        inner_stage made{numbered("s", begun_.inner.size()), {}, true};
        for (std::size_t dimension = 0; dimension < loops_over_it.axes.size(); ++dimension) {
            if (loops_over_it.axes[dimension].empty()) continue;
            if (dimension < shared) made.loop = loops_over_it.axes[dimension].back().root().name;
            else made.element = false;
        }
        begun_.inner.push_back(made);
        std::size_t const first = begun_.nodes.size();
        view const whole = add_stage(made.result, loops_over_it, what);
        // Its axes have names of their own: `loop` is one of the last stage's.
        for (std::size_t at = first; at < begun_.nodes.size(); ++at) {
            ir::node& one = begun_.nodes[at];
            if (one.op == operation::axis_value) one.name = ir::label((made.result.str() + "_" + one.name.str()).c_str());
        }
        return whole;
    }
    /// Likewise, of the element where the loops are.
    view stage(space const& loops_over_it, value const& what) { return stage(loops_over_it, what, loops_over_it.axes.size()); }
    /// Each element of a view by itself, in such a stage.
    template <class Make>
    view each_inside(view const& what, Make const& make) {
        space const over_it = loops_over({what}, what.shape());
        return stage(over_it, make(imported::at(what, over_it)));
    }

  protected:
    static ir::label numbered(char const* what, std::size_t number) { return ir::label((what + std::to_string(number)).c_str()); }
    ir::label next_name() const { return numbered("t", result.all.size()); }

    /// A kernel that stores `what`.
    view store(ir::label const& name, space const& loops, value const& what) {
        view const made = add_stage(name, loops, what);
        constexpr double most_written_out = 50'000;
        if (detail::written_out(begun_.nodes) > most_written_out) throw not_imported("its expression is too long");
        begun_.name = numbered("k", result.all.size());
        begun_.made_for = made_for;
        result.all.push_back(std::exchange(begun_, {}));
        return made;
    }
    /// A stored tensor of this shape, as a view: dimensions of extent 1 are not stored.
    static view keep(stored what, std::vector<std::int64_t> const& shape) {
        count_of(shape);
        std::vector<int> parts;
        for (std::int64_t const extent : shape) {
            parts.push_back(extent > 1 ? 1 : 0);
            if (extent > 1) what.extents.push_back(extent);
        }
        if (what.extents.empty()) what.extents.push_back(1);
        if (what.extents.size() > max_rank) throw not_imported("a tensor of more than " + std::to_string(max_rank) + " dimensions");
        return whole_of(what, parts);
    }

    layer begun_ = {};  ///< stages of a kernel that is not complete

  private:
    view add_stage(ir::label const& name, space const& loops, value const& what) {
        stored made{name, what.type(), {}};
        std::vector<int> parts;
        std::vector<value> indices;
        for (std::size_t dimension = 0; dimension < loops.axes.size(); ++dimension) {
            parts.push_back(static_cast<int>(loops.axes[dimension].size()));
            indices.insert(indices.end(), loops.axes[dimension].begin(), loops.axes[dimension].end());
            made.extents.insert(made.extents.end(), loops.extents[dimension].begin(), loops.extents[dimension].end());
        }
        count_of(made.extents);
        if (made.extents.empty()) made.extents.push_back(1), indices.push_back(along("only", 1));
        if (made.extents.size() > max_rank) {
            throw not_imported("the result has " + std::to_string(made.extents.size()) + " dimensions; " + std::to_string(max_rank) +
                               " are the most");
        }
        detail::append(begun_.nodes, stage_of(element(made.name, made.type, indices), what));
        return whole_of(made, parts);
    }
    /// @param whole  each dimension of the result is one of the stored tensor
    view copied(view const& what, std::vector<std::int64_t> const& to, bool whole) {
        factors all;
        for (factors const& one : what.dimensions) {
            factors const own = whole ? imported::joined(one) : one;
            all.insert(all.end(), own.begin(), own.end());
        }
        if (!whole) all = imported::joined(all);
        view apart = what;
        apart.dimensions.clear();
        for (factor const& one : all) apart.dimensions.push_back({one});
        space const as_it_is = loops_over({apart}, apart.shape());
        apart = compute(as_it_is, imported::at(apart, as_it_is));
        std::int64_t inner = 1;
        for (int at = apart.rank(); at-- > 1;) {
            inner *= all[static_cast<std::size_t>(at)].extent;
            // Where this boundary between two dimensions is none of the result, they become one.
            std::int64_t end = 1;
            bool kept = false, divides = true;
            for (std::size_t dimension = to.size(); dimension-- > 0;) {
                end *= to[dimension];
                kept = kept || end == inner;
                divides = divides && (end % inner == 0 || inner % end == 0);
            }
            if (whole ? kept : divides) continue;
            auto const first = apart.dimensions.begin() + at - 1;
            first->insert(first->end(), (first + 1)->begin(), (first + 1)->end());
            apart.dimensions.erase(first + 1);
            apart = joined(apart, at - 1);
        }
        auto const made = imported::reshaped(apart, to);
        if (!made) throw not_imported("from " + text_of(what.shape()) + " to " + text_of(to));
        return *made;
    }
};

}  // namespace tilewright::imported
