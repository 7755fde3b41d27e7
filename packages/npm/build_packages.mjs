#!/usr/bin/env node
// Makes the npm packages of an extension and a command that were built before: `selenite-sqlite`, and the platform package
// `selenite-sqlite-linux-ARCHITECTURE-LIBC`.
//
//     packages/npm/build_packages.mjs --extension target/release/libselenite.so --command target/release/selenite
//
// The platform is what the binaries say of themselves. The same binaries give the same bytes. It needs readelf and
// strip; NODE_PATH names the folder of node_modules with this package's devDependencies.

import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
const MACHINES = { 'Advanced Micro Devices X86-64': 'x86_64', AArch64: 'aarch64' };
// As Node.js and npm name them.
const ARCHITECTURES = { x86_64: 'x64', aarch64: 'arm64' };
const LIBCS = { glibc: 'gnu', musl: 'musl' };
// What every system of that libc has, of what Rust's programs need.
const LIBRARIES = {
  glibc: /^(lib(gcc_s|m|c|pthread|dl|rt)\.so\.\d+|ld-linux.*\.so\.\d+)$/,
  musl: /^(libc\.so|libc\.musl-.*\.so\.1)$/,
};
// The goals for the size of the platform package and for the glibc that it needs.
const SIZE_GOAL = 8 * 1024 * 1024;
const GLIBC_GOAL = 28;

/** What was given cannot be packed. */
class Failure extends Error {}

