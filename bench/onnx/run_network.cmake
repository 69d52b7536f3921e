# What benchmarks and tests share: run_network, a library that imports networks, plans them and writes them as C, and onnx_nodes, an object
# of the benchmark `onnx`. Neither is worth more than -O1: they take longer to compile than they run.
# Tests spend most of their time in the compiler of what is generated, so they do without.
include_guard(GLOBAL)

add_library(run_network STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/run_network.cpp)
target_link_libraries(run_network PUBLIC tilewright::network_readers tilewright::halide ${CMAKE_DL_LIBS})
set(run_network_option -O$<IF:$<BOOL:${TILEWRIGHT_OPTIMISED}>,1,0>)
target_compile_options(run_network PRIVATE ${run_network_option})
# Where generated C finds the functions of this processor, and what projects compile it with.
list(JOIN TILEWRIGHT_NETWORK_C_OPTIONS_GNU " " c_options)
target_compile_definitions(run_network PUBLIC RUN_NETWORK_C_INCLUDES="${PROJECT_SOURCE_DIR}/include" RUN_NETWORK_C_OPTIONS="${c_options}")

add_library(onnx_nodes OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
target_link_libraries(onnx_nodes PUBLIC run_network)
target_compile_options(onnx_nodes PRIVATE ${run_network_option})
