#!/bin/sh
# sh tests/fuzz.sh MINUTES [SEED]
#
# Draws kernels for so many minutes, runs each in every way, and compares it with the oracle; or runs and shows the one case of a seed.
# A case that fails is made smaller and printed as C++ to paste. Ctrl-C ends it. Ends with `fuzz: cases=… refused=… mismatches=…`, and with
# an error where there are mismatches. tests/fuzz/README.md says more.
set -eu
[ $# -ge 1 ] || { echo "usage: sh tests/fuzz.sh MINUTES [SEED]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/fuzz

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev $network_packages catch2 libbenchmark-dev clang-14 clang-format-14 python3

mkdir -p "$build"
CC=${CC:-gcc} CXX=${CXX:-g++} cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D TILEWRIGHT_BUILD_EXAMPLES=OFF \
    -D TILEWRIGHT_BUILD_BENCH=OFF -D TILEWRIGHT_OPTIMISED_FUZZ=ON >"$build/configured" 2>&1 || { cat "$build/configured" >&2; exit 2; }
cmake --build "$build" --target fuzz
exec "$build/tests/fuzz/fuzz" "$@"
