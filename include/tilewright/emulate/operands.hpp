#pragma once
#include <algorithm>
#include <set>
#include <tilewright/compute/stage.hpp>
#include <tilewright/machine/machine.hpp>
#include <vector>

namespace tilewright::emulation {

/// What calls of an intrinsic touch of one operand, read once from its semantics.
class operand_footprint {
  public:
    /// Elements that follow each other along the innermost dimension.
    struct run {
        fixed_array<std::int64_t, max_rank> first{};
        std::int64_t count = 0;
    };

    bool reads = false, writes = false;
    int memory = -1;
    std::int64_t element_bytes = 0;

    operand_footprint(machine const& where, intrinsic_description const& of, int operand) {
        operand_constraint const& declared = of.operands[operand];
        memory = memory_under(where, declared.memory_name);
        computation_view const view = where.view(of.semantics);
        ir::stage s;
        read_stage(view, 0, s);
        writes = declared.is != ir::direction::reads;
        reads = declared.is != ir::direction::writes || s.continues;
        for (int at = 0; at < view.count; ++at) {
            ir::node const& n = view[at];
            if (n.op != operation::access || n.name != declared.tensor) continue;
            element_bytes = bytes_of(n.type);
            access made{.rank = n.argument_count};
            for (int d = 0; d < n.argument_count; ++d) made.indices[d] = index_of(view, s, at, d);
            for (int axis = 0; axis < s.axis_count; ++axis) made.extents[axis] = s.axes[axis].extent;
            made.axis_count = s.axis_count;
            made.find_last();
            accesses_.push_back(made);
        }
    }

    /// Sets how much of each axis calls cover from now on.
    void cover(std::int64_t const* extents) {
        for (access& a : accesses_) {
            if (std::equal(extents, extents + a.axis_count, a.extents.elements)) continue;
            std::copy(extents, extents + a.axis_count, a.extents.elements);
            a.find_last();
            runs_.clear();
        }
    }
    /// Bytes from the first element to the end of the last one. @param strides in elements; the innermost one is 1 whatever is given
    std::int64_t reach(std::int64_t const* strides) const {
        std::int64_t furthest = 0;
        for (access const& a : accesses_) furthest = std::max(furthest, offset(a.last, a.rank, strides));
        return (furthest + 1) * element_bytes;
    }
    /// Bytes from the operand's first element to that of a run.
    std::int64_t byte_offset(run const& r, std::int64_t const* strides) const {
        return offset(r.first, accesses_.front().rank, strides) * element_bytes;
    }
    /// Every element that a call touches, once.
    std::vector<run> const& runs() {
        if (!runs_.empty()) return runs_;
        using index = fixed_array<std::int64_t, max_rank>;
        auto const comes_before = [](index const& a, index const& b) {
            return std::lexicographical_compare(begin(a), end(a), begin(b), end(b));
        };
        std::set<index, decltype(comes_before)> touched;
        for (access const& a : accesses_) {
            fixed_array<std::int64_t, ir::stage::most_axes> axes{};
            auto const collect = [&](auto const& self, int axis) -> void {
                while (axis < a.axis_count && !a.uses(axis)) ++axis;
                if (axis < a.axis_count) {
                    for (axes[axis] = 0; axes[axis] < a.extents[axis]; ++axes[axis]) self(self, axis + 1);
                    axes[axis] = 0;
                    return;
                }
                index element{};
                for (int d = 0; d < a.rank; ++d) {
                    element[d] = a.indices[d].constant;
                    for (int v = 0; v < a.axis_count; ++v) element[d] += a.indices[d].coefficients[v] * axes[v];
                }
                touched.insert(element);
            };
            collect(collect, 0);
        }
        int const innermost = std::max(accesses_.front().rank - 1, 0);
        for (index const& element : touched) {
            if (!runs_.empty()) {
                run& before = runs_.back();
                bool follows = element[innermost] == before.first[innermost] + before.count;
                for (int d = 0; d < innermost; ++d) follows = follows && element[d] == before.first[d];
                if (follows) {
                    ++before.count;
                    continue;
                }
            }
            run& made = runs_.emplace_back();
            made.first = element;
            made.count = 1;
        }
        return runs_;
    }

  private:
    struct access {
        int rank = 0;
        fixed_array<ir::stage_index, max_rank> indices{};
        fixed_array<std::int64_t, ir::stage::most_axes> extents{};
        int axis_count = 0;
        fixed_array<std::int64_t, max_rank> last{};

        void find_last() {
            for (int d = 0; d < rank; ++d) {
                ir::stage_index const& index = indices[d];
                std::int64_t& end = last[d];
                end = index.constant;
                for (int axis = 0; axis < axis_count; ++axis) end += index.coefficients[axis] * (extents[axis] - 1);
            }
        }
        bool uses(int axis) const {
            for (int d = 0; d < rank; ++d) {
                if (indices[d].coefficients[axis] != 0) return true;
            }
            return false;
        }
    };

    static std::int64_t offset(fixed_array<std::int64_t, max_rank> const& index, int rank, std::int64_t const* strides) {
        std::int64_t elements = 0;
        for (int d = 0; d < rank; ++d) elements += index[d] * (d + 1 == rank ? 1 : strides[d]);
        return elements;
    }

    std::vector<access> accesses_;
    std::vector<run> runs_;
};

}  // namespace tilewright::emulation
