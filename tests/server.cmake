tandem_test(NAME server_output_test LABEL unit
    SOURCES server_output_test.c LINKS tandem_core NTH_ALLOC)

foreach(area config settings flags log address facts)
    tandem_test(NAME server_${area}_test LABEL unit
        SOURCES server_${area}_test.c
        LINKS tandem_server tandem_core PkgConfig::JANSSON NTH_ALLOC)
endforeach()
target_compile_definitions(server_settings_test PRIVATE
    TANDEMD_CONF="${PROJECT_SOURCE_DIR}/conf/tandemd.conf")

# A loop with clients on socket pairs and a front-end that is made for trying things out.
add_library(server_bed STATIC support/server_bed.c)
target_link_libraries(server_bed
    PUBLIC tandem_server tandem_core PkgConfig::LIBEVENT PkgConfig::CMOCKA
    PRIVATE tandem_warnings)

foreach(area conn turn held listener adopt)
    tandem_test(NAME server_${area}_test LABEL unit
        SOURCES server_${area}_test.c LINKS server_bed NTH_ALLOC)
endforeach()

# The program itself, started anew for each test.
foreach(area process standard_files start check user place stall systemd journal opening)
    tandem_test(NAME server_${area}_test LABEL process
        SOURCES server_${area}_test.c support/server_process.c support/server_den.c)
    target_compile_definitions(server_${area}_test PRIVATE TANDEMD_PATH="$<TARGET_FILE:tandemd>")
    add_dependencies(server_${area}_test tandemd)
endforeach()
target_link_libraries(server_journal_test PRIVATE tandem_journal)

add_test(NAME server_install_test COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR}
    -D STAGE=${CMAKE_CURRENT_BINARY_DIR}/stage -P ${CMAKE_CURRENT_LIST_DIR}/install_test.cmake)
set_tests_properties(server_install_test PROPERTIES LABELS process)
