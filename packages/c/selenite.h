/*
** Selenite: transparent encryption for SQLite, for C and C++ programs that link SQLite themselves.
**
** Compile selenite.c with the sqlite3.h and sqlite3ext.h of your SQLite (3.40 or later), and link it with libselenite.a
** and with that SQLite. SQLite may be built with SQLITE_OMIT_LOAD_EXTENSION.
**
**     if( selenite_register()!=SQLITE_OK ) ...     // once, before the first encrypted database is opened
**     sqlite3_open_v2("file:app.db?vfs=selenite&selenite_identity=key.txt", &db,
**                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
**
** CONFIGURATION.md describes the parameters of the URI. If a database cannot be opened, sqlite3_errmsg() is SQLite's
** own message, and "SELECT selenite_last_error()" the reason.
**
** SPDX-License-Identifier: Apache-2.0 OR MIT
*/
#ifndef SELENITE_H
#define SELENITE_H

#include <sqlite3.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3_api_routines;

/*
** Registers the VFS "selenite", and its functions, tables and collations for each connection that is opened from now
** on. It may be called again, for example after sqlite3_reset_auto_extension().
**
** Returns SQLITE_OK or the error of opening a connection in memory, by which it registers the VFS.
*/
int selenite_register(void);

/*
** The entry point that sqlite3_load_extension() calls in libselenite.so.
**
** Do not pass it to sqlite3_auto_extension(): that takes its result, SQLITE_OK_LOAD_PERMANENTLY, for an error.
** Without routines, as of a SQLite that was built with SQLITE_OMIT_LOAD_EXTENSION, it returns SQLITE_MISUSE.
*/
int sqlite3_selenite_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines);

#ifdef __cplusplus
}
#endif

#endif
