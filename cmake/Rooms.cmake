# A room of the house: a folder, a library, and the headers that others may include.
#
# tandem_room(TARGET FOLDER SOURCES ... PUBLIC_HEADERS ... [SEES target ...] [INSIDE target ...]
#     [LINKS library ...])
#
# SEES names the rooms whose public headers it may include; rooms that see this one see them, too.
# INSIDE names the room that this one is a part of: it may include that one's own headers, too.
# LINKS are libraries from elsewhere. PUBLIC_HEADERS names what others may include; all other
# headers of the folder are its own.
#
# There is no common include directory: each room has one made of links to its headers, so that an
# #include of a room that it does not see finds no file. An arrow between rooms is a line here.
function(tandem_room TARGET FOLDER)
    cmake_parse_arguments(R "" "" "SOURCES;PUBLIC_HEADERS;SEES;INSIDE;LINKS" ${ARGN})
    add_library(${TARGET} STATIC ${R_SOURCES})
    set(source ${PROJECT_SOURCE_DIR}/${FOLDER})
    set(shown ${PROJECT_BINARY_DIR}/rooms/${TARGET}/shown)
    set(own ${PROJECT_BINARY_DIR}/rooms/${TARGET}/own)
    # What is no longer there must not be found by an old link.
    file(REMOVE_RECURSE ${shown} ${own})
    file(MAKE_DIRECTORY ${shown}/${FOLDER} ${own}/${FOLDER})
    foreach(header IN LISTS R_PUBLIC_HEADERS)
        file(CREATE_LINK ${source}/${header} ${shown}/${FOLDER}/${header} SYMBOLIC)
    endforeach()
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${source} ${source}/*.h)
    list(REMOVE_ITEM headers ${R_PUBLIC_HEADERS})
    foreach(header IN LISTS headers)
        file(CREATE_LINK ${source}/${header} ${own}/${FOLDER}/${header} SYMBOLIC)
    endforeach()
    target_include_directories(${TARGET} PUBLIC ${shown} PRIVATE ${own})
    foreach(whole IN LISTS R_INSIDE)
        target_include_directories(${TARGET}
            PRIVATE ${PROJECT_BINARY_DIR}/rooms/${whole}/own)
    endforeach()
    target_link_libraries(${TARGET}
        PUBLIC tandem_build ${R_SEES}
        PRIVATE ${R_LINKS} tandem_warnings)
endfunction()
