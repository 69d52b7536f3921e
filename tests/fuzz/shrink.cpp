#include "fuzz/shrink.hpp"

#include <bit>
#include <utility>

namespace fuzz {

namespace {

/// Every case that is one change smaller than another one, the largest changes first.
std::vector<drawn_case> smaller_cases(drawn_case const& from);

using change = std::function<void(drawn_case const&, std::vector<drawn_case>&)>;

bool refines(directive_kind kind) { return description_of(kind).refines(); }

/// All places of a case that hold expressions.
template <class Case, class Visit>
void each_expression(Case& c, Visit const& visit) {
    for (auto& s : c.stages) {
        if (s.start) visit(*s.start);
        visit(s.body);
    }
}

void without_directives(drawn_case const& from, std::vector<drawn_case>& into) {
    if (from.directives.size() > 3) {
        for (std::size_t half : {std::size_t{0}, from.directives.size() / 2}) {
            drawn_case made = from;
            made.directives.erase(made.directives.begin() + static_cast<std::ptrdiff_t>(half),
                                  made.directives.begin() + static_cast<std::ptrdiff_t>(half + from.directives.size() / 2));
            into.push_back(made);
        }
    }
    for (std::size_t at = from.directives.size(); at-- > 0;) {
        drawn_case made = from;
        std::size_t end = at + 1;
        while (!refines(from.directives[at].kind) && end < from.directives.size() && refines(from.directives[end].kind)) ++end;
        made.directives.erase(made.directives.begin() + static_cast<std::ptrdiff_t>(at),
                              made.directives.begin() + static_cast<std::ptrdiff_t>(end));
        into.push_back(made);
    }
}

void without_stages(drawn_case const& from, std::vector<drawn_case>& into) {
    if (from.stages.size() < 2) return;
    for (bool last : {true, false}) {
        drawn_case made = from;
        int const gone = last ? made.stages.back().output : made.stages.front().output;
        if (last) made.stages.pop_back();
        else made.stages.erase(made.stages.begin());
        int const output = made.stages.back().output;
        // Directives of the stage that is gone, and what the last one cannot have.
        std::vector<directive> kept;
        int speaks_of = from.stages.back().output;
        for (directive const& d : from.directives) {
            if (d.kind == directive_kind::stage) {
                speaks_of = d.tensor;
                if (speaks_of == gone || speaks_of == output) continue;
            }
            bool const of_producer = d.kind == directive_kind::compute_at || d.kind == directive_kind::store_in;
            if (of_producer ? d.tensor == gone || d.tensor == output : speaks_of == gone) continue;
            kept.push_back(d);
        }
        made.directives = kept;
        into.push_back(made);
        made.directives.clear();
        into.push_back(made);
    }
}

void without_axes(drawn_case const& from, std::vector<drawn_case>& into) {
    for (std::size_t at = 0; at < from.stages.size(); ++at) {
        for (std::size_t axis = from.stages[at].axes.size(); axis-- > 0;) {
            drawn_case made = from;
            stage& s = made.stages[at];
            s.axes.erase(s.axes.begin() + static_cast<std::ptrdiff_t>(axis));
            bool const pure = static_cast<int>(axis) < s.rank;
            if (pure) --s.rank;
            each_value_of(s, [&](value& v) {
                for (index& i : v.at) {
                    std::erase_if(i.terms, [&](index::term const& t) { return t.axis == static_cast<int>(axis); });
                    for (index::term& t : i.terms) t.axis -= t.axis > static_cast<int>(axis) ? 1 : 0;
                }
                if (v.op != operation::axis_value) return;
                if (v.which == static_cast<int>(axis)) v = {.type = scalar_type::int32, .number = 1};
                else if (v.which > static_cast<int>(axis)) --v.which;
            });
            if (s.axes.size() == static_cast<std::size_t>(s.rank) && !s.continues) {
                s.reduction = operation::constant;
                s.start.reset();
            }
            if (pure) {
                for (stage& reader : made.stages) {
                    each_value_of(reader, [&](value& v) {
                        if (v.op == operation::access && v.which == s.output && axis < v.at.size())
                            v.at.erase(v.at.begin() + static_cast<std::ptrdiff_t>(axis));
                    });
                }
                std::vector<std::int64_t>& padded = made.tensors[s.output].padded_to;
                if (axis < padded.size()) padded.erase(padded.begin() + static_cast<std::ptrdiff_t>(axis));
            }
            // The directives that name the loops of the axis go with it.
            std::vector<std::string> gone{from.stages[at].axes[axis].name, from.stages[at].axes[axis].name + ".core"};
            std::vector<directive> kept;
            for (directive d : made.directives) {
                auto const is_gone = [&](std::string const& name) { return std::find(gone.begin(), gone.end(), name) != gone.end(); };
                if (d.kind == directive_kind::reorder) {
                    std::erase_if(d.names, is_gone);
                    if (d.names.size() < 2) continue;
                } else if (std::any_of(d.names.begin(), d.names.end(), is_gone)) {
                    if (d.kind == directive_kind::split) {
                        for (std::size_t part : {1, 2}) gone.push_back(d.names[part]), gone.push_back(d.names[part] + ".core");
                    }
                    if (d.kind == directive_kind::at || d.kind == directive_kind::split || d.kind == directive_kind::unroll ||
                        d.kind == directive_kind::vectorize || d.kind == directive_kind::parallel || d.kind == directive_kind::distribute)
                        continue;
                }
                kept.push_back(d);
            }
            into.push_back(made);
            made.directives = kept;
            into.push_back(made);
        }
    }
}

void without_operations(drawn_case const& from, std::vector<drawn_case>& into) {
    int count = 0;
    each_expression(from, [&](value const& root) { each_value(root, [&](value const&) { ++count; }); });
    // Calls `with(value)` for the number-th part of a copy.
    auto const change = [&](int number, auto const& with) {
        drawn_case made = from;
        int at = 0;
        bool done = false;
        each_expression(made, [&](value& root) {
            std::function<void(value&)> const visit = [&](value& v) {
                if (done) return;
                if (at++ == number) {
                    done = with(v);
                    if (done) into.push_back(made);
                    done = true;
                    return;
                }
                for (value& part : v.arguments) visit(part);
            };
            visit(root);
        });
    };
    for (int number = 0; number < count; ++number) {
        for (std::size_t argument = 0; argument < 3; ++argument) {
            change(number, [&](value& v) {
                if (argument >= v.arguments.size() || v.arguments[argument].type != v.type ||
                    v.arguments[argument].op == operation::constant)
                    return false;
                value const part = v.arguments[argument];
                v = part;
                return true;
            });
        }
        change(number, [&](value& v) {
            if (v.op == operation::constant || v.op == operation::access || number == 0) return false;
            v = {.type = v.type, .number = is_float(v.type) ? std::bit_cast<std::int64_t>(1.0) : 1};
            return true;
        });
        // A tensor of the type in place of what is computed.
        change(number, [&](value& v) {
            if (v.arguments.empty()) return false;
            value found;
            each_value(v, [&](value const& part) {
                if (found.op == operation::constant && part.op == operation::access && part.type == v.type) found = part;
            });
            if (found.op == operation::constant) return false;
            v = found;
            return true;
        });
        change(number, [&](value& v) {
            if (!v.padded || !v.arguments.empty()) return false;
            v.padded = false;
            return true;
        });
        change(number, [&](value& v) {
            if (v.op != operation::access || v.arguments.empty()) return false;
            for (index& i : v.at) i.computed = -1;
            v.arguments.clear();
            return true;
        });
        for (std::size_t dimension = 0; dimension < max_rank; ++dimension) {
            change(number, [&](value& v) {
                if (dimension >= v.at.size() || v.at[dimension].constant == 0) return false;
                v.at[dimension].constant = 0;
                return true;
            });
            change(number, [&](value& v) {
                if (dimension >= v.at.size() || v.at[dimension].terms.empty()) return false;
                v.at[dimension].terms.pop_back();
                return true;
            });
            change(number, [&](value& v) {
                bool changed = false;
                for (std::size_t t = 0; dimension < v.at.size() && t < v.at[dimension].terms.size(); ++t) {
                    std::int64_t& factor = v.at[dimension].terms[t].factor;
                    changed |= factor != 1;
                    factor = 1;
                }
                return changed;
            });
        }
        change(number, [&](value& v) {
            bool const others = v.op == operation::access && !from.computes(v.which) && v.at.size() > 1;
            if (!others) return false;
            v.at.pop_back();
            return true;
        });
    }
    for (std::size_t at = 0; at < from.stages.size(); ++at) {
        drawn_case made = from;
        if (made.stages[at].start) made.stages[at].start.reset(), into.push_back(made);
        if (made.stages[at].continues) made.stages[at].continues = false, into.push_back(made);
    }
}

void with_less(drawn_case const& from, std::vector<drawn_case>& into) {
    for (std::size_t at = 0; at < from.stages.size(); ++at) {
        for (std::size_t axis = 0; axis < from.stages[at].axes.size(); ++axis) {
            std::int64_t const extent = from.stages[at].axes[axis].extent;
            if (from.stages[at].axes[axis].open) {
                drawn_case made = from;
                made.stages[at].axes[axis].open = false;
                into.push_back(made);
            }
            for (std::int64_t less : {std::int64_t{1}, extent / 2, extent - 1}) {
                if (less < 1 || less >= extent) continue;
                drawn_case made = from;
                made.stages[at].axes[axis].extent = less;
                into.push_back(made);
            }
        }
    }
    for (std::size_t at = 0; at < from.directives.size(); ++at) {
        for (std::size_t which = 0; which < from.directives[at].numbers.size(); ++which) {
            std::int64_t const number = from.directives[at].numbers[which];
            for (std::int64_t less : {std::int64_t{1}, number / 2, number - 1}) {
                if (less < 1 || less >= number) continue;
                drawn_case made = from;
                made.directives[at].numbers[which] = less;
                into.push_back(made);
            }
        }
        if (from.directives[at].kind == directive_kind::reorder && from.directives[at].names.size() > 2) {
            for (std::size_t which = 0; which < from.directives[at].names.size(); ++which) {
                drawn_case made = from;
                made.directives[at].names.erase(made.directives[at].names.begin() + static_cast<std::ptrdiff_t>(which));
                into.push_back(made);
            }
        }
    }
}

void with_simpler_parts(drawn_case const& from, std::vector<drawn_case>& into) {
    auto const add = [&](auto const& with) {
        drawn_case made = from;
        if (with(made)) into.push_back(made);
    };
    auto const drop = [&](auto machine_parts::*list) {
        for (std::size_t at = 0; at < (from.where.*list).size(); ++at) {
            add([&](drawn_case& c) { return (c.where.*list).erase((c.where.*list).begin() + static_cast<std::ptrdiff_t>(at)), true; });
        }
    };
    drop(&machine_parts::tokens), drop(&machine_parts::transfers), drop(&machine_parts::instructions);
    drop(&machine_parts::configurations), drop(&machine_parts::cores), drop(&machine_parts::memories), drop(&machine_parts::engines);
    auto const set = [](auto& what, auto const& to) {
        bool const changes = !(what == to);
        what = to;
        return changes;
    };
    for (std::size_t at = 0; at < from.where.memories.size(); ++at) {
        auto const simpler = [&](auto memory::*field) {
            add([&](drawn_case& c) { return set(c.where.memories[at].*field, memory{}.*field); });
        };
        simpler(&memory::banks), simpler(&memory::ports), simpler(&memory::alignment), simpler(&memory::wait_cycles),
            simpler(&memory::base), simpler(&memory::per_core), simpler(&memory::core_bases), simpler(&memory::cache_line),
            simpler(&memory::line_cycles), simpler(&memory::upkeep_cycles);
    }
    for (std::size_t at = 0; at < from.where.engines.size(); ++at) {
        auto const simpler = [&](auto engine::*field) {
            add([&](drawn_case& c) { return set(c.where.engines[at].*field, engine{}.*field); });
        };
        simpler(&engine::depth), simpler(&engine::channels), simpler(&engine::completes), simpler(&engine::interlocked),
            simpler(&engine::per_core);
        add([&](drawn_case& c) { return set(c.where.engines[at].per_core, true); });
    }
    for (std::size_t at = 0; at < from.where.transfers.size(); ++at) {
        auto const of = [at](drawn_case& c) -> transfer& { return c.where.transfers[at].what; };
        add([&](drawn_case& c) { return !std::exchange(c.where.transfers[at].uses, {}).empty(); });
        add([&](drawn_case& c) { return set(of(c).is_asynchronous, false); });
        add([&](drawn_case& c) { return set(of(c).is_multicast, false); });
        add([&](drawn_case& c) { return set(of(c).engine_name, ir::label{}) && set(of(c).is_asynchronous, false); });
        add([&](drawn_case& c) { return of(c).core_name.empty() && set(of(c).most_dimensions, 6); });
        add([&](drawn_case& c) { return set(of(c).costs, transfer_cost{}); });
        add([&](drawn_case& c) { return set(of(c).largest_row_bytes, std::int64_t{0}); });
        add([&](drawn_case& c) { return set(of(c).largest_extent, std::int64_t{0}); });
        add([&](drawn_case& c) { return set(of(c).border, border_writing{}); });
    }
    for (std::size_t at = 0; at < from.where.instructions.size(); ++at)
        add([&](drawn_case& c) { return !std::exchange(c.where.instructions[at].uses, {}).empty(); });
    for (std::size_t at = 0; at < from.where.instructions.size(); ++at) {
        auto const of = [at](drawn_case& c) -> instruction& { return c.where.instructions[at]; };
        add([&](drawn_case& c) { return set(of(c).in_place, -1); });
        add([&](drawn_case& c) { return set(of(c).flexible, 0u); });
        add([&](drawn_case& c) { return set(of(c).asynchronous, false); });
        add([&](drawn_case& c) { return set(of(c).engine, std::string{}) && (of(c).asynchronous = false, true); });
    }
    for (std::size_t at = 0; at < from.where.instructions.size(); ++at) {
        auto const of = [at](drawn_case& c) -> intrinsic_cost& { return c.where.instructions[at].costs; };
        add([&](drawn_case& c) { return set(of(c), intrinsic_cost{}); });
        add([&](drawn_case& c) { return of(c).term_count > 0 && --of(c).term_count >= 0; });
    }
    for (std::size_t at = 0; at < from.where.cores.size(); ++at) {
        auto const simpler = [&](auto core::*field) { add([&](drawn_case& c) { return set(c.where.cores[at].*field, core{}.*field); }); };
        simpler(&core::costs), simpler(&core::count), simpler(&core::barrier_cycles), simpler(&core::signal_cycles);
        simpler(&core::signal_queues), simpler(&core::signal_capacity);
        add([&](drawn_case& c) { return c.where.cores[at].count > 2 && --c.where.cores[at].count > 0; });
    }
    for (std::size_t at = 0; at < from.tensors.size(); ++at) {
        add([&](drawn_case& c) { return set(c.tensors[at].special, false); });
        add([&](drawn_case& c) { return set(c.tensors[at].exact, true); });
        add([&](drawn_case& c) { return set(c.tensors[at].magnitude, std::int64_t{3}); });
    }
    for (std::size_t at = 0; at < from.directives.size(); ++at) {
        for (std::size_t part = 0; part < from.directives[at].layout.size(); ++part)
            add([&](drawn_case& c) {
                return c.directives[at].layout.erase(c.directives[at].layout.begin() + static_cast<std::ptrdiff_t>(part)), true;
            });
    }
}

std::vector<drawn_case> smaller_cases(drawn_case const& from) {
    std::vector<drawn_case> all;
    for (auto const& how : {without_stages, without_directives, without_axes, without_operations, with_less, with_simpler_parts})
        how(from, all);
    return all;
}

}  // namespace

drawn_case shrink(drawn_case from, std::function<bool(drawn_case const&)> const& fails, std::function<bool()> const& enough) {
    return smallest_failing(std::move(from), smaller_cases, fails, enough);
}

}  // namespace fuzz
