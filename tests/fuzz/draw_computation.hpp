#pragma once
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "fuzz/library.hpp"
#include "fuzz/names.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// Draws what a kernel computes: stages from the last to the first, each computing what the later ones read.
class computation_drawer {
  public:
    computation_drawer(dice& random, names& named, drawn_case& into) : random_(random), names_(named), case_(into) {}

    void draw() {
        int const count = 1 + random_.weighted({60, 26, 14});
        bool const shares = count == 3 && random_.one_in(2);  // the last stage reads what both of the others compute
        std::vector<stage> drawn;
        for (int left = count; left > 0; --left) {
            must_read_.clear();
            if (needs_.size() > 1) must_read_.push_back(needs_.front().tensor);
            else if (left > 1) must_read_.push_back(-1);  // one that is not drawn yet
            if (shares && left == count) must_read_.push_back(-1);
            drawn.insert(drawn.begin(), draw_stage(left == count));
        }
        case_.stages = std::move(drawn);
        if (count == 1 && random_.one_in(4)) open_axes();
    }

  private:
    /// A tensor that a stage will compute, as far as it is read.
    struct need {
        int tensor = -1;
        std::vector<std::int64_t> extents;
    };
    struct bounds {
        std::int64_t low = 0, high = 0;
    };

    static bool is_integer(scalar_type t) { return !is_float(t) && !is_half(t) && t != scalar_type::boolean; }
    /// Whether integers of the type may not overflow.
    static bool is_strict(scalar_type t) { return t == scalar_type::int32 || t == scalar_type::int64; }
    scalar_type any_type() {
        using enum scalar_type;
        constexpr scalar_type all[] = {boolean, int8,   int16,   int32,   int64, uint8, uint16,
                                       uint32,  uint64, float32, float64, int32, int8,  float32};
        return random_.any_of(all);
    }

    /// Of a tensor: now and then one that is converted where it is read and written.
    scalar_type any_stored_type() {
        if (!random_.one_in(9)) return any_type();
        return random_.one_in(2) ? scalar_type::float16 : scalar_type::bfloat16;
    }

    std::int64_t any_extent(std::int64_t budget) {
        std::int64_t const most = std::min<std::int64_t>(budget, random_.weighted({50, 35, 15}) == 0 ? 9 : random_.one_in(3) ? 130 : 33);
        return 1 + random_.below(static_cast<int>(std::max<std::int64_t>(most, 1)));
    }

