/* A program that links SQLite and libselenite.a: writes an encrypted database, and reads it with the right key only. */
#include <selenite.h>
#include <stdio.h>
#include <string.h>

static int check(int holds, const char *what, sqlite3 *db){
  if( !holds ) fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "");
  return !holds;
}

static sqlite3 *connect(const char *key){
  char uri[256];
  sqlite3 *db = 0;
  snprintf(uri, sizeof(uri), "file:static.db?vfs=selenite&selenite_identity=%s", key);
  sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, 0);
  return db;
}

int main(void){
  static const char write[] = "DROP TABLE IF EXISTS note; CREATE TABLE note(body); INSERT INTO note VALUES('planted text')";
  sqlite3 *db = 0;
  int faults = check(sqlite3_selenite_init(0, 0, 0)==SQLITE_MISUSE, "without routines", 0);
  faults += check(selenite_register()==SQLITE_OK && selenite_register()==SQLITE_OK, "register", 0);
  for(int turn=0; turn<2; turn++){
    db = connect("key.txt");
    faults += check(sqlite3_exec(db, write, 0, 0, 0)==SQLITE_OK, "write", db);
    faults += check(sqlite3_exec(db, "SELECT * FROM selenite_status", 0, 0, 0)==SQLITE_OK, "status", db);
    sqlite3_close(db);
  }
  db = connect("other.txt");
  faults += check(sqlite3_exec(db, "SELECT * FROM note", 0, 0, 0)!=SQLITE_OK, "another key", db);
  faults += check(strcmp(sqlite3_errmsg(db), "file is not a database")==0, "another key", db);
  sqlite3_close(db);
  printf("SQLite %s, extensions %s\n", sqlite3_libversion(),
         sqlite3_compileoption_used("OMIT_LOAD_EXTENSION") ? "left out" : "possible");
  return faults;
}
