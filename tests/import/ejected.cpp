// Networks that `--eject` has written as C++, beside what the importer makes of the same models: the plans and the C of both are the same.
#include "ejected_as_program.hpp"
#include "ejected_in_strips.hpp"
#include "ejected_with_state.hpp"

#include <iostream>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/import/fit.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>

namespace {

using namespace tilewright;

int differences = 0;

void expect(bool is_so, std::string const& what) {
    if (!is_so) ++differences, std::cout << "DIFFERENT: " << what << "\n";
}

/// A text in which words that end in a number are that number: local variables may have other names before it.
std::string but_for_names(std::string const& text) {
    std::string made, word;
    for (char const letter : text + " ") {
        if (halide::detail::is_word_letter(letter)) {
            word += letter;
            continue;
        }
        std::size_t const number = word.find_last_not_of("0123456789") + 1;
        made += number < word.size() && number > 0 && word[number - 1] == '_' ? word.substr(number - 1) : word;
        made += letter, word.clear();
    }
    return made;
}

void compare(std::string const& model, imported::layers layers, imported::chip const& on, program const& written) {
    imported::fitted_network const fitted(std::move(layers), "network", on);
    program_plan_value const &expected = fitted.plan(), made = make_program_plan(written);
    if (made.refusal) return expect(false, model + " is refused: " + to_string(made.refusal));
    expect(made.kernels.size() == expected.kernels.size(), model + ": kernels");
    expect(made.cycles() == expected.cycles(), model + ": cycles");
    for (int at = 0; at < expected.memories.size(); ++at) {
        memory const& what = expected.memories[at].what;
        if (what.capacity == 0) continue;
        expect(made.peak(what).value == expected.peak(what).value, model + ": bytes of " + what.name.str());
    }
    halide::file_list const files = halide::c_program(expected, {.name = "network"}), own = halide::c_program(made, {.name = "network"});
    expect(files.size() == own.size(), model + ": files of C");
    for (std::size_t at = 0; at < std::min(files.size(), own.size()); ++at)
        expect(but_for_names(files[at].second) == but_for_names(own[at].second), model + ": " + files[at].first);
    std::cout << model << ": " << made.kernels.size() << " kernels, " << static_cast<double>(made.cycles()) << " cycles, "
              << fitted.strips().size() << " chains in strips, " << fitted.network().states.size() << " states, " << written.agent_count
              << " agents, " << files.size() << " files of C\n";
}

}  // namespace

/// `import_ejected digits.tflite test_add.onnx`
int main(int count, char** arguments) {
    if (count != 3) return 2;
    auto const digits = [&] { return imported::layers_of(network::read_tflite(arguments[1])); };
    compare("two agents", digits(), lesson_import::two_agents, as_program::network());
    compare("strips", digits(), small_chip::loops, in_strips::network());
    compare("state", imported::layers_of(network::read_onnx(arguments[2]), {{"x", "sum"}}), imported::this_processor().as_chip,
            with_state::network());
    return differences == 0 ? 0 : 1;
}
