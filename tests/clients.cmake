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
    foreach(client fivebeans jackd readme)
        client_test(${client} ${NODE_EXECUTABLE} --test --test-reporter=tap
            ${CMAKE_CURRENT_LIST_DIR}/clients/${client}.test.js)
        set_tests_properties(clients_${client} PROPERTIES
            FIXTURES_REQUIRED node_modules
            ENVIRONMENT "TANDEMD=$<TARGET_FILE:tandemd>")
    endforeach()
else()
    message(STATUS "Node.js and npm not found: their client tests are left out")
endif()

# packaged_client_test(NAME SCRIPT INTERPRETER OPTION CODE): a client as Debian packages it. CODE,
# which the interpreter runs after OPTION, only succeeds where the client is installed.
function(packaged_client_test NAME SCRIPT INTERPRETER OPTION CODE)
    execute_process(COMMAND ${INTERPRETER} ${OPTION} "${CODE}"
        RESULT_VARIABLE MISSING OUTPUT_QUIET ERROR_QUIET)
    if(MISSING)
        message(STATUS "${NAME} not found: its tests are left out")
        return()
    endif()
    client_test(${NAME} ${CMAKE_CURRENT_LIST_DIR}/clients/with_broker $<TARGET_FILE:tandemd>
        ${INTERPRETER} ${CMAKE_CURRENT_LIST_DIR}/clients/${SCRIPT})
endfunction()

packaged_client_test(beaneater beaneater_test.rb ruby -e "require 'beaneater'; require 'minitest'")
packaged_client_test(pheanstalk pheanstalk_test.php php -r "require 'Pheanstalk/autoload.php';")
