#include <algorithm>
#include <cstring>
#include <functional>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/write.hpp>

#include "catch.hpp"
#include "folder.hpp"

using namespace tilewright::network;

namespace {

void declare(onnx::ValueInfoProto& value, std::string const& name, int type, std::vector<std::int64_t> const& extents) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (std::int64_t const extent : extents) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

/// y = Relu(x) on two floats.
onnx::ModelProto relu() {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("main");
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Relu");
    node.add_input("x");
    node.add_output("y");
    declare(*graph.add_input(), "x", onnx::TensorProto::FLOAT, {2});
    declare(*graph.add_output(), "y", onnx::TensorProto::FLOAT, {2});
    return model;
}

/// An initializer `w` of this type and extents, without elements yet.
onnx::TensorProto& constant(onnx::ModelProto& model, int type, std::vector<std::int64_t> const& extents) {
    onnx::TensorProto& made = *model.mutable_graph()->add_initializer();
    made.set_name("w");
    made.set_data_type(type);
    for (std::int64_t const extent : extents) made.add_dims(extent);
    return made;
}

void entry(onnx::TensorProto& tensor, std::string const& key, std::string const& value) {
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto& added = *tensor.add_external_data();
    added.set_key(key);
    added.set_value(value);
}

graph read(onnx::ModelProto const& model, std::filesystem::path const& path = "net.onnx") {
    std::string const text = model.SerializeAsString();
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return onnx_graph(bytes, path);
}

/// The reason for which a model is refused, in a line with these words.
refusal reason_of(onnx::ModelProto const& model, std::string const& words, std::filesystem::path const& path = "net.onnx") {
    try {
        read(model, path);
    } catch (model_error const& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find(words) != std::string::npos);
        CHECK(std::string(error.what()).starts_with(path.string() + ": "));
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.reason;
    }
    FAIL("not refused");
    return refusal::unreadable;
}
refusal reason_with(std::function<void(onnx::ModelProto&)> const& change, std::string const& words) {
    onnx::ModelProto model = relu();
    change(model);
    return reason_of(model, words);
}

std::vector<std::byte> const& elements_of_w(graph const& network) {
    for (tensor const& one : network.tensors) {
        if (one.name == "w") return network.constants.at(one.constant);
    }
    throw std::logic_error("no tensor w");
}

}  // namespace

TEST_CASE("a model of one node is read") {
    graph const network = read(relu());
    CHECK(network.name == "main");
    CHECK(network.format == "onnx");
    REQUIRE(network.nodes.size() == 1);
    CHECK(network.nodes[0].operation == "Relu");
    CHECK(network.nodes[0].version == 17);
    CHECK(network.tensors[network.inputs.at(0)].name == "x");
    CHECK(network.tensors[network.outputs.at(0)].shape == tensor_shape{{2, {}}});
}

