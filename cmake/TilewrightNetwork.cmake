# tilewright_find_network_readers([QUIET|REQUIRED])
#
# Finds what reads networks and makes the target tilewright::network_readers: the headers of this project beside libonnx, libprotobuf and the
# headers of FlatBuffers (Debian: libonnx-dev, libprotobuf-dev, libflatbuffers-dev). Whoever does not read networks needs none of them. A
# macro, since imported targets belong to the directory that looks for them.
macro(tilewright_find_network_readers)
    if(NOT TARGET tilewright::network_readers)
        find_package(Protobuf ${ARGN} MODULE)  # ONNX names its target and does not look for it
        if(TARGET protobuf::libprotobuf)
            find_package(ONNX ${ARGN} CONFIG)
        endif()
        # Its package has configuration files that need its compiler too. Only headers are used.
        find_path(TILEWRIGHT_FLATBUFFERS_INCLUDE_DIR flatbuffers/verifier.h ${ARGN})
        mark_as_advanced(TILEWRIGHT_FLATBUFFERS_INCLUDE_DIR)
        if(TARGET onnx_proto AND TILEWRIGHT_FLATBUFFERS_INCLUDE_DIR)
            add_library(tilewright::network_readers INTERFACE IMPORTED)
            set_target_properties(tilewright::network_readers PROPERTIES
                INTERFACE_LINK_LIBRARIES "tilewright::tilewright;onnx_proto"
                INTERFACE_INCLUDE_DIRECTORIES ${TILEWRIGHT_FLATBUFFERS_INCLUDE_DIR})
        endif()
    endif()
endmacro()

# gcc turns choices between numbers into branches, which it does not make vectors of. Without these passes it does not, and where floats
# may not trap, it computes both sides of a choice.
set(TILEWRIGHT_NETWORK_C_OPTIONS_GNU -fno-thread-jumps -fno-tree-sink -fno-trapping-math)

# tilewright_add_network_tool(NAME [MACHINE file.hpp CHIP qualified::variable])
#
# Makes an executable NAME that prints networks: NAME --print model.onnx model.tflite …
# Where Halide is found, it also writes networks as C for a chip, says where each layer runs, and runs them on the emulated chip: see
# docs/reference/networks.md.
#
#   MACHINE   a header with the chip; without it, networks run on this processor
#   CHIP      a variable of this header, of type tilewright::imported::chip, with its namespaces
function(tilewright_add_network_tool name)
    set(call "tilewright_add_network_tool(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MACHINE;CHIP" "")
    _tilewright_check_chip("a target" "${name}")
    _tilewright_network_tool(${name})
endfunction()

# The tool, for the header and the variable of a chip if there is one. Without checks, and so for any name.
function(_tilewright_network_tool name)
    tilewright_find_network_readers(QUIET)
    if(NOT TARGET tilewright::network_readers)
        message(FATAL_ERROR "${call}: what reads networks is not found; install it (Debian: libonnx-dev libprotobuf-dev libflatbuffers-dev)")
    endif()
    tilewright_find_halide(QUIET)
    _tilewright_tool_objects(objects network_tool)
    add_executable(${name} $<TARGET_OBJECTS:${objects}>)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PRIVATE tilewright::network_readers)
    if(NOT TARGET tilewright::halide)
        return()
    endif()
    target_link_libraries(${name} PRIVATE tilewright::halide ${CMAKE_DL_LIBS})
    if(NOT DEFINED ARG_CHIP)
        _tilewright_tool_objects(subject network_of_tool)  # the same for all
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:${subject}>)
        return()
    endif()
    set(subject ${CMAKE_CURRENT_BINARY_DIR}/${name}.of_tool.cpp)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/network_of_tool.cpp.in ${subject} @ONLY)
    # An object library of its own: the emulator's semantics are among it, and they are optimised.
    add_library(${name}.of_tool OBJECT ${subject} ${header})
    target_link_libraries(${name}.of_tool PRIVATE tilewright::tilewright)
    _tilewright_compile_semantics(${subject})
    target_link_libraries(${name} PRIVATE ${name}.of_tool)
endfunction()

# What both functions ask of MACHINE and CHIP, and of their other arguments. Sets `header` where there is a chip.
macro(_tilewright_check_chip becomes usage)
    if(DEFINED ARG_MACHINE OR DEFINED ARG_CHIP)
        _tilewright_check_words("${becomes}" "${usage} MACHINE file.hpp CHIP qualified::variable" ${ARGN} MACHINE CHIP)
        set(ARG_HEADER ${ARG_MACHINE})
        _tilewright_find_header()
    else()
        _tilewright_check_words("${becomes}" "${usage}" ${ARGN})
    endif()
