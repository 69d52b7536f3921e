#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <tilewright/network/model_error.hpp>
#include <utility>
#include <vector>

namespace tilewright::network {

/// The largest file that is read, in bytes: what both formats' own libraries count with.
inline constexpr std::uintmax_t largest_file = 0x7fff'ffff;

/// The bytes from `offset` on, `count` of them, of a file that exists.
///
/// @throw model_error  `unreadable` if it is no file or ends before
inline std::vector<std::byte> read_bytes(std::filesystem::path const& path, std::uintmax_t offset, std::uintmax_t count,
                                         std::string const& file) {
    std::ifstream in(path, std::ios::binary);
    std::vector<std::byte> bytes(count);
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    if (!in) refuse(file, refusal::unreadable, {}, path.filename().string() + " does not give its " + std::to_string(count) + " bytes");
    return bytes;
}

/// The whole file.
///
/// @throw model_error  `unreadable` for what is no regular file, `too_large`
inline std::vector<std::byte> read_bytes(std::filesystem::path const& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) refuse(path.string(), refusal::unreadable, {}, "there is no such file");
    auto const size = std::filesystem::file_size(path, error);
    if (error) refuse(path.string(), refusal::unreadable, {}, error.message());
    if (size > largest_file) {
        refuse(path.string(), refusal::too_large, {}, std::to_string(size) + " bytes of at most " + std::to_string(largest_file));
    }
    return read_bytes(path, 0, size, path.string());
}

/// What may still be copied out of a model. A file of a few bytes can name one part a million times; copies are therefore counted, and
/// may take so many times the bytes of the file.
class copy_budget {
  public:
    copy_budget(std::uintmax_t file_bytes, std::string file) : most_(times * file_bytes + at_least), file_(std::move(file)) {}

    void spend(std::uintmax_t bytes, std::string const& part) {
        spent_ += bytes;
        if (spent_ > most_) refuse(file_, refusal::too_large, part, "what it repeats takes more than " + std::to_string(most_) + " bytes");
    }

  private:
    static constexpr std::uintmax_t times = 16, at_least = 1 << 20;
    std::uintmax_t most_, spent_ = 0;
    std::string file_;
};

}  // namespace tilewright::network
