#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>

#include "arithmetic.hpp"
#include "stages.hpp"

namespace oracle {

using tilewright::axis_extent;
using tilewright::computation_view;
using tilewright::operation;
using tilewright::scalar_type;
using tilewright::visit_scalar;
using tilewright::ir::label;
using tilewright::ir::node;

namespace {

[[noreturn]] void refuse(std::string const& why) { throw std::invalid_argument("oracle: " + why); }

/// A value of any type: its bits in the lowest bytes, and whether nothing undefined went into it.
struct value {
    std::uint64_t bits = 0;
    bool defined = true;
};

template <class T>
T get(value const& from) {
    if constexpr (std::is_same_v<T, bool>) return from.bits != 0;
    else if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<std::uint32_t>(from.bits));
    else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(from.bits);
    else return static_cast<T>(from.bits);
}
template <class T>
std::uint64_t bits_of(T of) {
    if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(of);
    else if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(of);
    else return static_cast<std::uint64_t>(of);
}

/// An operation on values of fixed types, of `count` positions. @return at how many of them it is undefined
using function = std::int64_t (*)(value const* a, value const* b, value* into, int count);

/// @tparam Operation  of one position: its bits of a and b; the flag is set where it is undefined
template <class Operation>
std::int64_t at_each(value const* a, value const* b, value* into, int count, Operation const& operation) {
    std::int64_t mishaps = 0;
    for (int at = 0; at < count; ++at) {
        bool undefined = false;
        std::uint64_t const bits = operation(a[at], b[at], undefined);
        into[at] = {bits, a[at].defined && b[at].defined && !undefined};
        mishaps += undefined;
    }
    return mishaps;
}
template <class T, auto Operation>
function on_two() {
    return [](value const* a, value const* b, value* into, int count) {
        return at_each(a, b, into, count,
                       [](value const& x, value const& y, bool& undefined) { return bits_of(Operation(get<T>(x), get<T>(y), undefined)); });
    };
}
template <class T, class Compare>
function comparison() {
    return [](value const* a, value const* b, value* into, int count) {
        return at_each(a, b, into, count,
                       [](value const& x, value const& y, bool&) { return bits_of<bool>(Compare{}(get<T>(x), get<T>(y))); });
    };
}
template <class Operation>
function on_bits(Operation) {
    return [](value const* a, value const* b, value* into, int count) {
        return at_each(a, b, into, count, [](value const& x, value const& y, bool&) { return Operation{}(x.bits, y.bits); });
    };
}

/// Of float from or to a number of 16 bits. Both are bits here.
template <int Exponent>
function conversion_of_half(bool to_float) {
    if (to_float)
        return on_bits(
            [](std::uint64_t x, std::uint64_t) { return bits_of(arithmetic::from_half<Exponent>(static_cast<std::uint16_t>(x))); });
    return on_bits([](std::uint64_t x, std::uint64_t) {
        return std::uint64_t{arithmetic::to_half<Exponent>(std::bit_cast<float>(static_cast<std::uint32_t>(x)))};
    });
}

/// Of one argument, b is that argument, too. @param operand  the type of the first argument
function function_of(operation op, scalar_type operand, scalar_type type) {
    if (op == operation::cast && is_half(operand) != is_half(type)) {
        scalar_type const half = is_half(operand) ? operand : type, other = is_half(operand) ? type : operand;
        if (other != scalar_type::float32) refuse(std::string(name_of(half)) + " is converted from and to float");
        return half == scalar_type::float16 ? conversion_of_half<5>(half == operand) : conversion_of_half<8>(half == operand);
    }
    return visit_scalar(operand, [&]<class T>(T) -> function {
        switch (op) {
            case operation::equal: return comparison<T, std::equal_to<>>();
            case operation::not_equal: return comparison<T, std::not_equal_to<>>();
            case operation::less: return comparison<T, std::less<>>();
            case operation::less_equal: return comparison<T, std::less_equal<>>();
            case operation::minimum: return on_two<T, arithmetic::minimum<T>>();
            case operation::maximum: return on_two<T, arithmetic::maximum<T>>();
            case operation::reinterpret: return on_bits([](std::uint64_t x, std::uint64_t) { return x; });
            case operation::cast:
                return visit_scalar(type, []<class To>(To) -> function {
                    return on_two<T, [](T x, T, bool& undefined) { return arithmetic::convert<To>(x, undefined); }>();
                });
            default: break;
        }
        if constexpr (std::is_same_v<T, bool>) {
            switch (op) {
                case operation::logical_and: return on_bits(std::bit_and<>());
                case operation::logical_or: return on_bits(std::bit_or<>());
                case operation::logical_not: return on_bits([](std::uint64_t x, std::uint64_t) { return x ^ 1; });
                default: break;
            }
        } else {
            switch (op) {
                case operation::add: return on_two<T, arithmetic::add<T>>();
                case operation::subtract: return on_two<T, arithmetic::subtract<T>>();
                case operation::multiply: return on_two<T, arithmetic::multiply<T>>();
                case operation::divide: return on_two<T, arithmetic::divide<T>>();
                case operation::modulo: return on_two<T, arithmetic::modulo<T>>();
                default: break;
            }
            if constexpr (std::is_integral_v<T>) {
                if (op == operation::shift_left) return on_two<T, arithmetic::shift_left<T>>();
                if (op == operation::shift_right) return on_two<T, arithmetic::shift_right<T>>();
            }
        }
        refuse(std::string(name_of(op)) + " is not an operation of " + name_of(operand));
    });
}

mishap_kind kind_of(operation op) {
    if (op == operation::shift_left || op == operation::shift_right) return mishap_kind::shift;
    return op == operation::cast ? mishap_kind::conversion : mishap_kind::overflow;
}

/// Of a constant node, or of the border of a padded access.
std::uint64_t constant_bits(node const& n) {
    if (n.type == scalar_type::float32) return bits_of(static_cast<float>(std::bit_cast<double>(n.value)));
    if (n.type == scalar_type::float64) return bits_of(std::bit_cast<double>(n.value));
    return static_cast<std::uint64_t>(n.value);
}

/// What a reduction starts from by itself.
std::uint64_t identity_of(operation reduction, scalar_type type) {
    return visit_scalar(type, [&]<class T>(T) {
        using limits = std::numeric_limits<T>;
        if (reduction == operation::reduce_sum) return bits_of(T{});
        if (limits::has_infinity)
            return bits_of(reduction == operation::reduce_maximum ? static_cast<T>(-limits::infinity()) : limits::infinity());
        return bits_of(reduction == operation::reduce_maximum ? limits::lowest() : limits::max());
    });
}

operation step_of(operation reduction) {
    return reduction == operation::reduce_sum       ? operation::add
           : reduction == operation::reduce_maximum ? operation::maximum
                                                    : operation::minimum;
}

std::uint64_t load(void const* from, int bytes) {
    std::uint64_t bits = 0;
    switch (bytes) {  // of a little-endian machine
        case 1: std::memcpy(&bits, from, 1); break;
        case 2: std::memcpy(&bits, from, 2); break;
        case 4: std::memcpy(&bits, from, 4); break;
        default: std::memcpy(&bits, from, 8); break;
    }
    return bits;
}

/// Where elements of a tensor are: an operand, or what a stage computed.
struct source {
    tensor_box box;
    std::byte const* data = nullptr;
    std::array<std::int64_t, most_dimensions> strides{};
    std::vector<bool> const* defined = nullptr;  ///< in the order of dense elements; none: all are
};

/// Computes one stage, up to `most_lanes` positions of its innermost loop at a time.
class interpreter {
  public:
    interpreter(computation_view what, stage const& of, std::vector<source> const& sources, std::vector<parameter_value> const& parameters,
                std::vector<mishap>& mishaps, bool is_last)
        : what_(what), stage_(of), mishaps_(mishaps), is_last_(is_last), values_(static_cast<std::size_t>(what.count)) {
        for (std::vector<int> const* nodes : {&of.body_nodes, &of.start_nodes}) {
            for (int at : *nodes) {
                node const& n = what[at];
                values_[position(at)].resize(most_lanes);
                step made{at, n.op};
                switch (n.op) {
                    case operation::constant: fill(at, constant_bits(n)); continue;
                    case operation::parameter: fill(at, find_parameter(parameters, n)); continue;
                    case operation::axis_value: made.loop = find_loop(n.name); break;
                    case operation::access:
                        made.from = find_source(sources, n);
                        made.at = &*std::find_if(of.reads.begin(), of.reads.end(), [&](read const& one) { return one.node == at; });
                        break;
                    case operation::select: break;
                    default: made.compute = function_of(n.op, what[n.argument(0)].type, n.type); break;
                }
                (nodes == &of.body_nodes ? body_ : start_).push_back(made);
            }
        }
    }

