#!/usr/bin/env python3
"""Trains the network of lesson 09 in floating point, quantises it to int8 and writes weights.hpp. Needs numpy and nothing else.

  train.py                     trains on the first 898 digits, writes weights.hpp, reads the other 899 with integers: a few minutes
  train.py --cross-validate    what choices were made by: each fifth of the first 898, read after training on the rest

Images are [image][row][column][channel], 3 x 3 filters [row][column][channel][filter], both of them row-major.
The same numpy with the same BLAS writes the same file; others add in another order and train slightly different weights.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the number of threads would change the order of sums

import argparse
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
DIGITS = FOLDER.parent / "digits" / "digits.csv.gz"
TRAINING_DIGITS = 898  # the rest of the file is read once, at the end
SIDE, CLASSES, BRIGHTEST = 8, 10, 16
FILTERS = (16, 32)  # of the two convolutions
SEED = 1

EPOCHS, BATCH, LEARNING_RATE, WEIGHT_DECAY = 500, 32, 3e-3, 1e-2
DROPPED = 0.3  # part of the inputs of the dense layer that a step of training goes without
SMOOTHING = 0.1  # part of a target that is spread over all classes
# Standard deviations of rotation (radians), logarithm of the scale, and shear; the largest shift, in pixels.
ROTATION, SCALE, SHEAR, SHIFT = 0.15, 0.12, 0.15, 0.4


# ---- the network in floating point, forwards and backwards


def patches(images):
    """The 3 x 3 neighbourhood of every pixel, zeros outside: [image x row x column][row x column x channel]."""
    count, rows, columns, channels = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, r : r + rows, s : s + columns] for r in range(3) for s in range(3)]
    return np.concatenate(taps, axis=3).reshape(count * rows * columns, 9 * channels)


def patches_gradient(gradient, shape):
    """What `patches` hands back to images of `shape`."""
    count, rows, columns, channels = shape
    taps = gradient.reshape(count, rows, columns, 9, channels)
    padded = np.zeros((count, rows + 2, columns + 2, channels), gradient.dtype)
    for tap in range(9):
        r, s = divmod(tap, 3)
        padded[:, r : r + rows, s : s + columns] += taps[:, :, :, tap]
    return padded[:, 1:-1, 1:-1]


def quarters(images):
    """Views by windows of 2 x 2."""
    count, rows, columns, channels = images.shape
    return images.reshape(count, rows // 2, 2, columns // 2, 2, channels)


def max_pool(images):
    return quarters(images).max(axis=(2, 4))


def max_pool_gradient(gradient, images, pooled):
    """Equal largest ones all get it: behind a ReLU these are zeros, whose gradient nobody uses."""
    largest = quarters(images) == pooled[:, :, None, :, None, :]
    return (largest * gradient[:, :, None, :, None, :]).reshape(images.shape)


def initial_weights(random):
    """[weights, bias] of each layer, the weights as matrices [inputs][outputs]."""
    first, second = FILTERS
    dense_inputs = (SIDE // 4) ** 2 * second
    parameters = []
    for inputs, outputs, gain in ((9, first, 2), (9 * first, second, 2), (dense_inputs, CLASSES, 1)):
        parameters.append(random.normal(0, (gain / inputs) ** 0.5, (inputs, outputs)).astype(np.float32))
        parameters.append(np.zeros(outputs, np.float32))
    return parameters


def forward(parameters, images):
    """The inputs of each layer as matrices, the activations and the pooled ones of both convolutions."""
    w1, b1, w2, b2, _, _ = parameters
    in1 = patches(images)
    act1 = np.maximum(in1 @ w1 + b1, 0).reshape(*images.shape[:3], -1)
    pool1 = max_pool(act1)
    in2 = patches(pool1)
    act2 = np.maximum(in2 @ w2 + b2, 0).reshape(*pool1.shape[:3], -1)
    pool2 = max_pool(act2)
    return in1, act1, pool1, in2, act2, pool2


def scores(parameters, images):
    pool2 = forward(parameters, images)[-1]
    return pool2.reshape(len(images), -1) @ parameters[4] + parameters[5]


def softmax(values):
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def gradients(parameters, images, targets, random):
    """Of the mean cross-entropy, for each of the parameters."""
    _, _, w2, _, w3, b3 = parameters
    in1, act1, pool1, in2, act2, pool2 = forward(parameters, images)
    kept = (random.random((len(images), w3.shape[0])) >= DROPPED).astype(np.float32) / np.float32(1 - DROPPED)
    in3 = pool2.reshape(len(images), -1) * kept
    g3 = (softmax(in3 @ w3 + b3) - targets) / np.float32(len(images))
    g2 = (max_pool_gradient((g3 @ w3.T * kept).reshape(pool2.shape), act2, pool2) * (act2 > 0)).reshape(len(in2), -1)
    g1 = max_pool_gradient(patches_gradient(g2 @ w2.T, pool1.shape), act1, pool1) * (act1 > 0)
    g1 = g1.reshape(len(in1), -1)
    return [in1.T @ g1, g1.sum(axis=0), in2.T @ g2, g2.sum(axis=0), in3.T @ g3, g3.sum(axis=0)]


# ---- training


def distorted(images, random):
    """Each image turned, scaled, sheared and shifted a little, by bilinear interpolation; paper outside."""
    count = len(images)

    def drawn(deviation):
        return random.normal(0, deviation, (count, 1, 1))

    angle, shear, scale_y, scale_x = drawn(ROTATION), drawn(SHEAR), np.exp(drawn(SCALE)), np.exp(drawn(SCALE))
    shift_y, shift_x = random.uniform(-SHIFT, SHIFT, (2, count, 1, 1))
    centre = (SIDE - 1) / 2
    y, x = np.meshgrid(np.arange(SIDE) - centre, np.arange(SIDE) - centre, indexing="ij")
    border = 2
    from_y = scale_y * (np.cos(angle) * y + np.sin(angle) * x) + shift_y + centre + border
    from_x = scale_x * (np.cos(angle) * x - np.sin(angle) * y + shear * y) + shift_x + centre + border

    padded = np.pad(images[..., 0], ((0, 0), (border, border), (border, border)))
    last = padded.shape[1] - 1.001
    from_y, from_x = np.clip(from_y, 0, last), np.clip(from_x, 0, last)
    top, left = from_y.astype(int), from_x.astype(int)
    down, right = from_y - top, from_x - left
    image = np.arange(count)[:, None, None]
    upper = padded[image, top, left] * (1 - right) + padded[image, top, left + 1] * right
    lower = padded[image, top + 1, left] * (1 - right) + padded[image, top + 1, left + 1] * right
    return (upper * (1 - down) + lower * down)[..., None].astype(np.float32)


def fit(name, images, labels, random, start, slopes_of, epochs, learning_rate):
    """Parameters that read these digits: Adam with decoupled weight decay, its rate falling along a cosine. `start(random)` makes the first
    ones; `slopes_of(parameters, images, targets, random)` has a slope for each."""
    targets = np.full((len(labels), CLASSES), SMOOTHING / CLASSES, np.float32)
    targets[np.arange(len(labels)), labels] += 1 - SMOOTHING
    parameters = start(random)
    mean = [np.zeros_like(p) for p in parameters]
    square = [np.zeros_like(p) for p in parameters]
    batches = len(images) // BATCH
    step = 0
    for epoch in range(epochs):
        order = random.permutation(len(images))
        shown = distorted(images, random)
        for batch in range(batches):
            chosen = order[batch * BATCH : (batch + 1) * BATCH]
            slopes = slopes_of(parameters, shown[chosen], targets[chosen], random)
            step += 1
            rate = learning_rate * (1 + np.cos(np.pi * step / (epochs * batches))) / 2
            for which, slope in enumerate(slopes):
                mean[which] += np.float32(0.1) * (slope - mean[which])
                square[which] += np.float32(0.001) * (slope * slope - square[which])
                move = mean[which] / (1 - 0.9**step) / (np.sqrt(square[which] / (1 - 0.999**step)) + 1e-8)
                decay = WEIGHT_DECAY * parameters[which] if parameters[which].ndim == 2 else 0
                parameters[which] -= (rate * (move + decay)).astype(np.float32)
        if epoch % 10 == 9 or epoch + 1 == epochs:
            print(f"\r{name}: epoch {epoch + 1} of {epochs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return parameters


def train(name, pixels, labels, random):
    """A float network for these digits, on pixels of 0 to 1."""
    images = (pixels / BRIGHTEST).astype(np.float32)
    return fit(name, images, labels, random, initial_weights, gradients, EPOCHS, LEARNING_RATE)


# ---- the network in integers


def fixed_point(scale):
    """multiplier and shift, with scale = multiplier / 2^(31 + shift) and a multiplier of 2^30 to 2^31 - 1."""
    fraction, exponent = np.frexp(scale)
    multiplier, exponent = np.rint(fraction * 2**31).astype(np.int64), exponent.astype(np.int64)
    carried = multiplier == 2**31
    return np.where(carried, 2**30, multiplier), np.where(carried, -exponent - 1, -exponent)


def quantise(parameters, pixels):
    """Weights of int8 with a scale for each filter (one for all of the dense layer, so that scores compare), the rest to match.

    Activations are int8 from 0 to 127, where 127 is the largest that the digits `pixels` reach.
    """
    activations = forward(parameters, (pixels / BRIGHTEST).astype(np.float32))
    quantised = []
    in_scale = 1 / BRIGHTEST
    for weights, bias, out in zip(parameters[0::2], parameters[1::2], (activations[1], activations[4], None)):
        largest = np.abs(weights).max(axis=0) if out is not None else np.abs(weights).max()
        scale = np.maximum(largest.astype(np.float64), 1e-9) / 127
        layer = {"weights": np.rint(weights / scale).astype(np.int64), "bias": np.rint(bias / (in_scale * scale)).astype(np.int64)}
        if out is not None:
            out_scale = float(out.max()) / 127
            layer["multiplier"], layer["shift"] = fixed_point(in_scale * scale / out_scale)
            in_scale = out_scale
        quantised.append(layer)
    return quantised


def requantised(sums, layer):
    """sums * multiplier / 2^(31 + shift), rounded once, halves away from 0, then 0 to 127: the ReLU."""
    product = sums * layer["multiplier"]
    places = layer["shift"] + 31
    magnitude = (np.abs(product) + (1 << (places - 1))) >> places
    return np.clip(np.sign(product) * magnitude, 0, 127)


def integer_scores(quantised, pixels):
    images = pixels
    for layer in quantised[:2]:
        sums = patches(images) @ layer["weights"] + layer["bias"]
        images = max_pool(requantised(sums, layer).reshape(*images.shape[:3], -1))
    return images.reshape(len(images), -1) @ quantised[2]["weights"] + quantised[2]["bias"]


def right(all_scores, labels):
    return int((all_scores.argmax(axis=1) == labels).sum())


# ---- the header


def array(name, values, element, columns, shape=None):
    """A std::array of a vector, or of a matrix, each row of which begins a line; at most `columns` numbers a line."""
    rows = np.atleast_2d(values)
    width = max(len(str(value)) for value in rows.flat)
    lines = []
    for row in rows:
        for start in range(0, len(row), columns):
            lines.append("    " + ", ".join(f"{value:{width}}" for value in row[start : start + columns]) + ",")
    remark = [f"/// {shape}"] if shape else []
    return "\n".join(remark + [f"inline constexpr std::array<std::{element}, {rows.size}> {name}{{"] + lines + ["};"]) + "\n"


def header(quantised, read, count):
    first, second = FILTERS
    share = 100 * read / count
    shapes = ("[row][column][filter], of one channel", "[row][column][channel][filter]",
              f"[row][column][channel][class], of {SIDE // 4} x {SIDE // 4} pixels")
    text = f"""#pragma once
