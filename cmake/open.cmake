# open.cmake - two libraries that are never installed, both without the version script, so that tests reach every function.
#
# tacit_open is the objects of the library as users get it: the tests and benches link it.
add_library(tacit_open SHARED $<TARGET_OBJECTS:tacit_objects>)
target_link_libraries(tacit_open PUBLIC tct_flags)
add_dependencies(tacit_open tacit_objects)

# tacit_points is the same sources with the fault points (src/core/point.h) and the audit's watch (src/mech/watch.h).
# It takes the place of tacit_open in a test that is to fail, and tacit-audit is the program that watches and forces.
option(TCT_POINTS "build the library with the fault points, and tacit-audit" ON)
if(TCT_TESTS AND TCT_POINTS)
  add_library(tacit_points SHARED ${TCT_SOURCES})
  target_link_libraries(tacit_points PUBLIC tct_flags)
  target_compile_definitions(tacit_points PRIVATE TCT_POINTS)
  target_include_directories(tacit_points PRIVATE ${CMAKE_SOURCE_DIR}/tests/privacy)
  add_executable(tacit_audit ${TCT_CLI})
  target_link_libraries(tacit_audit PRIVATE tacit_points)
  set_target_properties(tacit_audit PROPERTIES OUTPUT_NAME tacit-audit)
endif()
