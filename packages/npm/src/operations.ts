/** Operations on whole databases. Each runs the command of this package, in a process of its own. */

import { stat } from 'node:fs/promises';

import { pathText, run, runToEnd, type Argument, type RunOptions } from './command';
import { ExtensionError } from './errors';
import { commandPath, version } from './platform';
import * as results from './results';
import type { Backup, Conversion, KeyList, Restore, Status, Verification } from './results';
import { specification, type Identity } from './uri';

/**
 * Generates an identity, an age key, in a new file that only its owner can read.
 *
 * Keep a copy of the file elsewhere: without it, what is encrypted for it cannot be opened.
 *
 * @returns The recipient, `age1...`: the public part, for `recipients`.
 * @throws UsageError - The file exists.
 * @example
 * await selenite.keygen('key.txt') // 'age1...'
 */
export async function keygen(path: Argument): Promise<string> {
  const text = await run('keygen', ['--output', path]);
  const found = /^recipient +(\S+)$/m.exec(text)?.[1];
  if (!found) {
    throw mixed('keygen', text);
  }
  return found;
}

/** Options of `encrypt`. */
export interface EncryptOptions extends RunOptions {
  /** A new file; the original is kept then. */
  to?: Argument | undefined;
  /** The cipher suite. Without it, AES_256. */
  cipher?: string | undefined;
  /** Additional key holders: `age1...`, or identities. */
  recipients?: Iterable<Identity> | undefined;
}

/**
 * Encrypts a database of stock SQLite, in place or to a new file, and compares every value.
 *
 * In place, no other process can use the database meanwhile. Freed disk blocks contain the original until they are
 * reused.
 *
 * @throws CommandError - It is encrypted already, or a value differs. Its subclasses say what else.
 * @example
 * await selenite.encrypt('app.db', { identity: 'key.txt', progress: console.log })
 */
export async function encrypt(database: Argument, options: EncryptOptions = {}): Promise<Conversion> {
  const { to, cipher, recipients } = options;
  const more = [...option('to', to), ...option('cipher', cipher), ...recipientOptions(recipients)];
  return convert('encrypt', database, to, more, options);
}

/** Options of `decrypt`. */
export interface DecryptOptions extends RunOptions {
  /** A new file; the original is kept then. */
  to?: Argument | undefined;
}

/**
 * Decrypts a database, in place or to a new file: the result is one of stock SQLite.
 *
 * @example
 * await selenite.decrypt('app.db', { identity: 'key.txt', to: 'clear.db' })
 */
export async function decrypt(database: Argument, options: DecryptOptions = {}): Promise<Conversion> {
  return convert('decrypt', database, options.to, option('to', options.to), options);
}

/**
 * The status of a database. Without an identity it is not authenticated: `superblock.authentic` says so.
 *
 * Of a folder, run the command: `selenite.run('status', ['--json', '/srv'])`.
 *
 * @example
 * (await selenite.status('app.db', { identity: 'key.txt' })).superblock?.suite // 'AES_256'
 */
export async function status(database: Argument, options: RunOptions = {}): Promise<Status> {
  const path = pathText(database);
  if ((await stat(path).catch(() => undefined))?.isDirectory()) {
    throw new TypeError(
      `${path} is a folder: status takes a database; selenite.run('status', ['--json', FOLDER]) lists the databases of a folder`,
    );
  }
  return readAnswer('status', await run('status', ['--json', '--', path], options), (found) => results.status(path, found));
}

/** Options of `verify`. */
export interface VerifyOptions extends RunOptions {
  /** Leave out SQLite's integrity check. */
  physicalOnly?: boolean | undefined;
  /** Compare with this anchor, to detect an older copy. */
  anchor?: Argument | undefined;
  /** Write an anchor if everything is authentic. */
  writeAnchor?: Argument | undefined;
}

/**
 * Verifies that every page is authentic and that the database is consistent.
 *
 * @throws DamagedError - A page is not authentic, or older than the anchor, or the database is not consistent; its
 * `report` is the `Verification`, with the bad pages.
 * @example
 * (await selenite.verify('app.db', { identity: 'key.txt' })).pageCount // 42
 */
export async function verify(database: Argument, options: VerifyOptions = {}): Promise<Verification> {
  const { physicalOnly, anchor, writeAnchor } = options;
  const more = [...flag('physical-only', physicalOnly), ...option('anchor', anchor), ...option('write-anchor', writeAnchor)];
  const path = pathText(database);
  return runJson('verify', [...more, '--', path], options, (found) => results.verification(path, found));
}

