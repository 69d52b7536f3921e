#pragma once
#include <algorithm>
#include <tilewright/base/label_text.hpp>

#include "program_recipe.hpp"

namespace programs {

namespace writing {

inline std::string list_of(std::vector<std::string> const& parts) {
    std::string text;
    for (std::string const& one : parts) text += (text.empty() ? "" : ", ") + one;
    return text;
}
/// What kernels compute, in terms of `i`, `j`, `m`.
inline char const* computation_text(drawn_kernel::kind is) {
    constexpr char const* texts[] = {"r(i, j) = x(i, j) * 3u + 7u",
                                     "r(i, j) = x(i, j) + y(i, j) * 5u",
                                     "r(i, j) = x(j, i)",
                                     "r(i, j) += x(i, m) * y(m, j)",
                                     "r(i, j) = x(i + 1, j + 2)",
                                     "stages(mid(i, j) = x(i, j) * 3u + 7u, r(i, j) = mid(i, j) * 5u + 1u)",
                                     "r(i, j) = x(i, j)"};
    return texts[static_cast<int>(is)];
}
inline std::string text_of(memory const& m) {
    std::string const name = m.name.str();
    std::string text = "memory const " + name + "{.name = \"" + name + "\"";
    if (m.has_address()) text += ", .base = " + std::to_string(m.base);
    text += ", .capacity = " + std::to_string(m.capacity) + ", .alignment = " + std::to_string(m.alignment);
    if (m.banks != 1) text += ", .banks = " + std::to_string(m.banks);
    if (m.per_agent) text += ", .per_agent = true";
    if (m.per_core) text += ", .per_core = true";
    if (m.wait_cycles != 0) text += ", .wait_cycles = " + std::to_string(m.wait_cycles);
    return text + "};\n";
}
inline std::string text_of(engine const& e) {
    std::string const name = e.name.str();
    std::string text = "engine const " + name + "{.name = \"" + name + "\", .depth = " + std::to_string(e.depth) +
                       ", .channels = " + std::to_string(e.channels);
    if (e.completes != completion::by_transfer) text += std::string(", .completes = completion::") + name_of(e.completes);
    return text + (e.per_agent ? ", .per_agent = true" : "") + (e.per_core ? ", .per_core = true};\n" : "};\n");
}
inline std::string text_of(core const& c) {
    std::string const name = c.name.str();
    return "core const " + name + "{.name = \"" + name + "\", .costs = {.load = " + std::to_string(c.costs.load) +
           ", .arithmetic = " + std::to_string(c.costs.arithmetic) + "}, .count = " + std::to_string(c.count) +
           ", .barrier_cycles = " + std::to_string(c.barrier_cycles) + "};\n";
}
inline std::string text_of(transfer const& t) {
    std::string text = "transfer(\"" + t.name.str() + "\", " + t.source.str() + ", " + t.destination.str() + ")";
    if (!t.engine_name.empty()) text += ".on(" + t.engine_name.str() + ")";
    if (t.is_asynchronous) text += ".asynchronous()";
    if (t.most_dimensions != 1) text += ".dimensions(" + std::to_string(t.most_dimensions) + ")";
    if (t.largest_row_bytes != 0) text += ".row_limit(" + std::to_string(t.largest_row_bytes) + ")";
    return text + ".cost({" + std::to_string(t.costs.latency) + ", " + std::to_string(t.costs.setup) + ", " +
           std::to_string(t.costs.bytes_per_cycle) + "})";
}
inline std::string text_of(drawn_directive const& d) {
    std::vector<std::string> parts;
    if (d.is == directive_kind::buffers) parts = {std::to_string(d.number)};
    else if (d.is == directive_kind::by) parts = {"transfer_description{.name = \"" + d.what + "\"}"};
    else parts = {d.what};
    parts.insert(parts.end(), d.cores.begin(), d.cores.end());
    if (d.is == directive_kind::distribute && d.number > 0) parts.push_back(std::to_string(d.number));
    if (d.memories.size() == 1) parts.push_back(d.memories[0]);
    if (d.memories.size() > 1) parts.push_back("any_of(" + list_of(d.memories) + ")");
    return std::string(".") + name_of(d.is) + "(" + list_of(parts) + ")";
}

/// A kernel, or one of the two that make a result in parts: that of the rows from `first` on, `rows` of them.
inline std::string text_of_rows(recipe const& of, drawn_kernel const& k, std::string const& machine_name, int first, int rows) {
    bool const is_product = k.is == drawn_kernel::kind::product;
    std::string const name = k.name + (first > 0 ? "_rest" : ""), does = name + "_does", made = name + "_schedule";
    std::string text = "auto const " + does + " = [&] {\n    axis const i{\"i\", " + std::to_string(rows) + "}, j{\"j\", " +
                       std::to_string(of.tensor_at(k.result).columns) + "}" +
                       (is_product ? ", m{\"m\", " + std::to_string(of.tensor_at(k.first).columns) + "}" : "") + ";\n    return " +
                       computation_text(k.is) + ";\n}();\nschedule const " + made + " = schedule(" + does + ", " + machine_name + ")";
    for (drawn_directive d : k.directives) {
        if (d.is == directive_kind::at || d.is == directive_kind::distribute) d.what = "\"" + d.what + "\"";
        text += text_of(d);
    }
    text += ";\ndrawn.run(\"" + name + "\", " + of.agents.at(static_cast<std::size_t>(k.by)).name + ", " + made + ")";
    auto const bind = [&](std::string const& of_kernel, int which, bool columns = false, bool whole = false) {
        text += ".bind(" + of_kernel + ", " + of.tensor_at(which).name + ")";
        std::string const row = std::to_string(first);
        if (k.cut > 0 && !whole) text += ".part(" + of_kernel + ", {" + (columns ? "0, " + row : row + ", 0") + "})";
    };
    bind("x", k.first, k.is == drawn_kernel::kind::turned), bind("r", k.result);
    if (k.second >= 0) bind("y", k.second, false, is_product);
    return text + ";\n";
}

}  // namespace writing

/// The recipe as C++ that makes its program, to paste into a test that includes program_recipe.hpp.
inline std::string cpp_of(recipe const& of) {
    using enum drawn_tensor::kind;
    std::string text;
    for (memory const& m : of.memories) text += writing::text_of(m);
    for (engine const& e : of.engines) text += writing::text_of(e);
    auto const machine_name = [&](int which) { return of.machines.at(static_cast<std::size_t>(which)).name + "_machine"; };
    for (std::size_t at = 0; at < of.machines.size(); ++at) {
        drawn_machine const& m = of.machines[at];
        std::string const name = machine_name(static_cast<int>(at));
        for (core const& c : m.cores) text += writing::text_of(c);
        text += "machine " + name + "(\"" + m.name + "\"";
        for (auto const* parts : {&m.memories, &m.engines}) {
            for (std::string const& part : *parts) text += ", " + part;
        }
        text += ");\n";
        for (core const& c : m.cores) text += name + ".add(" + c.name.str() + ");\n";
        for (transfer const& t : m.transfers) text += name + ".add(" + writing::text_of(t) + ");\n";
    }
    text += "program drawn(\"drawn\");\n";
    for (std::size_t at = 0; at < of.agents.size(); ++at) {
        drawn_agent const& a = of.agents[at];
        auto const is_its = [&](drawn_kernel const& k) { return k.by == static_cast<int>(at); };
        if (!a.only_with && std::none_of(of.kernels.begin(), of.kernels.end(), is_its)) continue;
        text += "agent const " + a.name + " = agent(\"" + a.name + "\", " + machine_name(a.on) + ")";
        if (a.aside) text += ".aside(\"" + a.name + "_start\", \"" + a.name + "_join\")";
        if (!a.engine.empty()) text += ".copies_on(" + a.engine + ")";
        text += ";\n";
        if (a.only_with) text += "drawn.with(" + a.name + ");\n";
    }
    text += "tensor<std::uint32_t> const x{\"x\"}, y{\"y\"}, r{\"r\"}, mid{\"mid\"};\n";
    std::size_t kernel = 0;
    for (std::size_t at = 0; at < of.tensors.size(); ++at) {
        drawn_tensor const& t = of.tensors[at];
        std::string const shape = std::to_string(t.rows) + " x " + std::to_string(t.columns);
        text += "tensor<std::uint32_t> const " + t.name + "{\"" + t.name + "\"};  // " + shape + "\n";
        if (t.is == input) text += "drawn.input(" + t.name + ", " + t.where + ");\n";
        if (t.is == constant) {
            std::string const count = std::to_string(t.rows * t.columns);
            text += "std::array<std::uint32_t, " + count + "> " + t.name + "_values;\nfor (std::uint32_t at = 0; at < " + count +
                    "; ++at) " + t.name + "_values[at] = programs::given_element(" + std::to_string(at) + ", static_cast<int>(at));\n" +
                    "drawn.constant(" + t.name + ", " + t.where + ", " + t.name + "_values);\n";
        }
        if (t.given()) continue;
        drawn_kernel const& k = of.kernels.at(kernel++);
        drawn_agent const& by = of.agents.at(static_cast<std::size_t>(k.by));
        text += writing::text_of_rows(of, k, machine_name(by.on), 0, k.cut > 0 ? k.cut : t.rows);
        if (k.cut > 0) text += writing::text_of_rows(of, k, machine_name(by.on), k.cut, t.rows - k.cut);
    }
    for (drawn_tensor const& t : of.tensors) {
        if (t.is == output) text += "drawn.output(" + t.name + ", " + t.where + ");\n";
        if (t.is == pinned) text += "drawn.pin(" + t.name + ", " + t.where + ");\n";
        if (t.is == spills) text += "drawn.may_spill(" + t.name + ", " + t.where + ");\n";
    }
    if (!of.copies) text += "drawn.without_copies();\n";
    return text + "auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn, 20'000));\n";
}

}  // namespace programs
