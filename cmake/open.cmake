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
  # Compiled twice are the sources that have points, or limits or eyes that only the second library has, or include a
  # header with them: a quarter.  In all others TCT_NO_POINTS makes a point an error, and a new row of the table looks again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/privacy/points.def)
  file(GLOB_RECURSE TCT_HEADERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.h ${CMAKE_SOURCE_DIR}/extra/*.h)
  list(FILTER TCT_HEADERS EXCLUDE REGEX "/(core/(point|status)|mech/gate)\\.h$") # they define what is looked for
  set(TCT_MARK "TCT_(POINT|LIMIT)\\(|TCT_POINTS|tct_gate_(watch|force_batch)")
  set(more TRUE)
  while(more)
    set(more FALSE)
    foreach(header ${TCT_HEADERS})
      file(STRINGS ${header} found REGEX "${TCT_MARK}" LIMIT_COUNT 1)
      if(found)
        get_filename_component(name ${header} NAME)
        string(APPEND TCT_MARK "|#include \"([a-z_/]*/)?${name}\"")
        list(REMOVE_ITEM TCT_HEADERS ${header})
        set(more TRUE)
      endif()
    endforeach()
  endwhile()
  set(TCT_TWICE)
  foreach(source ${TCT_SOURCES})
    file(STRINGS ${source} found REGEX "${TCT_MARK}" LIMIT_COUNT 1)
    if(found)
      file(RELATIVE_PATH source ${CMAKE_SOURCE_DIR} ${source})
      list(APPEND TCT_TWICE ${source})
    else()
      set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS TCT_NO_POINTS)
    endif()
  endforeach()
  list(JOIN TCT_TWICE "|" again)
  add_library(tacit_points SHARED ${TCT_TWICE} "$<FILTER:$<TARGET_OBJECTS:tacit_objects>,EXCLUDE,/(${again})[.]o$>")
  target_link_libraries(tacit_points PUBLIC tct_flags)
  target_compile_definitions(tacit_points PRIVATE TCT_POINTS)
  target_include_directories(tacit_points PRIVATE ${CMAKE_SOURCE_DIR}/tests/privacy)
  add_executable(tacit_audit $<TARGET_OBJECTS:tacit>)
  target_link_libraries(tacit_audit PRIVATE tacit_points)
  set_target_properties(tacit_audit PROPERTIES OUTPUT_NAME tacit-audit LINKER_LANGUAGE C)
endif()
