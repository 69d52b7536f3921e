#pragma once
#include <random>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/eject.hpp>
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/placement_report.hpp>
#include <tilewright/import/products_by_instruction.hpp>
#include <tilewright/import/values.hpp>

#include "catch.hpp"
#include "oracle/oracle.hpp"

/// Small layers, and small chips for them. The oracle says what each layer makes; it reads the layer, and no schedule.
namespace layers_on_chips {

using namespace tilewright;
using namespace tilewright::imported;

inline constexpr memory far{.name = "far", .capacity = 64_KiB, .alignment = 16},
    common{.name = "common", .capacity = 16_KiB, .alignment = 16}, constants{.name = "constants", .capacity = 16_KiB, .alignment = 16},
    spad{.name = "spad", .capacity = 4_KiB, .alignment = 16}, acc{.name = "acc", .capacity = 2_KiB, .alignment = 16};
inline constexpr engine loader{"loader"}, array{"array"};
constexpr transfer by_loader(char const* name, memory const& from, memory const& to) {
    return transfer(name, from, to).on(loader).asynchronous().dimensions(4).cost({.latency = 16, .setup = 2, .bytes_per_cycle = 16});
}
inline constexpr auto mvin = by_loader("mvin", common, spad), mvin_constants = by_loader("mvin_constants", constants, spad),
                      mvout = by_loader("mvout", acc, common);
inline constexpr axis p{"p", 4}, f{"f", 4}, d{"d", 8};
inline constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"};
inline constexpr tensor<std::int32_t> sums{"sums"};

// Filters stand in columns: elements of one channel follow each other. The core takes sums out of the accumulators.
inline constexpr auto product = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(d, f));
inline constexpr auto mac =
    intrinsic("mac", sums(p, f) += product).reads(pixels, spad).reads(filters, spad).updates(sums, acc).up_to(p, f, d).on(array).cycles(4);
inline constexpr auto mul = intrinsic("mul", sums(p, f) = sum(d, product))
                                .reads(pixels, spad)
                                .reads(filters, spad)
                                .writes(sums, acc)
                                .up_to(p, f, d)
                                .on(array)
                                .cycles(4);
inline constexpr auto columns = machine("columns", common, constants, spad, acc, loader, array, mvin, mvin_constants, mac, mul);

// With an instruction that finishes sums: its biases, scales and limits lie where constants do.
inline constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
inline constexpr tensor<std::int8_t> finished{"finished"};
inline constexpr auto finish =
    intrinsic("finish", finished(p, f) = rescaled_bytes(sums(p, f), bias(f), multiplier(f), shift(f), low(0), high(0), zero(0)))
        .reads(sums, acc)
        .reads({bias, multiplier, shift, low, high, zero}, constants)
        .writes(finished, common)
        .up_to(p, f)
        .on(array)
        .cycles(4);
// Likewise by scales of floats.
inline constexpr tensor<float> scale{"scale"}, least{"least"}, most{"most"};
inline constexpr auto scaling =
    intrinsic("scaling", finished(p, f) = scaled_bytes(sums(p, f) + bias(f), scale(f), least(0), most(0), zero(0)))
        .reads(sums, acc)
        .reads({bias, zero}, constants)
        .reads({scale, least, most}, constants)
        .writes(finished, common)
        .up_to(p, f)
        .on(array)
        .cycles(4);
// And one that adds elements: where they lie, or in `spad`.
inline constexpr axis e{"e", 4};
inline constexpr tensor<std::int8_t> left{"left"}, right{"right"}, total{"total"};
inline constexpr tensor<std::int32_t> lz{"lz"}, lm{"lm"}, ls{"ls"}, rz{"rz"}, rm{"rm"}, rs{"rs"};
inline constexpr auto added = total(e) =
    added_bytes(left(e), right(e), lz(0), lm(0), ls(0), rz(0), rm(0), rs(0), multiplier(0), shift(0), low(0), high(0), zero(0));
inline constexpr auto add_there = intrinsic("add_there", added)
                                      .reads({left, right}, common)
                                      .reads({lz, lm, ls, rz, rm, rs, multiplier, shift, low, high, zero}, constants)
                                      .writes(total, common)
                                      .up_to(e)
                                      .on(array)
                                      .cycles(1);