/** Options of `backup`. */
export interface BackupOptions extends RunOptions {
  /** Only the changes since the newest backup at the destination. */
  incremental?: boolean | undefined;
  /** Continue an interrupted backup at once. */
  resume?: boolean | undefined;
  /** Include a digest of all rows, which `selenite drill` compares. */
  digest?: boolean | undefined;
  /** Leave out pages that are not authentic. `DamagedError` is thrown in the end, too; its `report` is the `Backup`. */
  skipBad?: boolean | undefined;
  /** Additional recipients of this backup, `age1...`. */
  recipients?: Iterable<Identity> | undefined;
}

/**
 * Backs up a database, compressed and encrypted, while others use it.
 *
 * @param destination - A folder, or `s3://BUCKET/PREFIX`.
 * @example
 * (await selenite.backup('app.db', '/backups', { identity: 'key.txt', incremental: true })).name
 */
export async function backup(database: Argument, destination: Argument, options: BackupOptions = {}): Promise<Backup> {
  const more = [
    ...flag('incremental', options.incremental),
    ...flag('resume', options.resume),
    ...flag('digest', options.digest),
    ...flag('skip-bad', options.skipBad),
    ...recipientOptions(options.recipients),
  ];
  return runJson('backup', [...more, '--', database, destination], options, results.backup);
}

/** Options of `restore`. */
export interface RestoreOptions extends RunOptions {
  /** Restore to this time. A text is UTC, such as `'2026-03-01T12:00:00Z'`. */
  at?: Date | string | undefined;
  /** The name of a backup, instead of the newest. */
  name?: string | undefined;
  /** Replace an existing file. */
  force?: boolean | undefined;
}

/**
 * Restores a database from the newest backup at a destination.
 *
 * @param to - The new file.
 * @example
 * (await selenite.restore('/backups', 'app.db', { identity: 'key.txt' })).pages // 42
 */
export async function restore(destination: Argument, to: Argument, options: RestoreOptions = {}): Promise<Restore> {
  const { at, name, force } = options;
  const time = at instanceof Date ? at.toISOString().replace(/\.\d+Z$/, 'Z') : at;
  const more = [...option('to', to), ...flag('force', force), ...option('at', time), ...option('backup', name)];
  const path = pathText(to);
  return runJson('restore', [...more, '--', destination], options, (found) => results.restore(path, found));
}

/**
 * The key slots of a database: who can open it. Needs no key; with one, `origin` and `commitment` are known.
 *
 * Slots are changed by the command: `selenite.run('keys', ['add', 'app.db', 'age1...'], { identity: 'key.txt' })`.
 *
 * @example
 * (await selenite.keys('app.db')).slots.map((slot) => slot.who) // ['age1...']
 */
export async function keys(database: Argument, options: RunOptions = {}): Promise<KeyList> {
  return readAnswer('keys', await run('keys', ['list', '--json', '--', database], options), results.keyList);
}

function option(name: string, value: Argument | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${pathText(value)}`];
}

function flag(name: string, isSet: boolean | undefined): string[] {
  return isSet ? [`--${name}`] : [];
}

function recipientOptions(recipients: Iterable<Identity> = []): string[] {
  if (typeof recipients === 'string' || recipients instanceof URL) {
    throw new TypeError('recipients is a list of recipients, not one of them');
  }
  return [...recipients].map((one) => {
    const isRecipient = typeof one === 'string' && one.startsWith('age1');
    return `--recipient=${isRecipient ? one : specification(one)}`;
  });
}

async function convert(
  command: string,
  database: Argument,
  to: Argument | undefined,
  more: string[],
  options: RunOptions,
): Promise<Conversion> {
  const text = await run(command, ['--json', ...more, '--', database], options);
  return readAnswer(command, text, (found) => results.conversion(pathText(to ?? database), found));
}

async function runJson<T>(
  command: string,
  args: Argument[],
  options: RunOptions,
  read: (found: unknown) => T,
): Promise<T> {
  const { output, error } = await runToEnd(command, ['--json', ...args], options);
  if (error) {
    try {
      error.report = readAnswer(command, output, read);
    } catch {
      // It printed nothing; one that was killed may have printed a part.
    }
    throw error;
  }
  return readAnswer(command, output, read);
}

/** What the command answered, as a result. */
function readAnswer<T>(command: string, text: string, read: (found: unknown) => T): T {
  try {
    return read(JSON.parse(text));
  } catch (error) {
    throw mixed(command, text, { cause: error });
  }
}

function mixed(command: string, text: string, options?: ErrorOptions): ExtensionError {
  return new ExtensionError(
    `${commandPath()} is not of this package's version (${version}): its answer to ${command} is not as expected: ` +
      `${JSON.stringify(text.slice(0, 200))}; install both again: npm install --force`,
    options,
  );
}
