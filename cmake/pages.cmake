# pages.cmake - manual pages and shell completions, which the program itself writes from its tables of options.
#
# They are made when they are installed: a change of a source makes none.
set(TCT_PAGES ${CMAKE_BINARY_DIR}/pages)
install(CODE "execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/pages.sh $<TARGET_FILE:tacit> ${TCT_PAGES} COMMAND_ERROR_IS_FATAL ANY)")

install(DIRECTORY ${TCT_PAGES}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.1")
install(FILES ${TCT_PAGES}/tacit.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tacit)
install(FILES ${TCT_PAGES}/_tacit DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${TCT_PAGES}/tacit.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
