#pragma once
#include <algorithm>
#include <bit>

#include "fuzz/draw_instruction.hpp"
#include "fuzz/names.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// One stage that instructions can compute, and perhaps one that reads it, instead of those that a case has: every tensor is indexed by
/// axes alone. The first stage is the one that instructions can compute.
inline void draw_plain_stages(dice& random, names& named, drawn_case& into) {
    using enum scalar_type;
    constexpr scalar_type types[] = {int32, float32, int8, int32, float32, int16, uint8, float64, int64};
    scalar_type const type = random.any_of(types);
    into.tensors.clear(), into.parameters.clear(), into.stages.clear(), into.directives.clear();
    auto const tensor_of = [&](char const* plain) {
        into.tensors.push_back({.name = named.take(plain), .type = type, .magnitude = random.one_in(2) ? 3 : 20});
        return static_cast<int>(into.tensors.size()) - 1;
    };
    stage s{.rank = 1 + random.weighted({25, 55, 20})};
    int const reduced = random.weighted({45, 40, 15});
    std::int64_t left = 4000;
    for (int at = 0; at < s.rank + reduced; ++at) {
        std::int64_t const most = std::max<std::int64_t>(1, std::min<std::int64_t>(left, at + 1 == s.rank ? 40 : 20));
        s.axes.push_back(
            {named.take(std::string(1, at < s.rank ? "mnh"[at] : "kl"[at - s.rank])), random.between(1, static_cast<int>(most))});
        left /= s.axes.back().extent;
    }
    if (reduced > 0) s.reduction = random.one_in(3) ? operation::reduce_maximum : operation::reduce_sum;
    s.output = tensor_of("C");
    // Operands along all axes that are reduced and along some of the others, the last of which they end with, most often.
    auto const read = [&](bool all) {
        value v{.op = operation::access, .type = type, .which = tensor_of("A")};
        for (int at = 0; at < s.rank + reduced; ++at)
            if (at >= s.rank || all || random.one_in(2)) v.at.push_back({0, {{at, 1}}});
        if (random.one_in(8)) random.shuffle(v.at);
        return v;
    };
    constexpr operation joins[] = {operation::multiply, operation::multiply, operation::add, operation::minimum};
    s.body = read(random.one_in(2));
    if (!random.one_in(4)) {
        value joined{.op = random.any_of(joins), .type = type};
        joined.arguments = {s.body, read(random.one_in(3))};
        s.body = joined;
    }
    if (random.one_in(5)) {
        for (axis& a : s.axes) {
            if (!random.one_in(2)) continue;
            a.open = true;
            a.most = random.one_in(2) ? 0 : a.extent + random.below(10);
        }
    }
    into.stages.push_back(s);
    if (!random.one_in(3)) return;
    stage after{.rank = s.rank};
    value whole{.op = operation::access, .type = type, .which = s.output};
    for (int at = 0; at < s.rank; ++at) {
        axis const& a = s.axes[at];
        after.axes.push_back(a.open ? a : axis{named.take("y" + std::to_string(at)), a.extent});
        whole.at.push_back({0, {{at, 1}}});
    }
    value beside = whole;
    beside.which = tensor_of("B");
    after.body = {.op = operation::maximum, .type = type};
    after.body.arguments = {whole, beside};
    after.output = tensor_of("Y");
    into.stages.push_back(after);
}

/// Draws an operand that the result of an instruction overwrites where it lies, for a case that is drawn but for that: what is loaded, or
/// what a stage computes that is drawn here.
class tying_drawer {
  public:
    /// @param which  of the stages is computed by the instructions of the case
    tying_drawer(dice& random, names& named, drawn_case& into, int which, instruction_drawer::made const& steps)
        : random_(random), names_(named), case_(into), which_(static_cast<std::size_t>(which)), steps_(steps) {}