#include <array>
#include <cstdint>

/// Lesson 09: the quantised network, as train.py writes it. Arrays are row-major. A sum begins with the bias of its filter;
/// times multiplier / 2^(31 + shift) it is the next layer's int8, before the ReLU.
namespace lesson_network {{

inline constexpr int conv1_filters = {first}, conv2_filters = {second};
inline constexpr int test_digits_read = {read};  ///< of the {count} that nothing was learnt from: {share:.2f} %

// clang-format off

"""
    for name, shape, layer in zip(("conv1", "conv2", "dense"), shapes, quantised):
        text += array(f"{name}_weights", layer["weights"], "int8_t", 16, shape) + "\n"
        for part in ("bias", "multiplier", "shift"):
            if part in layer:
                text += array(f"{name}_{part}", layer[part], "int32_t", 8 if len(layer[part]) % 8 == 0 else 10) + "\n"
    return text + "// clang-format on\n\n}  // namespace lesson_network\n"


# ---- what is asked for


def load_digits():
    """pixels [digit][row][column][1] of 0 to 16, labels [digit]"""
    table = np.loadtxt(DIGITS, delimiter=",", dtype=np.int64)
    return table[:, :-1].reshape(-1, SIDE, SIDE, 1), table[:, -1]


def cross_validate(pixels, labels):
    """The folds are blocks, as in lesson 11: digits of one writer lie side by side."""
    folds, in_float, in_integers = 5, 0, 0
    for fold in range(folds):
        begin, end = len(labels) * fold // folds, len(labels) * (fold + 1) // folds
        others = np.r_[0:begin, end : len(labels)]
        parameters = train(f"fold {fold + 1} of {folds}", pixels[others], labels[others], np.random.default_rng(SEED))
        quantised = quantise(parameters, pixels[others])
        in_float += right(scores(parameters, (pixels[begin:end] / BRIGHTEST).astype(np.float32)), labels[begin:end])
        in_integers += right(integer_scores(quantised, pixels[begin:end]), labels[begin:end])
    count = len(labels)
    print(f"read by cross-validation: {100 * in_float / count:.2f} % in float, {100 * in_integers / count:.2f} % in int8")


def train_and_write(pixels, labels):
    known, unknown = slice(None, TRAINING_DIGITS), slice(TRAINING_DIGITS, None)
    parameters = train("training", pixels[known], labels[known], np.random.default_rng(SEED))
    quantised = quantise(parameters, pixels[known])
    in_float = right(scores(parameters, (pixels[unknown] / BRIGHTEST).astype(np.float32)), labels[unknown])
    in_integers = right(integer_scores(quantised, pixels[unknown]), labels[unknown])
    count = len(labels[unknown])
    (FOLDER / "weights.hpp").write_text(header(quantised, in_integers, count))
    print(f"of {count} test digits, {in_integers} are read in int8 ({100 * in_integers / count:.2f} %), {in_float} in float")


def main():
    parser = argparse.ArgumentParser(description="Trains the network of lesson 09 and writes weights.hpp.")
    parser.add_argument("--cross-validate", action="store_true", help="do not write; say how well training does inside the training digits")
    arguments = parser.parse_args()
    pixels, labels = load_digits()
    if arguments.cross_validate:
        cross_validate(pixels[:TRAINING_DIGITS], labels[:TRAINING_DIGITS])
    else:
        train_and_write(pixels, labels)


if __name__ == "__main__":
    main()
