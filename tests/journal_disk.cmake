# The journal's lower half: segments, batches, tasks, the thread that does them, and disks.
add_library(journal_fakes STATIC
    support/fake_disk.c
    support/fake_faults.c
    support/fake_file.c
    support/fake_hand.c
    support/fake_names.c)
target_link_libraries(journal_fakes PUBLIC tandem_journal PRIVATE tandem_warnings)

foreach(area batch task step hand)
    tandem_test(NAME journal_${area}_test LABEL unit
        SOURCES journal_${area}_test.c LINKS journal_fakes tandem_journal NTH_ALLOC)
endforeach()
foreach(area disk fake)
    tandem_test(NAME journal_${area}_test LABEL unit
        SOURCES journal_${area}_test.c support/disk_bench.c
        LINKS journal_fakes tandem_journal NTH_ALLOC)
endforeach()
target_link_options(journal_disk_test PRIVATE -Wl,--wrap=fstatvfs)
