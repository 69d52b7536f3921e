#pragma once
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <tilewright/report/json.hpp>
#include <utility>
#include <vector>

// The words that the page of a plan is written in: HTML, and SVG inside it.
namespace tilewright::reports {

/// Text for HTML, inside of elements and of attributes in double quotes. What is not UTF-8, and control characters, become U+FFFD.
inline std::string escaped(std::string_view text) {
    std::string into;
    while (!text.empty()) {
        std::size_t const length = tilewright::detail::utf8_length(text);
        auto const first = static_cast<unsigned char>(text[0]);
        if (length == 0 || first == 0x7f || (first < 0x20 && first != '\t' && first != '\n')) into += "\xef\xbf\xbd";
        else if (first == '&') into += "&amp;";
        else if (first == '<') into += "&lt;";
        else if (first == '>') into += "&gt;";
        else if (first == '"') into += "&quot;";
        else if (first == '\'') into += "&#39;";
        else into += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return into;
}

using attributes = std::vector<std::pair<char const*, std::string>>;

/// `<name a="…">`, with the values escaped.
inline std::string opened(std::string const& name, attributes const& with = {}) {
    std::string text = "<" + name;
    for (auto const& [attribute, value] : with) text += std::string(" ") + attribute + "=\"" + escaped(value) + "\"";
    return text + ">";
}
/// `<name a="…">inside</name>`. @param inside  markup: text that is none must be escaped
inline std::string element(std::string const& name, attributes const& with, std::string const& inside) {
    return opened(name, with) + inside + "</" + name + ">";
}
/// Likewise, of text.
inline std::string text_element(std::string const& name, std::string const& text, attributes const& with = {}) {
    return element(name, with, escaped(text));
}

/// A coordinate, with at most two decimals: "12.5".
inline std::string coordinate(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.2f", value);
    std::string made = text;
    made.erase(made.find_last_not_of('0') + 1);
    if (made.back() == '.') made.pop_back();
    return made == "-0" ? "0" : made;
}
inline attributes rectangle(char const* kind, double x, double y, double width, double height) {
    return {{"class", kind}, {"x", coordinate(x)}, {"y", coordinate(y)}, {"width", coordinate(width)}, {"height", coordinate(height)}};
}
/// A word in a picture. @param anchor  "start", "middle" or "end"
inline std::string word(std::string const& text, double x, double y, char const* anchor = "start", char const* kind = "word") {
    return text_element("text", text, {{"class", kind}, {"x", coordinate(x)}, {"y", coordinate(y)}, {"text-anchor", anchor}});
}
inline std::string stroke(char const* kind, double x1, double y1, double x2, double y2) {
    return element("line",
                   {{"class", kind}, {"x1", coordinate(x1)}, {"y1", coordinate(y1)}, {"x2", coordinate(x2)}, {"y2", coordinate(y2)}}, "");
}
/// The frame of a picture. @param role  "img", or "group" where its parts have names of their own
inline std::string picture(char const* kind, char const* role, std::string const& name, double width, double height,
                           std::string const& inside) {
    return element("svg",
                   {{"class", kind},
                    {"viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)},
                    {"width", coordinate(width)},
                    {"height", coordinate(height)},
                    {"role", role},
                    {"aria-label", name}},
                   "\n" + inside) +
           "\n";
}

/// A picture that a reader can zoom. @param plot  left, top, right and bottom of what is zoomed
/// @param axes  "x" or "xy"
inline std::string zoomed_picture(char const* kind, std::string const& name, double width, double height, std::array<double, 4> const& plot,
                                  char const* axes, attributes const& more, std::string const& inside) {
    attributes with{{"class", std::string(kind) + " zooms"},
                    {"viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)},
                    {"width", coordinate(width)},
                    {"height", coordinate(height)},
                    {"role", "group"},
                    {"aria-label", name},
                    {"data-plot", coordinate(plot[0]) + " " + coordinate(plot[1]) + " " + coordinate(plot[2]) + " " + coordinate(plot[3])},
                    {"data-axes", axes}};
    with.insert(with.end(), more.begin(), more.end());
    // The ground shows that a picture can be moved. All parts would inherit that from the picture itself, anew at each step of the zoom.
    std::string const ground = element("rect", rectangle("ground", plot[0], plot[1], plot[2] - plot[0], plot[3] - plot[1]), "");
    return element("svg", with, "\n" + ground + "\n" + inside) + "\n";
}
/// A picture in its place on a page: scripts add what zooms it and saves it.
inline std::string shown(std::string const& picture) { return element("div", {{"class", "shown"}}, "\n" + picture) + "\n"; }

/// A bar as a part of a whole, for a cell of a table; what it shows stands beside it as a number.
inline std::string cell_bar(std::int64_t part, std::int64_t whole) {
    constexpr double width = 120, height = 10;
    double const filled = whole <= 0 ? 0 : width * static_cast<double>(part) / static_cast<double>(whole);
    return element("svg", {{"class", "bar"}, {"width", coordinate(width)}, {"height", coordinate(height)}, {"aria-hidden", "true"}},
                   element("rect", rectangle("all", 0, 0, width, height), "") +
                       element("rect", rectangle("works", 0, 0, filled < width ? filled : width, height), ""));
}

/// A table: columns whose name begins with '#' hold numbers, those with '|' markup; what follows is the name.
/// @param rows  their attributes, and their cells
struct markup_row {
    attributes with;
    std::vector<std::string> cells;
};
inline std::string markup_table(std::string const& caption, std::vector<std::string> const& columns, std::vector<markup_row> const& rows,
                                attributes const& with = {}) {
    auto const is = [&](std::size_t column, char kind) { return columns[column].starts_with(kind); };
    std::string text = text_element("caption", caption) + "\n<thead><tr>";
    for (std::size_t at = 0; at < columns.size(); ++at) {
        attributes cell{{"scope", "col"}};
        if (is(at, '#')) cell.emplace_back("class", "number");
        text += text_element("th", is(at, '#') || is(at, '|') ? columns[at].substr(1) : columns[at], cell);
    }
    text += "</tr></thead>\n<tbody>\n";
    for (markup_row const& row : rows) {
        text += opened("tr", row.with);
        for (std::size_t at = 0; at < row.cells.size(); ++at) {
            attributes cell;
            if (is(at, '#')) cell.emplace_back("class", "number");
            if (at == 0 && !is(at, '|')) cell.emplace_back("scope", "row");
            text += element(at == 0 && !is(at, '|') ? "th" : "td", cell, is(at, '|') ? row.cells[at] : escaped(row.cells[at]));
        }
        text += "</tr>\n";
    }
    return element("div", {{"class", "wide"}}, element("table", with, text + "</tbody>")) + "\n";
}

/// A table without the columns that are empty in all rows.
inline std::string markup_table_of_filled(std::string const& caption, std::vector<std::string> columns, std::vector<markup_row> rows,
                                          attributes const& with = {}) {
    for (std::size_t at = columns.size(); at-- > 0;) {
        bool filled = false;
        for (markup_row const& row : rows) filled |= !row.cells[at].empty();
        if (filled) continue;
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at));
        for (markup_row& row : rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return markup_table(caption, columns, rows, with);
}

}  // namespace tilewright::reports