inline constexpr auto add_near = intrinsic("add_near", added)
                                     .reads({left, right}, spad)
                                     .reads({lz, lm, ls, rz, rm, rs, multiplier, shift, low, high, zero}, constants)
                                     .writes(total, spad)
                                     .up_to(e)
                                     .on(array)
                                     .cycles(1);
inline constexpr auto store_bytes = by_loader("store_bytes", spad, common);
inline constexpr auto finishing_npu = machine("finishing", common, constants, spad, acc, loader, array, mvin, mvin_constants, store_bytes,
                                              mac, mul, finish, scaling, add_there, add_near);
// The controller goes on while the array sums, and while another unit finishes.
inline constexpr engine summing{.name = "summing", .completes = completion::by_channel},
    finishing{.name = "finishing", .completes = completion::by_channel};
inline constexpr auto mac_aside = intrinsic(mac).on(summing).asynchronous(), mul_aside = intrinsic(mul).on(summing).asynchronous(),
                      finish_aside = intrinsic(finish).on(finishing).asynchronous();
inline constexpr auto npu_aside = machine("npu_aside", common, constants, spad, acc, loader, summing, finishing, mvin, mvin_constants,
                                          mac_aside, mul_aside, finish_aside);

// Filters stand in rows, and a transfer stores sums.
inline constexpr auto product_of_rows = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(f, d));
inline constexpr auto mac_rows = intrinsic("mac_rows", sums(p, f) += product_of_rows)
                                     .reads(pixels, spad)
                                     .reads(filters, spad)
                                     .updates(sums, acc)
                                     .up_to(p, f, d)
                                     .on(array)
                                     .cycles(4);
inline constexpr auto mul_rows = intrinsic("mul_rows", sums(p, f) = sum(d, product_of_rows))
                                     .reads(pixels, spad)
                                     .reads(filters, spad)
                                     .writes(sums, acc)
                                     .up_to(p, f, d)
                                     .on(array)
                                     .cycles(4);
inline constexpr auto rows = machine("rows", common, constants, spad, acc, loader, array, mvin, mvin_constants, mvout, mac_rows, mul_rows);

// Channels that stay apart: a tap a call, or a window of up to 3 x 3. And products of what lies where it is, without transfers.
inline constexpr auto product_of_each = cast<std::int32_t>(pixels(p, f)) * cast<std::int32_t>(filters(f));
inline constexpr auto mac_each = intrinsic("mac_each", sums(p, f) += product_of_each)
                                     .reads(pixels, spad)
                                     .reads(filters, spad)
                                     .updates(sums, acc)
                                     .up_to(p, f)
                                     .on(array)
                                     .cycles(4);
inline constexpr axis one_sum{"one_sum", 1};
inline constexpr auto nothing_yet = transfer("nothing_yet", common, acc, sums(one_sum) = 0).on(loader).dimensions(4);
inline constexpr axis r{"r", 3}, t{"t", 3}, all_p{"p", 16}, all_f{"f", 16}, all_y{"y", 16}, all_d{"d", 32};
inline constexpr auto window =
    intrinsic("window",
              sums(all_p, all_f) = sum(r, t, cast<std::int32_t>(pixels(r, all_p + t, all_f)) * cast<std::int32_t>(filters(r, t, all_f))))
        .reads(pixels, spad)
        .reads(filters, constants)
        .writes(sums, acc)
        .up_to(r, t, all_p, all_f)
        .on(array)
        .cycles(4);
inline constexpr auto apart_npu =
    machine("apart", common, constants, spad, acc, loader, array, mvin, mvin_constants, nothing_yet, mac_each, window);
inline constexpr auto image =
    intrinsic("image", sums(all_y, all_p, all_f) =
                           sum(all_d, cast<std::int32_t>(pixels(2 * all_y, 2 * all_p, all_d)) * cast<std::int32_t>(filters(all_d, all_f))))
        .reads(pixels, common)
        .reads(filters, constants)
        .writes(sums, acc)
        .up_to(all_y, all_p, all_f, all_d)
        .on(array)
        .cycles(4);
