#include "digits.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <zlib.h>

namespace handwritten {
namespace {

struct closes_gzip {
    void operator()(gzFile file) const { gzclose(file); }
};
using gzip_file = std::unique_ptr<gzFile_s, closes_gzip>;

/// All of the file's text. Reading it whole tells a damaged file from a malformed line.
std::string read_text(std::string const& name) {
    errno = 0;
    gzip_file const file(gzopen(name.c_str(), "rb"));
    if (!file) throw unreadable_file(name + ": " + std::strerror(errno != 0 ? errno : ENOMEM));
    std::string text;
    std::array<char, 1 << 16> block;
    for (int read = 0; (read = gzread(file.get(), block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(read));
    int code = Z_OK;
    char const* const reason = gzerror(file.get(), &code);  // begins with the file's name
    if (code != Z_OK) throw unreadable_file(reason);
    return text;
}

std::vector<std::string_view> split_at_commas(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t comma = line.find(','); comma != line.npos; comma = line.find(',')) {
        fields.push_back(line.substr(0, comma));
        line.remove_prefix(comma + 1);
    }
    fields.push_back(line);
    return fields;
}

/// A whole number of 0..largest, or nothing.
std::optional<int> parse_number(std::string_view text, int largest) {
    int value = 0;
    char const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || value < 0 || value > largest) return std::nullopt;
    return value;
}

/// A field as a message can show it.
std::string quoted(std::string_view field) {
    std::string text(field.substr(0, 16));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return '"' + text + '"';
}

digit parse_digit(std::string const& line, std::string const& file, int line_number) {
    constexpr std::size_t columns = image_pixels + 1;
    auto const fields = split_at_commas(line);
    if (fields.size() != columns)
        throw malformed_line(file, line_number, "expected " + std::to_string(columns) + " columns, found " + std::to_string(fields.size()));
    auto const number = [&](std::size_t column, int largest, std::string const& what) {
        if (auto const value = parse_number(fields[column], largest)) return *value;
        throw malformed_line(file, line_number,
                             "column " + std::to_string(column + 1) + ": expected a " + what + " of 0.." + std::to_string(largest) +
                                 ", found " + quoted(fields[column]));
    };
    digit result;
    for (std::size_t pixel = 0; pixel < image_pixels; ++pixel)
        result.image[pixel] = static_cast<std::int8_t>(number(pixel, brightest, "pixel"));
    result.label = number(image_pixels, classes - 1, "label");
    return result;
}

}  // namespace

malformed_line::malformed_line(std::string const& file, int line_number, std::string const& reason)
    : std::runtime_error(file + ":" + std::to_string(line_number) + ": " + reason), line(line_number) {}

std::vector<digit> load_digits(std::string const& file) {
    std::istringstream lines(read_text(file));
    std::vector<digit> digits;
    std::string line;
    for (int line_number = 1; std::getline(lines, line); ++line_number) {
        if (line.ends_with('\r')) line.pop_back();
        digits.push_back(parse_digit(line, file, line_number));
    }

    constexpr std::size_t expected = training_digits + test_digits;
    if (digits.size() != expected)
        throw unreadable_file(file + ": expected " + std::to_string(expected) + " digits, found " + std::to_string(digits.size()));
    return digits;
}

}  // namespace handwritten
