#pragma once
#include <array>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/program/program.hpp>
#include <vector>

#include "oracle/oracle.hpp"

/// Programs as plain values: what is run, what is printed, and what is left when one is made smaller all follow from the value.
namespace programs {

using namespace tilewright;
using element = std::uint32_t;

/// A tensor of the program, of two dimensions.
struct drawn_tensor {
    enum class kind : std::uint8_t { input, constant, between, pinned, spills, output };
    std::string name;
    int rows = 1, columns = 1;  ///< of what kernels make, they follow from what they read
    kind is = kind::between;
    std::string where{};  ///< memory; of what is between kernels, none

    bool given() const { return is == kind::input || is == kind::constant; }
};

/// A directive of a schedule: `.IS(WHAT, MEMORIES…)`.
struct drawn_directive {
    directive_kind is{};
    std::string what{};                   ///< a tensor of the kernel, a loop, or a transfer
    std::vector<std::string> memories{};  ///< the best first
    int number = 0;                       ///< of `buffers`; of `distribute`, how many cores, 0: all
    std::vector<std::string> cores{};     ///< of `distribute`: their kinds, one or two
};

/// A kernel, r of x and perhaps y.
struct drawn_kernel {
    enum class kind : std::uint8_t { scaled, added, turned, product, slice, twice, copied };
    std::string name;
    kind is{};
    int by = 0;                   ///< agent
    int first = -1, second = -1;  ///< tensors that it reads, x and y
    int result = -1;
    std::vector<drawn_directive> directives{};
    int cut = 0;  ///< two kernels of this kind make the rows of the result before this one, and from it on; 0: one makes all
};

struct drawn_machine {
    std::string name;
    std::vector<std::string> memories{}, engines{};
    std::vector<transfer> transfers{};
    std::vector<core> cores{};
};

struct drawn_agent {
    std::string name;
    int on = 0;              ///< machine
    bool aside = false;      ///< by NAME_start and NAME_join
    std::string engine{};    ///< that its copies are jobs of
    bool only_with = false;  ///< the program is told of it, though it may run no kernel
};

/// A program. Tensors and kernels are in their order: each kernel makes the next tensor that is not given.
struct recipe {
    std::vector<memory> memories{};
    std::vector<engine> engines{};
    std::vector<drawn_machine> machines{};
    std::vector<drawn_agent> agents{};
    std::vector<drawn_tensor> tensors{};
    std::vector<drawn_kernel> kernels{};
    bool copies = true;  ///< transfers are put between kernels

    drawn_tensor const& tensor_at(int which) const { return tensors.at(static_cast<std::size_t>(which)); }
    drawn_tensor& tensor_at(int which) { return tensors.at(static_cast<std::size_t>(which)); }
};

/// Elements of what is given: none like its neighbours.
inline element given_element(int tensor, int at) {
    auto const mixed = 2654435761u * (1000u * static_cast<element>(tensor) + static_cast<element>(at) + 1u);
    return mixed ^ mixed >> 15;
}

/// A program that is built from a recipe, everything that it points at, and the values of its tensors.
struct drawn_program {
    recipe from;
    std::deque<machine> machines{};
    std::vector<agent> agents{};
    std::deque<std::vector<ir::node>> computations{};
    std::deque<schedule> schedules{};
    program what{ir::label("drawn")};
    std::vector<std::vector<element>> values{};  ///< of each tensor, what the oracle says

