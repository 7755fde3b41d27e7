/** What can go wrong outside SQLite: the extension does not load, or a command fails. */

/**
 * The base of all errors of this package. An error of a connection is not one of them: it is the driver's own, as with
 * stock SQLite, with the extension's reason in its message.
 */
export class SeleniteError extends Error {}

/** The extension cannot be used in this process. The message says why, and what to do. */
export class ExtensionError extends SeleniteError {}

/**
 * A command ended with another exit status than 0.
 *
 * Each exit status that the documentation lists has a subclass. This class itself stands for 1, "anything else", and
 * for a command that was killed (`signal`).
 *
 * @example
 * try {
 *   await selenite.encrypt('app.db', { identity: 'key.txt' })
 * } catch (error) {
 *   if (error instanceof selenite.CommandError) console.error(error.exitStatus, error.reason, error.advice)
 * }
 */
export class CommandError extends SeleniteError {
  /** The name of the command, such as `verify`. */
  readonly command: string;
  /** The exit status of the command; `null` if it was killed. */
  readonly exitStatus: number | null;
  /** The signal that killed the command, or `null`. */
  readonly signal: NodeJS.Signals | null;
  /** What happened, without the name of the command and the advice. */
  readonly reason: string;
  /** What to do next; may be empty. */
  readonly advice: string;
  /** The lines that the command printed before, such as one for each bad page. */
  readonly details: readonly string[];
  /**
   * What the command found, if it printed that in spite of the error: a `Verification` of `verify`, a `Backup` of
   * `backup`, a `Restore` of `restore`.
   */
  report?: unknown;

  /** @internal */
  constructor(ended: Ending, reason: string, advice = '', details: readonly string[] = []) {
    super(`selenite ${ended.command}: ${reason}${advice && ` (next: ${advice})`}`);
    this.command = ended.command;
    this.exitStatus = ended.exitStatus;
    this.signal = ended.signal;
    this.reason = reason;
    this.advice = advice;
    this.details = details;
  }
}

/** How a command ended. */
export interface Ending {
  command: string;
  exitStatus: number | null;
  signal: NodeJS.Signals | null;
}

/** Exit status 2: an option or a file name that the command does not accept. */
export class UsageError extends CommandError {}

/** Exit status 3: an unencrypted database, or no database. */
export class NotEncryptedError extends CommandError {}

/** Exit status 4: no key, a wrong one, or one that is refused. */
export class IdentityError extends CommandError {}

/** Exit status 5: data that is not authentic, missing or damaged. `report` says which, if it is known. */
export class DamagedError extends CommandError {}

/** Exit status 6: a missing file, a full disk, a store that does not answer. */
export class StorageError extends CommandError {}

/** Exit status 7: the database is in use by another process. */
export class BusyError extends CommandError {}

/** Exit status 130: the command was interrupted. `advice` says how to continue. */
export class InterruptedCommandError extends CommandError {}

const ALL = {
  SeleniteError,
  ExtensionError,
  CommandError,
  UsageError,
  NotEncryptedError,
  IdentityError,
  DamagedError,
  StorageError,
  BusyError,
  InterruptedCommandError,
};
for (const [name, kind] of Object.entries(ALL)) {
  // Not the name of the class, which a minifier changes.
  Object.defineProperty(kind.prototype, 'name', { value: name, writable: true, configurable: true });
}

const BY_EXIT_STATUS: Record<number, typeof CommandError> = {
  2: UsageError,
  3: NotEncryptedError,
  4: IdentityError,
  5: DamagedError,
  6: StorageError,
  7: BusyError,
  130: InterruptedCommandError,
};

/** The error of an exit status. */
export function commandError(ended: Ending, reason: string, advice: string, details: readonly string[]): CommandError {
  const kind = BY_EXIT_STATUS[ended.exitStatus ?? 1] ?? CommandError;
  return new kind(ended, reason, advice, details);
}
