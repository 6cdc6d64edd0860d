# What is installed where, and that the unit names it. BUILD is a build of the project, STAGE a
# directory to install to.

function(expect_file PATH)
    if(NOT EXISTS "${STAGE}${PATH}")
        message(FATAL_ERROR "not installed: ${PATH}")
    endif()
endfunction()

function(install_below PREFIX)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "DESTDIR=${STAGE}"
        "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
        COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

# prefix_has(PREFIX SYSCONFDIR): everything is there, and the unit starts what is there.
function(prefix_has PREFIX SYSCONFDIR)
    install_below("${PREFIX}")
    expect_file("${PREFIX}/bin/tandemd")
    expect_file("${PREFIX}/bin/tandemctl")
    expect_file("${PREFIX}/share/man/man8/tandemd.8")
    expect_file("${PREFIX}/share/man/man1/tandemctl.1")
    expect_file("${PREFIX}/share/bash-completion/completions/tandemctl")
    expect_file("${PREFIX}/share/zsh/vendor-completions/_tandemctl")
    expect_file("${PREFIX}/lib/systemd/system/tandemd.socket")
    expect_file("${SYSCONFDIR}/tandem/tandemd.conf")
    file(STRINGS "${STAGE}${PREFIX}/lib/systemd/system/tandemd.service" starts REGEX "^ExecStart=")
    if(NOT starts STREQUAL
            "ExecStart=${PREFIX}/bin/tandemd --config ${SYSCONFDIR}/tandem/tandemd.conf")
        message(FATAL_ERROR "the unit says ${starts}")
    endif()
endfunction()

file(REMOVE_RECURSE "${STAGE}")
prefix_has(/usr /etc)
if(EXISTS "${STAGE}/usr/etc")
    message(FATAL_ERROR "/usr/etc is nobody's place")
endif()
prefix_has(/usr/local /usr/local/etc)
prefix_has(/opt/tandem /etc/opt/tandem)

# What was edited stays.
file(WRITE "${STAGE}/etc/tandem/tandemd.conf" "edited")
prefix_has(/usr /etc)
file(READ "${STAGE}/etc/tandem/tandemd.conf" text)
if(NOT text STREQUAL "edited")
    message(FATAL_ERROR "an edited configuration was replaced")
endif()
file(REMOVE_RECURSE "${STAGE}")
