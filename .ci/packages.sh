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

# What reads networks, what else reads and writes them, and models to read.
network_packages="libonnx-dev libprotobuf-dev libflatbuffers-dev libonnx-testdata python3-onnx python3-flatbuffers"

# What compiles for AArch64 and RISC-V, besides clang, and runs it.
foreign_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user"
