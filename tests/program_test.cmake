# Tests of the program itself, which run with no I/O thread and once more with two: what starts it
# then adds the settings, and neither a test nor its harness need know.
# How many there are by default depends on the machine.
foreach(threads 0 2)
    add_executable(tandemd_io${threads} support/tandemd_io.c)
    target_compile_definitions(tandemd_io${threads} PRIVATE
        IO_THREADS="${threads}" TANDEMD_PATH="$<TARGET_FILE:tandemd>")
    target_link_libraries(tandemd_io${threads} PRIVATE tandem_warnings)
    add_dependencies(tandemd_io${threads} tandemd)
endforeach()
if(TANDEM_SANITIZE STREQUAL "thread")
    target_sources(tandemd PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support/tsan_signals.c)
endif()

# program_test(NAME label COMMAND...): NAME runs with no I/O thread, NAME_io2, which has the label
# io2 as well, with two. In the command, and in TANDEMD, is what starts the program: in the command
# it is named as $<TARGET_FILE:tandemd>. NAME has the label twin as well: ThreadSanitizer needs the
# other alone.
function(program_test NAME LABEL)
    program_test_io(0 ${NAME} "${LABEL};twin" ${ARGN})
    program_test_io2(${NAME} ${LABEL} ${ARGN})
endfunction()

# program_test_per_build(NAME label COMMAND...): for tests that run with the release build, too. That
# runs NAME, without I/O threads, any other build NAME_io2.
function(program_test_per_build NAME LABEL)
    if(CMAKE_BUILD_TYPE STREQUAL Release)
        program_test_io(0 ${NAME} ${LABEL} ${ARGN})
    else()
        program_test_io2(${NAME} ${LABEL} ${ARGN})
    endif()
endfunction()

# With this number of threads.
function(program_test_io THREADS TEST LABEL)
    string(REPLACE "$<TARGET_FILE:tandemd>" "$<TARGET_FILE:tandemd_io${THREADS}>" command "${ARGN}")
    add_test(NAME ${TEST} COMMAND ${command})
    set_tests_properties(${TEST} PROPERTIES LABELS "${LABEL}" TIMEOUT 600
        ENVIRONMENT "TANDEMD=$<TARGET_FILE:tandemd_io${THREADS}>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

# Only the second of the two.
function(program_test_io2 NAME LABEL)
    program_test_io(2 ${NAME}_io2 ${LABEL} ${ARGN})
    set_property(TEST ${NAME}_io2 APPEND PROPERTY LABELS io2)
endfunction()

# Where threads make no difference.
function(program_test_once NAME LABEL)
    add_test(NAME ${NAME} COMMAND ${ARGN})
    set_tests_properties(${NAME} PROPERTIES LABELS ${LABEL}
        ENVIRONMENT "TANDEMD=$<TARGET_FILE:tandemd>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

# races(NAME...): tests with threads, which run with ThreadSanitizer, as the label process does.
function(races)
    foreach(name IN LISTS ARGN)
        if(TEST ${name})
            set_property(TEST ${name} APPEND PROPERTY LABELS races)
        endif()
    endforeach()
endfunction()

# over_slabs(NAME...): tests to which it matters that objects come from slabs, as in every build without
# AddressSanitizer: they run with ThreadSanitizer, too.
function(over_slabs)
    foreach(name IN LISTS ARGN)
        set_property(TEST ${name} APPEND PROPERTY LABELS slabs)
    endforeach()
endfunction()

# program_test_properties(NAME [PROPERTY VALUE]...): of NAME and NAME_io2, if they exist.
function(program_test_properties NAME)
    foreach(test ${NAME} ${NAME}_io2)
        if(TEST ${test})
            set_tests_properties(${test} PROPERTIES ${ARGN})
        endif()
    endforeach()
endfunction()
