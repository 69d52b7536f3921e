# tilewright_add_kernel() and tilewright_add_program(): from a schedule or a program in a header to a library that can be linked.
# tilewright_add_tuner(): a program that measures schedules.
include_guard(GLOBAL)

# tilewright_find_halide([QUIET|REQUIRED])
#
# Finds Halide and makes the target tilewright::halide: Halide itself beside the headers of this project that need it. A macro, since
# imported targets belong to the directory that looks for them.
#
# A project without C has no Halide: Halide's package finds LLVM's, which compiles C, and ends the configuration where it cannot, QUIET or not.
macro(tilewright_find_halide)
    _tilewright_has_languages(_tilewright_languages)
    if(NOT _tilewright_languages)
        if("${ARGN}" STREQUAL "REQUIRED")
            message(FATAL_ERROR "tilewright_find_halide: enable both languages: project(… LANGUAGES C CXX)")
        endif()
    elseif(NOT TARGET tilewright::halide)
        # Without the component, Halide 14 is not found where libpng and libjpeg are not installed for development.
        find_package(Halide ${ARGN} COMPONENTS Halide)
        if(TARGET Halide::Generator)
            add_library(tilewright::halide INTERFACE IMPORTED)
            # Halide.h tells its own version only from 17 on.
            set_target_properties(tilewright::halide PROPERTIES
                INTERFACE_LINK_LIBRARIES "tilewright::tilewright;Halide::Halide"
                INTERFACE_COMPILE_DEFINITIONS "TILEWRIGHT_HALIDE_VERSION=${Halide_VERSION_MAJOR}")
        endif()
    endif()
endmacro()

function(_tilewright_has_languages result)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(${result} FALSE PARENT_SCOPE)
    if("C" IN_LIST languages AND "CXX" IN_LIST languages)
        set(${result} TRUE PARENT_SCOPE)
    endif()
endfunction()