    void draw() {
        if (reader().continues || !find_forms()) return;
        find_place();
        if (random_.one_in(10) && tie_what_is_there()) return;
        if (case_.where.instructions[overwriting_].tensors.size() <= 6) tie_another();
    }

  private:
    using list = std::vector<directive>;

    stage& reader() { return case_.stages[which_]; }
    bool reduces() { return reader().reduction != operation::constant; }

    /// The form that overwrites the result; a copy of the one that updates, where there is none.
    bool find_forms() {
        auto& all = case_.where.instructions;
        for (std::size_t at = 0; at < all.size(); ++at) (all[at].updates ? updating_ : overwriting_) = at;
        if (overwriting_ < all.size()) return true;
        if (updating_ >= all.size()) return false;
        instruction made = all[updating_];
        made.name = names_.take("first");
        made.updates = false;
        all.push_back(made);
        overwriting_ = all.size() - 1;
        return true;
    }
    /// Where the result of the stage lies: the copy that is stored, or its home, and what refines that.
    void find_place() {
        for (std::size_t at = 0; at < case_.directives.size(); ++at) {
            directive const& d = case_.directives[at];
            bool const places = d.kind == directive_kind::cache_write || d.kind == directive_kind::store_in;
            if (!places || d.tensor != reader().output) continue;
            memory_ = d.names[0];
            refinements_ = level_of_home();
            for (std::size_t next = at + 1; next < case_.directives.size() && description_of(case_.directives[next].kind).refines(); ++next)
                refinements_.push_back(case_.directives[next]);
        }
        // What is loaded into one version is stored from one.
        bool aside = false;
        for (move const& m : case_.where.transfers)
            aside |=
                m.what.is_asynchronous && m.what.source == case_.where.memories[0].name && m.what.destination == ir::label(memory_.c_str());
        if (!aside && !random_.one_in(6)) {
            auto const is_version = [](directive const& d) {
                return d.kind == directive_kind::buffers || d.kind == directive_kind::prefetch;
            };
            std::erase_if(refinements_, is_version);
            for (std::size_t at = 0; at < case_.directives.size(); ++at) {
                if (case_.directives[at].kind != directive_kind::cache_write) continue;
                while (at + 1 < case_.directives.size() && description_of(case_.directives[at + 1].kind).refines()) {
                    if (is_version(case_.directives[at + 1]))
                        case_.directives.erase(case_.directives.begin() + static_cast<std::ptrdiff_t>(at) + 1);
                    else ++at;
                }
            }
        }
        if (memory_.empty()) memory_ = steps_.memories[reader().output];
        each_form([&](instruction& form) { form.memories[form.does.output] = memory_; });
    }
    /// The loop that a stage is computed in, as that of a copy.
    list level_of_home() {
        for (directive const& d : case_.directives) {
            if (d.kind == directive_kind::compute_at && d.tensor == reader().output)
                return {{.kind = directive_kind::at, .names = d.names}};
        }
        return {};
    }
    template <class Visit>
    void each_form(Visit const& visit) {
        if (updating_ < case_.where.instructions.size()) visit(case_.where.instructions[updating_]);
        visit(case_.where.instructions[overwriting_]);
    }

