#pragma once
#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// The tables of a .tflite file, by the numbers of their fields. A field that is not named here is not looked at. `Verify` is what the
// library's verifier calls: it tells whether every field that is named lies inside the file.
namespace tilewright::network::detail {

/// What all tables have: fields by number.
struct tflite_table : private flatbuffers::Table {
    template <class T>
    T number(int field, T absent = 0) const {
        return GetField<T>(at(field), absent);
    }
    template <class T>
    flatbuffers::Vector<T> const* list(int field) const {
        return GetPointer<flatbuffers::Vector<T> const*>(at(field));
    }
    template <class T>
    T const* table(int field) const {
        return GetPointer<T const*>(at(field));
    }
    flatbuffers::String const* text(int field) const { return GetPointer<flatbuffers::String const*>(at(field)); }

    // What a verifier asks of fields; it counts tables from `begins` to its EndTable.
    bool begins(flatbuffers::Verifier& in) const { return VerifyTableStart(in); }
    template <class T>
    bool has_number(flatbuffers::Verifier& in, int field) const {
        return VerifyField<T>(in, at(field), sizeof(T));
    }
    template <class T>
    bool has_list(flatbuffers::Verifier& in, int field) const {
        return VerifyOffset(in, at(field)) && in.VerifyVector(list<T>(field));
    }
    template <class T>
    bool has_table(flatbuffers::Verifier& in, int field) const {
        return VerifyOffset(in, at(field)) && in.VerifyTable(table<T>(field));
    }
    template <class T>
    bool has_tables(flatbuffers::Verifier& in, int field) const {
        return has_list<flatbuffers::Offset<T>>(in, field) && in.VerifyVectorOfTables(list<flatbuffers::Offset<T>>(field));
    }
    bool has_text(flatbuffers::Verifier& in, int field) const { return VerifyOffset(in, at(field)) && in.VerifyString(text(field)); }

