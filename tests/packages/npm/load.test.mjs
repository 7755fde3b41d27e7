// Loading the extension, what stands in its way, and threads.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { SHARE_ENV, Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';
import * as selenite from 'selenite-sqlite';
import * as nodeSqlite from 'selenite-sqlite/node-sqlite';

import { copyInstallation, error, inEmptyFolders, INSTALLATION, key, newDatabase, node, PLATFORM, said } from './fixtures.mjs';

const VERSION = 'SELECT selenite_version() AS version';

inEmptyFolders();

/** Another version in a package's own description. */
function rename(folder, version) {
  const file = path.join(folder, 'package.json');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/"version": ".*"/, `"version": "${version}"`));
}

test('loading twice is loading once', () => {
  for (const kind of [Database, DatabaseSync, Database, DatabaseSync]) {
    selenite.load(kind);
    const db = new kind(':memory:');
    selenite.load(db);
    assert.equal(db.prepare(VERSION).get().version, selenite.version);
    db.close();
  }
  const maps = fs.readFileSync('/proc/self/maps', 'utf8').match(/\/.*libselenite.*$/gm);
  assert.equal(new Set(maps).size, 1);
});

test('loading does not permit SQL to load extensions', () => {
  for (const kind of [Database, DatabaseSync]) {
    selenite.load(kind);
    const db = new kind(':memory:');
    assert.throws(() => db.prepare("SELECT load_extension('libm.so.6')").get(), /not authorized|no such function/);
    db.close();
  }
});

test('a connection that was opened before gets the functions if it can', () => {
  const source = (options) => `
    import { DatabaseSync } from 'node:sqlite';
    import Database from 'better-sqlite3';
    import * as selenite from 'selenite-sqlite';
    const [one, two] = [new Database(':memory:'), new DatabaseSync(':memory:', ${options})];
    selenite.load(one);
    console.log(one.prepare('${VERSION}').get().version);
    try {
      selenite.load(two);
      console.log(two.prepare('${VERSION}').get().version);
      two.loadExtension('/none');
    } catch (error) {
      console.log(error.message);
    }`;
  const refused = node(source('{}')).stdout.trim().split('\n');
  assert.equal(refused[0], selenite.version);
  assert.match(refused[1], /was opened before the extension was loaded, and may not load extensions; call selenite.load/);
  const loaded = node(source('{ allowExtension: true }')).stdout.trim().split('\n');
  assert.deepEqual(loaded.slice(0, 2), [selenite.version, selenite.version]);
  // It may still load others.
  assert.match(loaded[2], /cannot open shared object file/);
});

test('what is no connection is refused', () => {
  for (const [value, words] of [
    [{}, /^Object is not a connection of better-sqlite3 or node:sqlite, nor the class of one/],
    [undefined, /^undefined is not a connection/],
    [class Other {}, /^Other is not a connection/],
  ]) {
    assert.throws(() => selenite.load(value), error(TypeError, words));
  }
});

test('a platform package that is missing is named in one line', () => {
  const { platform } = copyInstallation();
  fs.renameSync(platform, 'elsewhere');
  const wanted = new RegExp(
    `^ExtensionError: selenite-sqlite-${PLATFORM} is not installed, which selenite-sqlite needs on this machine; install here, with ` +
      'optional dependencies: npm install --include=optional --force$',
  );
  assert.match(said('selenite.extensionPath()'), wanted);
  assert.match(said("await selenite.keygen('key.txt')"), wanted);
  assert.match(said("(await import('selenite-sqlite/node-sqlite')).connect(':memory:')"), wanted);
  assert.match(said("(await import('selenite-sqlite/better-sqlite3')).connect(':memory:')"), wanted);
  const ended = node("import 'selenite-sqlite'", { program: 'node_modules/selenite-sqlite/dist/bin.js' });
  assert.match(ended.stderr, /^error: selenite-sqlite-linux.* is not installed, which.*\n$/);
  assert.equal(ended.status, 1);

  const other = 'linux-x64-musl' === PLATFORM ? 'linux-x64-gnu' : 'linux-x64-musl';
  fs.renameSync('elsewhere', path.join(path.dirname(platform), `selenite-sqlite-${other}`));
  assert.match(
    said('selenite.extensionPath()'),
    new RegExp(`on this machine \\(selenite-sqlite-${other} is\\): node_modules was copied from another platform; install`),
  );
});

