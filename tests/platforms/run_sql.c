/* Runs SQL on a database through the extension, as a C program of the platform under test would.
 * usage: run_sql EXTENSION URI STATEMENT...
 * Rows are printed, their columns separated by '|'. The statement ".kill" ends the process by SIGKILL. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sqlite3.h"

static int print_row(void *unused, int count, char **values, char **names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < count; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  putchar('\n');
  return 0;
}

static int fail(const char *what, const char *message, sqlite3 *boot) {
  fprintf(stderr, "%s: %s\n", what, message);
  sqlite3_stmt *reason;
  if (sqlite3_prepare_v2(boot, "SELECT selenite_last_error()", -1, &reason, NULL) == SQLITE_OK) {
    if (sqlite3_step(reason) == SQLITE_ROW) fprintf(stderr, "%s\n", sqlite3_column_text(reason, 0));
    sqlite3_finalize(reason);
  }
  return 1;
}

int main(int count, char **arguments) {
  sqlite3 *boot, *db;
  char *message = NULL;
  if (count < 3) return 2;
  if (sqlite3_open(":memory:", &boot) != SQLITE_OK) return 2;
  sqlite3_enable_load_extension(boot, 1);
  if (sqlite3_load_extension(boot, arguments[1], NULL, &message) != SQLITE_OK) return fail("load", message, boot);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  if (sqlite3_open_v2(arguments[2], &db, flags, NULL) != SQLITE_OK) return fail("open", sqlite3_errmsg(db), boot);
  for (int i = 3; i < count; i++) {
    if (!strcmp(arguments[i], ".kill")) {
      fflush(stdout);
      raise(SIGKILL);
    }
    if (sqlite3_exec(db, arguments[i], print_row, NULL, &message) != SQLITE_OK) return fail(arguments[i], message, boot);
  }
  sqlite3_close(db);
  return 0;
}
