#!/usr/bin/env python3
"""What the library costs a user's compiler: translation units with 0, 1, 8 and 32 kernels, against <boost/hana.hpp> alone.

Kernels differ in rank, sizes and directives; a static_assert on the peak of each forces its plan. Times are user + system seconds of the
whole compilation at -O0, memory is its peak, both medians.
"""
import argparse
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = (0, 1, 8, 32)

MACHINE = """
using namespace tilewright;
constexpr memory dram{.name = "dram"};
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 256_KiB, .alignment = 64};
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 128_KiB, .alignment = 64};
constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
constexpr auto mvin = transfer("mvin", dram, spad).on(loader).dimensions(4).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr auto mvout = transfer("mvout", acc, dram).on(storer).dimensions(4).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
constexpr auto mac16 = intrinsic("mac16", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
constexpr auto mul16 = intrinsic("mul16", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);
constexpr auto target = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16, mul16);
"""


def axes(names):
    return "constexpr axis " + ", ".join(f'{name}{{"{name}"}}' for name in names.split()) + ";"


def matmul_on_instruction(variant):
    tile, order = ((64, "mo, no, ko"), (32, "no, mo, ko"), (128, "mo, no, ko"), (16, "no, mo, ko"))[variant]
    size, innermost = 256 * (1 + variant), order.split(", ")[1]
    return f"""
constexpr axis m{{"m", {size}}}, n{{"n", 512}}, k{{"k", {size}}};
{axes("mo mi no ni ko ki")}
constexpr tensor<std::int8_t> A{{"A"}}, B{{"B"}};
constexpr tensor<std::int32_t> C{{"C"}};
constexpr auto work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
constexpr auto kernel = schedule(work, target)
    .tile(m, n, mo, no, mi, ni, {tile}, {tile}).split(k, ko, ki, 64).reorder({order}, mi, ni, ki)
    .cache_read(A, spad).at(ko).by(mvin)
    .cache_read(B, spad).at(ko).by(mvin)
    .cache_write(C, acc).at({innermost}).by(mvout)
    .tensorize(mi, ni, ki, mac16);
"""


def elementwise(variant):
    rank, extent = ((2, 64), (5, 8), (3, 24), (4, 16))[variant]
    names = [f"x{dimension}" for dimension in range(rank)]
    extents = ", ".join(f'{name}{{"{name}", {extent}}}' for name in names)
    at = ", ".join(names)
    value = ("select(I(@) > J(@), I(@) - J(@), 0)", "min(I(@), J(@)) * 3", "clamp(I(@) + J(@), -100, 100)", "max(I(@), J(@)) + I(@)")[variant]
    directives = (".unroll(inner, 4)", ".vectorize(x4)", ".unroll(x1)", ".vectorize(x3, 8)")[variant]
    return f"""
constexpr axis {extents};
{axes("outer inner")}
constexpr tensor<std::int16_t> I{{"I"}}, J{{"J"}}, O{{"O"}};
constexpr auto work = O({at}) = {value.replace("@", at)};
constexpr auto kernel = schedule(work, target)
    .split(x0, outer, inner, 4){directives}
    .cache_read(I, spad).at(outer).cache_read(J, spad).at(outer)
    .cache_write(O, acc).at(outer);
"""


def matmul(variant):
    left, right = (("A(k, m)", "B(k, n)"), ("A(m, k)", "B(n, k)"), ("A(k, m)", "B(n, k)"), ("A(m, k)", "B(k, n)"))[variant]
    tile = (16, 32, 8, 64)[variant]
    order = ("mo, no, ko, mi, ki, ni", "no, mo, ko, mi, ki, ni", "mo, no, ko, ki, mi, ni", "no, mo, ko, ki, mi, ni")[variant]
    innermost = order.split(", ")[1]
    return f"""
constexpr axis m{{"m", 128}}, n{{"n", {64 * (1 + variant)}}}, k{{"k", 192}};
{axes("mo mi no ni ko ki")}
constexpr tensor<float> A{{"A"}}, B{{"B"}}, C{{"C"}};
constexpr auto work = C(m, n) += {left} * {right};
constexpr auto kernel = schedule(work, target)
    .split(m, mo, mi, {tile}).split(n, no, ni, 16).split(k, ko, ki, {tile})
    .reorder({order}).vectorize(ni)
    .cache_read(A, spad).at(ko).cache_read(B, spad).at({innermost})
    .cache_write(C, acc).at({innermost});
"""