# tilewright_add_kernel(NAME HEADER file.hpp SCHEDULE qualified::variable… BINDING emulated|device
#                       [STMT variable] [STMT_HTML variable] [C_BACKEND] [FEATURES feature…] [TARGETS target…]
#                       [C_SOURCE variable] [C_INCLUDES header…] [SOURCE_ONLY] [REPORT variable])
#
# Makes a static library NAME with the C function NAME, declared in "NAME.h".
#
#   HEADER     defines the schedule; relative to the current source directory
#   SCHEDULE   a constexpr variable at namespace scope, with its namespaces; or several, each for one of TARGETS
#   BINDING    emulated: transfers and intrinsics run on the emulator, in this process, and nothing is left to write
#              device:   they are calls of the machine's C functions, which the program that links NAME defines
#   STMT, STMT_HTML   the named variable receives the path of the lowered program, as text or as a page
#   C_BACKEND  compiles Halide's C++ source with the current compiler instead of Halide's object
#   TARGETS    of Halide's, for one processor and system; a processor runs the code for the first of them that it can. If it can run none, the
#              function returns a code
#   FEATURES   for all targets, as for add_halide_library
#   C_SOURCE   makes the kernel from C11 of its own, for the compiler of a DSP: a function of plain pointers and strides, without Halide's
#              runtime. The named variable receives the path of NAME.c, beside which NAME.h lies. See docs/reference/c_source.md.
#   C_INCLUDES   headers that NAME.c includes first, as they are written here; they may define the machine's functions inline
#   SOURCE_ONLY   writes the files of C_SOURCE and compiles nothing: they are for another compiler. NAME is then a target that stands for them.
#   REPORT     the named variable receives the path of NAME.html, a page that shows the plan; a list of paths, if there are several schedules.
#              See docs/reference/reports.md.
function(tilewright_add_kernel name)
    set(call "tilewright_add_kernel(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "C_BACKEND;SOURCE_ONLY" "HEADER;BINDING;STMT;STMT_HTML;C_SOURCE;REPORT"
        "SCHEDULE;FEATURES;TARGETS;C_INCLUDES")
    _tilewright_check_call(SCHEDULE)
    if(DEFINED ARG_C_SOURCE)
        foreach(argument IN ITEMS STMT STMT_HTML FEATURES TARGETS)
            if(DEFINED ARG_${argument})
                message(FATAL_ERROR "${call}: C_SOURCE makes no object of Halide's, so ${argument} says nothing")
            endif()
        endforeach()
        if(ARG_C_BACKEND)
            message(FATAL_ERROR "${call}: C_SOURCE is C of its own, C_BACKEND Halide's C++; ask for one of them")
        endif()
    elseif(DEFINED ARG_C_INCLUDES)
        message(FATAL_ERROR "${call}: C_INCLUDES is for C_SOURCE, which is missing")
    elseif(ARG_SOURCE_ONLY)
        message(FATAL_ERROR "${call}: SOURCE_ONLY is for C_SOURCE, which is missing")
    endif()
    _tilewright_check_variants()
    _tilewright_need_tools()

    # A folder for each kernel, so that "NAME.h" is the only header that its users come to see.
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.kernel)
    # The plans, compiled once for both tools.
    set(kernels)
    foreach(schedule IN LISTS ARG_SCHEDULE)
        string(APPEND kernels
            "    {\"${name}\", ${schedule}, tilewright::plan<${schedule}>, tilewright::halide::binding::${ARG_BINDING}, \"${schedule}\"},\n")
    endforeach()
    _tilewright_add_subject(kernel_of_tool)
    if(DEFINED ARG_REPORT)
        _tilewright_report(reports kernel_report_tool ${name} ${directory} ${ARG_SCHEDULE})
        set(${ARG_REPORT} ${reports} PARENT_SCOPE)
    endif()
    if(DEFINED ARG_C_SOURCE)
        _tilewright_add_tool(${name}.c_source_tool kernel_c_source_tool ${name}.of_tool)
        _tilewright_c_library(${name} ${name}.c_source_tool ${directory} ${header} ${ARG_SCHEDULE} ${ARG_BINDING} "${ARG_C_INCLUDES}"
            ${ARG_SOURCE_ONLY})
        set(${ARG_C_SOURCE} ${directory}/${name}.c PARENT_SCOPE)
        if(DEFINED ARG_REPORT)
            add_dependencies(${name} ${name}.report)
        endif()
        return()
    endif()

    # The tile bodies, lowered by Halide: the function NAME_unchecked, or NAME_unchecked_0 and so on for several targets.
    _tilewright_add_tool(${name}.generator kernel_generator ${name}.of_tool)
    if(NOT DEFINED ARG_TARGETS AND NOT ARG_C_BACKEND)
        set(ARG_TARGETS ${Halide_TARGET})
        if(Halide_TARGET MATCHES "^(host)?$")
            _tilewright_host_target(ARG_TARGETS)
        endif()
    endif()
    set(targets ${ARG_TARGETS})
    set(asked ${ARG_TARGETS})  # what a processor is asked for
    if(DEFINED ARG_FEATURES)
        list(JOIN ARG_FEATURES "-" features)
        list(TRANSFORM asked APPEND "-${features}")
    endif()
    if(ARG_C_BACKEND)
        set(asked)
        if(NOT DEFINED ARG_TARGETS)
            set(targets of_this_compiler)
        endif()
    endif()
    list(LENGTH targets count)
    list(LENGTH ARG_SCHEDULE schedules)
    foreach(output IN ITEMS STMT STMT_HTML)
        set(${output}_files)
    endforeach()
    set(objects)
    set(number 0)
    foreach(target IN LISTS targets)
        set(suffix)
        set(dotted)
        if(count GREATER 1)
            set(suffix _${number})
            set(dotted .${number})
        endif()
        set(machine ${name}_machine)  # in NAME_binding.cpp: the emulator to run on
        set(schedule 0)
        if(schedules GREATER 1)
            set(machine ${name}_machine${suffix})
            set(schedule ${number})
        endif()
        set(passed)
        foreach(output IN ITEMS STMT STMT_HTML)
            if(DEFINED ARG_${output})
                list(APPEND passed ${output} ${output}_file)
            endif()
        endforeach()
        if(ARG_C_BACKEND)
            list(APPEND passed C_BACKEND TARGETS ${ARG_TARGETS})
        else()
            _tilewright_add_runtime(${name} ${target})
            list(APPEND passed USE_RUNTIME ${name}.code.runtime TARGETS ${target})
        endif()
        add_halide_library(${name}.code${dotted} FROM ${name}.generator GENERATOR tilewright_kernel FUNCTION_NAME ${name}_unchecked${suffix}
            PARAMS machine_function=${machine} schedule_number=${schedule} FEATURES ${ARG_FEATURES} ${passed})
        list(APPEND objects ${name}.code${dotted})
        foreach(output IN ITEMS STMT STMT_HTML)
            if(DEFINED ARG_${output})
                list(APPEND ${output}_files ${CMAKE_CURRENT_BINARY_DIR}/${${output}_file})
            endif()
        endforeach()
        math(EXPR number "${number} + 1")
    endforeach()
    foreach(output IN ITEMS STMT STMT_HTML)
        if(DEFINED ARG_${output})
            set(${ARG_${output}} ${${output}_files} PARENT_SCOPE)
        endif()
    endforeach()
    if(ARG_C_BACKEND)
        _tilewright_complete_c_backend(${name})
    endif()

    # What stands between the caller and that function: its header, the choice of a target, the checks of the arguments, the way to the
    # emulator.
    _tilewright_add_tool(${name}.binding_tool kernel_binding_tool ${name}.of_tool)
    set(sources ${directory}/${name}_entry.c)
    if(ARG_BINDING STREQUAL "emulated")
        list(APPEND sources ${directory}/${name}_binding.cpp)
    endif()
    list(GET ARG_SCHEDULE 0 first)
    add_custom_command(OUTPUT ${directory}/${name}.h ${sources}
        COMMAND ${name}.binding_tool ${ARG_BINDING} ${directory} ${header} ${first} ${asked}
        DEPENDS ${name}.binding_tool
        COMMENT "Writing the binding of ${name} (${ARG_BINDING})"
        VERBATIM)

    add_library(${name} STATIC ${sources} ${directory}/${name}.h)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_features(${name} PRIVATE c_std_99)
    target_include_directories(${name} PUBLIC ${directory})
    if(ARG_BINDING STREQUAL "emulated")
        _tilewright_emulate(${name} ${directory}/${name}_binding.cpp)
    endif()
    target_link_libraries(${name} PUBLIC tilewright::tilewright Halide::Runtime PRIVATE ${objects})
    # NAME calls NAME_unchecked, which calls back into the binding in NAME; static libraries say so by naming each other.
    foreach(object IN LISTS objects)
        target_link_libraries(${object} INTERFACE ${name})
    endforeach()
    if(DEFINED ARG_REPORT)
        add_dependencies(${name} ${name}.report)
    endif()
