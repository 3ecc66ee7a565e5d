# The man page and the completions of shells, made by the program from its own tables.
if(TARGET okra_program)
    set(okra_share ${CMAKE_CURRENT_BINARY_DIR}/share)
    set(okra_pages)
    foreach(pair "man/man1/okra.1|--man" "bash-completion/completions/okra|--completion=bash"
                 "zsh/site-functions/_okra|--completion=zsh")
        string(REPLACE "|" ";" pair ${pair})
        list(GET pair 0 name)
        list(GET pair 1 flag)
        get_filename_component(folder ${okra_share}/${name} DIRECTORY)
        add_custom_command(OUTPUT ${okra_share}/${name}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
            COMMAND okra_program help ${flag} > ${okra_share}/${name}
            DEPENDS okra_program VERBATIM)
        list(APPEND okra_pages ${okra_share}/${name})
    endforeach()
    add_custom_target(docs ALL DEPENDS ${okra_pages})
endif()
