#include <random>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/eject.hpp>
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/placement_report.hpp>
#include <tilewright/import/products_by_instruction.hpp>
#include <tilewright/import/tiles_in.hpp>

#include "catch.hpp"
#include "oracle/oracle.hpp"

// Networks on chips. The oracle says what each layer makes; it reads the layer, and no schedule.

namespace {

using namespace tilewright;
using namespace tilewright::imported;

constexpr memory far{.name = "far", .capacity = 64_KiB, .alignment = 16}, common{.name = "common", .capacity = 16_KiB, .alignment = 16},
    constants{.name = "constants", .capacity = 16_KiB, .alignment = 16}, spad{.name = "spad", .capacity = 4_KiB, .alignment = 16},
    acc{.name = "acc", .capacity = 2_KiB, .alignment = 16};
constexpr engine loader{"loader"}, array{"array"};
constexpr transfer by_loader(char const* name, memory const& from, memory const& to) {
    return transfer(name, from, to).on(loader).asynchronous().dimensions(4).cost({.latency = 16, .setup = 2, .bytes_per_cycle = 16});
}
constexpr auto mvin = by_loader("mvin", common, spad), mvin_constants = by_loader("mvin_constants", constants, spad),
               mvout = by_loader("mvout", acc, common);
constexpr axis p{"p", 4}, f{"f", 4}, d{"d", 8};
constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"};
constexpr tensor<std::int32_t> sums{"sums"};

// Filters stand in columns: elements of one channel follow each other. The core takes sums out of the accumulators.
constexpr auto product = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(d, f));
constexpr auto mac =
    intrinsic("mac", sums(p, f) += product).reads(pixels, spad).reads(filters, spad).updates(sums, acc).up_to(p, f, d).on(array).cycles(4);
constexpr auto mul = intrinsic("mul", sums(p, f) = sum(d, product))
                         .reads(pixels, spad)
                         .reads(filters, spad)
                         .writes(sums, acc)
                         .up_to(p, f, d)
                         .on(array)
                         .cycles(4);
constexpr auto columns = machine("columns", common, constants, spad, acc, loader, array, mvin, mvin_constants, mac, mul);

// With an instruction that finishes sums: its biases, scales and limits lie where constants do.
constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
constexpr tensor<std::int8_t> finished{"finished"};
constexpr auto finish =
    intrinsic("finish", finished(p, f) = rescaled_bytes(sums(p, f), bias(f), multiplier(f), shift(f), low(0), high(0), zero(0)))
        .reads(sums, acc)
        .reads({bias, multiplier, shift, low, high, zero}, constants)
        .writes(finished, common)
        .up_to(p, f)
        .on(array)
        .cycles(4);
// And one that adds elements: where they lie, or in `spad`.
constexpr axis e{"e", 4};
constexpr tensor<std::int8_t> left{"left"}, right{"right"}, total{"total"};
constexpr tensor<std::int32_t> lz{"lz"}, lm{"lm"}, ls{"ls"}, rz{"rz"}, rm{"rm"}, rs{"rs"};
constexpr auto added = total(e) =
    added_bytes(left(e), right(e), lz(0), lm(0), ls(0), rz(0), rm(0), rs(0), multiplier(0), shift(0), low(0), high(0), zero(0));
constexpr auto add_there = intrinsic("add_there", added)
                               .reads({left, right}, common)
                               .reads({lz, lm, ls, rz, rm, rs, multiplier, shift, low, high, zero}, constants)
                               .writes(total, common)
                               .up_to(e)
                               .on(array)
                               .cycles(1);
constexpr auto add_near = intrinsic("add_near", added)
                              .reads({left, right}, spad)
                              .reads({lz, lm, ls, rz, rm, rs, multiplier, shift, low, high, zero}, constants)
                              .writes(total, spad)
                              .up_to(e)
                              .on(array)
                              .cycles(1);
constexpr auto store_bytes = by_loader("store_bytes", spad, common);
constexpr auto finishing_npu = machine("finishing", common, constants, spad, acc, loader, array, mvin, mvin_constants, store_bytes, mac,
                                       mul, finish, add_there, add_near);
// The controller goes on while the array sums, and while another unit finishes.
constexpr engine summing{.name = "summing", .completes = completion::by_channel},
    finishing{.name = "finishing", .completes = completion::by_channel};
constexpr auto mac_aside = intrinsic(mac).on(summing).asynchronous(), mul_aside = intrinsic(mul).on(summing).asynchronous(),
               finish_aside = intrinsic(finish).on(finishing).asynchronous();
constexpr auto npu_aside = machine("npu_aside", common, constants, spad, acc, loader, summing, finishing, mvin, mvin_constants, mac_aside,
                                   mul_aside, finish_aside);

// Filters stand in rows, and a transfer stores sums.
constexpr auto product_of_rows = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(f, d));
constexpr auto mac_rows = intrinsic("mac_rows", sums(p, f) += product_of_rows)
                              .reads(pixels, spad)
                              .reads(filters, spad)
                              .updates(sums, acc)
                              .up_to(p, f, d)
                              .on(array)
                              .cycles(4);
constexpr auto mul_rows = intrinsic("mul_rows", sums(p, f) = sum(d, product_of_rows))
                              .reads(pixels, spad)
                              .reads(filters, spad)
                              .writes(sums, acc)
                              .up_to(p, f, d)
                              .on(array)
                              .cycles(4);
constexpr auto rows = machine("rows", common, constants, spad, acc, loader, array, mvin, mvin_constants, mvout, mac_rows, mul_rows);

// Channels that stay apart: a tap a call, or a window of up to 3 x 3. And products of what lies where it is, without transfers.
constexpr auto product_of_each = cast<std::int32_t>(pixels(p, f)) * cast<std::int32_t>(filters(f));
constexpr auto mac_each = intrinsic("mac_each", sums(p, f) += product_of_each)
                              .reads(pixels, spad)
                              .reads(filters, spad)
                              .updates(sums, acc)
                              .up_to(p, f)
                              .on(array)
                              .cycles(4);
