# A Python that imports NumPy, for tests and benchmarks against peers. Debian's own comes
# first: another one in PATH often lacks the packages that apt installed. OKRA_PYTHON is
# empty when there is none; tests that need it then say that they were skipped.
if(NOT OKRA_PYTHON)
    foreach(candidate /usr/bin/python3 python3 python)
        find_program(okra_candidate ${candidate} NO_CACHE)
        if(okra_candidate)
            execute_process(COMMAND ${okra_candidate} -c "import numpy"
                RESULT_VARIABLE okra_failed OUTPUT_QUIET ERROR_QUIET)
            if(okra_failed EQUAL 0)
                set(OKRA_PYTHON ${okra_candidate} CACHE FILEPATH
                    "a Python with NumPy, for tests; empty: look for one" FORCE)
                break()
            endif()
        endif()
        unset(okra_candidate)
        unset(okra_candidate CACHE) # CMake before 3.21 knows no NO_CACHE
    endforeach()
endif()