endmacro()

# tilewright_add_network(NAME MODEL model.onnx|model.tflite [MACHINE file.hpp CHIP qualified::variable] [C_INCLUDES header…]
#                        [STATES input=output…] [EXTENTS name=number…] [FILES variable] [REPORT variable] [SOURCE_ONLY])
#
# Makes a static library NAME with the C function NAME, declared in "NAME.h", which runs a trained network. See docs/reference/networks.md.
#
#   MODEL     its file, relative to the current source directory
#   MACHINE   a header with the chip that it runs on; without it, the network runs on this processor
#   CHIP      a variable of this header, of type tilewright::imported::chip, with its namespaces
#   C_INCLUDES    headers of the user's that the C source includes first
#   STATES    inputs and outputs that are one place: what a run leaves there, the next run reads
#   EXTENTS   numbers of extents that the model leaves to run time: of one, by its name, or all of an input, as input=1,3,224,224
#   FILES     the named variable receives the folder in which NAME.h, NAME.c, NAME.layers and the weights lie
#   REPORT    the named variable receives the path of NAME.html, a page that shows the plan
#   SOURCE_ONLY   the files are written and not compiled
function(tilewright_add_network name)
    set(call "tilewright_add_network(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "SOURCE_ONLY" "MODEL;MACHINE;CHIP;FILES;REPORT" "C_INCLUDES;STATES;EXTENTS")
    _tilewright_check_chip("a word of C" "${name} MODEL model.onnx" MODEL)
    get_filename_component(model "${ARG_MODEL}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    # Another rule of the project may write it.
    get_source_file_property(generated ${model} GENERATED)
    if(NOT generated AND (NOT EXISTS ${model} OR IS_DIRECTORY ${model}))
        message(FATAL_ERROR "${call}: MODEL ${model} does not exist")
    endif()
    string(LENGTH ${name} letters)
    if(letters GREATER 23)
        message(FATAL_ERROR "${call}: the name has ${letters} letters; it can have 23")
    endif()
    foreach(state IN LISTS ARG_STATES)
        if(NOT state MATCHES "^[^=]+=[^=]+$")
            message(FATAL_ERROR "${call}: STATES has \"${state}\"; write input=output")
        endif()
    endforeach()
    _tilewright_need_tools()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.network)
    # One for all networks of a chip.
    set(tool tilewright.network_tool)
    if(DEFINED ARG_CHIP)
        string(MD5 key "${header};${ARG_CHIP}")
        string(SUBSTRING ${key} 0 8 key)
        set(tool ${tool}.${key})
    endif()
    if(NOT TARGET ${tool})
        _tilewright_network_tool(${tool})
        set_target_properties(${tool} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    set(options)
    foreach(state IN LISTS ARG_STATES)
        list(APPEND options --state ${state})
    endforeach()
    foreach(extent IN LISTS ARG_EXTENTS)
        list(APPEND options --extent ${extent})
    endforeach()
    set(sources ${directory}/${name}.c ${directory}/${name}_weights.c)
    add_custom_command(OUTPUT ${directory}/${name}.h ${sources} ${directory}/${name}.html ${directory}/${name}.layers
        COMMAND ${tool} --c ${directory} ${name} ${model} ${ARG_C_INCLUDES} ${options}
        DEPENDS ${tool} ${model}
        COMMENT "Writing the network ${name} as C"
        VERBATIM)
    if(ARG_SOURCE_ONLY)
        add_custom_target(${name} ALL DEPENDS ${directory}/${name}.h ${sources})
    else()
        add_library(${name} STATIC ${sources} ${directory}/${name}.h)
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 C_EXTENSIONS OFF)
        target_compile_options(${name} PRIVATE "$<$<C_COMPILER_ID:GNU>:${TILEWRIGHT_NETWORK_C_OPTIONS_GNU}>")
        target_include_directories(${name} PUBLIC ${directory}
            PRIVATE $<TARGET_PROPERTY:tilewright::tilewright,INTERFACE_INCLUDE_DIRECTORIES>)
    endif()
    if(DEFINED ARG_FILES)
        set(${ARG_FILES} ${directory} PARENT_SCOPE)
    endif()
    if(DEFINED ARG_REPORT)
        set(${ARG_REPORT} ${directory}/${name}.html PARENT_SCOPE)
    endif()
endfunction()