function main() {
  const { values: given } = parseArgs({
    options: {
      extension: { type: 'string' },
      command: { type: 'string' },
      platform: { type: 'string' },
      libc: { type: 'string' },
      output: { type: 'string', default: path.join(ROOT, 'dist') },
      strip: { type: 'string' },
      strict: { type: 'boolean', default: false },
    },
  });
  if (!given.extension || !given.command) {
    fail('--extension and --command are needed');
  }
  const version = workspaceVersion();
  const files = { extension: given.extension, command: given.command };
  const binaries = Object.fromEntries(Object.entries(files).map(([what, file]) => [what, read(file)]));
  const platform = platformOf(binaries, given.platform, given.libc);
  checkCommand(given.command, platform, version);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selenite-npm-'));
  try {
    const made = [
      packMain(folder, given.output),
      packPlatform(folder, given.output, files, platform, version, given.strip),
    ];
    report(made, binaries, given.strict);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** The package, the extension and the command have one version: the workspace's. */
function workspaceVersion() {
  const manifest = fs.readFileSync(path.join(ROOT, 'Cargo.toml'), 'utf8');
  const workspace = /^\[workspace\.package\]\n(?:.+\n)*?version = "(.+)"$/m.exec(manifest)[1];
  const { version } = JSON.parse(fs.readFileSync(path.join(HERE, 'package.json'), 'utf8'));
  if (version !== workspace) {
    fail(`packages/npm/package.json says ${version}, and Cargo.toml ${workspace}`);
  }
  return version;
}

/** What an ELF file says of itself. */
function read(file) {
  let start;
  try {
    start = fs.readFileSync(file).subarray(0, 4).toString('latin1');
  } catch (error) {
    fail(`${file}: ${error.code === 'ENOENT' ? 'No such file or directory' : error.message}`);
  }
  if (start !== '\x7fELF') {
    fail(`${file} is not an ELF file`);
  }
  const environment = { ...process.env, LC_ALL: 'C' };
  const said = run('readelf', ['--wide', '--file-header', '--dynamic', '--version-info', file], { env: environment });
  const machine = /^ +Machine: +(.+)$/m.exec(said)[1];
  const needed = [...said.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name);
  const versions = [...said.matchAll(/Name: GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  // A static program runs on either libc.
  const libc = versions.length ? 'glibc' : needed.length ? 'musl' : null;
  return {
    machine: MACHINES[machine] ?? machine,
    libc,
    glibc: Math.max(0, ...versions),
    strangeLibraries: needed.filter((name) => !LIBRARIES[libc].test(name)),
  };
}

/** The platform that both need. */
function platformOf(binaries, platform, libc) {
  const all = Object.entries(binaries);
  const machines = new Set(all.map(([, binary]) => binary.machine));
  const libcs = new Set(all.map(([, binary]) => binary.libc).filter(Boolean));
  if (!libcs.size && libc) {
    libcs.add(libc);
  }
  const checks = [
    { what: 'platform', field: 'machine', found: machines, asked: platform, known: ARCHITECTURES },
    { what: 'libc', field: 'libc', found: libcs, asked: libc, known: LIBCS },
  ];
  for (const { what, field, found, asked, known } of checks) {
    const [one] = found;
    if (found.size !== 1 || !(one in known) || (asked && asked !== one)) {
      const told = all.map(([name, binary]) => `the ${name} is of ${binary[field]}`).join(', ');
      fail(`${told}: a package is of one ${what}${asked ? `, and ${asked} was asked for` : ''}`);
    }
  }
  for (const [what, { strangeLibraries }] of all) {
    if (strangeLibraries.length) {
      fail(`the ${what} needs ${strangeLibraries.join(', ')}, which not every system has; link it statically`);
    }
  }
  return { machine: [...machines][0], libc: [...libcs][0] };
}

/** The command says its version, if this machine can run it. */
function checkCommand(command, { machine }, version) {
  // Node.js lets a shell read what the kernel does not run (execvp(3)).
  const ended = os.machine() === machine ? spawnSync(path.resolve(command), ['--version'], { encoding: 'utf8' }) : {};
  if (ended.status !== 0) {
    console.warn(`warning: ${command} does not run here: its version is not checked (${machine})`);
  } else if (ended.stdout.split(/\s+/)[1] !== version) {
    fail(`${command} is version ${ended.stdout.split(/\s+/)[1]}, and the package is ${version}`);
  }
}

/** The package that users name: JavaScript and its types. */
function packMain(folder, output) {
  const sources = path.join(folder, 'selenite-sqlite');
  fs.mkdirSync(sources);
  for (const name of ['src', 'tsconfig.json', 'README.md']) {
    fs.cpSync(path.join(HERE, name), path.join(sources, name), { recursive: true });
  }
  const modules = process.env.NODE_PATH ?? path.join(HERE, 'node_modules');
  if (!fs.existsSync(path.join(modules, 'typescript'))) {
    fail(`${modules} has no typescript: run scripts/npm.sh`);
  }
  fs.symlinkSync(path.resolve(modules), path.join(sources, 'node_modules'));
  run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), '--project', sources]);
  const manifest = JSON.parse(fs.readFileSync(path.join(HERE, 'package.json'), 'utf8'));
  delete manifest.devDependencies;
  const own = Object.values(ARCHITECTURES).flatMap((cpu) => Object.values(LIBCS).map((libc) => `${cpu}-${libc}`));
  manifest.optionalDependencies = Object.fromEntries(own.map((name) => [`selenite-sqlite-linux-${name}`, manifest.version]));
  return pack(sources, manifest, output);
}

/** The extension and the command of one platform. */
function packPlatform(folder, output, files, { machine, libc }, version, strip) {
  const name = `linux-${ARCHITECTURES[machine]}-${LIBCS[libc]}`;
  const sources = path.join(folder, name);
  fs.mkdirSync(sources);
  stripped(files.extension, path.join(sources, 'libselenite.so'), strip, machine);
  stripped(files.command, path.join(sources, 'selenite'), strip, machine);
  const { license, repository, homepage } = JSON.parse(fs.readFileSync(path.join(HERE, 'package.json'), 'utf8'));
  const manifest = {
    name: `selenite-sqlite-${name}`,
    version,
    description: `The extension and the command of Selenite for Linux on ${ARCHITECTURES[machine]} with ${libc}`,
    license,
    repository,
    homepage,
    files: ['libselenite.so', 'selenite', 'LICENSE-APACHE', 'LICENSE-MIT'],
    os: ['linux'],
    cpu: [ARCHITECTURES[machine]],
    libc: [libc],
    // Yarn would leave it in an archive otherwise.
    preferUnplugged: true,
  };
  fs.writeFileSync(path.join(sources, 'README.md'), `${manifest.description}. Install the package \`selenite-sqlite\`.\n`);
  return pack(sources, manifest, output);
}

/** A copy without the symbols that only debuggers read. */
function stripped(file, to, program, machine) {
  const known = program ? [program] : [`${machine.replace('_', '-')}-linux-gnu-strip`, `${machine}-linux-gnu-strip`, 'llvm-strip'];
  if (!program && os.machine() === machine) {
    known.push('strip');
  }
  const found = known.find((name) => spawnSync(name, ['--version']).status === 0);
  if (found) {
    run(found, ['--strip-unneeded', '-o', to, file]);
  } else if (program) {
    fail(`${program}: not found`);
  } else {
    console.warn(`warning: ${file} is not stripped: none of ${known.join(', ')} is installed`);
    fs.copyFileSync(file, to);
  }
  fs.chmodSync(to, 0o755);
}

/** npm gives all files of a package one date, so that their archive is the same each time. */
function pack(sources, manifest, output) {
  fs.writeFileSync(path.join(sources, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    fs.copyFileSync(path.join(ROOT, licence), path.join(sources, licence));
  }
  fs.mkdirSync(output, { recursive: true });
  const said = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', path.resolve(output), sources]);
  const [made] = Object.values(JSON.parse(said));
  return { file: path.join(output, made.filename), files: made.files, size: made.size };
}

/** Says how large the packages are, and which goals they miss. */
function report(made, binaries, strict) {
  for (const { file, files, size } of made) {
    console.log(`${file}\n  ${mebibytes(size)}`);
    for (const { path: name, size: own } of files.filter((one) => one.size > 1024 ** 2)) {
      console.log(`  ${name} ${mebibytes(own)}`);
    }
  }
  const missed = made
    .filter(({ size }) => size > SIZE_GOAL)
    .map(({ file }) => `${path.basename(file)} is larger than ${mebibytes(SIZE_GOAL)}`);
  const glibc = Math.max(...Object.values(binaries).map((binary) => binary.glibc));
  if (glibc > GLIBC_GOAL) {
    missed.push(`needs glibc 2.${glibc}, newer than 2.${GLIBC_GOAL}`);
  }
  if (missed.length) {
    console.log(`  missed goals: ${missed.join('; ')}`);
    process.exitCode = strict ? 1 : 0;
  }
}

function mebibytes(size) {
  return `${(size / 1024 ** 2).toFixed(size < 1024 ** 2 ? 3 : 1)} MiB`;
}

function run(program, args, options = {}) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
  } catch (error) {
    fail(`${program}: ${`${error.stdout ?? ''}${error.stderr ?? ''}`.trim() || error.message}`);
  }
}

function fail(why) {
  throw new Failure(why);
}

try {
  main();
} catch (error) {
  if (!(error instanceof Failure)) {
    throw error;
  }
  console.error(`build_packages: ${error.message}`);
  process.exitCode = 1;
}
