// Changes bytes of real models, and reads what comes out, under sanitizers: a graph that keeps its promises, or one line of refusal.
//
//     fuzz_readers CASES FOLDER…    all models in these folders take part, in turn
//
// The same cases every time. Ends with 1 at the first model that is neither.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>

namespace {

using namespace tilewright::network;
using bytes = std::vector<std::byte>;

/// Bytes of a file, changed in one of the ways in which files are damaged, or made to do damage.
class mutator {
  public:
    bytes changed(bytes from) {
        int const changes = draw(2) == 0 ? 1 : 1 + draw(4);
        for (int change = 0; change < changes && from.size() > 8; ++change) change_once(from);
        return from;
    }

  private:
    int draw(std::size_t below) { return static_cast<int>(std::uniform_int_distribution<std::size_t>(0, below - 1)(random_)); }

    /// Writes a number of `size` bytes at a multiple of them.
    void put(bytes& in, std::size_t size, std::uint64_t value) {
        std::size_t const at = static_cast<std::size_t>(draw(in.size() / size)) * size;
        for (std::size_t byte = 0; byte < size; ++byte) in[at + byte] = static_cast<std::byte>(value >> 8 * byte);
    }
    std::uint64_t number() {
        static constexpr std::uint64_t telling[] = {0,
                                                    1,
                                                    2,
                                                    3,
                                                    0x7f,
                                                    0x80,
                                                    0xff,
                                                    0x7fff,
                                                    0x8000,
                                                    0xffff,
                                                    0x7fff'ffff,
                                                    0x8000'0000,
                                                    0xffff'fff0,
                                                    0xffff'ffff,
                                                    0x7fff'ffff'ffff'ffff,
                                                    0xffff'ffff'ffff'ffff};
        return draw(2) == 0 ? telling[draw(std::size(telling))] : static_cast<std::uint64_t>(draw(256));
    }

    void change_once(bytes& in) {
        auto const at = [&] { return in.begin() + draw(in.size()); };
        int const how = draw(16);  // what moves all that follows ends most models at once, and comes less often
        if (how < 4) {
            *at() ^= std::byte(1 << draw(8));
        } else if (how < 6) {
            *at() = static_cast<std::byte>(number());
        } else if (how < 11) {
            put(in, how < 8 ? 2 : how < 10 ? 4 : 8, number());
        } else if (how < 13) {  // two fields change places
            std::size_t const size = std::size_t{1} << draw(5);
            if (in.size() < 2 * size) return;
            std::size_t const first = draw(in.size() / size) * size, second = draw(in.size() / size) * size;
            for (std::size_t byte = 0; byte < size; ++byte) std::swap(in[first + byte], in[second + byte]);
        } else if (how < 14) {
            in.resize(static_cast<std::size_t>(draw(in.size())) + 1);
        } else {  // a piece is gone, or stands somewhere else, too
            std::size_t const from = draw(in.size()), size = 1 + draw(std::min<std::size_t>(in.size() - from, 64));
            bytes const piece(in.begin() + from, in.begin() + from + size);
            if (how == 14) {
                in.erase(in.begin() + from, in.begin() + from + size);
            } else {
                in.insert(at(), piece.begin(), piece.end());
            }
        }
    }

    std::mt19937_64 random_{1};
};

void demand(bool holds, char const* what) {
    if (!holds) throw std::logic_error(what);
}

/// What users of a graph take for granted.
void check(graph const& network) {
    std::vector<char> there(network.tensors.size(), 0);
    for (std::size_t at = 0; at < there.size(); ++at) {
        tensor const& one = network.tensors[at];
        there[at] = one.constant != no_constant || one.variable;
        if (one.constant == no_constant || one.type == element_type::other) continue;
        auto const count = elements_of(one.shape.value());
        demand(network.constants.at(one.constant).size() == static_cast<std::size_t>(count.value() * bytes_of(one.type)),
               "a constant's size");
    }
    for (tensor_id const input : network.inputs) there.at(input) = 1;
    for (node const& one : network.nodes) {
        for (tensor_id const operand : one.inputs) demand(operand == no_tensor || there.at(operand), "an operand that is not there yet");
        for (tensor_id const result : one.outputs) {
            if (result == no_tensor) continue;
            demand(!there.at(result), "a result that is there already");
            there[result] = 1;
        }
    }
    for (tensor_id const output : network.outputs) demand(there.at(output), "an output that is never there");
    demand(!write(network).empty(), "no text");
}

}  // namespace

int main(int count, char** arguments) {
    google::protobuf::SetLogHandler(nullptr);
    int const cases = count > 1 ? std::atoi(arguments[1]) : 0;
    std::vector<std::pair<std::string, bytes>> models;
    std::vector<std::filesystem::path> files;
    for (int at = 2; at < count; ++at) {
        for (auto const& entry : std::filesystem::recursive_directory_iterator(arguments[at])) {
            if (entry.path().extension() == ".onnx" || entry.path().extension() == ".tflite") files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    constexpr std::size_t largest = 100'000;  // larger ones take all the time, and have no more fields
    for (auto const& file : files) {
        if (std::filesystem::file_size(file) <= largest) models.emplace_back(file.string(), read_bytes(file));
    }
    if (models.empty()) return 1;
    mutator mutate;
    std::map<std::string, int> ends;
    for (int at = 0; at < cases; ++at) {
        auto const& [file, original] = models[at % models.size()];
        bytes const changed = mutate.changed(original);
        try {
            try {
                check(file.ends_with(".onnx") ? onnx_graph(changed, file) : tflite_graph(changed, file));
                ++ends["read"];
            } catch (model_error const& error) {
                std::string const line = error.what();
                demand(line.starts_with(file + ": ") && line.find('\n') == std::string::npos && line.size() < file.size() + 1000,
                       "no line");
                ++ends[std::string(name_of(error.reason))];
            }
        } catch (std::exception const& error) {
            std::ofstream out("wrong_case", std::ios::binary);
            out.write(reinterpret_cast<char const*>(changed.data()), static_cast<std::streamsize>(changed.size()));
            std::cout << "case " << at << " of " << file << ": " << error.what() << " (it is in wrong_case)\n";
            return 1;
        }
    }
    std::cout << cases << " changed models of " << models.size() << '\n';
    for (auto const& [end, times] : ends) std::cout << "    " << times << ' ' << end << '\n';
    if (ends.size() < 8) {
        std::cout << "too few ends: the changes do not reach the readers' checks\n";
        return 1;
    }
}
