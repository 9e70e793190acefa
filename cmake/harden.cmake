# harden.cmake - flags against the exploitation of memory errors, and folders that leave no trace in the binaries.
#
# None of them changes the meaning of floating-point arithmetic.
option(TCT_HARDEN "stack protector, FORTIFY, control-flow enforcement, full RELRO, position-independent programs" ON)
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
add_library(tct_hardened INTERFACE)

# Two builds in two folders are the same bytes: paths are relative to the sources and to the build.
check_c_compiler_flag(-ffile-prefix-map=a=b TCT_HAS_PREFIX_MAP)
if(TCT_HAS_PREFIX_MAP)
  target_compile_options(tct_hardened INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()

# Sanitizers have checks of their own, and their stack frames lose the alignment of variables under these flags (gcc 12).
if(TCT_HARDEN AND NOT TCT_SANITIZE)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "TCT_HAS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(tct_hardened INTERFACE ${flag})
    endif()
  endforeach()
  target_link_options(tct_hardened INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
  # FORTIFY needs an optimised build.
  target_compile_options(tct_hardened INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
endif()
