# Programs beside the library that it starts for one task, with libraries of their own.
# okra-mat reads MATLAB files through matio, which drags HDF5 and the network libraries of
# HDF5 along; without matio okra is whole but for .mat files.
set(okra_plugin_dir ${CMAKE_INSTALL_LIBDIR}/okra)

pkg_check_modules(MATIO IMPORTED_TARGET matio)
if(MATIO_FOUND)
    add_library(okra_mat_objects OBJECT plugins/mat/read.c)
    target_include_directories(okra_mat_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src
        ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_link_libraries(okra_mat_objects PUBLIC okra_plain_flags PkgConfig::MATIO)
    add_executable(okra_mat plugins/mat/main.c plugins/mat/sandbox.c)
    set_target_properties(okra_mat PROPERTIES OUTPUT_NAME okra-mat)
    target_link_libraries(okra_mat PRIVATE okra_mat_objects)
    install(TARGETS okra_mat RUNTIME DESTINATION ${okra_plugin_dir} COMPONENT library)
else()
    set(MATIO_VERSION "not there, no .mat files")
    message(STATUS "matio is not installed: no okra-mat, .mat files will not be read")
endif()