endfunction()

# The target NAME.report, which writes NAME.html by a tool; NAME_0.html and so on for several schedules. `result` receives their paths.
function(_tilewright_report result tool name directory)
    set(files ${directory}/${name}.html)
    list(LENGTH ARGN schedules)
    if(schedules GREATER 1)
        set(files)
        math(EXPR last "${schedules} - 1")
        foreach(number RANGE ${last})
            list(APPEND files ${directory}/${name}_${number}.html)
        endforeach()
    endif()
    _tilewright_add_tool(${name}.report_tool ${tool} ${name}.of_tool)
    add_custom_command(OUTPUT ${files}
        COMMAND ${name}.report_tool ${files}
        DEPENDS ${name}.report_tool
        COMMENT "Writing the report of ${name}"
        VERBATIM)
    add_custom_target(${name}.report DEPENDS ${files})
    set(${result} ${files} PARENT_SCOPE)
endfunction()

# What tilewright_add_kernel asks of its schedules and targets.
macro(_tilewright_check_variants)
    list(LENGTH ARG_SCHEDULE schedules)
    list(LENGTH ARG_TARGETS targets)
    if(DEFINED ARG_C_SOURCE AND schedules GREATER 1)
        message(FATAL_ERROR "${call}: C_SOURCE takes one SCHEDULE: it is for one compiler, which chooses no target")
    endif()
    if(ARG_C_BACKEND AND (schedules GREATER 1 OR targets GREATER 1))
        message(FATAL_ERROR "${call}: C_BACKEND is compiled by the current compiler for what its flags say, so it takes one SCHEDULE and one target")
    endif()
    if(schedules GREATER 1 AND NOT schedules EQUAL targets)
        message(FATAL_ERROR "${call}: ${schedules} SCHEDULEs and ${targets} TARGETS: name one target for each schedule, in the same order")
    endif()
    set(remaining ${ARG_TARGETS})
    list(REMOVE_DUPLICATES remaining)
    list(LENGTH remaining different)
    if(schedules EQUAL 1 AND NOT different EQUAL targets)
        message(FATAL_ERROR "${call}: TARGETS has a target twice; the second would never be chosen")
    endif()
    set(remaining ${ARG_TARGETS})
    list(TRANSFORM remaining REPLACE "^(host|cmake|[^-]+-[^-]+-[^-]+).*$" "\\1")
    list(TRANSFORM remaining REPLACE "^(host|cmake)$" "${Halide_HOST_TARGET}")
    list(REMOVE_ITEM remaining "")
    list(REMOVE_DUPLICATES remaining)
    list(LENGTH remaining different)
    if(different GREATER 1)
        message(FATAL_ERROR "${call}: TARGETS are for different processors or systems: ${remaining}; make a kernel for each of these")
    endif()
