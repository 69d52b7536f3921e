#include <fstream>

#include "../digits/digits.hpp"

/// Writes the digits that nothing was learnt from as an array of C: 64 pixels and what they mean. Argument: the file.
int main(int count, char** arguments) {
    if (count != 2) return 1;
    std::ofstream out(arguments[1]);
    auto const digits = handwritten::load_digits(DIGITS_FILE);
    out << "#include <stdint.h>\n#define DIGITS " << handwritten::test_digits << "\nstatic const int8_t digits_in_flash[DIGITS][65] = {\n";
    for (std::size_t at = handwritten::training_digits; at < digits.size(); ++at) {
        out << "    {";
        for (std::int8_t pixel : digits[at].image) out << static_cast<int>(pixel) << ", ";
        out << digits[at].label << "},\n";
    }
    out << "};\n";
    return out.flush() ? 0 : 1;
}
