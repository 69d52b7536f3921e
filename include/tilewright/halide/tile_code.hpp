#pragma once
#include <tilewright/halide/tile_body.hpp>
#include <tilewright/halide/tile_cost.hpp>
#include <tilewright/plan/loops/tile_rest.hpp>

// The code of a tile body: forms for whole tiles and for partial ones, and what stands around them.
namespace tilewright::halide {

class code_tiles : public code_costs {
  protected:
    using code_costs::code_costs;

    /// The code of a tile body: one form for whole tiles, and others for partial ones. If all partial tiles have the same number of values
    /// of an axis, their loops have constant extents, too. Otherwise every iteration asks whether it is there.
    ///
    /// @param open  the loops of the program around, outermost first
    Stmt tile_code(body const& b, std::vector<int> const& open) const {
        using namespace Halide::Internal;
        std::vector<limit> ends;                     // that can lie inside of the tile
        std::vector<std::vector<tile_part>> pieces;  // of the partial tiles of each
        for (limit const& l : limits_of(plan_, b, false)) {
            tilewright::detail::tile_rest const rest = with_whole_vectors(b, l, tilewright::detail::rest_of_tile(plan_, l, b));
            if (rest.constant && rest.values == 0) continue;
            ends.push_back(l);
            pieces.push_back(pieces_of(b, l, rest));
        }
        // A tile that a stage computes for a reader of a border can lie outside as a whole.
        bool const outside = computes_for_border() && !is_const_one(is_whole(plan_, b, loop_values()));
        bool const constant = !outside && (ends.size() <= 3 || forms_of(b, ends, pieces) <= most_forms) &&
                              std::none_of(pieces.begin(), pieces.end(), [](auto const& p) { return p.empty(); });
        surroundings const around{plan_, names_, how_.target, how_.checked, how_.plain_arguments};
        auto const lower = [&](tile_part const& part) {
            Stmt lowered = across_blocks(buffers_of(b), lower_tile_body(around, b, part));
            lowered = with_asking(b, part, open, lowered);
            if (how_.checked) lowered = with_reports(b, lowered);
            return with_versions(buffers_of(b), lowered);
        };
        // Most tiles meet no border, and need no test for it.
        bool reads_borders = false;
        plan_.each_use(b, [&](use const& u, bool, bool) { reads_borders |= plan_.is_guarded(u.node); });
        bool const apart = reads_borders && how_.to == binding::device && !how_.plain_arguments;
        Expr const inside = apart ? is_all_inside(plan_, b, loop_values()) : const_false();
        auto const code = [&](tile_part const& part) {
            if (part.guarded || is_const_zero(inside)) return lower(part);
            tile_part without_border = part;
            without_border.inside = true;
            return is_const_one(inside) ? lower(without_border) : IfThenElse::make(inside, lower(without_border), lower(part));
        };
        if (!constant) {
            Expr const whole = is_whole(plan_, b, loop_values());
            Stmt const guarded = code({.ranges = {}, .guarded = true, .goes_on = false});
            return is_const_zero(whole) ? guarded : IfThenElse::make(whole, code({}), guarded);
        }
        auto const choose = [&](auto const& self, std::size_t end, std::vector<tile_part> const& parts) -> Stmt {
            if (end == ends.size()) {
                std::vector<Stmt> sequence;
                for (tile_part const& part : parts) sequence.push_back(code(part));
                return Block::make(sequence);
            }
            std::vector<tile_part> partial;
            for (tile_part const& part : parts) {
                for (tile_part const& piece : pieces[end]) {
                    partial.push_back(part);
                    if (!keep_common(partial.back(), piece)) partial.pop_back();
                }
            }
            Expr const whole = is_whole(plan_, ends[end], b, loop_values());
            if (is_const_zero(whole)) return self(self, end + 1, partial);
            return IfThenElse::make(whole, self(self, end + 1, parts), self(self, end + 1, partial));
        };
        return choose(choose, 0, {{}});
    }

  private:
    static constexpr std::size_t most_forms = 32;  ///< of a body with more than three ends

