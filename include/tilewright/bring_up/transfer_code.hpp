#pragma once
#include <tilewright/bring_up/part_code.hpp>

namespace tilewright::bring_up {

/// The C of one transfer: how it is called, what it is to write, and what it would write with a usual mistake.
class transfer_code {
  public:
    transfer_code(machine const& where, tested_part const& part, int number, c_shared& shared)
        : where_(where),
          part_(part),
          t_(where.transfers[part.at]),
          number_(std::to_string(number)),
          shared_(shared),
          calls_(where, part, shared),
          dimensions_(std::min(t_.most_dimensions - 1, max_rank)),
          base_(3 * part.sides.size()) {}

    part_functions write() {
        part_functions made;
        // One after the other: a sum would leave it to the compiler whose prototypes come first.
        made.text = call(made);
        made.text += calls_.wait(number_, t_.engine_name, t_.is_asynchronous, channel(), made);
        made.text += model();
        made.text += flaws();
        return made;
    }

  private:
    std::string channel() const { return number_at::of(base_); }
    std::string border() const { return number_at::of(base_ + 1); }
    /// Of dimension d; 0 is the row.
    std::string extent(int d) const { return number_at::of(d == 0 ? base_ + 2 : along(d)); }
    std::string source_stride(int d) const { return number_at::of(along(d) + 1); }
    std::string destination_stride(int d) const { return number_at::of(along(d) + 2); }
    std::string pad(int d, bool after) const { return number_at::of((d == 0 ? base_ + 3 : along(d) + 3) + (after ? 1 : 0)); }
    std::size_t along(int d) const { return base_ + 5 + 5 * static_cast<std::size_t>(d - 1); }
    bool reads() const { return part_.sides.size() > 1; }
    operand_side const& from() const { return part_.sides.front(); }
    operand_side const& to() const { return part_.sides.back(); }
    std::size_t to_at() const { return part_.sides.size() - 1; }

    std::string argument(call_argument const& a) const {
        bool const present = a.dimension >= 1 && a.dimension <= dimensions_;
        std::string const size = std::to_string(to().element);
        switch (a.is) {
            case role::source:
                if (reads()) return calls_.address(0, false, a.value);
                return where_.memories[where_.memories.find(t_.source)].is_numbered() ? "0" : "NULL";
            case role::destination: return calls_.address(to_at(), true, a.value);
            case role::bytes: {
                std::string all = "(int64_t)" + extent(0);
                for (int d = 1; d <= dimensions_; ++d) all += " * " + extent(d);
                return c_calls::in_units(all + " * " + size, a);
            }
            case role::row_bytes: return c_calls::in_units("(int64_t)" + extent(0) + " * " + size, a);
            case role::element_bytes: return size;
            case role::extent: return c_calls::in_units(a.dimension == 0 || present ? "(int64_t)" + extent(a.dimension) : "1", a);
            case role::source_stride: return c_calls::in_units(present && reads() ? "(int64_t)" + source_stride(a.dimension) : "0", a);
            case role::destination_stride: return c_calls::in_units(present ? "(int64_t)" + destination_stride(a.dimension) : "0", a);
            case role::pad_before:
            case role::pad_after: return a.dimension > dimensions_ ? "0" : "(int64_t)" + pad(a.dimension, a.is == role::pad_after);
            case role::pad_value: return "(int64_t)" + border();
            case role::channel: return "(int64_t)" + channel();
            case role::tag: return "tag";
            case role::cores: return "1";
            default: return c_calls::literal(a);
        }
    }
    std::string call(part_functions& made) const {
        std::string const text = c_calls::head_of_call(number_);
        if (passes_values(where_, t_)) return text + by_value() + "    return 0;\n}\n";
        return text +
               calls_.calls_of(
                   t_, made, [this](call_argument const& a) { return argument(a); },
                   [this](call_argument const& a, int position) { return halide::detail::transfer_parameter(where_, t_, a, position); });
    }
    /// A register is given, and returned.
    std::string by_value() const {
        device_call const call = call_of(where_, t_);
        std::vector<std::string> given;
        for (int at = 0; at < call.count; ++at) {
            call_argument const& a = call.arguments[at];
            bool const is_register = (a.is == role::source && from().by_value) || (a.is == role::destination && to().by_value);
            given.push_back(is_register ? "r0" : argument(a));
        }
        std::string text = from().by_value ? calls_.register_text(0, true) : "";
        if (!to().by_value) return text + "    " + c_calls::call_text(call, given) + ";\n";
        return text + calls_.register_text(to_at(), false) + c_calls::call_into(to_at(), call, given);
    }

