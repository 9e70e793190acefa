# install.cmake - what `cmake --install` puts where: header, libraries, program, pkg-config and CMake packages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TCT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tacit)

target_include_directories(tacit_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(tacit_shared PROPERTIES EXPORT_NAME tacit)
install(TARGETS tacit_shared EXPORT tacitTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tacit_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tacit_tls)
  install(TARGETS tacit_tls LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET tacit_mpi)
  install(TARGETS tacit_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES ${CMAKE_SOURCE_DIR}/include/tacit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tacitTargets NAMESPACE tacit:: DESTINATION ${TCT_CMAKE_DIR})
if(TARGET tacit)
  install(TARGETS tacit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The package's own place says where it was installed, so that the tree may be moved.
set(TCT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH TCT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" TCT_PC_UP "${TCT_PC_UP}")
  set(TCT_PC_PREFIX "\${pcfiledir}/${TCT_PC_UP}")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/tacit.pc.in ${CMAKE_BINARY_DIR}/tacit.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tacit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tacitConfig.cmake.in ${CMAKE_BINARY_DIR}/tacitConfig.cmake
  INSTALL_DESTINATION ${TCT_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tacitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tacitConfig.cmake ${CMAKE_BINARY_DIR}/tacitConfigVersion.cmake
  DESTINATION ${TCT_CMAKE_DIR})
