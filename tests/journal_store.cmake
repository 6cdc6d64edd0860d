# The journal as a whole: a broker on a disk that fails, forgets and fills up.
add_library(journal_bed STATIC
    support/book.c
    support/journal_bed.c
    support/journal_bed_acts.c
    support/journal_bed_end.c
    support/journal_work.c)
target_link_libraries(journal_bed PUBLIC journal_fakes tandem_journal tandem_core
    PRIVATE PkgConfig::CMOCKA tandem_warnings)

tandem_test(NAME journal_pace_test LABEL scenario
    SOURCES journal_pace_test.c LINKS journal_bed journal_fakes tandem_journal tandem_core)
foreach(area store care opening proof cut fail error told full ids compact oversize random)
    tandem_test(NAME journal_${area}_test LABEL scenario
        SOURCES journal_${area}_test.c LINKS journal_bed journal_fakes tandem_journal tandem_core)
endforeach()
tandem_test(NAME journal_memory_test LABEL scenario
    SOURCES journal_memory_test.c LINKS journal_bed journal_fakes tandem_journal tandem_core
    NTH_ALLOC)
tandem_test(NAME journal_storm_test LABEL scenario
    SOURCES journal_storm_test.c LINKS journal_bed journal_fakes tandem_journal tandem_core)