    /// An operand that the instruction has anyway.
    bool tie_what_is_there() {
        instruction& form = case_.where.instructions[overwriting_];
        tensor const& result = form.tensors[form.does.output];
        std::vector<int> candidates;
        each_value_of(form.does, [&](value const& v) {
            bool fits = v.op == operation::access && v.type == result.type && static_cast<int>(v.at.size()) == form.does.rank;
            for (std::size_t d = 0; d < v.at.size() && fits; ++d)
                fits = v.at[d].terms.size() == 1 && v.at[d].terms[0].axis == static_cast<int>(d) && v.at[d].terms[0].factor == 1;
            if (fits) candidates.push_back(v.which);
        });
        if (candidates.empty()) return false;
        int const operand = form.in_place = random_.any_of(candidates);
        // Operands are numbered as they stand in the body, then in what the reduction starts from.
        std::vector<value> accesses;
        auto const note = [&](value const& v) {
            if (v.op == operation::access) accesses.push_back(v);
        };
        each_value(reader().body, note);
        if (reader().start) each_value(*reader().start, note);
        value const read = accesses.at(static_cast<std::size_t>(operand));
        for (std::size_t at = 0; at < accesses.size(); ++at) {
            if (accesses[at].which != read.which) continue;
            each_form([&](instruction& one) {
                int const mine = static_cast<int>(at);
                if (mine < static_cast<int>(one.memories.size()) && mine != one.does.output) one.memories[at] = memory_;
            });
        }
        if (case_.computes(read.which)) return true;
        drop_loads([&](int which) { return which == read.which; });
        load_at_the_result(read);
        return true;
    }
    void load_at_the_result(value const& read) {
        list load{{.kind = directive_kind::cache_read, .names = {memory_}, .tensor = read.which}};
        list const place = like_the_result(read.at.size());
        load.insert(load.end(), place.begin(), place.end());
        insert_before_steps(load);
    }

    void tie_another() {
        stage& s = reader();
        scalar_type const type = case_.tensors[s.output].type;
        tensor x{.name = names_.take("X"), .type = type, .magnitude = random_.one_in(2) ? 20 : 100};
        bool const computed = random_.percent(45), padded = !computed && random_.percent(15);
        value read = at_the_result(type, static_cast<int>(case_.tensors.size()), computed, padded);
        for (index const& i : read.at) extents_.push_back(std::max<std::int64_t>(1, end_of(i) - (padded ? random_.below(3) : 0)));
        if (padded) x.padded_to = extents_;
        case_.tensors.push_back(x);

        way how{.joins = any_join(type), .again = any_join(type)};
        how.starts = reduces() && !random_.one_in(5);
        how.replaces = random_.one_in(2);
        how.alone = !reduces() && random_.one_in(6) && is_alone();
        how.repeats = random_.one_in(8);
        how.twice = random_.one_in(12);
        instruction& form = case_.where.instructions[overwriting_];
        if (how.alone) form = of_result_alone(form);
        // What the stage starts from instead is no operand of what began with something else.
        if (how.starts && how.replaces && s.start) keep_operands_of(case_.where.instructions[updating_], form);
        form.in_place = static_cast<int>(form.tensors.size());
        add_operands(form, how, true);
        if (reduces()) add_operands(case_.where.instructions[updating_], how, false);
        put(s, how, read, read, true);
        if (reduces() && random_.one_in(12)) name_the_first_form();

        drop_loads([&](int which) { return !reads(which); });
        if (computed) compute(read, x, like_the_result(read.at.size()));
        else load_at_the_result(read);
        if (random_.one_in(6)) read_elsewhere(read);
    }

