# Switches, compiler flags and warnings: the target okra_flags carries them all.
option(OKRA_TESTS "build the tests" ON)
option(OKRA_BENCH "build the benchmarks" ON)
option(OKRA_WERROR "treat warnings as errors" OFF)
set(OKRA_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")

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
    -Wswitch-enum -Wdouble-promotion)

add_library(okra_flags INTERFACE)
target_compile_definitions(okra_flags INTERFACE _GNU_SOURCE)
target_compile_options(okra_flags INTERFACE -fno-math-errno ${okra_warnings})
if(OKRA_WERROR)
    target_compile_options(okra_flags INTERFACE -Werror)
endif()
if(OKRA_SANITIZE)
    target_compile_options(okra_flags INTERFACE -fsanitize=${OKRA_SANITIZE}
        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(okra_flags INTERFACE -fsanitize=${OKRA_SANITIZE})
endif()
