/** The platform package of this machine: the extension and the command. */

import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import * as path from 'node:path';

import { ExtensionError } from './errors';

/** The version of this package, and of the extension and the command. */
export const version: string = (require('../package.json') as { version: string }).version;

// EM_X86_64 and EM_AARCH64.
const ELF_MACHINES: Partial<Record<string, number>> = { x64: 62, arm64: 183 };
const ALL = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl'];

/**
 * The path of the extension, for programs that load it themselves (`sqlite3_load_extension`).
 *
 * @throws ExtensionError - The platform package is missing or does not fit.
 */
export function extensionPath(): string {
  return fileOf('libselenite.so');
}

/**
 * The path of the command `selenite`.
 *
 * @throws ExtensionError - The platform package is missing or does not fit.
 * @example
 * execFileSync(selenite.commandPath(), ['keys', 'renew', 'app.db'], { stdio: 'inherit' })
 */
export function commandPath(): string {
  const file = fileOf('selenite');
  if (!isProgram(file)) {
    throw new ExtensionError(
      `${file} is no program of this machine (${process.arch}): the installation is damaged; install it again: npm install --force`,
    );
  }
  return file;
}

function fileOf(name: string): string {
  const folder = packageFolder();
  const file = unpacked(path.join(folder, name));
  if (!existsSync(file)) {
    throw new ExtensionError(`${file} is missing: the installation is incomplete; install it again: npm install --force`);
  }
  return file;
}

/** Whether the kernel runs a file. Node.js lets a shell read what it does not run (execvp(3)), as a script. */
function isProgram(file: string): boolean {
  const start = Buffer.alloc(20);
  const opened = openSync(file, 'r');
  readSync(opened, start);
  closeSync(opened);
  const isElf = start.toString('latin1', 0, 4) === '\x7fELF' && start.readUInt16LE(18) === ELF_MACHINES[process.arch];
  return isElf || start.toString('latin1', 0, 2) === '#!';
}

/** The folder of the platform package, whose version is this package's. */
function packageFolder(): string {
  const asked = `linux-${process.arch}-${libc()}`;
  if (process.platform !== 'linux' || !ALL.includes(asked)) {
    throw new ExtensionError(
      `selenite-sqlite has no package for ${process.platform} on ${process.arch}: it needs Linux on x64 or arm64`,
    );
  }
  const folder = folderOf(asked);
  if (folder === undefined) {
    const others = ALL.filter((name) => name !== asked && folderOf(name)).map((name) => `selenite-sqlite-${name}`);
    throw new ExtensionError(
      `selenite-sqlite-${asked} is not installed, which selenite-sqlite needs on this machine` +
        `${others.length ? ` (${others.join(', ')} is): node_modules was copied from another platform` : ''}; ` +
        'install here, with optional dependencies: npm install --include=optional --force',
    );
  }
  const own = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  if (own.version !== version) {
    throw new ExtensionError(
      `selenite-sqlite-${asked} is version ${own.version}, and selenite-sqlite is ${version}: the installation is mixed; ` +
        `install it again: npm install selenite-sqlite-${asked}@${version}`,
    );
  }
  return folder;
}

function folderOf(name: string): string | undefined {
  try {
    return path.dirname(require.resolve(`selenite-sqlite-${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** Neither the dynamic linker nor the kernel reads files inside an archive of Electron. */
function unpacked(file: string): string {
  return file.replace(`app.asar${path.sep}`, `app.asar.unpacked${path.sep}`);
}

let foundLibc: 'gnu' | 'musl' | undefined;

function libc(): 'gnu' | 'musl' {
  if (foundLibc === undefined) {
    const report = process.report as typeof process.report & { excludeNetwork: boolean };
    const { excludeNetwork } = report;
    // Otherwise the names of all addresses of the machine are asked for.
    report.excludeNetwork = true;
    const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
    report.excludeNetwork = excludeNetwork;
    foundLibc = header.glibcVersionRuntime ? 'gnu' : 'musl';
  }
  return foundLibc;
}
