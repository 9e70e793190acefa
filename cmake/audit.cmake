# audit.cmake - the library and the program that are built for audit: releases can be watched and forced (mech/watch.h).
# They are the sources of the library; the gate and the watch alone are compiled again.  Never installed.
set(TCT_WATCHED ${CMAKE_SOURCE_DIR}/src/mech/mech.c ${CMAKE_SOURCE_DIR}/src/mech/watch.c)
add_library(tacit_watched OBJECT ${TCT_WATCHED})
target_link_libraries(tacit_watched PUBLIC tct_flags)
target_compile_definitions(tacit_watched PRIVATE TCT_AUDIT)
set(TCT_UNWATCHED "$<FILTER:$<TARGET_OBJECTS:tacit_objects>,EXCLUDE,mech/mech[.]c|mech/watch[.]c>")

add_library(tacit_for_audit SHARED ${TCT_UNWATCHED} $<TARGET_OBJECTS:tacit_watched>)
target_link_libraries(tacit_for_audit PRIVATE tct_flags)
set_target_properties(tacit_for_audit PROPERTIES OUTPUT_NAME tacit_audit LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/tacit.map)
target_link_options(tacit_for_audit PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/tacit.map)
add_dependencies(tacit_for_audit tacit_objects)

# The watched objects come first, and take the place of the archive's own.
add_executable(tacit_audit ${TCT_CLI} $<TARGET_OBJECTS:tacit_watched>)
target_link_libraries(tacit_audit PRIVATE tacit_static)
set_target_properties(tacit_audit PROPERTIES OUTPUT_NAME tacit-audit)
