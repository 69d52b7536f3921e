// Runs networks of TensorFlow Lite as C and compares every byte of their results. `import_tflite FOLDER`: for each NAME.tflite there,
// NAME.in has the bytes of all inputs, of one run after the other, and NAME.out those of all outputs. Or NAME.refused has words of a reason
// in each line, one for each line that says what is not imported.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <span>
#include <tilewright/network/file_bytes.hpp>

#include "../../bench/onnx/run_network.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;
using bytes = std::vector<std::byte>;

std::vector<std::size_t> sizes_of(network::graph const& graph, std::vector<network::tensor_id> const& ids) {
    std::vector<std::size_t> made;
    for (network::tensor_id const id : ids) {
        network::tensor const& one = graph.tensors[static_cast<std::size_t>(id)];
        std::int64_t count = network::bytes_of(one.type);
        for (network::dimension const& along : *one.shape) count *= along.extent.value_or(along.usual);
        made.push_back(static_cast<std::size_t>(count));
    }
    return made;
}
std::vector<bytes> cut(bytes const& all, std::vector<std::size_t> const& sizes, std::size_t& at) {
    std::vector<bytes> made;
    for (std::size_t const size : sizes) {
        if (at + size > all.size()) throw std::runtime_error("a run has too few bytes");
        made.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + size));
        at += size;
    }
    return made;
}
/// Integers are the same to the bit; floats are sums in any order, so that a small one may be the difference of large ones.
void compare(network::tensor const& of, bytes const& got, bytes const& expected) {
    double largest = 0;
    if (of.type == network::element_type::float32)
        for (float const one : network::values_of<float>(expected)) largest = std::max(largest, std::abs(static_cast<double>(one)));
    for (std::size_t at = 0; at < expected.size(); ++at) {
        if (of.type == network::element_type::float32) {
            float is = 0, should = 0;
            std::memcpy(&is, got.data() + at / 4 * 4, 4), std::memcpy(&should, expected.data() + at / 4 * 4, 4);
            double const difference = std::abs(static_cast<double>(is) - static_cast<double>(should));
            if (!(difference <= 1e-6 + 1e-4 * largest))
                throw std::runtime_error(network::shown(of.name) + ", element " + std::to_string(at / 4) + ": expected " +
                                         std::to_string(should) + ", got " + std::to_string(is));
        } else if (got[at] != expected[at]) {
            throw std::runtime_error(network::shown(of.name) + ", byte " + std::to_string(at) + ": expected " +
                                     std::to_string(static_cast<int>(static_cast<std::int8_t>(expected[at]))) + ", got " +
                                     std::to_string(static_cast<int>(static_cast<std::int8_t>(got[at]))));
        }
    }
}
std::atomic<std::size_t> runs = 0, compared = 0, nodes = 0;
/// Drawn networks whose reshapes cut a tensor into more dimensions than a kernel has: a limit that the page states.
std::atomic<std::size_t> beyond = 0;

/// One model, and what was wrong with it.
struct model_under_test {
    fs::path file = {};
    std::string name = {};  ///< an identifier
    network::graph graph = {};
    std::string wrong = {};
    std::chrono::duration<double> time = {};

