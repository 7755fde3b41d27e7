/**
 * A driver adapter of Prisma: its own for better-sqlite3, on encrypted databases.
 *
 * @example
 * import { PrismaSelenite } from 'selenite-sqlite/prisma'
 * const prisma = new PrismaClient({ adapter: new PrismaSelenite({ url: 'file:app.db', identity: 'key.txt' }) })
 */

import { createRequire } from 'node:module';

import type BetterSqlite3 = require('better-sqlite3');
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';

import { driver, type ConnectOptions } from './better_sqlite3';
import { applySettings } from './environment';

type Config = ConstructorParameters<typeof PrismaBetterSqlite3>[0];
type AdapterOptions = ConstructorParameters<typeof PrismaBetterSqlite3>[1];

/** What Prisma's adapter takes, and Selenite's options. */
export type PrismaSeleniteConfig = Config & Omit<ConnectOptions, keyof BetterSqlite3.Options>;

/** Prisma's adapter for better-sqlite3, whose databases are encrypted. */
export class PrismaSelenite extends PrismaBetterSqlite3 {
  readonly #own: ConnectOptions;
  readonly #path: string;

  constructor(config: PrismaSeleniteConfig, options?: AdapterOptions) {
    const { identity, cipher, mode, plain, options: parameters, ...stock } = config;
    super(stock as Config, options);
    this.#own = { identity, cipher, mode, plain, options: parameters };
    this.#path = stock.url.replace(/^file:/, '');
  }

  override async connect(): ReturnType<PrismaBetterSqlite3['connect']> {
    // The copy of better-sqlite3 that the adapter uses, which may be older than the application's.
    const own = createRequire(require.resolve('@prisma/adapter-better-sqlite3'));
    const kind = driver(this.#own, own('better-sqlite3') as typeof BetterSqlite3);
    // The adapter keeps its connection to itself: this one checks the database, and explains errors.
    new kind(this.#path).close();
    const { mode: _, ...settings } = this.#own;
    const restore = applySettings(settings);
    try {
      // It opens the database before it returns.
      return super.connect();
    } finally {
      restore();
    }
  }
}
