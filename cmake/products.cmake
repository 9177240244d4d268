# What is installed: bin/inquest, bin/inquest-cc, bin/inquest-c++, lib/inquest/inquest-plugin.so,
# lib/inquest/inquest-bitcode.so, lib/inquest/libinquest-runtime.a; lib/inquest/ld and ld.lld, which
# are inquest-cc in a linker's place.
# inquest-cc finds its plugin relative to itself, so the build tree has the installed tree's shape.
set(INQUEST_PLUGIN_DIR lib/inquest)

file(GLOB cli_sources CONFIGURE_DEPENDS src/cli/*.c)
if(cli_sources)
    add_executable(inquest ${cli_sources})
    target_link_libraries(inquest PRIVATE inquest_flags inquest_sanitize ${INQUEST_LIBRARIES}
        inquest_edit)
    add_dependencies(inquest inquest-bitcode)
    install(TARGETS inquest DESTINATION bin)
endif()

# The reader of bitcode, with LLVM in it; bin/inquest loads it when it is needed. What it shares with
# bin/inquest is compiled into both.
file(GLOB bitcode_sources CONFIGURE_DEPENDS src/program/from_bitcode*.c)
list(FILTER bitcode_sources EXCLUDE REGEX "/from_bitcode_apart\\.c$")
file(GLOB bitcode_shared CONFIGURE_DEPENDS src/program/code.c src/program/path_*.c
    src/program/split.c src/common/*.c)
list(FILTER bitcode_shared EXCLUDE REGEX "/common/(json|progress|color|budget|sha256)[^/]*\\.c$")
add_library(inquest-bitcode MODULE ${bitcode_sources} ${bitcode_shared})
set_target_properties(inquest-bitcode PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}
    POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_link_libraries(inquest-bitcode PRIVATE inquest_flags inquest_sanitize inquest_llvm)
install(TARGETS inquest-bitcode DESTINATION ${INQUEST_PLUGIN_DIR})

# The record of a link and archives are read and written by the same files as bin/inquest has.
file(GLOB driver_sources CONFIGURE_DEPENDS src/instrument/driver/*.c)
list(APPEND driver_sources src/program/link_record.c src/program/link_record_parse.c
    src/program/archive.c src/program/image_build_id.c)
if(driver_sources)
    add_executable(inquest-cc ${driver_sources})
    target_link_libraries(inquest-cc PRIVATE inquest_flags inquest_sanitize common
        inquest_elf inquest_zstd)
    add_custom_command(TARGET inquest-cc POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink inquest-cc
            ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/inquest-c++
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}
        COMMAND ${CMAKE_COMMAND} -E create_symlink ../../bin/inquest-cc
            ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld
        COMMAND ${CMAKE_COMMAND} -E create_symlink ../../bin/inquest-cc
            ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld.lld
        BYPRODUCTS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/inquest-c++
            ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld
            ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld.lld)
    install(TARGETS inquest-cc DESTINATION bin)
    install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/inquest-c++ DESTINATION bin)
    install(FILES ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld
        ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}/ld.lld DESTINATION ${INQUEST_PLUGIN_DIR})
endif()

# The plugin shares path numbering and splitting with the reader, and the mapping of paths with
# inquest-cc, by compiling the same files. It is self-contained but for libc and LLVM, whose symbols
# are those of the clang that loads it.
file(GLOB plugin_sources CONFIGURE_DEPENDS src/instrument/*.c src/instrument/plugin.cc)
if(EXISTS ${PROJECT_SOURCE_DIR}/src/instrument/plugin.cc)
    file(GLOB plugin_shared CONFIGURE_DEPENDS
        src/program/path_*.c src/program/split.c src/program/library.c src/common/*.c src/layout/*.c
        src/instrument/driver/prefix_map.c)
    list(FILTER plugin_shared EXCLUDE REGEX "/common/(json|progress|color|budget|sha256)[^/]*\\.c$")
    add_library(inquest-plugin MODULE ${plugin_sources} ${plugin_shared})
    set_target_properties(inquest-plugin PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR}
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
    target_compile_options(inquest-plugin PRIVATE
        -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)
    target_link_libraries(inquest-plugin PRIVATE inquest_flags inquest_llvm_headers)
    install(TARGETS inquest-plugin DESTINATION ${INQUEST_PLUGIN_DIR})
endif()

# What programs that sample are linked with, beside the plugin. No sanitizer, no coverage: it runs
# inside of other people's processes. No debug info: it is not the program's.
file(GLOB runtime_sources CONFIGURE_DEPENDS src/runtime/*.c)
if(runtime_sources)
    set_source_files_properties(${runtime_sources} PROPERTIES COMPILE_OPTIONS -g0)
    add_library(inquest-runtime STATIC ${runtime_sources})
    set_target_properties(inquest-runtime PROPERTIES POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${INQUEST_PLUGIN_DIR})
    target_compile_options(inquest-runtime PRIVATE -O2 -ffreestanding -fno-stack-protector
        -mgeneral-regs-only -fcf-protection)
    target_link_libraries(inquest-runtime PRIVATE inquest_flags)
    install(TARGETS inquest-runtime DESTINATION ${INQUEST_PLUGIN_DIR})
endif()

# For programs: inquest-cc finds it relative to itself, in the build tree as well.
configure_file(include/inquest.h ${CMAKE_BINARY_DIR}/include/inquest.h COPYONLY)
install(FILES include/inquest.h DESTINATION include)

file(GLOB manuals CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Shell completions, each where its shell looks.
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/inquest.bash)
    install(FILES completions/inquest.bash RENAME inquest
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/_inquest)
    install(FILES completions/_inquest DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/inquest.fish)
    install(FILES completions/inquest.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
