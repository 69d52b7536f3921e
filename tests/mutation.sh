#!/bin/sh
# Seeds faults in a copy of the library's headers, one line each, and runs the quick tests on every one of them. Prints what found each, and
# ends with `mutation: seeded=… found=…`. Arguments go to the script: sh tests/mutation.sh --only rings
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/mutation

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev $network_packages catch2 libbenchmark-dev clang-14 clang-format-14 python3

CC=${CC:-gcc} CXX=${CXX:-g++} cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -D TILEWRIGHT_BUILD_EXAMPLES=OFF -D TILEWRIGHT_BUILD_BENCH=OFF
exec python3 -B "$root/tests/mutations/library.py" "$build" "$@"
