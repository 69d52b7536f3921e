// Networks that quantised_networks.py has drawn, judged by ONNX Runtime. What is refused is listed. `onnxruntime LIBRARY FOLDER LEAST
// [PART]`: at least LEAST networks have to pass; only those whose name has PART.
#include "../../bench/onnx/drawn_networks.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>

int main(int count, char** arguments) try {
    if (count < 4) throw std::runtime_error("onnxruntime LIBRARY FOLDER LEAST [PART]");
    networks::drawn_outcome const found = networks::compare_drawn(arguments[1], arguments[2], count > 4 ? arguments[4] : "");
    auto const least = static_cast<std::size_t>(std::atoi(arguments[3]));
    std::cout << "onnxruntime: passed=" << found.passed() << " refused=" << found.refused << " failed=" << found.failed << '\n';
    if (found.passed() < least) std::cout << least << " have to pass\n";
    return found.failed > 0 || found.passed() < least ? 1 : 0;
} catch (std::exception const& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
