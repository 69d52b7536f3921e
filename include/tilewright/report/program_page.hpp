#pragma once
#include <functional>
#include <optional>
#include <tilewright/report/layer_times.hpp>
#include <tilewright/report/page.hpp>
#include <tilewright/report/program_report.hpp>

// A program as a page for a browser: its memories over all its steps, and each of its layers.
namespace tilewright {
namespace reports {

/// What an emulated run adds to the page of a program.
struct executed_program {
    std::vector<std::optional<layer_time>> layers;  ///< of every kernel that ran, by its position
    std::int64_t cycles = 0;
    std::string error;  ///< what the first failed call wanted
    /// Of a kernel that ran. @param within  see `planned_timeline`
    std::function<executed_run(int kernel, plan_value const& plan, std::string const& within)> details;
};

/// The page of one program, piece by piece.
class program_page {
  public:
    /// @param ran  null: nothing
    explicit program_page(program_plan_value const& plan, executed_program const* ran = nullptr)
        : plan_(plan), ran_(ran), report_(report_of(plan)), times_(layer_times(plan)) {
        for (int k = 0; k < plan.kernels.size(); ++k) built_.push_back(build_kernel(plan, k));
    }

    std::string str() const {
        std::string const timeline = timeline_picture();
        return figures() +
               element("div", {{"class", "beside"}},
                       "\n<div>\n" + page_section("Layers over time", text_of_run() + shown(timeline)) + page_section("Layers", layers()) +
                           page_section("Memories over the steps of the program", memories()) + page_section("Each layer", each_layer()) +
                           "</div>\n" + page_details());
    }
    std::vector<std::pair<std::string, std::string>> pictures() const {
        std::vector<std::pair<std::string, std::string>> all{{"timeline", timeline_picture()}};
        for (reported_pool const& m : report_.memories)
            each_bank(m, [&](std::string const& name, std::string const& drawn) { all.emplace_back("memory " + name, drawn); });
        return all;
    }

