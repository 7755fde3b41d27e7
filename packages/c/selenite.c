/*
** selenite_register() of selenite.h.
**
** SPDX-License-Identifier: Apache-2.0 OR MIT
*/

/* Without it, sqlite3ext.h makes the names of SQLite's functions macros. */
#ifndef SQLITE_CORE
# define SQLITE_CORE 1
#endif
#include <sqlite3ext.h>

#include "selenite.h"

#if SQLITE_VERSION_NUMBER<3040000
# error "Selenite needs SQLite 3.40 or later"
#endif

/* A shared SQLite may be newer than the headers: its table of routines would be longer than this one. */
static int version(void){
  int linked = sqlite3_libversion_number();
  return linked<SQLITE_VERSION_NUMBER ? linked : SQLITE_VERSION_NUMBER;
}

/* selenite_register() has done what this is called for. */
static int already_registered(void (*entry)(void)){
  (void)entry;
  return SQLITE_OK;
}

/* The functions that libselenite.a calls, by name. SQLite passes such a table only if it can load extensions. */
static const struct sqlite3_api_routines routines = {
  .libversion = sqlite3_libversion,
  .libversion_number = version,
  .malloc = sqlite3_malloc,
  .auto_extension = already_registered,
#if SQLITE_VERSION_NUMBER>=3041000
  .is_interrupted = sqlite3_is_interrupted,
#endif
  .column_text = sqlite3_column_text,
  .declare_vtab = sqlite3_declare_vtab,
  .errmsg = sqlite3_errmsg,
  .finalize = sqlite3_finalize,
  .free = sqlite3_free,
  .result_double = sqlite3_result_double,
  .result_error = sqlite3_result_error,
  .result_int64 = sqlite3_result_int64,
  .result_null = sqlite3_result_null,
  .result_text = sqlite3_result_text,
  .step = sqlite3_step,
  .user_data = sqlite3_user_data,
  .value_bytes = sqlite3_value_bytes,
  .value_int64 = sqlite3_value_int64,
  .value_text = sqlite3_value_text,
  .value_type = sqlite3_value_type,
  .prepare_v2 = sqlite3_prepare_v2,
  .create_module_v2 = sqlite3_create_module_v2,
  .create_collation_v2 = sqlite3_create_collation_v2,
  .file_control = sqlite3_file_control,
  .vfs_find = sqlite3_vfs_find,
  .vfs_register = sqlite3_vfs_register,
  .context_db_handle = sqlite3_context_db_handle,
  .create_function_v2 = sqlite3_create_function_v2,
  .db_status = sqlite3_db_status,
  .log = sqlite3_log,
  .vtab_config = sqlite3_vtab_config,
  .db_filename = sqlite3_db_filename,
  .uri_parameter = sqlite3_uri_parameter,
  .malloc64 = sqlite3_malloc64,
  .uri_key = sqlite3_uri_key,
  .filename_database = sqlite3_filename_database,
  .filename_wal = sqlite3_filename_wal,
  .txn_state = sqlite3_txn_state,
  .db_name = sqlite3_db_name,
};

/* Called by SQLite for each new connection. */
static int every_connection(sqlite3 *db, char **error, const struct sqlite3_api_routines *unused){
  int code = sqlite3_selenite_init(db, error, &routines);
  (void)unused;
  return code==SQLITE_OK_LOAD_PERMANENTLY ? SQLITE_OK : code;
}

int selenite_register(void){
  sqlite3 *first = 0;
  int code = sqlite3_auto_extension((void(*)(void))every_connection);
  if( code==SQLITE_OK ){
    code = sqlite3_open(":memory:", &first);
    sqlite3_close(first);
  }
  return code;
}
