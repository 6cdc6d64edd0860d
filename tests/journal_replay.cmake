# The journal's way back: records as bytes, reading what is there, and what is damaged.
add_library(journal_forge STATIC
    support/forge.c
    support/replay_bed.c
    support/revive.c
    support/sealed.c)
target_link_libraries(journal_forge PUBLIC journal_fakes PkgConfig::CMOCKA PRIVATE tandem_warnings)

foreach(area codec refuse format flip)
    tandem_test(NAME journal_${area}_test LABEL unit
        SOURCES journal_${area}_test.c LINKS journal_forge)
endforeach()
foreach(area replay damage reading)
    tandem_test(NAME journal_${area}_test LABEL scenario
        SOURCES journal_${area}_test.c LINKS journal_forge NTH_ALLOC)
endforeach()

# The page that says what the bytes mean: its example, by our own code and by a stranger's reader.
set(format_page ${PROJECT_SOURCE_DIR}/journal/FORMAT.md)
target_compile_definitions(journal_format_test PRIVATE FORMAT_PAGE="${format_page}")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME journal_format_example
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/journal/example_test.py ${format_page})
set_tests_properties(journal_format_example PROPERTIES LABELS unit)
