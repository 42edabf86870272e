/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pascalops_fortran.c: what the module of pascalops.f90 calls. */
#include "pascalops.h"

void pascal_start_of_fortran_(long id, int line, const char *file);
void pascal_start_of_fortran_(long id, int line, const char *file) {
#ifdef PASCAL_OFF
    (void)id, (void)line, (void)file;
#else
    _pascal_start(id, line, file);
#endif
}

void pascal_stop_of_fortran_(long id, int line);
void pascal_stop_of_fortran_(long id, int line) {
#ifdef PASCAL_OFF
    (void)id, (void)line;
#else
    /* The place of a stop is its line. */
    _pascal_stop(id, line, "");
#endif
}
