# Switches, compiler flags and warnings: the target okra_flags carries them all.
option(OKRA_TESTS "build the tests" ON)
option(OKRA_BENCH "build the benchmarks" ON)
option(OKRA_WERROR "treat warnings as errors" OFF)
option(OKRA_FUZZ "build the fuzz targets with libFuzzer (clang only)" OFF)
set(OKRA_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")
set(OKRA_CUDA AUTO CACHE STRING "the engine cuda: AUTO (where nvcc is found), ON or OFF")
set(OKRA_MPI AUTO CACHE STRING "the engine mpi: AUTO (where MPI and ScaLAPACK are found), ON or OFF")
set(OKRA_PYTHON "" CACHE FILEPATH "a Python with NumPy, for tests; empty: look for one")

# A switch nobody reads tests nothing: an unknown one is an error. It is forgotten at once,
# so that the next run without it works.
get_cmake_property(okra_cached CACHE_VARIABLES)
foreach(name ${okra_cached})
    if(name MATCHES "^OKRA_" AND
       NOT name MATCHES "^OKRA_(TESTS|BENCH|WERROR|FUZZ|SANITIZE|CUDA|MPI|PYTHON)$")
        unset(${name} CACHE)
        message(FATAL_ERROR "unknown switch ${name}; the switches are OKRA_TESTS, OKRA_BENCH, "
            "OKRA_WERROR, OKRA_FUZZ, OKRA_SANITIZE, OKRA_CUDA, OKRA_MPI and OKRA_PYTHON")
    endif()
endforeach()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG -g1")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(okra_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wwrite-strings -Wformat=2
    -Wswitch-enum -Wno-unused-parameter) # callbacks need not use all that they are given
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Of clang it would refuse NAN and INFINITY, which the C library has as floats.
    list(APPEND okra_warnings -Wdouble-promotion)
else()
    # Whole constants are enumerators here, of type int in C; from version 18 on -Wextra takes
    # one beside a double for C++'s mistake.
    list(APPEND okra_warnings -Wno-enum-float-conversion)
endif()

# Without sanitizers: for programs that run inside limits of their own.
add_library(okra_plain_flags INTERFACE)
target_compile_definitions(okra_plain_flags INTERFACE _GNU_SOURCE)
target_compile_options(okra_plain_flags INTERFACE -fno-math-errno ${okra_warnings})
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # A library that is found but not used yet does not become a need of libokra.so.
    target_link_options(okra_plain_flags INTERFACE -Wl,--as-needed)
endif()
if(OKRA_WERROR)
    target_compile_options(okra_plain_flags INTERFACE -Werror)
endif()
include(OkraHardening)
add_library(okra_flags INTERFACE)
target_link_libraries(okra_flags INTERFACE okra_plain_flags)
if(OKRA_SANITIZE)
    target_compile_options(okra_flags INTERFACE -fsanitize=${OKRA_SANITIZE}
        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(okra_flags INTERFACE -fsanitize=${OKRA_SANITIZE})
endif()
if(OKRA_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "OKRA_FUZZ needs clang (found ${CMAKE_C_COMPILER_ID}): "
            "configure with -DCMAKE_C_COMPILER=clang")
    endif()
    target_compile_options(okra_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(okra_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