    stage draw_stage(bool last) {
        stage s;
        std::int64_t budget = random_.one_in(6) ? 30000 : 3000;
        std::int64_t left = budget;
        if (last) {
            s.rank = random_.weighted({3, 20, 30, 22, 12, 7, 6});
            for (int at = 0; at < s.rank; ++at) {
                // What is left for the other dimensions must leave room for this one.
                std::int64_t const room =
                    std::max<std::int64_t>(1, static_cast<std::int64_t>(std::pow(static_cast<double>(left), 1.5 / (s.rank - at + 1))));
                std::int64_t const extent = any_extent(std::min(left, room));
                s.axes.push_back({names_.take(std::string(1, "mnhwcg"[at])), extent});
                left = std::max<std::int64_t>(1, left / extent);
            }
            s.output = new_tensor("C", any_stored_type());
        } else {
            need const wanted = needs_.back();
            needs_.pop_back();
            ranks_.erase(wanted.tensor);  // not to be read by what is computed before it
            s.rank = static_cast<int>(wanted.extents.size());
            for (int at = 0; at < s.rank; ++at) {
                std::string const name = names_.take("g" + std::to_string(case_.tensors.size()) + std::string(1, "mnhwcg"[at]));
                bool const more = case_.tensors[wanted.tensor].padded_to.empty() && random_.one_in(4);
                s.axes.push_back({name, wanted.extents[at] + (more ? random_.below(3) : 0)});
                left = std::max<std::int64_t>(1, left / s.axes.back().extent);
            }
            s.output = wanted.tensor;
        }
        scalar_type const stored = type_of(s.output), type = is_half(stored) ? scalar_type::float32 : stored;
        int const kind = is_half(stored) ? 0 : random_.weighted({40, 34, 26});
        if (kind == 1 && type != scalar_type::boolean) s.reduction = operation::reduce_sum;
        if (kind == 2) s.reduction = random_.one_in(2) ? operation::reduce_maximum : operation::reduce_minimum;
        if (s.reduction != operation::constant) {
            int const reduced = 1 + random_.weighted({60, 30, 10});
            for (int at = 0; at < reduced; ++at) {
                std::int64_t const extent = any_extent(std::min<std::int64_t>(left, 64));
                s.axes.push_back(
                    {names_.take(std::string(1, "kls"[at]) + (last ? "" : std::to_string(needs_.size() + case_.tensors.size()))), extent});
                left = std::max<std::int64_t>(1, left / extent);
            }
        }
        stage_ = &s;
        exact_ = is_float(type) && (s.reduction == operation::reduce_sum || must_be_exact_.count(s.output) > 0);
        uncovered_.clear();
        for (int at = 0; at < static_cast<int>(s.axes.size()); ++at) uncovered_.push_back(at);
        in_start_ = false;
        s.body = draw_value(type, random_.weighted({12, 40, 33, 15}));
        for (int which : must_read_) {
            value const read = which < 0 ? draw_access(-1) : draw_needed(which);
            s.body = joined(type, s.body, converted(type, read));
        }
        // A constant alone has no type of its own, and a reduction reads something.
        if (is_constant(s.body) || (s.reduction != operation::constant && random_.percent(85)))
            if (is_constant(s.body) || is_uncovered_reduction()) s.body = joined(type, converted(type, draw_access(-2)), s.body);
        if (s.reduction == operation::reduce_sum || (!last && is_strict(type))) limit_sum(s, type, last);
        if (s.reduction != operation::constant && random_.percent(last ? 26 : 14)) {
            if (last && s.reduction == operation::reduce_sum && random_.one_in(2)) {
                s.continues = true;
                if (random_.one_in(5)) s.axes.resize(static_cast<std::size_t>(s.rank)), drop_reduced(s.body, s.rank);
            } else {
                in_start_ = true;
                s.start = draw_value(type, random_.weighted({60, 40}));
                if (is_constant(*s.start)) s.start = converted(type, draw_access(-2));
                in_start_ = false;
            }
            s.start_leads = random_.one_in(2);
        }
        s.body = converted(stored, s.body);
        s.named = !(s.reduction == operation::reduce_sum && !s.start && !s.continues && random_.one_in(2) && uncovered_reduced() == 0);
        stage_ = nullptr;
        return s;
    }

    // What becomes of indices along axes that are gone.
    static void drop_reduced(value& body, int rank) {
        each_value(body, [rank](value& v) {
            for (index& i : v.at) std::erase_if(i.terms, [rank](index::term const& t) { return t.axis >= rank; });
            if (v.op == operation::axis_value && v.which >= rank) v = {.type = scalar_type::int32, .number = 1};
        });
    }
    int uncovered_reduced() const {
        int count = 0;
        for (int at : uncovered_) count += at >= stage_->rank ? 1 : 0;
        return count;
    }
    bool is_uncovered_reduction() const { return uncovered_reduced() > 0; }
    static bool is_constant(value const& v) { return v.op == operation::constant; }

    int new_tensor(std::string const& plain, scalar_type type) {
        tensor t{names_.take(plain), type};
        constexpr std::int64_t magnitudes[] = {3, 20, 100, 1000};
        t.magnitude = random_.any_of(magnitudes);
        if (is_integer(type) && !is_strict(type) && random_.one_in(2)) t.magnitude = std::numeric_limits<std::int32_t>::max();
        if ((is_float(type) || is_half(type)) && !exact_) t.exact = random_.one_in(3), t.special = random_.percent(35);
        case_.tensors.push_back(t);
        return static_cast<int>(case_.tensors.size()) - 1;
    }
    tensor const& tensor_at(int which) const { return case_.tensors[which]; }
    scalar_type type_of(int which) const { return tensor_at(which).type; }

    // --- indices

