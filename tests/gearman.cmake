# Gearman and mixed conversations in memory.
add_library(wire_gear STATIC support/wire_gear.c support/wire_gear_scripts.c)
target_link_libraries(wire_gear PUBLIC proto_gearman proto_beanstalk wire_host PkgConfig::CMOCKA
    PRIVATE tandem_warnings)

foreach(area packet stranger submit handle body key worker order turn nap result status loss timeout
        give epoch sched unread split)
    tandem_test(NAME gearman_${area}_test LABEL wire
        SOURCES gearman_${area}_test.c LINKS wire_gear)
endforeach()
tandem_test(NAME gearman_memory_test LABEL wire NTH_ALLOC
    SOURCES gearman_memory_test.c LINKS wire_gear)
# It watches what is asked of the allocator.
target_link_options(gearman_body_test PRIVATE -Wl,--wrap=malloc,--wrap=realloc)

# Clients of both protocols over one broker.
foreach(area put submit queue)
    tandem_test(NAME cross_${area}_test LABEL wire
        SOURCES cross_${area}_test.c LINKS wire_gear wire_bean)
endforeach()

# Administration by text.
add_library(admin_gear STATIC support/admin_gear.c)
target_link_libraries(admin_gear PUBLIC wire_gear PRIVATE tandem_warnings)

foreach(area admin list maxqueue roll hold)
    tandem_test(NAME gearman_${area}_test LABEL wire
        SOURCES gearman_${area}_test.c LINKS admin_gear)
endforeach()
tandem_test(NAME gearman_room_test LABEL wire LIVE_BYTES
    SOURCES gearman_room_test.c LINKS wire_gear)
tandem_test(NAME gearman_slice_test LABEL wire NTH_ALLOC
    SOURCES gearman_slice_test.c LINKS admin_gear)
