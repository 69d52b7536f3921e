#pragma once
#include <set>
#include <string>

#include "fuzz/dice.hpp"

namespace fuzz {

/// Names for the parts of a case, each given once: plain ones, or such as generated code, C and Halide have uses of their own for.
class names {
  public:
    names(dice& random, bool traps) : random_(random), traps_(traps) {}

    std::string take(std::string const& plain) {
        static constexpr char const* trapping[] = {"t0",
                                                   "t1",
                                                   "t2",
                                                   "t31",
                                                   "t32",
                                                   "t33",
                                                   "t100",
                                                   "s0",
                                                   "v0",
                                                   "u1",
                                                   "_",
                                                   "_0",
                                                   "_1",
                                                   "__t",
                                                   "int",
                                                   "float",
                                                   "double",
                                                   "char",
                                                   "short",
                                                   "long",
                                                   "signed",
                                                   "unsigned",
                                                   "void",
                                                   "if",
                                                   "else",
                                                   "for",
                                                   "while",
                                                   "do",
                                                   "return",
                                                   "switch",
                                                   "case",
                                                   "static",
                                                   "extern",
                                                   "const",
                                                   "volatile",
                                                   "register",
                                                   "restrict",
                                                   "inline",
                                                   "auto",
                                                   "struct",
                                                   "union",
                                                   "enum",
                                                   "typedef",
                                                   "sizeof",
                                                   "goto",
                                                   "bool",
                                                   "true",
                                                   "false",
                                                   "_Bool",
                                                   "main",
                                                   "machine",
                                                   "kernel",
                                                   "kernel_steps",
                                                   "kernel_machine",
                                                   "overlap",
                                                   "count",
                                                   "counts",
                                                   "status",
                                                   "token",
                                                   "tensors",
                                                   "NULL",
                                                   "INT32_MAX",
                                                   "int8_t",
                                                   "int32_t",
                                                   "uint8_t",
                                                   "uint64_t",
                                                   "size_t",
                                                   "uintptr_t",
                                                   "ptrdiff_t",
                                                   "min",
                                                   "max",
                                                   "abs",
                                                   "exp",
                                                   "sqrt",
                                                   "floor",
                                                   "pow",
                                                   "fabs",
                                                   "memcpy",
                                                   "memset",
                                                   "malloc",
                                                   "free",
                                                   "printf",
                                                   "errno",
                                                   "stdin",
                                                   "linux",
                                                   "unix",
                                                   "asm",
                                                   "typeof",
                                                   "alloca",
                                                   "_Complex",
                                                   "I",
                                                   "class",
                                                   "new",
                                                   "delete",
                                                   "this",
                                                   "template",
                                                   "namespace",
                                                   "operator",
                                                   "halide_error",
                                                   "halide_malloc",
                                                   "buffer",
                                                   "_buffer",
                                                   "host",
                                                   "stride",
                                                   "out_stride_0",
                                                   "in_stride_0",
                                                   "A_stride_1",
                                                   "tilewright_fence",
                                                   "tilewright",
                                                   "result",
                                                   "result_s0_x",
                                                   "f",
                                                   "f0",
                                                   "f1",
                                                   "x",
                                                   "y",
                                                   "r",
                                                   "x_x",
                                                   "sum",
                                                   "produce",
                                                   "consume",
                                                   "lanes",
                                                   "outer",
                                                   "inner",
                                                   "step",
                                                   "version",
                                                   "a",
                                                   "b",
                                                   "d",
                                                   "e",
                                                   "p",
                                                   "q"};
        for (int tries = 0; tries < 8; ++tries) {
            std::string const one = traps_ && random_.percent(60) ? random_.any_of(trapping)
                                    : tries == 0                  ? plain
                                                                  : plain + std::to_string(tries);
            if (taken_.insert(one).second) return one;
        }
        std::string const last = plain + "_" + std::to_string(taken_.size());
        taken_.insert(last);
        return last;
    }

  private:
    dice& random_;
    bool traps_;
    std::set<std::string> taken_;
};

}  // namespace fuzz
