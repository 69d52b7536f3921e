# Brings the library to a project of its own in a way that users have: installs it into an empty prefix, makes a package of Debian, or gives
# its sources. Then configures, builds and tests the project. Arguments: build and tree (of this project), work, project (a folder here),
# options for it, way, generator, CONFIGURE_ONLY.
file(REMOVE_RECURSE ${work})
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(COPY ${CMAKE_CURRENT_LIST_DIR}/${project}/ DESTINATION ${work}/${project})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer/brighten.hpp DESTINATION ${work}/${project})

set(prefix ${work}/prefix)
if(way STREQUAL "deb")
    # As docs/installing.md says. dpkg installs it below a folder, so nobody needs to be root, with the packages that are installed here: what
    # it depends on must be among them.
    run(${CMAKE_COMMAND} -G ${generator} -S ${tree} -B ${work}/packaged ${options}
        -D TILEWRIGHT_BUILD_TESTS=OFF -D TILEWRIGHT_BUILD_EXAMPLES=OFF -D TILEWRIGHT_BUILD_BENCH=OFF)
    run(${cpack} -G DEB --config ${work}/packaged/CPackConfig.cmake -B ${work}/package)
    set(package ${work}/package/libtilewright-dev_${version}_all.deb)
    file(MAKE_DIRECTORY ${work}/root ${work}/packages/info ${work}/packages/updates)
    configure_file(/var/lib/dpkg/status ${work}/packages/status COPYONLY)
    set(dpkg dpkg --admindir=${work}/packages --instdir=${work}/root --force-not-root --log=${work}/dpkg.log)
    run(${dpkg} --install ${package})
    run(${dpkg} --verify libtilewright-dev)
    execute_process(COMMAND dpkg-deb -f ${package} Version Depends OUTPUT_VARIABLE fields COMMAND_ERROR_IS_FATAL ANY)
    if(NOT fields STREQUAL "Version: ${version}\nDepends: libboost-dev (>= 1.74)\n")
        message(FATAL_ERROR "the package says:\n${fields}")
    endif()
    set(prefix ${work}/root/usr)
    set(way find_package)
elseif(way STREQUAL "fetch_git")
    # A repository of the sources as they are now, committed or not.
    foreach(part IN ITEMS CMakeLists.txt LICENSE cmake include)
        file(COPY ${tree}/${part} DESTINATION ${work}/repository)
    endforeach()
    set(tree ${work}/repository)
    run(git init -q -b main ${tree})
    run(git -C ${tree} add .)
    run(git -C ${tree} -c user.name=test -c user.email=test@localhost commit -q -m sources)
elseif(NOT way MATCHES "^(add_subdirectory|fetch_folder)$")
    run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix} OUTPUT_QUIET)
endif()

run(${CMAKE_COMMAND} -G ${generator} -S ${work}/${project} -B ${work}/build
    -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_PREFIX_PATH=${prefix}
    -D way=${way} -D tree=${tree} -D version=${version} ${options})
if(CONFIGURE_ONLY)
    return()
endif()
run(${CMAKE_COMMAND} --build ${work}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${work}/build --output-on-failure --no-tests=error)
