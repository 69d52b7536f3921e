#include <fstream>
#include <iterator>
#include <string>
#include <tilewright/import/network.hpp>

#include "catch.hpp"

TEST_CASE("the page of networks lists the operators that are imported") {
    std::string listed;
    for (tilewright::imported::operator_entry const& one : tilewright::imported::onnx_operators()) {
        listed += (listed.empty() ? "" : " ") + std::string(one.name);
    }
    std::ifstream page(TILEWRIGHT_PAGE);
    std::string text(std::istreambuf_iterator<char>(page), {});
    for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
    INFO(listed);
    CHECK(text.find("```text " + listed + " ```") != std::string::npos);
}
