#pragma once
#include <tilewright/halide/blocks.hpp>
#include <tilewright/halide/transfer_call.hpp>

// Transfers that the core carries out: copies in loops and vectors of the generated code.
namespace tilewright::halide {

class code_copies : public code_transfers {
  protected:
    using code_transfers::code_transfers;

    /// The code that moves a region: a call or, for a transfer of the core in the device binding, loops.
    Stmt moved(movement const& m) const {
        if (m.transfer < 0) return where_made(m, reaches_of(m), fill_by_core(m, reaches_of(m)));
        bool const by_core = how_.to == binding::device && !plan_.where->transfers[m.transfer].core_name.empty();
        if (!by_core) return transfer_call(m);
        ir::list<reach> const reaches = reaches_of(m);
        std::vector<int> const buffers{m.source, m.destination};
        Stmt const copied =
            is_in_registers(m.source) || is_in_registers(m.destination) ? copy_registers(m, reaches) : copy_rows(m, reaches);
        Stmt const code = m.hint > 0 && m.hint_in < 0 ? Halide::Internal::Block::make(hints(m), copied) : copied;
        return where_made(m, reaches, with_versions(buffers, across_blocks(buffers, code)));
    }

    /// Asks for what copies by the core read some iterations ahead, if they leave that to the iterations of `loop`: each iteration asks for
    /// its share of the lines. @param open  loops around its body, outermost first, itself the last; undefined when there is nothing to ask
    /// for
    Stmt asked_in(int loop, std::vector<int> const& open) const {
        std::vector<Stmt> all;
        for (int at = 0; at < plan_.movements.size(); ++at) {
            movement const& m = plan_.movements[at];
            if (m.hint <= 0 || m.hint_in != loop || how_.to != binding::device) continue;
            all.push_back(share_of_hints(m, open));
        }
        return all.empty() ? Stmt() : Halide::Internal::Block::make(all);
    }

    /// Code where buffers lie in several blocks.
    Stmt across_blocks(std::vector<int> const& buffers, Stmt code) const {
        for (int at : buffers) {
            buffer const& one = plan_.buffers[at];
            if (one.blocks == 1) continue;
            auto const elements = [&](Expr const& block) {
                Expr const bytes = Halide::cast<std::int64_t>(current_version(at, loop_values(), block)) -
                                   Halide::cast<std::int64_t>(current_version(at, loop_values()));
                return bytes / wide(bytes_of(one.type));
            };
            code = in_blocks(code, name_of_buffer(at), static_cast<int>(one.part_bytes() / bytes_of(one.type)), elements);
        }
        return code;
    }
    /// Binds the names of the buffers that code touches to the versions of this iteration.
    Stmt with_versions(std::vector<int> const& buffers, Stmt code) const {
        for (int at : buffers) {
            if (plan_.buffers[at].versions == 1) continue;
            code = Halide::Internal::LetStmt::make(name_of_buffer(at), reinterpret_to_handle(current_version(at, loop_values())), code);
        }
        return code;
    }

