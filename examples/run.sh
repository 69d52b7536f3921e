#!/bin/sh
# Builds and runs the lessons in their order, each of which says how it went and fails when a result is wrong.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/examples

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev

cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -D TILEWRIGHT_BUILD_TESTS=OFF -D TILEWRIGHT_BUILD_BENCH=OFF
cmake --build "$build"

for lesson in "$root"/examples/[0-9][0-9]_*/; do
    lesson=$(basename "$lesson")
    printf '\n======== %s ========\n\n' "$lesson"
    "$build/examples/$lesson/$lesson"
done
