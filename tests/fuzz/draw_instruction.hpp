#pragma once
#include <set>
#include <tilewright/base/label_text.hpp>

#include "fuzz/names.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// Draws instructions that compute what a stage computes, over some of its axes.
class instruction_drawer {
  public:
    instruction_drawer(dice& random, names& named, drawn_case& into) : random_(random), names_(named), case_(into) {}

    /// What the schedule needs to know of the instructions that were made.
    struct made {
        std::string name{};
        std::vector<int> axes{};              ///< of the stage, in the order in which they are named
        std::vector<std::int64_t> extents{};  ///< of a step
        std::vector<std::string> memories{};  ///< of each tensor of the case; empty: it is no operand
        int rows = -1;                        ///< an axis of the stage that is one with the next, along which steps go on; -1: none
    };

    /// @return without a name, where the stage is nothing that an instruction can be
    made draw(stage const& s) {
        made result;
        if (!is_possible(s)) return result;
        int const axes = static_cast<int>(s.axes.size());
        // Some axes: those further in most often.
        for (int at = axes - 1; at >= 0 && result.axes.size() < 4; --at) {
            bool const needed = at >= s.rank && s.reduction != operation::reduce_sum && s.reduction != operation::constant;
            if (needed || random_.percent(at + 1 == axes || at + 1 == s.rank ? 85 : 45)) result.axes.insert(result.axes.begin(), at);
        }
        if (result.axes.empty()) return result;
        if (random_.one_in(4)) join_rows(s, result);
        if (random_.one_in(4)) random_.shuffle(result.axes);
        for (int at : result.axes) {
            bool const joins = at == result.rows;
            std::int64_t const extent = s.axes[at].extent * (joins ? s.axes[at + 1].extent : 1);
            result.extents.push_back(random_.between(1, static_cast<int>(std::min<std::int64_t>(joins ? 20 : 6, extent + 1))));
        }
        result.name = names_.take("step");
        result.memories.resize(case_.tensors.size());

        memory& l1 = case_.where.memories[2];
        if (random_.one_in(3)) {
            l1.host_visible = false;
            l1.ports = 2;
            for (move& m : case_.where.transfers) {
                if (m.what.source == l1.name || m.what.destination == l1.name) m.what.core_name = {}, m.what.most_dimensions = 3;
            }
            if (random_.one_in(2) && l1.capacity / l1.banks % 16 == 0 && l1.alignment >= 16) l1.address_unit = 16;
        }
        for (std::string& m : result.memories) m = (random_.one_in(4) ? case_.where.memories[1] : l1).name.str();
        instruction const again = form(s, result, false);
        if (again.tensors.size() > 6) return {};
        std::string engine_name;
        bool aside = false;
        if (!case_.where.engines.empty() && random_.percent(75)) {
            engine& on = random_.any_of(case_.where.engines);
            engine_name = on.name.str();
            on.channels = 1;
            aside = random_.percent(75);
            if (aside) on.completes = completion::by_channel;
        }
        bool const reduces = s.reduction != operation::constant;
        unsigned const all = (1u << result.axes.size()) - 1;
        unsigned const flexible = random_.one_in(2) ? 0 : random_.one_in(2) ? all : static_cast<unsigned>(random_.below(16)) & all;
        auto const add = [&](instruction i, std::string const& name, bool updates) {
            i.name = name;
            i.updates = updates;
            i.engine = engine_name;
            i.asynchronous = aside;
            i.costs = costs(static_cast<int>(result.axes.size()), flexible != 0);
            i.flexible = flexible;
            if (!case_.where.configurations.empty() && random_.one_in(3)) i.uses.push_back(draw_registers(i));
            case_.where.instructions.push_back(i);
        };
        if (!reduces) add(again, result.name, false);
        else {
            add(again, result.name, true);
            if (s.start) {
                instruction const first = form(s, result, true);
                if (first.tensors.size() <= 6) add(first, names_.take("first"), false);
            } else if (!s.continues && random_.percent(85)) {
                add(again, names_.take("first"), false);
            }
        }
        // Something to fill with what adds nothing.
        std::set<scalar_type> filled;
        for (tensor const& t : again.tensors) {
            if (!filled.insert(t.type).second || case_.where.transfers.size() >= 11 || random_.one_in(3)) continue;
            for (memory const* m : {&case_.where.memories[1], &l1}) {
                if (case_.where.transfers.size() >= 12) break;
                transfer f(ir::label(names_.take("fill").c_str()), case_.where.memories[0], *m);
                f.dimensions(random_.between(1, 4));
                if (!engine_name.empty() && random_.one_in(2)) f.on(engine{.name = ir::label(engine_name.c_str())});
                if (!f.engine_name.empty() && random_.one_in(2)) f.asynchronous();
                case_.where.transfers.push_back({f, fill{0, t.type}, {}});
            }
        }
        return result;
    }

  private:
    /// What a call takes, often by how much it covers.
    intrinsic_cost costs(int axes, bool flexible) {
        intrinsic_cost made{.cycles = random_.between(1, 9)};
        if (!random_.percent(flexible ? 75 : 15)) return made;
        made.term_count = random_.between(1, 3);
        for (int t = 0; t < made.term_count; ++t) {
            cycle_term& term = made.terms[t];
            term.cycles = random_.between(0, 5);
            term.factor_count = random_.between(1, 2);
            for (int f = 0; f < term.factor_count; ++f)
                term.factors[f] = {static_cast<std::uint16_t>(random_.between(1, (1 << axes) - 1)),
                                   random_.one_in(2) ? 1 : random_.between(2, 5)};
        }
        return made;
    }
    static bool is_possible(stage const& s) {
        int accesses = 0;
        bool possible = s.rank > 0;
        each_value_of(s, [&](value const& v) {
            accesses += v.op == operation::access ? 1 : 0;
            possible &= v.op != operation::axis_value && v.op != operation::parameter;
        });
        return possible && accesses >= 1 && accesses <= 5;
    }