  private:
    /// One side of a copy: where its first element is, and how the loops move it.
    struct side {
        std::string name;
        Halide::Type type;
        Expr first;
        ir::list<Expr> steps;  ///< elements, along each dimension of the movement
        bool in_registers;
    };
    side side_of(movement const& m, bool source) const { return side_of(m, source, loop_values()); }
    side side_of(movement const& m, bool source, loop_value const& loops) const {
        int const at = source ? m.source : m.destination;
        buffer const& b = plan_.buffers[at];
        side found{name_of_buffer(at), stored_type(b.type), 0, {}, is_in_registers(at)};
        auto const& corner = source ? m.source_at : m.destination_at;
        for (int d = 0; d < b.rank; ++d) {
            Expr const index = form_value(plan_, corner[d], loops) - minimum_of(b, found.name, d);
            found.first = found.first + index * stride_of(b, found.name, d);
        }
        found.first = Halide::Internal::simplify(found.first);
        for (int position = 0; position < m.dimension_count; ++position) {
            movement_dimension const& d = m.dimensions[position];
            int const dimension = source ? d.source_dimension : d.destination_dimension;
            std::int64_t const factor = source ? d.source_factor : d.destination_factor;
            found.steps.push_back(Halide::Internal::simplify(stride_of(b, found.name, dimension) * static_cast<int>(factor)));
        }
        return found;
    }
    /// The loops around, that of the buffer as many iterations further as a copy asks ahead.
    loop_value loops_ahead(movement const& m) const {
        return [this, &m](int v) -> Expr { return v == m.hint_loop ? loop_values()(v) + m.hint : loop_values()(v); };
    }
    /// Asks for the lines of cache that a copy reads some iterations ahead. An address that nothing is at is not an error.
    Stmt hints(movement const& m) const {
        using namespace Halide::Internal;
        side const from = side_of(m, true, loops_ahead(m));
        int const size = from.type.bytes(), row = static_cast<int>(m.row_elements);
        Expr first = from.first;
        for (int position = 0; position < m.dimension_count; ++position)
            first = first + Variable::make(Halide::Int(32), from.name + ".hint" + std::to_string(position)) * from.steps[position];
        std::vector<Stmt> lines;
        for (int at = 0; at < row; at += line_bytes / size) lines.push_back(ask_for_line(from, first + at));
        Stmt code = Block::make(lines);
        for (int position = m.dimension_count - 1; position >= 0; --position)
            code = For::make(from.name + ".hint" + std::to_string(position), 0, static_cast<int>(m.dimensions[position].extent),
                             ForType::Serial, Halide::DeviceAPI::None, code);
        return code;
    }
    /// The share that one iteration of the last of the `open` loops has in what a copy asks for ahead, line after line.
    Stmt share_of_hints(movement const& m, std::vector<int> const& open) const {
        using namespace Halide::Internal;
        buffer const& b = plan_.buffers[m.source];
        // The region along the dimensions of the source, and around it the loops over its parts.
        ir::list<std::int64_t> extents(static_cast<std::size_t>(b.rank), 1);
        extents.back() = m.row_elements;
        for (int position = 0; position < m.dimension_count; ++position) {
            movement_dimension const& d = m.dimensions[position];
            extents[d.source_dimension] += (d.extent - 1) * d.source_factor;
        }
        std::int64_t const per_line = line_bytes / bytes_of(b.type);
        extents.back() = (extents.back() + per_line - 1) / per_line;
        std::vector<int> parts;
        for (int d = 0; d < b.rank; ++d) {
            affine const& corner = m.source_at[d];
            for (int t = 0; t < corner.count; ++t) {
                int const v = plan_.term_at(corner, t).variable;
                bool const around =
                    plan_.variables[v].kind == variable_kind::component || std::find(open.begin(), open.end(), v) != open.end();
                if (!around && std::find(parts.begin(), parts.end(), v) == parts.end()) parts.push_back(v);
            }
        }
        std::int64_t lines = 1, iterations = 1;
        for (std::int64_t extent : extents) lines *= extent;
        for (int v : parts) lines *= plan_.variables[v].extent;
        Expr number = 0;
        for (auto loop = std::find(open.begin(), open.end(), m.hint_loop) + 1; loop != open.end(); ++loop) {
            variable const& v = plan_.variables[*loop];
            if (v.trips >= 0) continue;  // how often it runs is not known here: each of its iterations asks for all
            number = number * static_cast<int>(v.extent) + loop_values()(*loop);
            iterations *= v.extent;
        }
        int const share = static_cast<int>((lines + iterations - 1) / iterations);
        // If there are fewer lines, the other iterations ask for the last lines again: that costs less than a condition.
        Expr first = number * share;
        if (iterations * share > lines) first = Halide::min(first, static_cast<int>(lines - share));
        loop_value const ahead = loops_ahead(m);
        std::vector<Stmt> asked;
        for (int line = 0; line < share; ++line) {
            Expr rest = first + line, inside = 0;
            auto const take = [&](std::int64_t extent) {
                Expr const taken = rest % static_cast<int>(extent);
                rest = rest / static_cast<int>(extent);
                return simplify(taken);
            };
            for (int d = b.rank - 1; d >= 0; --d) {
                Expr const step = d == b.rank - 1 ? Expr(static_cast<int>(per_line)) : stride_of(b, name_of_buffer(m.source), d);
                bool const outermost = d == 0 && parts.empty();
                inside = inside + (outermost ? rest : take(extents[d])) * step;
            }
            std::map<int, Expr> part_values;
            for (int v : parts) part_values[v] = take(plan_.variables[v].extent);
            side const from = side_of(m, true, [&](int v) { return part_values.count(v) != 0 ? part_values.at(v) : ahead(v); });
            asked.push_back(ask_for_line(from, from.first + inside));
        }
        return Block::make(asked);
    }
    static constexpr int line_bytes = 64;
    static Stmt ask_for_line(side const& from, Expr const& element) {
        using namespace Halide::Internal;
        Expr const handle = Variable::make(Halide::Handle(), from.name);
        return Evaluate::make(Call::make(from.type, Call::prefetch, {handle, simplify(element), 1, 1}, Call::Intrinsic));
    }
    static Expr lanes_at(Expr const& index, int lanes) { return lanes == 1 ? index : Halide::Internal::Ramp::make(index, 1, lanes); }
    struct element {
        side const& of;
        Expr index;
    };
    /// Copies neighbouring elements. @param predicate of each lane; undefined: all
    Stmt copy_lanes(element const& source, element const& destination, int lanes, Expr const& predicate = {}) const {
        using namespace Halide::Internal;
        side const &from = source.of, &to = destination.of;
        auto const load = [&](element const& at, Expr const& where) {
            return Load::make(at.of.type.with_lanes(lanes), at.of.name, lanes_at(simplify(at.index), lanes), Halide::Buffer<>(),
                              Parameter(), where, ModulusRemainder());
        };
        // An access with a predicate needs an address, and LLVM keeps the data there in loops that ask for lines, because the lines could
        // be its own. So vectors in registers are whole in such loops. In others, an address outside of loops is better than a spill
        // inside.
        bool const whole = asks_in_loops();
        Expr const all = const_true(lanes), some = predicate.defined() ? predicate : all;
        Expr value = load(source, whole && from.in_registers ? all : some);
        if (predicate.defined() && whole && to.in_registers) value = Select::make(predicate, value, load(destination, all));
        return Store::make(to.name, value, lanes_at(simplify(destination.index), lanes), Parameter(), whole && to.in_registers ? all : some,
                           ModulusRemainder());
    }
    bool asks_in_loops() const {
        bool found = false;
        for (int at = 0; at < plan_.movements.size(); ++at) found |= plan_.movements[at].hint_in >= 0;
        return found;
    }
    static Expr narrow(Expr const& number) { return Halide::Internal::simplify(Halide::cast<int>(number)); }

