#pragma once
#include <cmath>
#include <optional>
#include <tilewright/report/page_markup.hpp>
#include <tilewright/report/traffic.hpp>

// The roofline of a plan: how far its engines would let it go.
namespace tilewright::reports {

/// Operations of one element of an expression: arithmetic, comparisons, logic, shifts and choices. Conversions and indices are none.
inline std::int64_t operations_of(plan_value const& plan, int at) {
    node const& n = plan.what[at];
    if (n.op == operation::access || is_reduction(n.op)) return 0;
    std::int64_t count = n.op >= operation::add && n.op <= operation::select ? 1 : 0;
    for (int argument = 0; argument < n.argument_count; ++argument) count += operations_of(plan, n.argument(argument));
    return count;
}
/// Operations that the computation asks for, however often a plan computes them; a step of a reduction is one more.
inline std::int64_t operations_of(plan_value const& plan) {
    std::int64_t all = 0;
    for (int at = 0; at < plan.stages.size(); ++at) {
        stage const& s = plan.stages[at];
        std::int64_t elements = 1, iterations = 1;
        for (int axis = 0; axis < s.axis_count; ++axis) {
            if (!s.axes[axis].reduction) elements *= s.axes[axis].extent;
            iterations *= s.axes[axis].extent;
        }
        all += iterations * (operations_of(plan, s.body) + (s.reduces() ? 1 : 0));
        if (s.start >= 0) all += elements * operations_of(plan, s.start);
    }
    return all;
}

/// The engine, or the core, that takes longest for one kind of work.
struct roof {
    std::string engine;
    std::int64_t cycles = 0;
};
struct roofline {
    std::int64_t operations = 0, bytes = 0, cycles = 0;
    roof computes{}, moves{};

    double operations_per_byte() const { return static_cast<double>(operations) / static_cast<double>(bytes); }
    double operations_per_cycle() const { return static_cast<double>(operations) / static_cast<double>(cycles); }
    /// Operations per cycle, if what computes never waits.
    double flat() const { return static_cast<double>(operations) / static_cast<double>(computes.cycles); }
    /// Bytes per cycle, if what moves never waits.
    double slope() const { return static_cast<double>(bytes) / static_cast<double>(moves.cycles); }
};

/// @return none where nothing is computed or moved in cycles, where cycles are not known, and where cores are of several
/// kinds
inline std::optional<roofline> roofline_of(plan_value const& plan) {
    std::optional<std::int64_t> const cycles = predicted_cycles(plan);
    if (plan.where->has_unlike_cores() || !cycles) return std::nullopt;
    roofline made{.operations = operations_of(plan), .cycles = *cycles};
    for (work const& w : work_of(plan)) made.bytes += w.bytes;
    std::vector<occupation> const engines = occupations_of(plan);
    for (std::size_t at = 0; at < engines.size(); ++at) {
        bool const is_core = at + 1 == engines.size();
        occupation computing{engines[at].name, 0, engines[at].channels}, moving = computing;
        plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            std::int64_t const busy = plan.busy_in(s, plan.total_of(s, times, first_times), is_core ? -1 : static_cast<int>(at));
            if (s.kind == step_kind::compute) computing.busy += busy;
            if (s.kind == step_kind::start && plan.movements[s.what].transfer >= 0) moving.busy += busy;
        });
        if (computing.least() > made.computes.cycles) made.computes = {computing.name, computing.least()};
        if (moving.least() > made.moves.cycles) made.moves = {moving.name, moving.least()};
    }
    bool const whole = made.operations > 0 && made.bytes > 0 && made.cycles > 0 && made.computes.cycles > 0 && made.moves.cycles > 0;
    return whole ? std::optional(made) : std::nullopt;
}

