#pragma once
#include "shape.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace handwritten {

/// One handwritten digit: its pixels, 0 to `brightest` in row order, and the digit that its writer meant.
struct digit {
    std::array<std::int8_t, image_pixels> image{};
    int label = 0;
};

/// The file is missing, damaged, or has too few digits.
struct unreadable_file : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A line of the file is not 64 pixels of 0..16 and a label of 0..9. The message starts with "file:line: ".
struct malformed_line : std::runtime_error {
    malformed_line(std::string const& file, int line_number, std::string const& reason);

    int line = 0;  ///< counted from 1
};

/// Loads digits from comma-separated text, gzipped or plain: on each line the pixels of one digit, then its label.
///
/// @throws unreadable_file  when the file is missing, truncated or damaged, or does not hold `training_digits + test_digits`
/// @throws malformed_line   at the first line that is not a digit
std::vector<digit> load_digits(std::string const& file);

}  // namespace handwritten
