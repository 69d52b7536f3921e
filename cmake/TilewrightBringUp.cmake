# tilewright_add_self_test() and tilewright_add_trace(): C for the first days of a device, from the description of its machine.
include_guard(GLOBAL)

# tilewright_add_self_test(NAME HEADER file.hpp MACHINE qualified::variable [C_INCLUDES header…] [LARGEST_WINDOW bytes] [SOURCE_ONLY]
#                          [FILE variable])
#
# Makes a static library NAME with the C function NAME, declared in "NAME.h", which tests whether the C functions of a machine do what the
# machine declares of them. See docs/reference/bring_up.md.
#
#   HEADER     defines the machine; relative to the current source directory
#   MACHINE    a constexpr variable at namespace scope, with its namespaces
#   C_INCLUDES   headers that NAME.c includes first: they may define the machine's functions inline, or trace them
#   LARGEST_WINDOW   bytes of memory that an operand of one case takes at most, and what lies around it; 32768 without it
#   SOURCE_ONLY   writes NAME.c and NAME.h and compiles nothing: they are for another compiler. NAME is then a target that stands for them.
#   FILE       the named variable receives the path of NAME.c, beside which NAME.h lies
function(tilewright_add_self_test name)
    set(call "tilewright_add_self_test(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "SOURCE_ONLY" "HEADER;MACHINE;LARGEST_WINDOW;FILE" "C_INCLUDES")
    _tilewright_check_bring_up()
    if(NOT DEFINED ARG_LARGEST_WINDOW)
        set(ARG_LARGEST_WINDOW 32768)
    endif()
    if(NOT ARG_LARGEST_WINDOW MATCHES "^[1-9][0-9]*$")
        message(FATAL_ERROR "${call}: LARGEST_WINDOW is \"${ARG_LARGEST_WINDOW}\"; it is a number of bytes")
    endif()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.self_test)
    _tilewright_bring_up_tool()
    set(files ${directory}/${name}.h ${directory}/${name}.c)
    add_custom_command(OUTPUT ${files}
        COMMAND ${name}.bring_up_tool self_test ${directory} ${ARG_LARGEST_WINDOW} ${ARG_C_INCLUDES}
        DEPENDS ${name}.bring_up_tool
        COMMENT "Writing the self-test ${name}"
        VERBATIM)
    if(DEFINED ARG_FILE)
        set(${ARG_FILE} ${directory}/${name}.c PARENT_SCOPE)
    endif()
    if(ARG_SOURCE_ONLY)
        add_custom_target(${name} ALL DEPENDS ${files})
        return()
    endif()
    add_library(${name} STATIC ${files})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(${name} PUBLIC ${directory} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# tilewright_add_trace(NAME HEADER file.hpp MACHINE qualified::variable [FILE variable])
#
# Writes NAME.h, a header of C that records every call of the machine's functions where TILEWRIGHT_TRACE is defined, and says nothing where it
# is not: for C_INCLUDES of kernels, programs and self-tests. NAME is a target that stands for it, whose users find it.
function(tilewright_add_trace name)
    set(call "tilewright_add_trace(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "HEADER;MACHINE;FILE" "")
    _tilewright_check_bring_up()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.trace)
    _tilewright_bring_up_tool()
    add_custom_command(OUTPUT ${directory}/${name}.h
        COMMAND ${name}.bring_up_tool trace ${directory}
        DEPENDS ${name}.bring_up_tool
        COMMENT "Writing the trace header ${name}"
        VERBATIM)
    add_custom_target(${name}.header ALL DEPENDS ${directory}/${name}.h)
    add_library(${name} INTERFACE)
    add_dependencies(${name} ${name}.header)
    target_include_directories(${name} INTERFACE ${directory})
    target_link_libraries(${name} INTERFACE tilewright::tilewright)
    if(DEFINED ARG_FILE)
        set(${ARG_FILE} ${directory}/${name}.h PARENT_SCOPE)
    endif()
endfunction()

# What the functions ask of their name and parsed arguments. Sets `header` to the path of HEADER.
macro(_tilewright_check_bring_up)
    if(DEFINED ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${call}: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(DEFINED ARG_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "${call}: no value after ${ARG_KEYWORDS_MISSING_VALUES}")
    endif()
    foreach(argument IN ITEMS HEADER MACHINE)
        if(NOT DEFINED ARG_${argument})
            message(FATAL_ERROR "${call}: ${argument} is missing; write ${name} HEADER file.hpp MACHINE qualified::variable")
        endif()
    endforeach()
    if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        message(FATAL_ERROR "${call}: the name becomes a word of C, so it must be an identifier")
    endif()
    if(TARGET ${name})
        message(FATAL_ERROR "${call}: there already is a target of this name")
    endif()
    cmake_path(ABSOLUTE_PATH ARG_HEADER BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE header)
    if(NOT EXISTS ${header} OR IS_DIRECTORY ${header})
        message(FATAL_ERROR "${call}: HEADER ${header} does not exist")
    endif()
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "${call}: the tool that writes the C runs here, so it cannot be cross-compiled; call this in a project for this "
            "machine, and compile the C for the other")
    endif()
    _tilewright_has_languages(languages)
    if(NOT languages)
        message(FATAL_ERROR "${call}: enable both languages: project(… LANGUAGES C CXX)")
    endif()
endmacro()
# The target NAME.bring_up_tool, which writes into `directory`.
macro(_tilewright_bring_up_tool)
    file(MAKE_DIRECTORY ${directory})
    _tilewright_add_subject(bring_up_of_tool)
    _tilewright_add_tool(${name}.bring_up_tool bring_up_tool ${name}.of_tool)
endmacro()
