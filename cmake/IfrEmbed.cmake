# SPDX-License-Identifier: Apache-2.0
# ifr_embed(TARGET t FILE path NAMESPACE ns SYMBOL name): makes the bytes of a file a constant of the program.
# The source is a build output: it follows the file. Declare std::span<const unsigned char> ns::name() to use it.

if(CMAKE_SCRIPT_MODE_FILE)
  # Called at build time by the rule below, with INPUT, OUTPUT, NAMESPACE and SYMBOL.
  file(READ ${INPUT} hex HEX)
  string(LENGTH "${hex}" hex_length)
  math(EXPR size "${hex_length} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  file(WRITE ${OUTPUT} "// Made from a file of assets by IfrEmbed.cmake.
#include <span>

namespace ${NAMESPACE} {
namespace {
const unsigned char kBytes[${size}] = {
${hex}};
}  // namespace

std::span<const unsigned char> ${SYMBOL}();
std::span<const unsigned char> ${SYMBOL}() { return kBytes; }
}  // namespace ${NAMESPACE}
")
  return()
endif()

set(IFR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(ifr_embed)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;FILE;NAMESPACE;SYMBOL" "")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${arg_SYMBOL}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${arg_FILE} -DOUTPUT=${output} -DNAMESPACE=${arg_NAMESPACE}
            -DSYMBOL=${arg_SYMBOL} -P ${IFR_EMBED_SCRIPT}
    DEPENDS ${arg_FILE} ${IFR_EMBED_SCRIPT}
    COMMENT "Embedding ${arg_FILE}" VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${output})
endfunction()