    /// @param target  holds the contents that the stage continues from, if any
    void run(tensor_box const& box, std::vector<std::byte>& target, std::vector<bool>& defined, bool continues, bool fuses) {
        int const bytes = tilewright::bytes_of(box.type);
        std::size_t element = 0;
        auto const store = [&](value const& one) {
            std::memcpy(target.data() + element * static_cast<std::size_t>(bytes), &one.bits, static_cast<std::size_t>(bytes));
            defined[element++] = one.defined;
        };
        if (!stage_.reduces()) {
            in_lanes(0, stage_.rank, [&](int count) {
                compute(body_, count);
                for (int lane = 0; lane < count; ++lane) store(of(stage_.body, lane));
            });
            return;
        }
        operation const step_operation = step_of(stage_.reduction);
        function const combine = function_of(step_operation, box.type, box.type);
        node const& root = what_[stage_.body];
        bool const fused = fuses && stage_.reduction == operation::reduce_sum && is_float(box.type) && root.op == operation::multiply;
        each(0, stage_.rank, [&] {
            value total{load(target.data() + element * static_cast<std::size_t>(bytes), bytes), true};
            if (stage_.start >= 0) {
                lane_loop_ = none;
                compute(start_, 1);
                total = of(stage_.start, 0);
            } else if (!continues) total = {identity_of(stage_.reduction, box.type), true};
            in_lanes(stage_.rank, stage_.loops.size(), [&](int count) {
                compute(body_, count);
                for (int lane = 0; lane < count; ++lane) {
                    value const next = of(stage_.body, lane);
                    if (fused) total = add_product(box.type, of(root.argument(0), lane), of(root.argument(1), lane), total);
                    else note(step_operation, combine(&total, &next, &total, 1));
                }
            });
            store(total);
        });
    }