    /// How the operand stands in what is computed.
    struct way {
        operation joins = operation::add, again = operation::add;
        bool starts = false;    ///< what a reduction starts from
        bool replaces = false;  ///< likewise, instead of what it started from
        bool alone = false;     ///< with nothing but a number
        bool repeats = false;   ///< in two places
        bool twice = false;     ///< in two places, as two operands
    };
    /// @param begins  what stands here has the value that a reduction starts from
    static void put(stage& into, way const& how, value const& x, value const& other, bool begins) {
        bool const is_there = !how.starts || begins;
        value& whole = how.starts && begins && into.start && !how.replaces ? *into.start : into.body;
        value const number{.type = x.type, .number = is_float(x.type) ? std::bit_cast<std::int64_t>(1.5) : 1};
        if (how.starts && begins && (!into.start || how.replaces)) into.start = x;
        else if (is_there) whole = how.alone ? joined(how.joins, x, number) : joined(how.joins, whole, x);
        if (how.starts && begins && into.axes.size() > static_cast<std::size_t>(into.rank)) into.named = true;
        if (how.repeats && is_there) {
            value& repeated = how.starts ? *into.start : into.body;
            repeated = joined(how.again, x, repeated);
        }
        if (how.twice) into.body = joined(how.again, into.body, other);
    }
    /// Of an instruction: with the indices of its result.
    void add_operands(instruction& to, way const& how, bool begins) {
        value own{.op = operation::access, .type = to.tensors[to.does.output].type};
        for (int d = 0; d < to.does.rank; ++d) own.at.push_back({0, {{d, 1}}});
        value other = own;
        auto const add = [&](value& v) {
            v.which = static_cast<int>(to.tensors.size());
            to.tensors.push_back({.name = "o" + std::to_string(v.which), .type = v.type});
            to.memories.push_back(memory_);
        };
        if (!how.starts || begins) add(own);
        if (how.twice) add(other);
        put(to.does, how, own, other, begins);
    }
    static instruction of_result_alone(instruction form) {
        form.tensors = {form.tensors[form.does.output]};
        form.memories = {form.memories[form.does.output]};
        form.does.output = 0;
        form.uses.clear();
        return form;
    }
    static void keep_operands_of(instruction const& other, instruction& form) {
        form.tensors = other.tensors;
        form.memories = other.memories;
        form.does.output = other.does.output;
        form.does.start.reset();
        form.uses = other.uses;
    }

    /// The tensor at the indices of the result, perhaps some dimensions less or one more, or moved.
    value at_the_result(scalar_type type, int which, bool computed, bool padded) {
        stage const& s = reader();
        value v{.op = operation::access, .type = type, .which = which, .padded = padded};
        for (int d = 0; d < s.rank; ++d) {
            bool const stepped = std::find(steps_.axes.begin(), steps_.axes.end(), d) != steps_.axes.end();
            if (!stepped && random_.one_in(12)) continue;
            index i{0, {{d, 1}}};
            if (random_.one_in(padded ? 4 : 30)) i.constant = padded ? random_.between(-2, 1) : random_.below(3);
            if (d + 1 < s.rank && random_.one_in(40)) i.terms[0].factor = 2;
            v.at.push_back(i);
        }
        if (v.at.size() < static_cast<std::size_t>(max_rank) && random_.one_in(12)) v.at.insert(v.at.begin(), {computed ? 0 : 1, {}});
        if (padded) v.number = is_float(type) ? std::bit_cast<std::int64_t>(random_.one_in(2) ? 0.0 : 2.0) : random_.below(2);
        return v;
    }
    std::int64_t end_of(index const& i) {
        std::int64_t end = i.constant;
        for (index::term const& t : i.terms) end += t.factor * (reader().axes[t.axis].extent - 1);
        return end + 1;
    }

    static value joined(operation op, value a, value b) {
        value v{.op = op, .type = a.type};
        v.arguments.push_back(std::move(a));
        v.arguments.push_back(std::move(b));
        return v;
    }
    operation any_join(scalar_type type) {
        using enum operation;
        if (type == scalar_type::boolean) return random_.one_in(2) ? logical_or : not_equal;
        constexpr operation all[] = {add, minimum, maximum, subtract, minimum, maximum};
        return random_.any_of(all);
    }

    /// Whether the stage reads nothing that is computed, so that it can read something else instead.
    bool is_alone() {
        bool is = true;
        each_value_of(reader(), [&](value const& v) { is &= v.op != operation::access || !case_.computes(v.which); });
        return is;
    }
    /// The form that overwrites computes all of the stage.
    void name_the_first_form() {
        for (directive& d : case_.directives) {
            if (d.kind == directive_kind::tensorize) d.names[0] = case_.where.instructions[overwriting_].name;
        }
    }

