#!/bin/sh
# sh tests/same_code.sh COMMIT [LAST]
#
# Whether the library here decides and writes what that of COMMIT does: for a change that must not change behaviour. Compares the code that
# the build of examples and tests generates (C, headers, bindings, statements), byte by byte; and for the drawn cases of tests/fuzz from
# seed 1 to LAST (1000 unless said) the verdict, or the cycles and the C source. Works in build/same. Ends with `same_code: differences=…`,
# and with an error where there are any.
set -eu
[ $# -ge 1 ] || { echo "usage: sh tests/same_code.sh COMMIT [LAST]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
commit=$(git -C "$root" rev-parse --verify "$1^{commit}")
last=${2:-1000}
work=$root/build/same

. "$root/.ci/packages.sh"
install_packages $build_packages zlib1g-dev $network_packages catch2 libbenchmark-dev clang-14 clang-format-14 python3

# generate SOURCE RESULT: builds what writes code in a tree of sources, and puts what it wrote into a folder.
generate() {
    build=$work/build
    rm -rf "$build" "$2"
    mkdir -p "$build" "$2"
    CC=${CC:-gcc} CXX=${CXX:-g++} cmake -S "$1" -B "$build" -G Ninja -D TILEWRIGHT_BUILD_BENCH=OFF >"$work/configured" 2>&1 ||
        { cat "$work/configured" >&2; exit 2; }
    written=$(ninja -C "$build" -t targets all | sed -n 's/^\(\(tests\|examples\)\/.*\.\(c\|h\|cpp\|stmt\)\): CUSTOM_COMMAND$/\1/p')
    ninja -C "$build" drawn_code $written
    for file in $written; do
        mkdir -p "$2/$(dirname "$file")"
        cp "$build/$file" "$2/$file"
    done
    echo "drawn cases 1 to $last"
    "$build/tests/fuzz/drawn_code" 1 "$last" >"$2/drawn"
}

mkdir -p "$work"
# At one place after the other: paths stand in what is generated.
rm -rf "$work/source" "$work/old" "$work/new"
mkdir "$work/source"
git -C "$root" archive "$commit" | tar -x -C "$work/source"
generate "$work/source" "$work/old"
rm -rf "$work/source"
mkdir "$work/source"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from - --ignore-failed-read) | tar -x -C "$work/source"
generate "$work/source" "$work/new"
differences=$(diff -r "$work/old" "$work/new" | tee "$work/differences" | grep -c '^[<>]\|^Only' || true)
echo "compared: $(find "$work/new" -type f | wc -l) files, $last drawn cases, $(grep -c ' code ' "$work/new/drawn") of them with code"
head -40 "$work/differences"
echo "same_code: differences=$differences"
[ "$differences" -eq 0 ]