    used_registers draw_registers(instruction const& i) {
        configuration const& registers = random_.any_of(case_.where.configurations);
        used_registers used{registers.name.str(), {}};
        for (int at = 0; at < registers.value_count; ++at) {
            used_registers::value v{role::literal, 0, -1, random_.below(3)};
            int const operand = random_.below(static_cast<int>(i.tensors.size())),
                      axis = random_.below(static_cast<int>(i.does.axes.size()));
            if (random_.one_in(3)) v = {role::stride, 0, operand};
            else if (i.flexible >> axis & 1 && random_.one_in(2)) v = {role::covered, 0, axis};
            used.values.push_back(v);
        }
        return used;
    }
    /// Takes an axis and the next one as one, where both move neighbouring dimensions by one, and nothing else.
    void join_rows(stage const& s, made& of) {
        std::vector<int> possible;
        for (int row = 0; row + 1 < static_cast<int>(s.axes.size()); ++row) {
            bool joins = (row < s.rank) == (row + 1 < s.rank) && !s.axes[row].open && !s.axes[row + 1].open;
            each_value_of(s, [&](value const& v) {
                if (v.op != operation::access) return;
                int of_row = -1, along_row = -1;
                for (int d = 0; d < static_cast<int>(v.at.size()); ++d) {
                    for (index::term const& t : v.at[d].terms) {
                        if (t.axis != row && t.axis != row + 1) continue;
                        int& found = t.axis == row ? of_row : along_row;
                        joins &= t.factor == 1 && found < 0;
                        found = d;
                    }
                }
                joins &= of_row < 0 ? along_row < 0 : along_row == of_row + 1;
            });
            if (joins) possible.push_back(row);
        }
        if (possible.empty()) return;
        of.rows = random_.any_of(possible);
        std::erase_if(of.axes, [&](int at) { return at == of.rows + 1; });
        if (std::find(of.axes.begin(), of.axes.end(), of.rows) == of.axes.end())
            of.axes.insert(std::find_if(of.axes.begin(), of.axes.end(), [&](int at) { return at > of.rows; }), of.rows);
    }
    /// An access as an operand of its own, whose dimensions are those that move along the axes of the instruction.
    void take(value& v, stage const& s, made const& of, instruction& into) const {
        if (v.op != operation::access) {
            for (value& part : v.arguments) take(part, s, of, into);
            return;
        }
        tensor operand{.name = "o" + std::to_string(into.tensors.size()), .type = v.type};
        into.memories.push_back(of.memories[v.which]);
        std::vector<index> at;
        for (std::size_t d = 0; d < v.at.size(); ++d) {
            index i;
            for (index::term const& t : v.at[d].terms) {
                if (of.rows >= 0 && t.axis == of.rows) continue;  // it goes on along the next dimension
                int const axis = position(of, of.rows >= 0 && t.axis == of.rows + 1 ? of.rows : t.axis);
                if (axis >= 0) i.terms.push_back({axis, t.factor});
            }
            if (i.terms.empty()) continue;
            // A step along a dimension further out is a stride.
            if (i.terms.size() == 1 && d + 1 < v.at.size()) i.terms[0].factor = 1;
            at.push_back(i);
        }
        v.at = at;
        v.arguments.clear();
        v.which = static_cast<int>(into.tensors.size());
        v.padded = false;
        v.number = 0;
        into.tensors.push_back(operand);
    }
    /// Where among the axes of the instruction an axis of the stage is; those of the target come first.
    static int position(made const& of, int axis) {
        std::vector<int> sorted = of.axes;
        std::sort(sorted.begin(), sorted.end());
        auto const found = std::find(sorted.begin(), sorted.end(), axis);
        return found == sorted.end() ? -1 : static_cast<int>(found - sorted.begin());
    }
    instruction form(stage const& s, made const& of, bool starts) const {
        instruction made_of;
        std::vector<int> sorted = of.axes;
        std::sort(sorted.begin(), sorted.end());
        stage& does = made_of.does;
        for (int at : sorted) {
            std::size_t const which = static_cast<std::size_t>(std::find(of.axes.begin(), of.axes.end(), at) - of.axes.begin());
            does.axes.push_back({"x" + std::to_string(does.axes.size()), of.extents[which]});
            does.rank += at < s.rank ? 1 : 0;
        }
        does.reduction = s.reduction;
        does.body = s.body;
        does.start_leads = s.start_leads;
        take(does.body, s, of, made_of);
        if (starts && s.start) {
            does.start = s.start;
            take(*does.start, s, of, made_of);
        }
        does.named = s.reduction == operation::constant || does.axes.size() > static_cast<std::size_t>(does.rank);
        does.output = static_cast<int>(made_of.tensors.size());
        made_of.tensors.push_back({.name = "c", .type = case_.tensors[s.output].type});
        made_of.memories.push_back(of.memories[s.output]);
        return made_of;
    }

    dice& random_;
    names& names_;
    drawn_case& case_;
};

}  // namespace fuzz
