#include <fstream>
#include <iterator>
#include <string>
#include <tilewright/import/network.hpp>

#include "catch.hpp"

namespace {

void check_listed(std::span<tilewright::imported::operator_entry const> operators) {
    std::string listed;
    for (tilewright::imported::operator_entry const& one : operators) listed += (listed.empty() ? "" : " ") + std::string(one.name);
    std::ifstream page(TILEWRIGHT_PAGE);
    std::string text(std::istreambuf_iterator<char>(page), {});
    for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
    INFO(listed);
    CHECK(text.find("```text " + listed + " ```") != std::string::npos);
}

}  // namespace

TEST_CASE("the page of networks lists the operators that are imported") {
    check_listed(tilewright::imported::onnx_operators());
    check_listed(tilewright::imported::tflite_operators());
}