    drawn_program() = default;
    drawn_program(drawn_program const&) = delete;
    /// @throws std::invalid_argument when there is no such tensor
    std::vector<element> const& values_of(ir::label const& name) const {
        for (std::size_t at = 0; at < from.tensors.size(); ++at) {
            if (name == ir::label(from.tensors[at].name.c_str())) return values.at(at);
        }
        throw std::invalid_argument("no tensor is called " + name.str());
    }
};

namespace building {

template <class Named>
Named const& named(std::vector<Named> const& all, std::string const& name) {
    for (Named const& one : all) {
        if (one.name == ir::label(name.c_str())) return one;
    }
    throw std::invalid_argument("nothing is called " + name);
}
inline any_tensor tensor_named(std::string const& name) { return {ir::label(name.c_str()), scalar_type_of<element>()}; }
template <int Count>
computation_view keep(drawn_program& in, computation<Count> const& what) {
    auto& nodes = in.computations.emplace_back(begin(what.nodes), end(what.nodes));
    return {nodes.data(), Count};
}
/// What a kernel computes, over axes of the extents of its result, or of so many rows of it.
inline computation_view computation_of(drawn_program& in, drawn_kernel const& k, int rows) {
    drawn_tensor const &x_of = in.from.tensor_at(k.first), &r_of = in.from.tensor_at(k.result);
    axis const i{"i", rows}, j{"j", r_of.columns}, m{"m", x_of.columns};
    tensor<element> const x{"x"}, y{"y"}, r{"r"}, mid{"mid"};
    switch (k.is) {
        case drawn_kernel::kind::scaled: return keep(in, r(i, j) = x(i, j) * 3u + 7u);
        case drawn_kernel::kind::added: return keep(in, r(i, j) = x(i, j) + y(i, j) * 5u);
        case drawn_kernel::kind::turned: return keep(in, r(i, j) = x(j, i));
        case drawn_kernel::kind::twice: return keep(in, stages(mid(i, j) = x(i, j) * 3u + 7u, r(i, j) = mid(i, j) * 5u + 1u));
        case drawn_kernel::kind::product: return keep(in, r(i, j) += x(i, m) * y(m, j));
        case drawn_kernel::kind::copied: return keep(in, r(i, j) = x(i, j));
        case drawn_kernel::kind::slice: return keep(in, r(i, j) = x(i + 1, j + 2));
    }
    throw std::invalid_argument("no such kernel");
}
inline void direct(schedule& s, drawn_directive const& d, recipe const& from) {
    using enum directive_kind;
    any_tensor const what = tensor_named(d.what);
    any_of where;
    for (std::string const& name : d.memories) where.names[where.count++] = named(from.memories, name).name;
    auto const only = [&]() -> memory const& { return named(from.memories, d.memories.at(0)); };
    switch (d.is) {
        case reads: s.reads(what, where); break;
        case writes: s.writes(what, where); break;
        case store_in: s.store_in(what, only()); break;
        case cache_read: s.cache_read(what, only()); break;
        case cache_write: s.cache_write(what, only()); break;
        case stage: s.stage(what); break;
        case at: s.at(loop_name(d.what.c_str())); break;
        case buffers: s.buffers(d.number); break;
        case distribute: {
            auto const kind = [&](std::size_t which) { return core{.name = ir::label(d.cores.at(which).c_str())}; };
            if (d.cores.size() > 1) s.distribute(loop_name(d.what.c_str()), kind(0), kind(1));
            else if (d.number > 0) s.distribute(loop_name(d.what.c_str()), kind(0), d.number);
            else s.distribute(loop_name(d.what.c_str()), kind(0));
            break;
        }
        case by: s.by(transfer_description{.name = ir::label(d.what.c_str())}); break;
        default: throw std::invalid_argument(std::string("no such directive: ") + name_of(d.is));
    }
}
/// Runs a kernel, or one of the two that make a result in parts: that of the rows from `first` on, `rows` of them.
inline void run_rows(drawn_program& in, drawn_kernel const& k, int first, int rows) {
    agent const& by = in.agents.at(static_cast<std::size_t>(k.by));
    schedule& s = in.schedules.emplace_back(computation_of(in, k, rows), *by.where);
    for (drawn_directive const& d : k.directives) direct(s, d, in.from);
    in.what.run(ir::label((k.name + (first > 0 ? "_rest" : "")).c_str()), by, s);
    auto const bind = [&](char const* of_kernel, int which, bool columns = false) {
        in.what.bind(tensor_named(of_kernel), tensor_named(in.from.tensor_at(which).name));
        if (k.cut > 0) in.what.part(tensor_named(of_kernel), {columns ? 0 : first, columns ? first : 0});
    };
    bind("x", k.first, k.is == drawn_kernel::kind::turned);
    bind("r", k.result);
    if (k.second >= 0 && k.is == drawn_kernel::kind::product)
        in.what.bind(tensor_named("y"), tensor_named(in.from.tensor_at(k.second).name));
    else if (k.second >= 0) bind("y", k.second);
}
/// What kernels compute, one after the other.
inline void compute(drawn_program& in) {
    for (std::size_t at = 0; at < in.from.kernels.size(); ++at) {
        drawn_kernel const& k = in.from.kernels[at];
        std::vector<oracle::operand> operands;
        auto const read = [&](ir::label const& name, int which) {
            drawn_tensor const& t = in.from.tensor_at(which);
            operands.emplace_back(oracle::tensor_box{name, scalar_type_of<element>(), 2, {}, {t.rows, t.columns}}, in.values[which].data());
        };
        read("x", k.first);
        if (k.second >= 0) read("y", k.second);
        oracle::result const made = oracle::evaluate(computation_of(in, k, in.from.tensor_at(k.result).rows), operands);
        in.values[k.result].assign(made.as<element>(), made.as<element>() + made.box.elements());
    }
}

}  // namespace building

/// @throws std::invalid_argument when the recipe names what it does not have
inline std::unique_ptr<drawn_program> build(recipe const& of) {
    using enum drawn_tensor::kind;
    auto made = std::make_unique<drawn_program>();
    made->from = of;
    for (drawn_machine const& m : of.machines) {
        machine& where = made->machines.emplace_back(ir::label(m.name.c_str()));
        for (std::string const& name : m.memories) where.add(building::named(of.memories, name));
        for (std::string const& name : m.engines) where.add(building::named(of.engines, name));
        for (transfer const& t : m.transfers) where.add(t);
        for (core const& c : m.cores) where.add(c);
    }
    for (drawn_agent const& a : of.agents) {
        agent one(ir::label(a.name.c_str()), made->machines.at(static_cast<std::size_t>(a.on)));
        if (a.aside) one = one.aside(ir::label((a.name + "_start").c_str()), ir::label((a.name + "_join").c_str()));
        if (!a.engine.empty()) one = one.copies_on(building::named(of.engines, a.engine));
        made->agents.push_back(one);
        if (a.only_with) made->what.with(one);
    }
    made->values.resize(of.tensors.size());
    for (std::size_t at = 0, kernel = 0; at < of.tensors.size(); ++at) {
        drawn_tensor const& t = of.tensors[at];
        for (int one = 0; t.given() && one < t.rows * t.columns; ++one)
            made->values[at].push_back(given_element(static_cast<int>(at), one));
        if (t.is == input) made->what.input(building::tensor_named(t.name), building::named(of.memories, t.where));
        std::vector<element> const& values = made->values[at];
        if (t.is == constant)
            made->what.constant(building::tensor_named(t.name), building::named(of.memories, t.where), values.data(), t.rows * t.columns);
        if (t.given()) continue;
        drawn_kernel const& k = of.kernels.at(kernel++);
        building::run_rows(*made, k, 0, k.cut > 0 ? k.cut : t.rows);
        if (k.cut > 0) building::run_rows(*made, k, k.cut, t.rows - k.cut);
    }
    for (drawn_tensor const& t : of.tensors) {
        any_tensor const name = building::tensor_named(t.name);
        if (t.is == output) made->what.output(name, building::named(of.memories, t.where));
        if (t.is == pinned) made->what.pin(name, building::named(of.memories, t.where));
        if (t.is == spills) made->what.may_spill(name, building::named(of.memories, t.where));
    }
    if (!of.copies) made->what.without_copies();
    building::compute(*made);
    return made;
}

}  // namespace programs