constexpr axis one_sum{"one_sum", 1};
constexpr auto nothing_yet = transfer("nothing_yet", common, acc, sums(one_sum) = 0).on(loader).dimensions(4);
constexpr axis r{"r", 3}, t{"t", 3}, all_p{"p", 16}, all_f{"f", 16}, all_y{"y", 16}, all_d{"d", 32};
constexpr auto window =
    intrinsic("window",
              sums(all_p, all_f) = sum(r, t, cast<std::int32_t>(pixels(r, all_p + t, all_f)) * cast<std::int32_t>(filters(r, t, all_f))))
        .reads(pixels, spad)
        .reads(filters, constants)
        .writes(sums, acc)
        .up_to(r, t, all_p, all_f)
        .on(array)
        .cycles(4);
constexpr auto apart_npu =
    machine("apart", common, constants, spad, acc, loader, array, mvin, mvin_constants, nothing_yet, mac_each, window);
constexpr auto image = intrinsic("image", sums(all_y, all_p, all_f) = sum(all_d, cast<std::int32_t>(pixels(2 * all_y, 2 * all_p, all_d)) *
                                                                                     cast<std::int32_t>(filters(all_d, all_f))))
                           .reads(pixels, common)
                           .reads(filters, constants)
                           .writes(sums, acc)
                           .up_to(all_y, all_p, all_f, all_d)
                           .on(array)
                           .cycles(4);
constexpr auto mul_there = intrinsic("mul_there", sums(p, f) = sum(d, product))
                               .reads(pixels, common)
                               .reads(filters, constants)
                               .writes(sums, acc)
                               .up_to(p, f, d)
                               .on(array)
                               .cycles(4);
constexpr auto mac_there = intrinsic("mac_there", sums(p, f) += product)
                               .reads(pixels, common)
                               .reads(filters, constants)
                               .updates(sums, acc)
                               .up_to(p, f, d)
                               .on(array)
                               .cycles(4);
// `mul` takes the operands from elsewhere: it is not the form to start with, though it comes first.
constexpr auto in_place_npu = machine("in_place", common, constants, spad, acc, array, mul, mul_there, mac_there, image);

constexpr engine mover{"mover"};
constexpr auto out = transfer("out", common, far).on(mover).dimensions(2).cost({.latency = 8, .bytes_per_cycle = 8});
constexpr auto back = transfer("back", far, common).on(mover).dimensions(2).cost({.latency = 8, .bytes_per_cycle = 8});
constexpr auto host_machine = machine("host", far, common, constants, mover, out, back);
constexpr agent npu("npu", columns), other("other", rows), cpu("cpu", host_machine);

// A core with a memory of its own.
constexpr memory near{.name = "near", .capacity = 2_KiB, .alignment = 16};
constexpr auto bring = by_loader("bring", common, near), bring_constants = by_loader("bring_constants", constants, near),
               take = by_loader("take", near, common);
constexpr auto with_near = machine("with_near", common, constants, near, loader, bring, bring_constants, take);
constexpr agent dsp("dsp", with_near);

/// One of the schedules that a template makes, whatever it costs.
schedule_template one_of(schedule_template const& all, std::uint32_t which) {
    return [=](placed_layer& of) {
        candidates made = all(of);
        if (!made.all.empty()) made.all = {made.all[which % made.all.size()]};
        return made;
    };
}
chip chip_with(schedule_template of_columns, schedule_template of_rows) {
    return chip("tested")
        .inputs_in(common)
        .outputs_in(common)
        .constants_in(constants)
        .with(npu, {.tensors = common, .inner = &common, .semantics = &semantics_of<columns>})
        .with(other, {.tensors = common, .inner = &common, .semantics = &semantics_of<rows>})
        .with(cpu, {.tensors = any_of(common, far), .inner = &far, .semantics = &semantics_of<host_machine>})
        .standard("columns", npu, std::move(of_columns))
        .standard("rows", other, std::move(of_rows));
}
constexpr agent finisher("finisher", finishing_npu), finisher_aside("finisher_aside", npu_aside);
chip chip_that_finishes(schedule_template how, bool aside = false) {
    agent const& by = aside ? finisher_aside : finisher;
    return chip("tested")
        .inputs_in(common)
        .outputs_in(common)
        .constants_in(constants)
        .with(by, {.tensors = common, .inner = &common, .semantics = aside ? &semantics_of<npu_aside> : &semantics_of<finishing_npu>})
        .standard("products", by, std::move(how))
        .loops(by);
}
bool is_finished_by_instruction(layers const& of, chip const& on) {
    network_program const whole(of, "net", on);
    return eject(whole, "found", "chip.hpp", "tested").find("intrinsic_named(\"finish\")") != std::string::npos;
}
schedule_template nothing() {
    return [](placed_layer&) { return candidates{{}, "it takes nothing"}; };
}

/// A convolution of one image, or with `taps` of 1 a product of matrices: [rows][columns][channels] by [filters][y][x][channels].
struct shape_of_layer {
    std::int64_t rows = 1, columns = 1, channels = 1, filters = 1, taps = 1, stride = 1, before = 0;
    bool finishes = true, has_bias = true;
    bool weights_first = false;  ///< the first factor of the product is the weight
    bool rescales = false;       ///< it finishes as layers of TensorFlow Lite do
    bool depthwise = false;      ///< each filter is of one channel, its own

    bool is_plain() const { return stride == 1 && taps == 1 && before == 0; }
    std::int64_t in_rows() const { return (rows - 1) * stride + taps - 2 * before; }
    std::int64_t in_columns() const { return (columns - 1) * stride + taps - 2 * before; }
};

