#pragma once
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <tilewright/report/page_markup.hpp>
#include <tilewright/report/page_script.hpp>
#include <tilewright/report/page_style.hpp>

// What all pages have: a head, sections and figures; and pictures that stand alone.
namespace tilewright::reports {

/// Numbers that stand out at the top of a page.
class figure_list {
  public:
    void add(std::string const& name, std::string const& figure, std::string const& unit) {
        list_ += element("div", {}, text_element("dt", name) + element("dd", {}, escaped(figure) + " " + text_element("small", unit)));
    }
    std::string str() const { return element("dl", {{"class", "figures"}}, list_) + "\n"; }

  private:
    std::string list_;
};

inline std::string page_section(std::string const& heading, std::string const& inside) {
    return inside.empty() ? "" : element("section", {}, "\n" + text_element("h2", heading) + "\n" + inside) + "\n";
}
/// Where a page says what the reader points at.
inline std::string page_details() {
    return element("aside", {{"id", "details"}, {"aria-label", "Details"}, {"aria-live", "polite"}},
                   "<p>Point at a box or a job, or go to one by the tab and arrow keys.</p>"
                   "<p class=\"how\">Pictures zoom with + and -, or the wheel after a click; drag to move, 0 shows all.</p>");
}
inline std::string page_refused(std::string const& verdict) {
    return text_element("p", verdict, {{"class", "refused"}, {"role", "alert"}}) + "\n";
}

/// The style of pictures with the light colours in place of their names.
inline std::string light_picture_style() {
    std::string_view const colours = page_colours, style = picture_css;
    std::string made;
    for (std::size_t at = 0; at < style.size();) {
        std::size_t const name = style.find("var(", at), end = style.find(')', name);
        made += style.substr(at, name - at);
        if (name == std::string_view::npos) break;
        std::string const wanted = std::string(style.substr(name + 4, end - name - 4)) + ": ";
        std::size_t const value = colours.find(wanted) + wanted.size();
        made += colours.substr(value, colours.find(';', value) - value);
        at = end + 1;
    }
    return made;
}

inline std::string page_document(std::string const& title, std::string const& about, std::string const& main) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
           text_element("title", title) + "\n<style>" + page_colours + picture_css + page_css + "</style>\n</head>\n<body>\n<header>\n" +
           text_element("h1", title) + "\n" + text_element("p", about) + "\n</header>\n<main>\n" + main + "</main>\n" +
           element("template", {{"id", "alone"}}, escaped(light_picture_style())) + "\n<script>" + page_js +
           "</script>\n</body>\n</html>\n";
}

/// A picture of a page as a document of its own.
inline std::string svg_document(std::string const& picture) {
    std::size_t const begin = picture.find("<svg") + 4, end = picture.find('>', begin) + 1;
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + picture.substr(begin, end - begin) + "\n<style>" + light_picture_style() +
           "</style>" + picture.substr(end);
}

inline void write_file(std::string const& text, std::string const& path) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write the report " + path);
}

/// @return the paths
inline std::vector<std::string> write_svg(std::vector<std::pair<std::string, std::string>> const& pictures, std::string const& folder) {
    std::vector<std::string> paths;
    for (auto const& [name, picture] : pictures) {
        std::string file = name;
        for (char& letter : file) {
            bool const plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
            if (!plain && letter != '.' && letter != '-') letter = '_';
        }
        std::string path = folder + "/" + file;
        while (std::find(paths.begin(), paths.end(), path + ".svg") != paths.end()) path += "_";
        paths.push_back(path + ".svg");
        write_file(svg_document(picture), paths.back());
    }
    return paths;
}

}  // namespace tilewright::reports
