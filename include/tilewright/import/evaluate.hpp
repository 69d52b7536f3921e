#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/import/contraction.hpp>
#include <utility>

// What kernels of constants compute: for operands that must be known, such as shapes that a model works out from other shapes, and for
// kernels that would compute the same in every run.
namespace tilewright::imported {

/// Evaluates kernels that read constants alone. What needs an input, or too many steps, or bits of floats, is not known.
class evaluator {
  public:
    /// @param elements  of a tensor, at most
    /// @param steps     nodes of expressions, each counted as often as it is evaluated, at most
    explicit evaluator(layers const& all, std::int64_t elements = 4096, std::int64_t steps = 1 << 20)
        : of_(all), most_elements_(elements), most_steps_(steps) {}

    /// The elements of a view, row by row, with its shape.
    std::optional<known_tensor> elements_of(view const& what) {
        if (what.elements() > most_elements_) return std::nullopt;
        tensor const* const from = tensor_of(what.of.name);
        if (from == nullptr) return std::nullopt;
        factors all;
        for (factors const& one : what.dimensions) all.insert(all.end(), one.begin(), one.end());
        std::vector<scalar> made;
        for (std::int64_t element = 0; element < what.elements(); ++element) {
            std::vector<std::int64_t> index = what.first;
            std::int64_t rest = element;
            for (std::size_t at = all.size(); at-- > 0; rest /= all[at].extent) {
                for (std::size_t stored = 0; stored < index.size(); ++stored)
                    index[stored] += rest % all[at].extent * all[at].steps[stored];
            }
            made.push_back(from->elements[position(*from, index.data())]);
        }
        return known_tensor(what.type(), what.shape(), bytes_of_all(what.type(), made));
    }
    /// What a kernel of the network stores.
    std::optional<known_tensor> result_of(layer const& one) {
        try {
            tensor const made = run(detail::nodes_of(one));
            ir::node const& store = one.nodes.back();
            return known_tensor({store.name, store.type, made.extents}, bytes_of_all(store.type, made.elements));
        } catch (not_known const&) {
            return std::nullopt;
        }
    }

  private:
    /// An integer or a truth, or else a float.
    struct scalar {
        std::int64_t whole = 0;
        double real = 0;
    };
    struct tensor {
        std::vector<std::int64_t> extents = {};
        std::vector<scalar> elements = {};
    };
    struct not_known {};
    /// A stage that is computed, and where.
    struct running {
        computation_view nodes;
        ir::stage const& stage;
        std::vector<std::int64_t> at;
        std::vector<tensor const*> read;  ///< by each access, once it is known
    };

    static std::size_t position(tensor const& in, std::int64_t const* index) {
        std::int64_t at = 0;
        for (std::size_t one = 0; one < in.extents.size(); ++one) {
            if (index[one] < 0 || index[one] >= in.extents[one]) throw not_known{};
            at = at * in.extents[one] + index[one];
        }
        return static_cast<std::size_t>(at);
    }
    static std::vector<std::byte> bytes_of_all(scalar_type type, std::vector<scalar> const& all) {
        std::vector<std::byte> bytes;
        bytes.reserve(all.size() * static_cast<std::size_t>(bytes_of(type)));
        visit_scalar(type, [&](auto kind) {
            using element = decltype(kind);
            for (scalar const& one : all) {
                element const as = is_float(type) ? static_cast<element>(one.real) : static_cast<element>(one.whole);
                auto const* first = reinterpret_cast<std::byte const*>(&as);
                bytes.insert(bytes.end(), first, first + sizeof(element));
            }
        });
        return bytes;
    }
    static std::vector<scalar> scalars_of(known_tensor const& what) {
        std::vector<scalar> made;
        made.reserve(what.bytes.size() / static_cast<std::size_t>(bytes_of(what.what.type)));
        visit_scalar(what.what.type, [&](auto kind) {
            using element = std::conditional_t<std::is_same_v<decltype(kind), bool>, std::uint8_t, decltype(kind)>;
            for (element const one : network::values_of<element>(what.bytes)) {
                if constexpr (std::is_floating_point_v<element>) made.push_back({0, static_cast<double>(one)});
                else made.push_back({static_cast<std::int64_t>(one), 0});
            }
        });
        return made;
    }