endmacro()

# The target NAME.code.runtime: Halide's runtime, for any processor of the target's architecture. Kernels share its functions, of which linkers
# take the first that they find, and some run when the program ends: it must have no instructions of a single kernel's target.
function(_tilewright_add_runtime name target)
    if(TARGET ${name}.code.runtime)
        return()
    endif()
    string(REGEX REPLACE "^(host|cmake)" "${Halide_HOST_TARGET}" target "${target}")
    string(REPLACE "-" ";" target "${target}")
    list(FILTER target EXCLUDE REGEX "^(sse41|avx.*|fma4?|f16c|arm_dot_prod|arm_fp16|armv8.*|sve2?)$")
    list(REMOVE_ITEM target user_context no_asserts no_bounds_query no_runtime profile)  # as add_halide_library does
    list(JOIN target "-" target)
    string(REGEX MATCH "^[^-]+-[^-]+-[^-]+" triple "${target}")
    if(triple STREQUAL Halide_CMAKE_TARGET)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.code.runtime${CMAKE_CXX_OUTPUT_EXTENSION})
        set(kind object)
        add_library(${name}.code.runtime STATIC ${file})
        set_target_properties(${name}.code.runtime PROPERTIES LINKER_LANGUAGE CXX)
        set(maker .code.runtime)
    else()
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.code.runtime.a)
        set(kind static_library)
        add_library(${name}.code.runtime STATIC IMPORTED GLOBAL)
        set_target_properties(${name}.code.runtime PROPERTIES IMPORTED_LOCATION ${file})
        set(maker .code.runtime.file)
        add_custom_target(${name}${maker} DEPENDS ${file})
        add_dependencies(${name}.code.runtime ${name}${maker})
    endif()
    # The first kernel of a directory generates it. Others, of the same target, copy that one.
    get_property(first DIRECTORY PROPERTY tilewright_runtime_${target})
    if(first)
        add_dependencies(${name}${maker} ${first}${maker})
        string(REPLACE "/${name}.code.runtime" "/${first}.code.runtime" made ${file})
        add_custom_command(OUTPUT ${file} COMMAND ${CMAKE_COMMAND} -E copy ${made} ${file} DEPENDS ${made} VERBATIM)
    else()
        set_property(DIRECTORY PROPERTY tilewright_runtime_${target} ${name})
        add_custom_command(OUTPUT ${file}
            COMMAND ${name}.generator -r ${name}.code.runtime -o ${CMAKE_CURRENT_BINARY_DIR} -e ${kind} target=${target}
            DEPENDS ${name}.generator
            VERBATIM)
    endif()
    target_link_libraries(${name}.code.runtime INTERFACE Halide::Runtime Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# A kernel or a program from C of its own: NAME.c and NAME.h, written by a tool, and for the emulated binding the way to the emulator. A
# library of these, or with SOURCE_ONLY a target that writes them.
function(_tilewright_c_library name tool directory header what binding includes source_only)
    set(sources ${directory}/${name}.c)
    if(binding STREQUAL "emulated")
        list(APPEND sources ${directory}/${name}_binding.cpp)
    endif()
    add_custom_command(OUTPUT ${directory}/${name}.h ${sources}
        COMMAND ${tool} ${binding} ${directory} ${header} ${what} ${includes}
        DEPENDS ${tool}
        COMMENT "Writing the C source of ${name} (${binding})"
        VERBATIM)
    if(source_only)
        add_custom_target(${name} ALL DEPENDS ${directory}/${name}.h ${sources})
        return()
    endif()
    add_library(${name} STATIC ${sources} ${directory}/${name}.h)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(${name} PUBLIC ${directory} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC tilewright::tilewright)
    if(binding STREQUAL "emulated")
        _tilewright_emulate(${name} ${directory}/${name}_binding.cpp)
    endif()
endfunction()

# tilewright_add_program(NAME HEADER file.hpp PROGRAM qualified::variable BINDING emulated|device [C_INCLUDES header…]
#                        [FILES variable] [SOURCE_ONLY] [REPORT variable])
#
# Makes a static library NAME with the C function NAME, declared in "NAME.h", which runs all kernels of a program: C11 of its own, NAME.c, and
# the images of its constants, NAME_MEMORY.bin, beside it. See docs/reference/program.md.
#
#   HEADER, BINDING, C_INCLUDES, SOURCE_ONLY   as for tilewright_add_kernel
#   PROGRAM   a constexpr variable at namespace scope, with its namespaces
#   FILES     the named variable receives the folder in which all of these lie
#   REPORT    the named variable receives the path of NAME.html, a page that shows the program's plan. See docs/reference/reports.md.
function(tilewright_add_program name)
    set(call "tilewright_add_program(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "SOURCE_ONLY" "HEADER;PROGRAM;BINDING;FILES;REPORT" "C_INCLUDES")
    _tilewright_check_call(PROGRAM)
    _tilewright_need_tools()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.program)
    _tilewright_add_subject(program_of_tool)
    _tilewright_add_tool(${name}.program_tool program_tool ${name}.of_tool)
    _tilewright_c_library(${name} ${name}.program_tool ${directory} ${header} ${ARG_PROGRAM} ${ARG_BINDING} "${ARG_C_INCLUDES}"
        ${ARG_SOURCE_ONLY})
    if(DEFINED ARG_FILES)
        set(${ARG_FILES} ${directory} PARENT_SCOPE)
    endif()
    if(DEFINED ARG_REPORT)
        _tilewright_report(report program_report_tool ${name} ${directory})
        add_dependencies(${name} ${name}.report)
        set(${ARG_REPORT} ${report} PARENT_SCOPE)
    endif()
endfunction()

# tilewright_add_tuner(NAME source…)
#
# Makes an executable NAME of these sources, which include <tilewright/tune/tune.hpp>, and of the tuner itself. Needs Halide and nlohmann_json.
# See docs/reference/tuning.md.
function(tilewright_add_tuner name)
    set(call "tilewright_add_tuner(${name})")
    if(NOT ARGN)
        message(FATAL_ERROR "${call}: name the sources, of which one has the function main")
    endif()
    _tilewright_need_tools()
    find_package(nlohmann_json 3 QUIET)
    if(NOT TARGET nlohmann_json::nlohmann_json)
        message(FATAL_ERROR "${call}: nlohmann_json is not found; install it (Debian: nlohmann-json3-dev) or set nlohmann_json_DIR")
    endif()
    _tilewright_tool_objects(objects tuner)
    add_executable(${name} ${ARGN} $<TARGET_OBJECTS:${objects}>)
    target_link_libraries(${name} PRIVATE tilewright::halide ${CMAKE_DL_LIBS})
endfunction()

# What both functions ask of their name and parsed arguments. `what` is the keyword of the variable. Sets `header` to the path of HEADER.
macro(_tilewright_check_call what)
    _tilewright_check_words("a C function" "${name} HEADER file.hpp ${what} qualified::variable BINDING emulated|device" HEADER ${what} BINDING)
    if(ARG_SOURCE_ONLY AND ARG_BINDING STREQUAL "emulated")
        message(FATAL_ERROR "${call}: SOURCE_ONLY is for BINDING device; the emulator runs here")
    endif()
    foreach(variable IN LISTS ARG_${what})
        if(NOT variable MATCHES "^(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
            message(FATAL_ERROR "${call}: ${what} is \"${variable}\"; it is a variable of ${ARG_HEADER} with its namespaces, such as my::name")
        endif()
    endforeach()
    if(NOT ARG_BINDING MATCHES "^(emulated|device)$")
        message(FATAL_ERROR "${call}: BINDING is \"${ARG_BINDING}\"; it can be emulated or device")
    endif()
    _tilewright_find_header()
endmacro()
# Whether all arguments are known, have values, and those of the keywords that follow are there; and whether the name can be `becomes`.
macro(_tilewright_check_words becomes usage)
    if("${name}" MATCHES "^(HEADER|SCHEDULE|PROGRAM|BINDING|MODEL|MACHINE|CHIP)$")
        message(FATAL_ERROR "${call}: a name comes first, that of the target, before ${name}")
    endif()
    if(DEFINED ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${call}: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}; write ${usage}")
    endif()
    if(DEFINED ARG_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "${call}: no value after ${ARG_KEYWORDS_MISSING_VALUES}; write ${usage}")
    endif()
    foreach(argument IN ITEMS ${ARGN})
        if(NOT DEFINED ARG_${argument})
            message(FATAL_ERROR "${call}: ${argument} is missing; write ${usage}")
        endif()
    endforeach()
    if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        message(FATAL_ERROR "${call}: the name becomes ${becomes}, so it must be an identifier")
    endif()
    if(TARGET ${name})
        message(FATAL_ERROR "${call}: there already is a target of this name")
    endif()
endmacro()
# Sets `header` to the path of HEADER.
macro(_tilewright_find_header)
    cmake_path(ABSOLUTE_PATH ARG_HEADER BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE header)
    # Another rule of the project may write it.
    get_source_file_property(generated ${header} GENERATED)
    if(NOT generated AND (NOT EXISTS ${header} OR IS_DIRECTORY ${header}))
        message(FATAL_ERROR "${call}: HEADER ${header} does not exist")
    endif()
endmacro()
# The tools that write code run here, and need Halide and both languages.
macro(_tilewright_need_tools)
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "${call}: the tools that write a kernel run here, so they cannot be cross-compiled; "
            "build the kernel in a project for this machine, with C_BACKEND or TARGETS for the other")
    endif()
    _tilewright_has_languages(languages)
    if(NOT languages)
        message(FATAL_ERROR "${call}: enable both languages: project(… LANGUAGES C CXX)")
    endif()
    tilewright_find_halide(QUIET)
    if(NOT TARGET tilewright::halide)
        message(FATAL_ERROR "${call}: Halide is not found; install it (Debian: libhalide14-0-dev) or set Halide_DIR")
    endif()
endmacro()

# The object library NAME.of_tool of a template: what tools are told to work on. Both functions fill it from what they were given.
macro(_tilewright_add_subject template)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${template}.cpp.in ${directory}/${name}_of_tool.cpp @ONLY)
    add_library(${name}.of_tool OBJECT ${directory}/${name}_of_tool.cpp)
    target_link_libraries(${name}.of_tool PRIVATE tilewright::tilewright)
    _tilewright_build_tool(${name}.of_tool)
