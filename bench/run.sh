#!/bin/sh
# sh bench/run.sh NAME: runs a benchmark, which prints a table and ends with the line `NAME: key=value key=value …`.
# Further arguments go to the benchmark.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/bench

# A benchmark is a folder: a script where it measures compilers or runs elsewhere, an executable where it measures code here.
names() {
    for folder in "$root"/bench/*/; do
        if [ -e "$folder/run.py" ] || [ -e "$folder/CMakeLists.txt" ]; then basename "$folder"; fi
    done
}
name=${1-}
if ! names | grep -Fqx -e "$name"; then
    echo "usage: sh bench/run.sh NAME [argument…], where NAME is one of:" $(names) >&2
    exit 2
fi
shift

. "$root/.ci/packages.sh"
if [ -e "$root/bench/$name/run.py" ]; then
    case $name in
        board) install_packages $build_packages $board_packages libbenchmark-dev zlib1g-dev python3 ;;
        foreign) install_packages $build_packages $foreign_packages clang-14 libbenchmark-dev zlib1g-dev python3 ;;
        *) install_packages g++ clang-14 libboost-dev python3 ;;
    esac
    exec python3 -B "$root/bench/$name/run.py" "$@"
fi
peers=
case $name in
    conv2d) peers="libdnnl-dev" ;;
    gemm) peers="libopenblas-dev libblis-dev libdnnl-dev" ;;
    gemm_int8) peers=libdnnl-dev ;;
    onnx | networks) peers="$network_packages python3" ;;
esac
install_packages $build_packages libbenchmark-dev $peers
case $name in
    networks | onnx) install_onnxruntime "$build/onnxruntime" ;;
esac
cmake -S "$root" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -D TILEWRIGHT_BUILD_TESTS=OFF -D TILEWRIGHT_BUILD_EXAMPLES=OFF
cmake --build "$build" --target "bench_$name"
# Without arguments, networks are drawn besides: ONNX Runtime judges them.
if [ "$name" = onnx ] && [ $# -eq 0 ]; then
    rm -rf "$build/drawn"
    /usr/bin/python3 -B "$root/tests/network/quantised_networks.py" 240 1 "$build/drawn"
    set -- --drawn "$build/onnxruntime/libonnxruntime.so.1" "$build/drawn"
fi
exec "$build/bench/$name/bench_$name" "$@"
