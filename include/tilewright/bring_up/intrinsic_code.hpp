#pragma once
#include <tilewright/bring_up/part_code.hpp>

namespace tilewright::bring_up {

/// The C of one intrinsic: how it is called, what it is to compute, and what it would compute with a usual mistake.
class intrinsic_code {
  public:
    intrinsic_code(machine const& where, tested_part const& part, int number, c_shared& shared)
        : where_(where),
          part_(part),
          i_(where.intrinsics[part.at]),
          view_(where.view(i_.semantics)),
          number_(std::to_string(number)),
          shared_(shared),
          calls_(where, part, shared) {
        read_stage(view_, 0, stage_);
        std::size_t next = 3 * part.sides.size() + static_cast<std::size_t>(stage_.axis_count);
        for (operand_side const& side : part.sides) {
            strides_.push_back(next);
            next += static_cast<std::size_t>(std::max(side.rank - 1, 0));
        }
    }
    part_functions write() {
        part_functions made;
        // One after the other: a sum would leave it to the compiler whose prototypes come first.
        made.text = call(made);
        made.text += calls_.wait(number_, i_.engine_name, i_.is_asynchronous, "0", made);
        made.text += model();
        made.text += flaws();
        return made;
    }

  private:
    std::string extent(int axis) const { return number_at::of(3 * part_.sides.size() + static_cast<std::size_t>(axis)); }
    /// In elements; the innermost is 1.
    std::string stride(std::size_t o, int dimension) const {
        return dimension + 1 >= part_.sides[o].rank ? "1" : number_at::of(strides_[o] + static_cast<std::size_t>(dimension));
    }
    int result() const { return i_.find(stage_.output); }

    std::string argument(call_argument const& a) const {
        std::size_t const o = static_cast<std::size_t>(std::max<int>(a.operand, 0));
        switch (a.is) {
            case role::address:
                return calls_.address(o, i_.operands[a.operand].is != ir::direction::reads || i_.operands[a.operand].in_place, a.value);
            case role::stride: return c_calls::in_units("(int64_t)" + stride(o, a.dimension), a);
            case role::covered: return "(int64_t)" + extent(a.dimension);
            case role::value: {
                scalar_type const type = part_.sides[o].type;
                scalar_type const bits = type == scalar_type::float32   ? scalar_type::uint32
                                         : type == scalar_type::float64 ? scalar_type::int64
                                                                        : type;
                return "(int64_t)" + shared_.load(bits) + "(at[" + std::to_string(o) + "])";
            }
            default: return c_calls::literal(a);
        }
    }
    std::string call(part_functions& made) const {
        std::string const text = c_calls::head_of_call(number_);
        if (passes_values(where_, i_)) return text + by_value() + "    return 0;\n}\n";
        return text +
               calls_.calls_of(
                   i_, made, [this](call_argument const& a) { return argument(a); },
                   [this](call_argument const& a, int position) { return halide::detail::intrinsic_parameter(where_, i_, a, position); });
    }
    /// Registers are given; a result in registers is returned.
    std::string by_value() const {
        device_call const call = call_of(where_, i_);
        std::vector<std::string> given;
        std::set<std::size_t> registers;
        for (int at = 0; at < call.count; ++at) {
            call_argument const& a = call.arguments[at];
            std::size_t const o = static_cast<std::size_t>(std::max<int>(a.operand, 0));
            bool const is_register = a.is == role::address && part_.sides[o].by_value;
            if (is_register) registers.insert(o);
            given.push_back(is_register ? "r" + std::to_string(o) : argument(a));
        }
        std::string text;
        for (std::size_t o : registers) text += calls_.register_text(o, true);
        std::size_t const into = static_cast<std::size_t>(result());
        if (!part_.sides[into].by_value) return text + "    " + c_calls::call_text(call, given) + ";\n";
        if (registers.count(into) == 0) text += calls_.register_text(into, false);
        return text + c_calls::call_into(into, call, given);
    }

