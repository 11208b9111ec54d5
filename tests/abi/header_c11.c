/* SPDX-License-Identifier: Apache-2.0 */
/* The header alone, as pedantic C11. */
#include <interframe/interframe.h>

int header_c11(void);

_Static_assert(sizeof(ifr_event) % 8 == 0, "records of an array keep their alignment");

int header_c11(void) {
  ifr_api api = {0};
  api.struct_size = (uint32_t)sizeof api;
  return (int)api.abi_version;
}
