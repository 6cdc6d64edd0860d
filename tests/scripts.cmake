# What counts the tests is tested, too.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME scripts_count_tests
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/scripts/count_tests_test.py)
set_tests_properties(scripts_count_tests PROPERTIES LABELS unit TIMEOUT 60)