  private:
    static constexpr int most_lanes = 64;
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct step {
        int node = 0;
        operation op = operation::constant;
        function compute = nullptr;
        std::size_t loop = 0;
        source const* from = nullptr;
        read const* at = nullptr;
    };

    static std::size_t position(int node) { return static_cast<std::size_t>(node); }
    value const& of(int node, int lane) const { return values_[position(node)][lane]; }
    void fill(int node, std::uint64_t bits) {
        for (value& lane : values_[position(node)]) lane = {bits, true};
    }
    std::size_t find_loop(label const& name) const {
        for (std::size_t at = 0; at < stage_.loops.size(); ++at) {
            if (stage_.loops[at].name == name) return at;
        }
        refuse("no axis " + name.str() + " in the stage of " + stage_.output.str());
    }
    static std::uint64_t find_parameter(std::vector<parameter_value> const& parameters, node const& n) {
        for (parameter_value const& p : parameters) {
            if (p.name == n.name && p.type == n.type) return p.bits;
        }
        refuse("no parameter " + n.name.str() + " of " + name_of(n.type));
    }
    static source const* find_source(std::vector<source> const& sources, node const& n) {
        for (source const& s : sources) {
            if (s.box.name == n.name && s.box.type == n.type && s.box.rank == n.argument_count) return &s;
        }
        refuse("no tensor " + n.name.str() + " of " + name_of(n.type) + " and rank " + std::to_string(n.argument_count));
    }

