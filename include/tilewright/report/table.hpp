#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::reports {

/// A number with its thousands apart: "4,194,304".
inline std::string grouped(std::int64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > (value < 0 ? 4u : 3u); at -= 3) text.insert(at - 3, 1, ',');  // of a text, g++ 12 warns falsely
    return text;
}

/// A part of a whole in percent with one decimal, rounded: "3.1 %". "-" of nothing.
inline std::string percent(std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return "-";
    auto const tenths = static_cast<std::int64_t>(1000.0 * static_cast<double>(part) / static_cast<double>(whole) + 0.5);
    return grouped(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

/// A bar of so many columns: '#' for each that a part of the whole has begun, then `rest`.
inline std::string filled_columns(std::int64_t part, std::int64_t whole, std::int64_t columns, char rest) {
    std::int64_t const filled = whole <= 0 ? 0 : std::min(columns, (part * columns + whole - 1) / whole);
    return std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(columns - filled), rest);
}

/// An address: "0x50000000". At least eight digits.
inline std::string hexadecimal(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%08llx", static_cast<unsigned long long>(value));
    return text;
}

/// Rows of texts whose columns are aligned. A column is as wide as its widest cell; nothing follows the last cell of a row.
class table {
  public:
    enum class side : bool { left, right };

    explicit table(std::vector<side> columns) : columns_(std::move(columns)) {}

    /// A row may be shorter than the table. @pre it is not longer
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    std::string str(std::string const& indent = "") const {
        std::vector<std::size_t> widths(columns_.size());
        for (auto const& row : rows_) {
            for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].size());
        }
        std::string text;
        for (auto const& row : rows_) {
            std::string line = indent;
            for (std::size_t at = 0; at < row.size(); ++at) {
                std::string const space(widths[at] - row[at].size(), ' ');
                line += (at == 0 ? "" : "  ") + (columns_[at] == side::left ? row[at] + space : space + row[at]);
            }
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + '\n';
        }
        return text;
    }

  private:
    std::vector<side> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace tilewright::reports
