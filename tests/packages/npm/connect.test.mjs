// Connections of both drivers.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import Database from 'better-sqlite3';
import * as selenite from 'selenite-sqlite';
import * as betterSqlite3 from 'selenite-sqlite/better-sqlite3';
import * as nodeSqlite from 'selenite-sqlite/node-sqlite';

import { error, flipABit, inEmptyFolders, key, newDatabase } from './fixtures.mjs';

const DRIVERS = [
  { name: 'better-sqlite3', connect: betterSqlite3.connect, kind: Database, failure: Database.SqliteError },
  { name: 'node:sqlite', connect: nodeSqlite.connect, kind: DatabaseSync, failure: Error },
];
const SUITE = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'suite'";

inEmptyFolders();

for (const { name, connect, kind, failure } of DRIVERS) {
  test(`${name}: the first minute works`, async () => {
    const recipient = await selenite.keygen('key.txt');
    assert.match(recipient, /^age1[a-z0-9]{58}$/);
    assert.equal(fs.statSync('key.txt').mode & 0o777, 0o600);
    const db = connect('app.db', { identity: 'key.txt' });
    assert.ok(db instanceof kind);
    db.exec("CREATE TABLE note(body); INSERT INTO note VALUES ('a secret body')");
    db.close();
    const content = fs.readFileSync('app.db');
    assert.ok(content.subarray(0, 8).equals(Buffer.from('Selenite')) && !content.includes('secret'));
    const again = connect('app.db', { identity: 'key.txt' });
    assert.deepEqual({ ...again.prepare('SELECT * FROM note').get() }, { body: 'a secret body' });
    again.close();
  });

  test(`${name}: databases of different identities are open at once`, () => {
    const one = newDatabase(connect, 'one.db');
    const two = newDatabase(connect, 'two.db', 1, { identity: key('other.txt'), cipher: 'CHACHA20' });
    assert.equal(process.env.SELENITE_IDENTITY, undefined);
    assert.equal(process.env.SELENITE_CIPHER, undefined);
    assert.equal(one.prepare(SUITE).get().value, 'AES_256');
    assert.equal(two.prepare(SUITE).get().value, 'CHACHA20');
    one.close();
    two.close();
    const wrong = error(failure, /^file is not a database: selenite: \/.*two\.db: none of the keys given/, (thrown) => {
      assert.match(thrown.stack, /none of the keys given/);
      assert.match(thrown.code, /SQLITE/);
    });
    assert.throws(() => connect('two.db', { identity: 'key.txt' }), wrong);
    connect('two.db', { identity: pathToFileURL('other.txt') }).close();
  });

  test(`${name}: an identity of the environment counts, and an option is before it`, () => {
    newDatabase(connect).close();
    process.env.SELENITE_IDENTITY = path.resolve('key.txt');
    try {
      connect('app.db').close();
      assert.throws(() => connect('app.db', { identity: key('other.txt') }), error(failure, /none of the keys given/));
      assert.equal(process.env.SELENITE_IDENTITY, path.resolve('key.txt'));
    } finally {
      delete process.env.SELENITE_IDENTITY;
    }
  });

  test(`${name}: an unencrypted database is refused, and admitted on demand`, () => {
    newDatabase((file) => connect(file, { plain: true, cipher: 'NONE', identity: key() }), 'none.db').close();
    const plain = new DatabaseSync('plain.db');
    plain.exec("CREATE TABLE note(body); INSERT INTO note VALUES ('in clear')");
    plain.close();
    assert.throws(() => connect('plain.db', { identity: key() }), error(failure, /not encrypted|not a database/));
    const refused = error(Error, /^file is not encrypted: plain.db is an unencrypted database; encrypt it/);
    assert.throws(() => connect('plain.db'), refused);
    for (const more of [{ plain: true }, { options: { plain: 'allow' } }]) {
      const db = connect('plain.db', { identity: key(), ...more });
      assert.equal(db.prepare('SELECT body FROM note').get().body, 'in clear');
      db.close();
    }
    assert.equal(process.env.SELENITE_PLAIN, undefined);
  });

  test(`${name}: a new database needs an identity`, () => {
    assert.throws(() => connect('new.db'), error(failure, /^unable to open.*no key given for a new encrypted database/));
    assert.throws(() => connect('new.db', { identity: 'none.txt' }), error(failure, /can't read .*none.txt/));
  });

  test(`${name}: mode, options and the driver's own options`, () => {
    newDatabase(connect, 'app.db', 1, { options: { page_size: 8192 } }).close();
    const db = connect('app.db', { identity: 'key.txt', mode: 'ro' });
    assert.equal(db.prepare('PRAGMA page_size').get().page_size, 8192);
    assert.throws(() => db.exec('DELETE FROM note'), /readonly/);
    db.close();
    assert.throws(() => connect('none.db', { identity: 'key.txt', mode: 'rw' }), error(failure, /unable to open/));
    const own = name === 'node:sqlite' ? { readOnly: true } : { readonly: true };
    const also = connect('app.db', { identity: 'key.txt', timeout: 1, ...own });
    assert.throws(() => also.exec('DELETE FROM note'), /readonly/);
    also.close();
  });

  test(`${name}: any file name is one`, () => {
    const names = ['50% off?.db', 'a b#c&d=e.db', 'file.db;x', 'a:b.db', path.resolve('absolute?.db')];
    for (const file of names) {
      newDatabase(connect, file, 1).close();
      assert.ok(fs.readFileSync(file).subarray(0, 8).equals(Buffer.from('Selenite')), file);
    }
    newDatabase(connect, pathToFileURL('url é.db'), 1).close();
    assert.ok(fs.existsSync('url é.db'));
    assert.throws(() => connect('a\0b.db', { identity: key() }), /null/i);
  });

  test(`${name}: databases in memory and temporary ones work`, () => {
    for (const file of [':memory:', '']) {
      const db = connect(file);
      db.exec('CREATE TABLE note(body)');
      db.close();
    }
  });

  test(`${name}: an altered page is explained by lastError`, () => {
    newDatabase(connect, 'app.db', 2000).close();
    flipABit('app.db', 65536 + 4096 * 3 + 100);
    const db = connect('app.db', { identity: 'key.txt' });
    assert.throws(() => db.prepare('SELECT sum(length(body)) FROM note').get(), /disk I\/O error/);
    assert.match(selenite.lastError(db), /page 4/);
    assert.match(selenite.lastError(kind), /page 4/);
    db.close();
  });

  test(`${name}: using closes a connection`, () => {
    const db = newDatabase(connect);
    db[Symbol.dispose]();
    assert.throws(() => db.exec('SELECT 1'), /not open/);
  });

  test(`${name}: bad arguments are refused before anything is opened`, async () => {
    const secret = fs.readFileSync(key(), 'utf8').match(/AGE-SECRET-KEY-\S+/)[0];
    const isKey = error(TypeError, /^the identity is a key, and not the path of a file/, (thrown) => {
      assert.ok(!thrown.message.includes(secret));
    });
    assert.throws(() => connect('app.db', { identity: secret }), isKey);
    assert.throws(() => connect('app.db', { identity: secret.toLowerCase() }), isKey);
    const recipient = await selenite.keygen('other.txt');
    assert.throws(() => connect('app.db', { identity: recipient }), error(TypeError, /is a recipient, which cannot open/));
    assert.throws(() => connect('app.db', { identity: 3 }), error(TypeError, /identity is a string or a URL/));
    assert.throws(() => connect('app.db', { identity: 'a\0b' }), error(TypeError, /embedded null character/));
    assert.throws(() => connect('app.db', { identity: '\ud800' }), error(TypeError, /not a valid Unicode text/));
    const named = Buffer.from([0x6b, 0xff]);
    assert.throws(() => connect('app.db', { identity: named }), error(TypeError, /^identity is .* not UTF-8 has to be renamed$/));
    const url = new URL('file:///k%FF');
    assert.throws(() => connect('app.db', { identity: url }), error(TypeError, /^identity: the path of the URL is not UTF-8: rename/));
    assert.throws(() => connect(url, { identity: key() }), error(TypeError, /^database: the path of the URL is not UTF-8/));
    await assert.rejects(selenite.status(url), error(TypeError, /^a path: the path of the URL is not UTF-8: rename the file$/));
    assert.throws(() => connect('app.db', { options: { pool_size: true } }), error(TypeError, /pool_size is a string or/));
    const twice = { cipher: 'AES_256', options: { cipher: 'AES_128' } };
    assert.throws(() => connect('app.db', twice), error(TypeError, /cipher is given twice/));
    assert.throws(() => connect('app.db', { identity: key(), options: { identty: 'x' } }), /identty/);
    assert.ok(!fs.existsSync('app.db'));
  });
}

test('better-sqlite3: copies are encrypted for the identity of the environment, or refused', async () => {
  const db = newDatabase(betterSqlite3.connect);
  await assert.rejects(db.backup('backup.db'), /unable to open database file/);
  assert.throws(() => db.exec("VACUUM INTO 'vacuum.db'"), /unable to open database/);
  process.env.SELENITE_IDENTITY = 'key.txt';
  try {
    await db.backup('backup.db');
    db.exec("VACUUM INTO 'vacuum.db'");
  } finally {
    delete process.env.SELENITE_IDENTITY;
  }
  db.close();
  for (const name of ['backup.db', 'vacuum.db']) {
    assert.equal(fs.readFileSync(name).toString('latin1', 0, 8), 'Selenite');
    betterSqlite3.connect(name, { identity: 'key.txt' }).close();
  }
});

test('a key file of several identities opens the databases of each', () => {
  newDatabase(nodeSqlite.connect, 'one.db').close();
  newDatabase(nodeSqlite.connect, 'two.db', 1, { identity: key('other.txt') }).close();
  const both = fs.readFileSync('key.txt', 'utf8') + fs.readFileSync('other.txt', 'utf8');
  fs.writeFileSync('both.txt', both, { mode: 0o600 });
  for (const name of ['one.db', 'two.db']) {
    betterSqlite3.connect(name, { identity: 'both.txt' }).close();
  }
});

test('better-sqlite3: what is possible only in a URI is refused', () => {
  for (const name of ['commitment', 'database_id', 'encrypted', 'backup']) {
    const refused = error(TypeError, new RegExp(`^${name} is not possible with better-sqlite3, which takes no URI`));
    assert.throws(() => betterSqlite3.connect('app.db', { options: { [name]: 'x' } }), refused);
  }
  assert.throws(() => betterSqlite3.connect('file:app.db'), error(TypeError, /takes no URI: give the path/));
  assert.throws(() => betterSqlite3.connect('app.db', { mode: 'memory' }), error(TypeError, /mode is 'ro', 'rw' or/));
});

test('better-sqlite3: a driver has its own defaults', () => {
  const Own = betterSqlite3.driver({ identity: key(), cipher: 'AES_128' });
  newDatabase((file, options) => new Own(file, options)).close();
  const db = new Own('app.db', { readonly: true });
  assert.equal(db.prepare(SUITE).get().value, 'AES_128');
  assert.ok(db instanceof Database && db.readonly);
  db.close();
  const Again = betterSqlite3.driver({ identity: 'key.txt' }, Own);
  new Again('app.db').close();
});

test('better-sqlite3: after the first connection, its other databases are on the VFS, too', () => {
  betterSqlite3.connect(':memory:').close();
  assert.throws(() => new Database('other.db').exec('CREATE TABLE note(body)'), /unable to open database file/);
  assert.match(selenite.lastError(Database), /other.db: no key given for a new encrypted database/);
});

test('node:sqlite: options that only a URI has', () => {
  const db = newDatabase(nodeSqlite.connect);
  db.close();
  nodeSqlite.connect('app.db', { identity: 'key.txt', options: { encrypted: 'required', backup: 'allow' } }).close();
  const other = { identity: 'key.txt', options: { commitment: 'ab'.repeat(32) } };
  assert.throws(() => nodeSqlite.connect('app.db', other), error(Error, /master key|commitment/));
  assert.throws(() => nodeSqlite.connect('app.db', { open: false }), error(TypeError, /open: false is not possible/));
});

test('node:sqlite: a connection elsewhere is not touched', () => {
  nodeSqlite.connect(':memory:').close();
  const plain = new DatabaseSync('plain.db');
  plain.exec('CREATE TABLE note(body)');
  plain.close();
  assert.equal(fs.readFileSync('plain.db').toString('latin1', 0, 6), 'SQLite');
});

test('a file that is open in two copies of SQLite is refused', () => {
  const db = newDatabase(betterSqlite3.connect);
  const refused = error(Error, /in another copy of SQLite/);
  assert.throws(() => nodeSqlite.connect('app.db', { identity: 'key.txt' }), refused);
  db.close();
  nodeSqlite.connect('app.db', { identity: 'key.txt' }).close();
});

test('uri escapes what has a meaning in one', () => {
  const more = { identity: 'key.txt', mode: 'ro', options: { pool_size: '1M' } };
  assert.equal(
    selenite.uri('50% off?.db', more),
    'file:50%25%20off%3F.db?vfs=selenite&pool_size=1M&mode=ro&selenite_identity=key.txt',
  );
  assert.equal(selenite.uri('/a/b.db'), 'file:///a/b.db?vfs=selenite');
  assert.equal(selenite.uri(Buffer.from([0xff, 0x2e])), 'file:%FF.?vfs=selenite');
  assert.throws(() => selenite.uri(3), error(TypeError, /database is a string, a URL of a file or a Buffer/));
  assert.throws(() => selenite.uri('a', { options: { vfs: 'unix' } }), error(TypeError, /an encrypted database needs/));
});
