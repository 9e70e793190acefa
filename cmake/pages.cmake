# pages.cmake - manual pages and shell completions, which the program itself writes from its tables of options.
set(TCT_PAGES ${CMAKE_BINARY_DIR}/pages)
file(STRINGS ${CMAKE_SOURCE_DIR}/cli/list.def TCT_VERBS REGEX "^CLI_VERB")
list(TRANSFORM TCT_VERBS REPLACE "^CLI_VERB\\(([a-z_]+)\\).*" "\\1")

set(TCT_PAGE_FILES)
function(tct_page file) # the output of `tacit help ARGN` in pages/file
  add_custom_command(OUTPUT ${TCT_PAGES}/${file} DEPENDS tacit VERBATIM
    COMMAND sh -c "\"$0\" help \"$@\" >\"${TCT_PAGES}/${file}.new\" && mv \"${TCT_PAGES}/${file}.new\" \"${TCT_PAGES}/${file}\""
    $<TARGET_FILE:tacit> ${ARGN})
  set(TCT_PAGE_FILES ${TCT_PAGE_FILES} ${TCT_PAGES}/${file} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${TCT_PAGES}/man1)
tct_page(man1/tacit.1 --manual)
foreach(verb ${TCT_VERBS})
  tct_page(man1/tacit-${verb}.1 ${verb} --manual)
endforeach()
tct_page(tacit.bash --completion bash)
tct_page(_tacit --completion zsh)
tct_page(tacit.fish --completion fish)
add_custom_target(tacit_pages ALL DEPENDS ${TCT_PAGE_FILES})

install(DIRECTORY ${TCT_PAGES}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.1")
install(FILES ${TCT_PAGES}/tacit.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tacit)
install(FILES ${TCT_PAGES}/_tacit DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${TCT_PAGES}/tacit.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
