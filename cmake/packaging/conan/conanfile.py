import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class TilewrightConan(ConanFile):
    name = "tilewright"
    description = "A scheduling DSL for machines whose memories are managed by software"
    license = "Apache-2.0"
    topics = ("accelerator", "compiler", "dsl", "scheduling", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    default_options = {"boost/*:header_only": True}
    no_copy_source = True

    @property
    def _clone(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._clone, "include", "tilewright", "version.hpp"))
        self.version = ".".join(re.findall(r"^#define TILEWRIGHT_VERSION_\w+ (\d+)$", header, re.MULTILINE))

    def export_sources(self):
        for pattern in ("LICENSE", "include/*", "cmake/*"):
            copy(self, pattern, self._clone, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.74 <2]")

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        for pattern in ("TilewrightKernel.cmake", "TilewrightBringUp.cmake", "TilewrightNetwork.cmake", "*_tool.cpp", "*_of_tool.cpp.in",
                        "kernel_generator.cpp", "emulator.cpp", "tuner.cpp"):
            copy(self, pattern, os.path.join(self.source_folder, "cmake"), os.path.join(self.package_folder, "share", "cmake", "tilewright"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "tilewright")
        self.cpp_info.set_property("cmake_target_name", "tilewright::tilewright")
        modules = [os.path.join("share", "cmake", "tilewright", f"Tilewright{name}.cmake") for name in ("Kernel", "Network")]
        self.cpp_info.set_property("cmake_build_modules", modules)
        self.cpp_info.set_property("pkg_config_name", "tilewright")
        self.cpp_info.requires = ["boost::headers"]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
