# The Debian package that scripts/package makes: the program, and what that script has staged beside it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(TARGETS fairlead RUNTIME DESTINATION bin)
install(DIRECTORY ${PROJECT_BINARY_DIR}/staged/ DESTINATION . USE_SOURCE_PERMISSIONS)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fairlead)
set(CPACK_PACKAGE_VENDOR Fairlead)
set(CPACK_PACKAGE_CONTACT "Fairlead maintainers <maintainers@fairlead.io>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps Kueue quotas true to the capacity of clusters")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "An event-sourced reconciliation engine for the hub of a Kubernetes fleet. It
writes what happened and what it decided into a durable, hash-chained log, and
answers from it why a quota was what it was.
.
The program is a kubectl plugin, too. A systemd unit for a hub outside of a
cluster is included and not enabled.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS kubectl)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
