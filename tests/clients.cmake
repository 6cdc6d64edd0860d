# Clients that others wrote run unchanged against tandemd, and so does what the README shows. They
# are left out where Node.js is missing; ./tandem test installs it.
find_program(NODE_EXECUTABLE node)
find_program(NPM_EXECUTABLE npm)
if(NOT NODE_EXECUTABLE OR NOT NPM_EXECUTABLE)
    message(STATUS "Node.js and npm not found: the client tests are left out")
    return()
endif()

add_test(NAME clients_install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/clients/install)
set_tests_properties(clients_install PROPERTIES LABELS clients FIXTURES_SETUP node_modules)

foreach(client jackd readme)
    add_test(NAME clients_${client}
        COMMAND ${NODE_EXECUTABLE} --test --test-reporter=tap
            ${CMAKE_CURRENT_SOURCE_DIR}/clients/${client}.test.js)
    set_tests_properties(clients_${client} PROPERTIES
        LABELS clients
        FIXTURES_REQUIRED node_modules
        ENVIRONMENT "TANDEMD=$<TARGET_FILE:tandemd>"
        TIMEOUT 120)
endforeach()