    /// As the result is refined, most often.
    list like_the_result(std::size_t rank) {
        list all;
        bool versions = false;
        std::int64_t layouts = std::count_if(case_.directives.begin(), case_.directives.end(),
                                             [](directive const& d) { return d.kind == directive_kind::layout; });
        for (directive const& d : refinements_) {
            if (random_.one_in(d.kind == directive_kind::at ? 40 : 16)) continue;
            if (d.kind == directive_kind::layout && (d.coordinates != static_cast<int>(rank) || layouts + 1 > schedule::most_layouts))
                continue;
            if (d.kind == directive_kind::prefetch) continue;
            all.push_back(d);
            if (d.kind != directive_kind::buffers) continue;
            versions = true;
            if (random_.one_in(3))
                all.push_back({.kind = directive_kind::prefetch, .numbers = {random_.below(static_cast<int>(d.numbers[0]))}});
        }
        if (!versions && !refinements_.empty() && random_.one_in(8)) all.push_back({.kind = directive_kind::buffers, .numbers = {2}});
        return all;
    }
    std::size_t steps_position() const {
        std::size_t at = 0;
        while (at < case_.directives.size() && case_.directives[at].kind != directive_kind::tensorize) ++at;
        return at;
    }
    void insert_before_steps(list const& more) {
        case_.directives.insert(case_.directives.begin() + static_cast<std::ptrdiff_t>(steps_position()), more.begin(), more.end());
    }
    bool reads(int which) {
        bool does = false;
        each_value_of(reader(), [&](value const& v) { does |= v.op == operation::access && v.which == which; });
        return does;
    }
    /// Copies that the stage has of what it reads.
    template <class Which>
    void drop_loads(Which const& of) {
        list kept;
        bool mine = which_ + 1 == case_.stages.size(), drops = false;
        for (directive const& d : case_.directives) {
            if (d.kind == directive_kind::stage) mine = d.tensor == reader().output;
            if (!description_of(d.kind).refines()) drops = mine && d.kind == directive_kind::cache_read && of(d.tensor);
            if (!drops) kept.push_back(d);
        }
        case_.directives = kept;
    }