endmacro()

# The semantics of the machine's parts, compiled. They round as they are written, and are optimised in a debug build too, where no other
# source of the program uses the semantics. What was precompiled without optimisation does not fit. Clang 14 warns of loops that it did not
# vectorise; nobody asked for that.
function(_tilewright_compile_semantics source)
    set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
        COMPILE_OPTIONS "-O2;-ffp-contract=off;$<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-pass-failed>")
endfunction()

# Adds the emulator, which is compiled once for all, to the library `name`, whose source `binding` calls it. It is optimised. Of several
# copies of an inline function, linkers take the first one: so the emulator stands in front of what the user compiles.
function(_tilewright_emulate name binding)
    _tilewright_compile_semantics(${binding})
    set_source_files_properties(${binding} PROPERTIES COMPILE_DEFINITIONS TILEWRIGHT_EMULATOR_APART)
    _tilewright_tool_objects(objects emulator)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_link_options(${name} INTERFACE $<TARGET_OBJECTS:${objects}>)
endfunction()

# An executable of the sources of `tool` and the object library `subject`, which tells it what to work on.
function(_tilewright_add_tool name tool subject)
    _tilewright_tool_objects(objects ${tool})
    _tilewright_library_of_tool(library ${tool})
    add_executable(${name} $<TARGET_OBJECTS:${objects}> $<TARGET_OBJECTS:${subject}>)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PRIVATE ${library} ${CMAKE_DL_LIBS})
