// Changes settings, shapes, types and operands of networks of ONNX and TensorFlow Lite, and imports what comes out, under sanitizers: lines
// of refusal, or a program that is planned or refused.
//
//     import_fuzz CASES FOLDER    the models in this folder take part, in turn
//
// The same cases every time. Ends with 1 at the first network that is neither.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <tilewright/import/network.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>
#include <tilewright/program/program_plan.hpp>

namespace {

using namespace tilewright;
using network::no_tensor;
using network::tensor_id;

/// A network, changed in one of the ways in which exporters err, or in which somebody does damage.
class mutator {
  public:
    void change(network::graph& of) {
        for (int changes = 1 + draw(3); changes > 0; --changes) change_once(of);
    }

  private:
    int draw(std::size_t below) { return static_cast<int>(std::uniform_int_distribution<std::size_t>(0, below - 1)(random_)); }
    template <class T>
    T& one_of(std::vector<T>& all) {
        return all[static_cast<std::size_t>(draw(all.size()))];
    }
    std::int64_t number() {
        static constexpr std::int64_t telling[] = {0,
                                                   1,
                                                   2,
                                                   3,
                                                   -1,
                                                   -2,
                                                   7,
                                                   64,
                                                   255,
                                                   65536,
                                                   INT32_MAX,
                                                   INT32_MIN,
                                                   std::int64_t{1} << 31,
                                                   std::int64_t{1} << 40,
                                                   INT64_MAX,
                                                   INT64_MIN,
                                                   INT64_MAX / 2,
                                                   -(std::int64_t{1} << 62)};
        return draw(2) == 0 ? telling[draw(std::size(telling))] : draw(6);
    }
    float real() {
        static constexpr float telling[] = {0, 1, -1, 0.5f, 1e-30f, 1e30f, INFINITY, -INFINITY, NAN};
        return telling[draw(std::size(telling))];
    }
    void change_list(std::vector<std::int64_t>& list) {
        int const how = draw(6);
        if (how == 0 && !list.empty()) list.pop_back();
        else if (how == 1) list.push_back(number());
        else if (how == 2 && draw(4) == 0) list.clear();
        else if (how == 3 && list.size() > 1) std::swap(one_of(list), one_of(list));
        else if (!list.empty()) one_of(list) = number();
    }
    network::attribute_value value() {
        static char const* const words[] = {"",    "SAME_UPPER", "VALID",  "constant", "edge", "reflect",
                                            "CRD", "nonsense",   "linear", "cubic",    "sum",  "add"};
        switch (draw(5)) {
            case 0: return number();
            case 1: return real();
            case 2: return std::string(words[draw(std::size(words))]);
            case 3: return std::vector<float>(static_cast<std::size_t>(draw(4)), real());
            default: break;
        }
        std::vector<std::int64_t> list(static_cast<std::size_t>(draw(8)));
        for (std::int64_t& one : list) one = number();
        return list;
    }
    void change_attribute(network::node& of) {
        static char const* const names[] = {
            "axis",           "axes",         "perm",       "group",     "strides",   "dilations",         "pads",
            "kernel_shape",   "auto_pad",     "to",         "split",     "blocksize", "keepdims",          "alpha",
            "beta",           "epsilon",      "mode",       "transA",    "ceil_mode", "count_include_pad", "shape",
            "starts",         "ends",         "p",          "size",      "reduction", "hidden_size",       "direction",
            "output_padding", "output_shape", "batch_dims", "exclusive", "stride_h",  "dilation_w_factor", "filter_height",
            "padding",        "squeeze_dims", "begin_mask", "reverse",   "k",         "equation",          "dtype"};
        int const how = draw(6);
        if (how < 2 || of.attributes.empty()) {
            char const* const name = names[draw(std::size(names))];
            std::erase_if(of.attributes, [&](auto const& one) { return one.name == name; });
            of.attributes.push_back({name, value()});
        } else if (how == 2) {
            of.attributes.erase(of.attributes.begin() + draw(of.attributes.size()));
        } else {
            auto& held = one_of(of.attributes).value;
            if (auto* one = std::get_if<std::int64_t>(&held)) *one = number();
            else if (auto* list = std::get_if<std::vector<std::int64_t>>(&held)) change_list(*list);
            else if (auto* real_one = std::get_if<float>(&held)) *real_one = real();
            else held = value();
        }
    }
    /// The bytes of a constant fit its shape and type again: repeated, or cut.
    static void fit(network::graph& of, network::tensor& changed) {
        if (changed.constant == network::no_constant || !changed.shape) return;
        auto const count = network::elements_of(*changed.shape);
        if (!count || *count > 4096) return;
        auto& bytes = of.constants[static_cast<std::size_t>(changed.constant)];
        if (bytes.empty()) bytes.push_back({});
        std::size_t const before = bytes.size(), now = static_cast<std::size_t>(*count * bytes_of(changed.type));
        bytes.resize(now);
        for (std::size_t at = before; at < now; ++at) bytes[at] = bytes[at - before];
        if (changed.type != network::element_type::boolean) return;
        for (std::byte& one : bytes) one &= std::byte{1};
    }
    void change_tensor(network::graph& of) {
        network::tensor& changed = one_of(of.tensors);
        if (draw(3) == 0) {
            changed.type = static_cast<network::element_type>(draw(15));
        } else if (changed.shape) {
            std::vector<std::int64_t> extents;
            for (auto const& one : *changed.shape) extents.push_back(one.extent.value_or(1));
            change_list(extents);
            changed.shape->clear();
            for (std::int64_t const one : extents) changed.shape->push_back({one, {}});
        }
        fit(of, changed);
    }
    void change_constant(network::graph& of) {
        if (of.constants.empty()) return;
        auto& bytes = one_of(of.constants);
        if (bytes.size() < 8) return;
        std::size_t const at = static_cast<std::size_t>(draw(bytes.size() / 8)) * 8;
        std::uint64_t const word = static_cast<std::uint64_t>(number());
        for (std::size_t byte = 0; byte < 8; ++byte) bytes[at + byte] = static_cast<std::byte>(word >> 8 * byte);
    }
    void change_ends(network::graph& of, std::vector<tensor_id>& ends, bool operands) {
        int const how = draw(5);
        if (how == 0 && !ends.empty()) ends.pop_back();
        else if (how == 1 && !ends.empty()) one_of(ends) = no_tensor;
        else if (how == 2 && ends.size() > 1) std::swap(one_of(ends), one_of(ends));
        else if (operands) {
            auto const any = tensor_id(draw(of.tensors.size()));
            if (how == 3 && !ends.empty()) one_of(ends) = any;
            else ends.push_back(any);
        } else {
            of.tensors.push_back({.name = "more"});
            ends.push_back(tensor_id(of.tensors.size() - 1));
        }
    }
    void change_operator(network::node& node) {
        auto const all = draw(4) == 0 ? imported::microsoft_operators() : imported::onnx_operators();
        imported::operator_entry const& one = all[static_cast<std::size_t>(draw(all.size()))];
        node.operation = one.name;
        // Those that a rewriting makes are in no file.
        node.domain = one.domain == imported::rewritten_domain ? "" : one.domain;
        if (draw(4) == 0) return;
        // Otherwise the opset and the attributes would be refused before anything else is looked at.
        node.version = one.domain == imported::microsoft_domain ? imported::newest_microsoft_opset
                       : one.until != 0                         ? one.until
                                                                : imported::newest_onnx_opset;
        std::erase_if(node.attributes, [&](network::attribute const& setting) {
            return (" " + std::string(one.attributes) + " ").find(" " + setting.name + " ") == std::string::npos;
        });
    }
    void change_once(network::graph& of) {
        if (of.nodes.empty() || of.tensors.empty()) return;
        network::node& node = one_of(of.nodes);
        int const how = draw(20);
        if (how < 8) change_attribute(node);
        else if (how < 12) change_tensor(of);
        else if (how < 14) change_constant(of);
        else if (how < 16) change_ends(of, node.inputs, true);
        else if (how < 17) change_ends(of, node.outputs, false);
        else if (how < 18) node.version = draw(20);
        else change_operator(node);
    }