    int axes_there() const { return in_start_ ? stage_->rank : static_cast<int>(stage_->axes.size()); }
    int any_axis() {
        std::vector<int> candidates;
        for (int at : uncovered_) {
            if (at < axes_there()) candidates.push_back(at);
        }
        int const chosen = !candidates.empty() && random_.percent(80) ? random_.any_of(candidates) : random_.below(axes_there());
        std::erase(uncovered_, chosen);
        return chosen;
    }
    index any_index(bool plain) {
        index i;
        if (axes_there() == 0 || random_.percent(6)) {
            i.constant = random_.between(-2, 5);
            return i;
        }
        constexpr std::int64_t factors[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, -1, -1, -1, -2};
        i.terms.push_back({any_axis(), plain ? 1 : random_.any_of(factors)});
        while (!plain && i.terms.size() < 3 && random_.percent(i.terms.size() == 1 ? 20 : 30)) {
            int const more = any_axis();
            bool known = false;
            for (index::term const& t : i.terms) known |= t.axis == more;
            if (known) break;
            i.terms.push_back({more, random_.any_of(factors)});
        }
        if (!plain && random_.percent(35)) i.constant = random_.between(-4, 6);
        return i;
    }
    bounds bounds_of(index const& i) const {
        bounds b{i.constant, i.constant};
        for (index::term const& t : i.terms) {
            std::int64_t const reach = t.factor * (stage_->axes[t.axis].extent - 1);
            (reach < 0 ? b.low : b.high) += reach;
        }
        return b;
    }

    /// @param which  a tensor; -1: what is computed by a stage that is not drawn yet; -2: any
    value draw_access(int which, scalar_type wanted = scalar_type::literal) {
        if (which == -2) {
            std::vector<int> known;
            for (int at = 0; at < static_cast<int>(case_.tensors.size()); ++at) {
                bool computed = at == stage_->output || ranks_.count(at) == 0;
                for (need const& n : needs_) computed |= n.tensor == at;
                bool const rounds = (is_float(type_of(at)) || is_half(type_of(at))) && (!tensor_at(at).exact || tensor_at(at).special);
                if (!computed && !(exact_ && rounds) && (wanted == scalar_type::literal || type_of(at) == wanted)) known.push_back(at);
            }
            if (!known.empty() && random_.percent(22)) which = random_.any_of(known);
        }
        bool const is_intermediate = which == -1;
        if (which < 0) {
            which = new_tensor(is_intermediate ? "T" : std::string(1, "ABDEFGHJ"[case_.tensors.size() % 8]), wanted != scalar_type::literal
                                                                                                                 ? wanted
                                                                                                             : exact_ ? exact_type()
                                                                                                                      : any_stored_type());
            int const axes = axes_there();
            int rank =
                random_.one_in(6) ? random_.below(max_rank + 1) : std::min(max_rank, random_.between(std::min(1, axes), std::max(axes, 1)));
            if (is_intermediate) rank = std::max(rank, 1);
            ranks_[which] = rank;
            if (random_.percent(is_intermediate ? 12 : 18) && rank > 0) pad_.push_back(which);
        }
        int const rank = ranks_.at(which);
        bool const padded = std::find(pad_.begin(), pad_.end(), which) != pad_.end();
        value v{.op = operation::access, .type = type_of(which), .which = which, .padded = padded};
        for (int d = 0; d < rank; ++d) v.at.push_back(any_index(random_.percent(55)));
        // Not more elements than can be looked at.
        double elements = 1;
        for (index const& i : v.at) elements *= static_cast<double>(bounds_of(i).high - bounds_of(i).low + 1);
        for (index& i : v.at) {
            if (elements <= (is_intermediate ? 6000 : 40000)) break;
            bounds const before = bounds_of(i);
            if (i.terms.size() > 1) i.terms.resize(1);
            for (index::term& t : i.terms) t.factor = t.factor < 0 ? -1 : 1;
            if (elements > 400000) i.terms.clear();
            elements *= static_cast<double>(bounds_of(i).high - bounds_of(i).low + 1) / static_cast<double>(before.high - before.low + 1);
        }
        if (is_intermediate) {
            // It is computed from 0 on, as far as it is read.
            need n{which, {}};
            for (index& i : v.at) {
                bounds const b = bounds_of(i);
                if (!padded || b.low < 0) i.constant -= padded ? random_.below(2) : b.low;
                bounds const moved = bounds_of(i);
                n.extents.push_back(std::max<std::int64_t>(1, moved.high + 1 - (padded ? random_.below(3) : 0)));
            }
            needs_.push_back(n);
            if (exact_) must_be_exact_.insert(which);
            if (padded) case_.tensors[which].padded_to = n.extents;
        }
        if (padded) {
            std::vector<std::int64_t>& extents = case_.tensors[which].padded_to;
            for (std::size_t d = 0; d < v.at.size() && extents.size() < v.at.size(); ++d)
                extents.push_back(std::max<std::int64_t>(1, bounds_of(v.at[d]).high + 1 - random_.below(4)));
            v.number = any_number(v.type);
            if (random_.percent(14)) compute_index(v);
        }
        return v;
    }
    /// Lets an expression give one of the indices of a padded access: of axes, or of a tensor.
    void compute_index(value& v) {
        using enum operation;
        scalar_type const type = scalar_type::int32;
        value at = axes_there() > 0 && random_.one_in(4) ? value{.op = axis_value, .type = type, .which = random_.below(axes_there())}
                                                         : converted(type, draw_access(-2));
        if (is_constant(at)) return;
        index& i = v.at[static_cast<std::size_t>(random_.below(static_cast<int>(v.at.size())))];
        int const smaller = random_.weighted({35, 45, 20});
        if (smaller == 1) at = joined(modulo, type, std::move(at), literal(type, std::max<std::int64_t>(2, 2 + bounds_of(i).high)));
        if (smaller == 2) at = joined(divide, type, std::move(at), literal(type, random_.between(2, 9)));
        if (smaller != 0 && random_.one_in(3)) at = joined(subtract, type, std::move(at), literal(type, random_.below(4)));
        i = {.computed = static_cast<int>(v.arguments.size())};
        v.arguments.push_back(std::move(at));
    }