    /// The code of a tile body. Its loops ask for what is copied later, if copies leave that to them.
    Stmt with_asking(body const& b, tile_part const& part, std::vector<int> around, Stmt code) const {
        using namespace Halide::Internal;
        struct ask_in_loop : IRMutator {
            using IRMutator::visit;
            std::string loop;
            Stmt asked;
            bool found = false;
            Stmt visit(For const* op) override {
                if (op->name != loop) return IRMutator::visit(op);
                found = true;
                return For::make(op->name, op->min, op->extent, op->for_type, op->device_api, Block::make(asked, op->body));
            }
        };
        for (int at = 0; at < b.loop_count && b.kind != body_kind::identity; ++at) {
            int const v = b.loops[at];
            variable const& loop = plan_.variables[v];
            if (loop.unrolled || loop.vectorized) continue;  // no loop is left, and none can ask
            around.push_back(v);
            ask_in_loop asking;
            asking.loop = name_of_variable(v);
            asking.asked = asked_in(v, around);
            if (!asking.asked.defined()) continue;
            code = asking.mutate(code);
            // Only the value of a loop of one iteration is left.
            int const first = part.of(v, loop).first;
            if (!asking.found) code = Block::make(LetStmt::make(asking.loop, first, asking.asked), code);
        }
        return code;
    }
    /// Whether a tensor that a stage computes is read outside its extents.
    bool computes_for_border() const {
        bool found = false;
        for (int at = 0; at < plan_.paddings.size(); ++at) {
            label const& tensor = plan_.what[plan_.paddings[at].node].name;
            for (int s = 0; s < plan_.stages.size(); ++s) found |= plan_.stages[s].output == tensor;
        }
        return found;
    }
    /// What is left of a tile, in whole vectors where the last lanes may be computed as well. Code that others read, or that is told of
    /// each access, keeps to what is there.
    tilewright::detail::tile_rest with_whole_vectors(body const& b, limit const& l, tilewright::detail::tile_rest rest) const {
        if (!rest.constant || rest.values == 0 || how_.to != binding::device || how_.checked || how_.plain_arguments) return rest;
        int const lanes = rest.loops[rest.loop_count - 1], outermost = rest.loops[0];
        if (!may_fill_lanes(plan_, l, b, lanes)) return rest;
        std::int64_t const width = plan_.variables[lanes].extent, all = rest.steps[0] * plan_.variables[outermost].extent;
        rest.values = (rest.values + width - 1) / width * width;
        if (rest.values >= all) rest.values = 0;
        return rest;
    }
    /// The pieces of the loops of a partial tile, in their order: first all whole iterations of the outermost loop, then the rest of the
    /// loops inside. None if partial tiles differ in size, or if pieces would change the order of a sum of floats: other reductions give
    /// the same in any order.
    std::vector<tile_part> pieces_of(body const& b, limit const& l, tilewright::detail::tile_rest const& rest) const {
        std::vector<tile_part> pieces;
        if (!rest.constant) return pieces;
        tile_part before;  // iterations of the loops further out that are whole
        std::int64_t left = rest.values;
        for (int at = 0; at < rest.loop_count && left > 0; ++at) {
            int const loop = rest.loops[at];
            int const whole = static_cast<int>(left / rest.steps[at]);
            left %= rest.steps[at];
            if (whole > 0) {
                pieces.push_back(before);
                pieces.back().ranges[loop] = {0, whole};
                pieces.back().goes_on = l.reduction && pieces.size() > 1;
            }
            before.ranges[loop] = {whole, 1};
        }
        int reductions = 0;
        for (int at = 0; at < b.loop_count; ++at) reductions += plan_.variables[b.loops[at]].reduction ? 1 : 0;
        bool const reorders = l.reduction && pieces.size() > 1 && reductions > rest.loop_count && is_float(plan_.stages[b.stage].type);
        return reorders ? std::vector<tile_part>() : pieces;
    }

    /// Copies of a tile body's code: whole or in its pieces at each end, beside the same of the others.
    std::size_t forms_of(body const& b, std::vector<limit> const& ends, std::vector<std::vector<tile_part>> const& pieces) const {
        std::size_t forms = 1;
        for (std::size_t end = 0; end < ends.size(); ++end) {
            bool const never_whole = Halide::Internal::is_const_zero(is_whole(plan_, ends[end], b, loop_values()));
            forms *= pieces[end].size() + (never_whole ? 0 : 1);
        }
        return forms;
    }

    /// Leaves of a part what a piece of another end has, too. @return whether any of it is left
    static bool keep_common(tile_part& part, tile_part const& piece) {
        for (auto const& [loop, range] : piece.ranges) {
            tile_part::range& kept = part.ranges.try_emplace(loop, range).first->second;
            int const first = std::max(kept.first, range.first);
            kept = {first, std::min(kept.first + kept.count, range.first + range.count) - first};
            if (kept.count <= 0) return false;
        }
        part.goes_on |= piece.goes_on;
        return true;
    }

    /// The code of a body that tells the emulator what it touches.
    Stmt with_reports(body const& b, Stmt const& code) const {
        std::map<std::string, checked_buffer> buffers;
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& one = plan_.buffers[at];
            std::string const& name = name_of_buffer(at);
            if (!touches(b, at)) continue;
            Expr const address = one.kind == buffer_kind::argument
                                     ? Halide::reinterpret(Halide::UInt(64), Halide::Internal::Variable::make(Halide::Handle(), name))
                                     : current_version(at, loop_values());
            buffers[name] = {at, address};
        }
        return report_accesses(code, machine_handle(), b.stage, buffers);
    }
    bool touches(body const& b, int buffer_at) const {
        std::vector<int> const touched = buffers_of(b);
        return std::find(touched.begin(), touched.end(), buffer_at) != touched.end();
    }
    std::vector<int> buffers_of(body const& b) const {
        std::vector<int> found;
        plan_.each_use(b, [&](use const& u, bool, bool) {
            if (std::find(found.begin(), found.end(), u.buffer) == found.end()) found.push_back(u.buffer);
        });
        std::sort(found.begin(), found.end());
        return found;
    }
};

}  // namespace tilewright::halide