endfunction()

# What a tool is made of: those that write about a machine alone do not need Halide, and networks are printed without it, too.
function(_tilewright_library_of_tool result tool)
    set(${result} tilewright::halide PARENT_SCOPE)
    if(tool STREQUAL "network_tool" AND NOT TARGET tilewright::halide)
        set(${result} tilewright::network_readers PARENT_SCOPE)
    elseif(tool STREQUAL "network_tool")
        set(${result} tilewright::network_readers tilewright::halide PARENT_SCOPE)
    endif()
    if(tool MATCHES "^(bring_up_tool|emulator|network_of_tool)$")
        set(${result} tilewright::tilewright PARENT_SCOPE)
    endif()
endfunction()

# The object library of the sources of `tool`. These, Halide's headers among them, take 20 s to compile, so they are compiled once for all
# directories whose objects can be linked with each other.
function(_tilewright_tool_objects result tool)
    # Directories may differ in what objects must agree on: ABI, standard library, sanitizers. Warnings and optimisation are no such thing.
    set(key "${CMAKE_CXX_COMPILER};${CMAKE_CXX_FLAGS};${CMAKE_CXX_STANDARD};${CMAKE_CXX_EXTENSIONS};${CMAKE_POSITION_INDEPENDENT_CODE}")
    string(APPEND key ";${CMAKE_INTERPROCEDURAL_OPTIMIZATION};${Halide_DIR};${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
        string(TOUPPER "${configuration}" configuration)
        string(APPEND key ";${CMAKE_CXX_FLAGS_${configuration}}")
    endforeach()
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES)
        get_directory_property(value ${property})
        list(FILTER value EXCLUDE REGEX "(^|:)-[WO]")  # also where a generator expression gives it
        string(APPEND key ";${value}")
    endforeach()
    string(MD5 key "${key}")
    string(SUBSTRING ${key} 0 8 key)
    set(objects tilewright.${tool}.${key})
    if(NOT TARGET ${objects})
        add_library(${objects} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${tool}.cpp)
        _tilewright_library_of_tool(library ${tool})
        target_link_libraries(${objects} PRIVATE ${library})
        if(tool STREQUAL "kernel_generator")
            target_link_libraries(${objects} PRIVATE Halide::Generator)  # whose main function is a source
        endif()
        if(tool STREQUAL "tuner")
            target_link_libraries(${objects} PRIVATE nlohmann_json::nlohmann_json)
        endif()
        if(tool STREQUAL "emulator")
            target_compile_options(${objects} PRIVATE -O2)
            set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # as the kernels that it is linked with
        elseif(tool STREQUAL "network_of_tool")
            _tilewright_compile_semantics(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${tool}.cpp)
        elseif(NOT tool STREQUAL "network_tool")
            _tilewright_build_tool(${objects})
        else()
            # It plans whole networks, unless those are of tests.
            set(optimised 1)
            if(DEFINED TILEWRIGHT_OPTIMISED AND NOT TILEWRIGHT_OPTIMISED)
                set(optimised 0)
            endif()
            target_compile_options(${objects} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-O${optimised}>)
            if(TARGET tilewright::halide)
                target_compile_definitions(${objects} PRIVATE TILEWRIGHT_NETWORK_TOOL_WRITES_C)
            endif()
        endif()
    endif()
    set(${result} ${objects} PARENT_SCOPE)
