/**
 * A client of Knex: its own for better-sqlite3, on encrypted databases.
 *
 * @example
 * import { SeleniteClient } from 'selenite-sqlite/knex'
 * const db = knex({ client: SeleniteClient, connection: { filename: 'app.db', identity: 'key.txt' } })
 */

import type { Knex } from 'knex';

import { connect, type ConnectOptions } from './better_sqlite3';

/** What `connection` of Knex's configuration has. */
export interface SeleniteConnection extends Omit<ConnectOptions, 'options'> {
  filename: string;
  /** Parameters, as for `connect`, and Knex's own. */
  options?: {
    readonly?: boolean;
    nativeBinding?: string;
    safeIntegers?: boolean;
    [parameter: string]: string | number | boolean | undefined;
  };
}

interface BetterSqlite3Client {
  connectionSettings: SeleniteConnection;
}

// Knex documents no other way to extend a client.
const Base = require('knex/lib/dialects/better-sqlite3') as new (config: Knex.Config) => BetterSqlite3Client & Knex.Client;

/** Knex's client for better-sqlite3, whose connections are those of `selenite-sqlite/better-sqlite3`. */
class Client extends Base {
  // Knex calls it once; its connections are opened below.
  _driver(): unknown {
    return require('better-sqlite3');
  }

  override async acquireRawConnection(): Promise<unknown> {
    const { filename, options = {}, ...own } = this.connectionSettings;
    // Knex's own options are in the same object.
    const { nativeBinding, readonly, safeIntegers, ...parameters } = options;
    const stock = { ...(nativeBinding && { nativeBinding }), ...(readonly && { readonly }) };
    const db = connect(filename, { ...own, ...stock, options: parameters as ConnectOptions['options'] });
    return safeIntegers === undefined ? db : db.defaultSafeIntegers(safeIntegers);
  }
}

/** The class for `client` in Knex's configuration. */
export const SeleniteClient = Client as unknown as typeof Knex.Client;