inline constexpr auto mul_there = intrinsic("mul_there", sums(p, f) = sum(d, product))
                                      .reads(pixels, common)
                                      .reads(filters, constants)
                                      .writes(sums, acc)
                                      .up_to(p, f, d)
                                      .on(array)
                                      .cycles(4);
inline constexpr auto mac_there = intrinsic("mac_there", sums(p, f) += product)
                                      .reads(pixels, common)
                                      .reads(filters, constants)
                                      .updates(sums, acc)
                                      .up_to(p, f, d)
                                      .on(array)
                                      .cycles(4);
// `mul` takes the operands from elsewhere: it is not the form to start with, though it comes first.
inline constexpr auto in_place_npu = machine("in_place", common, constants, spad, acc, array, mul, mul_there, mac_there, image);

inline constexpr engine mover{"mover"};
inline constexpr auto out = transfer("out", common, far).on(mover).dimensions(2).cost({.latency = 8, .bytes_per_cycle = 8});
inline constexpr auto back = transfer("back", far, common).on(mover).dimensions(2).cost({.latency = 8, .bytes_per_cycle = 8});
inline constexpr auto host_machine = machine("host", far, common, constants, mover, out, back);
inline constexpr agent npu("npu", columns), other("other", rows), cpu("cpu", host_machine);

// A core with a memory of its own.
inline constexpr memory near{.name = "near", .capacity = 2_KiB, .alignment = 16};
inline constexpr auto bring = by_loader("bring", common, near), bring_constants = by_loader("bring_constants", constants, near),
                      take = by_loader("take", near, common);
inline constexpr auto with_near = machine("with_near", common, constants, near, loader, bring, bring_constants, take);
inline constexpr agent dsp("dsp", with_near);

