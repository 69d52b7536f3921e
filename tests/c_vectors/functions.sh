#!/bin/sh
# Compiles functions.c for this processor and for others, and runs it: sh functions.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"

# functions NAME RUN COMPILER FLAG…: what RUN starts is the program, as it is where RUN is empty
functions() {
    name=$1 run=$2
    shift 2
    echo "$*"
    "$@" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$here/../../include" "$here/functions.c" -o "$folder/$name"
    $run "$folder/$name"
}

sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
functions baseline "" gcc -O1 $sanitizers
functions native "" gcc -O1 -march=native $sanitizers
functions plain "" gcc -O1 -DC_VECTORS_PLAIN_C $sanitizers
functions clang_native "" clang-14 -O2 -march=native
functions clang_plain "" clang-14 -O2 -DC_VECTORS_PLAIN_C
if grep -qw avx2 /proc/cpuinfo; then functions avx2 "" gcc -O2 -march=haswell; fi
functions aarch64 qemu-aarch64 aarch64-linux-gnu-gcc -O2 -static
