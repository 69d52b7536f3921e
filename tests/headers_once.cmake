# For a build that happens once, as tests/run.sh makes it: what many targets include is compiled once, and not again for each of them.
#
# g++ can save the parsing. Clang can save more: the code of the headers' functions is in one object, headers_once.KIND.o, which executables
# link. Their own objects have what they alone instantiate, and take a fifth of the time. The object has more than each of them needs; the
# linker drops the rest, with what that would need.

# Calls FUNCTION(target) for each target of DIRECTORY and of the directories below it.
function(tilewright_for_each_target directory function)
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        cmake_language(CALL ${function} ${target})
    endforeach()
    get_property(directories DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    foreach(directory IN LISTS directories)
        tilewright_for_each_target(${directory} ${function})
    endforeach()
endfunction()

# What tells a tool its kernel or program begins with the same headers each time.
function(tilewright_compile_subjects_once target)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(target MATCHES "[.]of_tool$" AND options MATCHES "-O0")
        target_precompile_headers(${target} REUSE_FROM tool_subjects)
    endif()
endfunction()

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/tool_subjects.cpp CONTENT "")
add_library(tool_subjects OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/tool_subjects.cpp)
target_link_libraries(tool_subjects PRIVATE tilewright::tilewright)
target_precompile_headers(tool_subjects PRIVATE <tilewright/tilewright.hpp> <tilewright/halide/tool_subject.hpp>)
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL tilewright_for_each_target ${PROJECT_SOURCE_DIR} tilewright_compile_subjects_once)

set(TILEWRIGHT_HEADERS_ONCE OFF)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
endif()
set(TILEWRIGHT_HEADERS_ONCE ON)

# What is compiled once for targets of a KIND: those that have Halide, and those that have not. Definitions stand in the header: on the
# command line, each target would have to have the same.
function(tilewright_headers_once kind definitions)
    set(once ${PROJECT_BINARY_DIR}/headers_once.${kind})
    set(text)
    foreach(definition IN LISTS definitions)
        if(NOT definition MATCHES "=")
            string(APPEND definition "=1")
        endif()
        string(REGEX REPLACE "^-D([^=]+)=(.*)$" "#ifndef \\1\n#define \\1 \\2\n#endif\n" definition "${definition}")
        string(APPEND text "${definition}")
    endforeach()
    foreach(header IN LISTS ARGN)
        string(APPEND text "#include <${header}>\n")
    endforeach()
    file(CONFIGURE OUTPUT ${once}.hpp CONTENT "${text}" @ONLY)
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE}")
    add_custom_command(OUTPUT ${once}.pch
        COMMAND ${CMAKE_CXX_COMPILER} ${flags} -std=gnu++20 ${own_warnings} -O0 -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests
            ${all_includes} -fpch-instantiate-templates -fpch-codegen -x c++-header ${once}.hpp -o ${once}.pch -MD -MF ${once}.d
        DEPENDS ${once}.hpp DEPFILE ${once}.d COMMENT "Compiling the headers once (${kind})" VERBATIM)
    add_custom_command(OUTPUT ${once}.o
        COMMAND ${CMAKE_CXX_COMPILER} ${flags} -O0 -ffunction-sections -fdata-sections -c ${once}.pch -o ${once}.o
        DEPENDS ${once}.pch COMMENT "Generating the code of the headers once (${kind})" VERBATIM)
    add_custom_target(headers_once.${kind} DEPENDS ${once}.pch ${once}.o)
endfunction()
set(plain_headers tilewright/tilewright.hpp tilewright/emulate/program_emulator.hpp tilewright/report/program_run_page.hpp
    tilewright/report/run_page.hpp tilewright/report/program_run_report.hpp tilewright/report/run_report.hpp catch.hpp)
tilewright_headers_once(plain "" ${plain_headers})
tilewright_headers_once(halide "${halide_definitions}" tilewright/halide/jit_program.hpp tilewright/c_source/program_source.hpp ${plain_headers})

# Executables that are not optimised, but for those of tools, which are small. Where symbols are exported, nothing is dropped: such an executable
# needs Catch2, as the headers do, and what else they would need stays open.
function(tilewright_compile_headers_once target)
    get_target_property(type ${target} TYPE)
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(exports ${target} ENABLE_EXPORTS)
    if(NOT type STREQUAL "EXECUTABLE" OR target MATCHES "tool$|[.]" OR exports AND NOT libraries MATCHES "Catch2"
            OR NOT options MATCHES "O0|-O[$]" OR options MATCHES "-(O[1-9s]|f|g|m)")
        return()
    endif()
    set(once headers_once.plain)
    if(libraries MATCHES "halide|run_network|drawn_networks|onnx_nodes")
        set(once headers_once.halide)
    endif()
    add_dependencies(${target} ${once})
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${PROJECT_BINARY_DIR}/${once}.pch>")
    target_link_options(${target} PRIVATE ${PROJECT_BINARY_DIR}/${once}.o -Wl,--gc-sections)
    if(exports)
        target_link_options(${target} PRIVATE -Wl,--unresolved-symbols=ignore-in-object-files)
    endif()
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_BINARY_DIR}/${once}.o)
endfunction()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL tilewright_for_each_target ${PROJECT_SOURCE_DIR} tilewright_compile_headers_once)
