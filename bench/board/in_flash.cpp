#include <fstream>

#include "../../examples/12_board/network.hpp"
#include "../../examples/digits/digits.hpp"

namespace {
constexpr int digits = 20;

template <class All>
void write(std::ostream& out, char const* type, char const* name, All const& all) {
    out << "static const " << type << " " << name << "[" << all.size() << "] = {";
    for (auto one : all) out << static_cast<int>(one) << ",";
    out << "};\n";
}
}  // namespace

/// Writes some digits that nothing was learnt from, and the network's weights, as arrays of C. Argument: the file.
int main(int count, char** arguments) {
    namespace lesson = lesson_board;
    if (count != 2) return 1;
    std::ofstream out(arguments[1]);
    out << "#include \"kernels.h\"\n#define DIGITS " << digits << "\nstatic const int8_t digits_in_flash[DIGITS][64] = {\n";
    auto const all = handwritten::load_digits(DIGITS_FILE);
    for (int at = 0; at < digits; ++at) {
        out << "    {";
        for (std::int8_t pixel : all[static_cast<std::size_t>(handwritten::training_digits + at)].image)
            out << static_cast<int>(pixel) << ",";
        out << "},\n";
    }
    out << "};\n";
    write(out, "int8_t", "weights1", lesson::weights1);
    write(out, "int8_t", "weights2", lesson::weights2);
    write(out, "int8_t", "weights3", lesson::weights3);
    write(out, "int32_t", "bias1", lesson::conv1_bias);
    write(out, "int32_t", "multiplier1", lesson::conv1_multiplier);
    write(out, "int32_t", "shift1", lesson::conv1_shift);
    write(out, "int32_t", "bias2", lesson::conv2_bias);
    write(out, "int32_t", "multiplier2", lesson::conv2_multiplier);
    write(out, "int32_t", "shift2", lesson::conv2_shift);
    write(out, "int32_t", "bias3", lesson::dense_bias);
    out << "static const struct network network_in_flash = {weights1, weights2, weights3, {bias1, multiplier1, shift1}, "
           "{bias2, multiplier2, shift2}, bias3};\n";
    return out.flush() ? 0 : 1;
}
