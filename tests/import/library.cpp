// Networks as static libraries, as a project has them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <onnx/onnx_pb.h>
#include <sstream>
#include <string>
#include <vector>

#include "imported_conv2d.h"
#include "imported_softmax.h"

namespace {

/// A tensor that the makers of a model wrote beside it.
std::vector<float> floats(std::string const& model, std::string const& file) {
    std::ifstream in(std::string(TILEWRIGHT_MODELS) + "/" + model + "/test_data_set_0/" + file, std::ios::binary);
    onnx::TensorProto read;
    REQUIRE(read.ParseFromIstream(&in));
    std::string const& raw = read.raw_data();
    std::vector<float> made(raw.size() / sizeof(float));
    std::memcpy(made.data(), raw.data(), raw.size());
    REQUIRE_FALSE(made.empty());
    return made;
}
void check_close(std::vector<float> const& found, std::vector<float> const& expected) {
    for (std::size_t at = 0; at < expected.size(); ++at) {
        INFO("element " << at);
        CHECK(std::fabs(found[at] - expected[at]) <= 1e-5f * std::fabs(expected[at]) + 1e-6f);
    }
}

}  // namespace

TEST_CASE("a network with constants is a library, and its weights are a part of it") {
    std::vector<float> const in = floats("pytorch-converted/test_Conv2d", "input_0.pb"),
                             expected = floats("pytorch-converted/test_Conv2d", "output_0.pb");
    std::vector<float> out(expected.size(), -1.0f);
    imported_conv2d_memories memories{};
    std::vector<std::max_align_t> arena(TILEWRIGHT_imported_conv2d_arena_BYTES / sizeof(std::max_align_t) + 1);
    memories.arena = arena.data();
    memories.weights = imported_conv2d_weights_image;
    CHECK(imported_conv2d(in.data(), out.data(), &memories) == 0);
    check_close(out, expected);

    memories.weights = nullptr;
    CHECK(imported_conv2d(in.data(), out.data(), &memories) < 0);
}

TEST_CASE("a network without constants is a library") {
    std::vector<float> const in = floats("node/test_softmax_axis_1", "input_0.pb"),
                             expected = floats("node/test_softmax_axis_1", "output_0.pb");
    std::vector<float> out(expected.size(), -1.0f);
    std::vector<std::max_align_t> arena(TILEWRIGHT_imported_softmax_arena_BYTES / sizeof(std::max_align_t) + 1);
    imported_softmax_memories memories{};
    memories.arena = arena.data();
    CHECK(imported_softmax(in.data(), out.data(), &memories) == 0);
    check_close(out, expected);
}

TEST_CASE("a page shows the plan of a network") {
    std::ifstream in(TILEWRIGHT_PAGE);
    std::stringstream text;
    text << in.rdbuf();
    CHECK(text.str().find("imported_conv2d") != std::string::npos);
    CHECK(text.str().find("</html>") != std::string::npos);
}
