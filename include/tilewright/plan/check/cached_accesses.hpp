#pragma once
#include <tilewright/plan/ir/forms.hpp>

// What a loop program reads and writes behind the caches of its core, as a tree of loops with accesses at its leaves.
namespace tilewright::detail {

/// A loop around others, or around accesses: one of the program, of a tile body, or a dimension of a copy. Without accesses of its own.
struct traversal_node {
    double iterations = 1;  ///< on average, where tiles are partial
    std::int16_t parent = -1;
    std::int16_t end = 0;    ///< one past the nodes inside
    std::int16_t depth = 0;  ///< loops around it
};

/// Elements of a buffer that a leaf touches: one for each iteration of the loops around it.
struct cached_access {
    static constexpr int most_loops = 30;

    std::int16_t node = -1;  ///< the innermost loop around
    std::int16_t place = 0;  ///< which buffer, among those behind the caches
    std::int16_t loop_count = 0;
    bool reads = false, writes = false;
    double share = 1;                                  ///< of the iterations in which it happens
    std::int64_t element_bytes = 1;                    ///< that it touches at a time
    std::int64_t constant = 0;                         ///< bytes from the beginning of the buffer, with all loops at 0
    fixed_array<std::int64_t, most_loops> strides{};   ///< bytes that a loop around moves it by, outermost first
    fixed_array<std::int16_t, most_loops> loops{};     ///< the nodes of these loops
    fixed_array<double, most_loops> iterations{};      ///< of these loops, as far as they move it: fewer for parts of a fused loop
    fixed_array<std::int8_t, most_loops> by_stride{};  ///< positions of the loops that move it, the shortest stride first
    std::int16_t moving = 0;                           ///< how many these are
};

/// The tree, its nodes with the outer ones in front; node 0 is the whole program.
struct cached_accesses {
    static constexpr int most_nodes = 160, most_accesses = 64, most_places = plan_value::most_buffers;

    traversal_node nodes[most_nodes]{};
    int node_count = 0;
    ir::part_pool<cached_access, most_accesses> accesses{};
    fixed_array<std::int16_t, most_places> buffers{};  ///< of each place
    int places = 0;
    bool complete = true;  ///< everything is there: there was room, and no buffer has versions that take turns

    constexpr int place_of(int buffer) {
        for (int at = 0; at < places; ++at) {
            if (buffers[at] == buffer) return at;
        }
        buffers[places] = static_cast<std::int16_t>(buffer);
        return places++;
    }
    constexpr int open(int parent, double iterations) {
        if (node_count == most_nodes) return complete = false, parent;
        int const depth = parent < 0 ? 0 : nodes[parent].depth + 1;
        nodes[node_count] = {iterations, static_cast<std::int16_t>(parent), 0, static_cast<std::int16_t>(depth)};
        return node_count++;
    }
    /// After everything inside of a node has been added.
    constexpr void close(int node) { nodes[node].end = static_cast<std::int16_t>(node_count); }
};

/// Reads the tree of a plan.
class access_reader {
  public:
    constexpr access_reader(plan_value const& plan, cached_accesses& into) : plan_(plan), into_(into) {
        for (int at = 0; at < plan.variables.size(); ++at) iterations_[at] = static_cast<double>(plan.variables[at].extent);
        for (int at = 0; at < plan.limits.size(); ++at) shorten(plan.limits[at]);
    }
    constexpr void read() {
        int node = into_.open(-1, 1);
        double times = 1;  // that the loops around say
        variables_[node] = no_variable;
        plan_.walk([&](step const& s, std::int64_t all, std::int64_t) {
            if (s.kind == step_kind::loop) {
                node = into_.open(node, iterations_[s.what]);
                variables_[node] = variable_id(s.what);
                times *= iterations_[s.what];
            }
            if (s.kind == step_kind::end) {
                times /= into_.nodes[node].iterations;
                into_.close(node);
                node = into_.nodes[node].parent;
            }
            double const share = times > 0 ? static_cast<double>(all) / times : 0;
            if (s.kind == step_kind::start) read_movement(plan_.movements[s.what], node, share < 1 ? share : 1);
            if (s.kind == step_kind::compute) read_body(plan_.bodies[s.what], node, share < 1 ? share : 1);
        });
        into_.close(0);
    }

