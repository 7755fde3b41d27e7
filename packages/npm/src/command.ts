/** Runs the command of this package: its progress to a callback, its errors to exceptions. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { debuglog } from 'node:util';

import { commandError, ExtensionError, type CommandError, type Ending } from './errors';
import { commandPath } from './platform';
import type { Progress } from './results';
import { pathOfUrl, specification, type Identity } from './uri';

/** Is called when a phase begins, then every ten seconds. What takes less than a second reports nothing. */
export type ProgressCallback = (progress: Progress) => void;

/** What every function that runs the command takes. */
export interface RunOptions {
  /** What opens the database. Without it, `SELENITE_IDENTITY` and the configuration file count. */
  identity?: Identity | undefined;
  /** An exception in it stops the command, and is the result. */
  progress?: ProgressCallback | undefined;
  /** Stops the command, which cleans up; the result is the signal's reason, an `AbortError`. */
  signal?: AbortSignal | undefined;
}

/** An argument of the command; a `URL` has the scheme `file:`. */
export type Argument = string | URL;

/** A command that ended with exit status 0, or with an error that has to be thrown. */
export interface Ended {
  readonly output: string;
  readonly error: CommandError | undefined;
}

/**
 * Runs any command of `selenite`, and answers what it prints.
 *
 * @param command - Its name, such as `'keys'`.
 * @param args - Its arguments: options, then names of files.
 * @throws CommandError - The command failed; the subclass says why.
 * @throws ExtensionError - The command does not run on this machine.
 * @example
 * await selenite.run('keys', ['add', 'app.db', 'age1...'], { identity: 'key.txt' })
 */
export async function run(command: string, args: readonly Argument[] = [], options: RunOptions = {}): Promise<string> {
  const ended = await runToEnd(command, args, options);
  if (ended.error) {
    throw ended.error;
  }
  return ended.output;
}

/** Runs a command whose output counts although it failed. */
export async function runToEnd(command: string, args: readonly Argument[], options: RunOptions): Promise<Ended> {
  const { progress, signal } = options;
  signal?.throwIfAborted();
  const identity = specification(options.identity);
  const line = [...(identity === undefined ? [] : ['--identity', identity]), command, ...args.map(pathText)];
  const child = spawn(commandPath(), line, { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = (): void => void child.kill();
  signal?.addEventListener('abort', stop);
  const closed = new Promise<Ending>((resolve, reject) => {
    child.once('error', (error) => reject(new ExtensionError(cannotRun(error), { cause: error })));
    child.once('close', (exitStatus, killer) => resolve({ command, exitStatus, signal: killer }));
  });
  const listening = listen(child.stderr, progress, stop);
  try {
    const [ended, output, said] = await Promise.all([closed, text(child.stdout), listening]);
    signal?.throwIfAborted();
    if (said.thrown) {
      throw said.thrown.error;
    }
    if (ended.exitStatus === 0) {
      note(command, said.lines);
      return { output, error: undefined };
    }
    return { output, error: errorOf(ended, said.lines) };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** A path as an argument. */
export function pathText(path: Argument): string {
  return path instanceof URL ? pathOfUrl('a path', path) : path;
}

const PHASES = 'copying|backing up|restoring|comparing|verifying|checking integrity|sealing|finishing|checking';
const PROGRESS = new RegExp(`^(${PHASES})(?: (\\d[\\d.]* \\w+))?(?:: (\\d+) %| \\.\\.\\.)$`);
const WAITING = /^.+, for \d+ s$/;
const debug = debuglog('selenite');

interface Said {
  readonly lines: readonly string[];
  readonly thrown: { readonly error: unknown } | undefined;
}

/** Reads standard error to its end: progress goes to the callback, everything else is returned. */
async function listen(stream: Readable, progress: ProgressCallback | undefined, stop: () => void): Promise<Said> {
  const lines: string[] = [];
  let thrown: Said['thrown'];
  for await (const line of createInterface({ input: stream })) {
    const one = progressOf(line);
    if (!one) {
      lines.push(line);
    } else if (progress && !thrown) {
      try {
        progress(one);
      } catch (error) {
        thrown = { error };
        stop();
      }
    }
  }
  return { lines, thrown };
}

function progressOf(line: string): Progress | undefined {
  const found = PROGRESS.exec(line);
  if (found) {
    const [, phase = '', total = null, percent] = found;
    return { phase, total, percent: percent === undefined ? null : Number(percent), text: line };
  }
  return WAITING.test(line) ? { phase: 'waiting', total: null, percent: null, text: line } : undefined;
}

function note(command: string, lines: readonly string[]): void {
  for (const line of lines.filter(Boolean)) {
    if (line.startsWith('warning: ')) {
      process.emitWarning(`${command}: ${line.slice('warning: '.length)}`, 'SeleniteWarning');
    } else {
      debug('%s: %s', command, line);
    }
  }
}

/** An error is `error: WHAT`, then ` next: ADVICE`; what stands before it are details. */
function errorOf(ended: Ending, said: readonly string[]): CommandError {
  const lines = said.filter(Boolean);
  if (ended.signal) {
    return commandError(ended, `was killed by ${ended.signal}`, '', lines);
  }
  const start = lines.findIndex((line) => line.startsWith('error: '));
  if (start < 0) {
    return commandError(ended, `exit status ${ended.exitStatus}`, '', lines);
  }
  const reason = [lines[start]!.slice('error: '.length)];
  let advice = '';
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith(' next: ')) {
      advice = line.slice(' next: '.length);
    } else if (advice || line.startsWith('Usage: ')) {
      break;
    } else {
      reason.push(line.trim());
    }
  }
  return commandError(ended, reason.join(' '), advice, lines.slice(0, start));
}

function cannotRun(error: NodeJS.ErrnoException): string {
  // The kernel's errors for another architecture, and for a missing dynamic linker.
  const hint = ['ENOEXEC', 'ENOENT'].includes(error.code ?? '') ? ': it is of another platform than this machine' : '';
  return `${commandPath()} does not run${hint} (${error.code ?? error.message})`;
}