    std::mt19937_64 random_{1};
};

/// A model of which shapes, axes and limits are constants, as networks have them: what the test gives for all inputs but the first.
network::graph read(std::filesystem::path const& model) {
    if (model.extension() == ".tflite") return network::read_tflite(model);
    network::graph made = network::read_onnx(model);
    for (std::size_t at = made.inputs.size(); at-- > 1;) {
        std::ifstream in(model.parent_path() / "test_data_set_0" / ("input_" + std::to_string(at) + ".pb"), std::ios::binary);
        onnx::TensorProto from;
        network::tensor& one = made.tensors[static_cast<std::size_t>(made.inputs[at])];
        bool const is_list = one.type == network::element_type::int64 || (one.shape && one.shape->size() < 2);
        if (!is_list || !from.ParseFromIstream(&in) || !from.has_raw_data()) continue;
        auto const* first = reinterpret_cast<std::byte const*>(from.raw_data().data());
        one.constant = network::constant_id(made.constants.size());
        made.constants.emplace_back(first, first + from.raw_data().size());
        made.inputs.erase(made.inputs.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return made;
}

void demand(bool holds, std::string const& what) {
    if (!holds) throw std::logic_error(what);
}

/// How the import of a network ends.
std::string end_of(network::graph const& network) {
    imported::layers made = imported::layers_of(network);
    for (std::string const& line : made.refused) demand(line.find('\n') == std::string::npos && line.size() < 1000, "no line: " + line);
    if (!made.refused.empty()) return "refused";
    imported::network_program const whole(std::move(made), "net");
    return make_program_plan(whole.get(), 2000).refusal ? "no plan" : "planned";
}

}  // namespace

int main(int count, char** arguments) {
    google::protobuf::SetLogHandler(nullptr);
    int const cases = count > 2 ? std::atoi(arguments[1]) : 0;
    int const first = count > 3 ? std::atoi(arguments[3]) : 0;
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(count > 2 ? arguments[2] : ".")) {
        bool const is_model = entry.path().extension() == ".onnx" || entry.path().extension() == ".tflite";
        if (is_model && std::filesystem::file_size(entry.path()) < 20'000) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<std::pair<std::string, network::graph>> models;
    for (auto const& file : files) {
        try {
            network::graph one = read(file);
            if (end_of(one) != "refused") models.emplace_back(file.string(), std::move(one));
        } catch (network::model_error const&) {
        }
    }
    if (models.empty()) return 1;
    mutator mutate;
    std::map<std::string, int> ends;
    for (int at = 0; at < cases; ++at) {
        auto const& [file, original] = models[static_cast<std::size_t>(at) % models.size()];
        network::graph changed = original;
        mutate.change(changed);
        if (at < first) continue;
        try {
            try {
                changed = network::complete(std::move(changed), file);
            } catch (network::model_error const&) {
                ++ends["no network"];
                continue;
            }
            if (first > 0) std::cerr << "case " << at << " of " << file << '\n' << write(changed) << std::flush;
            ++ends[end_of(changed)];
        } catch (std::exception const& error) {
            std::cout << "case " << at << " of " << file << ": " << error.what() << '\n';
            return 1;
        }
    }
    std::cout << cases << " changed networks of " << models.size() << '\n';
    for (auto const& [end, times] : ends) std::cout << "    " << times << ' ' << end << '\n';
    if (ends["refused"] == 0 || ends["planned"] == 0 || ends["no network"] == 0) {
        std::cout << "too few ends: the changes do not reach the checks\n";
        return 1;
    }
}
