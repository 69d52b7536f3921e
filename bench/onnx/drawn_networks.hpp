#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

/// Networks that tests/network/quantised_networks.py has drawn: each becomes C, is compiled and run, and must give what ONNX Runtime gives,
/// as closely as the file `expected` says.
namespace networks {

/// How many networks there were, and how close their results are.
struct drawn_outcome {
    std::size_t networks = 0, refused = 0, failed = 0;
    std::size_t integers = 0, different_integers = 0;  ///< elements of results; those that are a step from ONNX Runtime's
    double largest_error = 0;                          ///< the largest difference of all elements, in what is allowed

    std::size_t passed() const { return networks - refused - failed; }
    double percent_different() const {
        return 100.0 * static_cast<double>(different_integers) / static_cast<double>(integers > 0 ? integers : 1);
    }
};

/// Prints what is refused or fails, and a table with a line for each kind of network.
///
/// @param library_file  the shared library of ONNX Runtime
/// @param part          only networks whose name has it; their C is kept, and said where
/// @throws std::runtime_error  where there is no such library, or no folder to work in
drawn_outcome compare_drawn(std::filesystem::path const& library_file, std::filesystem::path const& folder, std::string const& part = {});

}  // namespace networks