def conv1d(variant):
    taps, stride = 3 + variant, 1 + variant % 2
    return f"""
constexpr axis x{{"x", 1024}}, f{{"f", 8}}, r{{"r", {taps}}};
{axes("xo xi")}
constexpr tensor<std::int16_t> I{{"I"}}, W{{"W"}};
constexpr tensor<std::int32_t> O{{"O"}};
constexpr auto work = O(f, x) = sum(r, cast<std::int32_t>(I({stride} * x + r)) * cast<std::int32_t>(W(f, r)));
constexpr auto kernel = schedule(work, target)
    .split(x, xo, xi, {64 << variant}).reorder(xo, f, r, xi).unroll(r)
    .cache_read(I, spad).at(xo).cache_read(W, spad)
    .cache_write(O, acc).at(xo);
"""


def conv2d(variant):
    stride, dilation = ((1, 1), (2, 1), (1, 2), (2, 2))[variant]
    return f"""
constexpr axis y{{"y", 32}}, x{{"x", 32}}, f{{"f", 16}}, d{{"d", 8}}, p{{"p", 3}}, q{{"q", 3}};
{axes("yo yi xo xi")}
constexpr tensor<std::int8_t> I{{"I"}}, W{{"W"}};
constexpr tensor<std::int32_t> O{{"O"}};
constexpr auto work = O(y, x, f) = sum(p, q, d,
    cast<std::int32_t>(I({stride} * y + {dilation} * p, {stride} * x + {dilation} * q, d)) * cast<std::int32_t>(W(p, q, d, f)));
constexpr auto kernel = schedule(work, target)
    .tile(y, x, yo, xo, yi, xi, {4 << variant % 3}, 8).reorder(yo, xo, yi, xi, p, q, d, f).vectorize(f, 8)
    .cache_read(I, spad).at(xo).cache_read(W, spad)
    .cache_write(O, acc).at(xo);
"""


def blur(variant):
    size = 64 * (1 + variant)
    return f"""
constexpr axis y{{"y", {size}}}, x{{"x", 62}}, tall{{"tall", {size + 2}}};
{axes("yo yi")}
constexpr tensor<std::int16_t> I{{"I"}}, H{{"H"}}, O{{"O"}};
constexpr auto work = stages(H(tall, x) = I(tall, x) + I(tall, x + 1) + I(tall, x + 2), O(y, x) = H(y, x) + H(y + 1, x) + H(y + 2, x));
constexpr auto kernel = schedule(work, target)
    .split(y, yo, yi, {4 << variant})
    .compute_at(H, yo).store_in(H, spad)
    .cache_write(O, acc).at(yo)
    .stage(H).cache_read(I, spad);
"""


def reduction(variant):
    work = (
        "O(y) = maximum(x, I(y, x, 0))",
        "O(y) = sum(x, z, I(y, x, z) * 2)",
        "O(y) = minimum(x, z, max(I(y, x, z), 7))",
        "O(y) = sum(z, I(y, 3, z))",
    )[variant]
    directive = (".unroll(x, 4)", ".reorder(yo, x, yi, z)", ".fuse(x, z, both)", ".unroll(z, 4)")[variant]
    return f"""
constexpr axis y{{"y", {128 << variant}}}, x{{"x", 24}}, z{{"z", 8}};
{axes("yo yi both")}
constexpr tensor<std::int32_t> I{{"I"}}, O{{"O"}};
constexpr auto work = {work};
constexpr auto kernel = schedule(work, target)
    .split(y, yo, yi, {16 << variant}){directive}
    .cache_read(I, spad).at(yo)
    .cache_write(O, acc).at(yo);
"""


def contraction(variant):
    left, right = (("A(p, q, r, s)", "B(r, s, n)"), ("A(p, s, q, r)", "B(n, s, r)"), ("A(s, p, r, q)", "B(r, n, s)"), ("A(p, r, s, q)", "B(s, r, n)"))[variant]
    return f"""
constexpr axis p{{"p", 16}}, q{{"q", {8 * (1 + variant)}}}, n{{"n", 32}}, r{{"r", 4}}, s{{"s", 8}};
{axes("po pi no ni")}
constexpr tensor<float> A{{"A"}}, B{{"B"}}, C{{"C"}};
constexpr auto work = C(p, q, n) += {left} * {right};
constexpr auto kernel = schedule(work, target)
    .split(p, po, pi, 4).split(n, no, ni, 8).reorder(po, no, pi, q, r, s, ni).vectorize(ni)
    .cache_read(A, spad).at(po).cache_read(B, spad).at(no)
    .cache_write(C, acc).at(no);
"""


