# The man pages and the shell completions: the program writes them from its option tables
# into build/share, laid out as they are installed.
set(okra_share ${CMAKE_CURRENT_BINARY_DIR}/share)
set(okra_pages)
function(okra_page page)
    get_filename_component(folder ${okra_share}/${page} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${okra_share}/${page}
        COMMAND okra_program help ${ARGN} > ${okra_share}/${page}
        DEPENDS okra_program okra_shared COMMENT "Writing share/${page}")
    set(okra_pages ${okra_pages} ${okra_share}/${page} PARENT_SCOPE)
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
    okra_page(man/man1/okra.1 --man)
    # one page per command; tests/cli/help.sh compares the list with the program's
    foreach(command fit select predict update basis merge score link index fuse gram twin info
            demo paper report audit split explain next version help)
        okra_page(man/man1/okra-${command}.1 ${command} --man)
    endforeach()
    okra_page(bash-completion/completions/okra --completion bash)
    okra_page(zsh/site-functions/_okra --completion zsh)
endif()
add_custom_target(docs ALL DEPENDS ${okra_pages})
