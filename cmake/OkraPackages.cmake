# Debian packages, one per component of OkraInstall.cmake and one for Python. `make deb`
# configures a build of its own for /usr and calls CPack there.
set(okra_deb_library libokra${okra_soversion})
set(okra_deb_development libokra-dev)
set(okra_deb_program okra)
set(okra_deb_python python3-okra)
set(CPACK_COMPONENTS_ALL library development program python)

# The Python package finds the library and the headers beside itself.
set(okra_python_dir lib/python3/dist-packages/okra)
set(okra_python_link ${CMAKE_CURRENT_BINARY_DIR}/install/python/libokra.so)
file(RELATIVE_PATH okra_python_target /${okra_python_dir}
     /${CMAKE_INSTALL_LIBDIR}/libokra.so.${okra_soversion})
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/install/python)
file(CREATE_LINK ${okra_python_target} ${okra_python_link} SYMBOLIC)
set(okra_python_part COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY python/okra/ DESTINATION ${okra_python_dir} ${okra_python_part}
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY python/okra_report DESTINATION lib/python3/dist-packages ${okra_python_part}
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY include/okra/ DESTINATION ${okra_python_dir}/include ${okra_python_part}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${okra_python_link} DESTINATION ${okra_python_dir} ${okra_python_part})

# Who builds on okra needs what okra was built on.
file(STRINGS packages.txt okra_deb_needs REGEX "^[a-z0-9.+-]+-dev$")
list(JOIN okra_deb_needs ", " okra_deb_needs)
set(okra_deb_same "${okra_deb_library} (= ${PROJECT_VERSION})")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/dist)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "the okra developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${okra_deb_same}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS
    "python3-matplotlib, python3-jinja2, python3-networkx") # for okra report
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${okra_deb_same}, ${okra_deb_needs}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS gfortran)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${okra_deb_same}, python3 (>= 3.9), python3-numpy (>= 1:1.24)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS
    "python3-sklearn, python3-scipy, python3-liac-arff, python3-h5py, python3-matplotlib, python3-jinja2, python3-networkx")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb/prerm)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program okra, its manual and completions")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static library, CMake and pkg-config files")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python package, with estimators for scikit-learn")
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${okra_deb_${component}})
    install(FILES LICENSE DESTINATION share/doc/${okra_deb_${component}} RENAME copyright
            COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
