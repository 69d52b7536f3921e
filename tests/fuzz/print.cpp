#include "fuzz/print.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tilewright/base/label_text.hpp>
#include <tilewright/machine/reflection.hpp>

#include "fuzz/library.hpp"

namespace fuzz {

namespace {

std::string quoted(std::string const& text) { return "\"" + text + "\""; }
std::string quoted(ir::label const& text) { return quoted(text.str()); }
std::string number_text(std::int64_t number, scalar_type type) {
    if (is_half(type))
        return number_text(std::bit_cast<std::int64_t>(double{value_of_half(type, static_cast<std::uint16_t>(number))}),
                           scalar_type::float64);
    if (!is_float(type)) {
        if (number == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
        return std::to_string(number);
    }
    double const real = std::bit_cast<double>(number);
    if (std::isnan(real)) return "std::numeric_limits<double>::quiet_NaN()";
    if (std::isinf(real)) return real < 0 ? "-std::numeric_limits<double>::infinity()" : "std::numeric_limits<double>::infinity()";
    char text[40];
    std::snprintf(text, sizeof text, std::trunc(real) == real && std::abs(real) < 1e9 ? "%.1f" : "%a", real);
    return text;
}
std::string type_text(scalar_type type) {
    switch (type) {
        case scalar_type::boolean:
        case scalar_type::float32:
        case scalar_type::float64:
        case scalar_type::float16:
        case scalar_type::bfloat16: return name_of(type);
        default: return std::string("std::") + name_of(type) + "_t";
    }
}

class writer {
  public:
    /// @param prefix  of the C++ names of tensors and axes
    writer(std::vector<tensor> const& tensors, std::vector<parameter> const& parameters, std::string prefix)
        : tensors_(tensors), parameters_(parameters), prefix_(std::move(prefix)) {}

    std::string tensors() const {
        std::string text;
        for (std::size_t at = 0; at < tensors_.size(); ++at) {
            tensor const& t = tensors_[at];
            text += "tensor<" + type_text(t.type) + "> const " + tensor_name(static_cast<int>(at)) + "{" + quoted(t.name) + "};";
            text += "  // " + std::string(t.special ? "NaN, infinities and -0.0 among them; " : "") + "up to " +
                    std::to_string(t.magnitude) + "\n";
            for (std::size_t d = 0; d < t.padded_to.size(); ++d)
                text += "axis const " + padded_axis(static_cast<int>(at), d) + "{" +
                        quoted("p" + std::to_string(at) + "_" + std::to_string(d)) + ", " + std::to_string(t.padded_to[d]) + "};\n";
        }
        for (std::size_t at = 0; at < parameters_.size(); ++at)
            text += "parameter<" + type_text(parameters_[at].type) + "> const parameter" + std::to_string(at) + "{" +
                    quoted(parameters_[at].name) + "};  // " + std::to_string(parameters_[at].given) + "\n";
        return text;
    }
    std::string axes(stage const& s, int which) {
        stage_ = &s, number_ = which;
        std::string text;
        for (std::size_t at = 0; at < s.axes.size(); ++at) {
            axis const& a = s.axes[at];
            std::string const extent = !a.open      ? std::to_string(a.extent)
                                       : a.most > 0 ? "dynamic.up_to(" + std::to_string(a.most) + ")"
                                                    : "dynamic";
            text += "axis const " + axis_name(static_cast<int>(at)) + "{" + quoted(a.name) + ", " + extent + "};";
            text += a.open ? "  // at " + std::to_string(a.extent) + "\n" : "\n";
        }
        return text;
    }
    /// `t0(a, b) = …` @pre axes(s, which)
    std::string stage_text() const {
        stage const& s = *stage_;
        std::string text = target() + " ";
        bool const reduces = s.reduction != operation::constant && !(s.continues && s.axes.size() == static_cast<std::size_t>(s.rank));
        std::string body = expression(s.body);
        if (reduces && s.named) {
            body = std::string(s.reduction == operation::reduce_sum       ? "sum("
                               : s.reduction == operation::reduce_maximum ? "maximum("
                                                                          : "minimum(");
            for (std::size_t at = static_cast<std::size_t>(s.rank); at < s.axes.size(); ++at)
                body += axis_name(static_cast<int>(at)) + ", ";
            body += expression(s.body) + ")";
        }
        if (reduces && !s.named && !s.start && !s.continues) return text + "+= " + body;
        if (!s.start && !s.continues) return text + "= " + body;
        std::string const begins = s.continues ? target() : expression(*s.start);
        std::string const left = s.start_leads ? begins : body, right = s.start_leads ? body : begins;
        if (s.reduction == operation::reduce_maximum) return text + "= max(" + left + ", " + right + ")";
        if (s.reduction == operation::reduce_minimum) return text + "= min(" + left + ", " + right + ")";
        return text + "= " + left + " + " + right;
    }
    std::string tensor_name(int which) const { return prefix_ + "t" + std::to_string(which); }

  private:
    std::string axis_name(int which) const { return prefix_ + "a" + std::to_string(number_) + "_" + std::to_string(which); }
    std::string padded_axis(int tensor_at, std::size_t dimension) const {
        return prefix_ + "p" + std::to_string(tensor_at) + "_" + std::to_string(dimension);
    }
    std::string target() const {
        std::string text;
        for (int at = 0; at < stage_->rank; ++at) text += (at > 0 ? ", " : "") + axis_name(at);
        return tensor_name(stage_->output) + "(" + text + ")";
    }
    std::string index_text(index const& i) const {
        std::string text;
        for (index::term const& t : i.terms) {
            bool const subtracts = !text.empty() && t.factor == -1;
            std::string const part = t.factor == 1 || subtracts ? axis_name(t.axis) : std::to_string(t.factor) + " * " + axis_name(t.axis);
            text += text.empty() ? part : (subtracts ? " - " : " + ") + part;
        }
        if (text.empty()) return std::to_string(i.constant);
        return i.constant == 0 ? text : text + " + " + std::to_string(i.constant);
    }
    std::string expression(value const& v) const {
        using enum operation;
        auto const part = [&](std::size_t at) { return expression(v.arguments[at]); };
        auto const infix = [&](char const* sign) { return "(" + part(0) + " " + sign + " " + part(1) + ")"; };
        auto const call = [&](std::string const& name) {
            std::string text = name + "(";
            for (std::size_t at = 0; at < v.arguments.size(); ++at) text += (at > 0 ? ", " : "") + part(at);
            return text + ")";
        };
        switch (v.op) {
            case constant: return number_text(v.number, v.type);
            case operation::parameter: return "parameter" + std::to_string(v.which);
            case axis_value: return axis_name(v.which);
            case access: {
                std::string text = tensor_name(v.which);
                if (v.padded) {
                    text = "padded(" + text + "(";
                    for (std::size_t d = 0; d < v.at.size(); ++d) text += (d > 0 ? ", " : "") + padded_axis(v.which, d);
                    text += "), " + number_text(v.number, v.type) + ")";
                }
                text += "(";
                for (std::size_t d = 0; d < v.at.size(); ++d)
                    text += (d > 0 ? ", " : "") +
                            (v.at[d].computed < 0 ? index_text(v.at[d]) : part(static_cast<std::size_t>(v.at[d].computed)));
                return text + ")";
            }
            case add: return infix("+");
            case subtract: return infix("-");
            case multiply: return infix("*");
            case divide: return infix("/");
            case modulo: return infix("%");
            case minimum: return call("min");
            case maximum: return call("max");
            case equal: return infix("==");
            case not_equal: return infix("!=");
            case less: return infix("<");
            case less_equal: return infix("<=");
            case logical_and: return infix("&&");
            case logical_or: return infix("||");
            case logical_not: return "!" + part(0);
            case shift_left: return infix("<<");
            case shift_right: return infix(">>");
            case operation::select: return call("select");
            case cast: return call("cast<" + type_text(v.type) + ">");
            case reinterpret: return call("reinterpret<" + type_text(v.type) + ">");
            case invalid: {
                std::string text = library_functions().at(static_cast<std::size_t>(v.which)).text;
                for (std::size_t at = 0; at < v.arguments.size(); ++at) {
                    std::size_t const place = text.find("%" + std::to_string(at));
                    text.replace(place, 2, part(at));
                }
                return text;
            }
            default: return "?";
        }
    }

    std::vector<tensor> const& tensors_;
    std::vector<parameter> const& parameters_;
    std::string prefix_;
    stage const* stage_ = nullptr;
    int number_ = 0;
};

std::string machine_text(machine_parts const& parts) {
    std::string text = "machine where(\"drawn\");\n", memories;
    auto const memory_name = [&](ir::label const& name) {
        for (std::size_t at = 0; at < parts.memories.size(); ++at) {
            if (parts.memories[at].name == name) return "memory" + std::to_string(at);
        }
        return std::string("memory{.name = ") + quoted(name) + "}";
    };
    auto const engine_name = [&](ir::label const& name) {
        for (std::size_t at = 0; at < parts.engines.size(); ++at) {
            if (parts.engines[at].name == name) return "engine" + std::to_string(at);
        }
        return std::string("engine{") + quoted(name) + "}";
    };
    auto const yes_no = [](bool is) { return is ? "true" : "false"; };
    for (std::size_t at = 0; at < parts.memories.size(); ++at) {
        memory const& m = parts.memories[at];
        text += "memory const memory" + std::to_string(at) + "{.name = " + quoted(m.name);
        if (m.base != no_address) text += ", .base = " + std::to_string(m.base);
        text += ", .capacity = " + std::to_string(m.capacity) + ", .alignment = " + std::to_string(m.alignment) +
                ", .banks = " + std::to_string(m.banks) + ", .ports = " + std::to_string(m.ports) +
                ", .host_visible = " + yes_no(m.host_visible);
        if (m.registers > 0) text += ", .registers = " + std::to_string(m.registers);
        if (m.address_unit > 0) text += ", .address_unit = " + std::to_string(m.address_unit);
        text += ", .wait_cycles = " + std::to_string(m.wait_cycles);
        if (m.per_core) text += ", .per_core = true";
        for (int core = 0; m.has_core_bases() && core < max_cores && m.core_bases[core] != 0; ++core)
            text += (core == 0 ? ", .core_bases = {" : ", ") + std::to_string(m.core_bases[core]);
        if (m.has_core_bases()) text += "}";
        if (m.is_cached())
            text += ", .cache_line = " + std::to_string(m.cache_line) + ", .line_cycles = " + std::to_string(m.line_cycles) +
                    ", .upkeep_cycles = " + std::to_string(m.upkeep_cycles);
        text += "};\nwhere.add(memory" + std::to_string(at) + ");\n";
    }
    for (std::size_t at = 0; at < parts.engines.size(); ++at) {
        engine const& e = parts.engines[at];
        text += "engine const engine" + std::to_string(at) + "{.name = " + quoted(e.name) + ", .depth = " + std::to_string(e.depth) +
                ", .channels = " + std::to_string(e.channels) + ", .completes = completion::" + name_of(e.completes) +
                ", .interlocked = " + yes_no(e.interlocked) + (e.per_core ? ", .per_core = true" : "") + "};\nwhere.add(engine" +
                std::to_string(at) + ");\n";
    }
    for (tilewright::tokens const& t : parts.tokens)
        text += "where.add(tokens(" + engine_name(t.from) + ", " + engine_name(t.to) + ").named(" + quoted(t.name) + ").queues(" +
                std::to_string(t.queue_count) + ").holds(" + std::to_string(t.capacity) + "));\n";
    for (std::size_t at = 0; at < parts.cores.size(); ++at) {
        core const& c = parts.cores[at];
        text += "core const core" + std::to_string(at) + "{.name = " + quoted(c.name) +
                ", .costs = {.load = " + std::to_string(c.costs.load) + ", .store = " + std::to_string(c.costs.store) +
                ", .multiply = " + std::to_string(c.costs.multiply) + "}";
        if (c.count > 1)
            text += ", .count = " + std::to_string(c.count) + ", .barrier_cycles = " + std::to_string(c.barrier_cycles) +
                    ", .signal_queues = " + std::to_string(c.signal_queues) + ", .signal_capacity = " + std::to_string(c.signal_capacity) +
                    ", .signal_cycles = " + std::to_string(c.signal_cycles);
        text += "};\nwhere.add(core" + std::to_string(at) + ");\n";
    }
    for (std::size_t at = 0; at < parts.configurations.size(); ++at) {
        configuration const& c = parts.configurations[at];
        text += "configuration const configuration" + std::to_string(at) + "{" + quoted(c.name) + ", " + std::to_string(c.value_count) +
                "};\nwhere.add(configuration" + std::to_string(at) + ");\n";
    }
    auto const uses_text = [&](std::vector<used_registers> const& uses, instruction const* by, std::string const& prefix) {
        std::string made;
        for (used_registers const& used : uses) {
            std::size_t at = 0;
            while (at < parts.configurations.size() && parts.configurations[at].name != ir::label(used.configuration.c_str())) ++at;
            made += ".uses(configuration" + std::to_string(at);
            for (used_registers::value const& v : used.values) {
                std::string const operand = by != nullptr ? prefix + "t" + std::to_string(v.operand) : "";
                std::string const dimension = std::to_string(v.dimension);
                made += ", argument::";
                if (v.is == role::literal) made += "literal(" + std::to_string(v.literal) + ")";
                else if (v.is == role::covered) made += "extent(" + prefix + "a0_" + std::to_string(v.operand) + ")";
                else if (v.is == role::stride) made += "stride(" + operand + ", " + dimension + ")";
                else made += std::string(name_of(v.is)) + "(" + dimension + ")";
            }
            made += ")";
        }
        return made;
    };
    for (move const& m : parts.transfers) {
        transfer const& t = m.what;
        text += "where.add(transfer(" + quoted(t.name) + ", " + memory_name(t.source) + ", " + memory_name(t.destination);
        if (m.fills)
            text += ", tensor<" + type_text(m.fills->type) + ">{\"d\"}(axis{\"e\", 1}) = " + number_text(m.fills->number, m.fills->type);
        text += ")";
        if (!t.core_name.empty()) text += ".on(core0)";
        if (!t.engine_name.empty()) text += ".on(" + engine_name(t.engine_name) + ")";
        if (t.is_asynchronous) text += ".asynchronous()";
        if (t.is_multicast) text += ".multicast()";
        if (t.core_name.empty()) text += ".dimensions(" + std::to_string(t.most_dimensions) + ")";
        if (t.largest_row_bytes > 0) text += ".row_limit(" + std::to_string(t.largest_row_bytes) + ")";
        if (t.largest_extent > 0) text += ".extent_limit(" + std::to_string(t.largest_extent) + ")";
        if (t.border.is) text += ".fills_border(" + (t.border.any_value ? "" : std::to_string(t.border.value)) + ")";
        if (t.border.longest > 0) text += ".pad_limit(" + std::to_string(t.border.longest) + ")";
        if (t.row_granularity > 1) text += ".granularity(" + std::to_string(t.row_granularity) + ")";
        if (t.address_alignment > 1) text += ".alignment(" + std::to_string(t.address_alignment) + ")";
        text += uses_text(m.uses, nullptr, "");
        text += ".cost({" + std::to_string(t.costs.latency) + ", " + std::to_string(t.costs.setup) + ", " +
                std::to_string(t.costs.bytes_per_cycle) + "}));\n";
    }
    for (std::size_t at = 0; at < parts.instructions.size(); ++at) {
        instruction const& i = parts.instructions[at];
        std::vector<parameter> const none;
        writer w(i.tensors, none, "i" + std::to_string(at));
        text += w.tensors();
        text += w.axes(i.does, 0);
        text += "where.add(intrinsic(" + quoted(i.name) + ", " + w.stage_text() + ")";
        for (std::size_t o = 0; o < i.tensors.size(); ++o) {
            char const* const how = static_cast<int>(o) != i.does.output ? "reads" : i.updates ? "updates" : "writes";
            text += std::string(".") + how + "(" + w.tensor_name(static_cast<int>(o)) + ", " +
                    memory_name(ir::label(i.memories[o].c_str())) + ")";
        }
        if (i.in_place >= 0) text += ".in_place(" + w.tensor_name(i.in_place) + ")";
        if (!i.engine.empty()) text += ".on(" + engine_name(ir::label(i.engine.c_str())) + ")";
        if (i.asynchronous) text += ".asynchronous()";
        text += uses_text(i.uses, &i, "i" + std::to_string(at));
        for (std::size_t a = 0; a < i.does.axes.size(); ++a) {
            if (i.flexible >> a & 1) text += ".up_to(i" + std::to_string(at) + "a0_" + std::to_string(a) + ")";
        }
        text += ".cycles(" + std::to_string(i.costs.cycles);
        for (int t = 0; t < i.costs.term_count; ++t) {
            cycle_term const& term = i.costs.terms[t];
            text += ", " + std::to_string(term.cycles);
            for (int f = 0; f < term.factor_count; ++f) {
                cycle_factor const& factor = term.factors[f];
                std::string axes;
                for (std::size_t a = 0; a < i.does.axes.size(); ++a)
                    if (factor.has(static_cast<int>(a)))
                        axes += (axes.empty() ? "i" : ", i") + std::to_string(at) + "a0_" + std::to_string(a);
                text += " * per(" + axes + ").in_units_of(" + std::to_string(factor.unit) + ")";
            }
        }
        text += "));\n";
    }
    return text;
}

std::string layout_text(directive const& d) {
    static constexpr char const* names[] = {"i", "j", "k", "l", "m", "n"};
    std::string arguments, parts;
    for (int at = 0; at < d.coordinates; ++at) arguments += std::string(at > 0 ? ", auto " : "auto ") + names[at];
    for (layout_part const& p : d.layout) {
        if (d.separates && &p == &d.layout[1]) parts += ", separator";
        parts += (parts.empty() ? "" : ", ") + std::string(names[p.dimension]);
        if (p.below > 0) parts += " % " + std::to_string(p.below);
        if (p.step > 1) parts += " / " + std::to_string(p.step);
    }
    if (d.separates && d.layout.size() == 1) parts += ", separator";
    return "[](" + arguments + ") { return index_map(" + parts + "); }";
}

}  // namespace

std::string cpp_of(drawn_case const& of) {
    writer w(of.tensors, of.parameters, "");
    std::string text = "// seed " + std::to_string(of.seed) + "\n" + machine_text(of.where) + w.tensors(), stages;
    for (std::size_t at = 0; at < of.stages.size(); ++at) {
        text += w.axes(of.stages[at], static_cast<int>(at));
        stages += (at > 0 ? ",\n    " : "") + w.stage_text();
    }
    text += of.stages.size() == 1 ? "auto const work = " + stages + ";\n" : "auto const work = stages(\n    " + stages + ");\n";
    text += "schedule made(work, where);\nmade";
    for (directive const& d : of.directives) {
        std::vector<std::string> given;
        bool const names_memory = d.kind == directive_kind::store_in || d.kind == directive_kind::cache_read ||
                                  d.kind == directive_kind::cache_write || d.kind == directive_kind::reads ||
                                  d.kind == directive_kind::writes;
        if (d.tensor >= 0) given.push_back(w.tensor_name(d.tensor));
        if (d.kind == directive_kind::layout) given.push_back(layout_text(d));
        for (std::string const& name : d.names) given.push_back(names_memory ? "memory{.name = " + quoted(name) + "}" : quoted(name));
        if (d.kind == directive_kind::distribute || d.kind == directive_kind::on) given.back() = "core0";
        if (d.kind == directive_kind::by) given = {"transfer_description{.name = " + quoted(d.names.at(0)) + "}"};
        if (d.kind == directive_kind::tensorize) {
            given.erase(given.begin());
            given.push_back("intrinsic_description{.name = " + quoted(d.names.at(0)) + "}");
        }
        if (d.kind == directive_kind::prefetch) given.insert(given.begin(), std::to_string(d.numbers.at(0)));
        else
            for (std::int64_t number : d.numbers) given.push_back(std::to_string(number));
        std::string all;
        for (std::string const& one : given) all += (all.empty() ? "" : ", ") + one;
        text += std::string("\n    .") + name_of(d.kind) + "(" + all + ")";
    }
    return text + ";\nplan_value const plan = make_plan(made);\n";
}

}  // namespace fuzz
