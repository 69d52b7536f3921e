# Installs the project into an empty prefix, which is then moved. A program that only plans is compiled with what pkg-config says, and runs.
# Arguments: build, work, version, pkg_config, compilers.
file(REMOVE_RECURSE ${work})
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/made_here OUTPUT_QUIET)
file(RENAME ${work}/made_here ${work}/prefix)
set(ENV{PKG_CONFIG_PATH} ${work}/prefix/share/pkgconfig)

execute_process(COMMAND ${pkg_config} --modversion tilewright OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL "${version}\n")
    message(FATAL_ERROR "pkg-config says version ${said}")
endif()
foreach(compiler IN LISTS compilers)
    run(sh -c "${compiler} $(${pkg_config} --cflags tilewright) -I consumer plan_only/main.cpp -o ${work}/app" WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
    execute_process(COMMAND ${work}/app OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    if(NOT said STREQUAL "tilewright ${version}: 1024 bytes\n")
        message(FATAL_ERROR "the program says ${said}")
    endif()
endforeach()
