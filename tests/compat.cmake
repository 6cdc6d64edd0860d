# Our replies beside those of Debian's beanstalkd and gearmand. Where those are not in PATH, their
# files must be named, or these tests fail.
set(TANDEM_BEANSTALKD beanstalkd CACHE STRING "Debian's beanstalkd 1.12, or the path to it")
set(TANDEM_GEARMAND gearmand CACHE STRING "Debian's gearmand 1.1.20, or the path to it")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(tandem_compat_test protocol part reference)
    set(name compat_${protocol}_${part})
    add_test(NAME ${name}
        COMMAND Python3::Interpreter ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compat/run.py ${protocol}
            --tandemd $<TARGET_FILE:tandemd> --reference ${reference} --${part})
    set_tests_properties(${name} PROPERTIES LABELS compat TIMEOUT 600)
endfunction()

tandem_compat_test(beanstalk scripts ${TANDEM_BEANSTALKD})
tandem_compat_test(beanstalk random ${TANDEM_BEANSTALKD})
tandem_compat_test(gearman scripts ${TANDEM_GEARMAND})
tandem_compat_test(http scripts ${TANDEM_GEARMAND})
# Their waits are real, and short beside those of a busy machine.
set_tests_properties(compat_beanstalk_scripts compat_gearman_scripts compat_http_scripts
    PROPERTIES RUN_SERIAL TRUE)