  private:
    static std::string steps_text(int first, int last) {
        return std::to_string(first) + (first == last ? "" : " to " + std::to_string(last));
    }
    static std::string extents_text(reported_place const& p) {
        std::string text;
        for (std::int64_t const extent : p.extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
        return "[" + text + "]";
    }
    std::string within(int k) const { return plan_.kernel_at(k).name.str() + "-"; }
    /// What is marked together with a kernel: its tensors and its own buffers.
    std::string touched(int k) const {
        std::string all;
        auto const add = [&](std::string const& name) { all += (all.empty() ? "" : " ") + name; };
        for (int at = 0; at < plan_.uses.size(); ++at) {
            if (plan_.uses[at].kernel == k) add(plan_.tensor_at(plan_.uses[at].tensor).name.str());
        }
        for (int at = 0; at < plan_.scratch.size(); ++at) {
            ir::program_scratch const& s = plan_.scratch_at(at);
            if (s.kernel == k) add(tilewright::detail::dotted(plan_.kernel_at(k).name, s.name).str());
        }
        return all;
    }

    std::string figures() const {
        figure_list list;
        list.add("predicted", cycles_text(report_.cycles, report_.bound), "cycles");
        list.add("layers", std::to_string(report_.layers.size()), "");
        for (reported_pool const& m : report_.memories)
            list.add(m.name.str(), percent(m.peak, m.capacity), grouped(m.peak) + " of " + grouped(m.capacity) + " bytes");
        return list.str();
    }

    std::optional<layer_time> executed(int k) const { return ran_ == nullptr ? std::nullopt : ran_->layers[static_cast<std::size_t>(k)]; }
    std::string text_of_run() const {
        if (ran_ == nullptr) return "";
        return text_element("p", run_text(report_.cycles, ran_->cycles, ran_->error)) + "\n";
    }

    std::string timeline_picture() const {
        page_time picture{"Layers over time: which agent runs which; arrow keys go from one to the next",
                          {},
                          std::max<std::int64_t>({1, report_.bound, ran_ == nullptr ? 0 : ran_->cycles}),
                          {}};
        for (int agent = 0; agent < plan_.of->agent_count; ++agent) {
            time_row row{plan_.of->agents[agent].name.str(), {}}, below{"executed", {}, true};
            for (reported_layer const& layer : report_.layers) {
                int const k = plan_.find_kernel(layer.name);
                if (plan_.kernel_at(k).agent != agent) continue;
                std::string const name = layer.name.str();
                auto const stretch = [&](layer_time const& time, std::string const& what) {
                    return time_stretch{time.begin,
                                        time.end,
                                        layer.kind == "copy" ? "computes" : "works",
                                        name,
                                        name + "\n" + what + "\n" + from_to(time.begin, time.end - time.begin),
                                        touched(k)};
                };
                row.all.push_back(
                    stretch(times_[static_cast<std::size_t>(k)], layer.kind + ", steps " + steps_text(layer.first_step, layer.last_step)));
                if (auto const time = executed(k)) below.all.push_back(stretch(*time, "executed"));
            }
            picture.rows.push_back(std::move(row));
            if (ran_ != nullptr) picture.rows.push_back(std::move(below));
        }
        return picture.str();
    }

    std::string layers() const {
        std::vector<std::string> columns{"#steps", "layer", "on", "#cycles"};
        if (ran_ != nullptr) columns.insert(columns.end(), {"#executed", ""});
        columns.insert(columns.end(), {"#of all", "| ", "what costs most"});
        for (reported_pool const& m : report_.memories) columns.push_back("#" + m.name.str());
        columns.insert(columns.end(), {"#bytes moved", "by"});
        std::vector<markup_row> rows;
        for (reported_layer const& layer : report_.layers) {
            int const k = plan_.find_kernel(layer.name);
            std::int64_t bytes = 0;
            std::string by;
            for (work const& w : layer.traffic) {
                if (w.bytes == 0) continue;
                bytes += w.bytes;
                by += (by.empty() ? "" : ", ") + w.name;
            }
            std::int64_t const cycles = layer.cycles.value_or(layer.bound);
            plan_value const& made = built_[static_cast<std::size_t>(k)].plan;
            std::vector<std::string> cells{steps_text(layer.first_step, layer.last_step), layer.name.str(), layer.agent.str(),
                                           cycles_text(layer.cycles, layer.bound)};
            bool different = false;
            if (ran_ != nullptr) {
                std::optional<layer_time> const time = executed(k);
                different = time && layer.cycles && time->end - time->begin != *layer.cycles;
                cells.push_back(time ? grouped(time->end - time->begin) : "-");
                cells.push_back(!time ? "not run" : !layer.cycles ? "unresolved" : different ? "DIFFERENT" : "equal");
            }
            cells.insert(cells.end(),
                         {percent(cycles, report_.bound), cell_bar(cycles, report_.bound), costliest(made, accounts_of(made))});
            for (reported_live const& live : layer.live) cells.push_back(grouped(live.bytes));
            cells.insert(cells.end(), {grouped(bytes), by.empty() ? "-" : by});
            rows.push_back(
                {{{"class", different ? "line different" : "line"}, {"tabindex", rows.empty() ? "0" : "-1"}, {"data-buffers", touched(k)}},
                 std::move(cells)});
        }
        return markup_table("Each kernel and copy in the order in which they begin; bytes that are alive in each memory meanwhile", columns,
                            rows, {{"class", ran_ == nullptr ? "layers" : "layers-that-ran"}});
    }

    template <class Visit>
    void each_bank(reported_pool const& m, Visit const& visit) const {
        int const at = plan_.position_of_memory(m.name);
        memory const& what = plan_.memories[at].what;
        program_picture const places(plan_, at);
        for (int bank = 0; bank < what.banks; ++bank) {
            std::string const name = m.name.str() + (what.banks > 1 ? " bank " + std::to_string(bank) : "");
            page_boxes picture{name,
                               "steps of the program",
                               0,
                               std::max<std::int64_t>(1, places.points()),
                               m.peak,
                               [&](std::int64_t point) { return places.name_of(point); },
                               [&, bank](std::int64_t offset) { return address_text(what, bank, offset); },
                               {}};
            std::map<std::string, int> hues;
            for (memory_picture::box const& place : places.boxes(bank)) {
                int const hue = hues.try_emplace(place.name, static_cast<int>(hues.size())).first->second;
                picture.boxes.push_back({place,
                                         place.name + ": " + place.size + " bytes at " + address_text(what, bank, place.begin) +
                                             ", steps " + places.name_of(place.first) + " to " + places.name_of(place.last),
                                         "place-" + place.name, place.name, hue});
            }
            if (!picture.boxes.empty()) visit(name, picture.str());
        }
    }
    std::string memories() const {
        std::string text;
        for (reported_pool const& m : report_.memories) {
            memory const& what = plan_.memories[plan_.position_of_memory(m.name)].what;
            std::string inside =
                text_element("h3", m.name.str()) + "\n" +
                element("p", {},
                        escaped("peak " + grouped(m.peak) + " of " + grouped(m.capacity) + " bytes (" + percent(m.peak, m.capacity) +
                                "), lower bound " + grouped(m.lower_bound) + ", " + proof_text(m) + "; slack " + grouped(m.slack) +
                                (m.constants > 0 ? "; constants " + grouped(m.constants) : "") + " ") +
                            cell_bar(m.peak, m.capacity)) +
                "\n";
            each_bank(m, [&](std::string const& name, std::string const& drawn) {
                inside += (what.banks > 1 ? text_element("h4", name) + "\n" : "") + shown(drawn);
            });
            std::vector<markup_row> rows;
            for (reported_place const& p : report_.places) {
                if (p.memory != m.name) continue;
                std::string const name = p.name.str();
                rows.push_back({{{"id", "place-" + name}, {"class", "part"}, {"data-buffers", name}},
                                {name, p.kind, extents_text(p), name_of(p.type),
                                 (p.versions > 1 ? std::to_string(p.versions) + " x " : "") + grouped(p.bytes),
                                 p.offset ? grouped(*p.offset) : "passed", steps_text(p.first_step, p.last_step), note_of(p, what.banks)}});
            }
            std::string const open = rows.size() <= 32 ? " open" : "";
            inside += "<details" + open + "><summary>What lies in " + escaped(m.name.str()) + "</summary>\n" +
                      markup_table_of_filled("Tensors, and buffers of kernels",
                                             {"tensor or buffer", "kind", "extents", "type", "#bytes", "#offset", "#steps", "besides"},
                                             std::move(rows)) +
                      "</details>\n";
            text += element("section", {{"class", "memory"}}, inside) + "\n";
        }
        return text;
    }

    std::string each_layer() const {
        std::string text;
        std::size_t const most = std::max<std::size_t>(100, 6000 / std::max<std::size_t>(1, report_.layers.size()));
        for (reported_layer const& layer : report_.layers) {
            int const k = plan_.find_kernel(layer.name);
            kernel_build const& made = built_[static_cast<std::size_t>(k)];
            planned_timeline const planned(made.plan, std::min(most, planned_timeline::most_noted));
            auto const part = [](std::string const& heading, std::string const& inside) {
                return inside.empty() ? "" : text_element("h3", heading) + "\n" + inside;
            };
            executed_run ran;
            if (executed(k)) ran = ran_->details(k, made.plan, within(k));
            text += element("details", {{"class", "layer"}, {"id", "layer-" + layer.name.str()}},
                            text_element("summary", layer.name.str() + " on " + layer.agent.str() + ": " +
                                                        cycles_text(layer.cycles, layer.bound) + " cycles") +
                                "\n" + part("Timeline", page_timeline(planned, executed(k) ? &ran : nullptr, within(k))) +
                                part("Where the cycles go", page_cycle_account(made.plan, planned.accounts())) +
                                page_memories(made.plan, made.what.get(), within(k)) +
                                part("Loop program", page_program(made.plan, made.what.get(), within(k))) +
                                part("Planned beside executed", ran.comparison) + part("Traffic", page_traffic(made.plan)));
            text += "\n";
        }
        return text;
    }

    program_plan_value const& plan_;
    executed_program const* ran_;
    program_report report_;
    std::vector<layer_time> times_;
    std::vector<kernel_build> built_;
};

inline std::string page_text(program_plan_value const& plan, executed_program const* ran = nullptr) {
    return page_document("Program " + plan.of->name.str(),
                         ran == nullptr ? "A program, as the compiler planned it; nothing here was measured."
                                        : "A program, as the compiler planned it, beside a run on the emulated machines.",
                         plan.refusal ? page_refused("refused: " + to_string(plan.refusal)) : program_page(plan, ran).str());
}

}  // namespace reports

/// The page of a program: when each layer runs, its cycles and what costs most of them; the memories over all steps; and for each layer its
/// timeline, where its cycles go, its memories, loop program and traffic. One file of HTML, which needs no network. A program that was
/// refused is its verdict.
inline std::string report_page(program_plan_value const& plan) { return reports::page_text(plan); }

/// Writes that page to a file.
///
/// @throws std::runtime_error when the file cannot be written; it names the path
inline void write_report(program_plan_value const& plan, std::string const& path) { reports::write_file(report_page(plan), path); }

/// Writes "timeline.svg" and "memory_NAME.svg" of each memory to a folder that exists. @return their paths
/// @throws std::runtime_error when a file cannot be written; it names the path
inline std::vector<std::string> write_pictures(program_plan_value const& plan, std::string const& folder) {
    if (plan.refusal) return {};
    return reports::write_svg(reports::program_page(plan).pictures(), folder);
}

/// Likewise the pictures of one kernel or copy of the program: "k1_timeline.svg", "k1_memory_spad.svg", …
///
/// @throws std::invalid_argument when the program has no such layer
inline std::vector<std::string> write_pictures(program_plan_value const& plan, ir::label const& layer, std::string const& folder) {
    if (plan.refusal) return {};
    for (int k = 0; k < plan.kernels.size(); ++k) {
        if (plan.kernel_at(k).name != layer) continue;
        std::vector<std::pair<std::string, std::string>> pictures = reports::pictures_of(build_kernel(plan, k).plan);
        for (auto& [name, picture] : pictures) name = layer.str() + " " + name;
        return reports::write_svg(pictures, folder);
    }
    throw std::invalid_argument("the program `" + plan.of->name.str() + "` has no layer `" + layer.str() + "`");
}

}  // namespace tilewright
