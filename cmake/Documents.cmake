# The licence, and the pages, in the folders that they have in the sources: they refer to each other by these.
include(GNUInstallDirs)

file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/*/*.md ${PROJECT_SOURCE_DIR}/server/*/*.md)
list(FILTER pages EXCLUDE REGEX "^(build|tests)/")
foreach(page IN LISTS pages ITEMS LICENSE tests/bench/chart.svg)
    get_filename_component(folder ${page} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
