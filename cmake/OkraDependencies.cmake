# The libraries okra stands on, all permissive: OpenBLAS and LAPACKE (BSD), zlib, jansson
# (MIT), expat (MIT), libLBFGS (MIT), LIBSVM (BSD). Made: okra_dependencies, the target
# that links them all. The installed package reads this file too, for those who link the
# static library.
set(okra_modules OPENBLAS openblas LAPACKE lapacke ZLIB zlib JANSSON jansson
    LBFGS liblbfgs EXPAT expat)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(NOT TARGET okra_dependencies)
    add_library(okra_dependencies INTERFACE IMPORTED)
    set(okra_list ${okra_modules})
    while(okra_list)
        list(POP_FRONT okra_list okra_prefix okra_module)
        pkg_check_modules(${okra_prefix} REQUIRED IMPORTED_TARGET ${okra_module})
        set_property(TARGET okra_dependencies APPEND PROPERTY
            INTERFACE_LINK_LIBRARIES PkgConfig::${okra_prefix})
    endwhile()
    find_path(SVM_INCLUDE libsvm/svm.h REQUIRED)
    find_library(SVM_LIBRARY svm REQUIRED)
    mark_as_advanced(SVM_INCLUDE SVM_LIBRARY)
    set_property(TARGET okra_dependencies APPEND PROPERTY
        INTERFACE_LINK_LIBRARIES ${SVM_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
    set_property(TARGET okra_dependencies APPEND PROPERTY
        INTERFACE_INCLUDE_DIRECTORIES ${SVM_INCLUDE})
endif()
