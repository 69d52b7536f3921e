#pragma once
#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <tilewright/targets/x86_vnni.hpp>
#include <vector>

/// The C functions in the forms that this processor can run.
namespace vnni_forms {

inline bool has_vectors() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

struct form {
    char const* name;
    char const* file;
};
inline std::vector<form> of_this_processor() {
    std::vector<form> made{{"plain C", VNNI_PLAIN}};
    if (has_vectors()) made.push_back({"vectors", VNNI_VECTORS});
    return made;
}

/// The functions of a form, which code that is compiled meanwhile can call.
class loaded {
  public:
    explicit loaded(form const& of) : library_(dlopen(of.file, RTLD_NOW | RTLD_GLOBAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
    }
    loaded(loaded const&) = delete;
    ~loaded() { dlclose(library_); }
    template <class Function>
    Function* function(char const* name) const {
        void* const found = dlsym(library_, name);
        if (found == nullptr) throw std::runtime_error(std::string("no function ") + name);
        return reinterpret_cast<Function*>(found);
    }

  private:
    void* library_;
};

}  // namespace vnni_forms
