# `cpack -G DEB` in the build directory makes a package of Debian; `cpack -G TGZ` an archive. Both hold what is installed.
set(CPACK_PACKAGE_NAME tilewright)
set(CPACK_PACKAGE_CONTACT "the maintainers of Tilewright")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME tilewright-${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_NAME libtilewright-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libboost-dev (>= 1.74)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake (>= 3.25), libhalide14-0-dev, nlohmann-json3-dev, pkgconf")
# Whatever the umask of who makes the package, everyone can read what it installs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
