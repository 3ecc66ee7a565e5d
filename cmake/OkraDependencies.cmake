# The libraries okra stands on, all permissive: OpenBLAS and LAPACKE (BSD), zlib, jansson
# (MIT), matio (BSD), libLBFGS (MIT), LIBSVM (BSD).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(MATIO REQUIRED IMPORTED_TARGET matio)
pkg_check_modules(LBFGS REQUIRED IMPORTED_TARGET liblbfgs)
find_path(SVM_INCLUDE libsvm/svm.h REQUIRED)
find_library(SVM_LIBRARY svm REQUIRED)

add_library(okra_dependencies INTERFACE)
target_link_libraries(okra_dependencies INTERFACE PkgConfig::LAPACKE PkgConfig::OPENBLAS
    PkgConfig::ZLIB PkgConfig::JANSSON PkgConfig::MATIO PkgConfig::LBFGS ${SVM_LIBRARY}
    Threads::Threads m)
target_include_directories(okra_dependencies INTERFACE ${SVM_INCLUDE})

# The command line sees okra's public headers; of libraries only the JSON writer.
add_library(okra_cli_dependencies INTERFACE)
target_link_libraries(okra_cli_dependencies INTERFACE PkgConfig::JANSSON m)