    /// One more access to what a stage computes that is not drawn yet. It is computed as far as all of them read.
    value draw_needed(int which) {
        need& n = *std::find_if(needs_.begin(), needs_.end(), [which](need const& one) { return one.tensor == which; });
        if (exact_) must_be_exact_.insert(which);
        value v{.op = operation::access, .type = type_of(which), .which = which};
        double elements = 1;
        for (std::int64_t& extent : n.extents) {
            index i = any_index(true);
            if (elements * static_cast<double>(std::max(extent, bounds_of(i).high + 1)) > 6000)
                i = {random_.below(static_cast<int>(extent))};
            i.constant -= std::min<std::int64_t>(0, bounds_of(i).low);
            extent = std::max(extent, bounds_of(i).high + 1);
            elements *= static_cast<double>(extent);
            v.at.push_back(i);
        }
        if (tensor& t = case_.tensors[which]; !t.padded_to.empty()) t.padded_to = n.extents;
        return v;
    }

    // --- values

    scalar_type exact_type() {
        using enum scalar_type;
        constexpr scalar_type some[] = {int8, uint8, float32, float64};
        return random_.any_of(some);
    }
    /// A constant that a literal of the type can be.
    std::int64_t any_number(scalar_type type) {
        if (type == scalar_type::boolean) return random_.below(2);
        if (is_float(type)) {
            constexpr double some[] = {0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 1.5, -0.0};
            double chosen = random_.any_of(some);
            if (!exact_ && random_.one_in(6))
                chosen = random_.one_in(2) ? static_cast<double>(0.1f) : std::numeric_limits<double>::infinity();
            return std::bit_cast<std::int64_t>(chosen);
        }
        if (is_half(type)) return half_bits_of(type, static_cast<float>(random_.between(-7, 7)) / 2);
        if (is_unsigned(type)) return random_.one_in(8) ? 255 : random_.below(12);
        constexpr int ends[] = {127, -128, -100};
        return random_.one_in(8) ? random_.any_of(ends) : random_.between(-9, 9);
    }
    value literal(scalar_type type, std::int64_t number) { return {.type = type, .number = number}; }
    value constant_of(scalar_type type) { return literal(type, any_number(type)); }
    static value joined(operation op, scalar_type type, value a, value b) {
        value v{.op = op, .type = type};
        v.arguments.push_back(std::move(a));
        v.arguments.push_back(std::move(b));
        return v;
    }
    /// Two values of a type as one of it.
    value joined(scalar_type type, value const& a, value const& b) {
        if (type == scalar_type::boolean) return joined(random_.one_in(2) ? operation::logical_or : operation::not_equal, type, a, b);
        if (random_.one_in(4) || magnitude(a) + magnitude(b) > limit(type))
            return joined(random_.one_in(2) ? operation::minimum : operation::maximum, type, a, b);
        return joined(random_.one_in(3) ? operation::subtract : operation::add, type, a, b);
    }

