#pragma once
#include <tilewright/tilewright.hpp>

// What a program can call things of its own beside `using namespace tilewright`: anything but the words that kernels are written with, and
// a few others. These stay in namespace tilewright:
// - machines: machine memory engine core tokens transfer intrinsic configuration register_file completion argument
// - computations: tensor any_tensor axis parameter computation expression operation stages dynamic padded per, and the functions of
//   compute/expression.hpp and compute/functions.hpp: cast select sum minimum maximum min max exp relu clamp rounding …
// - schedules and plans: schedule directive index_map separator plan planned make_plan plan_value verdict verdict_kind refused role
// - with their headers: program agent planned_program, emulator progress, the reports by their names, and the namespaces kernel, reports
// What planning is made of is in tilewright::ir and tilewright::detail.
// clang-format off
#define OWN_NAMES(X) \
    X(node) X(share) X(rule) X(fact) X(label) X(stage) X(direction) X(quantity) X(access) X(joined) X(step) X(part) X(buffer) \
    X(limit) X(clip) X(ring) X(body) X(use) X(range) X(box) X(region) X(spread) X(term) X(value) X(page) X(row) X(lane) X(bank) \
    X(port) X(channel) X(loop) X(tile) X(block) X(weight) X(bias) X(input) X(result) X(source) X(target) X(address) X(stride) \
    X(size) X(count) X(window) X(image) X(mask) X(scale) X(state) X(job) X(cycle) X(place) X(version) X(piece) X(form) X(setting) \
    X(padding) X(extent) X(level) X(scope) X(variable) X(movement) X(staging) X(placement) X(nest) X(message) X(layout) X(item) \
    X(key) X(query) X(position) X(feature) X(length) X(offset) X(hazard) X(cell) X(is)
// clang-format on