    /// A stage that computes the operand, by loops or by another instruction, where the result lies.
    void compute(value& read, tensor const& x, list const& place) {
        stage& s = reader();
        bool const open = std::any_of(s.axes.begin(), s.axes.end(), [](axis const& a) { return a.open; });
        stage t{.output = read.which, .rank = static_cast<int>(read.at.size())};
        value loaded{.op = operation::access, .type = x.type, .which = static_cast<int>(case_.tensors.size())};
        for (std::size_t d = 0; d < read.at.size(); ++d) {
            if (open && read.at[d].terms.size() == 1) {
                // The extents of run time are those of the axes themselves.
                read.at[d] = {0, {{read.at[d].terms[0].axis, 1}}};
                t.axes.push_back(s.axes[read.at[d].terms[0].axis]);
            } else {
                t.axes.push_back({names_.take("q" + std::to_string(d)), extents_[d] + (random_.one_in(8) ? 1 : 0)});
            }
            loaded.at.push_back({0, {{static_cast<int>(d), 1}}});
        }
        tensor source{.name = names_.take("V"), .type = x.type, .magnitude = x.magnitude};
        case_.tensors.push_back(source);
        value const number{.type = x.type, .number = is_float(x.type) ? std::bit_cast<std::int64_t>(0.5) : 1};
        operation const by = any_join(x.type);
        t.body = joined(by, loaded, number);

        list section;
        for (directive d : place) {
            if (d.kind == directive_kind::at) section.push_back({.kind = directive_kind::compute_at, .names = d.names, .tensor = t.output});
        }
        section.push_back({.kind = directive_kind::store_in, .names = {memory_}, .tensor = t.output});
        for (directive const& d : place) {
            if (d.kind == directive_kind::in_bank || d.kind == directive_kind::layout) section.push_back(d);
        }
        section.push_back({.kind = directive_kind::stage, .tensor = t.output});
        bool hidden = false;
        for (memory const& m : case_.where.memories) hidden |= m.name == ir::label(memory_.c_str()) && !m.host_visible;
        if (random_.percent(hidden ? 95 : 60) && t.rank > 0) {
            instruction const made = instruction_of(t, x.type, by, number);
            case_.where.instructions.push_back(made);
            section.push_back({.kind = directive_kind::cache_read, .names = {memory_}, .tensor = loaded.which});
            for (directive const& d : place) section.push_back(d);
            directive steps{.kind = directive_kind::tensorize, .names = {made.name}};
            for (std::size_t at = t.axes.size() - made.does.axes.size(); at < t.axes.size(); ++at) steps.names.push_back(t.axes[at].name);
            section.push_back(steps);
        } else if (t.rank > 0 && random_.one_in(4)) {
            section.push_back({.kind = directive_kind::vectorize, .names = {t.axes.back().name}, .numbers = {random_.between(2, 8)}});
        }
        case_.directives.insert(case_.directives.end(), section.begin(), section.end());
        replace_read(read);
        // In front of the stage that reads it.
        t.body.arguments[0].which = loaded.which;
        case_.stages.insert(case_.stages.begin() + static_cast<std::ptrdiff_t>(which_), t);
        ++which_;
    }
    /// The accesses to a tensor, as they are now.
    void replace_read(value const& read) {
        each_value_of(reader(), [&](value& v) {
            if (v.op == operation::access && v.which == read.which) v.at = read.at;
        });
    }
    instruction instruction_of(stage const& t, scalar_type type, operation by, value const& number) {
        instruction const& like = case_.where.instructions[overwriting_];
        instruction made{.name = names_.take("ahead"), .engine = like.engine, .asynchronous = like.asynchronous, .costs = {.cycles = 2}};
        int const axes = std::min(t.rank, random_.between(1, 4));
        value own{.op = operation::access, .type = type, .which = 0};
        for (int at = 0; at < axes; ++at) {
            std::int64_t const extent = t.axes[t.rank - axes + at].extent;
            made.does.axes.push_back({"x" + std::to_string(at), random_.between(1, static_cast<int>(std::min<std::int64_t>(6, extent)))});
            own.at.push_back({0, {{at, 1}}});
        }
        made.does.rank = axes;
        made.does.body = joined(by, own, number);
        made.does.output = 1;
        made.tensors = {{.name = "o0", .type = type}, {.name = "c", .type = type}};
        made.memories = {memory_, memory_};
        made.flexible = random_.one_in(2) ? 0 : (1u << axes) - 1;
        if (random_.percent(70)) made.in_place = 0;
        return made;
    }
    /// Another stage reads it, too, as far as it goes.
    void read_elsewhere(value const& read) {
        int const which = read.which;
        std::size_t const from = case_.computes(which) ? which_ + 1 : 0;
        std::vector<std::size_t> others;
        for (std::size_t at = from; at < case_.stages.size(); ++at) {
            if (at != which_ && case_.stages[at].reduction == operation::constant) others.push_back(at);
        }
        if (others.empty()) return;
        stage& other = case_.stages[random_.any_of(others)];
        scalar_type const type = case_.tensors[which].type;
        if (case_.tensors[other.output].type != type) return;
        value v = read;
        for (std::size_t d = 0; d < v.at.size(); ++d) {
            bool const along = static_cast<int>(d) < other.rank && d < extents_.size() && other.axes[d].extent <= extents_[d];
            v.at[d] = along ? index{0, {{static_cast<int>(d), 1}}} : index{};
        }
        other.body = joined(any_join(type), other.body, v);
    }

    dice& random_;
    names& names_;
    drawn_case& case_;
    std::size_t which_;
    instruction_drawer::made const& steps_;
    std::size_t updating_ = static_cast<std::size_t>(-1), overwriting_ = static_cast<std::size_t>(-1);  ///< forms of the case
    std::string memory_;                                                                                ///< of the result
    list refinements_;                                                                                  ///< of its place
    std::vector<std::int64_t> extents_;                                                                 ///< of the operand
};

}  // namespace fuzz
