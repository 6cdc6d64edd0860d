# SPDX-License-Identifier: MIT
# What a put, a take, a submission costs in instructions, whatever the machine. budget/figures is of
# release builds by Debian's compiler.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(VALGRIND valgrind)

if(NOT CMAKE_BUILD_TYPE STREQUAL Release OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    # There are no figures for it.
elseif(VALGRIND)
    add_executable(instruction_budget budget/main.c budget/host.c
        budget/beanstalk_cases.c budget/gearman_cases.c budget/http_cases.c)
    target_link_libraries(instruction_budget PRIVATE journal_fakes tandem_journal
        proto_beanstalk proto_gearman proto_http tandem_core tandem_warnings)
    add_test(NAME budget_instructions
        COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/budget/run.py
            --valgrind ${VALGRIND} --program $<TARGET_FILE:instruction_budget>)
    set_tests_properties(budget_instructions PROPERTIES LABELS release TIMEOUT 600)
else()
    message(STATUS "valgrind not found: instructions are not counted")
endif()
