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