value in32(std::int64_t of) { return number(of, scalar_type::int32); }
/// The layer, as it is imported: dimensions of one element are left out.
layers network_of(shape_of_layer const& of, std::mt19937& random) {
    layers made;
    struct loop {
        value index;
        std::int64_t extent;
    };
    std::string const prefix = of.finishes ? "s0_" : "";
    auto const along_it = [&](std::string const& name, std::int64_t extent) {
        return extent > 1 ? along(ir::label(name.c_str()), extent) : in32(0);
    };
    value const y = along_it(prefix + "y", of.rows), x = along_it(prefix + "x", of.columns), filter = along_it(prefix + "f", of.filters);
    value const r = along_it("r", of.taps), s = along_it("s", of.taps), channel = along_it("c", of.channels);
    auto const tensor = [](char const* name, scalar_type type, std::vector<loop> const& all, bool padded) {
        stored one{ir::label(name), type, {}};
        std::vector<value> indices;
        for (loop const& each : all) {
            if (each.extent == 1) continue;
            ir::label const name_of_axis(("w" + std::to_string(indices.size())).c_str());
            indices.push_back(padded ? within(each.index, name_of_axis, each.extent) : each.index);
            one.extents.push_back(each.extent);
        }
        if (indices.empty()) indices.push_back(in32(0)), one.extents.push_back(1);
        return std::pair{one, padded ? padded_element(one.name, type, indices, -3) : element(one.name, type, indices)};
    };
    auto const [in, pixel] = tensor("in0", scalar_type::int8,
                                    {{of.is_plain() ? y : y * in32(of.stride) + r - in32(of.before), of.in_rows()},
                                     {of.is_plain() ? x : x * in32(of.stride) + s - in32(of.before), of.in_columns()},
                                     of.depthwise ? loop{filter, of.filters} : loop{channel, of.channels}},
                                    of.before > 0);
    auto const [weights, weight] = tensor(
        "c0", scalar_type::int8, {{filter, of.filters}, {r, of.taps}, {s, of.taps}, {channel, of.depthwise ? 1 : of.channels}}, false);
    auto const [biases, bias] = tensor("c1", scalar_type::int32, {{filter, of.filters}}, false);
    std::vector<value> axes;
    if (of.taps > 1) axes = {r, s};
    if (of.channels > 1 && !of.depthwise) axes.push_back(channel);
    value const x32 = convert(pixel, scalar_type::int32), w32 = convert(weight, scalar_type::int32);
    value sum = reduced(operation::reduce_sum, axes, of.weights_first ? w32 * x32 : x32 * w32);
    if (of.has_bias) sum = bias + sum;
    layer one{"k0", {}, {}, "node 0 (`Conv`)"};
    auto const store = [&](std::string const& loops, value const& what, ir::label const& name, scalar_type type) {
        std::vector<value> indices;
        stored result{name, type, {}};
        for (auto const& [axis, extent] : {std::pair{"y", of.rows}, {"x", of.columns}, {"f", of.filters}}) {
            if (extent == 1) continue;
            indices.push_back(along(ir::label((loops + axis).c_str()), extent));
            result.extents.push_back(extent);
        }
        imported::detail::append(one.nodes, stage_of(element(name, type, indices), what));
        return result;
    };
    auto const finished = [&](ir::label const& sums_name) {
        std::vector<value> indices;
        for (auto const& [axis, extent] : {std::pair{"y", of.rows}, {"x", of.columns}, {"f", of.filters}}) {
            if (extent > 1) indices.push_back(along(axis, extent));
        }
        value const read = element(sums_name, scalar_type::int32, indices);
        if (of.rescales) {
            parameter<std::int32_t> const x{"x"}, by{"by"};
            value const scaled = apply(rescale<rounding::doubling_high>(x, by, 5), {{"x", read}, {"by", in32(1'500'000'000)}});
            return convert(smaller_of(larger_of(scaled, in32(0)), in32(120)) + in32(-20), scalar_type::int8);
        }
        return convert(smaller_of(larger_of(read / in32(16), in32(-128)), in32(127)), scalar_type::int8);
    };
    if (of.finishes) {
        store("s0_", sum, "s0", scalar_type::int32);
        one.inner.push_back({"s0", of.filters > 1 ? "f" : of.columns > 1 ? "x" : "y", true});
        made.outputs.push_back(store("", finished("s0"), "out0", scalar_type::int8));
        if (of.rescales) one.rescaled = rescaling{of.filters > 1 ? "f" : "x", {1'500'000'000}, {5}, 0, 120, -20};
    } else {
        made.outputs.push_back(store("", sum, "out0", scalar_type::int32));
    }
    made.all.push_back(one);
    made.inputs.push_back(in);
    auto const drawn = [&](stored const& like) {
        std::vector<std::byte> bytes(emulated_network::bytes_in(like));
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            bool const high = like.type == scalar_type::int32 && at % 4 != 0;  // biases are small
            bytes[at] = high ? std::byte{0} : static_cast<std::byte>(random());
        }
        return bytes;
    };
    made.constants.emplace_back(weights, drawn(weights));
    if (of.has_bias) made.constants.emplace_back(biases, drawn(biases));
    return made;
}

/// An image [rows][columns][channels], and its element at some indices. What has one row has no dimension for it.
struct image_tensor {
    stored tensor{};
    value element_at(std::vector<value> indices) const {
        if (indices.size() > tensor.extents.size()) indices.erase(indices.begin());
        return element(tensor.name, tensor.type, indices);
    }
};
image_tensor image_of(char const* name, scalar_type type, std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    image_tensor made{{ir::label(name), type, {}}};
    if (rows > 1) made.tensor.extents.push_back(rows);
    made.tensor.extents.insert(made.tensor.extents.end(), {columns, channels});
    return made;
}
/// A layer of sums, and of what is computed of each.
layers sums_and(image_tensor const& in, value const& sums_element, value const& sum, value const& result_element, value const& finished) {
    layers made;
    layer one{"k0", stage_of(sums_element, sum), {}, "node 0 (`MEAN`)"};
    imported::detail::append(one.nodes, stage_of(result_element, finished));
    one.inner.push_back({"s0", "f", true});
    made.all.push_back(one);
    made.inputs.push_back(in.tensor);
    return made;
}
value limited_byte(value const& x, std::int64_t low, std::int64_t high, std::int64_t zero) {
    return convert(smaller_of(larger_of(x, in32(low)), in32(high)) + in32(zero), scalar_type::int8);
}
value rescaled_by(value const& x, std::int64_t multiplier, int shift) {
    parameter<std::int32_t> const of{"x"}, by{"by"};
    return apply(rescale<rounding::doubling_high>(of, by, shift), {{"x", x}, {"by", in32(multiplier)}});
}
/// The mean of each channel, as TensorFlow Lite has it.
layers mean_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    image_tensor const in = image_of("in0", scalar_type::int8, rows, columns, channels);
    value const y = along("y", rows), x = along("x", columns), f = along("s0_f", channels), out_f = along("f", channels);
    value const sum = in32(-7) + reduced(operation::reduce_sum, rows > 1 ? std::vector<value>{y, x} : std::vector<value>{x},
                                         convert(in.element_at({y, x, f}), scalar_type::int32));
    value const read = element("s0", scalar_type::int32, {out_f}), result = element("out0", scalar_type::int8, {out_f});
    layers made =
        sums_and(in, element("s0", scalar_type::int32, {f}), sum, result, limited_byte(rescaled_by(read, 1'500'000'000, 4), -100, 110, 3));
    made.all[0].rescaled = rescaling{"f", {1'500'000'000}, {4}, -100, 110, 3};
    made.outputs.push_back({"out0", scalar_type::int8, {channels}});
    return made;
}
/// Averages of 2 x 2 pixels.
layers pool_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    image_tensor const in = image_of("in0", scalar_type::int8, 2 * rows, 2 * columns, channels),
                       out = image_of("out0", scalar_type::int8, rows, columns, channels);
    value const r = along("r", 2), t = along("t", 2);
    auto const at = [&](std::string const& before, std::vector<value> made) {
        if (rows > 1) made.push_back(along(ir::label((before + "y").c_str()), rows));
        made.insert(made.end(), {along(ir::label((before + "x").c_str()), columns), along(ir::label((before + "f").c_str()), channels)});
        return made;
    };
    std::vector<value> const loops = at("s0_", {}), of_result = at("", {});
    value const row = rows > 1 ? loops[0] * in32(2) + r : r, column = loops[loops.size() - 2] * in32(2) + t;
    value const sum = reduced(operation::reduce_sum, {r, t}, convert(in.element_at({row, column, loops.back()}), scalar_type::int32));
    value const read = element("s0", scalar_type::int32, of_result);
    layers made = sums_and(in, element("s0", scalar_type::int32, loops), sum, element("out0", scalar_type::int8, of_result),
                           convert(read / in32(4), scalar_type::int8));
    made.outputs.push_back(out.tensor);
    return made;
}
/// The sum of two images of bytes with scales of their own.
layers sum_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    image_tensor const one = image_of("in0", scalar_type::int8, rows, columns, channels),
                       other = image_of("in1", scalar_type::int8, rows, columns, channels),
                       out = image_of("out0", scalar_type::int8, rows, columns, channels);
    std::vector<value> const loops{along("y", rows), along("x", columns), along("f", channels)};
    adding const by{{3, 0}, {1'500'000'000, 1'200'000'000}, {1, 3}, 1'700'000'000, 19, -100, 120, 4};
    auto const scaled = [&](image_tensor const& of, int at) {
        value const x = convert(of.element_at(loops), scalar_type::int32);
        return rescaled_by((by.zero_points[at] == 0 ? x : x - in32(by.zero_points[at])) * in32(1 << 20), by.multipliers[at],
                           static_cast<int>(by.shifts[at]));
    };
    value const sum = rescaled_by(scaled(one, 0) + scaled(other, 1), by.multiplier, static_cast<int>(by.shift));
    layers made;
    layer made_layer{"k0", stage_of(out.element_at(loops), limited_byte(sum, by.low, by.high, by.zero_point)), {}, "node 0 (`ADD`)"};
    made_layer.added = by;
    made.all.push_back(made_layer);
    made.inputs = {one.tensor, other.tensor}, made.outputs = {out.tensor};
    return made;
}

oracle::operand operand_of(stored const& tensor, std::vector<std::byte> const& bytes) {
    oracle::tensor_box box{.name = tensor.name, .type = tensor.type, .rank = static_cast<int>(tensor.extents.size())};
    std::copy(tensor.extents.begin(), tensor.extents.end(), box.extents.begin());
    return {box, bytes.data()};
}
std::vector<std::byte> expected(layers const& of, std::vector<std::vector<std::byte>> const& inputs) {
    std::vector<oracle::operand> operands;
    for (std::size_t at = 0; at < inputs.size(); ++at) operands.push_back(operand_of(of.inputs[at], inputs[at]));
    for (known_tensor const& one : of.constants) operands.push_back(operand_of(one.what, one.bytes));
    return oracle::evaluate({of.all[0].nodes.data(), static_cast<int>(of.all[0].nodes.size())}, operands).bytes;
}
std::vector<std::byte> some_bytes(std::size_t count, std::mt19937& random) {
    std::vector<std::byte> made(count);
    for (std::byte& one : made) one = static_cast<std::byte>(random());
    return made;
}

/// What a chip makes of a layer, in all ways in which data can move. @return the agent
std::string run_on(chip const& on, layers const& of, std::mt19937& random) {
    network_program const whole(of, "net", on);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
    INFO(placement_table(whole, *plan));
    INFO((plan->refusal ? to_string(plan->refusal) : ""));
    REQUIRE(!plan->refusal);
    emulated_network emulated(whole, on, *plan);
    std::vector<std::vector<std::byte>> inputs;
    for (stored const& one : of.inputs) inputs.push_back(some_bytes(emulated_network::bytes_in(one), random));
    std::vector<std::byte> const wanted = expected(of, inputs);
    for (progress how : {progress::earliest, progress::latest, progress::random}) {
        INFO(name_of(how));
        CHECK(emulated(inputs, how)[0] == wanted);
        CHECK(static_cast<double>(emulated.cycles()) == static_cast<double>(plan->cycles()));
    }
    return whole.placed_layers()[0].report.agent;
}

}  // namespace

TEST_CASE("each schedule that the standard one of products is chosen from computes what the layer says") {
    std::mt19937 random(7);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int on_columns = 0, on_rows = 0, in_loops = 0;
    for (int run = 0; run < 120; ++run) {
        shape_of_layer of{.rows = draw({1, 2, 5, 7}),
                          .columns = draw({1, 3, 4, 6, 9}),
                          .channels = draw({1, 3, 8, 11, 20}),
                          .filters = draw({1, 4, 7, 12})};
        of.taps = draw({1, 1, 3}), of.stride = draw({1, 1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        if (of.taps == 1 && of.channels == 1) of.channels = 5;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        if (of.taps == 3 && of.stride == 1 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        bool const second = run % 2 != 0;
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish")
                    << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        // Where the planner refuses the one that is drawn, loops take the layer.
        chip const on = chip_with(second ? nothing() : one_of(products_by("mac"), random()),
                                  second ? one_of(products_by("mac_rows"), random()) : nothing())
                            .loops(cpu);
        std::string const agent = run_on(on, network, random);
        (agent == "npu" ? on_columns : agent == "other" ? on_rows : in_loops) += 1;
    }
    INFO(on_columns << " on columns, " << on_rows << " on rows, " << in_loops << " in loops");
    CHECK(on_columns > 30);
    CHECK(on_rows > 30);
    CHECK(in_loops < 40);
}

TEST_CASE("an instruction finishes sums that are rescaled as TensorFlow Lite does, vectors as well") {
    std::mt19937 random(5);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int by_instruction = 0, by_core = 0, vectors = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{
            .rows = draw({1, 2, 5}), .columns = draw({1, 3, 6, 9}), .channels = draw({3, 8, 11}), .filters = draw({1, 4, 7, 12})};
        of.taps = draw({1, 3}), of.rescales = true, of.has_bias = random() % 2 != 0;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        if (of.filters == 1 && of.columns == 1) of.columns = 3;
        layers const network = network_of(of, random);
        chip const on = chip_that_finishes(one_of(products_by("mac", "finish"), random()));
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << (of.has_bias ? ", bias" : ""));
        run_on(on, network, random);
        bool const is_finished = is_finished_by_instruction(network, on);
        (is_finished ? by_instruction : by_core) += 1;
        vectors += is_finished && of.rows * of.columns == 1 ? 1 : 0;
    }
    CHECK(by_instruction > 25);
    CHECK(by_core > 5);
    CHECK(vectors > 3);
}

TEST_CASE("sums of a tile are finished while those of the next are added up, where an instruction finishes beside the core") {
    std::mt19937 random(6);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    auto const has_versions = [](schedule const& how) {
        bool found = false;
        for (int at = 1; at < how.directive_count(); ++at) {
            found |= how.directive_at(at).kind == directive_kind::buffers && how.directive_at(at - 1).kind == directive_kind::store_in;
        }
        return found;
    };
    int in_versions = 0;
    for (int run = 0; run < 24; ++run) {
        shape_of_layer of{.rows = draw({2, 5}), .columns = draw({3, 6, 9}), .channels = draw({3, 8, 11}), .filters = draw({4, 7, 12})};
        of.taps = draw({1, 3}), of.rescales = true, of.has_bias = random() % 2 != 0;
        layers const network = network_of(of, random);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << (of.has_bias ? ", bias" : ""));
        chip const on = chip_that_finishes(one_of(products_by("mac", "finish"), random()), true);
        run_on(on, network, random);
        network_program const drawn(network, "net", on);
        if (!is_finished_by_instruction(network, on)) continue;
        if (has_versions(drawn.placed_layers()[0].how)) ++in_versions;
        // What the template finds is never dearer than where the core waits for every instruction.
        auto const cycles_on = [&](bool aside) {
            network_program const found(network, "net", chip_that_finishes(products_by("mac", "finish"), aside));
            return make_program_plan(found.get()).cycles();
        };
        CHECK(cycles_on(true) <= cycles_on(false));
    }
    CHECK(in_versions > 3);
}

TEST_CASE("depthwise convolutions go to an instruction that sums channels, by weights of 0") {
    std::mt19937 random(31);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_blocks = 0, finished_so = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{.rows = draw({2, 5, 7}), .columns = draw({2, 3, 6, 9}), .filters = draw({2, 4, 7, 12}), .taps = draw({2, 3})};
        of.depthwise = true, of.has_bias = random() % 2 != 0, of.stride = draw({1, 2}), of.rescales = random() % 2 != 0;
        of.finishes = of.rescales || random() % 2 != 0;
        if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << ", taps " << of.taps << ", stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        std::uint32_t const which = random();
        bool const by_rows = !of.rescales && random() % 2 != 0;
        chip const on = by_rows ? chip_with(nothing(), one_of(apart_by("mac_rows"), which)).loops(cpu)
                                : chip_that_finishes(one_of(apart_by("mac", "finish"), which));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "loops") continue;
        ++in_blocks, finished_so += is_finished_by_instruction(network, on) ? 1 : 0;
    }
    CHECK(in_blocks > 40);
    CHECK(finished_so > 15);
    // Filters of several channels are not for it.
    layers const dense = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(dense, "net", chip_that_finishes(apart_by("mac", "finish")));
    CHECK(whole.placed_layers()[0].report.passed_over ==
          std::vector<std::string>{"products on finisher: a channel of its result is made of several channels"});
}

TEST_CASE("filters that make whole panels are taken panel by panel") {
    std::mt19937 random(43);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_panels = 0, whole_rows = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{
            .rows = draw({1, 3, 5}), .columns = draw({2, 3, 6, 9}), .channels = draw({2, 3, 5, 8}), .filters = draw({4, 7, 8, 12})};
        of.taps = draw({1, 2, 3}), of.stride = draw({1, 2}), of.has_bias = random() % 2 != 0, of.finishes = random() % 2 != 0;
        if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip_with(nothing(), one_of(products_by("mac_rows", {}, 0, 4), random())).loops(cpu);
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        bool const has_panels = eject(whole, "found", "chip.hpp", "tested").find("put_channels_in_blocks(4)") != std::string::npos;
        (has_panels ? in_panels : whole_rows) += 1;
        CHECK(has_panels == (of.filters == 8 || of.filters == 12));
    }
    CHECK(in_panels > 20);
    CHECK(whole_rows > 20);
}

TEST_CASE("columns of a window and channels are summed as one loop") {
    std::mt19937 random(37);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int joined = 0, padded = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{
            .rows = draw({1, 3, 5}), .columns = draw({2, 3, 6, 9}), .channels = draw({2, 3, 5, 8}), .filters = draw({2, 7, 12})};
        of.taps = 3, of.stride = draw({1, 2}), of.has_bias = random() % 2 != 0, of.rescales = random() % 2 != 0;
        of.finishes = of.rescales || random() % 2 != 0;
        if (of.stride == 1 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip_that_finishes(one_of(windows_by("mac", "finish"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        bool const is_joined = eject(whole, "found", "chip.hpp", "tested").find("join_taps()") != std::string::npos;
        joined += is_joined ? 1 : 0, padded += is_joined && of.before > 0 ? 1 : 0;
    }
    CHECK(joined > 30);
    CHECK(padded > 5);
}

TEST_CASE("sums of elements go to an instruction that sums products") {
    std::mt19937 random(41);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int by_products = 0, finished_so = 0;
    for (int run = 0; run < 40; ++run) {
        std::int64_t const rows = draw({1, 3, 5}), columns = draw({2, 7, 9}), channels = draw({2, 4, 11});
        INFO("run " << run << ": " << rows << " x " << columns << " x " << channels);
        bool const is_pool = run % 3 == 2;
        layers const network = is_pool ? pool_of(rows, columns, channels) : mean_of(rows, columns, channels);
        chip const on = chip_that_finishes(one_of(sums_by("mac", "finish"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "loops") continue;
        ++by_products, finished_so += is_finished_by_instruction(network, on) ? 1 : 0;
    }
    CHECK(by_products > 30);
    CHECK(finished_so > 20);
    layers const product = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(product, "net", chip_that_finishes(sums_by("mac", "finish")));
    CHECK(whole.placed_layers()[0].report.passed_over == std::vector<std::string>{"products on finisher: it sums products"});
}

TEST_CASE("sums of two tensors go to an instruction on elements, which reads them where they lie or in a memory of its own") {
    std::mt19937 random(43);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int there = 0, near_it = 0;
    for (int run = 0; run < 40; ++run) {
        std::int64_t const rows = draw({1, 3, 5}), columns = draw({2, 7, 9}), channels = draw({1, 2, 4, 11});
        bool const is_staged = run % 2 != 0;
        INFO("run " << run << ": " << rows << " x " << columns << " x " << channels);
        layers const network = sum_of(rows, columns, channels);
        chip const on = chip_that_finishes(one_of(elements_by(is_staged ? "add_near" : "add_there"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "products") (is_staged ? near_it : there) += 1;
    }
    CHECK(there == 20);
    CHECK(near_it > 15);
    layers const product = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(product, "net", chip_that_finishes(elements_by("add_there")));
    CHECK(whole.placed_layers()[0].report.passed_over ==
          std::vector<std::string>{"products on finisher: it computes more than single elements"});
}

TEST_CASE("each schedule of loops over tiles computes what the layer says") {
    std::mt19937 random(11);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_tiles = 0, in_loops = 0;
    for (int run = 0; run < 80; ++run) {
        shape_of_layer of{
            .rows = draw({1, 2, 5, 7}), .columns = draw({1, 3, 6, 9}), .channels = draw({1, 3, 8}), .filters = draw({1, 4, 7})};
        of.taps = draw({1, 3}), of.stride = draw({1, 1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        if (of.taps == 1 && of.channels == 1) of.channels = 5;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        layers const network = network_of(of, random);
        chip const on = chip("tested")
                            .inputs_in(common)
                            .outputs_in(common)
                            .constants_in(constants)
                            .with(dsp, {.tensors = common, .semantics = &semantics_of<with_near>})
                            .with(cpu, {.tensors = any_of(common, far), .inner = &far, .semantics = &semantics_of<host_machine>})
                            .standard("tiles", dsp, one_of(tiles_in(near), random()))
                            .loops(cpu);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        (run_on(on, network, random) == "dsp" ? in_tiles : in_loops) += 1;
    }
    CHECK(in_tiles > 60);
    CHECK(in_loops < 20);
}

TEST_CASE("depthwise convolutions go to an instruction that keeps channels apart") {
    std::mt19937 random(17);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    constexpr static agent one("one", apart_npu);
    int by_taps = 0, by_windows = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{.rows = draw({2, 5, 7}), .columns = draw({2, 3, 6, 9}), .filters = draw({2, 4, 7, 12}), .taps = draw({2, 3})};
        of.depthwise = true, of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        bool const by_window = run % 2 != 0;
        of.stride = by_window ? 1 : draw({1, 2});
        if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << ", taps " << of.taps << ", stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip("tested")
                            .inputs_in(common)
                            .outputs_in(common)
                            .constants_in(constants)
                            .with(one, {.tensors = common, .inner = &common, .semantics = &semantics_of<apart_npu>})
                            .with(cpu, {.tensors = any_of(common, far), .inner = &far, .semantics = &semantics_of<host_machine>})
                            .standard("each", one, one_of(products_by(by_window ? "window" : "mac_each"), random()))
                            .loops(cpu);
        if (run_on(on, network, random) == "one") (by_window ? by_windows : by_taps) += 1;
    }
    CHECK(by_taps > 20);
    CHECK(by_windows > 20);
}

TEST_CASE("what an instruction takes from where it lies is not staged, and of several templates the cheapest counts") {
    std::mt19937 random(19);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    constexpr static agent one("one", in_place_npu);
    chip const on = chip("tested")
                        .inputs_in(common)
                        .outputs_in(common)
                        .constants_in(constants)
                        .with(one, {.tensors = common, .inner = &common, .semantics = &semantics_of<in_place_npu>})
                        .standard("products", one, {products_by("mac_there"), products_by("image")});
    int whole_images = 0;
    for (int run = 0; run < 40; ++run) {
        shape_of_layer of{
            .rows = draw({2, 5}), .columns = draw({2, 3, 6}), .channels = draw({2, 3, 8, 11}), .filters = draw({2, 4, 7, 12})};
        of.taps = draw({1, 1, 3}), of.stride = draw({1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        run_on(on, network, random);
        // One call for the whole image costs less than calls for parts of it, and it is for images whose every second pixel counts.
        std::string const found = eject(network_program(network, "net", on), "found", "chip.hpp", "tested");
        CHECK(found.find("cache_read") == std::string::npos);
        bool const is_whole = found.find("intrinsic_named(\"image\")") != std::string::npos;
        CHECK(is_whole == (of.taps == 1 && of.stride == 2));
        whole_images += is_whole ? 1 : 0;
    }
    CHECK(whole_images > 5);
}

TEST_CASE("a layer goes to the first choice that has a plan for it, and to the schedule that costs least") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    chip const on = chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu);
    CHECK(run_on(on, network, random) == "npu");
    CHECK(run_on(chip_with(nothing(), products_by("mac_rows")).loops(cpu), network, random) == "other");
    CHECK(run_on(chip_with(nothing(), nothing()).loops(cpu), network, random) == "cpu");
    // No other schedule of the template costs less.
    auto const cycles_of = [&](chip const& by) {
        network_program const whole(network, "net", by);
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
        REQUIRE(whole.placed_layers()[0].report.agent == "npu");
        return static_cast<double>(plan->cycles());
    };
    double const best = cycles_of(on);
    std::size_t planned = 0;
    for (std::uint32_t which = 0; which < 200; ++which) {
        try {
            double const other_cycles = cycles_of(chip_with(one_of(products_by("mac"), which), nothing()));
            CHECK(best <= other_cycles);
            ++planned;
        } catch (not_placed const&) {
        }
    }
    CHECK(planned > 50);
}

TEST_CASE("a constant in another order is a constant, and the second factor of a contraction") {
    for (bool const weights_first : {false, true}) {
        std::mt19937 random(1);
        layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12, .weights_first = weights_first}, random);
        std::vector<stored> const known{network.constants[0].what, network.constants[1].what};
        layer_shape of(network.all[0], known, {});
        of.reorder("c0", {1, 0});
        CHECK(of.is_constant("c0_10"));
        CHECK(of.as_contraction().value().weights == "c0_10");
    }
}

TEST_CASE("the pixels of a layer are one loop where no index tells rows and columns apart") {
    // How many tensors the kernel reshapes: what is read and what is made, or none.
    auto const reshaped = [](shape_of_layer const& of) {
        std::mt19937 random(1);
        layers const network = network_of(of, random);
        chip const on = chip_with(products_by("mac"), nothing()).loops(cpu);
        CHECK(run_on(on, network, random) == "npu");
        network_program const whole(network, "net", on);
        return whole.placed_layers()[0].layer->of.reshaped().size();
    };
    shape_of_layer const pixels{.rows = 6, .columns = 9, .channels = 8, .filters = 12};
    CHECK(reshaped(pixels) == 2);
    auto const changed = [&](auto const& change) {
        shape_of_layer made = pixels;
        change(made);
        return reshaped(made);
    };
    CHECK(changed([](shape_of_layer& of) { of.finishes = false; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.rescales = true; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.has_bias = false; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.taps = 3; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.taps = 3, of.before = 1; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.stride = 2; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.rows = 1; }) == 0);

    // A tensor of which a part is read: of more columns, whose pixels do not follow each other, or of more channels or rows.
    for (std::size_t dimension : {0, 1, 2}) {
        std::mt19937 random(1);
        layers network = network_of(pixels, random);
        REQUIRE(network.inputs[0].extents == std::vector<std::int64_t>{6, 9, 8});
        network.inputs[0].extents[dimension] += 2;
        network_program const wide(network, "net", chip_with(products_by("mac"), nothing()).loops(cpu));
        CHECK(wide.placed_layers()[0].layer->of.reshaped().empty());
    }
}

TEST_CASE("a chip can say where one layer goes") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    CHECK(run_on(chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu).layer("k0", "rows", other), network, random) == "other");
    CHECK(run_on(chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu).layer("k0", "loops", cpu), network, random) == "cpu");
    chip const of_another = chip_with(products_by("mac"), nothing()).loops(cpu).layer("k1", "loops", cpu);
    CHECK_THROWS_WITH(network_program(network, "net", of_another), "chip `tested` says where `k1` goes, and the network has no such layer");
    chip const unsaid = chip("unsaid").inputs_in(common).constants_in(constants).with(cpu, {.inner = &far}).loops(cpu);
    CHECK_THROWS_WITH(network_program(network, "net", unsaid), "chip `unsaid` names no memory: outputs_in(…)");
    // A template of its own, which other layers do not go to.
    CHECK(run_on(chip_with(nothing(), nothing()).layer("k0", "other", products_by("mac_rows")), network, random) == "other");
    CHECK(run_on(chip_with(products_by("mac"), nothing()).loops(cpu).layer("k0", "loops", "cpu"), network, random) == "cpu");
    chip on = chip_with(nothing(), nothing());
    CHECK_THROWS_WITH(on.layer("k0", "loops", cpu), "chip `tested`: `cpu` has no choice `loops`");
    CHECK_THROWS_WITH(on.with(npu, {}), "chip `tested` has two agents `npu`");
    CHECK_THROWS_WITH(on.loops(agent("dsp", host_machine)), "chip `tested` has no agent `dsp`: say with(…) first");
}

TEST_CASE("reasons that are alike but for the instruction are said once") {
    using imported::detail::joined_reasons;
    CHECK(joined_reasons({"it is no sum", "it is no sum"}) == "it is no sum");
    CHECK(joined_reasons({"`a` sums floats", "`b` sums floats"}) == "each of `a` and `b` sums floats");
    CHECK(joined_reasons({"bytes, and `a` sums floats", "`q` has no axis", "bytes, and `b` sums floats", "bytes, and `c` sums floats"}) ==
          "bytes, and each of `a`, `b` and 1 other sums floats, and `q` has no axis");
    CHECK(joined_reasons({"`a without an end"}) == "`a without an end");
}

TEST_CASE("where no choice takes a layer, the error names it and says why") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    CHECK_THROWS_WITH(network_program(network, "net", chip_with(nothing(), products_by("mac"))),
                      "k0, node 0 (`Conv`): no agent takes it; columns on npu: it takes nothing; rows on other: `mac` is no instruction of "
                      "`rows` that sums products of two");
    // A result that nothing takes to where the caller wants it.
    chip const away = chip("away")
                          .inputs_in(common)
                          .outputs_in(far)
                          .constants_in(constants)
                          .with(npu, {.tensors = common, .inner = &common})
                          .standard("columns", npu, products_by("mac"));
    CHECK_THROWS_WITH(
        network_program(network, "net", away),
        "k0, node 0 (`Conv`): no agent takes it; columns on npu: it makes a result of the network, and nothing takes that to `far`");
    chip const homeless = chip("homeless").inputs_in(common).outputs_in(common).constants_in(constants).with(cpu, {}).loops(cpu);
    CHECK_THROWS_WITH(network_program(network, "net", homeless),
                      "k0: chip `homeless` does not say where loops of `cpu` keep what stays in a kernel: `.inner`");
}

TEST_CASE("tensors wait in another memory where theirs is too small, if the chip allows that") {
    // a = in0 + 1, b = a a, c is b from its end, out0 = c + a. Each has 6,400 bytes: a waits while c is made of b, which it does not
    // overwrite.
    constexpr std::int64_t extent = 6400;
    layers made;
    made.inputs.push_back({"in0", scalar_type::int8, {extent}});
    made.outputs.push_back({"out0", scalar_type::int8, {extent}});
    auto const i = along("i", extent);
    auto const read = [&](char const* tensor) { return element(tensor, scalar_type::int8, {i}); };
    auto const add = [&](char const* kernel, char const* result, value const& what) {
        made.all.push_back({kernel, stage_of(element(result, scalar_type::int8, {i}), what), {}, kernel});
    };
    value const one = number(std::int64_t{1}, scalar_type::int8);
    add("k0", "a", read("in0") + one), add("k1", "b", read("a") * read("a")),
        add("k2", "c", element("b", scalar_type::int8, {in32(extent - 1) - i})), add("k3", "out0", read("c") + read("a"));
    auto const on = [] {
        return chip("tested")
            .inputs_in(far)
            .outputs_in(far)
            .constants_in(constants)
            .with(cpu, {.tensors = common, .inner = &common, .semantics = &semantics_of<host_machine>})
            .loops(cpu);
    };
    network_program const without(made, "net", on());
    CHECK(make_program_plan(without.get()).refusal.kind == verdict_kind::memory_overflow);
    chip const allows = on().spills_to(far);
    network_program const with(made, "net", allows);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(with.get()));
    INFO((plan->refusal ? to_string(plan->refusal) : ""));
    REQUIRE(!plan->refusal);
    emulated_network emulated(with, allows, *plan);
    std::mt19937 random(3);
    std::vector<std::byte> const input = some_bytes(extent, random), got = emulated({input})[0];
    auto const a_at = [&](std::size_t at) { return static_cast<std::int8_t>(std::to_integer<int>(input[at]) + 1); };
    for (std::size_t at = 0; at < input.size(); ++at) {
        std::int8_t const from_end = a_at(input.size() - 1 - at);
        auto const wanted = static_cast<std::int8_t>(from_end * from_end + a_at(at));
        REQUIRE(static_cast<std::int8_t>(std::to_integer<int>(got[at])) == wanted);
    }
}

TEST_CASE("layers that are alike are searched once") {
    std::mt19937 random(1);
    layers network = network_of({.rows = 6, .columns = 9, .channels = 12, .filters = 12}, random);
    layers const second = network_of({.rows = 6, .columns = 9, .channels = 12, .filters = 12}, random);
    // The second layer reads what the first one makes.
    for (ir::node& one : network.all[0].nodes) {
        if (one.name == "out0") one.name = "t0";
    }
    layer next = second.all[0];
    next.name = "k1";
    for (ir::node& one : next.nodes) {
        if (one.op == operation::access && one.name == "in0") one.name = "t0";
    }
    network.all.push_back(next);
    int asked = 0;
    schedule_template const refuses = [&asked](placed_layer&) { return ++asked, candidates{{}, "not today"}; };
    network_program const whole(network, "net", chip_with(refuses, products_by("mac_rows")));
    CHECK(whole.placed_layers()[0].report.schedules > 50);
    CHECK(whole.placed_layers()[1].report.schedules == 0);
    CHECK(asked == 1);
    for (auto const& one : whole.placed_layers()) CHECK(one.report.passed_over == std::vector<std::string>{"columns on npu: not today"});
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
    REQUIRE(!plan->refusal);
    CHECK(plan->kernel_at(0).cycles == plan->kernel_at(1).cycles);
    // A template that looks at names.
    schedule_template const prefers_first = [every = products_by("mac_rows")](placed_layer& of) {
        candidates made = every(of);
        if (of.of.what().name == "k1") made.all.erase(made.all.begin() + 1, made.all.end());
        return made;
    };
    CHECK_THROWS_WITH(network_program(network, "net", chip_with(nothing(), prefers_first)),
                      "k1: a template makes fewer schedules of it than of a layer that differs in names alone");
}
