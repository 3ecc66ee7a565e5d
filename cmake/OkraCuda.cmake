# The engine `cuda`, libokra-cuda.so: a plugin that nothing else depends on. OKRA_CUDA=AUTO
# builds it where CUDA 12 or newer is found, ON demands it, OFF leaves it out.
function(okra_cuda_missing text)
    if(OKRA_CUDA STREQUAL "ON")
        message(FATAL_ERROR "OKRA_CUDA=ON: ${text}")
    endif()
    message(STATUS "engine cuda: not built: ${text}")
endfunction()

if(NOT OKRA_CUDA MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "OKRA_CUDA=${OKRA_CUDA}: it is AUTO, ON or OFF")
endif()
if(OKRA_CUDA STREQUAL "OFF" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
endif()
if(OKRA_SANITIZE OR OKRA_FUZZ)
    okra_cuda_missing("sanitizers and fuzzers do not see what runs on a GPU")
    return()
endif()
find_program(NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
find_program(NVCC_HOST g++)
mark_as_advanced(NVCC NVCC_HOST)
if(NOT NVCC OR NOT NVCC_HOST)
    okra_cuda_missing("nvcc, the compiler of CUDA, or g++, which it needs, was not found")
    return()
endif()
execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE okra_nvcc_version ERROR_QUIET)
string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" okra_nvcc_version "${okra_nvcc_version}")
set(okra_nvcc_version "${CMAKE_MATCH_1}")
if(NOT okra_nvcc_version OR okra_nvcc_version VERSION_LESS 12.0)
    okra_cuda_missing("${NVCC} is of CUDA '${okra_nvcc_version}', 12.0 or newer is needed")
    return()
endif()
get_filename_component(okra_cuda_root ${NVCC} REALPATH)
get_filename_component(okra_cuda_root ${okra_cuda_root}/../.. ABSOLUTE)
set(okra_cuda_places ${okra_cuda_root} ${okra_cuda_root}/targets/x86_64-linux)
find_path(CUDA_INCLUDE cusolverDn.h HINTS ${okra_cuda_places} PATH_SUFFIXES include)
foreach(library cublas cusolver cudart_static)
    find_library(CUDA_${library} ${library} HINTS ${okra_cuda_places}
        PATH_SUFFIXES lib64 lib)
    mark_as_advanced(CUDA_${library})
endforeach()
mark_as_advanced(CUDA_INCLUDE)
if(NOT CUDA_INCLUDE OR NOT CUDA_cublas OR NOT CUDA_cusolver OR NOT CUDA_cudart_static)
    okra_cuda_missing("cuBLAS, cuSOLVER or the runtime of CUDA was not found beside ${NVCC}")
    return()
endif()
message(STATUS "engine cuda: built by ${NVCC} ${okra_nvcc_version}")

set(okra_cuda_dir ${CMAKE_CURRENT_SOURCE_DIR}/engines/cuda)
file(GLOB okra_cuda_sources CONFIGURE_DEPENDS ${okra_cuda_dir}/*.c)
file(GLOB okra_cuda_kernels CONFIGURE_DEPENDS ${okra_cuda_dir}/*.cu)
set(okra_cuda_objects)
foreach(file ${okra_cuda_kernels})
    get_filename_component(name ${file} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
    # Machine code for compute capability 8.x and 9.0; newer GPUs translate the PTX. Names of
    # files between get into the object: kept ones do not change from run to run.
    set(between ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name})
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${between}
        COMMAND ${NVCC} -ccbin ${NVCC_HOST} -std=c++17 -O3 --extended-lambda
            -gencode arch=compute_80,code=sm_80
            -gencode arch=compute_90,code=[sm_90,compute_90]
            -Xcompiler=-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics,-Wall
            --keep --keep-dir ${between} -c ${file} -o ${object}
        DEPENDS ${file} ${okra_cuda_dir}/kernels.h
        COMMENT "Building CUDA object cuda/${name}.o" VERBATIM)
    list(APPEND okra_cuda_objects ${object})
endforeach()

add_library(okra_cuda MODULE ${okra_cuda_sources} ${okra_cuda_objects})
set_source_files_properties(${okra_cuda_objects} PROPERTIES EXTERNAL_OBJECT ON)
set_target_properties(okra_cuda PROPERTIES OUTPUT_NAME okra-cuda)
target_include_directories(okra_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src
    ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_BINARY_DIR}/include)
target_include_directories(okra_cuda SYSTEM PRIVATE ${CUDA_INCLUDE})
target_link_libraries(okra_cuda PRIVATE okra_flags ${CUDA_cublas} ${CUDA_cusolver}
    ${CUDA_cudart_static} Threads::Threads rt ${CMAKE_DL_LIBS} m)
# It stays loaded: starting CUDA anew takes longer than many a fit.
target_link_options(okra_cuda PRIVATE -Wl,-z,defs -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
# Beside libokra.so, where it is looked for; CUDA's libraries stay where they were found.
get_filename_component(okra_cuda_lib ${CUDA_cublas} DIRECTORY)
set_target_properties(okra_cuda PROPERTIES INSTALL_RPATH ${okra_cuda_lib})
install(TARGETS okra_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT engines)
