# Containers and blobs, each for itself.
foreach(unit containers hash id_map blob digits output)
    tandem_test(NAME core_${unit}_test LABEL unit
        SOURCES core_${unit}_test.c LINKS tandem_core NTH_ALLOC)
endforeach()

# Sanitizers replace what it is about: it runs against the release build, too.
tandem_test(NAME core_slab_test LABEL unit SOURCES core_slab_test.c LINKS tandem_core)
set_tests_properties(core_slab_test PROPERTIES LABELS "unit;release")

# Stories about the broker are told on a stage: virtual time, actors and a store in memory.
add_library(core_stage STATIC support/stage.c support/stage_acts.c support/stage_restart.c)
target_link_libraries(core_stage PUBLIC tandem_core PkgConfig::CMOCKA PRIVATE tandem_warnings)

foreach(area
        order choice time clock loss wait nap pause work key name watch tell kick queue slice body record position restore walk)
    tandem_test(NAME core_${area}_test LABEL scenario
        SOURCES core_${area}_test.c LINKS core_stage tandem_core)
endforeach()

tandem_test(NAME core_alloc_test LABEL scenario
    SOURCES core_alloc_test.c LINKS core_stage tandem_core NTH_ALLOC)

tandem_test(NAME core_random_test LABEL scenario
    SOURCES core_random_test.c support/oracle.c support/oracle_restart.c support/oracle_states.c
    LINKS core_stage tandem_core)
