# The Debian package: `cmake --build build/release --target package`. It has what `cmake --install`
# puts below /usr and /etc, what Debian wants beside it (cmake/debian_files.cmake.in), and the
# scripts that dpkg runs (conf/debian).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tandem)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Tandem maintainers <maintainers@tandem.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "job broker for beanstalk, Gearman and HTTP clients")
set(CPACK_PACKAGE_DESCRIPTION
"Tandem takes jobs from programs, keeps them in queues and gives each to a
worker, by the beanstalk protocol, the Gearman protocol and HTTP: a job that
comes by one may be worked on by another. A journal keeps jobs over crashes
and power cuts.
.
This package has the broker, tandemd, and the program of its operators,
tandemctl. It listens at the loopback only until it is told otherwise.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)

# DESTDIR, so that /etc is /etc.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, tzdata")
# Pushing jobs to https needs certificates.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "logrotate, beanstalkd, gearman-tools")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/conf/debian/conffiles
    ${PROJECT_SOURCE_DIR}/conf/debian/postinst
    ${PROJECT_SOURCE_DIR}/conf/debian/postrm
    ${PROJECT_SOURCE_DIR}/conf/debian/prerm)

configure_file(${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake.in debian_files.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/debian_files.cmake)
include(CPack)
