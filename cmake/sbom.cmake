# sbom.cmake - the software bill of materials (SPDX 2.3): what the binaries link or load, with versions and licences.
#
# The time is SOURCE_DATE_EPOCH, or that of the last commit, so that two builds of one state agree.
set(TCT_EPOCH "$ENV{SOURCE_DATE_EPOCH}")
if(NOT TCT_EPOCH AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE TCT_EPOCH ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT TCT_EPOCH MATCHES "^[0-9]+$")
  set(TCT_EPOCH 0)
endif()
set(TCT_OLD_EPOCH "$ENV{SOURCE_DATE_EPOCH}")
set(ENV{SOURCE_DATE_EPOCH} ${TCT_EPOCH})
string(TIMESTAMP TCT_SBOM_TIME "%Y-%m-%dT%H:%M:%SZ" UTC)
if(TCT_OLD_EPOCH STREQUAL "")
  unset(ENV{SOURCE_DATE_EPOCH})
endif()

set(TCT_SBOM_PACKAGES)
set(TCT_SBOM_RELATIONS)
# how: DEPENDS_ON, or OPTIONAL_DEPENDENCY_OF for what is loaded only when it is asked for
function(tct_sbom name version licence how)
  string(REGEX REPLACE "[^A-Za-z0-9]" "-" id ${name})
  string(APPEND TCT_SBOM_PACKAGES ",
    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\",
     \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"}")
  set(from tacit)
  set(to ${id})
  if(how STREQUAL "OPTIONAL_DEPENDENCY_OF")
    set(from ${id})
    set(to tacit)
  endif()
  string(APPEND TCT_SBOM_RELATIONS ",
    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${how}\",
     \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
  set(TCT_SBOM_PACKAGES "${TCT_SBOM_PACKAGES}" PARENT_SCOPE)
  set(TCT_SBOM_RELATIONS "${TCT_SBOM_RELATIONS}" PARENT_SCOPE)
endfunction()
tct_sbom(libsodium "${SODIUM_VERSION}" ISC DEPENDS_ON)
tct_sbom(jansson "${JANSSON_VERSION}" MIT DEPENDS_ON)
tct_sbom(zlib "${ZLIB_VERSION}" Zlib DEPENDS_ON)
tct_sbom(sqlite3 "${SQLITE_VERSION}" blessing DEPENDS_ON)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  tct_sbom(libomp "${CMAKE_C_COMPILER_VERSION}" "Apache-2.0 WITH LLVM-exception" DEPENDS_ON)
else()
  tct_sbom(libgomp "${CMAKE_C_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" DEPENDS_ON)
endif()
tct_sbom(libarchive "${ARCHIVE_VERSION}" BSD-2-Clause OPTIONAL_DEPENDENCY_OF)
if(OPENSSL_FOUND)
  tct_sbom(openssl "${OPENSSL_VERSION}" Apache-2.0 OPTIONAL_DEPENDENCY_OF)
endif()
if(OMPI_FOUND)
  tct_sbom(openmpi "${OMPI_VERSION}" BSD-3-Clause OPTIONAL_DEPENDENCY_OF)
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/tacit.spdx.json.in ${CMAKE_BINARY_DIR}/tacit.spdx.json @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tacit.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tacit)
