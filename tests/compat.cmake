# Our replies beside those of Debian's beanstalkd. Where that is not in PATH, its file must be
# named, or these tests fail.
set(TANDEM_BEANSTALKD beanstalkd CACHE STRING "Debian's beanstalkd 1.12, or the path to it")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(part scripts random)
    add_test(NAME compat_${part}
        COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/compat/run.py
            --tandemd $<TARGET_FILE:tandemd> --beanstalkd ${TANDEM_BEANSTALKD} --${part})
    set_tests_properties(compat_${part} PROPERTIES LABELS compat TIMEOUT 600)
endforeach()
# Their waits are real, and short beside those of a busy machine.
set_tests_properties(compat_scripts PROPERTIES RUN_SERIAL TRUE)
