/**
 * Loads the extension, once for each copy of SQLite in the process.
 *
 * - auto-extension: the extension, once loaded, adds itself to every connection that its copy of SQLite opens later,
 *   in every thread.
 * - one-version: the VFS of a process is of one version. Another one that was loaded before is not replaced.
 * - checked-by-result: whether loading worked is seen by the result of `selenite_version()`.
 */

import { readFileSync } from 'node:fs';

import { ExtensionError } from './errors';
import { extensionPath, version } from './platform';
import { admitsPlain, pathOf, type DatabasePath, type SeleniteOptions } from './uri';

/** A connection of better-sqlite3, of node:sqlite, or of a module like them. */
export interface Connection {
  prepare(sql: string): { get(...values: never[]): unknown; all(...values: never[]): unknown };
  loadExtension(path: string): unknown;
  close(): unknown;
}

/** The class of such connections: `Database` of better-sqlite3, `DatabaseSync` of node:sqlite. */
export type ConnectionClass<C extends Connection = Connection> = new (path: string, options?: never) => C;

/**
 * Loads the extension into the copy of SQLite that a connection, or a class of connections, uses.
 *
 * Every connection of that class that is opened afterwards has the functions and can use `vfs=selenite`, in every
 * thread. A connection that is open already gets the functions, if it may load extensions. The `connect` functions do
 * this by themselves.
 *
 * @throws ExtensionError - The message says why, and what to do.
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 * selenite.load(DatabaseSync)
 * const db = new DatabaseSync(selenite.uri('app.db', { identity: 'key.txt' }))
 */
export function load(target: Connection | ConnectionClass): void {
  loadInto(classOf(target));
  if (typeof target !== 'function' && versionOf(target) === undefined) {
    // It was opened before.
    loadOn(target);
  }
}

/**
 * Why a file was last refused, such as which page is not authentic. SQLite's own message is short: `disk I/O error` may
 * stand for a page that was altered.
 *
 * @param target - The connection whose statement failed; of a class, the latest error of the process.
 * @example
 * try {
 *   db.prepare('SELECT * FROM note').all()
 * } catch (error) {
 *   console.error(error, selenite.lastError(db))
 * }
 */
export function lastError(target: Connection | ConnectionClass): string | undefined {
  load(target);
  const sql = 'SELECT selenite_last_error() AS value';
  return valueOf(typeof target === 'function' ? loadInto(classOf(target)) : target, sql);
}

/** From now on, this copy of SQLite opens files through Selenite's VFS, if no URI names another. */
export function makeDefault(kind: ConnectionClass): void {
  valueOf(loadInto(kind), 'SELECT selenite_default(1) AS value');
}

/** An error of opening a database, with the extension's reason in its message. Its class stays. */
export function explained(kind: ConnectionClass, path: string, error: unknown): unknown {
  if (error instanceof Error && isOfSqlite(error)) {
    const reason = valueOf(loadInto(kind), 'SELECT selenite_last_error(?) AS value', path);
    if (reason !== undefined) {
      const { message, stack } = error;
      error.message = `${message}: ${reason}`;
      error.stack = stack?.replace(message, () => error.message) ?? '';
    }
  }
  return error;
}

