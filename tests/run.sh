#!/bin/sh
# Builds everything and runs all tests; ends with the summary of ctest. Arguments go to ctest: sh tests/run.sh -R diagnostics
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/tests

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev $board_packages $foreign_packages $network_packages catch2 libbenchmark-dev clang-14 clang-format-14 libc++-14-dev libc++abi-14-dev python3 python3-jsonschema python3-pil python3-yaml jq git pkgconf make \
    parallel slurm-client slurmctld slurmd munge chromium mkdocs mkdocs-material doxygen clangd-14 gdb

# The newest clang that Debian has, besides: what it says to mistakes is tested, too.
newest_clang=$(apt-cache search '^clang-[0-9]+$' 2>/dev/null | cut -d ' ' -f 1 | sort -V | tail -n 1)
if [ -n "$newest_clang" ]; then install_packages "$newest_clang"; fi

install_onnxruntime "$build/onnxruntime"

# clang builds the tests, which takes it less time, and g++ reads them; with CXX=g++ it is the other way round. They run no benchmark.
CC=${CC:-gcc} CXX=${CXX:-clang++-14} cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -D TILEWRIGHT_TESTS_TOGETHER=ON -D TILEWRIGHT_OPTIMISED=OFF
cmake --build "$build"
exec ctest --test-dir "$build" --output-on-failure -j2 "$@"
