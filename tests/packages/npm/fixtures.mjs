// What the tests share. Each test runs in an empty folder below the installation, whose packages it finds.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as selenite from 'selenite-sqlite';

export const INSTALLATION = path.dirname(fileURLToPath(import.meta.url));
/** The platform: the name of its package without that of the main one. */
export const PLATFORM = path.basename(path.dirname(selenite.extensionPath())).replace('selenite-sqlite-', '');

/** Each test of a file gets a working directory of its own. */
export function inEmptyFolders() {
  let folder;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(INSTALLATION, 'test-'));
    process.chdir(folder);
  });
  afterEach(() => {
    const last = process.cwd();
    process.chdir(INSTALLATION);
    for (const one of new Set([folder, last])) {
      fs.rmSync(one, { recursive: true });
    }
  });
}

/** A copy of the installation, which a test may damage, in a working directory of its own. */
export function copyInstallation() {
  process.chdir(fs.mkdtempSync(path.join(os.tmpdir(), 'selenite-copy-')));
  const modules = path.resolve('node_modules');
  fs.mkdirSync(modules);
  for (const name of ['selenite-sqlite', `selenite-sqlite-${PLATFORM}`]) {
    fs.cpSync(path.join(INSTALLATION, 'node_modules', name), path.join(modules, name), { recursive: true });
  }
  const driver = fs.realpathSync(path.join(INSTALLATION, 'node_modules/better-sqlite3'));
  fs.symlinkSync(driver, path.join(modules, 'better-sqlite3'));
  return { main: path.join(modules, 'selenite-sqlite'), platform: path.join(modules, `selenite-sqlite-${PLATFORM}`) };
}

export function key(name = 'key.txt') {
  if (!fs.existsSync(name)) {
    execFileSync(selenite.commandPath(), ['keygen', '--output', name], { stdio: 'ignore' });
  }
  return name;
}

/** A database of one table. */
export function newDatabase(connect, name = 'app.db', rows = 3, more = {}) {
  const db = connect(name, { identity: key(), ...more });
  db.exec('CREATE TABLE note(body)');
  const insert = db.prepare("INSERT INTO note VALUES ('a secret body')");
  db.exec('BEGIN');
  for (let row = 0; row < rows; row += 1) {
    insert.run();
  }
  db.exec('COMMIT');
  return db;
}

export function flipABit(name, at) {
  const content = fs.readFileSync(name);
  content[at] ^= 1;
  fs.writeFileSync(name, content);
}

/** Runs a module of its own in the working directory. */
export function node(source, { environment = {}, cwd = process.cwd(), program = process.execPath, options = [] } = {}) {
  fs.writeFileSync(path.join(cwd, 'own.mjs'), source);
  const env = { ...process.env, ...environment };
  delete env.NODE_TEST_CONTEXT;
  return spawnSync(program, [...options, 'own.mjs'], { cwd, env, encoding: 'utf8', timeout: 120_000 });
}

/** What a call in a process of its own says; an error is one line. */
export function said(source, options) {
  const body = `try { ${source}; console.log('no error') } catch (error) { console.log(error.name + ': ' + error.message) }`;
  const ended = node(`import * as selenite from 'selenite-sqlite';\n${body}`, options);
  const lines = ended.stdout.trim().split('\n');
  if (lines.length !== 1 || ended.status !== 0) {
    throw new Error(`not one line: ${ended.stdout}${ended.stderr}`);
  }
  return lines[0];
}

/** A check for assert.throws and assert.rejects: the class itself, one line, and words. */
export function error(kind, words, more = () => undefined) {
  return (thrown) => {
    const found = thrown.constructor === kind && !thrown.message.includes('\n') && words.test(thrown.message);
    if (!found) {
      throw new Error(`expected ${kind.name} ${words}`, { cause: thrown });
    }
    more(thrown);
    return true;
  };
}
