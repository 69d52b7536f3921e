#pragma once
#include <functional>
#include <set>
#include <tilewright/report/memory_map.hpp>
#include <tilewright/report/page_markup.hpp>

// Boxes in a memory over time, as a picture of a page.
namespace tilewright::reports {

/// The size of one letter in a picture, and the least height of a word.
inline constexpr double letter_width = 6.6, word_height = 12;

/// A mark on an axis. One that stands too close to a mark before it is off, until a reader zooms.
struct axis_mark {
    double at = 0;  ///< its place in the picture
    std::string text;
};
/// @param least  distance of two marks
/// @param mark   the strokes and words of a mark
inline std::string marked_axis(std::vector<axis_mark> marks, char const* axis, double least,
                               std::function<std::string(axis_mark const&)> const& mark) {
    std::stable_sort(marks.begin(), marks.end(), [](axis_mark const& a, axis_mark const& b) { return a.at < b.at; });
    std::string text;
    double last = -1e9;
    for (axis_mark const& one : marks) {
        bool const on = one.at - last >= least;
        if (on) last = one.at;
        text += element("g", {{"class", on ? "tick" : "tick off"}, {"data-axis", axis}}, mark(one));
    }
    return text;
}

/// A version or a block of a buffer, or a tensor, with what a page says of it.
struct page_box {
    memory_picture::box place;
    std::string says;     ///< to those who do not see it
    std::string row;      ///< the id of its row in a table
    std::string buffers;  ///< marked together with it
    int hue = 0;
};

/// What lies in a memory: time to the right, addresses upwards.
struct page_boxes {
    std::string name, time;
    std::int64_t first = 0, end = 1;  ///< of the time
    std::int64_t peak = 0;            ///< bytes
    std::function<std::string(std::int64_t)> time_text, address;
    std::vector<page_box> boxes;

    static constexpr double left = 96, right = 8, top = 8, foot = 34, width = 760;

    double height() const {
        std::set<std::int64_t> offsets;
        for (page_box const& one : boxes) offsets.insert(one.place.begin);
        return std::clamp(24.0 * static_cast<double>(offsets.size()), 96.0, 720.0);
    }
    double x(std::int64_t when) const {
        return left +
               (width - left - right) * static_cast<double>(when - first) / static_cast<double>(std::max<std::int64_t>(1, end - first));
    }
    /// Of the lower edge of a byte.
    double y(std::int64_t offset, double high) const {
        return top + high - high * static_cast<double>(offset) / static_cast<double>(std::max<std::int64_t>(1, peak));
    }

    std::string str() const {
        double const high = height();
        std::string inside = axes(high);
        for (std::size_t at = 0; at < boxes.size(); ++at) inside += drawn(boxes[at], high, at == 0);
        return zoomed_picture("memory", name + ": " + std::to_string(boxes.size()) + " boxes; arrow keys go from one to the next", width,
                              top + high + foot, {left, top, width - right, top + high}, "xy", {}, inside);
    }

  private:
    std::string axes(double high) const {
        std::set<std::int64_t> times{first, end}, offsets{0, peak};
        for (page_box const& one : boxes) times.insert({one.place.first, one.place.last}), offsets.insert(one.place.begin);
        std::vector<axis_mark> across, up;
        for (std::int64_t const at : times) across.push_back({x(at), time_text(at)});
        // From below: the lowest address is always shown.
        for (auto at = offsets.begin(); at != offsets.end(); ++at) up.push_back({-y(*at, high), address(*at)});
        return marked_axis(across, "x", 24,
                           [&](axis_mark const& m) {
                               return stroke("grid", m.at, top, m.at, top + high + 4) + word(m.text, m.at, top + high + 16, "middle");
                           }) +
               marked_axis(up, "y", word_height,
                           [&](axis_mark const& m) {
                               return stroke("grid", left - 4, -m.at, width - right, -m.at) + word(m.text, left - 8, -m.at + 4, "end");
                           }) +
               word(time, (left + width - right) / 2, top + high + 30, "middle") + "\n";
    }
    std::string drawn(page_box const& one, double high, bool is_first) const {
        double const from = x(one.place.first), to = x(one.place.last), above = y(one.place.end, high), below = y(one.place.begin, high);
        std::string const longer = one.place.name + ", " + one.place.size + " bytes";
        auto const fits = [&](std::string const& text) {
            return below - above >= word_height && letter_width * static_cast<double>(text.size()) + 8 <= to - from;
        };
        std::string const text = fits(longer) ? longer : one.place.name;
        return element(
                   "g",
                   {{"class", "box"},
                    {"role", "img"},
                    {"tabindex", is_first ? "0" : "-1"},
                    {"aria-label", one.says},
                    {"data-row", one.row},
                    {"data-buffers", one.buffers}},
                   element("rect", rectangle(("hue" + std::to_string(one.hue % 8)).c_str(), from, above, to - from, below - above), "") +
                       word(text, from + 5, (above + below) / 2 + 4, "start", fits(text) ? "word" : "word off")) +
               "\n";
    }
};

}  // namespace tilewright::reports
