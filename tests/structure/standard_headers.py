#!/usr/bin/env python3
"""A header that uses a name of the standard library includes the standard header which has it, itself or through others of the library.

    standard_headers.py [INCLUDE]    the folder of the headers: by default, that of this library

A compiler does not show it: it finds the names of templates where they are used, and standard headers include others as they like.
"""
import pathlib
import re
import sys

from included import INCLUDE, graph, reached

# Names by their header. A name that several headers have, or need complete, stands after all of them: one will do.
NAMES = """
algorithm: adjacent_find all_of any_of clamp copy copy_n count count_if equal fill fill_n find find_if is_sorted lexicographical_compare
algorithm: lower_bound max max_element min min_element minmax_element mismatch none_of remove replace reverse rotate sort stable_partition
algorithm: stable_sort transform unique upper_bound; array tuple utility variant: get; array: array
bit: bit_cast bit_width countr_zero has_single_bit; cctype: isalnum isalpha iscntrl isdigit islower isprint isspace tolower toupper
charconv: from_chars; chrono: chrono milli
cmath: abs acos acosh asin asinh atan atanh ceil copysign cos cosh erf erfc exp exp2 expm1 floor fmod frexp isfinite isinf isnan isnormal
cmath: ldexp llround log log10 log1p log2 lround nan nearbyint pow round signbit sin sinh sqrt tan tanh
concepts: convertible_to default_initializable equality_comparable; condition_variable: condition_variable; csignal: sig_atomic_t
cstddef cstdio cstdlib cstring ctime: size_t; cstddef: byte ptrdiff_t to_integer
cstdint: int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t
cstdio: fflush fprintf fputc fputs remove rename snprintf; cstdlib: abort abs aligned_alloc atoi atoll free getenv strtod strtof
cstring: memcmp memcpy memset strerror; ctime: strftime time time_t tm; deque map set string vector: erase_if; deque: deque
exception new stdexcept system_error: exception; exception: current_exception exception_ptr rethrow_exception; filesystem: filesystem
fstream: ifstream ofstream; functional: function greater; initializer_list: initializer_list
ios fstream iostream ostream sstream: hex ios streamoff streamsize; iosfwd iostream istream ostream: istream ostream
iostream: cerr clog cout; iterator array deque map set span string string_view vector: begin end size ssize
algorithm iterator: ranges; iterator: istreambuf_iterator make_move_iterator next prev; limits: numeric_limits; map: map
memory: make_shared make_unique shared_ptr unique_ptr; mutex: defer_lock lock_guard mutex scoped_lock unique_lock; new: bad_alloc
numeric: accumulate gcd iota; optional: nullopt optional; queue: priority_queue; random: mt19937_64; set: set; span: span
sstream: istringstream ostringstream; stdexcept: invalid_argument logic_error runtime_error
string: char_traits getline stoi stoll string to_string; string_view: string_view; system_error: errc error_code; thread: thread
tuple: tuple
type_traits: conditional_t integral_constant is_const_v is_convertible_v is_floating_point_v is_function_v is_integral_v is_invocable_v is_pointer_v
type_traits: is_same_v is_signed_v make_signed_t make_unsigned_t remove_const_t remove_cvref_t remove_pointer_t remove_reference_t
unordered_map: unordered_map
unordered_set: unordered_set
utility: as_const declval exchange in_place in_range index_sequence index_sequence_for integer_sequence make_index_sequence
utility: make_integer_sequence move pair swap; variant: get_if holds_alternative variant visit; vector: vector
"""
# What is no code: comments, and texts such as those of C that a header writes.
ELSE = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|.)'""", re.DOTALL)


def main():
    include = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else INCLUDE
    headers_of = {}
    for row in re.split("; |\n", NAMES.strip()):
        headers, names = row.split(": ")
        for name in names.split():
            headers_of.setdefault(name, []).extend(headers.split())
    edges, known, wrong = graph(include), {}, []
    for header in edges:
        for name in sorted(set(re.findall(r"\bstd::(\w+)", ELSE.sub(" ", (include / header).read_text())))):
            if name not in headers_of:
                wrong.append(f"{header} uses std::{name}: which header has it? Say so in {__file__}")
            elif not reached(header, edges, known).intersection(headers_of[name]):
                wrong.append(f"{header} uses std::{name}, and does not reach " + " or ".join(f"<{one}>" for one in headers_of[name]))
    for one in wrong:
        print(one)
    print(f"headers: {len(edges)}, names: {len(headers_of)}, wrong: {len(wrong)}")
    return 1 if wrong or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
