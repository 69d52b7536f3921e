#!/bin/sh
# Builds and runs the lessons in their order, each of which says how it went and fails when a result is wrong.
# `sh examples/run.sh board`, or `sh examples/run.sh 02`, runs the lessons whose name has this word.
set -eu
word=${1-}
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/examples

found=
for lesson in "$root"/examples/[0-9][0-9]_*/; do
    name=$(basename "$lesson")
    case $name in *"$word"*) found="$found $name" ;; esac
done
if [ -z "$found" ]; then
    echo "no lesson has $word in its name" >&2
    exit 2
fi

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev $board_packages $reader_packages

cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -D TILEWRIGHT_BUILD_TESTS=OFF -D TILEWRIGHT_BUILD_BENCH=OFF

cmake --build "$build" --target $found

for lesson in $found; do
    printf '\n======== %s ========\n\n' "$lesson"
    "$build/examples/$lesson/$lesson"
done
