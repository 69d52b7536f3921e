# tilewright_add_self_test(), tilewright_add_trace() and tilewright_add_trace_tool(): C for the first days of a device, from the description of its machine.
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
    set(what MACHINE)
    if(NOT DEFINED ARG_LARGEST_WINDOW)
        set(ARG_LARGEST_WINDOW 32768)
    endif()
    if(NOT ARG_LARGEST_WINDOW MATCHES "^[1-9][0-9]*$")
        message(FATAL_ERROR "${call}: LARGEST_WINDOW is \"${ARG_LARGEST_WINDOW}\"; it is a number of bytes")
    endif()
    _tilewright_check_bring_up()
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
    set(what MACHINE)
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

# tilewright_add_trace_tool(NAME HEADER file.hpp SCHEDULE|PROGRAM qualified::variable)
#
# Makes a tool for a kernel, or for a program: `NAME diff TRACE` names the first call of a device's trace that is not the one that the emulator gets, and `NAME fit TRACE…`
# prints costs for the machine's description, with their error. Needs Halide.
function(tilewright_add_trace_tool name)
    set(call "tilewright_add_trace_tool(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "HEADER;SCHEDULE;PROGRAM" "")
    set(what SCHEDULE)
    set(tool trace)
    if(DEFINED ARG_PROGRAM AND DEFINED ARG_SCHEDULE)
        message(FATAL_ERROR "${call}: SCHEDULE and PROGRAM are both given; a trace is of one of them")
    elseif(DEFINED ARG_PROGRAM)
        set(what PROGRAM)
        set(tool program_trace)
    endif()
    _tilewright_check_bring_up()
    _tilewright_need_tools()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.trace_tool)
    file(MAKE_DIRECTORY ${directory})
    _tilewright_add_subject(${tool}_of_tool)
    _tilewright_compile_semantics(${directory}/${name}_of_tool.cpp)
    _tilewright_add_tool(${name} ${tool}_tool ${name}.of_tool)
endfunction()

# What the functions ask of their name and parsed arguments. `what` is the keyword of the variable. Sets `header` to the path of HEADER.
macro(_tilewright_check_bring_up)
    _tilewright_check_words("a word of C" "${name} HEADER file.hpp ${what} qualified::variable" HEADER ${what})
    _tilewright_find_header()
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
