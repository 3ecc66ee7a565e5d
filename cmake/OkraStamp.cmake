# stamp.h for papers/stamp.c: which commit was built, and a digest of the sources that
# results depend on. Included, it makes the target; run as a script at every build, it
# writes the header anew only where something changed.
if(NOT CMAKE_SCRIPT_MODE_FILE)
    add_custom_target(okra_stamp
        COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_SOURCE_DIR}
            -DHEADER=${CMAKE_CURRENT_BINARY_DIR}/private/stamp.h
            -P ${CMAKE_CURRENT_LIST_FILE}
        BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/private/stamp.h
        COMMENT "" VERBATIM)
    return()
endif()

cmake_minimum_required(VERSION 3.18)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/include/*.h
     ${ROOT}/papers/*.[ch])
list(FILTER files EXCLUDE REGEX "papers/(claims|catalogue)") # read results, make none
list(SORT files)
set(all "")
foreach(file ${files})
    file(SHA256 ${ROOT}/${file} one)
    string(APPEND all "${file} ${one}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
execute_process(COMMAND git -C ${ROOT} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
    set(commit unknown)
else()
    execute_process(COMMAND git -C ${ROOT} status --porcelain -- src include papers
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
        string(APPEND commit "+changes")
    endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/stamp.h.in ${HEADER} @ONLY)
