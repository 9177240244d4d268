# Libraries that are used but not ours, each as an interface target inquest_NAME.
find_package(PkgConfig REQUIRED)

function(inquest_find_package name module)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
    add_library(inquest_${name} INTERFACE)
    target_link_libraries(inquest_${name} INTERFACE PkgConfig::${name})
endfunction()

inquest_find_package(jansson jansson)
inquest_find_package(elf libelf)
inquest_find_package(dw libdw)
inquest_find_package(zstd libzstd)
inquest_find_package(nettle nettle)
inquest_find_package(zlib zlib)
inquest_find_package(expat expat)
inquest_find_package(cmocka cmocka)
inquest_find_package(edit libedit)
inquest_find_package(capstone capstone)
inquest_find_package(sqlite sqlite3)

# Headers only: the library is loaded when it is needed (suspects/store_libpq.h).
pkg_check_modules(pq REQUIRED libpq)
add_library(inquest_pq_headers INTERFACE)
target_include_directories(inquest_pq_headers SYSTEM INTERFACE ${pq_INCLUDE_DIRS})

# CRoaring brings no pkg-config file in Debian 12.
find_library(ROARING_LIBRARY roaring REQUIRED)
add_library(inquest_roaring INTERFACE)
target_link_libraries(inquest_roaring INTERFACE ${ROARING_LIBRARY})

find_program(LLVM_CONFIG llvm-config-19 REQUIRED)
function(inquest_llvm_config variable)
    execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE output
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${variable} "${output}" PARENT_SCOPE)
endfunction()
inquest_llvm_config(LLVM_INCLUDE_DIR --includedir)
inquest_llvm_config(LLVM_LIBRARY_DIR --libdir)
inquest_llvm_config(LLVM_LIBRARIES --libs --link-shared)

# Headers only, for the plugin: its LLVM symbols come from the clang that loads it.
add_library(inquest_llvm_headers INTERFACE)
target_include_directories(inquest_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIR})
add_library(inquest_llvm INTERFACE)
target_link_libraries(inquest_llvm INTERFACE inquest_llvm_headers ${LLVM_LIBRARIES})
target_link_directories(inquest_llvm INTERFACE ${LLVM_LIBRARY_DIR})