  private:
    plan_value const& plan_;
    cached_accesses& into_;
    double iterations_[plan_value::most_variables]{};  // of each variable, on average
    variable_id variables_[cached_accesses::most_nodes]{};

    /// Where the last tile of an axis is partial, those inside have fewer iterations on average.
    constexpr void shorten(limit const& l) {
        linear const form = form_of(plan_, l.form);
        double left = static_cast<double>(l.bound - form.constant);
        bool taken[linear::most]{};
        for (int round = 0; round < form.count; ++round) {
            int longest = -1;
            for (int at = 0; at < form.count; ++at) {
                if (!taken[at] && (longest < 0 || form.terms[at].coefficient > form.terms[longest].coefficient)) longest = at;
            }
            taken[longest] = true;
            int const v = form.terms[longest].variable;
            double const coefficient = static_cast<double>(form.terms[longest].coefficient);
            if (coefficient <= 0 || plan_.variables[v].kind != variable_kind::loop) return;
            double const fitting = left / coefficient;
            // The outermost loop has whole iterations, of which the last is shorter.
            if (round > 0 && fitting < iterations_[v]) iterations_[v] = fitting > 1 / coefficient ? fitting : 1 / coefficient;
            if (iterations_[v] < 1) iterations_[v] = 1;
            left /= iterations_[v];
        }
    }
    constexpr bool is_cached(int buffer) const { return buffer >= 0 && plan_.where->memories[plan_.buffers[buffer].memory].behind_caches; }

    /// An access at the end of loops that stand open. The innermost of these may be dimensions of a copy, with strides of their own.
    template <class Indices>
    constexpr void add(int node, int buffer, Indices const& index, bool reads, bool writes, double share, int dimensions = 0,
                       std::int64_t const* dimension_strides = nullptr) {
        ir::buffer const& of = plan_.buffers[buffer];
        into_.complete &= of.versions == 1 || of.by_loop >= 0;
        int const depth = into_.nodes[node].depth;
        if (into_.accesses.full() || depth > cached_access::most_loops) return void(into_.complete = false);
        cached_access made;
        made.node = static_cast<std::int16_t>(node), made.place = static_cast<std::int16_t>(into_.place_of(buffer));
        made.loop_count = static_cast<std::int16_t>(depth), made.reads = reads, made.writes = writes, made.share = share;
        made.element_bytes = bytes_of(of.type);
        for (int at = depth - 1, up = node; at >= 0; --at, up = into_.nodes[up].parent) {
            made.loops[at] = static_cast<std::int16_t>(up), made.iterations[at] = into_.nodes[up].iterations;
            if (depth - at <= dimensions) made.strides[at] = dimension_strides[dimensions - (depth - at)];
        }
        for (int d = 0; d < of.rank; ++d) {
            std::int64_t const bytes = of.stride(d) * made.element_bytes;
            made.constant += bytes * index[d].constant;
            for (int t = 0; t < index[d].count; ++t) move_with(made, depth - dimensions, bytes, plan_.term_at(index[d], t));
        }
        for (int at = 0; at < depth; ++at) {
            std::int64_t& stride = made.strides[at];
            if (stride < 0) made.constant += stride * static_cast<std::int64_t>(made.iterations[at] - 1), stride = -stride;
            if (stride == 0 || made.iterations[at] <= 1) continue;
            int to = made.moving++;
            for (; to > 0 && made.strides[made.by_stride[to - 1]] > stride; --to) made.by_stride[to] = made.by_stride[to - 1];
            made.by_stride[to] = static_cast<std::int8_t>(at);
        }
        into_.accesses.push(made);
    }
    /// Which loops a term moves the address with: its own, a fused one of which it is a part, or those that move an index which is
    /// computed: each of their values is another element, as far as there are so many.
    constexpr void move_with(cached_access& made, int depth, std::int64_t bytes, term const& of) const {
        variable const& v = plan_.variables[of.variable];
        for (int at = 0; at < depth; ++at) {
            variable_id const loop = variables_[made.loops[at]];
            if (loop == of.variable) made.strides[at] += bytes * of.coefficient;
            if (v.kind == variable_kind::element && loop != no_variable && value_moves_with(plan_, v.value, loop)) {
                made.strides[at] += bytes * of.coefficient;
                if (made.iterations[at] > static_cast<double>(v.extent)) made.iterations[at] = static_cast<double>(v.extent);
            }
            if (v.kind != variable_kind::component || loop == no_variable) continue;
            std::int64_t const step = form_of(plan_, v.fused).coefficient_of(loop);
            if (step == 0) continue;
            // Of a part (fused / divisor) % modulus, the loop makes as many values.
            double values = made.iterations[at] * static_cast<double>(step) / static_cast<double>(v.divisor);
            if (v.modulus > 0 && values > static_cast<double>(v.modulus)) values = static_cast<double>(v.modulus);
            made.strides[at] += bytes * of.coefficient * (step > v.divisor ? step / v.divisor : 1);
            made.iterations[at] = values > 1 ? values : 1;
        }
    }

