# Clients that others wrote run unchanged against tandemd, and so does what the README shows. What
# a machine has no interpreter or client for is left out; ./tandem test installs them.

# client_test(NAME COMMAND...)
function(client_test NAME)
    add_test(NAME clients_${NAME} COMMAND ${ARGN})
    set_tests_properties(clients_${NAME} PROPERTIES LABELS clients TIMEOUT 120)
endfunction()

find_program(NODE_EXECUTABLE node)
find_program(NPM_EXECUTABLE npm)
if(NODE_EXECUTABLE AND NPM_EXECUTABLE)
    add_test(NAME clients_install COMMAND ${CMAKE_CURRENT_LIST_DIR}/clients/install)
    set_tests_properties(clients_install PROPERTIES LABELS clients FIXTURES_SETUP node_modules)
    foreach(client abraxas crossing fivebeans gearmanode http_fetch http_page http_settings jackd readme)
        client_test(${client} ${NODE_EXECUTABLE} --test --test-reporter=tap
            ${CMAKE_CURRENT_LIST_DIR}/clients/${client}.test.js)
        set_tests_properties(clients_${client} PROPERTIES
            FIXTURES_REQUIRED node_modules
            ENVIRONMENT "TANDEMD=$<TARGET_FILE:tandemd>")
    endforeach()
else()
    message(STATUS "Node.js and npm not found: their client tests are left out")
endif()

# broker_test(NAME COMMAND...): COMMAND finds a broker's addresses in its environment.
function(broker_test NAME)
    client_test(${NAME}
        ${CMAKE_CURRENT_LIST_DIR}/clients/with_broker $<TARGET_FILE:tandemd> ${ARGN})
endfunction()

# packaged_client_test(NAME SCRIPT INTERPRETER OPTION CODE): a client as Debian packages it. CODE,
# which the interpreter runs after OPTION, only succeeds where the client is installed.
function(packaged_client_test NAME SCRIPT INTERPRETER OPTION CODE)
    execute_process(COMMAND ${INTERPRETER} ${OPTION} "${CODE}"
        RESULT_VARIABLE MISSING OUTPUT_QUIET ERROR_QUIET)
    if(MISSING)
        message(STATUS "${NAME} not found: its tests are left out")
        return()
    endif()
    set(HAS_${NAME} TRUE PARENT_SCOPE)
    broker_test(${NAME} ${INTERPRETER} ${CMAKE_CURRENT_LIST_DIR}/clients/${SCRIPT})
endfunction()

packaged_client_test(beaneater beaneater_test.rb ruby -e "require 'beaneater'; require 'minitest'")
packaged_client_test(pheanstalk pheanstalk_test.php php -r "require 'Pheanstalk/autoload.php';")
packaged_client_test(gearman_client gearman_client_test.pl
    perl -e "use Gearman::Client; use Gearman::Worker;")
packaged_client_test(gearman_extension gearman_extension_test.php
    php -r "exit((int) !(extension_loaded('gearman') && extension_loaded('pcntl')));")
packaged_client_test(gearman_tools gearman_tools_test.py python3 -c
    "import shutil, sys; sys.exit(not (shutil.which('gearman') and shutil.which('gearadmin')))")
packaged_client_test(http_curl http_curl_test.py
    python3 -c "import shutil, sys; sys.exit(not shutil.which('curl'))")
packaged_client_test(http_python http_python_test.py python3 -c "import http.client")
# A build that is not optimised needs more memory, and more time than wrk has.
if(CMAKE_BUILD_TYPE STREQUAL Release)
    packaged_client_test(http_load http_load_test.py
        python3 -c "import shutil, sys; sys.exit(not shutil.which('wrk'))")
endif()
foreach(part curl load python)
    if(HAS_http_${part})
        set_tests_properties(clients_http_${part} PROPERTIES
            ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
    endif()
endforeach()

# The C library.
pkg_check_modules(LIBGEARMAN IMPORTED_TARGET gearmand)
if(LIBGEARMAN_FOUND)
    find_package(Threads REQUIRED)
    add_library(libgearman_bed STATIC clients/libgearman/bed.c)
    target_link_libraries(libgearman_bed
        PUBLIC PkgConfig::LIBGEARMAN PkgConfig::CMOCKA Threads::Threads
        PRIVATE tandem_build tandem_warnings)
    foreach(part client task worker)
        add_executable(libgearman_${part}_test clients/libgearman/${part}_test.c)
        target_link_libraries(libgearman_${part}_test
            PRIVATE libgearman_bed tandem_build tandem_warnings)
        broker_test(libgearman_${part} $<TARGET_FILE:libgearman_${part}_test>)
    endforeach()
else()
    message(STATUS "libgearman not found: its tests are left out")
endif()

# All of them at once on the same queues, killed and replaced at random.
set(TANDEM_SOAK_SECONDS 60 CACHE STRING "How long clients and workers are mixed")
if(NODE_EXECUTABLE AND NPM_EXECUTABLE AND HAS_pheanstalk AND HAS_gearman_client
        AND HAS_gearman_extension)
    broker_test(soak ${CMAKE_CURRENT_LIST_DIR}/clients/soak/run.py
        --seconds ${TANDEM_SOAK_SECONDS})
    math(EXPR SOAK_TIMEOUT "${TANDEM_SOAK_SECONDS} + 240")
    set_tests_properties(clients_soak PROPERTIES
        FIXTURES_REQUIRED node_modules PROCESSORS 2 TIMEOUT ${SOAK_TIMEOUT})
else()
    message(STATUS "Not all clients found: the soak is left out")
endif()