    /// Calls `visit` at every position of loops [first, last), the last one innermost.
    template <class Visit>
    void each(std::size_t first, std::size_t last, Visit const& visit) {
        if (first == last) return visit();
        std::int64_t& at = axes_[first];
        for (at = 0; at < stage_.loops[first].extent; ++at) each(first + 1, last, visit);
        at = 0;
    }
    /// Likewise, with as many positions of the innermost loop as `visit` is told at a time.
    template <class Visit>
    void in_lanes(std::size_t first, std::size_t last, Visit const& visit) {
        if (first == last) {
            lane_loop_ = none;
            return visit(1);
        }
        each(first, last - 1, [&] {
            lane_loop_ = last - 1;
            std::int64_t const extent = stage_.loops[lane_loop_].extent;
            std::int64_t& at = axes_[last - 1];
            for (at = 0; at < extent; at += most_lanes) {
                lane_loop_ = last - 1;
                visit(static_cast<int>(std::min<std::int64_t>(most_lanes, extent - at)));
            }
            at = 0;
        });
    }

    void note(operation op, std::int64_t times) {
        if (times == 0) return;
        for (mishap& known : mishaps_) {
            if (known.in == op && known.stage == stage_.output) return void(known.times += times);
        }
        mishaps_.push_back({kind_of(op), op, stage_.output, times});
    }
    static value add_product(scalar_type type, value const& a, value const& b, value const& sum) {
        bool const defined = a.defined && b.defined && sum.defined;
        if (type == scalar_type::float32) return {bits_of(std::fma(get<float>(a), get<float>(b), get<float>(sum))), defined};
        return {bits_of(std::fma(get<double>(a), get<double>(b), get<double>(sum))), defined};
    }

    /// The values of all nodes at so many positions of the innermost loop.
    void compute(std::vector<step> const& steps, int count) {
        for (step const& s : steps) {
            node const& n = what_[s.node];
            value* const into = values_[position(s.node)].data();
            if (s.op == operation::axis_value) {
                for (int lane = 0; lane < count; ++lane)
                    into[lane] = {bits_of(static_cast<std::int32_t>(axes_[s.loop] + (s.loop == lane_loop_ ? lane : 0))), true};
            } else if (s.op == operation::access) {
                for (int lane = 0; lane < count; ++lane) into[lane] = element(s, lane);
            } else {
                value const* const a = values_[position(n.argument(0))].data();
                value const* const b = n.argument_count > 1 ? values_[position(n.argument(1))].data() : a;
                if (s.op == operation::select) {
                    value const* const c = values_[position(n.argument(2))].data();
                    for (int lane = 0; lane < count; ++lane) {
                        value const& taken = a[lane].bits != 0 ? b[lane] : c[lane];
                        into[lane] = {taken.bits, a[lane].defined && taken.defined};
                    }
                } else note(s.op, s.compute(a, b, into, count));
            }
        }
    }

