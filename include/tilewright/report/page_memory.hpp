#pragma once
#include <set>
#include <tilewright/report/page_boxes.hpp>
#include <tilewright/report/step_directives.hpp>

// The parts of a plan's page that speak of lines and buffers: memories over time, and the loop program.
namespace tilewright::reports {

/// The buffers that a step touches, by their positions in the plan.
inline std::set<int> touched_buffers(plan_value const& plan, step const& s) {
    std::set<int> all;
    auto const add = [&](int buffer_at) {
        if (buffer_at >= 0) all.insert(buffer_at);
    };
    auto const operands = [&](int intrinsic, int first) {
        for (int at = 0; intrinsic >= 0 && at < plan.where->intrinsics[intrinsic].operand_count; ++at)
            add(plan.operands[first + at].buffer);
    };
    switch (s.kind) {
        case step_kind::start: add(plan.movements[s.what].source), add(plan.movements[s.what].destination); break;
        case step_kind::wait:
        case step_kind::push:
        case step_kind::pop: {
            ring_step const& at = plan.waits[s.what];
            int const ring = s.kind == step_kind::wait ? at.ring : plan.links[at.link].ring;
            if (ring >= 0) add(plan.rings[ring].buffer);
            break;
        }
        case step_kind::fence: add(s.what); break;
        case step_kind::compute: {
            body const& b = plan.bodies[s.what];
            if (b.kind == body_kind::intrinsic) operands(b.intrinsic, b.operands), operands(b.first_intrinsic, b.first_operands);
            else plan.each_use(b, [&](use const& u, bool, bool) { add(u.buffer); });
            break;
        }
        case step_kind::signal:
        case step_kind::await: add(plan.messages[s.what].buffer); break;
        case step_kind::clean:
        case step_kind::invalidate: add(plan.upkeeps[s.what].buffer); break;
        default: break;
    }
    return all;
}

/// The directive that asked for a buffer, and its line in the source. A plan knows its number, and only the schedule the rest.
struct asked_for {
    std::string directive, source_line;
};
inline asked_for asked_by(schedule const* made_by, buffer const& b) {
    if (b.ordinal < 1) return {};
    std::string const number = std::to_string(b.ordinal);
    if (made_by == nullptr || b.ordinal > made_by->directive_count()) return {"directive " + number, ""};
    directive const& d = made_by->directive_at(b.ordinal - 1);
    return {directive_text(*made_by, b.ordinal - 1), d.line > 0 ? std::to_string(d.line) : ""};
}

/// One memory of a plan over the lines of its loop program. Every box has the id of its row in the table below it.
class page_memory {
  public:
    /// @param within  what ids begin with, where a page has several plans: "k0-"
    page_memory(plan_value const& plan, memory_use const& use, schedule const* made_by, std::string const& within = "")
        : plan_(plan), use_(use), where_(plan.where->memories[use.memory]), made_by_(made_by), within_(within) {
        for (int at = 0; at < plan.buffers.size(); ++at) arguments_ += plan.buffers[at].kind == buffer_kind::argument;
    }

    std::string name() const { return where_.name.str() + (where_.banks > 1 ? " bank " + std::to_string(use_.bank) : ""); }
    std::string drawn() const {
        std::vector<page_box> boxes;
        std::vector<memory_picture::box> const places = boxes_of(plan_, use_);
        for (std::size_t at = 0; at < places.size(); ++at) {
            placed_part const& part = use_.planned[at];
            buffer const& b = plan_.buffers[part.buffer];
            std::string const says = places[at].name + ": " + shape_text(b) + " " + name_of(b.type) + ", " + places[at].size +
                                     " bytes at " + address_text(where_, use_.bank, part.offset) + ", " + lines_text(lifetime_of(plan_, b));
            boxes.push_back({places[at], says, id(part), within_ + std::to_string(part.buffer), part.buffer - arguments_});
        }
        return page_boxes{name(),
                          "lines of the loop program",
                          1,
                          std::max(2, line_number(plan_, plan_.steps.size())),
                          use_.peak,
                          [&](std::int64_t line) { return std::to_string(line); },
                          [&](std::int64_t offset) { return address_text(where_, use_.bank, offset); },
                          std::move(boxes)}
            .str();
    }
    std::string str() const {
        std::string const range = address_text(where_, use_.bank, 0) + " to " + address_text(where_, use_.bank, use_.capacity);
        std::string const full = "peak " + grouped(use_.peak) + " of " + grouped(use_.capacity) + " bytes (" +
                                 percent(use_.peak, use_.capacity) + "), slack " + grouped(use_.slack);
        std::string text = text_element("h3", name()) + "\n" +
                           element("p", {}, escaped(range + ": " + full + " ") + cell_bar(use_.peak, use_.capacity)) + "\n";
        if (use_.buffers > use_.peak) {
            text +=
                text_element("p", "Buffers of " + grouped(use_.buffers) + " bytes share " + grouped(use_.peak) + ", at different times.");
        }
        std::string const open = use_.planned.size() <= 32 ? " open" : "";
        return element("section", {{"class", "memory"}},
                       text + shown(drawn()) + "<details" + open + "><summary>Buffers of " + escaped(name()) + "</summary>\n" + rows() +
                           "</details>\n") +
               "\n";
    }

