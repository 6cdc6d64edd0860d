# The broker is killed while clients of all protocols work, and nothing that they were told may be
# lost: tests/crash/README.md.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TANDEM_CRASH_ROUNDS 10 CACHE STRING "How often the broker is killed")
set(TANDEM_FAULT_ROUNDS 5 CACHE STRING "The same on a disk that fails, for each fsync policy")
set(TANDEM_CRASH_SECONDS 2.5 CACHE STRING "How long clients work before that, at most")

# Stands between the broker and its disk; its own build, since it goes into any.
add_library(crash_faults MODULE crash/faults.c)
target_link_libraries(crash_faults PRIVATE tandem_warnings ${CMAKE_DL_LIBS})

# crash_test(NAME TIMEOUT OPTIONS...)
function(crash_test NAME TIMEOUT)
    add_test(NAME crash_${NAME}
        COMMAND Python3::Interpreter ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/crash/run.py
            --tandemd $<TARGET_FILE:tandemd> --dir ${CMAKE_CURRENT_BINARY_DIR} ${ARGN})
    set_tests_properties(crash_${NAME} PROPERTIES LABELS clients PROCESSORS 2 TIMEOUT ${TIMEOUT})
endfunction()

# On a disk that fails: small segments, and a clock that is set between two starts. A sanitizer sees
# what is used when it has gone.
foreach(policy always 5 never)
    crash_test(faults_${policy} 180 --fsync ${policy} --rounds ${TANDEM_FAULT_ROUNDS}
        --seconds-per-round 1 --faults $<TARGET_FILE:crash_faults> --clock-steps)
endforeach()

# A build that is not optimised would spend its time on other things.
if(CMAKE_BUILD_TYPE STREQUAL Release)
    math(EXPR CRASH_TIMEOUT "120 + 30 * ${TANDEM_CRASH_ROUNDS}")
    crash_test(rounds ${CRASH_TIMEOUT}
        --rounds ${TANDEM_CRASH_ROUNDS} --seconds-per-round ${TANDEM_CRASH_SECONDS})
    # Whoever looks for losses must find them where there are some.
    foreach(policy always 50 never)
        crash_test(cut_${policy} 120 --fsync ${policy} --rounds 5 --stop --seconds-per-round 1
            --segment-size 8388608 --sabotage 32768)
    endforeach()
endif()
