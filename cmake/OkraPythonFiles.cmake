# The Python package as Debian's python3-okra has it: component `python`, which is not installed
# with the others. The folder debian/ makes the packages.
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
