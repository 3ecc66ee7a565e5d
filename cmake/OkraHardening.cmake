# What makes a fault harder to use, and two builds the same bytes; all of it is read off the
# built files by tests/lint/test_binaries.bash.
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# The loader looks in the library's own folder (the build tree) or in lib beside bin (the
# installed tree), and where libraries outside the system's folders were found. CMake's own
# run path of a build tree ends in a separator, that is in an empty element, which the
# loader takes for the current directory: so there is but one run path, the installed one.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

target_compile_options(okra_plain_flags INTERFACE -fstack-protector-strong
    # Names of files in messages and debugging notes do not tell where okra was built.
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=okra -ffile-prefix-map=${CMAKE_BINARY_DIR}=okra/build)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(okra_plain_flags INTERFACE -fstack-clash-protection)
endif()
if(NOT OKRA_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    # The sanitizers check more, and FORTIFY needs an optimising compiler.
    target_compile_options(okra_plain_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(okra_plain_flags INTERFACE -Wl,-z,relro -Wl,-z,now
        -Wl,-z,noexecstack)
endif()
