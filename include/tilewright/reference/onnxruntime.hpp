#pragma once
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// ONNX Runtime, of which only the shared library is needed, without headers. Its functions stand in a table whose order never changes; they
// are called by their numbers in it. Needs dlopen: link ${CMAKE_DL_LIBS}.
namespace tilewright::onnxruntime {

/// How a model is run.
enum class mode {
    as_written,   ///< each operator by itself, as the model says: to judge
    at_its_best,  ///< optimised as far as it can: to be measured
};

/// Elements of one tensor.
struct tensor {
    int type = 0;  ///< the number of ONNX's element type
    std::vector<std::int64_t> extents = {};
    std::vector<std::byte> bytes = {};
};

/// Bytes of an element of ONNX's types; 0: of no fixed size, or not known here.
inline std::size_t bytes_of(int type) {
    constexpr std::size_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 0, 0, 2};
    return type > 0 && type < static_cast<int>(std::size(sizes)) ? sizes[type] : 0;
}

class runtime {
  public:
    /// @throws std::runtime_error where the library is not there or cannot be used
    explicit runtime(std::filesystem::path const& library) : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) {
            throw std::runtime_error("ONNX Runtime is not there: " + std::string(dlerror()));
        }
        struct entry {
            void const* const* (*table)(std::uint32_t version);
            char const* (*version)();
        };
        auto const get = reinterpret_cast<entry const* (*)()>(dlsym(handle_, "OrtGetApiBase"));
        if (get == nullptr) throw std::runtime_error(library.string() + " is not ONNX Runtime");
        version_ = get()->version();
        table_ = get()->table(13);  // the first version whose table has all that is called here would do
        if (table_ == nullptr) throw std::runtime_error("ONNX Runtime " + version_ + " has no table of version 13");
        check<create_environment>(3 /* errors alone */, "tilewright", &environment_);
        check<create_cpu_memory>(0 /* no arena */, 0, &memory_);
    }
    runtime(runtime const&) = delete;
    ~runtime() {
        release<release_memory>(memory_);
        release<release_environment>(environment_);
        // The library stays: threads of its own may still be ending.
    }

    std::string const& version() const { return version_; }

  private:
    friend class session;

    // The numbers of functions in the table.
    static constexpr int error_message = 2, create_environment = 3, create_session = 7, create_session_from_bytes = 8, run = 9,
                         create_options = 10, set_optimisation = 23, set_threads_inside = 24, set_threads_between = 25, input_count = 30,
                         output_count = 31, input_type = 33, input_name = 36, output_name = 37, create_tensor = 49, elements = 51,
                         tensor_of_type = 55, element_type = 60, dimension_count = 61, dimensions = 62, type_and_shape = 65,
                         create_cpu_memory = 69, free_memory = 76, default_allocator = 78, release_environment = 92, release_status = 93,
                         release_memory = 94, release_session = 95, release_value = 96, release_type = 98, release_shape = 99,
                         release_options = 100;

    template <class... Parameters>
    void* status_of(int number, Parameters... parameters) const {
        return reinterpret_cast<void* (*)(Parameters...)>(const_cast<void*>(table_[number]))(parameters...);
    }
    template <int Number, class... Parameters>
    void check(Parameters... parameters) const {
        void* const status = status_of(Number, parameters...);
        if (status == nullptr) return;
        std::string const said = reinterpret_cast<char const* (*)(void*)>(const_cast<void*>(table_[error_message]))(status);
        release<release_status>(status);
        throw std::runtime_error("ONNX Runtime: " + said);
    }
    template <int Number>
    void release(void* what) const {
        reinterpret_cast<void (*)(void*)>(const_cast<void*>(table_[Number]))(what);
    }

    void* handle_;
    void const* const* table_ = nullptr;
    std::string version_ = {};
    void *environment_ = nullptr, *memory_ = nullptr;
};

/// A model that is loaded, on one thread.
class session {
  public:
    /// @throws std::runtime_error with what the library says
    session(runtime const& of, std::filesystem::path const& model, mode how) : of_(of) {
        begin(how, [&](void* options) {
            return of.status_of(runtime::create_session, of.environment_, static_cast<char const*>(model.c_str()), options, &session_);
        });
    }
    /// Likewise, of the bytes of a model.
    session(runtime const& of, std::vector<std::byte> const& model, mode how) : of_(of) {
        begin(how, [&](void* options) {
            return of.status_of(runtime::create_session_from_bytes, of.environment_, static_cast<void const*>(model.data()), model.size(),
                                options, &session_);
        });
    }
    session(session const&) = delete;
    ~session() {
        for (void* one : given_) of_.release<runtime::release_value>(one);
        for (void* one : results_) {
            if (one != nullptr) of_.release<runtime::release_value>(one);
        }
        of_.release<runtime::release_session>(session_);
    }

    std::size_t inputs() const { return inputs_.size(); }
    std::size_t outputs() const { return outputs_.size(); }