    static double limit(scalar_type type) {
        return type == scalar_type::int32 ? 2147483647.0 : type == scalar_type::int64 ? 9.2e18 : std::numeric_limits<double>::infinity();
    }
    /// No value is further from 0, where overflow matters.
    double magnitude(value const& v) const {
        using enum operation;
        auto const of = [&](std::size_t at) { return magnitude(v.arguments[at]); };
        double const of_type = v.type == scalar_type::boolean  ? 1
                               : is_float(v.type)              ? 1e300
                               : is_half(v.type)               ? 1e39
                               : v.type == scalar_type::uint64 ? 1.9e19
                               : v.type == scalar_type::int64  ? 9.3e18
                                                               : std::ldexp(1.0, 8 * bytes_of(v.type) - (is_unsigned(v.type) ? 0 : 1));
        double found = of_type;
        switch (v.op) {
            case constant_op:
                found = is_float(v.type) ? std::abs(std::bit_cast<double>(v.number)) : std::abs(static_cast<double>(v.number));
                break;
            case axis_value: found = static_cast<double>(stage_->axes[v.which].extent); break;
            case operation::parameter: found = 10; break;
            case access: {
                bool computed = false;
                for (need const& n : needs_) computed |= n.tensor == v.which;
                // Of what a stage computes, little is known; and `magnitude` is what its sums are limited to.
                tensor const& t = tensor_at(v.which);
                found = computed ? of_type : static_cast<double>(t.magnitude) + 130;
                if (computed && is_strict(t.type)) found = 1e6;
                break;
            }
            case add:
            case subtract: found = of(0) + of(1); break;
            case multiply: found = of(0) * of(1); break;
            case minimum:
            case maximum: found = std::max(of(0), of(1)); break;
            case divide: found = of(0) + 1; break;
            case modulo: found = of(1); break;
            case select: found = std::max(of(1), of(2)); break;
            case cast: found = of(0); break;
            case shift_left: found = of(0) * std::ldexp(1.0, static_cast<int>(v.arguments[1].number)); break;
            case shift_right: found = of(0) + 1; break;
            default: break;
        }
        return is_strict(v.type) || is_float(v.type) ? found : std::min(found, of_type);
    }
    static constexpr operation constant_op = operation::constant;

    /// Whether a value of floating point may be something that no integer is.
    bool may_be_special(value const& v) const {
        bool may = false;
        each_value(v, [&](value const& part) {
            may |= part.op == operation::divide || part.op == operation::modulo || part.op == operation::reinterpret ||
                   part.op == operation::invalid;
            if (part.op == operation::constant && is_float(part.type)) may |= !std::isfinite(std::bit_cast<double>(part.number));
            if (part.op != operation::access) return;
            may |= tensor_at(part.which).special;
            if (part.padded && is_float(part.type)) may |= !std::isfinite(std::bit_cast<double>(part.number));
            for (need const& n : needs_) may |= n.tensor == part.which && (is_float(part.type) || is_half(part.type));
        });
        return may;
    }