    std::string model() {
        std::string text = c_calls::head_of_model(number_);
        std::string to = "at[" + std::to_string(to_at()) + "]", index;
        for (int d = dimensions_; d >= 0; --d) {
            std::string const i = "i" + std::to_string(d);
            text += "    for (int32_t " + i + " = 0; " + i + " < " + extent(d) + "; ++" + i + ")" + (d == 0 ? " {\n" : "\n");
            to += " + (int64_t)" + i + " * " + (d == 0 ? std::to_string(this->to().element) : destination_stride(d));
            index += (index.empty() ? "" : ", ") + i;
        }
        text += "        unsigned char *const to = " + to + ";\n        if (looks(to, " + std::to_string(this->to().element) +
                ", (const int32_t[]){" + index + "}, " + std::to_string(dimensions_ + 1) + ")) continue;\n";
        if (t_.border.is) text += model_of_border();
        text += model_of_element();
        return text + "    }\n}\n";
    }
    std::string model_of_border() {
        std::string outside;
        for (int d = 0; d <= dimensions_; ++d) {
            std::string const i = "i" + std::to_string(d);
            outside += (d == 0 ? "" : " || ") + i + " < " + pad(d, false) + " || " + i + " >= " + extent(d) + " - " + pad(d, true);
        }
        scalar_type constexpr of_size[] = {scalar_type::uint8, scalar_type::uint16, scalar_type::uint32, scalar_type::uint64};
        scalar_type const bits = of_size[std::countr_zero(static_cast<unsigned>(to().element))];
        return "        if (" + outside + ") {\n            if (!without_border) " + shared_.store(bits) + "(to, (" + c_type_of(bits) +
               ")" + border() + ");\n            continue;\n        }\n";
    }
    std::string model_of_element() {
        std::string from = "at[0]";
        for (int d = dimensions_; d >= 0; --d) {
            std::string const i = "i" + std::to_string(d), before = t_.border.is ? "(" + i + " - " + pad(d, false) + ")" : i;
            from += " + (int64_t)" + before + " * " + (d == 0 ? std::to_string(this->from().element) : source_stride(d));
        }
        std::string lines;
        if (reads())
            lines = "        const unsigned char *const from = " + from + ";\n        if (strays(from, " +
                    std::to_string(this->from().element) + ")) continue;\n";
        if (t_.semantics.count == 0) return lines + "        *to = *from;\n";
        computation_view const view = where_.view(t_.semantics);
        ir::stage s;
        read_stage(view, 0, s);
        c_value writer(view, s, shared_.operations, "        ", [&](int node) { return shared_.load(view[node].type) + "(from)"; });
        c_value::written const value = writer.write(s.body, lines);
        if (!value.off.empty()) lines += "        undefined |= " + value.off + ";\n";
        return lines + "        " + shared_.store(s.type) + "(to, " + value.value + ");\n";
    }

    /// The numbers of a call as a device with a mistake would read them.
    std::string flaws() const {
        std::string text = "static const char *flaw_" + number_ +
                           "(int which, const int32_t *n, int32_t *changed) {\n    (void)n, (void)changed;\n    switch (which) {\n";
        int count = 0;
        auto const add = [&](std::string const& condition, std::string const& change, std::string const& what) {
            text += "        case " + std::to_string(count++) + ":\n            if (!(" + condition + ")) return \"\";\n            " +
                    change + ";\n            return \"" + what + "\";\n";
        };
        auto const changed = [](std::string const& number) { return "changed" + number.substr(1); };
        for (int d = 1; d <= dimensions_; ++d) {
            std::string const name = std::to_string(d);
            auto const follows = [&](bool of_source) {
                if (d > 1) return extent(d - 1) + " * " + (of_source ? source_stride(d - 1) : destination_stride(d - 1));
                return extent(0) + " * " + std::to_string(of_source ? from().element : to().element);
            };
            if (reads())
                add(extent(d) + " > 1", changed(source_stride(d)) + " = " + follows(true),
                    "the source stride of dimension " + name + " were ignored");
            add(extent(d) + " > 1", changed(destination_stride(d)) + " = " + follows(false),
                "the destination stride of dimension " + name + " were ignored");
            if (reads() && dimensions_ > 0)
                add(extent(d) + " > 1", changed(source_stride(d)) + " = " + destination_stride(d),
                    "the source had the stride of the destination");
            if (reads())
                add(extent(d) + " > 1", changed(destination_stride(d)) + " = " + source_stride(d),
                    "the destination had the stride of the source");
            add(extent(d) + " > 1", changed(extent(d)) + " = " + extent(d) + " - 1", "it moved one less in dimension " + name);
            add("n[1 + 3 * " + std::to_string(to_at()) + "] > 0", changed(extent(d)) + " = " + extent(d) + " + 1",
                "it moved one more in dimension " + name);
            if (reads())
                add(extent(d) + " > 1", changed(number_at::first(0)) + " = " + number_at::first(0) + " + " + source_stride(d),
                    "it began one further in dimension " + name + " of the source");
            if (reads())
                add(extent(d) + " > 1", changed(number_at::first(0)) + " = " + number_at::first(0) + " - " + source_stride(d),
                    "it began one earlier in dimension " + name + " of the source");
        }
        add(extent(0) + " > 1", changed(extent(0)) + " = " + extent(0) + " - 1", "rows were one element shorter");
        add("true", changed(extent(0)) + " = " + extent(0) + " + 1", "rows were one element longer");
        if (t_.border.is) add("true", "without_border = 1", "the border were not written");
        return text + "        default: return NULL;\n    }\n}\n";
    }

    machine const& where_;
    tested_part const& part_;
    transfer_description const& t_;
    std::string number_;
    c_shared& shared_;
    c_calls calls_;
    int dimensions_;
    std::size_t base_;
};

}  // namespace tilewright::bring_up
