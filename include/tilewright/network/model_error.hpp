#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

// Why a model is not read: a name, and the sentence that begins the reason. What follows it are the numbers of the case.
#define TILEWRIGHT_MODEL_REFUSALS(X)                                                           \
    X(unreadable, "the file cannot be read")                                                   \
    X(too_large, "it is larger than is read")                                                  \
    X(not_a_model, "this is no such model, or a damaged one")                                  \
    X(model_version, "models of this version are not read")                                    \
    X(element_type, "elements of this type are not imported")                                  \
    X(not_a_tensor, "only tensors are imported")                                               \
    X(sparse, "sparse tensors are not imported")                                               \
    X(subgraph, "a network is one graph: control flow and further subgraphs are not imported") \
    X(function, "operators that the model defines itself are not imported; inline them")       \
    X(training, "the model has information for training; export it for inference")             \
    X(quantisation, "this quantisation is not imported")                                       \
    X(missing_file, "a file with constants is missing")                                        \
    X(path_leaves_folder, "a file with constants lies outside of the model's folder")          \
    X(external_data, "constants outside of the model cannot be read as it says")               \
    X(constant_size, "a constant has not as many bytes as its shape says")                     \
    X(input_elements, "these are not the elements of the input")                               \
    X(constant_value, "a constant has an element that its type cannot be")                     \
    X(shape, "the shape is none")                                                              \
    X(contradiction, "the model says two things of one tensor")                                \
    X(operator_set, "the model does not say which version of the operators it means")          \
    X(attribute, "this attribute is not what its operator takes")                              \
    X(no_such_position, "the model refers to something that it does not have")                 \
    X(no_source, "nothing computes this tensor, and it is neither an input nor a constant")    \
    X(two_sources, "a tensor is computed, given or defined twice")                             \
    X(circle, "nodes need each other's results")

namespace tilewright::network {

enum class refusal {
#define TILEWRIGHT_ENUMERATOR(NAME, TEXT) NAME,
    TILEWRIGHT_MODEL_REFUSALS(TILEWRIGHT_ENUMERATOR)
#undef TILEWRIGHT_ENUMERATOR
};

/// The enumerator's name, as tests and tables print it.
constexpr std::string_view name_of(refusal reason) {
    constexpr std::string_view names[] = {
#define TILEWRIGHT_NAME(NAME, TEXT) #NAME,
        TILEWRIGHT_MODEL_REFUSALS(TILEWRIGHT_NAME)
#undef TILEWRIGHT_NAME
    };
    return names[static_cast<int>(reason)];
}

constexpr std::string_view text_of(refusal reason) {
    constexpr std::string_view texts[] = {
#define TILEWRIGHT_TEXT(NAME, TEXT) TEXT,
        TILEWRIGHT_MODEL_REFUSALS(TILEWRIGHT_TEXT)
#undef TILEWRIGHT_TEXT
    };
    return texts[static_cast<int>(reason)];
}

/// A model that is not read. `what()` is one line: the file, the node or tensor, the reason with its numbers.
struct model_error : std::runtime_error {
    model_error(refusal why, std::string const& line) : std::runtime_error(line), reason(why) {}
    refusal reason;
};

/// A name out of a model as a line can show it: without control characters, and cut after 60 bytes, never inside a letter.
inline std::string printable(std::string_view name) {
    std::size_t end = 60;
    if (end >= name.size()) {
        end = name.size();
    } else {
        while (end > 50 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    }
    std::string text;
    for (char const letter : name.substr(0, end)) {
        auto const byte = static_cast<unsigned char>(letter);
        text += byte < 0x20 || byte == 0x7f ? '?' : letter;
    }
    return text + (end < name.size() ? "…" : "");
}

/// The same between backquotes.
inline std::string shown(std::string_view name) { return "`" + printable(name) + "`"; }

/// Throws a model_error of this file. `part` is the node or the tensor, or empty; `detail` the numbers, or empty.
[[noreturn]] inline void refuse(std::string const& file, refusal reason, std::string const& part, std::string const& detail = {}) {
    std::string line = file;
    if (!part.empty()) line += ": " + part;
    line += ": " + std::string(text_of(reason));
    if (!detail.empty()) line += ": " + detail;
    throw model_error(reason, line);
}

}  // namespace tilewright::network
