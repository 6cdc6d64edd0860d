# What one client may cost the broker and the others. With sanitizers or without optimisation, what
# is a million elsewhere is less, and the size of the process says nothing.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(BOUNDS_AREAS blocked bulk connections declared fairness peers unread)
if(CMAKE_BUILD_TYPE STREQUAL Release)
    list(APPEND BOUNDS_AREAS memory)
    set(BOUNDS_SCALE --jobs 1000000)
else()
    set(BOUNDS_SCALE --jobs 50000 --sanitized)
endif()

foreach(area IN LISTS BOUNDS_AREAS)
    add_test(NAME bounds_${area}
        COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/bounds/run.py
            --tandemd $<TARGET_FILE:tandemd> ${BOUNDS_SCALE} ${area})
    set_tests_properties(bounds_${area} PROPERTIES LABELS bounds TIMEOUT 600)
endforeach()
