# What benchmarks and tests share: run_network, a library that imports networks, plans them and writes them as C; drawn_networks, which
# compares some with ONNX Runtime; and onnx_nodes, an object of the benchmark `onnx`. None is worth more than -O1: they take longer to compile
# than they run. Tests spend most of their time in the compiler of what is generated, so they do without.
include_guard(GLOBAL)

set(run_network_option -O$<IF:$<BOOL:${TILEWRIGHT_OPTIMISED}>,1,0>)
# Where generated C finds the functions of this processor, and what projects compile it with.
list(JOIN TILEWRIGHT_NETWORK_C_OPTIONS_GNU " " c_options)
set(definitions RUN_NETWORK_C_INCLUDES="${PROJECT_SOURCE_DIR}/include" RUN_NETWORK_C_OPTIONS="${c_options}")
if(TILEWRIGHT_TESTS_TOGETHER)
    # Nearly all of run_network.cpp is what the tool that writes networks is made of, too. Here both are one object, so the tool's function
    # main has another name, and is called by one in an object of its own.
    _tilewright_tool_objects(tool network_tool)
    _tilewright_tool_objects(chip network_of_tool)
    set(together ${PROJECT_BINARY_DIR}/network_together.cpp)
    file(CONFIGURE OUTPUT ${together} CONTENT [[
#include "@CMAKE_CURRENT_LIST_DIR@/run_network.cpp"
#define main main_of_network_tool
#include "@PROJECT_SOURCE_DIR@/cmake/network_tool.cpp"
]] @ONLY)
    set(main ${PROJECT_BINARY_DIR}/network_together_main.cpp)
    file(CONFIGURE OUTPUT ${main} CONTENT [[
int main_of_network_tool(int count, char** arguments);
int main(int count, char** arguments) { return main_of_network_tool(count, arguments); }
]] @ONLY)
    set_target_properties(${tool} PROPERTIES SOURCES "${together};${main}")
    target_compile_definitions(${tool} PRIVATE ${definitions})
    add_library(run_network STATIC EXCLUDE_FROM_ALL
        $<FILTER:$<TARGET_OBJECTS:${tool}>,EXCLUDE,network_together_main> $<TARGET_OBJECTS:${chip}>)
    set_target_properties(run_network PROPERTIES LINKER_LANGUAGE CXX)
else()
    add_library(run_network STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/run_network.cpp)
    target_compile_options(run_network PRIVATE ${run_network_option})
endif()
target_link_libraries(run_network PUBLIC tilewright::network_readers tilewright::halide ${CMAKE_DL_LIBS})
target_compile_definitions(run_network PUBLIC ${definitions})

add_library(drawn_networks STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/drawn_networks.cpp)
target_link_libraries(drawn_networks PUBLIC run_network)
target_compile_options(drawn_networks PRIVATE ${run_network_option})

add_library(onnx_nodes OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
target_link_libraries(onnx_nodes PUBLIC drawn_networks)
target_compile_options(onnx_nodes PRIVATE ${run_network_option})
