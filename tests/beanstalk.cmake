# Front-ends are fed in memory: tests/support/wire_host is what they take for a server.
add_library(wire_host STATIC support/wire_host.c support/wire_pages.c support/wire_store.c)
target_link_libraries(wire_host PUBLIC tandem_core PRIVATE tandem_warnings)
add_library(wire_bean STATIC support/wire_bean.c support/wire_scripts.c)
target_link_libraries(wire_bean PUBLIC proto_beanstalk wire_host PkgConfig::CMOCKA
    PRIVATE tandem_warnings)

foreach(area parse line put reserve job tube stats split hold)
    tandem_test(NAME beanstalk_${area}_test LABEL wire
        SOURCES beanstalk_${area}_test.c LINKS wire_bean)
endforeach()
tandem_test(NAME beanstalk_memory_test LABEL wire NTH_ALLOC
    SOURCES beanstalk_memory_test.c LINKS wire_bean)