TEST_CASE("elements are read from the list of their type") {
    onnx::ModelProto model = relu();
    SECTION("int8, among 32-bit integers") {
        auto& w = constant(model, onnx::TensorProto::INT8, {2});
        w.add_int32_data(-128);
        w.add_int32_data(127);
        CHECK(values_of<std::int8_t>(elements_of_w(read(model))) == std::vector<std::int8_t>{-128, 127});
        w.set_int32_data(1, 128);
        CHECK(reason_of(model, "constant `w`: a constant has an element that its type cannot be: 128 in int8") == refusal::constant_value);
    }
    SECTION("uint16, among 32-bit integers") {
        auto& w = constant(model, onnx::TensorProto::UINT16, {});
        w.add_int32_data(65535);
        CHECK(values_of<std::uint16_t>(elements_of_w(read(model))) == std::vector<std::uint16_t>{65535});
        w.set_int32_data(0, -1);
        CHECK(reason_of(model, "-1 in uint16") == refusal::constant_value);
    }
    SECTION("uint32, among 64-bit integers") {
        auto& w = constant(model, onnx::TensorProto::UINT32, {1});
        w.add_uint64_data(0xffff'ffff);
        CHECK(values_of<std::uint32_t>(elements_of_w(read(model))) == std::vector<std::uint32_t>{0xffff'ffff});
        w.set_uint64_data(0, std::uint64_t{1} << 63);
        CHECK(reason_of(model, "9223372036854775808 in uint32") == refusal::constant_value);
    }
    SECTION("uint64") {
        constant(model, onnx::TensorProto::UINT64, {1}).add_uint64_data(~std::uint64_t{0});
        CHECK(values_of<std::uint64_t>(elements_of_w(read(model))) == std::vector<std::uint64_t>{~std::uint64_t{0}});
    }
    SECTION("double") {
        constant(model, onnx::TensorProto::DOUBLE, {1}).add_double_data(-0.5);
        CHECK(values_of<double>(elements_of_w(read(model))) == std::vector<double>{-0.5});
    }
    SECTION("float16, among 32-bit integers: its bits, which some writers extend by their sign") {
        auto& w = constant(model, onnx::TensorProto::FLOAT16, {2});
        w.add_int32_data(0x3c00);
        w.add_int32_data(0xc000 - 0x10000);
        graph const network = read(model);
        CHECK(network.tensors[0].type == element_type::float16);
        CHECK(values_of<std::uint16_t>(elements_of_w(network)) == std::vector<std::uint16_t>{0x3c00, 0xc000});
        w.set_int32_data(1, 0x10000);
        CHECK(reason_of(model, "65536 in float16") == refusal::constant_value);
        w.set_int32_data(1, -0x8001);
        CHECK(reason_of(model, "-32769 in float16") == refusal::constant_value);
    }
    SECTION("bfloat16, raw") {
        constant(model, onnx::TensorProto::BFLOAT16, {1}).set_raw_data(std::string("\x80\x3f", 2));
        CHECK(values_of<std::uint16_t>(elements_of_w(read(model))) == std::vector<std::uint16_t>{0x3f80});
    }
    SECTION("raw") {
        constant(model, onnx::TensorProto::INT16, {1}).set_raw_data(std::string("\x01\x02", 2));
        CHECK(values_of<std::int16_t>(elements_of_w(read(model))) == std::vector<std::int16_t>{0x201});
    }
}

TEST_CASE("constants of types that graphs have no elements of keep the name of the type") {
    onnx::ModelProto model = relu();
    auto& w = constant(model, onnx::TensorProto::STRING, {1});
    w.add_string_data("text");
    CHECK(elements_of_w(read(model)).empty());
    CHECK(write(read(model)).find("`w`: STRING[1]\n") != std::string::npos);
    w.set_data_type(77);
    CHECK(write(read(model)).find("`w`: type 77[1]\n") != std::string::npos);
    // Two words for one tensor contradict each other, although graphs have elements of neither.
    auto& declared = *model.mutable_graph()->add_value_info();
    declared.set_name("w");
    declared.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::COMPLEX64);
    CHECK(reason_of(model, "type 77 and COMPLEX64") == refusal::contradiction);
}

TEST_CASE("elements that contradict their shape or type are refused") {
    onnx::ModelProto model = relu();
    SECTION("too few") {
        constant(model, onnx::TensorProto::FLOAT, {3}).add_float_data(1);
        CHECK(reason_of(model, "tensor `w`") == refusal::constant_size);
    }
    SECTION("a huge shape without elements takes no memory") {
        constant(model, onnx::TensorProto::FLOAT, {std::int64_t{1} << 40}).add_float_data(1);
        CHECK(reason_of(model, "4 bytes for 1099511627776 elements of float32") == refusal::constant_size);
    }
    SECTION("a shape that nobody can count") {
        constant(model, onnx::TensorProto::FLOAT, {std::int64_t{1} << 40, std::int64_t{1} << 40});
        CHECK(reason_of(model, "constant `w`") == refusal::shape);
    }
    SECTION("a list of another type") {
        constant(model, onnx::TensorProto::FLOAT, {1}).add_int64_data(1);
        CHECK(reason_of(model, "another type than float32") == refusal::contradiction);
    }
    SECTION("raw and listed") {
        auto& w = constant(model, onnx::TensorProto::INT8, {1});
        w.set_raw_data("a");
        w.add_int32_data(1);
        CHECK(reason_of(model, "raw_data and a list") == refusal::contradiction);
    }
    SECTION("no type") {
        constant(model, onnx::TensorProto::UNDEFINED, {1}).set_raw_data("ab");
        CHECK(reason_of(model, "constant `w`: elements of this type are not imported: UNDEFINED") == refusal::element_type);
    }
    SECTION("halves of another size") {
        constant(model, onnx::TensorProto::FLOAT16, {2}).set_raw_data("abc");
        CHECK(reason_of(model, "3 bytes for 2 elements of float16") == refusal::constant_size);
    }
    SECTION("segments") {
        constant(model, onnx::TensorProto::FLOAT, {1}).mutable_segment();
        CHECK(reason_of(model, "segments") == refusal::external_data);
    }
    SECTION("twice") {
        constant(model, onnx::TensorProto::INT8, {1}).set_raw_data("a");
        constant(model, onnx::TensorProto::INT8, {1}).set_raw_data("a");
        CHECK(reason_of(model, "constant `w`") == refusal::two_sources);
    }
}

TEST_CASE("an input with a constant of its name is that constant") {
    onnx::ModelProto model = relu();
    constant(model, onnx::TensorProto::INT8, {1}).set_raw_data("a");
    declare(*model.mutable_graph()->add_input(), "w", onnx::TensorProto::INT8, {1});
    CHECK(read(model).inputs.size() == 1);
    CHECK(elements_of_w(read(model)).size() == 1);
    model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(2);
    CHECK(reason_of(model, "tensor `w`: the model says two things of one tensor: [1] and [2]") == refusal::contradiction);
}

TEST_CASE("what the model says of a tensor in several places is put together") {
    onnx::ModelProto model = relu();
    auto& said = *model.mutable_graph()->add_value_info();
    declare(said, "y", onnx::TensorProto::FLOAT, {2});
    said.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
    CHECK(read(model).tensors[read(model).outputs[0]].shape == tensor_shape{{2, {}}});
    said.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT8);
    CHECK(reason_of(model, "tensor `y`") == refusal::contradiction);
}

TEST_CASE("what is no graph of tensors is refused by name") {
    using onnx::ModelProto;
    auto const node = [](ModelProto& model) -> onnx::NodeProto& { return *model.mutable_graph()->mutable_node(0); };
    auto const with = [&](auto set) {
        return [=](ModelProto& model) {
            auto& one = *node(model).add_attribute();
            one.set_name("body");
            set(one);
        };
    };
    using onnx::AttributeProto;
    CHECK(reason_with(with([](AttributeProto& one) { one.set_type(AttributeProto::GRAPH); }), "node 0 (`Relu`), attribute `body`") ==
          refusal::subgraph);
    CHECK(reason_with(with([](AttributeProto& one) { one.set_type(AttributeProto::GRAPHS); }), "`body`") == refusal::subgraph);
    CHECK(reason_with(with([](AttributeProto& one) { one.set_type(AttributeProto::SPARSE_TENSOR); }), "`body`") == refusal::sparse);
    CHECK(reason_with(with([](AttributeProto& one) { one.set_type(AttributeProto::TYPE_PROTO); }), "TYPE_PROTO") == refusal::attribute);
    CHECK(reason_with(with([](AttributeProto&) {}), "its kind is UNDEFINED") == refusal::attribute);
    CHECK(reason_with(with([](AttributeProto& one) { one.set_ref_attr_name("alpha"); }), "function") == refusal::attribute);
    CHECK(reason_with(
              [&](ModelProto& model) {
                  for (int times = 0; times < 2; ++times) {
                      node(model).add_attribute()->set_name("alpha");
                      node(model).mutable_attribute(times)->set_type(AttributeProto::INT);
                  }
              },
              "`alpha` stands twice") == refusal::attribute);
    CHECK(reason_with([](ModelProto& model) { model.add_training_info(); }, "training") == refusal::training);
    CHECK(reason_with([](ModelProto& model) { model.mutable_graph()->add_sparse_initializer(); }, "sparse") == refusal::sparse);
    CHECK(reason_with([](ModelProto& model) { model.mutable_graph()->add_quantization_annotation()->set_tensor_name("x"); },
                      "tensor `x`") == refusal::quantisation);
    CHECK(reason_with([](ModelProto& model) { model.clear_opset_import(); }, "node 0 (`Relu`)") == refusal::operator_set);
    CHECK(reason_with([&](ModelProto& model) { node(model).set_domain("com.example"); }, "`com.example`") == refusal::operator_set);
    CHECK(reason_with([](ModelProto& model) { model.add_opset_import()->set_version(11); }, "17 and 11") == refusal::operator_set);
    CHECK(reason_with([](ModelProto& model) { model.set_ir_version(2); }, "version 2") == refusal::model_version);
    CHECK(reason_with([](ModelProto& model) { model.clear_graph(); }, "no graph") == refusal::not_a_model);
    CHECK(reason_with([](ModelProto& model) { model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type(); },
                      "a sequence") == refusal::not_a_tensor);
    CHECK(reason_with([](ModelProto& model) { model.mutable_graph()->mutable_input(0)->clear_name(); }, "without a name") ==
          refusal::no_such_position);
    CHECK(reason_with([&](ModelProto& model) { node(model).set_input(0, "nobody"); }, "tensor `nobody`") == refusal::no_source);
    CHECK_THROWS_AS(onnx_graph({}, "net.onnx"), model_error);
    CHECK_THROWS_AS(read_onnx("/nowhere/net.onnx"), model_error);
    CHECK_THROWS_AS(read_onnx("/"), model_error);
}

TEST_CASE("a node Constant has one attribute") {
    onnx::ModelProto model = relu();
    auto& node = *model.mutable_graph()->add_node();
    node.set_op_type("Constant");
    node.add_output("w");
    CHECK(reason_of(model, "node 1 (`Constant`)") == refusal::attribute);
    auto& value = *node.add_attribute();
    SECTION("floats") {
        value.set_name("value_floats");
        value.set_type(onnx::AttributeProto::FLOATS);
        value.add_floats(0.5F);
        graph const network = read(model);
        CHECK(network.nodes.size() == 1);
        CHECK(values_of<float>(elements_of_w(network)) == std::vector<float>{0.5F});
    }
    SECTION("ints") {
        value.set_name("value_ints");
        value.set_type(onnx::AttributeProto::INTS);
        value.add_ints(-7);
        value.add_ints(8);
        CHECK(values_of<std::int64_t>(elements_of_w(read(model))) == std::vector<std::int64_t>{-7, 8});
    }
    SECTION("text") {
        value.set_name("value_string");
        value.set_type(onnx::AttributeProto::STRING);
        CHECK(elements_of_w(read(model)).empty());
        value.set_name("value_strings");
        value.set_type(onnx::AttributeProto::STRINGS);
        value.add_strings("one");
        graph const network = read(model);
        CHECK(elements_of_w(network).empty());
        CHECK(std::any_of(network.tensors.begin(), network.tensors.end(), [](tensor const& one) {
            return one.type == element_type::other && one.type_name == "STRING" && one.shape == tensor_shape{{1, {}}};
        }));
    }
    SECTION("an attribute of another kind than its name says") {
        value.set_name("value_int");
        value.set_type(onnx::AttributeProto::FLOAT);
        CHECK(reason_of(model, "`value_int`") == refusal::attribute);
    }
}

TEST_CASE("elements may lie in a file beside the model") {
    folder const place;
    std::string const path = place / "net.onnx";
    std::filesystem::create_directory(place.path / "data");
    place.write("data/weights.bin", "abcdefgh");
    onnx::ModelProto model = relu();
    auto& w = constant(model, onnx::TensorProto::INT8, {2});
    SECTION("a part of it") {
        entry(w, "location", "data/weights.bin");
        entry(w, "offset", "3");
        entry(w, "length", "2");
        place.write("net.onnx", model.SerializeAsString());
        CHECK(values_of<std::int8_t>(elements_of_w(read_onnx(path))) == std::vector<std::int8_t>{'d', 'e'});
    }
    SECTION("up to its end") {
        entry(w, "location", "data/../data/weights.bin");
        entry(w, "offset", "6");
        CHECK(values_of<std::int8_t>(elements_of_w(read(model, path))) == std::vector<std::int8_t>{'g', 'h'});
    }
    SECTION("more than there is") {
        entry(w, "location", "data/weights.bin");
        entry(w, "offset", "7");
        entry(w, "length", "2");
        CHECK(reason_of(model, "constant `w`", path) == refusal::external_data);
    }
    SECTION("from a place where no number can point") {
        entry(w, "location", "data/weights.bin");
        entry(w, "offset", "18446744073709551615");
        entry(w, "length", "2");
        CHECK(reason_of(model, "18446744073709551615", path) == refusal::external_data);
    }
    SECTION("another number of bytes than the shape needs") {
        entry(w, "location", "data/weights.bin");
        CHECK(reason_of(model, "8 bytes of `data/weights.bin`, and the shape needs 2", path) == refusal::constant_size);
    }
    SECTION("an offset that is no number") {
        entry(w, "location", "data/weights.bin");
        entry(w, "offset", "-1");
        CHECK(reason_of(model, "`-1`", path) == refusal::external_data);
    }
    SECTION("an entry that nobody knows") {
        entry(w, "location", "data/weights.bin");
        entry(w, "compression", "zip");
        CHECK(reason_of(model, "`compression`", path) == refusal::external_data);
    }
    SECTION("no file") {
        entry(w, "location", "data/biases.bin");
        CHECK(reason_of(model, "constant `w`: a file with constants is missing: `data/biases.bin`", path) == refusal::missing_file);
    }
    SECTION("a folder") {
        entry(w, "location", "data");
        CHECK(reason_of(model, "`data` is no file", path) == refusal::external_data);
    }
    SECTION("no location") {
        entry(w, "offset", "0");
        CHECK(reason_of(model, "no location", path) == refusal::external_data);
    }
    SECTION("inside and outside of the model") {
        entry(w, "location", "data/weights.bin");
        w.set_raw_data("ab");
        CHECK(reason_of(model, "inside and outside", path) == refusal::contradiction);
    }
    SECTION("the same bytes a thousand times are more than is copied") {
        place.write("big.bin", std::string(1'000'000, 'x'));
        w.set_dims(0, 1'000'000);
        entry(w, "location", "big.bin");
        for (int at = 0; at < 1000; ++at) {
            *model.mutable_graph()->add_initializer() = w;
            model.mutable_graph()->mutable_initializer(at + 1)->set_name("w" + std::to_string(at));
        }
        CHECK(reason_of(model, "constant `w", path) == refusal::too_large);
    }
}

TEST_CASE("a file with elements lies in the model's folder") {
    folder const place;
    std::filesystem::create_directories(place.path / "model" / "data");
    place.write("outside.bin", "ab");
    std::filesystem::create_symlink(place.path / "outside.bin", place.path / "model" / "link.bin");
    std::filesystem::create_directory_symlink(place.path, place.path / "model" / "up");
    for (std::string const location :
         {"../outside.bin", "../nothing.bin", "data/../../outside.bin", "/etc/hostname", "link.bin", "up/outside.bin"}) {
        onnx::ModelProto model = relu();
        entry(constant(model, onnx::TensorProto::INT8, {2}), "location", location);
        CHECK(reason_of(model, "`" + location + "`", place / "model/net.onnx") == refusal::path_leaves_folder);
    }
}

namespace {

/// A node of these names.
onnx::NodeProto node_of(std::string const& operation, std::vector<std::string> const& inputs, std::vector<std::string> const& outputs,
                        std::string const& domain = {}) {
    onnx::NodeProto made;
    made.set_op_type(operation);
    made.set_domain(domain);
    for (std::string const& one : inputs) made.add_input(one);
    for (std::string const& one : outputs) made.add_output(one);
    return made;
}
/// The nodes of a graph as `Operation(operands)=results`, by the names of tensors.
std::string nodes_of(graph const& of) {
    auto const names = [&](std::vector<tensor_id> const& all) {
        std::string text;
        for (tensor_id const one : all) text += (text.empty() ? "" : ",") + (one == no_tensor ? "" : of.at(one).name);
        return text;
    };
    std::string text;
    for (auto const& one : of.nodes) text += one.operation + "(" + names(one.inputs) + ")=" + names(one.outputs) + " ";
    return text;
}
/// y = Twice(x), where Twice(a) is Step(Step(a)), and Step(b) LeakyRelu(b), by its attribute `slope`, then Neg. Nothing reads `other`.
onnx::ModelProto calling(float slope) {
    onnx::ModelProto model = relu();
    model.add_opset_import()->set_domain("own");
    auto& step = *model.add_functions();
    step.set_name("Step"), step.set_domain("own");
    step.add_input("b"), step.add_output("c"), step.add_attribute("slope"), step.add_attribute("other");
    step.add_opset_import()->set_version(15);
    *step.add_node() = node_of("LeakyRelu", {"b"}, {"t"});
    auto& alpha = *step.mutable_node(0)->add_attribute();
    alpha.set_name("alpha"), alpha.set_ref_attr_name("slope"), alpha.set_type(onnx::AttributeProto::FLOAT);
    *step.add_node() = node_of("Neg", {"t"}, {"c"});
    auto& twice = *model.add_functions();
    twice.set_name("Twice"), twice.set_domain("own");
    twice.add_input("a"), twice.add_output("c");
    *twice.add_node() = node_of("Step", {"a"}, {"t"}, "own");
    auto& other = *twice.mutable_node(0)->add_attribute();
    other.set_name("other"), other.set_type(onnx::AttributeProto::FLOAT), other.set_f(7);
    auto& given = *twice.mutable_node(0)->add_attribute();
    given.set_name("slope"), given.set_type(onnx::AttributeProto::FLOAT), given.set_f(slope);
    *twice.add_node() = node_of("Step", {"t"}, {"c"}, "own");
    *model.mutable_graph()->mutable_node(0) = node_of("Twice", {"x"}, {"y"}, "own");
    return model;
}
/// y = If(w) Neg(x) else Relu(Abs(x)), whose branches use one name for several things.
onnx::ModelProto choosing() {
    onnx::ModelProto model = relu();
    constant(model, onnx::TensorProto::BOOL, {}).add_int32_data(1);
    onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
    node = node_of("If", {"w"}, {"y"});
    for (bool const then : {true, false}) {
        auto& one = *node.add_attribute();
        one.set_name(then ? "then_branch" : "else_branch"), one.set_type(onnx::AttributeProto::GRAPH);
        if (!then) *one.mutable_g()->add_node() = node_of("Abs", {"x"}, {"t"});
        *one.mutable_g()->add_node() = node_of(then ? "Neg" : "Relu", {then ? "x" : "t"}, {"r"});
        one.mutable_g()->add_output()->set_name("r");
    }
    return model;
}

}  // namespace

TEST_CASE("nodes of operators that the model defines stand where these are called") {
    graph const made = read(calling(0.5f));
    CHECK(nodes_of(made) == "LeakyRelu(x)=inside2/t Neg(inside2/t)=inside1/t LeakyRelu(inside1/t)=inside3/t Neg(inside3/t)=y ");
    CHECK(made.nodes[0].version == 15);
    REQUIRE(made.nodes[0].attributes.size() == 1);
    CHECK(made.nodes[0].attributes[0].name == "alpha");
    CHECK(std::get<float>(made.nodes[0].attributes[0].value) == 0.5f);
    CHECK(made.nodes[2].attributes.empty());
}
TEST_CASE("operators that call themselves, or are called with more than they take, are refused") {
    onnx::ModelProto endless = calling(0);
    *endless.mutable_functions(0)->mutable_node(1) = node_of("Twice", {"t"}, {"c"}, "own");
    CHECK(reason_of(endless, "functions and branches inside of each other") == refusal::too_large);
    onnx::ModelProto many = calling(0);
    many.mutable_graph()->mutable_node(0)->add_input("x");
    CHECK(reason_of(many, "more operands or results") == refusal::function);
}
TEST_CASE("an attribute that an operator of the model does not have is refused") {
    onnx::ModelProto model = calling(0);
    model.mutable_functions(1)->mutable_node(0)->mutable_attribute(1)->set_name("slopez");
    CHECK(reason_of(model, "`slopez` is not one of this operator's") == refusal::attribute);
}
TEST_CASE("what If has beside its branches is an attribute of the node") {
    onnx::ModelProto model = choosing();
    onnx::AttributeProto& more = *model.mutable_graph()->mutable_node(0)->add_attribute();
    more.set_name("more"), more.set_type(onnx::AttributeProto::INT), more.set_i(1);
    auto const attributes = read(model).nodes.back().attributes;
    REQUIRE(attributes.size() == 1);
    CHECK(attributes[0].name == "more");
}
TEST_CASE("both branches of If are nodes, and their results are operands") {
    CHECK(nodes_of(read(choosing())) == "Neg(x)=inside1/r Abs(x)=inside2/t Relu(inside2/t)=inside2/r If(w,inside1/r,inside2/r)=y ");
    onnx::ModelProto halved = choosing();
    halved.mutable_graph()->mutable_node(0)->mutable_attribute()->RemoveLast();
    CHECK(reason_of(halved, "no else_branch") == refusal::attribute);
}
TEST_CASE("an extent of -1 is left to run time") {
    onnx::ModelProto model = relu();
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(-1);
    CHECK(read(model).tensors[0].shape == tensor_shape{{{}, {}}});
}