    value element(step const& s, int lane) const {
        read const& r = *s.at;
        source const& from = *s.from;
        std::int64_t indices[most_dimensions];
        bool border = false;
        for (std::size_t d = 0; d < r.indices.size(); ++d) {
            std::int64_t& index = indices[d] = r.indices[d].constant;
            if (int const at = r.indices[d].value; at >= 0) {
                value const& given = of(at, lane);
                if (!given.defined) return {0, false};
                index = visit_scalar(what_[at].type, [&]<class T>(T) { return static_cast<std::int64_t>(get<T>(given)); });
            }
            for (affine::term const& t : r.indices[d].terms) index += t.factor * (axes_[t.loop] + (t.loop == lane_loop_ ? lane : 0));
            border = border || (!r.padded.empty() && (index < 0 || index >= r.padded[d]));
        }
        if (border) return {constant_bits(what_[s.node]), true};
        std::int64_t offset = 0, dense = 0;
        for (std::size_t d = 0; d < r.indices.size(); ++d) {
            std::int64_t const inside = indices[d] - from.box.minimum[d];
            if (inside < 0 || inside >= from.box.extents[d]) {
                // The caller need not have what only elements read that nobody asks for.
                if (!is_last_ && from.defined == nullptr) return {0, false};
                leaves(from, indices[d], d);
            }
            offset += inside * from.strides[d];
            dense = dense * from.box.extents[d] + inside;
        }
        int const bytes = tilewright::bytes_of(from.box.type);
        return {load(from.data + offset * bytes, bytes), from.defined == nullptr || (*from.defined)[dense]};
    }
    [[noreturn]] void leaves(source const& from, std::int64_t index, std::size_t dimension) const {
        throw std::out_of_range("oracle: " + stage_.output.str() + " reads " + from.box.name.str() + " at " + std::to_string(index) +
                                " of dimension " + std::to_string(dimension));
    }

    computation_view what_;
    stage const& stage_;
    std::vector<mishap>& mishaps_;
    bool is_last_;                            ///< whether no stage comes after this one
    std::vector<std::vector<value>> values_;  ///< of each node, at each position
    std::vector<step> body_, start_;
    std::array<std::int64_t, 64> axes_{};
    std::size_t lane_loop_ = none;  ///< the loop of which several positions are computed at a time
};

tensor_box box_of(computation_view what, stage const& s) {
    tensor_box box{s.output, what[s.target].type, static_cast<int>(s.rank), {}, {}};
    for (std::size_t d = 0; d < s.rank; ++d) box.extents[d] = s.loops[d].extent;
    return box;
}

}  // namespace

std::int64_t tensor_box::elements() const {
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= extents[d];
    return count;
}
std::array<std::int64_t, most_dimensions> tensor_box::dense_strides() const {
    std::array<std::int64_t, most_dimensions> strides{};
    std::int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
        strides[d] = stride;
        stride *= extents[d];
    }
    return strides;
}
bool result::has_defined_elements() const { return std::find(defined.begin(), defined.end(), false) == defined.end(); }

std::string to_string(mishap const& what) {
    constexpr char const* kinds[] = {"overflow", "shift", "conversion"};
    return std::string(kinds[static_cast<int>(what.kind)]) + " in " + name_of(what.in) + " of " + what.stage.str() + ", " +
           std::to_string(what.times) + " times";
}

tensor_box output_of(computation_view what, std::vector<axis_extent> const& extents) {
    return box_of(what, stages_of(what, extents).back());
}
bool continues(computation_view what) {
    // A stage reads the tensor that it computes only to continue from it.
    int const target = what[what.count - 1].argument(0);
    for (int at = target + 1; at < what.count; ++at) {
        if (what[at].op == operation::access && what[at].name == what[target].name) return true;
    }
    return false;
}

