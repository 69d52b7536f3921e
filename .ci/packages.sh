# install_packages package…
#
# Installs the Debian packages that are missing, as root or through sudo. Does not touch apt, nor the network, when none is.
# To be read into a POSIX shell.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "This is not Debian: make sure that these are installed, under the names they have here: $*" >&2
        return 0
    fi
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
            installed*) ;;  # once for each architecture
            *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0

    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null; then
        as_root=sudo
    else
        echo "Missing packages, and neither root nor sudo to install them. As root: apt-get install$missing" >&2
        return 1
    fi
    echo "Installing$missing"
    # Lists of packages may be old or, in a container, absent. The unquoted words are meant to split.
    $as_root apt-get update -q &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# What every build needs.
build_packages="cmake ninja-build g++ libboost-dev libhalide14-0-dev nlohmann-json3-dev"

# What compiles for the boards of lesson 12, and runs it.
board_packages="gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"

# What reads networks.
reader_packages="libonnx-dev libprotobuf-dev libflatbuffers-dev"

# What else reads and writes them, and models to read.
network_packages="$reader_packages libonnx-testdata python3-onnx python3-flatbuffers"

# What compiles for AArch64 and RISC-V, besides clang, and runs it.
foreign_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user"

# The version of ONNX Runtime, which networks are compared with.
onnxruntime_version=1.30.0

# install_onnxruntime FOLDER
#
# Puts libonnxruntime.so.1 into FOLDER, unless this version is there. The library alone is taken out of npm's package, which has it for
# five systems.
install_onnxruntime() {
    if [ "$(cat "$1/version" 2>/dev/null)" = "$onnxruntime_version" ]; then return 0; fi
    # A npm that is not Debian's stays.
    if ! command -v npm >/dev/null; then install_packages npm; fi
    case $(uname -m) in
        x86_64) onnxruntime_for=x64 ;;
        aarch64) onnxruntime_for=arm64 ;;
        *) echo "ONNX Runtime has no library for $(uname -m)" >&2; return 1 ;;
    esac
    echo "Installing ONNX Runtime $onnxruntime_version"
    rm -rf "$1"
    mkdir -p "$1/unpacked"
    npm pack --silent --pack-destination "$1" "onnxruntime-node@$onnxruntime_version" >/dev/null &&
        tar -xzf "$1"/onnxruntime-node-*.tgz -C "$1/unpacked" --wildcards "package/bin/*/linux/$onnxruntime_for/libonnxruntime.so.1" &&
        mv "$1"/unpacked/package/bin/*/linux/"$onnxruntime_for"/libonnxruntime.so.1 "$1" &&
        rm -r "$1"/unpacked "$1"/onnxruntime-node-*.tgz &&
        echo "$onnxruntime_version" >"$1/version"
}
