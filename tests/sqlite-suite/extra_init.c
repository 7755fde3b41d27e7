/*
** SQLITE_EXTRA_INIT of the testfixture: which VFS is the default one, by SUITE_VFS.
**
**   selenite   the extension that SUITE_EXTENSION names, as the default VFS
**   geometry   SQLite's own VFS, but a new database has the page size and the reserved bytes of an encrypted one
**   (unset)    SQLite's own
**
** sqlite3_initialize calls it once its own VFSs are registered; after sqlite3_shutdown it is called again.
*/
#include "sqlite3.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int suite_register_geometry(void);

typedef int (*EntryPoint)(sqlite3 *, char **, const void *);

static int load(const char *path){
  sqlite3 *db = 0;
  char *error = 0;
  int rc = sqlite3_open(":memory:", &db);
  if( rc==SQLITE_OK ){
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int*)0);
    rc = sqlite3_load_extension(db, path, 0, &error);
  }
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "testfixture: %s: %s\n", path, error ? error : sqlite3_errmsg(db));
    exit(2);
  }
  sqlite3_close(db);
  /* Tests count the connections' automatic extensions, and compare lists of functions. */
  sqlite3_reset_auto_extension();
  return SQLITE_OK;
}

int suite_extra_init(const char *unused){
  const char *name = getenv("SUITE_VFS");
  sqlite3_vfs *vfs;
  (void)unused;
  if( name==0 || name[0]==0 ) return SQLITE_OK;
  if( strcmp(name, "geometry")==0 && sqlite3_vfs_find(name)==0 ){
    int rc = suite_register_geometry();
    if( rc!=SQLITE_OK ) return rc;
  }
  if( strcmp(name, "selenite")==0 && sqlite3_vfs_find(name)==0 ){
    int rc = load(getenv("SUITE_EXTENSION"));
    if( rc!=SQLITE_OK ) return rc;
  }
  vfs = sqlite3_vfs_find(name);
  if( vfs==0 ){
    fprintf(stderr, "testfixture: no VFS %s\n", name);
    exit(2);
  }
  return sqlite3_vfs_register(vfs, 1);
}
