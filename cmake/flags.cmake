# inquest_flags: what every C file of ours is compiled with. inquest_sanitize: the sanitizers, which
# the plugin must go without, since it is loaded into a clang that has none.
add_library(inquest_flags INTERFACE)
target_include_directories(inquest_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(inquest_flags INTERFACE
    -O2 -g -Wall -Wextra -Wshadow -Wvla
    "$<$<COMPILE_LANGUAGE:C>:-D_GNU_SOURCE=;-Wmissing-prototypes;-Wstrict-prototypes>"
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/common/banned.h>"
    $<$<BOOL:${INQUEST_WERROR}>:-Werror>)
target_link_options(inquest_flags INTERFACE -Wl,--as-needed)

add_library(inquest_sanitize INTERFACE)
if(INQUEST_SANITIZE OR INQUEST_FUZZ)
    set(INQUEST_SANITIZERS address,undefined)
    if(INQUEST_FUZZ)
        set(INQUEST_SANITIZERS ${INQUEST_SANITIZERS},fuzzer-no-link)
    endif()
    target_compile_options(inquest_sanitize INTERFACE
        -fsanitize=${INQUEST_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(inquest_sanitize INTERFACE -fsanitize=${INQUEST_SANITIZERS})
endif()