# One of each, then the next variant of each: any eight in a row weigh about the same.
KINDS = (matmul_on_instruction, elementwise, matmul, conv1d, conv2d, blur, reduction, contraction)


def translation_unit(count):
    text = "#include <tilewright/tilewright.hpp>\n"
    if count > 0:
        text += MACHINE
    for position in range(count):
        body = KINDS[position % len(KINDS)](position // len(KINDS))
        text += f"\nnamespace kernel_{position} {{{body}static_assert(plan<kernel>.peak(spad) > 0);\n}}\n"
    return text


def compile_once(compiler, flags, source):
    """User + system seconds and peak MB of the compiler and what it starts."""
    process = subprocess.Popen([compiler, *flags, "-c", source, "-o", os.devnull])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{compiler} refused {source}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--compilers", nargs="+", default=["g++", "clang++-14"], help="the last line is about the first one")
    parser.add_argument("--include", default=str(ROOT / "include"), help="the folder that holds tilewright/")
    parser.add_argument("--keep", type=pathlib.Path, help="write the translation units to this folder and leave them there")
    options = parser.parse_args()
    flags = ["-std=c++20", "-O0", f"-I{options.include}", *shlex.split(os.environ.get("CXXFLAGS", ""))]

    units = {"<boost/hana.hpp>": "#include <boost/hana.hpp>\n"}
    units |= {f"{count} kernel{'s' if count != 1 else ''}": translation_unit(count) for count in COUNTS}
    seconds, megabytes = {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for position, text in enumerate(units.values()):
            (folder / f"unit_{position}.cpp").write_text(text)
        # Rounds over all units: a disturbance then falls on one repetition of several, not on all of one.
        samples = {}
        for _ in range(options.repetitions):
            for compiler in options.compilers:
                for position, unit in enumerate(units):
                    sample = compile_once(compiler, flags, str(folder / f"unit_{position}.cpp"))
                    samples.setdefault((compiler, unit), []).append(sample)
        for key, values in samples.items():
            seconds[key] = statistics.median(value[0] for value in values)
            megabytes[key] = statistics.median(value[1] for value in values)

    print(f"\n-O0, user + system seconds / peak MB of a whole translation unit, medians of {options.repetitions}\n")
    rows = [("", *options.compilers)]
    for unit in units:
        rows.append((unit, *(f"{seconds[c, unit]:.2f} s / {megabytes[c, unit]:.0f} MB" for c in options.compilers)))
    derived = {}
    for c in options.compilers:
        hana, none, one, eight, many = ((seconds[c, unit], megabytes[c, unit]) for unit in units)
        derived[c] = (none[0] / hana[0], one[0] - none[0], (many[0] - eight[0]) / 24, (many[1] - eight[1]) / 24, hana[0])
    rows.append(("0 kernels: of hana", *(f"{derived[c][0]:.2f} times" for c in options.compilers)))
    rows.append(("first kernel: 1 - 0", *(f"+{derived[c][1]:.2f} s" for c in options.compilers)))
    rows.append(("each further: (32 - 8) / 24", *(f"+{1000 * derived[c][2]:.0f} ms / +{derived[c][3]:.1f} MB" for c in options.compilers)))
    rows.append(("each further: of hana", *(f"{derived[c][2] / derived[c][4]:.3f} times" for c in options.compilers)))
    for row in rows:
        print(f"{row[0]:<28}" + "".join(f"{cell:>20}" for cell in row[1:]))
    print(f"\nbars on {options.compilers[0]}: 0 kernels 2.5 times <boost/hana.hpp>, each further kernel 0.12 times it and +2.5 MB")
    umbrella, _, each, memory, hana = derived[options.compilers[0]]
    print(f"compile_time: umbrella={umbrella:.3f} each={each / hana:.3f} each_mb={memory:.2f} hana_s={hana:.3f}")


if __name__ == "__main__":
    main()