    value converted(scalar_type to, value v) {
        if (v.type == to) return v;
        // By way of a float.
        bool const halves = is_half(v.type) || is_half(to);
        if (halves && v.type != scalar_type::float32 && to != scalar_type::float32)
            return converted(to, converted(scalar_type::float32, std::move(v)));
        if (to == scalar_type::boolean) return joined(operation::less, to, constant_beside(v), v);
        if (is_float(v.type) && !is_float(to) && !is_half(to)) {
            // Only what the integer has is converted.
            scalar_type const from = v.type;
            if (may_be_special(v)) v = joined(operation::less, scalar_type::boolean, constant_beside(v), v);
            else {
                v = joined(operation::maximum, from, v, literal(from, std::bit_cast<std::int64_t>(is_unsigned(to) ? 0.0 : -100.0)));
                v = joined(operation::minimum, from, v, literal(from, std::bit_cast<std::int64_t>(100.0)));
            }
        }
        value c{.op = operation::cast, .type = to};
        c.arguments.push_back(std::move(v));
        return c;
    }
    /// A constant that a value can be compared with.
    value constant_beside(value const& v) { return constant_of(v.type); }

    value draw_leaf(scalar_type type) {
        int const kind = random_.weighted({78, 8, 8, 6});
        if (kind == 1 && type == scalar_type::int32 && axes_there() > 0) {
            int const which = random_.below(axes_there());
            std::erase(uncovered_, which);
            return {.op = operation::axis_value, .type = type, .which = which};
        }
        if (kind == 2 && type != scalar_type::boolean) return parameter_of(type);
        bool const same = random_.percent(70) && !(exact_ && !is_float(type));
        return converted(type, draw_access(-2, same ? type : scalar_type::literal));
    }
    value parameter_of(scalar_type type) {
        for (int at = 0; at < static_cast<int>(case_.parameters.size()); ++at) {
            if (case_.parameters[at].type == type) return {.op = operation::parameter, .type = type, .which = at};
        }
        if (case_.parameters.size() >= 4) return converted(type, draw_access(-2));
        double const given = is_unsigned(type) ? random_.below(10) : random_.between(-9, 9);
        case_.parameters.push_back({names_.take("alpha"), type, is_float(type) ? given / 2 : given});
        return {.op = operation::parameter, .type = type, .which = static_cast<int>(case_.parameters.size()) - 1};
    }

    /// A call of a function of the library; without arguments where none gives the type.
    value draw_call(scalar_type type) {
        std::vector<int> candidates;
        for (int at = 0; at < static_cast<int>(library_functions().size()); ++at) {
            if (library_functions()[at].type == type) candidates.push_back(at);
        }
        value v{.op = operation::invalid, .type = type};
        if (candidates.empty()) return v;
        v.which = random_.any_of(candidates);
        for (scalar_type of : library_functions()[v.which].of) v.arguments.push_back(draw_leaf(of));
        return v;
    }