  private:
    std::string id(placed_part const& at) const { return within_ + "part-" + std::to_string(at.buffer) + "-" + std::to_string(at.part); }
    std::string lines_text(lifetime const& life) const {
        return (life.first == life.last ? "line " + std::to_string(life.first)
                                        : "lines " + std::to_string(life.first) + " to " + std::to_string(life.last)) +
               (life.loop.empty() ? "" : ", each " + life.loop);
    }

    std::string rows() const {
        std::vector<markup_row> all;
        for (placed_part const& at : use_.planned) {
            buffer const& b = plan_.buffers[at.buffer];
            asked_for const asked = asked_by(made_by_, b);
            std::string before;
            for (label const& name : tensors_before(plan_, at.buffer)) before += (before.empty() ? "" : ", ") + name.str();
            all.push_back(
                {{{"id", id(at)}, {"class", "part"}, {"data-buffers", within_ + std::to_string(at.buffer)}},
                 {part_text(b, at.part), shape_text(b), name_of(b.type), grouped(b.part_bytes()), grouped(at.offset),
                  address_text(where_, use_.bank, at.offset) + " to " + address_text(where_, use_.bank, at.offset + b.part_bytes()),
                  lines_text(lifetime_of(plan_, b)), b.layout < 0 ? "" : layout_text(plan_, b), asked.directive, asked.source_line,
                  sharers_text(plan_, use_, at), before}});
        }
        return markup_table_of_filled("Buffers in " + name() + ", by address",
                                      {"buffer", "extents", "type", "#bytes", "#offset", "address", "alive", "layout", "asked for by",
                                       "#source line", "shares bytes with", "place of, before"},
                                      std::move(all));
    }

    plan_value const& plan_;
    memory_use const& use_;
    memory const& where_;
    schedule const* made_by_;
    std::string within_;
    int arguments_ = 0;  ///< buffers that stand before the planned ones: colours are counted from there
};

/// All memories that hold planned buffers.
inline std::string page_memories(plan_value const& plan, schedule const* made_by, std::string const& within = "") {
    std::string text;
    for (memory_use const& use : memory_uses(plan)) text += page_memory(plan, use, made_by, within).str();
    return text.empty() ? "<p>No buffer is planned: the kernel works on its arguments.</p>\n" : text;
}

/// The loop program as a table. Every row names the buffers that its step touches, and the directive that asked for it.
/// @param made_by  null: the directives are not known
inline std::string page_program(plan_value const& plan, schedule const* made_by, std::string const& within = "") {
    std::vector<std::string> const directives =
        made_by == nullptr ? std::vector<std::string>() : step_directives(*made_by, plan).of_lines();
    std::vector<step const*> steps;
    for (int at = 0; at < plan.steps.size(); ++at) {
        if (plan.steps[at].kind != step_kind::end) steps.push_back(&plan.steps[at]);
    }
    std::vector<markup_row> rows;
    auto const add = [&](auto const& self, std::vector<program_line> const& lines, int depth) -> void {
        for (program_line const& line : lines) {
            std::string buffers;
            for (int const at : touched_buffers(plan, *steps[rows.size()]))
                buffers += (buffers.empty() ? "" : " ") + within + std::to_string(at);
            bool const two = line.first_cycles != 0 && line.first_cycles != line.cycles;
            std::string const cycles =
                line.cycles == 0 && !two ? "" : (two ? grouped(line.first_cycles) + " or " : "") + grouped(line.cycles);
            std::string code = escaped(line.text);
            if (!line.value.empty()) code += "<br>" + text_element("span", line.value, {{"class", "value"}});
            rows.push_back(
                {{{"class", "line"}, {"tabindex", rows.empty() ? "0" : "-1"}, {"data-buffers", buffers}},
                 {std::to_string(line.number), line.kind == "loop" ? "" : grouped(line.times), line.bytes > 0 ? grouped(line.bytes) : "",
                  cycles, element("code", {{"style", "--depth:" + std::to_string(depth)}}, code),
                  directives.empty() ? "" : directives[rows.size()]}});
            self(self, line.inside, depth + 1);
        }
    };
    add(add, lines_of(plan), 0);
    return markup_table_of_filled("Loop program: what one execution of a line moves and takes",
                                  {"#line", "#times", "#bytes", "#cycles", "|step", "asked for by"}, std::move(rows),
                                  {{"class", "program"}});
}

}  // namespace tilewright::reports