test('an incomplete, damaged or foreign platform package is named in one line', () => {
  const { platform } = copyInstallation();
  const extension = path.join(platform, 'libselenite.so');
  fs.writeFileSync(extension, 'no library');
  assert.match(
    said("(await import('selenite-sqlite/node-sqlite')).connect(':memory:')"),
    /^ExtensionError: .*libselenite.so cannot be loaded: .*(file too short|invalid ELF header)/,
  );
  fs.rmSync(extension);
  assert.match(said('selenite.extensionPath()'), /libselenite.so is missing: the installation is incomplete/);
  const command = path.join(platform, 'selenite');
  const program = fs.readFileSync(command);
  const foreign = Buffer.from(program.subarray(0, 4096));
  foreign.writeUInt16LE(program.readUInt16LE(18) === 183 ? 62 : 183, 18);
  for (const content of [foreign, Buffer.alloc(0), Buffer.from('touch ran')]) {
    fs.writeFileSync(command, content);
    assert.match(said("await selenite.verify('app.db')"), /^ExtensionError: .*selenite is no program of this machine \(/);
    assert.ok(!fs.existsSync('ran'));
  }
  // As the dynamic linker of another libc is missing.
  fs.writeFileSync(command, '#!/none/ld-musl.so\n', { mode: 0o755 });
  const misfit = /^ExtensionError: .*selenite does not run: it is of another platform than this machine \(ENOENT\)$/;
  assert.match(said("await selenite.verify('app.db')"), misfit);
});

test('in an archive of Electron, the files beside it are used', () => {
  // Electron itself is not here: its archives look like folders to JavaScript, which this one is.
  const { platform } = copyInstallation();
  fs.mkdirSync('app.asar');
  fs.cpSync(platform, path.join('app.asar.unpacked/node_modules', path.basename(platform)), { recursive: true });
  fs.renameSync('node_modules', 'app.asar/node_modules');
  fs.rmSync(path.join('app.asar/node_modules', path.basename(platform), 'libselenite.so'));
  const ended = node("import * as selenite from 'selenite-sqlite'; console.log(selenite.extensionPath())", {
    cwd: path.resolve('app.asar'),
  });
  assert.match(ended.stdout, /\/app\.asar\.unpacked\/.*libselenite\.so\n$/, ended.stderr);
});

test('packages of two versions are named in one line', () => {
  const { main, platform } = copyInstallation();
  rename(platform, '0.0.9');
  const mixed = new RegExp(
    `^ExtensionError: selenite-sqlite-${PLATFORM} is version 0.0.9, and selenite-sqlite is ${selenite.version}: the installation is ` +
      `mixed; install it again: npm install selenite-sqlite-${PLATFORM}@${selenite.version}$`,
  );
  assert.match(said("await selenite.status('app.db')"), mixed);
  assert.match(said("(await import('selenite-sqlite/node-sqlite')).connect(':memory:')"), mixed);
  // The description fits, and the extension is another one.
  rename(main, '0.0.9');
  assert.match(
    said("(await import('selenite-sqlite/node-sqlite')).connect(':memory:')"),
    new RegExp(`libselenite.so is version ${selenite.version}, and this package is 0.0.9: the installation is mixed`),
  );
});

test('another version that the process has loaded is named in one line', () => {
  const { main, platform } = copyInstallation();
  rename(main, '0.0.9');
  rename(platform, '0.0.9');
  const first = path.resolve('libselenite-first.so');
  fs.copyFileSync(path.join(platform, 'libselenite.so'), first);
  const source = `
    const { DatabaseSync } = await import('node:sqlite');
    new DatabaseSync(':memory:', { allowExtension: true }).loadExtension(${JSON.stringify(first)}, 'sqlite3_selenite_init');
    (await import('selenite-sqlite/node-sqlite')).connect(':memory:')`;
  assert.match(
    said(source),
    new RegExp(
      `^ExtensionError: two versions of the extension in one process: ${selenite.version} is loaded from .*first.so, and ` +
        `this package is 0.0.9; remove the other one \\(npm ls selenite-sqlite\\), or install selenite-sqlite@${selenite.version}$`,
    ),
  );
});

test('two copies of the package of one version work in one process', () => {
  copyInstallation();
  key();
  const source = `
    import { createRequire } from 'node:module';
    const other = createRequire(${JSON.stringify(path.join(INSTALLATION, 'package.json'))});
    const { connect } = await import('selenite-sqlite/node-sqlite');
    const db = connect('app.db', { identity: 'key.txt' });
    const also = other('selenite-sqlite/node-sqlite').connect('other.db', { identity: 'key.txt' });
    db.exec('CREATE TABLE note(body)');
    also.exec('CREATE TABLE note(body)');
    console.log('both')`;
  const ended = node(source);
  assert.equal(ended.stdout, 'both\n', ended.stderr);
});

test('a Node.js whose node:sqlite takes no URIs is refused', () => {
  const source = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.14.0' } });
    (await import('selenite-sqlite/node-sqlite')).connect('app.db')`;
  assert.match(
    said(source),
    /^ExtensionError: Node.js 22.14.0 has no node:sqlite that takes URIs: use Node.js 22.15 or later, or better-sqlite3$/,
  );
  assert.ok(!fs.existsSync('app.db'));
});

test('a program that opens databases itself opens encrypted ones after selenite-sqlite/register', () => {
  const source = `
    import { createRequire } from 'node:module';
    const Database = createRequire(${JSON.stringify(path.join(INSTALLATION, 'package.json'))})('better-sqlite3');
    const db = new Database('app.db');
    db.exec('CREATE TABLE note(body)');
    db.close();
    const { DatabaseSync } = await import('node:sqlite');
    console.log(new DatabaseSync('app.db').prepare('SELECT count(*) AS count FROM note').get().count);`;
  fs.symlinkSync(path.join(INSTALLATION, 'node_modules'), 'node_modules');
  const environment = { SELENITE_IDENTITY: path.resolve(key()), NODE_OPTIONS: '--require selenite-sqlite/register' };
  const ended = node(source, { environment });
  assert.equal(ended.stdout, '0\n', ended.stderr);
  assert.equal(fs.readFileSync('app.db').toString('latin1', 0, 8), 'Selenite');
});

/** What a thread of its own says. */
function worker(source, options) {
  const file = path.resolve(`worker-${Math.random()}.mjs`);
  fs.writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${source}`);
  return new Promise((resolve, reject) => {
    const own = new Worker(file, options);
    own.once('message', resolve);
    own.once('error', reject);
  });
}

test('node:sqlite: threads open databases of different identities at once', async () => {
  for (const name of ['one', 'two', 'three', 'four']) {
    key(`${name}.txt`);
  }
  const source = (name) => `
    import { connect } from 'selenite-sqlite/node-sqlite';
    const db = connect(${JSON.stringify(path.resolve(`${name}.db`))}, { identity: ${JSON.stringify(path.resolve(`${name}.txt`))} });
    db.exec('CREATE TABLE note(body)');
    for (let row = 0; row < 50; row += 1) db.exec("INSERT INTO note VALUES ('a secret body')");
    parentPort.postMessage(db.prepare('SELECT count(*) AS count FROM note').get().count);
    db.close();`;
  const counts = await Promise.all(['one', 'two', 'three', 'four'].map((name) => worker(source(name))));
  assert.deepEqual(counts, [50, 50, 50, 50]);
  for (const name of ['one', 'two', 'three', 'four']) {
    nodeSqlite.connect(`${name}.db`, { identity: `${name}.txt` }).close();
  }
});

test('better-sqlite3: a thread uses the identity of the process, and cannot give another', async () => {
  const identity = path.resolve(key());
  const database = path.resolve('app.db');
  newDatabase(nodeSqlite.connect).close();
  const source = (options) => `
    import { connect } from 'selenite-sqlite/better-sqlite3';
    try {
      const db = connect(${JSON.stringify(database)}, ${JSON.stringify(options)});
      parentPort.postMessage(db.prepare('SELECT count(*) AS count FROM note').get().count);
      db.close();
    } catch (error) {
      parentPort.postMessage(error.message);
    }`;
  const refused =
    /^better-sqlite3 takes no URI, and a worker thread cannot set SELENITE_IDENTITY for itself alone; set it in the environment/;
  assert.match(await worker(source({ identity })), refused);
  assert.match(await worker(source({ identity }), { env: { SELENITE_IDENTITY: identity } }), refused);
  process.env.SELENITE_IDENTITY = identity;
  try {
    const all = [worker(source({})), worker(source({ identity })), worker(source({}), { env: SHARE_ENV })];
    assert.deepEqual(await Promise.all(all), [3, 3, 3]);
    assert.match(await worker(source({ identity: key('other.txt') })), refused);
  } finally {
    delete process.env.SELENITE_IDENTITY;
  }
});

test('a child process does not inherit the identity of a connection', () => {
  newDatabase(nodeSqlite.connect).close();
  const source = `
    import { execFileSync } from 'node:child_process';
    import { connect } from 'selenite-sqlite/better-sqlite3';
    const db = connect('app.db', { identity: 'key.txt' });
    console.log(execFileSync('env').toString().includes('SELENITE_IDENTITY'), db.open);`;
  assert.equal(node(source).stdout, 'false true\n');
});

test('extensionPath is what a program loads by itself', () => {
  const db = new DatabaseSync(':memory:', { allowExtension: true });
  db.loadExtension(selenite.extensionPath());
  assert.equal(db.prepare(VERSION).get().version, selenite.version);
  const said = execFileSync(selenite.commandPath(), ['--version'], { encoding: 'utf8' });
  assert.equal(said, `selenite ${selenite.version}\n`);
});