  private:
    /// Where the table's own table keeps the place of a field.
    static constexpr flatbuffers::voffset_t at(int field) { return static_cast<flatbuffers::voffset_t>(4 + 2 * field); }
};

/// How many elements a list has, none of one that is not there.
template <class T>
std::size_t length_of(flatbuffers::Vector<T> const* list) {
    return list == nullptr ? 0 : list->size();
}

/// The numbers of a list. The library's verifier looks at their place, but not at their alignment, so they are copied byte by byte.
template <class T>
std::vector<T> numbers_of(flatbuffers::Vector<T> const* list) {
    std::vector<T> numbers(length_of(list));
    if (!numbers.empty()) std::memcpy(numbers.data(), list->Data(), numbers.size() * sizeof(T));
    for (T& one : numbers) one = flatbuffers::EndianScalar(one);
    return numbers;
}

struct tflite_quantisation : tflite_table {
    auto scales() const { return list<float>(2); }
    auto zero_points() const { return list<std::int64_t>(3); }
    int details() const { return number<std::uint8_t>(4); }  ///< which kind of further details there is; 0 for none
    int axis() const { return number<std::int32_t>(6); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_list<float>(in, 2) && has_list<std::int64_t>(in, 3) && has_number<std::uint8_t>(in, 4) &&
               has_number<std::int32_t>(in, 6) && in.EndTable();
    }
};

/// A table of which only is asked whether it is there.
struct tflite_presence : tflite_table {
    bool Verify(flatbuffers::Verifier& in) const { return begins(in) && in.EndTable(); }
};

struct tflite_tensor : tflite_table {
    auto shape() const { return list<std::int32_t>(0); }
    int type() const { return number<std::int8_t>(1); }
    std::uint32_t buffer() const { return number<std::uint32_t>(2); }
    auto name() const { return text(3); }
    auto quantised() const { return table<tflite_quantisation>(4); }
    bool variable() const { return number<std::uint8_t>(5) != 0; }
    auto sparsity() const { return table<tflite_presence>(6); }
    auto shape_signature() const { return list<std::int32_t>(7); }
    std::uint32_t external_buffer() const { return number<std::uint32_t>(10); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_list<std::int32_t>(in, 0) && has_number<std::int8_t>(in, 1) && has_number<std::uint32_t>(in, 2) &&
               has_text(in, 3) && has_table<tflite_quantisation>(in, 4) && has_number<std::uint8_t>(in, 5) &&
               has_table<tflite_presence>(in, 6) && has_list<std::int32_t>(in, 7) && has_number<std::uint32_t>(in, 10) && in.EndTable();
    }
};

struct tflite_buffer : tflite_table {
    auto data() const { return list<std::uint8_t>(0); }
    std::uint64_t offset() const { return number<std::uint64_t>(1); }  ///< of bytes that follow the tables; at most 1 where there are none
    std::uint64_t size() const { return number<std::uint64_t>(2); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_list<std::uint8_t>(in, 0) && has_number<std::uint64_t>(in, 1) && has_number<std::uint64_t>(in, 2) &&
               in.EndTable();
    }
};

struct tflite_operator_code : tflite_table {
    /// Until 127 operators were not enough, the number was a byte. Files have the one, the other, or both.
    int code() const { return std::max<int>(number<std::int8_t>(0), number<std::int32_t>(3)); }
    auto custom_name() const { return text(1); }
    int version() const { return number<std::int32_t>(2, 1); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_number<std::int8_t>(in, 0) && has_text(in, 1) && has_number<std::int32_t>(in, 2) &&
               has_number<std::int32_t>(in, 3) && in.EndTable();
    }
};

/// Options of an operator: which table it is, only the operator knows. The reader verifies the fields that it takes.
using tflite_options_table = tflite_presence;

struct tflite_node : tflite_table {
    std::uint32_t opcode() const { return number<std::uint32_t>(0); }
    auto inputs() const { return list<std::int32_t>(1); }
    auto outputs() const { return list<std::int32_t>(2); }
    int options_kind() const { return number<std::uint8_t>(3); }
    auto options() const { return table<tflite_options_table>(4); }
    int further_options_kind() const { return number<std::uint8_t>(11); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_number<std::uint32_t>(in, 0) && has_list<std::int32_t>(in, 1) && has_list<std::int32_t>(in, 2) &&
               has_number<std::uint8_t>(in, 3) && has_table<tflite_options_table>(in, 4) && has_number<std::uint8_t>(in, 11) &&
               in.EndTable();
    }
};

struct tflite_subgraph : tflite_table {
    auto tensors() const { return list<flatbuffers::Offset<tflite_tensor>>(0); }
    auto inputs() const { return list<std::int32_t>(1); }
    auto outputs() const { return list<std::int32_t>(2); }
    auto nodes() const { return list<flatbuffers::Offset<tflite_node>>(3); }
    auto name() const { return text(4); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_tables<tflite_tensor>(in, 0) && has_list<std::int32_t>(in, 1) && has_list<std::int32_t>(in, 2) &&
               has_tables<tflite_node>(in, 3) && has_text(in, 4) && in.EndTable();
    }
};

struct tflite_model : tflite_table {
    std::uint32_t version() const { return number<std::uint32_t>(0); }
    auto operator_codes() const { return list<flatbuffers::Offset<tflite_operator_code>>(1); }
    auto subgraphs() const { return list<flatbuffers::Offset<tflite_subgraph>>(2); }
    auto buffers() const { return list<flatbuffers::Offset<tflite_buffer>>(4); }
    bool Verify(flatbuffers::Verifier& in) const {
        return begins(in) && has_number<std::uint32_t>(in, 0) && has_tables<tflite_operator_code>(in, 1) &&
               has_tables<tflite_subgraph>(in, 2) && has_tables<tflite_buffer>(in, 4) && in.EndTable();
    }
};

}  // namespace tilewright::network::detail