    /// Between memories: loops in the order of the source's addresses, because the source is further away; rows in vectors.
    Stmt copy_rows(movement const& m, ir::list<reach> const& reaches) const {
        using namespace Halide::Internal;
        side const from = side_of(m, true), to = side_of(m, false);
        int const lanes = how_.target.natural_vector_size(from.type), row = static_cast<int>(m.row_elements);
        // The row, from the present iteration of the loops around.
        auto const straight = [&](Expr const& source, Expr const& destination) {
            std::vector<Stmt> all;
            int done = 0;
            if (row / lanes > 4) {
                std::string const vectors = to.name + ".vectors";
                Expr const here = Variable::make(Halide::Int(32), vectors) * lanes;
                all.push_back(For::make(vectors, 0, row / lanes, ForType::Serial, Halide::DeviceAPI::None,
                                        copy_lanes({from, source + here}, {to, destination + here}, lanes)));
                done = row / lanes * lanes;
            }
            for (int width = lanes; width >= 1; width /= 2) {
                for (; row - done >= width; done += width)
                    all.push_back(copy_lanes({from, source + done}, {to, destination + done}, width));
            }
            return Block::make(all);
        };
        auto const clipped = [&](Expr const& source, Expr const& destination, reach const& r) {
            std::string const vectors = to.name + ".vectors", rest = to.name + ".rest";
            Expr const first = narrow(r.begin), count = narrow(r.extent), done = simplify(count / lanes * lanes);
            Expr const vector = first + Variable::make(Halide::Int(32), vectors) * lanes,
                       one = first + done + Variable::make(Halide::Int(32), rest);
            return Block::make(For::make(vectors, 0, simplify(count / lanes), ForType::Serial, Halide::DeviceAPI::None,
                                         copy_lanes({from, source + vector}, {to, destination + vector}, lanes)),
                               For::make(rest, 0, simplify(count - done), ForType::Serial, Halide::DeviceAPI::None,
                                         copy_lanes({from, source + one}, {to, destination + one}, 1)));
        };
        // The dimension that steps furthest through the source is the outermost loop.
        std::vector<int> order;
        for (int position = 0; position < m.dimension_count; ++position) order.push_back(position);
        buffer const& b = plan_.buffers[m.source];
        auto const source_step = [&](int position) {
            movement_dimension const& d = m.dimensions[position];
            return b.stride(d.source_dimension) * d.source_factor;
        };
        std::stable_sort(order.begin(), order.end(), [&](int a, int c) { return source_step(a) > source_step(c); });
        Expr source = from.first, destination = to.first;
        for (int position : order) {
            Expr const here = Variable::make(Halide::Int(32), to.name + ".copied" + std::to_string(position));
            source = source + here * from.steps[position];
            destination = destination + here * to.steps[position];
        }
        reach const& last = reaches.back();
        Stmt code = straight(source, destination);
        if (last.clipped) code = IfThenElse::make(simplify(last.extent == wide(row)), code, clipped(source, destination, last));
        for (auto position = order.rbegin(); position != order.rend(); ++position) {
            reach const& r = reaches[*position];
            code = For::make(to.name + ".copied" + std::to_string(*position), narrow(r.begin), narrow(r.extent), ForType::Serial,
                             Halide::DeviceAPI::None, code);
        }
        return code;
    }