/// Three digits: "0.125", "58.3", "1,234".
inline std::string rounded(double value) {
    char text[40];
    if (value >= 1000) return grouped(static_cast<std::int64_t>(value + 0.5));
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

/// Where powers of ten stand in the picture.
struct roofline_axes {
    static constexpr double left = 64, right = 16, top = 24, foot = 40, width = 560, height = 300;
    int from_x, to_x, from_y, to_y;  ///< powers

    explicit roofline_axes(roofline const& of) {
        double const ridge = of.flat() / of.slope(), per_byte = of.operations_per_byte(), per_cycle = of.operations_per_cycle();
        from_x = static_cast<int>(std::floor(std::log10(std::min(per_byte, ridge)) - 0.3));
        to_x = static_cast<int>(std::ceil(std::log10(std::max(per_byte, ridge)) + 0.3));
        from_y = static_cast<int>(std::floor(std::log10(std::min(per_cycle, of.slope() * std::pow(10, from_x)))));
        to_y = static_cast<int>(std::ceil(std::log10(of.flat()) + 0.1));
    }
    double x(double value) const { return left + (width - left - right) * (std::log10(value) - from_x) / (to_x - from_x); }
    double y(double value) const { return height - foot - (height - top - foot) * (std::log10(value) - from_y) / (to_y - from_y); }
    std::string grid() const {
        std::string text;
        for (int power = from_x; power <= to_x; ++power) {
            double const value = std::pow(10, power);
            text += stroke("grid", x(value), top, x(value), height - foot) + word(rounded(value), x(value), height - foot + 16, "middle");
        }
        for (int power = from_y; power <= to_y; ++power) {
            double const value = std::pow(10, power);
            text += stroke("grid", left, y(value), width - right, y(value)) + word(rounded(value), left - 6, y(value) + 4, "end");
        }
        return text + word("operations per byte", (left + width - right) / 2, height - 6, "middle") + word("operations per cycle", 4, 14);
    }
};

/// "16 operations per byte, 195 operations per cycle"
inline std::string point_text(roofline const& of) {
    return rounded(of.operations_per_byte()) + " operations per byte, " + rounded(of.operations_per_cycle()) + " operations per cycle";
}
inline std::string drawn_roofline(roofline const& of) {
    roofline_axes const axes(of);
    double const ridge = of.flat() / of.slope(), first = std::pow(10, axes.from_x), last = std::pow(10, axes.to_x);
    double const x = axes.x(of.operations_per_byte()), y = axes.y(of.operations_per_cycle());
    std::string const inside = axes.grid() + stroke("roof", axes.x(first), axes.y(first * of.slope()), axes.x(ridge), axes.y(of.flat())) +
                               stroke("roof", axes.x(ridge), axes.y(of.flat()), axes.x(last), axes.y(of.flat())) +
                               element("circle", {{"class", "point"}, {"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", "5"}},
                                       text_element("title", "this kernel: " + point_text(of))) +
                               word("this kernel", std::min(x + 9, axes.width - 90), y + 20);
    return picture("roofline", "img", "Roofline: " + point_text(of) + ", below a roof of " + rounded(of.flat()), axes.width, axes.height,
                   inside);
}

/// The picture, and how it is computed; nothing where there is none.
inline std::string page_roofline(plan_value const& plan) {
    std::optional<roofline> const found = roofline_of(plan);
    if (!found) return "";
    roofline const& of = *found;
    std::string const text = "The kernel does " + grouped(of.operations) + " operations, moves " + grouped(of.bytes) + " bytes and takes " +
                             grouped(of.cycles) + " cycles: " + point_text(of) + ". The flat roof is " + rounded(of.flat()) +
                             " operations per cycle: " + of.computes.engine + " computes for " + grouped(of.computes.cycles) +
                             " cycles, if it never waits. The slope is " + rounded(of.slope()) + " bytes per cycle: " + of.moves.engine +
                             " moves data for " + grouped(of.moves.cycles) + " cycles, if it never waits.";
    std::string const how =
        "Both roofs come from this plan. They take the busiest engine of each kind, with its instructions and its transfers as the plan "
        "has "
        "them, without the latencies of transfers; another tile has other roofs. An operation is one that the computation asks for: "
        "arithmetic, a "
        "comparison, a choice, a step of a sum. Bytes are those of all transfers, at their destinations.";
    return shown(drawn_roofline(of)) + text_element("p", text) + "\n" + text_element("p", how, {{"class", "how"}}) + "\n";
}

}  // namespace tilewright::reports
