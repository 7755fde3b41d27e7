/** Connections of `node:sqlite`, the SQLite that Node.js contains. */

import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

import { ExtensionError } from './errors';
import { checked, explained, load, type ConnectionClass } from './extension';
import { pathOf, uri, type DatabasePath, type SeleniteOptions } from './uri';

/** Those of `DatabaseSync`, and Selenite's. */
export interface ConnectOptions extends Omit<DatabaseSyncOptions, 'open'>, SeleniteOptions {}

/**
 * Opens an encrypted database, or creates it. The first call in a process loads the extension.
 *
 * @param database - A path; `':memory:'`; `''` for a temporary database. The temporary files of every connection are
 * encrypted, those of databases in memory, too.
 * @throws ExtensionError - The extension does not load.
 * @throws Error - As by `new DatabaseSync`, with the extension's reason in the message.
 * @example
 * import { connect } from 'selenite-sqlite/node-sqlite'
 * using db = connect('app.db', { identity: 'key.txt' })
 * db.exec('CREATE TABLE note(body)')
 */
export function connect(database: DatabasePath, options: ConnectOptions = {}): DatabaseSync {
  const { identity, cipher, mode, plain, options: parameters, ...stock } = options;
  const own = { identity, cipher, mode, plain, options: parameters };
  if ('open' in stock && !stock.open) {
    throw new TypeError('open: false is not possible: connect opens the database');
  }
  const Base = databaseClass();
  const kind = Base as unknown as ConnectionClass;
  load(kind);
  const name = uri(database, own);
  let db: DatabaseSync;
  try {
    db = new Base(name, stock);
  } catch (error) {
    throw explained(kind, pathOf(database), error);
  }
  return checked(db, database, own);
}

type DatabaseClass = typeof DatabaseSync;

/** `DatabaseSync` of a Node.js that can load extensions, and takes URIs. */
function databaseClass(): DatabaseClass {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  // An older one would make a file of the URI's name.
  const takesUris = major > 23 || (major === 23 && minor >= 10) || (major === 22 && minor >= 15);
  if (!takesUris) {
    throw new ExtensionError(
      `Node.js ${process.versions.node} has no node:sqlite that takes URIs: use Node.js 22.15 or later, or better-sqlite3`,
    );
  }
  // Not imported above: Node.js warns then, and one without it fails.
  return (require('node:sqlite') as { DatabaseSync: DatabaseClass }).DatabaseSync;
}
