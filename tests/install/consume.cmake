# Installs the project into an empty prefix, then configures, builds and tests the consumer against that prefix.
file(REMOVE_RECURSE ${work})
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G ${generator} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/consumer
    -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_C_COMPILER=${c_compiler}
    -D CMAKE_CXX_COMPILER=${cxx_compiler}
    -D CMAKE_PREFIX_PATH=${work}/prefix
    -D Halide_DIR=${Halide_DIR}
    -D Boost_DIR=${Boost_DIR})
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${CMAKE_CTEST_COMMAND} --test-dir ${work}/consumer --output-on-failure)