    /// The type and the extents of an input, without elements. An extent that is left to run time is -1.
    tensor input(std::size_t at) const {
        tensor made;
        void *type = nullptr, *shape = nullptr;
        of_.check<runtime::input_type>(session_, at, &type);
        of_.check<runtime::tensor_of_type>(type, &shape);
        read_shape(shape, made);
        of_.release<runtime::release_type>(type);
        return made;
    }

    /// Takes the elements of an input, which later runs read where they lie.
    void give(std::vector<std::vector<std::byte>> elements) {
        if (elements.size() != inputs()) throw std::runtime_error("ONNX Runtime: the model has another number of inputs");
        for (void* one : given_) of_.release<runtime::release_value>(one);
        given_.clear();
        elements_ = std::move(elements);
        for (std::size_t at = 0; at < inputs(); ++at) {
            tensor const like = input(at);
            std::size_t const needed =
                std::accumulate(like.extents.begin(), like.extents.end(), bytes_of(like.type),
                                [](std::size_t all, std::int64_t one) { return all * static_cast<std::size_t>(one); });
            if (needed != elements_[at].size()) {
                throw std::runtime_error("ONNX Runtime: input " + std::to_string(at) + " has " + std::to_string(needed) + " bytes, not " +
                                         std::to_string(elements_[at].size()));
            }
            void* made = nullptr;
            of_.check<runtime::create_tensor>(of_.memory_, static_cast<void*>(elements_[at].data()), needed, like.extents.data(),
                                              like.extents.size(), like.type, &made);
            given_.push_back(made);
        }
    }

    /// One run. The first one makes the results, and later ones write them in place.
    void run() {
        of_.check<runtime::run>(session_, static_cast<void*>(nullptr), pointers(inputs_).data(), given_.data(), given_.size(),
                                pointers(outputs_).data(), outputs_.size(), results_.data());
    }

    tensor output(std::size_t at) const {
        tensor made;
        void *shape = nullptr, *from = nullptr;
        of_.check<runtime::type_and_shape>(results_.at(at), &shape);
        read_shape(shape, made);
        of_.release<runtime::release_shape>(shape);
        of_.check<runtime::elements>(results_[at], &from);
        std::size_t const bytes = std::accumulate(made.extents.begin(), made.extents.end(), bytes_of(made.type),
                                                  [](std::size_t all, std::int64_t one) { return all * static_cast<std::size_t>(one); });
        made.bytes.resize(bytes);
        if (bytes > 0) std::memcpy(made.bytes.data(), from, bytes);
        return made;
    }

  private:
    template <class Create>
    void begin(mode how, Create const& create) {
        void* options = nullptr;
        of_.check<runtime::create_options>(&options);
        of_.check<runtime::set_threads_inside>(options, 1);
        of_.check<runtime::set_threads_between>(options, 1);
        of_.check<runtime::set_optimisation>(options, how == mode::at_its_best ? 99 : 0);
        void* const status = create(options);
        of_.release<runtime::release_options>(options);
        if (status != nullptr) fail(status);
        inputs_ = names<runtime::input_count, runtime::input_name>();
        outputs_ = names<runtime::output_count, runtime::output_name>();
        results_.assign(outputs_.size(), nullptr);
    }
    [[noreturn]] void fail(void* status) const {
        std::string const said = reinterpret_cast<char const* (*)(void*)>(const_cast<void*>(of_.table_[runtime::error_message]))(status);
        of_.release<runtime::release_status>(status);
        throw std::runtime_error("ONNX Runtime: " + said);
    }
    static std::vector<char const*> pointers(std::vector<std::string> const& of) {
        std::vector<char const*> made;
        for (std::string const& one : of) made.push_back(one.c_str());
        return made;
    }
    void read_shape(void* shape, tensor& into) const {
        std::size_t count = 0;
        of_.check<runtime::element_type>(shape, &into.type);
        of_.check<runtime::dimension_count>(shape, &count);
        into.extents.resize(count);
        of_.check<runtime::dimensions>(shape, into.extents.data(), count);
    }
    template <int Count, int Name>
    std::vector<std::string> names() const {
        std::size_t count = 0;
        void* allocator = nullptr;
        of_.check<Count>(session_, &count);
        of_.check<runtime::default_allocator>(&allocator);
        std::vector<std::string> made;
        for (std::size_t at = 0; at < count; ++at) {
            char* name = nullptr;
            of_.check<Name>(session_, at, allocator, &name);
            made.emplace_back(name);
            of_.check<runtime::free_memory>(allocator, static_cast<void*>(name));
        }
        return made;
    }

    runtime const& of_;
    void* session_ = nullptr;
    std::vector<std::string> inputs_ = {}, outputs_ = {};
    std::vector<std::vector<std::byte>> elements_ = {};
    std::vector<void*> given_ = {}, results_ = {};
};

}  // namespace tilewright::onnxruntime
