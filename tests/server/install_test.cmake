# The installed files, and that the unit names them. BUILD is a build of the project, STAGE a
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
    expect_file("${PREFIX}/share/man/man5/tandemd.conf.5")
    expect_file("${PREFIX}/share/man/man1/tandemctl.1")
    expect_file("${PREFIX}/share/doc/tandem/LICENSE")
    expect_file("${PREFIX}/share/doc/tandem/README.md")
    expect_file("${PREFIX}/share/doc/tandem/core/MODEL.md")
    expect_file("${PREFIX}/lib/sysusers.d/tandem.conf")
    expect_file("${PREFIX}/share/bash-completion/completions/tandemctl")
    if(PREFIX STREQUAL /usr AND EXISTS /etc/debian_version)
        expect_file("${PREFIX}/share/zsh/vendor-completions/_tandemctl")
    else()
        expect_file("${PREFIX}/share/zsh/site-functions/_tandemctl")
    endif()
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
    message(FATAL_ERROR "/usr/etc must not be installed to")
endif()
prefix_has(/usr/local /usr/local/etc)
prefix_has(/opt/tandem /etc/opt/tandem)

# An edited file stays.
file(WRITE "${STAGE}/etc/tandem/tandemd.conf" "edited")
prefix_has(/usr /etc)
file(READ "${STAGE}/etc/tandem/tandemd.conf" text)
if(NOT text STREQUAL "edited")
    message(FATAL_ERROR "an edited configuration was replaced")
endif()

# A program that is installed anywhere reads the file that is installed with it.
function(program_reads PROGRAM CONF)
    file(READ "${CONF}" text)
    string(REPLACE "#max_job_size = 65535" "max_job_size = 4321" text "${text}")
    file(WRITE "${CONF}" "${text}")
    execute_process(COMMAND "${PROGRAM}" --check-config OUTPUT_VARIABLE said
        COMMAND_ERROR_IS_FATAL ANY)
    if(NOT said MATCHES "max_job_size = 4321\n")
        message(FATAL_ERROR "${PROGRAM} does not read ${CONF}")
    endif()
endfunction()

program_reads("${STAGE}/usr/local/bin/tandemd" "${STAGE}/usr/local/etc/tandem/tandemd.conf")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${STAGE}/any place"
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
program_reads("${STAGE}/any place/bin/tandemd" "${STAGE}/any place/etc/tandem/tandemd.conf")

# Jobs survive the program that is the machine's; another may be anybody's.
file(REMOVE "${STAGE}/etc/tandem/tandemd.conf")
prefix_has(/usr /etc)
file(STRINGS "${STAGE}/etc/tandem/tandemd.conf" dirs REGEX "^dir = /var/lib/tandem$")
file(STRINGS "${STAGE}/any place/etc/tandem/tandemd.conf" others REGEX "^dir = ")
if(NOT dirs OR others)
    message(FATAL_ERROR "the journal's directory: `${dirs}`, and `${others}` elsewhere")
endif()
file(REMOVE_RECURSE "${STAGE}")
