/**
 * Transparent encryption for SQLite: a loadable extension, a command, and what Node.js needs to use both.
 *
 * Connections: `selenite-sqlite/better-sqlite3` and `selenite-sqlite/node-sqlite`, each with `connect`. Other programs:
 * `selenite-sqlite/knex`, `selenite-sqlite/prisma`, `selenite-sqlite/register`. Files: the functions below.
 *
 * @packageDocumentation
 */

export { run, type Argument, type ProgressCallback, type RunOptions } from './command';
export {
  BusyError,
  CommandError,
  DamagedError,
  ExtensionError,
  IdentityError,
  InterruptedCommandError,
  NotEncryptedError,
  SeleniteError,
  StorageError,
  UsageError,
} from './errors';
export { lastError, load, type Connection, type ConnectionClass } from './extension';
export {
  backup,
  decrypt,
  encrypt,
  keygen,
  keys,
  restore,
  status,
  verify,
  type BackupOptions,
  type DecryptOptions,
  type EncryptOptions,
  type RestoreOptions,
  type VerifyOptions,
} from './operations';
export { commandPath, extensionPath, version } from './platform';
export type {
  BadPage,
  Backup,
  Conversion,
  Epoch,
  KeyList,
  KeySlot,
  LastVerification,
  Progress,
  Restore,
  Status,
  StatusWarning,
  Superblock,
  Verification,
} from './results';
export { uri, type DatabasePath, type Identity, type SeleniteOptions } from './uri';
