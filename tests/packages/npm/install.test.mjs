// What npm installs, and what a new user sees first.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { inEmptyFolders, INSTALLATION, node, PLATFORM } from './fixtures.mjs';

const README = fs.readFileSync(path.join(process.env.SELENITE_TEST_ROOT, 'packages/npm/README.md'), 'utf8');
const PUBLIC = [
  'backup', 'BusyError', 'CommandError', 'commandPath', 'DamagedError', 'decrypt', 'encrypt', 'ExtensionError',
  'extensionPath', 'IdentityError', 'InterruptedCommandError', 'keygen', 'keys', 'lastError', 'load', 'NotEncryptedError',
  'restore', 'run', 'SeleniteError', 'status', 'StorageError', 'uri', 'UsageError', 'verify', 'version',
];

inEmptyFolders();

test('the command is in node_modules/.bin', () => {
  const command = path.join(INSTALLATION, 'node_modules/.bin/selenite');
  const others = [process.execPath, '/usr/bin/node'].filter((file) => fs.existsSync(file));
  for (const program of others) {
    const said = spawnSync(program, [command, '--version'], { encoding: 'utf8' });
    assert.match(said.stdout, /^selenite \d/, program);
    const refused = spawnSync(program, [command, 'verify', 'none.db'], { encoding: 'utf8' });
    assert.deepEqual([refused.status, refused.stdout], [6, '']);
    assert.match(refused.stderr, /^error: /);
  }
});

test('the command of a Node.js without execve ends by the signal that its parent gets', () => {
  const source = `
    import { spawn } from 'node:child_process';
    const own = spawn(process.execPath, ['--import', 'data:text/javascript,delete process.execve',
      ${JSON.stringify(path.join(INSTALLATION, 'node_modules/.bin/selenite'))}, 'keys', 'list', '/dev/stdin'], { stdio: ['pipe', 'inherit', 'inherit'] });
    own.on('exit', (code, signal) => console.log(code, signal));
    own.stdin.end();`;
  const ended = node(source);
  assert.match(ended.stdout, /^[1-7] null\n$/, ended.stderr);
});

test('CommonJS and ES modules have the same names', () => {
  const esm = node("import * as selenite from 'selenite-sqlite'; console.log(JSON.stringify(Object.keys(selenite)))");
  const cjs = node(`
    import { createRequire } from 'node:module';
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url)('selenite-sqlite'))))`);
  const names = JSON.parse(esm.stdout).filter((name) => !['default', 'module.exports', '__esModule'].includes(name));
  assert.deepEqual(names.sort(), [...PUBLIC].sort());
  assert.deepEqual(JSON.parse(cjs.stdout).sort(), [...PUBLIC].sort());
});

test('the lines of the README work', () => {
  const [first] = README.match(/```js\n[^]*?```/);
  const ended = node(first.slice('```js\n'.length, -'```'.length));
  assert.deepEqual([ended.status, ended.stderr], [0, '']);
  assert.ok(!fs.readFileSync('app.db').includes('a secret'));
  const again = node(`
    import { connect } from 'selenite-sqlite/node-sqlite';
    console.log(connect('app.db', { identity: 'key.txt' }).prepare('SELECT body FROM note').get().body)`);
  assert.equal(again.stdout, 'a secret\n', again.stderr);
});

test('the README names every public function and error', () => {
  for (const name of PUBLIC) {
    assert.ok(name === 'SeleniteError' || README.includes(name), name);
  }
});

test('the packages have what they should and nothing else', () => {
  const list = (folder) => fs.readdirSync(path.join(INSTALLATION, 'node_modules', folder)).sort();
  assert.deepEqual(list('selenite-sqlite'), ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'dist', 'package.json']);
  const own = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'libselenite.so', 'package.json', 'selenite'];
  assert.deepEqual(list(`selenite-sqlite-${PLATFORM}`).sort(), own.sort());
  const manifest = (folder) => JSON.parse(fs.readFileSync(path.join(INSTALLATION, 'node_modules', folder, 'package.json')));
  const { dependencies, optionalDependencies, devDependencies, scripts, version } = manifest('selenite-sqlite');
  assert.deepEqual([dependencies, devDependencies, scripts], [undefined, undefined, undefined]);
  assert.deepEqual(optionalDependencies, {
    'selenite-sqlite-linux-x64-gnu': version,
    'selenite-sqlite-linux-x64-musl': version,
    'selenite-sqlite-linux-arm64-gnu': version,
    'selenite-sqlite-linux-arm64-musl': version,
  });
  const { os, cpu, libc } = manifest(`selenite-sqlite-${PLATFORM}`);
  assert.equal(`${os}-${cpu}-${libc}`, PLATFORM.replace('gnu', 'glibc'));
});

const SAMPLE = `
import * as selenite from 'selenite-sqlite';
import { connect, driver, type Database } from 'selenite-sqlite/better-sqlite3';
import { connect as connectSync } from 'selenite-sqlite/node-sqlite';
import { DatabaseSync } from 'node:sqlite';
import BetterSqlite3 from 'better-sqlite3';

selenite.load(DatabaseSync);
selenite.load(BetterSqlite3);
using db: Database = connect('app.db', { identity: 'key.txt', readonly: true, options: { pool_size: 1 } });
using sync: DatabaseSync = connectSync(new URL('file:///app.db'), { identity: 'key.txt', readOnly: true, mode: 'memory' });
const reason: string | undefined = selenite.lastError(db) ?? selenite.lastError(sync);
const Own = driver({ identity: 'key.txt' });
const stock: BetterSqlite3.Database = new Own('app.db');
const pages: number = (await selenite.verify('app.db', { progress: ({ percent }) => console.log(percent) })).pageCount;
const found: selenite.Superblock | null = (await selenite.status('app.db')).superblock;
const created: Date | undefined = found?.masterKeyCreated;
try {
  const name: string = (await selenite.backup('app.db', 'backups', { recipients: ['age1'] })).name;
} catch (error) {
  if (error instanceof selenite.CommandError) {
    const status: number | null = error.exitStatus;
  }
}
`;
const WRONG = `
import * as selenite from 'selenite-sqlite';
import { connect } from 'selenite-sqlite/better-sqlite3';
import { connect as connectSync } from 'selenite-sqlite/node-sqlite';
connect('app.db', { identity: 3 });
connect('app.db', { identty: 'key.txt' });
connect('app.db', { mode: 'memory' });
connectSync('app.db', { open: false });
const suite: number = (await selenite.status('app.db')).superblock!.suite;
`;

test('a strict type checker accepts a program, and finds mistakes', () => {
  const tsc = path.join(INSTALLATION, 'node_modules/typescript/bin/tsc');
  const check = (name, source, module) => {
    fs.writeFileSync(name, source);
    const options = ['--strict', '--noEmit', '--module', module, '--target', 'es2022', '--lib', 'esnext', '--types', 'node'];
    return spawnSync(process.execPath, [tsc, ...options, '--ignoreConfig', name], { encoding: 'utf8' });
  };
  for (const module of ['nodenext', 'esnext']) {
    const resolution = module === 'esnext' ? 'sample.ts' : 'sample.mts';
    const ended = check(resolution, SAMPLE, module);
    assert.equal(ended.status, 0, ended.stdout);
  }
  const { stdout } = check('wrong.mts', WRONG, 'nodenext');
  const lines = [...stdout.matchAll(/wrong\.mts\((\d+),/g)].map(([, line]) => Number(line));
  assert.deepEqual([...new Set(lines)].sort((a, b) => a - b), [5, 6, 7, 8, 9], stdout);
});
