# Installation: headers, both libraries, the program, its man pages and completions, a
# CMake package and a pkg-config file. Both find their own place, so that the installed
# tree may be moved and `cmake --install build --prefix P` needs no second configuring.
# Each file belongs to one component; debian/ makes packages of them.
include(CMakePackageConfigHelpers)
set(okra_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/okra)
set(okra_made ${CMAKE_CURRENT_BINARY_DIR}/install)

install(DIRECTORY include/okra ${CMAKE_CURRENT_BINARY_DIR}/include/okra
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "program.h" EXCLUDE)
foreach(kind shared static)
    install(TARGETS okra_${kind} EXPORT okra-${kind}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
                NAMELINK_COMPONENT development)
    install(EXPORT okra-${kind} NAMESPACE okra:: FILE okra-${kind}.cmake
            DESTINATION ${okra_cmake_dir} COMPONENT development)
endforeach()
if(TARGET okra_program)
    install(TARGETS okra_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT program)
    # What draws its pages, started by the system's Python.
    set(okra_report_python "/usr/bin/env python3")
    file(RELATIVE_PATH okra_report_place ${CMAKE_INSTALL_FULL_BINDIR}
         ${CMAKE_INSTALL_FULL_DATADIR}/okra)
    set(okra_python_library "")
    set(okra_python_name okra-report)
    set(okra_python_module okra_report.main)
    configure_file(cmake/okra-python.in ${okra_made}/okra-report @ONLY)
    install(PROGRAMS ${okra_made}/okra-report DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT program)
    install(DIRECTORY python/okra_report DESTINATION ${CMAKE_INSTALL_DATADIR}/okra
            COMPONENT program PATTERN __pycache__ EXCLUDE)
endif()
# What the program says of itself: share/man, share/bash-completion, share/zsh.
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
        COMPONENT program OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md VERSIONING.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT program)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

configure_package_config_file(cmake/okra-config.cmake.in ${okra_made}/okra-config.cmake
    INSTALL_DESTINATION ${okra_cmake_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(${okra_made}/okra-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${okra_made}/okra-config.cmake ${okra_made}/okra-config-version.cmake
        cmake/OkraDependencies.cmake DESTINATION ${okra_cmake_dir} COMPONENT development)

set(okra_pc_requires ${okra_modules})
list(FILTER okra_pc_requires EXCLUDE REGEX "^[A-Z]+$")
list(JOIN okra_pc_requires " " okra_pc_requires)
file(RELATIVE_PATH okra_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/okra.pc.in ${okra_made}/okra.pc @ONLY)
install(FILES ${okra_made}/okra.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
