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

# tilewright_add_network_tool(NAME)
#
# Makes an executable NAME that prints networks: NAME --print model.onnx model.tflite …
# Where Halide is found, it also writes a network as C: NAME --c FOLDER IDENTIFIER model.onnx|model.tflite
function(tilewright_add_network_tool name)
    if(ARGN)
        message(FATAL_ERROR "tilewright_add_network_tool(${name}): unknown arguments: ${ARGN}")
    endif()
    tilewright_find_network_readers(QUIET)
    if(NOT TARGET tilewright::network_readers)
        message(FATAL_ERROR "tilewright_add_network_tool(${name}): what reads networks is not found; install it "
            "(Debian: libonnx-dev libprotobuf-dev libflatbuffers-dev)")
    endif()
    add_executable(${name} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/network_tool.cpp)
    target_link_libraries(${name} PRIVATE tilewright::network_readers)
    tilewright_find_halide(QUIET)
    if(TARGET tilewright::halide)
        target_link_libraries(${name} PRIVATE tilewright::halide)
        target_compile_definitions(${name} PRIVATE TILEWRIGHT_NETWORK_TOOL_WRITES_C)
    endif()
endfunction()

# tilewright_add_network(NAME MODEL model.onnx|model.tflite [FILES variable] [REPORT variable] [SOURCE_ONLY])
#
# Makes a static library NAME with the C function NAME, declared in "NAME.h", which runs a trained network on one processor. See
# docs/reference/networks.md.
#
#   MODEL     its file, relative to the current source directory
#   FILES     the named variable receives the folder in which NAME.h, NAME.c, NAME_weights.c and NAME_weights.bin lie
#   REPORT    the named variable receives the path of NAME.html, a page that shows the plan
#   SOURCE_ONLY   the files are written and not compiled
function(tilewright_add_network name)
    set(call "tilewright_add_network(${name})")
    cmake_parse_arguments(PARSE_ARGV 1 ARG "SOURCE_ONLY" "MODEL;FILES;REPORT" "")
    _tilewright_check_words("a word of C" "${name} MODEL model.onnx" MODEL)
    get_filename_component(model "${ARG_MODEL}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    # Another rule of the project may write it.
    get_source_file_property(generated ${model} GENERATED)
    if(NOT generated AND NOT EXISTS ${model})
        message(FATAL_ERROR "${call}: MODEL ${model} does not exist")
    endif()
    _tilewright_need_tools()
    if(NOT TARGET tilewright.network_tool)
        tilewright_add_network_tool(tilewright.network_tool)
        set_target_properties(tilewright.network_tool PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.network)
    set(sources ${directory}/${name}.c ${directory}/${name}_weights.c)
    add_custom_command(OUTPUT ${directory}/${name}.h ${sources} ${directory}/${name}.html
        COMMAND tilewright.network_tool --c ${directory} ${name} ${model}
        DEPENDS tilewright.network_tool ${model}
        COMMENT "Writing the network ${name} as C"
        VERBATIM)
    if(ARG_SOURCE_ONLY)
        add_custom_target(${name} ALL DEPENDS ${directory}/${name}.h ${sources})
    else()
        add_library(${name} STATIC ${sources} ${directory}/${name}.h)
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 C_EXTENSIONS OFF)
        target_include_directories(${name} PUBLIC ${directory})
    endif()
    if(DEFINED ARG_FILES)
        set(${ARG_FILES} ${directory} PARENT_SCOPE)
    endif()
    if(DEFINED ARG_REPORT)
        set(${ARG_REPORT} ${directory}/${name}.html PARENT_SCOPE)
    endif()
endfunction()
