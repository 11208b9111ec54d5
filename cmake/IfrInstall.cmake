# SPDX-License-Identifier: Apache-2.0
# What an embedder gets: the library, its two headers, the overlay as a library when it was built, programs, notices.
include(CMakePackageConfigHelpers)

if(NOT TARGET interframe)
  return()
endif()

install(TARGETS interframe EXPORT interframeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY plugin/include/interframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT interframeTargets NAMESPACE interframe:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/interframe)
configure_package_config_file(cmake/interframeConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/interframeConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/interframe)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/interframeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/interframeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/interframeConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/interframe)
install(FILES LICENSE assets/fonts/OFL.txt docs/NOTICES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET interframe_cli)
  install(TARGETS interframe_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET interframe-host)
  install(TARGETS interframe-host RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