    /// To or from registers: everything is written out, a vector for each register.
    Stmt copy_registers(movement const& m, ir::list<reach> const& reaches) const {
        using namespace Halide::Internal;
        side const from = side_of(m, true), to = side_of(m, false);
        buffer const& held = plan_.buffers[is_in_registers(m.source) ? m.source : m.destination];
        int const lanes = static_cast<int>(plan_.where->memories[held.memory].register_bytes() / bytes_of(held.type));
        int const row = static_cast<int>(m.row_elements);
        auto const all = [&](bool conditional) {
            std::vector<Stmt> sequence;
            auto const write = [&](auto const& self, int position, Expr const& source, Expr const& destination, Expr const& there) -> void {
                if (position < m.dimension_count) {
                    reach const& r = reaches[position];
                    for (int i = 0; i < m.dimensions[position].extent; ++i) {
                        Expr const inside = r.clipped && conditional ? wide(i) >= r.begin && wide(i) < r.begin + r.extent : const_true();
                        self(self, position + 1, source + i * from.steps[position], destination + i * to.steps[position],
                             simplify(there && inside));
                    }
                    return;
                }
                reach const& r = reaches.back();
                std::vector<Stmt> copies;
                for (int done = 0; done < row; done += lanes) {
                    int const width = std::min(lanes, row - done);
                    Expr predicate;
                    if (r.clipped && conditional) {
                        Expr const place = width == 1 ? Expr(done) : Ramp::make(done, 1, width);
                        auto const spread = [&](Expr const& one) { return width == 1 ? one : Broadcast::make(one, width); };
                        predicate = place >= spread(narrow(r.begin)) && place < spread(narrow(r.begin + r.extent));
                    }
                    if (width == 1 && predicate.defined())
                        copies.push_back(IfThenElse::make(predicate, copy_lanes({from, source + done}, {to, destination + done}, 1)));
                    else copies.push_back(copy_lanes({from, source + done}, {to, destination + done}, width, predicate));
                }
                Stmt const copied = Block::make(copies);
                sequence.push_back(is_const_one(there) ? copied : IfThenElse::make(there, copied));
            };
            write(write, 0, from.first, to.first, const_true());
            return Block::make(sequence);
        };
        Expr whole = const_true();
        for (int at = 0; at <= m.dimension_count; ++at) {
            std::int64_t const extent = at == m.dimension_count ? m.row_elements : m.dimensions[at].extent;
            if (reaches[at].clipped) whole = whole && reaches[at].extent == wide(extent);
        }
        whole = simplify(whole);
        return is_const_one(whole) ? all(false) : IfThenElse::make(whole, all(false), all(true));
    }
};

}  // namespace tilewright::halide
