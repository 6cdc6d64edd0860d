# HTTP conversations in memory; Gearman's and beanstalk's workers do the jobs.
add_library(wire_http STATIC support/wire_http.c)
target_link_libraries(wire_http PUBLIC proto_http wire_gear PRIVATE tandem_warnings)

foreach(area submit field answer reason conn guard token stream job limit strict split hold)
    tandem_test(NAME http_${area}_test LABEL wire
        SOURCES http_${area}_test.c LINKS wire_http)
endforeach()
tandem_test(NAME cross_staged_test LABEL wire
    SOURCES cross_staged_test.c LINKS wire_http wire_bean)
tandem_test(NAME http_bean_test LABEL wire
    SOURCES http_bean_test.c LINKS wire_http wire_bean)
tandem_test(NAME http_memory_test LABEL wire NTH_ALLOC
    SOURCES http_memory_test.c LINKS wire_http)
tandem_test(NAME http_room_test LABEL wire LIVE_BYTES
    SOURCES http_room_test.c LINKS wire_http)
tandem_test(NAME http_head_test LABEL unit
    SOURCES http_head_test.c LINKS proto_http)
tandem_test(NAME http_parser_test LABEL unit
    SOURCES http_parser_test.c LINKS proto_http "${HTTP_PARSER_LIBRARY}")
