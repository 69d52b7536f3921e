#!/bin/sh
# Compiles functions.c for this processor and for others, and runs it: sh functions.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"

gcc -std=c11 -O3 -march=native -Wall -Wextra -Wpedantic -Werror -c "$here/sums.c" -o "$folder/sums.o"
aarch64-linux-gnu-gcc -std=c11 -O3 -Wall -Wextra -Wpedantic -Werror -c "$here/sums.c" -o "$folder/sums_aarch64.o"
sums=$folder/sums.o

# functions NAME RUN ROUNDS COMPILER FLAG…: what RUN starts is the program, as it is where RUN is empty. Slow ones have fewer rounds.
functions() {
    name=$1 run=$2 rounds=$3
    shift 3
    echo "$*"
    "$@" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$here/../../include" "$here/functions.c" "$sums" -o "$folder/$name"
    $run "$folder/$name" "$rounds"
}

# As C++, for AVX-512, with all functions kept: no warning of the compiler's own header comes through.
printf '#include <tilewright/targets/c_vectors.h>\n' >"$folder/as_cpp.cpp"
case $(uname -m) in
    x86_64) g++ -std=c++20 -O1 -march=sapphirerapids -fkeep-static-functions -Wall -Wextra -Werror -I"$here/../../include" -c \
        "$folder/as_cpp.cpp" -o "$folder/as_cpp.o" ;;
esac

sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
functions baseline "" 400 gcc -O1 $sanitizers
functions native "" 400 gcc -O1 -march=native $sanitizers
functions plain "" 100 gcc -O1 -DC_VECTORS_PLAIN_C $sanitizers
functions clang_native "" 400 clang-14 -O2 -march=native
functions clang_plain "" 400 clang-14 -O2 -DC_VECTORS_PLAIN_C
if grep -qw avx2 /proc/cpuinfo; then functions avx2 "" 400 gcc -O2 -march=haswell; fi
sums=$folder/sums_aarch64.o
functions aarch64 qemu-aarch64 100 aarch64-linux-gnu-gcc -O2 -static
