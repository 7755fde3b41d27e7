/** URIs of encrypted databases (sqlite.org/uri.html), and the parameters of the extension in them. */

import { fileURLToPath } from 'node:url';

/** The path of a database. A `URL` has the scheme `file:`; a `Buffer` need not be UTF-8. */
export type DatabasePath = string | URL | Buffer;

/**
 * What opens a database: the path of a key file (see `keygen`), or a specification: `'passphrase:PATH'`, `'raw:PATH'`,
 * `'command:NAME'`. Never the key itself: that is refused.
 */
export type Identity = string | URL;

/** What is Selenite's in the options of a connection. */
export interface SeleniteOptions {
  /** Without it, the variable `SELENITE_IDENTITY` and the configuration file count. */
  identity?: Identity | undefined;
  /** The cipher suite of a database that does not exist yet, such as `'AEGIS_256X4'`. Without it, AES_256. */
  cipher?: string | undefined;
  /** SQLite's: `'rw'` makes no new database, `'rwc'` is the default. */
  mode?: 'ro' | 'rw' | 'rwc' | 'memory' | undefined;
  /** Admit an unencrypted database, for the time before it is encrypted. */
  plain?: boolean | undefined;
  /** Other parameters, such as `{ pool_size: '256M', origin: 'any' }`: see docs/CONFIGURATION.md. */
  options?: Readonly<Record<string, string | number>> | undefined;
}

/**
 * The URI of an encrypted database, for programs that open it themselves.
 *
 * The extension has to be loaded first: see `load`. Every byte of a path is escaped where SQLite's syntax asks for it,
 * so that a path may contain `?`, `#`, `%`, spaces, and bytes that are not UTF-8.
 *
 * @param database - A path; `':memory:'` for a database in memory; `''` for a temporary one.
 * @throws TypeError - The identity is a key and not the path of one, or a value cannot be written in a URI.
 * @example
 * selenite.uri('50% off?.db', { identity: 'key.txt' })
 * // 'file:50%25%20off%3F.db?vfs=selenite&selenite_identity=key.txt'
 */
export function uri(database: DatabasePath, own: SeleniteOptions = {}): string {
  const bytes = toBytes('database', database instanceof URL ? pathOfUrl('database', database) : database);
  // After two slashes SQLite expects an authority, which may be empty.
  const scheme = bytes[0] === SLASH ? 'file://' : 'file:';
  const query = parameters(own).map(([name, value]) => `&${encodeURIComponent(name)}=${encodeValue(value)}`);
  return `${scheme}${escaped(bytes)}?vfs=selenite${query.join('')}`;
}

/** The parameters of the extension and of SQLite, by their names in a URI. */
export function parameters(own: SeleniteOptions): [string, string][] {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(own.options ?? {})) {
    found.set(name, toText(name, value));
  }
  if (own.plain && !found.has('plain')) {
    found.set('plain', 'allow');
  }
  const named = { mode: own.mode, cipher: own.cipher, selenite_identity: specification(own.identity) };
  for (const [name, value] of Object.entries(named)) {
    if (value !== undefined) {
      if (found.has(name)) {
        throw new TypeError(`${name} is given twice: as an option and in options`);
      }
      found.set(name, toText(name, value));
    }
  }
  if (found.has('vfs')) {
    throw new TypeError('options names a VFS: an encrypted database needs vfs=selenite');
  }
  return [...found];
}

/** The specification of an identity, which is never a key. */
export function specification(identity: Identity | undefined): string | undefined {
  if (identity === undefined) {
    return undefined;
  }
  if (identity instanceof URL) {
    return pathOfUrl('identity', identity);
  }
  if (typeof identity !== 'string') {
    throw new TypeError(
      `identity is a string or a URL of a file${Buffer.isBuffer(identity) ? '; a file whose name is not UTF-8 has to be renamed' : ''}`,
    );
  }
  if (/^AGE-(SECRET-KEY|PLUGIN)-/i.test(identity)) {
    // The key is not repeated: messages end in logs.
    throw new TypeError(
      'the identity is a key, and not the path of a file that contains it; write the key to a file that no other user ' +
        'can read, and give its path',
    );
  }
  if (identity.startsWith('age1')) {
    throw new TypeError(`${identity} is a recipient, which cannot open a database; give the path of its key file`);
  }
  return identity;
}

/** A path as the extension names the file in its messages. */
export function pathOf(database: DatabasePath): string {
  return database instanceof URL ? pathOfUrl('database', database) : toBytes('database', database).toString();
}

/** The path of a URL: Node.js has paths as Unicode text. */
export function pathOfUrl(name: string, url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    if (error instanceof URIError) {
      throw new TypeError(`${name}: the path of the URL is not UTF-8: rename the file`, { cause: error });
    }
    throw error;
  }
}

/** Whether an unencrypted database is admitted: by the options, or by the environment. */
export function admitsPlain(own: SeleniteOptions): boolean {
  const given = own.options?.['plain'] ?? (own.plain ? 'allow' : undefined);
  return (given ?? process.env['SELENITE_PLAIN']) === 'allow';
}

const SLASH = 0x2f;

function escaped(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    // Not a colon: "file:a:b" is a path to SQLite, but %3A is one to every reader of URIs.
    text += /[A-Za-z0-9_.~/-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(/%(2F|3A|2C)/g, decodeURIComponent);
}

function toBytes(name: string, value: unknown): Buffer {
  if (Buffer.isBuffer(value)) {
    if (value.includes(0)) {
      throw new TypeError(`${name}: embedded null character`);
    }
    return value;
  }
  if (typeof value !== 'string') {
    throw new TypeError(`${name} is a string, a URL of a file or a Buffer`);
  }
  return Buffer.from(toText(name, value));
}

/** A value as the extension reads it: UTF-8, and no zero byte, at which SQLite ends it. */
function toText(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new TypeError(`${name} is a string or a number, not ${typeof value}: see docs/CONFIGURATION.md for its values`);
  }
  const text = String(value);
  if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)) {
    throw new TypeError(`${name}: not a valid Unicode text`);
  }
  if (`${name}${text}`.includes('\0')) {
    throw new TypeError(`${name}: embedded null character`);
  }
  return text;
}
