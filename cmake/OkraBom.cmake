# okra.cdx.json: the libraries that okra links, with versions and licences, in the form of
# CycloneDX 1.5. tests/lint/test_binaries.bash demands that nothing is linked beside them.
# Rows: name, version, licence (SPDX), what needs it.
set(okra_bom_rows
    "OpenBLAS|${OPENBLAS_VERSION}|BSD-3-Clause|libokra"
    "LAPACKE|${LAPACKE_VERSION}|BSD-3-Clause|libokra"
    "zlib|${ZLIB_VERSION}|Zlib|libokra, okra"
    "jansson|${JANSSON_VERSION}|MIT|libokra, okra"
    "libLBFGS|${LBFGS_VERSION}|MIT|libokra"
    "expat|${EXPAT_VERSION}|MIT|libokra"
    "LIBSVM|${okra_info_svm}|BSD-3-Clause|libokra")
if(TARGET okra_mpi)
    list(APPEND okra_bom_rows "Open MPI|${MPI_VERSION}|BSD-3-Clause|libokra-mpi"
        "ScaLAPACK|${SCALAPACK_VERSION}|BSD-3-Clause|libokra-mpi")
    if(ELPA_FOUND)
        list(APPEND okra_bom_rows "ELPA|${ELPA_VERSION}|LGPL-3.0-only|libokra-mpi")
    endif()
endif()
set(okra_bom "")
foreach(row ${okra_bom_rows})
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    list(GET row 1 version)
    list(GET row 2 licence)
    list(GET row 3 user)
    list(APPEND okra_bom "    {\"type\": \"library\", \"name\": \"${name}\", \"version\": \"${version}\",
     \"licenses\": [{\"license\": {\"id\": \"${licence}\"}}],
     \"properties\": [{\"name\": \"okra:linked-by\", \"value\": \"${user}\"}]}")
endforeach()
list(JOIN okra_bom ",\n" okra_bom)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/okra.cdx.json CONTENT
"{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.5\",
  \"version\": 1,
  \"metadata\": {
    \"component\": {\"type\": \"application\", \"name\": \"okra\", \"version\": \"@PROJECT_VERSION@\",
      \"licenses\": [{\"license\": {\"id\": \"BSD-3-Clause\"}}]}
  },
  \"components\": [
@okra_bom@
  ]
}
" @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/okra.cdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT program)
