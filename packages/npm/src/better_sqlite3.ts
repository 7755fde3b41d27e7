/** Connections of better-sqlite3, whose settings are in the environment: see environment.ts. */

import type BetterSqlite3 = require('better-sqlite3');

import { applySettings } from './environment';
import { ExtensionError } from './errors';
import { checked, classOf, explained, makeDefault } from './extension';
import { pathOf, type SeleniteOptions } from './uri';

/** Those of better-sqlite3, and Selenite's. */
export interface ConnectOptions extends BetterSqlite3.Options, SeleniteOptions {
  /** `'ro'` is `readonly: true`, `'rw'` is `fileMustExist: true`. */
  mode?: 'ro' | 'rw' | 'rwc' | undefined;
}

/** A `Database` of better-sqlite3, which `using` closes. */
export type Database = BetterSqlite3.Database & Disposable;

/** `Database` of better-sqlite3, for encrypted databases. */
export type DatabaseClass = new (path?: string | URL, options?: ConnectOptions) => Database;

/**
 * Opens an encrypted database, or creates it. The first call in a process loads the extension, and makes it the default
 * VFS: all databases that this process opens by better-sqlite3 have to be encrypted from then on, unless they are opened
 * by `connect` with `plain: true`.
 *
 * @param path - A path; `':memory:'`; `''` for a temporary database.
 * @throws ExtensionError - The extension does not load.
 * @throws SqliteError - As by `new Database`, with the extension's reason in the message.
 * @example
 * import { connect } from 'selenite-sqlite/better-sqlite3'
 * const db = connect('app.db', { identity: 'key.txt' })
 * db.exec('CREATE TABLE note(body)')
 */
export function connect(path: string | URL, options?: ConnectOptions): Database {
  return new (driver())(path, options);
}

/**
 * The class `Database` of better-sqlite3, for encrypted databases: for programs that call `new Database(path, options)`
 * themselves, such as TypeORM.
 *
 * @param defaults - Options of every connection, which its own options replace.
 * @param base - The class of a copy of better-sqlite3 other than the one that `require` finds.
 * @example
 * new DataSource({ type: 'better-sqlite3', database: 'app.db', driver: driver({ identity: 'key.txt' }) })
 */
export function driver(defaults: ConnectOptions = {}, base: typeof BetterSqlite3 = installed()): DatabaseClass {
  // What is given may be such a class itself.
  const kind = classOf(base as never);
  const Base = kind as unknown as typeof BetterSqlite3;
  return class SeleniteDatabase extends Base {
    constructor(path: string | URL = '', options: ConnectOptions = {}) {
      const { identity, cipher, mode, plain, options: given, ...stock } = { ...defaults, ...options };
      const own = { identity, cipher, plain, options: given };
      const file = pathOf(path).trim();
      if (file.startsWith('file:')) {
        throw new TypeError('better-sqlite3 takes no URI: give the path, and its parameters as options');
      }
      const flags = flagsOf(mode, stock);
      makeDefault(kind);
      const restore = applySettings(own);
      try {
        super(file, flags);
      } catch (error) {
        throw explained(kind, file, error);
      } finally {
        restore();
      }
      checked(this as never, file, own);
    }

    [Symbol.dispose](): void {
      this.close();
    }
  };
}

function flagsOf(mode: string | undefined, stock: BetterSqlite3.Options): BetterSqlite3.Options {
  switch (mode) {
    case undefined:
    case 'rwc':
      return stock;
    case 'ro':
      return { ...stock, readonly: true };
    case 'rw':
      return { ...stock, fileMustExist: true };
    default:
      throw new TypeError(`mode is 'ro', 'rw' or 'rwc', and not '${mode}'`);
  }
}

function installed(): typeof BetterSqlite3 {
  try {
    return require('better-sqlite3') as typeof BetterSqlite3;
  } catch (error) {
    if ((error as { code?: string }).code === 'MODULE_NOT_FOUND') {
      throw new ExtensionError('better-sqlite3 is not installed: npm install better-sqlite3', { cause: error });
    }
    throw error;
  }
}