    value draw_value(scalar_type type, int depth) {
        using enum operation;
        if (depth <= 0) return draw_leaf(type);
        auto const sub = [&](scalar_type of) { return draw_value(of, depth - 1 - random_.below(2)); };
        auto const right = [&](scalar_type of) { return random_.percent(30) ? constant_of(of) : sub(of); };
        auto const pair = [&](operation op, scalar_type of) {
            value a = sub(of), b = right(of);
            if (is_constant(a)) a = draw_leaf(of);
            return random_.one_in(6) && !is_constant(b) ? joined(op, of, b, a) : joined(op, of, a, b);
        };
        if (type == scalar_type::boolean) {
            int const kind = random_.weighted({50, 20, 15, 15});
            if (kind == 0) {
                scalar_type const of = exact_ ? exact_type() : any_type();
                constexpr operation all[] = {equal, not_equal, less, less_equal};
                value compared = pair(random_.any_of(all), of);
                compared.type = scalar_type::boolean;
                return compared;
            }
            if (kind == 1) return pair(random_.one_in(2) ? logical_and : logical_or, type);
            if (kind == 2) {
                value inverted{.op = logical_not, .type = type};
                inverted.arguments.push_back(draw_leaf(type));
                return inverted;
            }
            return draw_leaf(type);
        }
        if (random_.percent(12)) {
            value chosen{.op = select, .type = type};
            value otherwise = right(type);
            chosen.arguments = {draw_value(scalar_type::boolean, 1), draw_leaf(type), otherwise};
            return chosen;
        }
        if (random_.percent(6) && !exact_) {
            if (value called = draw_call(type); !called.arguments.empty()) return called;
        }
        if (random_.percent(14)) {
            scalar_type const from = exact_ ? exact_type() : any_type();
            if (from != type) return converted(type, sub(from));
        }
        if (is_float(type)) {
            constexpr operation all[] = {add, subtract, multiply, minimum, maximum, add, multiply, divide};
            operation op = random_.any_of(all);
            if (exact_ && op == divide) op = add;
            value v = pair(op, type);
            if (exact_ && op == multiply && magnitude(v) > 5000) v.op = minimum;
            return v;
        }
        constexpr operation all[] = {add,    subtract, multiply,   multiply,    minimum, maximum,
                                     divide, modulo,   shift_left, shift_right, add,     reinterpret};
        operation const op = random_.any_of(all);
        if (op == shift_left || op == shift_right) {
            value amount = literal(type, random_.below(std::min(8 * bytes_of(type), 12)));
            value v = joined(op, type, draw_leaf(type), amount);
            if (magnitude(v) > limit(type)) v.op = shift_right;
            return v;
        }
        if (op == reinterpret) {
            scalar_type const other = type == scalar_type::int8     ? scalar_type::uint8
                                      : type == scalar_type::uint8  ? scalar_type::int8
                                      : type == scalar_type::int16  ? scalar_type::uint16
                                      : type == scalar_type::uint16 ? scalar_type::int16
                                      : type == scalar_type::uint32 ? scalar_type::int32
                                      : type == scalar_type::uint64 ? scalar_type::int64
                                                                    : scalar_type::literal;
            if (other == scalar_type::literal) return draw_leaf(type);
            value v{.op = reinterpret, .type = type};
            v.arguments.push_back(draw_leaf(other));
            return v;
        }
        value v = pair(op, type);
        // -128 / -1 and the like are left out where they may not be.
        bool const by_nothing = op == divide && is_constant(v.arguments[1]) && v.arguments[1].number == 0;
        if (by_nothing && is_strict(type)) v.arguments[1].number = 3;
        if (magnitude(v) > limit(type)) v.op = minimum;
        return v;
    }

    /// A sum that has room in its type.
    void limit_sum(stage& s, scalar_type type, bool last) {
        double terms = 1;
        for (int at = s.rank; at < static_cast<int>(s.axes.size()); ++at) terms *= static_cast<double>(s.axes[at].extent);
        if (!is_strict(type) && !is_float(type)) return;
        double const most = is_float(type) || !last ? 1e6 : limit(type);
        if (magnitude(s.body) * terms < most) return;
        if (is_float(type)) {
            s.body =
                joined(operation::minimum, type, joined(operation::maximum, type, s.body, literal(type, std::bit_cast<std::int64_t>(-4.0))),
                       literal(type, std::bit_cast<std::int64_t>(4.0)));
        } else {
            s.body = joined(operation::modulo, type, s.body, literal(type, 100));
        }
    }

    /// Leaves some extents to run time.
    void open_axes() {
        stage& s = case_.stages.front();
        for (axis& a : s.axes) {
            if (!random_.one_in(2)) continue;
            a.open = true;
            a.most = random_.one_in(2) ? 0 : a.extent + random_.below(20);
        }
    }

    dice& random_;
    names& names_;
    drawn_case& case_;
    stage* stage_ = nullptr;
    std::vector<int> uncovered_;  ///< axes that nothing is indexed by yet
    std::vector<int> must_read_;
    std::vector<int> pad_;
    std::vector<need> needs_;
    std::map<int, int> ranks_;
    std::set<int> must_be_exact_;  ///< tensors that sums of floating point add up: they are computed without rounding, too
    bool exact_ = false, in_start_ = false;
};

}  // namespace fuzz