std::vector<tensor_box> inputs_of(computation_view what, std::vector<axis_extent> const& extents) {
    std::vector<stage> const stages = stages_of(what, extents);
    std::vector<tensor_box> found;
    std::vector<read> all;
    for (stage const& s : stages) {
        std::vector<read> reads = s.reads;
        std::sort(reads.begin(), reads.end(), [](read const& a, read const& b) { return a.node < b.node; });
        for (read const& r : reads) {
            if (std::any_of(stages.begin(), stages.end(), [&](stage const& other) { return other.output == r.tensor; })) continue;
            tensor_box reached{r.tensor, what[r.node].type, static_cast<int>(r.indices.size()), {}, {}};
            for (std::size_t d = 0; d < r.indices.size(); ++d) {
                std::int64_t low = r.indices[d].constant, high = low;
                for (affine::term const& t : r.indices[d].terms) (t.factor < 0 ? low : high) += t.factor * (s.loops[t.loop].extent - 1);
                if (!r.padded.empty()) low = 0, high = r.padded[d] - 1;
                reached.minimum[d] = low;
                reached.extents[d] = high - low + 1;
            }
            auto const known = std::find_if(found.begin(), found.end(), [&](tensor_box const& one) { return one.name == r.tensor; });
            if (known == found.end()) {
                found.push_back(reached);
                continue;
            }
            if (known->rank != reached.rank || known->type != reached.type) refuse(r.tensor.str() + " is two different tensors");
            for (std::size_t d = 0; d < r.indices.size(); ++d) {
                std::int64_t const end = std::max(known->minimum[d] + known->extents[d], reached.minimum[d] + reached.extents[d]);
                known->minimum[d] = std::min(known->minimum[d], reached.minimum[d]);
                known->extents[d] = end - known->minimum[d];
            }
        }
    }
    return found;
}

std::vector<parameter_value> parameters_of(computation_view what) {
    std::vector<parameter_value> found;
    for (int at = 0; at < what.count; ++at) {
        node const& n = what[at];
        if (n.op != operation::parameter) continue;
        if (std::any_of(found.begin(), found.end(), [&](parameter_value const& p) { return p.name == n.name; })) continue;
        found.emplace_back(n.name, std::uint64_t{0}).type = n.type;
    }
    return found;
}

result evaluate(computation_view what, std::vector<operand> const& operands, std::vector<parameter_value> const& parameters,
                std::vector<axis_extent> const& extents, manner const& how) {
    std::vector<stage> const stages = stages_of(what, extents);
    std::vector<result> computed(stages.size());
    std::vector<mishap> mishaps;
    std::vector<source> sources;
    for (operand const& o : operands) sources.push_back({o.box, static_cast<std::byte const*>(o.data), o.strides, nullptr});
    for (std::size_t at = 0; at < stages.size(); ++at) {
        stage const& s = stages[at];
        result& made = computed[at];
        made.box = box_of(what, s);
        made.bytes.resize(static_cast<std::size_t>(made.box.bytes()));
        made.defined.resize(static_cast<std::size_t>(made.box.elements()), true);
        bool const continues = s.continues || (s.reduces() && how.updates);
        if (continues) {
            auto const before = std::find_if(operands.begin(), operands.end(), [&](operand const& o) { return o.box.name == s.output; });
            if (before == operands.end()) refuse("the contents of " + s.output.str() + " that are continued from");
            if (before->box.type != made.box.type || before->box.extents != made.box.extents)
                refuse("the contents of " + s.output.str() + " have another shape");
            auto const size = static_cast<std::size_t>(tilewright::bytes_of(made.box.type));
            for (std::size_t element = 0; element * size < made.bytes.size(); ++element) {
                std::int64_t rest = static_cast<std::int64_t>(element), from = 0;
                for (auto d = static_cast<std::size_t>(made.box.rank); d-- > 0; rest /= made.box.extents[d])
                    from += rest % made.box.extents[d] * before->strides[d];
                std::memcpy(made.bytes.data() + element * size,
                            static_cast<std::byte const*>(before->data) + from * static_cast<std::int64_t>(size), size);
            }
        }
        bool const is_last = at + 1 == stages.size();
        interpreter(what, s, sources, parameters, mishaps, is_last).run(made.box, made.bytes, made.defined, continues, how.fuses);
        std::erase_if(sources, [&](source const& one) { return one.box.name == s.output; });
        sources.push_back({made.box, made.bytes.data(), made.box.dense_strides(), &made.defined});
    }
    computed.back().mishaps = mishaps;
    return computed.back();
}

}  // namespace oracle
