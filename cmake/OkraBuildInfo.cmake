# build_info.h for src/core/version.c: flags, sanitizers, versions of the libraries.
string(TOUPPER "${CMAKE_BUILD_TYPE}" okra_type)
string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${okra_type}}" okra_info_flags)
string(REGEX REPLACE "[\"\\\\]" "'" okra_info_flags "${okra_info_flags}")
if(okra_info_flags STREQUAL "")
    set(okra_info_flags none)
endif()
set(okra_info_sanitize ${OKRA_SANITIZE})
if(NOT OKRA_SANITIZE)
    set(okra_info_sanitize none)
endif()
# LIBSVM has no pkg-config file; its header says 325 for version 3.25.
file(STRINGS ${SVM_INCLUDE}/libsvm/svm.h okra_info_svm REGEX "^#define LIBSVM_VERSION")
string(REGEX REPLACE "^.* ([0-9]+)([0-9][0-9])[^0-9]*$" "\\1.\\2" okra_info_svm
       "${okra_info_svm}")
configure_file(cmake/build_info.h.in ${CMAKE_CURRENT_BINARY_DIR}/private/build_info.h @ONLY)
