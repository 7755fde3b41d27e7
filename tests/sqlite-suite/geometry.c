/*
** The control VFS: SQLite's default VFS, but what SQLite reads of a new database is a header with the page size and the
** 48 reserved bytes of an encrypted one, and SQLITE_FCNTL_PDB and mapped I/O are as there. A test that fails under it as
** it does under Selenite fails because of that geometry, not because of encryption.
*/
#include "sqlite3.h"
#include <stdlib.h>
#include <string.h>

typedef struct GeometryFile GeometryFile;
struct GeometryFile {
  sqlite3_file base;
  int is_main;
};

static sqlite3_vfs geometry_vfs;
static sqlite3_io_methods geometry_methods;

#define BELOW(file) ((sqlite3_file*)(((char*)(file)) + sizeof(GeometryFile)))
#define VFS_BELOW ((sqlite3_vfs*)geometry_vfs.pAppData)

static int geometry_close(sqlite3_file *file){
  return BELOW(file)->pMethods ? BELOW(file)->pMethods->xClose(BELOW(file)) : SQLITE_OK;
}

/* FORMAT: the header that is answered before page 1 exists. */
static void synthetic_header(unsigned char *out){
  int page_size = getenv("SUITE_PAGE_SIZE") ? atoi(getenv("SUITE_PAGE_SIZE")) : 4096;
  memset(out, 0, 100);
  memcpy(out, "SQLite format 3", 16);
  out[16] = (unsigned char)(page_size >> 8);
  out[17] = (unsigned char)(page_size >> 16);
  out[20] = 48;
}

static int geometry_read(sqlite3_file *file, void *out, int size, sqlite3_int64 offset){
  GeometryFile *own = (GeometryFile*)file;
  int rc = BELOW(file)->pMethods->xRead(BELOW(file), out, size, offset);
  if( own->is_main && rc==SQLITE_IOERR_SHORT_READ && offset==0 && size==100 ){
    sqlite3_int64 end = 0;
    BELOW(file)->pMethods->xFileSize(BELOW(file), &end);
    if( end==0 ){
      synthetic_header(out);
      return SQLITE_OK;
    }
  }
  return rc;
}
static int geometry_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset){
  return BELOW(file)->pMethods->xWrite(BELOW(file), data, size, offset);
}
static int geometry_truncate(sqlite3_file *file, sqlite3_int64 size){
  return BELOW(file)->pMethods->xTruncate(BELOW(file), size);
}
static int geometry_sync(sqlite3_file *file, int flags){
  return BELOW(file)->pMethods->xSync(BELOW(file), flags);
}
static int geometry_size(sqlite3_file *file, sqlite3_int64 *out){
  return BELOW(file)->pMethods->xFileSize(BELOW(file), out);
}
static int geometry_lock(sqlite3_file *file, int level){
  return BELOW(file)->pMethods->xLock(BELOW(file), level);
}
static int geometry_unlock(sqlite3_file *file, int level){
  return BELOW(file)->pMethods->xUnlock(BELOW(file), level);
}
static int geometry_check(sqlite3_file *file, int *out){
  return BELOW(file)->pMethods->xCheckReservedLock(BELOW(file), out);
}
static int geometry_control(sqlite3_file *file, int op, void *argument){
  if( op==SQLITE_FCNTL_MMAP_SIZE ){
    *(sqlite3_int64*)argument = 0;
    return SQLITE_OK;
  }
  return BELOW(file)->pMethods->xFileControl(BELOW(file), op, argument);
}
static int geometry_sector(sqlite3_file *file){
  return BELOW(file)->pMethods->xSectorSize(BELOW(file));
}
static int geometry_device(sqlite3_file *file){
  return BELOW(file)->pMethods->xDeviceCharacteristics(BELOW(file));
}
static int geometry_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **out){
  return BELOW(file)->pMethods->xShmMap(BELOW(file), region, size, extend, out);
}
static int geometry_shm_lock(sqlite3_file *file, int first, int count, int flags){
  return BELOW(file)->pMethods->xShmLock(BELOW(file), first, count, flags);
}
static void geometry_shm_barrier(sqlite3_file *file){
  BELOW(file)->pMethods->xShmBarrier(BELOW(file));
}
static int geometry_shm_unmap(sqlite3_file *file, int remove){
  return BELOW(file)->pMethods->xShmUnmap(BELOW(file), remove);
}

static int geometry_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags){
  GeometryFile *own = (GeometryFile*)file;
  int rc;
  (void)vfs;
  memset(file, 0, sizeof(GeometryFile));
  rc = VFS_BELOW->xOpen(VFS_BELOW, name, BELOW(file), flags, out_flags);
  if( rc==SQLITE_OK ){
    own->is_main = (flags & SQLITE_OPEN_MAIN_DB)!=0;
    own->base.pMethods = &geometry_methods;
  }
  return rc;
}

int suite_register_geometry(void){
  sqlite3_vfs *below = sqlite3_vfs_find(0);
  sqlite3_io_methods methods = {
    2, geometry_close, geometry_read, geometry_write, geometry_truncate, geometry_sync, geometry_size, geometry_lock,
    geometry_unlock, geometry_check, geometry_control, geometry_sector, geometry_device, geometry_shm_map,
    geometry_shm_lock, geometry_shm_barrier, geometry_shm_unmap, 0, 0
  };
  geometry_methods = methods;
  geometry_vfs = *below;
  geometry_vfs.pNext = 0;
  geometry_vfs.zName = "geometry";
  geometry_vfs.pAppData = below;
  geometry_vfs.szOsFile = below->szOsFile + (int)sizeof(GeometryFile);
  geometry_vfs.xOpen = geometry_open;
  return sqlite3_vfs_register(&geometry_vfs, 1);
}