    /// Where the element of an access lies.
    std::string element(int node) const {
        std::size_t const o = static_cast<std::size_t>(i_.find(view_[node].name));
        std::string offset;
        for (int d = 0; d < view_[node].argument_count; ++d) {
            ir::stage_index const index = index_of(view_, stage_, node, d);
            std::string along;
            for (int axis = 0; axis < stage_.axis_count; ++axis) {
                if (index.coefficients[axis] == 0) continue;
                along += (along.empty() ? "" : " + ") +
                         (index.coefficients[axis] == 1 ? std::string() : std::to_string(index.coefficients[axis]) + " * ") + "x" +
                         std::to_string(axis);
            }
            if (index.constant != 0 || along.empty()) along += (along.empty() ? "" : " + ") + std::to_string(index.constant);
            offset += (offset.empty() ? "" : " + ") + ("(int64_t)(" + along + ")") + (stride(o, d) == "1" ? "" : " * " + stride(o, d));
        }
        std::string const size = std::to_string(part_.sides[o].element);
        return "at[" + std::to_string(o) + "] + " + (offset.empty() ? "0" : "(" + offset + ") * " + size);
    }
    std::string loop(int axis, std::string const& indent) const {
        std::string const x = "x" + std::to_string(axis);
        return indent + "for (int32_t " + x + " = 0; " + x + " < " + extent(axis) + "; ++" + x + ")\n";
    }
    std::string model() {
        std::string text = c_calls::head_of_model(number_);
        std::string index;
        for (int axis = 0; axis < stage_.rank; ++axis) {
            text += loop(axis, "    ");
            index += (axis == 0 ? "" : ", ") + ("x" + std::to_string(axis));
        }
        text += "    {\n        unsigned char *const to = " + element(stage_.target) + ";\n        if (looks(to, " +
                std::to_string(bytes_of(stage_.type)) + ", (const int32_t[]){" + (index.empty() ? "0" : index) + "}, " +
                std::to_string(stage_.rank) + ")) continue;\n";
        text += stage_.reduces() ? reduction() : plain();
        text += "    }\n}\n";
        // Without a loop there is nothing to continue.
        if (stage_.rank == 0) text.replace(text.find("continue;"), 9, "return;");
        return text;
    }
    std::string plain() {
        std::string lines;
        c_value writer = value_writer("        ");
        c_value::written const value = writer.write(stage_.body, lines);
        if (!value.off.empty()) lines += "        undefined |= " + value.off + ";\n";
        return lines + "        " + shared_.store(stage_.type) + "(to, " + value.value + ");\n";
    }
    std::string reduction() {
        std::string const type = c_type_of(stage_.type);
        bool const continues = stage_.continues || i_.operands[result()].is == ir::direction::updates;
        std::string text = "        " + type + " sum;\n", there = shared_.load(stage_.type) + "(to)";
        if (stage_.start >= 0 && !continues) {
            std::string lines;
            c_value writer = value_writer("        ");
            c_value::written const start = writer.write(stage_.start, lines);
            text += lines + "        sum = " + start.value + ";\n";
            if (!start.off.empty()) text += "        undefined |= " + start.off + ";\n";
        } else text += "        sum = other_start ? " + (continues ? identity() + " : " + there : there + " : " + identity()) + ";\n";
        for (int axis = stage_.rank; axis < stage_.axis_count; ++axis) text += loop(axis, "        ");
        std::string lines;
        c_value writer = value_writer("            ");
        c_value::written const value = writer.write(stage_.body, lines);
        text += "        {\n" + lines;
        if (!value.off.empty()) text += "            undefined |= " + value.off + ";\n";
        if (stage_.reduction == operation::reduce_sum)
            text +=
                "            sum = " + shared_.operations.use(operation::add, stage_.type) + "(sum, " + value.value + ", &undefined);\n";
        else if (stage_.reduction == operation::reduce_maximum)
            text += "            sum = sum < " + value.value + " ? " + value.value + " : sum;\n";
        else text += "            sum = " + value.value + " < sum ? " + value.value + " : sum;\n";
        return text + "        }\n        " + shared_.store(stage_.type) + "(to, sum);\n";
    }
    std::string identity() const {
        if (stage_.reduction == operation::reduce_sum) return "0";
        bool const least = stage_.reduction == operation::reduce_maximum;
        if (is_float(stage_.type)) return least ? "(-1.0f / 0.0f)" : "(1.0f / 0.0f)";
        return "(" + c_type_of(stage_.type) + ")" +
               c_value::constant(stage_.type, least ? lowest_of(stage_.type) : highest_of(stage_.type));
    }
    c_value value_writer(std::string const& indent) {
        return {view_, stage_, shared_.operations, indent,
                [this](int node) { return shared_.load(view_[node].type) + "(" + element(node) + ")"; }};
    }

    std::string flaws() const {
        std::string text = "static const char *flaw_" + number_ +
                           "(int which, const int32_t *n, int32_t *changed) {\n    (void)n, (void)changed;\n    switch (which) {\n";
        int count = 0;
        auto const add = [&](std::string const& condition, std::string const& change, std::string const& what) {
            text += "        case " + std::to_string(count++) + ":\n            if (!(" + condition + ")) return \"\";\n            " +
                    change + ";\n            return \"" + what + "\";\n";
        };
        auto const changed = [](std::string const& number) { return "changed" + number.substr(1); };
        for (std::size_t o = 0; o < part_.sides.size(); ++o) {
            for (int d = 0; d + 1 < part_.sides[o].rank; ++d)
                add("true", changed(stride(o, d)) + " = " + dense(o, d),
                    "the stride of dimension " + std::to_string(d) + " of " + part_.sides[o].name + " were ignored");
        }
        for (int axis = 0; axis < stage_.axis_count; ++axis) {
            add(extent(axis) + " > 1", changed(extent(axis)) + " = " + extent(axis) + " - 1",
                "it left out the last of " + stage_.axes[axis].name.str());
        }
        if (stage_.reduces() && stage_.start < 0) {
            bool const continues = stage_.continues || i_.operands[result()].is == ir::direction::updates;
            add("true", "other_start = 1",
                continues ? "it overwrote the result and did not go on from it"
                          : "it went on from what was there and did not overwrite it");
        }
        return text + "        default: return NULL;\n    }\n}\n";
    }
    /// The stride of a dimension when nothing lies between rows.
    std::string dense(std::size_t o, int dimension) const {
        for (int node = 0; node < view_.count; ++node) {
            if (view_[node].op != operation::access || view_[node].name != i_.operands[static_cast<int>(o)].tensor) continue;
            ir::stage_index const index = index_of(view_, stage_, node, dimension + 1);
            std::string length = std::to_string(index.constant + 1);
            for (int axis = 0; axis < stage_.axis_count; ++axis) {
                if (index.coefficients[axis] != 0)
                    length += " + " + std::to_string(index.coefficients[axis]) + " * (" + extent(axis) + " - 1)";
            }
            std::string const inner = stride(o, dimension + 1);
            return "(" + length + ")" + (inner == "1" ? "" : " * " + inner);
        }
        return "1";
    }

    machine const& where_;
    tested_part const& part_;
    intrinsic_description const& i_;
    computation_view view_;
    std::string number_;
    c_shared& shared_;
    c_calls calls_;
    ir::stage stage_{};
    std::vector<std::size_t> strides_;
};

}  // namespace tilewright::bring_up
