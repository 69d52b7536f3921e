#include <tilewright/network/write.hpp>

#include "catch.hpp"

using namespace tilewright::network;

TEST_CASE("a graph is a line for each input, constant, node, result and output") {
    graph network{.name = "main",
                  .format = "tflite",
                  .tensors = {{"x", element_type::int8, {{{std::nullopt, {}}, {8, {}}}}, quantisation{{0.5F}, {-1}, {}}},
                              {"w", element_type::int8, {{{2, {}}, {8, {}}}}, quantisation{{0.25F, 0.1F}, {0, 3}, 0}, constant_id(0)},
                              {"a\nb"},
                              {"y", element_type::float32, {{{std::nullopt, "N"}}}},
                              {"s", element_type::boolean, tensor_shape(), {}, no_constant, true}},
                  .nodes = {{.operation = "CONV_2D",
                             .version = 3,
                             .inputs = {tensor_id(0), tensor_id(1), no_tensor},
                             .outputs = {tensor_id(2)},
                             .attributes = {{"padding", std::string("SAME")},
                                            {"stride_w", std::int64_t{2}},
                                            {"beta", 0.1F},
                                            {"shape", std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}},
                                            {"value", literal{element_type::int64, {1}, constant_id(0)}}}},
                            {.name = "last",
                             .operation = "Mine",
                             .domain = "custom",
                             .inputs = {tensor_id(2), tensor_id(4)},
                             .outputs = {tensor_id(3), no_tensor},
                             .attributes_known = false}},
                  .inputs = {tensor_id(0)},
                  .outputs = {tensor_id(3)},
                  .constants = {std::vector<std::byte>(16)}};
    CHECK(write(network) ==
          "network `main` from tflite: 5 tensors, 1 constant, 2 nodes\n"
          "input %0 `x`: int8[?, 8] scale 0.5 zero -1\n"
          "constant %1 `w`: int8[2, 8] scale [0.25, 0.1] zero [0, 3] along 0\n"
          "variable %4 `s`: bool[]\n"
          "node 0 CONV_2D version 3 (%0, %1, none) padding=`SAME` stride_w=2 beta=0.1 shape=[1, 2, 3, 4, 5, 6, 7, 8, … 9 in all] "
          "value=constant of int64 1\n"
          "    -> %2 `a?b`: unknown[…]\n"
          "node 1 `last` custom.Mine version 1 (%2, %4) (settings not read)\n"
          "    -> %3 `y`: float32[?`N`]\n"
          "output %3 `y`\n");
}