    constexpr void read_body(body const& b, int node, double share) {
        int const outside = node;
        node = into_.open(node, 1);  // also around what has no loops
        variables_[node] = no_variable;
        for (int at = 0; at < b.loop_count; ++at) {
            node = into_.open(node, iterations_[b.loops[at]]);
            variables_[node] = b.loops[at];
        }
        plan_.each_use(b, [&](use const& u, bool reads, bool writes) {
            if (is_cached(u.buffer)) add(node, u.buffer, u.at, reads, writes, share);
        });
        for (; node != outside; node = into_.nodes[node].parent) into_.close(node);
    }

    /// Elements of a dimension that a call moves, on average; -1: the row.
    constexpr double moved(movement const& m, int dimension) const {
        double all = static_cast<double>(dimension < 0 ? m.row_elements : m.dimensions[dimension].extent);
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[at];
            if (c.dimension != dimension || c.is != clip_kind::end) continue;
            double calls = 1;
            for (int t = 0; t < c.form.count; ++t) calls *= iterations_[plan_.term_at(c.form, t).variable];
            double const each = static_cast<double>(c.bound - c.form.constant) / calls;
            if (each < all) all = each > 1 ? each : 1;
        }
        return all;
    }
    constexpr void read_movement(movement const& m, int node, double share) {
        int const outside = node;
        std::int64_t from[max_rank + 1]{}, to[max_rank + 1]{};
        for (int at = 0; at <= m.dimension_count; ++at) {
            bool const row = at == m.dimension_count;
            node = into_.open(node, moved(m, row ? -1 : at));
            variables_[node] = no_variable;
            movement_dimension const step = row ? movement_dimension{} : m.dimensions[at];
            auto const stride = [&](int buffer, int dimension, std::int64_t factor) {
                ir::buffer const& b = plan_.buffers[buffer];
                return row ? bytes_of(b.type) : dimension < 0 ? 0 : factor * b.stride(dimension) * bytes_of(b.type);
            };
            if (m.source >= 0) from[at] = stride(m.source, step.source_dimension, step.source_factor);
            to[at] = stride(m.destination, step.destination_dimension, step.destination_factor);
        }
        int const dimensions = m.dimension_count + 1;
        if (is_cached(m.source)) add(node, m.source, m.source_at, true, false, share, dimensions, from);
        if (is_cached(m.destination)) add(node, m.destination, m.destination_at, false, true, share, dimensions, to);
        for (; node != outside; node = into_.nodes[node].parent) into_.close(node);
    }
};

}  // namespace tilewright::detail