/// One of the schedules that a template makes, whatever it costs.
inline schedule_template one_of(schedule_template const& all, std::uint32_t which) {
    return [=](placed_layer& of) {
        candidates made = all(of);
        if (!made.all.empty()) made.all = {made.all[which % made.all.size()]};
        return made;
    };
}
inline chip chip_with(schedule_template of_columns, schedule_template of_rows) {
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
inline constexpr agent finisher("finisher", finishing_npu), finisher_aside("finisher_aside", npu_aside);
inline chip chip_that_finishes(schedule_template how, bool aside = false) {
    agent const& by = aside ? finisher_aside : finisher;
    return chip("tested")
        .inputs_in(common)
        .outputs_in(common)
        .constants_in(constants)
        .with(by, {.tensors = common, .inner = &common, .semantics = aside ? &semantics_of<npu_aside> : &semantics_of<finishing_npu>})
        .standard("products", by, std::move(how))
        .loops(by);
}
inline bool is_finished_by_instruction(layers const& of, chip const& on, std::string const& instruction = "finish") {
    network_program const whole(of, "net", on);
    return eject(whole, "found", "chip.hpp", "tested").find("intrinsic_named(\"" + instruction + "\")") != std::string::npos;
}
inline schedule_template nothing() {
    return [](placed_layer&) { return candidates{{}, "it takes nothing"}; };
}

/// A convolution of one image, or with `taps` of 1 a product of matrices: [rows][columns][channels] by [filters][y][x][channels].
struct shape_of_layer {
    std::int64_t rows = 1, columns = 1, channels = 1, filters = 1, taps = 1, stride = 1, before = 0;
    bool finishes = true, has_bias = true;
    bool weights_first = false;  ///< the first factor of the product is the weight
    bool rescales = false;       ///< it finishes as layers of TensorFlow Lite do
    bool scales = false;         ///< it finishes as layers of quantised ONNX do, with a scale of which half of all sums make halves
    bool depthwise = false;      ///< each filter is of one channel, its own
    bool filters_last = false;   ///< of the dimensions of the weights, as TensorFlow Lite has them

    bool is_plain() const { return stride == 1 && taps == 1 && before == 0; }
    std::int64_t in_rows() const { return (rows - 1) * stride + taps - 2 * before; }
    std::int64_t in_columns() const { return (columns - 1) * stride + taps - 2 * before; }
};

value in32(std::int64_t of) { return number(of, scalar_type::int32); }
/// The layer, as it is imported: dimensions of one element are left out.
inline layers network_of(shape_of_layer const& of, std::mt19937& random) {
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
    std::vector<loop> of_weights = {{r, of.taps}, {s, of.taps}, {channel, of.depthwise ? 1 : of.channels}};
    of_weights.insert(of.filters_last ? of_weights.end() : of_weights.begin(), {filter, of.filters});
    auto const [weights, weight] = tensor("c0", scalar_type::int8, of_weights, false);
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
        if (of.scales) {
            value const scaled = imported::detail::nearest_even(convert(read, scalar_type::float32) * number(0.5, scalar_type::float32));
            return convert(smaller_of(larger_of(convert(scaled, scalar_type::int32), in32(-60)), in32(120)) + in32(7), scalar_type::int8);
        }
        return convert(smaller_of(larger_of(read / in32(16), in32(-128)), in32(127)), scalar_type::int8);
    };
    if (of.finishes) {
        store("s0_", sum, "s0", scalar_type::int32);
        one.inner.push_back({"s0", of.filters > 1 ? "f" : of.columns > 1 ? "x" : "y", true});
        made.outputs.push_back(store("", finished("s0"), "out0", scalar_type::int8));
        if (of.scales)
            one.rescaled = rescaling{.channel = of.filters > 1 ? "f" : "x", .low = -60, .high = 120, .zero_point = 7, .scales = {0.5F}};
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
inline image_tensor image_of(char const* name, scalar_type type, std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    image_tensor made{{ir::label(name), type, {}}};
    if (rows > 1) made.tensor.extents.push_back(rows);
    made.tensor.extents.insert(made.tensor.extents.end(), {columns, channels});
    return made;
}
/// A layer of sums, and of what is computed of each.
inline layers sums_and(image_tensor const& in, value const& sums_element, value const& sum, value const& result_element,
                       value const& finished) {
    layers made;
    layer one{"k0", stage_of(sums_element, sum), {}, "node 0 (`MEAN`)"};
    imported::detail::append(one.nodes, stage_of(result_element, finished));
    one.inner.push_back({"s0", "f", true});
    made.all.push_back(one);
    made.inputs.push_back(in.tensor);
    return made;
}
inline value limited_byte(value const& x, std::int64_t low, std::int64_t high, std::int64_t zero) {
    return convert(smaller_of(larger_of(x, in32(low)), in32(high)) + in32(zero), scalar_type::int8);
}
inline value rescaled_by(value const& x, std::int64_t multiplier, int shift) {
    parameter<std::int32_t> const of{"x"}, by{"by"};
    return apply(rescale<rounding::doubling_high>(of, by, shift), {{"x", x}, {"by", in32(multiplier)}});
}
/// The mean of each channel, as TensorFlow Lite has it.
inline layers mean_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
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
inline layers pool_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
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
inline layers sum_of(std::int64_t rows, std::int64_t columns, std::int64_t channels) {
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

inline oracle::operand operand_of(stored const& tensor, std::vector<std::byte> const& bytes) {
    oracle::tensor_box box{.name = tensor.name, .type = tensor.type, .rank = static_cast<int>(tensor.extents.size())};
    std::copy(tensor.extents.begin(), tensor.extents.end(), box.extents.begin());
    return {box, bytes.data()};
}
inline std::vector<std::byte> expected(layers const& of, std::vector<std::vector<std::byte>> const& inputs) {
    std::vector<oracle::operand> operands;
    for (std::size_t at = 0; at < inputs.size(); ++at) operands.push_back(operand_of(of.inputs[at], inputs[at]));
    for (known_tensor const& one : of.constants) operands.push_back(operand_of(one.what, one.bytes));
    return oracle::evaluate({of.all[0].nodes.data(), static_cast<int>(of.all[0].nodes.size())}, operands).bytes;
}
inline std::vector<std::byte> some_bytes(std::size_t count, std::mt19937& random) {
    std::vector<std::byte> made(count);
    for (std::byte& one : made) one = static_cast<std::byte>(random());
    return made;
}

/// What a chip makes of a layer, in all ways in which data can move. @return the agent
inline std::string run_on(chip const& on, layers const& of, std::mt19937& random) {
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

}  // namespace layers_on_chips
