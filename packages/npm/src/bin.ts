#!/usr/bin/env node
/** The command `selenite` of the platform package, in place of this process where Node.js can do so. */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { ExtensionError } from './errors';
import { commandPath } from './platform';

type Execve = (file: string, args: string[], environment: NodeJS.ProcessEnv) => never;

function main(args: string[]): void {
  const file = commandPath();
  // From Node.js 22.15 on.
  const { execve } = process as { execve?: Execve };
  if (execve) {
    execve.call(process, file, [file, ...args], process.env);
  }
  const child = spawn(file, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A terminal sends SIGINT to the command, too; a second one would end that before it has cleaned up.
    process.on(signal, () => void (signal === 'SIGINT' || child.kill(signal)));
  }
  child.on('error', (error) => fail(`${file} does not run: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}

function fail(why: string): void {
  process.stderr.write(`error: ${why}\n`);
  process.exitCode = 1;
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ExtensionError)) {
    throw error;
  }
  fail(error.message);
}