/** A connection whose database is encrypted, or will be (its file is empty), or has no file. It is closed otherwise. */
export function checked<C extends Connection>(db: C, database: DatabasePath, own: SeleniteOptions): C {
  try {
    if (!admitsPlain(own) && !isEncrypted(db, database)) {
      const error = new Error(
        `file is not encrypted: ${pathOf(database)} is an unencrypted database; encrypt it (selenite.encrypt), or ` +
          'admit it with plain: true',
      );
      throw Object.assign(error, { code: 'SQLITE_NOTADB' });
    }
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

const OLDEST_SQLITE = [3, 40];
/** A connection in memory for each copy of SQLite that has the extension. */
const boots = new Map<ConnectionClass, Connection>();

/** Loads the extension into the copy of SQLite that a class of connections uses. */
function loadInto(kind: ConnectionClass): Connection {
  const known = boots.get(kind);
  if (known) {
    return known;
  }
  // Only node:sqlite knows the option.
  const boot = new kind(':memory:', { allowExtension: true } as never);
  try {
    checkSqlite(boot);
    const found = versionOf(boot);
    if (found === undefined) {
      loadOn(boot);
      checkLoaded(boot);
    } else if (found !== version) {
      throw new ExtensionError(
        `two versions of the extension in one process: ${found} is loaded${loadedFrom()}, and this package is ` +
          `${version}; remove the other one (npm ls selenite-sqlite), or install selenite-sqlite@${found}`,
      );
    }
  } catch (error) {
    boot.close();
    throw error;
  }
  boots.set(kind, boot);
  return boot;
}

function checkLoaded(boot: Connection): void {
  const found = versionOf(boot);
  if (found !== version) {
    throw new ExtensionError(
      `${extensionPath()} is version ${found}, and this package is ${version}: the installation is mixed; ` +
        'install it again: npm install --force',
    );
  }
}

function loadOn(db: Connection & { enableLoadExtension?: (allow: boolean) => void }): void {
  const file = extensionPath();
  // SQLite adds the suffix when the name alone does not load, and tells the second error.
  const name = file.replace(/\.so$/, '');
  try {
    try {
      db.loadExtension(name);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_INVALID_STATE' || !db.enableLoadExtension) {
        throw error;
      }
      // A connection of node:sqlite that may not load extensions now gets this one alone.
      db.enableLoadExtension(true);
      try {
        db.loadExtension(name);
      } finally {
        db.enableLoadExtension(false);
      }
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExtensionError(
      (error as { code?: string }).code === 'ERR_INVALID_STATE'
        ? 'this connection was opened before the extension was loaded, and may not load extensions; call ' +
          'selenite.load(DatabaseSync) first, or open it by connect of selenite-sqlite/node-sqlite'
        : `${file} cannot be loaded: ${why}`,
      { cause: error },
    );
  }
}

function checkSqlite(boot: Connection): void {
  const text = valueOf(boot, 'SELECT sqlite_version() AS value') ?? '';
  const [major = 0, minor = 0] = text.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_SQLITE;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new ExtensionError(
      `SQLite ${text} is too old: selenite needs 3.40 or later; use a newer better-sqlite3 or a newer Node.js`,
    );
  }
  if (valueOf(boot, "SELECT sqlite_compileoption_used('OMIT_LOAD_EXTENSION') AS value") === '1') {
    throw new ExtensionError(
      `SQLite ${text} cannot load extensions: it was compiled with SQLITE_OMIT_LOAD_EXTENSION; use node:sqlite, or ` +
        'better-sqlite3 as it is published',
    );
  }
}

/** The class below all subclasses: that of the module whose copy of SQLite is used. */
export function classOf(target: Connection | ConnectionClass): ConnectionClass {
  const isClass = typeof target === 'function';
  for (
    let prototype: unknown = isClass ? target.prototype : target;
    typeof prototype === 'object' && prototype !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    if (Object.hasOwn(prototype, 'loadExtension') && Object.hasOwn(prototype, 'prepare')) {
      return prototype.constructor as ConnectionClass;
    }
  }
  const name = isClass ? target.name : (target as object | undefined)?.constructor?.name ?? typeof target;
  throw new TypeError(
    `${name} is not a connection of better-sqlite3 or node:sqlite, nor the class of one, that can load extensions`,
  );
}

function isEncrypted(db: Connection, database: DatabasePath): boolean {
  const sql = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'";
  const value = valueOf(db, sql);
  // A database without a file has no such row; nor has one on another VFS.
  return value === undefined ? ['', ':memory:'].includes(pathOf(database)) : ['yes', 'no database yet'].includes(value);
}

function versionOf(db: Connection): string | undefined {
  try {
    return valueOf(db, 'SELECT selenite_version() AS value');
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such function')) {
      return undefined;
    }
    throw error;
  }
}

function valueOf(db: Connection, sql: string, ...values: string[]): string | undefined {
  const row = db.prepare(sql).get(...(values as never[])) as { value: unknown } | undefined;
  return row?.value == null ? undefined : String(row.value);
}

function isOfSqlite(error: Error & { code?: unknown }): boolean {
  return typeof error.code === 'string' && /SQLITE/.test(error.code);
}

/** The files of other copies of the extension in this process, for a message. */
function loadedFrom(): string {
  const own = extensionPath();
  const maps = readFileSync('/proc/self/maps', 'utf8').matchAll(/\/.*selenite.*\.so.*$/gm);
  const others = [...new Set([...maps].map(([file]) => file))].filter((file) => file !== own);
  return others.length ? ` from ${others.join(', ')}` : '';
}