endfunction()

# A program that runs once, in the build: compiling it is what takes time, so no optimisation is best. At -O2, g++ 12 also warns about
# std::string where nothing is wrong (GCC bug 105651).
function(_tilewright_build_tool target)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-O0>)
endfunction()

# The target of kernels for this machine: Halide's "host", but where Halide 14 is mistaken. It takes every processor with AVX-512 and
# bfloat16 for a Sapphire Rapids, whose half-precision instructions others (Zen 4, Zen 5) do not have.
function(_tilewright_host_target result)
    set(${result} host PARENT_SCOPE)
    if(Halide_VERSION VERSION_LESS 15 AND EXISTS /proc/cpuinfo)
        file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
        if(flags MATCHES "avx512_bf16" AND NOT flags MATCHES "avx512_fp16")
            set(${result} ${Halide_HOST_TARGET}-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake-avx512_cannonlake PARENT_SCOPE)
        endif()
    endif()
endfunction()

# What add_halide_library leaves out with C_BACKEND: a runtime to link.
function(_tilewright_complete_c_backend name)
    target_compile_options(${name}.code PRIVATE -w)  # generated code: its warnings are nobody's to mend
    _tilewright_add_runtime(${name} host)
    target_link_libraries(${name}.code INTERFACE ${name}.code.runtime)
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/TilewrightBringUp.cmake)
