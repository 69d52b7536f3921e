#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <tilewright/import/operator_entry.hpp>
#include <tilewright/reference/network.hpp>

#include "../../bench/onnx/run_network.hpp"
#include "catch.hpp"

namespace {

/// The page as one line.
std::string text_of_page() {
    std::ifstream page(TILEWRIGHT_PAGE);
    std::string text(std::istreambuf_iterator<char>(page), {});
    for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
    return text;
}
void check_listed(std::vector<std::string> const& operators) {
    std::string listed;
    for (std::string const& one : operators) listed += (listed.empty() ? "" : " ") + one;
    INFO(listed);
    CHECK(text_of_page().find("```text " + listed + " ```") != std::string::npos);
}

}  // namespace

TEST_CASE("the page of networks lists the operators that are imported") {
    check_listed(networks::imported_onnx_operators());
    check_listed(networks::imported_microsoft_operators());
    check_listed(networks::imported_tflite_operators());
}

TEST_CASE("the page of networks says which opsets are the newest") {
    using namespace tilewright;
    CHECK(text_of_page().find("may be any up to " + std::to_string(imported::newest_onnx_opset) + ", that of ONNX 1.22.") !=
          std::string::npos);
    CHECK(text_of_page().find("The opset of this domain is " + std::to_string(imported::newest_microsoft_opset) + ".") !=
          std::string::npos);
}
TEST_CASE("each operator that is imported has a reference, as the page says") {
    using namespace tilewright;
    auto const check = [](std::vector<std::string> const& imported, std::span<reference::operator_entry const> known) {
        for (std::string const& name : imported) {
            INFO(name);
            CHECK(std::any_of(known.begin(), known.end(), [&](reference::operator_entry const& one) { return one.name == name; }));
        }
    };
    check(networks::imported_onnx_operators(), reference::onnx_operators());
    check(networks::imported_microsoft_operators(), reference::microsoft_operators());
    check(networks::imported_tflite_operators(), reference::tflite_operators());
}