    /// A tensor that a constant or a kernel gives, or null.
    tensor const* tensor_of(ir::label const& name) {
        std::string const key = name.str();
        if (auto const found = inner_.find(key); found != inner_.end()) return &found->second;
        auto const [at, added] = known_.try_emplace(key);
        if (!added) return at->second ? &*at->second : nullptr;
        constexpr int deepest = 200;  // kernels that need each other: each is some room on the stack
        if (depth_ == deepest) return nullptr;
        ++depth_;
        auto outer = std::exchange(inner_, {});
        try {
            std::optional<tensor> made = compute(name);
            known_[key] = std::move(made);
        } catch (not_known const&) {
        }
        inner_ = std::move(outer);
        --depth_;
        auto const& found = known_[key];
        return found ? &*found : nullptr;
    }
    std::optional<tensor> compute(ir::label const& name) {
        for (known_tensor const& one : of_.constants) {
            if (!(one.what.name == name)) continue;
            if (one.bytes.size() > static_cast<std::size_t>(8 * most_elements_)) throw not_known{};
            return tensor{one.what.extents, scalars_of(one)};
        }
        for (layer const& one : of_.all) {
            if (one.nodes.back().name == name) return run(detail::nodes_of(one));
        }
        return std::nullopt;
    }
    /// All stages of a kernel: what inner ones make stands in `inner_`.
    tensor run(computation_view nodes) {
        for (int first = 0;;) {
            ir::stage stage;
            if (read_stage(nodes, first, stage)) throw not_known{};
            tensor made = run(nodes, stage);
            first = stage.store + 1;
            if (first >= nodes.count) return made;
            inner_[nodes[stage.store].name.str()] = std::move(made);
        }
    }
    tensor run(computation_view nodes, ir::stage const& stage) {
        tensor made;
        std::int64_t count = 1;
        for (int at = 0; at < stage.rank; ++at) made.extents.push_back(stage.axes[at].extent), count *= stage.axes[at].extent;
        if (count > most_elements_) throw not_known{};
        made.elements.reserve(static_cast<std::size_t>(count));
        running now{nodes, stage, std::vector<std::int64_t>(static_cast<std::size_t>(stage.axis_count), 0), {}};
        now.read.assign(static_cast<std::size_t>(nodes.count), nullptr);
        for (std::int64_t element = 0; element < count; ++element) {
            std::int64_t rest = element;
            for (std::size_t axis = static_cast<std::size_t>(stage.rank); axis-- > 0; rest /= made.extents[axis])
                now.at[axis] = rest % made.extents[axis];
            made.elements.push_back(reduce(now));
        }
        return made;
    }
    scalar reduce(running& now) {
        ir::stage const& stage = now.stage;
        scalar_type const type = now.nodes[stage.body].type;
        if (!stage.reduces()) return value_of(now, stage.body);
        std::int64_t count = 1;
        for (int axis = stage.rank; axis < stage.axis_count; ++axis) count *= stage.axes[axis].extent;
        operation const step = stage.reduction == operation::reduce_sum       ? operation::add
                               : stage.reduction == operation::reduce_maximum ? operation::maximum
                                                                              : operation::minimum;
        std::optional<scalar> whole;
        if (stage.start >= 0) whole = value_of(now, stage.start);
        for (std::int64_t one = 0; one < count; ++one) {
            std::int64_t rest = one;
            for (int axis = stage.axis_count; axis-- > stage.rank; rest /= stage.axes[axis].extent)
                now.at[static_cast<std::size_t>(axis)] = rest % stage.axes[axis].extent;
            scalar const next = value_of(now, stage.body);
            whole = whole ? combined(step, type, type, *whole, next) : next;
        }
        return *whole;
    }
    scalar value_of(running& now, int node) {
        if (++steps_ > most_steps_) throw not_known{};
        ir::node const& one = now.nodes[node];
        auto const argument = [&](int which) { return value_of(now, one.argument(which)); };
        switch (one.op) {
            case operation::constant: return is_float(one.type) ? scalar{0, __builtin_bit_cast(double, one.value)} : scalar{one.value, 0};
            case operation::axis_value: return {now.at[static_cast<std::size_t>(now.stage.find(one.name))], 0};
            case operation::within: return argument(0);
            case operation::select: return argument(0).whole != 0 ? argument(1) : argument(2);
            case operation::logical_not: return {argument(0).whole == 0 ? 1 : 0, 0};
            case operation::cast: return converted(argument(0), now.nodes[one.argument(0)].type, one.type);
            case operation::access: return element_of(now, node);
            default: break;
        }
        if (one.argument_count != 2) throw not_known{};
        return combined(one.op, now.nodes[one.argument(0)].type, one.type, argument(0), argument(1));
    }
    scalar element_of(running& now, int node) {
        ir::node const& one = now.nodes[node];
        bool const padded = is_padded(now.nodes, node);
        std::int64_t index[max_rank] = {};
        bool inside = true;
        for (int which = 0; which < one.argument_count; ++which) {
            index[which] = value_of(now, one.argument(which)).whole;
            if (padded) inside = inside && index[which] >= 0 && index[which] < padded_extent(now.nodes, node, which);
        }
        if (!inside) return is_float(one.type) ? scalar{0, __builtin_bit_cast(double, one.value)} : scalar{one.value, 0};
        tensor const*& from = now.read[static_cast<std::size_t>(node)];
        if (from == nullptr) from = tensor_of(one.name);
        if (from == nullptr || from->extents.size() != static_cast<std::size_t>(one.argument_count)) throw not_known{};
        return from->elements[position(*from, index)];
    }
    /// A number as its type holds it.
    static scalar rounded(scalar of, scalar_type type) {
        visit_scalar(type, [&](auto kind) {
            using element = decltype(kind);
            if constexpr (std::is_floating_point_v<element>) of.real = static_cast<double>(static_cast<element>(of.real));
            else of.whole = static_cast<std::int64_t>(static_cast<element>(of.whole));
        });
        return of;
    }
    static scalar converted(scalar const& of, scalar_type from, scalar_type to) {
        if (is_half(to)) return {0, value_of_half(to, half_bits_of(to, static_cast<float>(of.real)))};
        if (is_half(from)) return of;
        if (is_float(from) && !is_float(to)) {
            if (!(of.real > -9e18 && of.real < 9e18)) throw not_known{};
            scalar const cut = {static_cast<std::int64_t>(of.real), 0}, held = rounded(cut, to);
            // What a cast makes of a number that the type does not have is up to the processor.
            bool const is_held = held.whole == cut.whole && !(to == scalar_type::uint64 && cut.whole < 0);
            return is_held ? held : throw not_known{};
        }
        if (is_float(to) && !is_float(from)) {
            if (from == scalar_type::uint64 && of.whole < 0) throw not_known{};
            bool const in_double = to == scalar_type::float64;  // otherwise as a float, rounded once
            return rounded({0, in_double ? static_cast<double>(of.whole) : static_cast<double>(static_cast<float>(of.whole))}, to);
        }
        return rounded(of, to);
    }
    static scalar combined(operation op, scalar_type type, scalar_type result, scalar const& a, scalar const& b) {
        using enum operation;
        auto const truth = [](bool is) { return scalar{is ? 1 : 0, 0}; };
        if (is_float(type)) {
            switch (op) {
                case add: return rounded({0, a.real + b.real}, result);
                case subtract: return rounded({0, a.real - b.real}, result);
                case multiply: return rounded({0, a.real * b.real}, result);
                case divide: return b.real == 0 ? throw not_known{} : rounded({0, a.real / b.real}, result);
                case minimum: return b.real < a.real ? b : a;
                case maximum: return b.real > a.real ? b : a;
                case equal: return truth(a.real == b.real);
                case not_equal: return truth(a.real != b.real);
                case less: return truth(a.real < b.real);
                case less_equal: return truth(a.real <= b.real);
                default: throw not_known{};
            }
        }
        if (type == scalar_type::uint64 && (a.whole < 0 || b.whole < 0)) throw not_known{};
        std::int64_t made = 0;
        auto const fits = [&](bool overflow) { return overflow ? throw not_known{} : rounded({made, 0}, result); };
        std::int64_t const rest = b.whole == 0 || b.whole == -1 ? 0 : a.whole % b.whole;
        std::int64_t const remainder = rest < 0 ? (b.whole > 0 ? rest + b.whole : rest - b.whole) : rest;
        switch (op) {
            case add: return fits(__builtin_add_overflow(a.whole, b.whole, &made));
            case subtract: return fits(__builtin_sub_overflow(a.whole, b.whole, &made));
            case multiply: return fits(__builtin_mul_overflow(a.whole, b.whole, &made));
            case divide:
                if (b.whole == 0) return {};
                if (b.whole == -1) return fits(__builtin_sub_overflow(std::int64_t{0}, a.whole, &made));
                return __builtin_sub_overflow(a.whole, remainder, &made) ? throw not_known{} : rounded({made / b.whole, 0}, result);
            case modulo: return {remainder, 0};
            case minimum: return a.whole < b.whole ? a : b;
            case maximum: return a.whole > b.whole ? a : b;
            case equal: return truth(a.whole == b.whole);
            case not_equal: return truth(a.whole != b.whole);
            case less: return truth(a.whole < b.whole);
            case less_equal: return truth(a.whole <= b.whole);
            case logical_and: return truth(a.whole != 0 && b.whole != 0);
            case logical_or: return truth(a.whole != 0 || b.whole != 0);
            default: throw not_known{};
        }
    }

    layers const& of_;
    std::int64_t most_elements_, most_steps_;
    std::map<std::string, std::optional<tensor>> known_ = {};
    std::map<std::string, tensor> inner_ = {};  ///< of the kernel that runs
    std::int64_t steps_ = 0;
    int depth_ = 0;
};

}  // namespace tilewright::imported