    /// @return nothing where it has to be refused, or need not be imported
    /// @throws std::runtime_error  what is wrong
    std::optional<networks::written_network> write(fs::path const& folder) {
        graph = networks::read_network(file);
        imported::layers made = networks::layers_of(graph);
        fs::path reasons = file;
        if (fs::exists(reasons.replace_extension(".refused"))) {
            std::ifstream in(reasons);
            std::size_t count = 0;
            for (std::string line; std::getline(in, line); ++count) {
                if (count >= made.refused.size() || made.refused[count].find(line) == std::string::npos)
                    throw std::runtime_error("refused by `" + (count < made.refused.size() ? made.refused[count] : "nothing") +
                                             "` instead of `" + line + "`");
            }
            if (count != made.refused.size()) throw std::runtime_error("also refused by `" + made.refused[count] + "`");
            return {};
        }
        if (made.refused.size() == 1 && made.refused[0].find("dimensions; 6 are the most") != std::string::npos) {
            ++beyond;
            return {};
        }
        if (!made.refused.empty()) throw std::runtime_error("refused: " + made.refused[0]);
        return networks::write_network(std::move(made), folder, name);
    }
    /// @throws std::runtime_error  what is wrong
    void run(networks::library::function call) const {
        nodes += graph.nodes.size();
        fs::path beside = file;
        bytes const given = network::read_bytes(beside.replace_extension(".in")),
                    expected = network::read_bytes(beside.replace_extension(".out"));
        auto const in_sizes = sizes_of(graph, network::passed_inputs(graph)), out_sizes = sizes_of(graph, network::passed_outputs(graph));
        std::size_t in_at = 0, out_at = 0;
        while (in_at < given.size()) {
            auto const inputs = cut(given, in_sizes, in_at), wanted = cut(expected, out_sizes, out_at);
            networks::call_arguments arguments(inputs, out_sizes);
            if (int const code = arguments(call); code != 0) throw std::runtime_error("code " + std::to_string(code));
            if (!arguments.kept()) throw std::runtime_error("an input, or bytes beside an argument, were written");
            for (std::size_t at = 0; at < wanted.size(); ++at) {
                bytes const found(arguments.output(at), arguments.output(at) + wanted[at].size());
                compare(graph.tensors[static_cast<std::size_t>(graph.outputs[at])], found, wanted[at]);
                compared += wanted[at].size();
            }
            ++runs;
        }
        if (out_at != expected.size() || in_at == 0) throw std::runtime_error("inputs and outputs of different numbers of runs");
    }
};

/// Checks models, whose C is compiled by one call of the compiler.
void check_together(std::span<model_under_test> models, fs::path const& folder) {
    std::vector<networks::written_network> written;
    std::vector<model_under_test*> imported;
    auto const timed = [](model_under_test& of, auto const& what) {
        auto const begin = std::chrono::steady_clock::now();
        try {
            what();
        } catch (std::exception const& error) {
            of.wrong = error.what();
        }
        of.time += std::chrono::steady_clock::now() - begin;
    };
    for (model_under_test& one : models) {
        timed(one, [&] {
            auto made = one.write(folder);
            if (!made) return;
            written.push_back(std::move(*made));
            imported.push_back(&one);
        });
    }
    auto const compiled = networks::compile_together(written, folder, "-O1 -Wall -Wextra -Werror -shared");
    for (std::size_t at = 0; at < imported.size(); ++at) {
        model_under_test& one = *imported[at];
        if (compiled[at].in) timed(one, [&] { one.run(compiled[at].in->caller(one.name)); });
        else one.wrong = compiled[at].why_not;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return std::cerr << "usage: import_tflite FOLDER [PART]\n", 2;
    std::vector<model_under_test> models;
    for (auto const& one : fs::directory_iterator(arguments[1])) {
        if (one.path().extension() == ".tflite" && (count < 3 || one.path().stem().string().find(arguments[2]) != std::string::npos))
            models.push_back({.file = one.path()});
    }
    std::sort(models.begin(), models.end(), [](auto const& a, auto const& b) { return a.file < b.file; });
    for (std::size_t at = 0; at < models.size(); ++at) models[at].name = "net" + std::to_string(at);
    fs::path const sources =
        networks::in_parts(models.size(), 20, count > 2, [&](std::size_t first, std::size_t together, fs::path const& own) {
            check_together(std::span(models).subspan(first, together), own);
        });
    if (count > 2) std::cout << sources.string() << '\n';
    std::size_t failed = 0;
    for (model_under_test const& one : models) {
        if (count > 2) std::cout << one.time.count() << " s " << one.file.stem().string() << ", " << one.name << ", to import and run\n";
        if (one.wrong.empty()) continue;
        std::cout << "FAILED " << one.file.stem().string() << ": " << one.wrong << '\n';
        ++failed;
    }
    std::cout << models.size() << " models, " << nodes << " nodes, " << runs << " runs, " << compared
              << " bytes compared, with too many dimensions: " << beyond << ", failed: " << failed << '\n';
    return failed > 0 || beyond * 50 > models.size() || models.empty() ? 1 : 0;
}
