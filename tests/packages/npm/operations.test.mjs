// Functions that run the command: their results, their errors and their progress.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import * as selenite from 'selenite-sqlite';
import { connect } from 'selenite-sqlite/node-sqlite';

import { copyInstallation, error, flipABit, inEmptyFolders, key, newDatabase, node } from './fixtures.mjs';

inEmptyFolders();

function plainDatabase(name = 'plain.db') {
  const db = new DatabaseSync(name);
  db.exec("CREATE TABLE note(body); INSERT INTO note VALUES ('in clear')");
  db.close();
  return name;
}

function rows(name, sql = 'SELECT count(*) AS value FROM note') {
  const db = connect(name, { identity: 'key.txt' });
  const { value } = db.prepare(sql).get();
  db.close();
  return value;
}

test('encrypt in place and decrypt to a new file', async () => {
  plainDatabase();
  const done = await selenite.encrypt('plain.db', { identity: key(), cipher: 'CHACHA20' });
  const { slots, ...rest } = done;
  assert.deepEqual(rest, { path: 'plain.db', suite: 'CHACHA20', tables: 1, rows: 1, removed: [], leftovers: [], notKept: [] });
  assert.equal(slots.length, 1);
  assert.equal(rows('plain.db', 'SELECT body AS value FROM note'), 'in clear');
  const clear = await selenite.decrypt('plain.db', { identity: 'key.txt', to: pathToFileURL('clear.db') });
  assert.deepEqual([clear.path, clear.suite, clear.slots], [path.resolve('clear.db'), null, []]);
  assert.equal(new DatabaseSync('clear.db').prepare('SELECT body FROM note').get().body, 'in clear');
  await selenite.decrypt('plain.db', { identity: 'key.txt' });
  assert.equal(fs.readFileSync('plain.db').toString('latin1', 0, 6), 'SQLite');
});

test('encrypt to a new file for more than one key', async () => {
  plainDatabase();
  const other = await selenite.keygen('other.txt');
  const recipients = [other, pathToFileURL(key('third.txt'))];
  const done = await selenite.encrypt('plain.db', { identity: key(), to: 'new.db', recipients });
  assert.equal(done.slots.length, 3);
  assert.ok((await selenite.keys('new.db')).slots.some((slot) => slot.who === other));
  assert.ok((await selenite.verify('new.db', { identity: 'third.txt' })).authentic);
  const refused = error(TypeError, /^recipients is a list of recipients, not one of them/);
  await assert.rejects(selenite.encrypt('plain.db', { identity: 'key.txt', to: 'again.db', recipients: other }), refused);
});

test('status of an encrypted database', async () => {
  newDatabase(connect).close();
  const before = await selenite.status('app.db');
  assert.ok(before.encrypted && before.superblock.authentic !== true && before.superblock.openedBy === null);
  const found = await selenite.status('app.db', { identity: 'key.txt' });
  const { superblock } = found;
  assert.deepEqual([found.path, superblock.authentic, superblock.suite, superblock.state], ['app.db', true, 'AES_256', 'steady']);
  assert.equal(superblock.openedBy, superblock.slots[0].id);
  assert.deepEqual([superblock.origin, superblock.commitment.length], ['own', 64]);
  assert.deepEqual(superblock.copies, { a: 'ok', b: 'ok' });
  assert.equal(found.size, fs.statSync('app.db').size);
  for (const moment of [superblock.masterKeyCreated, superblock.epochs[0].created, superblock.slots[0].created]) {
    const age = Date.now() - moment.getTime();
    assert.ok(age > -1000 && age < 300_000, String(age));
  }
  assert.deepEqual([found.warnings.map(({ code }) => code), found.lastVerification], [['never_verified'], null]);
  await selenite.verify('app.db', { identity: 'key.txt' });
  const after = await selenite.status('app.db', { identity: 'key.txt' });
  assert.deepEqual([after.warnings, after.lastVerification.pageCount], [[], superblock.pageCount]);
  assert.ok(after.lastVerification.time instanceof Date);
  plainDatabase();
  const clear = await selenite.status('plain.db');
  assert.deepEqual([clear.encrypted, clear.superblock], [false, null]);
  await assert.rejects(selenite.status('.'), error(TypeError, /is a folder: status takes a database/));
});

test('verify finds an altered page', async () => {
  newDatabase(connect, 'app.db', 2000).close();
  const good = await selenite.verify('app.db', { identity: 'key.txt' });
  assert.deepEqual([good.authentic, good.bad, good.integrityCheck, good.badCount], [true, [], [], 0]);
  assert.ok(good.pageCount > 5 && good.size === fs.statSync('app.db').size && good.json.authentic === true);
  const physical = await selenite.verify('app.db', { identity: 'key.txt', physicalOnly: true });
  assert.equal(physical.integrityCheck, null);
  flipABit('app.db', 65536 + 4096 * 3 + 100);
  const words = /^selenite verify: 1 place not authentic \(next: restore these pages/;
  const check = error(selenite.DamagedError, words, (thrown) => {
    assert.deepEqual([thrown.exitStatus, thrown.command, thrown.details.length], [5, 'verify', 1]);
    assert.equal(thrown.reason, '1 place not authentic');
    assert.match(thrown.advice, /^restore these pages/);
    assert.deepEqual([thrown.name, thrown.report.authentic, thrown.report.badCount], ['DamagedError', false, 1]);
    const [{ file, page, ownerKind, owner }] = thrown.report.bad;
    assert.deepEqual([file, page, ownerKind, owner], ['database', 4, 'table', 'note']);
  });
  await assert.rejects(selenite.verify('app.db', { identity: 'key.txt' }), check);
});

test('verify compares with an anchor', async () => {
  newDatabase(connect).close();
  const identity = 'key.txt';
  await selenite.verify('app.db', { identity, writeAnchor: 'anchor' });
  const old = fs.readFileSync('app.db');
  assert.equal((await selenite.verify('app.db', { identity, anchor: 'anchor' })).anchor, 'same');
  const db = connect('app.db', { identity });
  db.exec('DELETE FROM note');
  db.close();
  const changed = await selenite.verify('app.db', { identity, anchor: 'anchor', writeAnchor: 'anchor' });
  assert.equal(changed.anchor, 'changed');
  fs.writeFileSync('app.db', old);
  const older = error(selenite.DamagedError, /older than the anchor/, ({ report }) => {
    assert.deepEqual([report.anchor, report.authentic], ['older', true]);
  });
  await assert.rejects(selenite.verify('app.db', { identity, anchor: 'anchor' }), older);
});

test('backup and restore', async () => {
  const db = newDatabase(connect, 'app.db', 500);
  const identity = 'key.txt';
  const first = await selenite.backup('app.db', 'backups', { identity, digest: true });
  assert.deepEqual([first.base, first.pages, first.digest.length], [null, first.pagesSent, 64]);
  assert.ok(first.bytesSent > 0);
  db.exec('DELETE FROM note WHERE rowid = 500');
  const newest = await selenite.backup('app.db', 'backups', { identity, incremental: true });
  assert.ok(newest.base === first.name && newest.pagesUnchanged > 0 && newest.pagesSent < first.pagesSent);
  db.close();
  const back = await selenite.restore('backups', 'back.db', { identity });
  assert.deepEqual([back.path, back.backup, back.pagesMissing], ['back.db', newest.name, []]);
  const older = await selenite.restore('backups', 'older.db', { identity, name: first.name });
  assert.deepEqual([older.backup, older.slots.length], [first.name, 1]);
  assert.deepEqual([rows('back.db'), rows('older.db')], [499, 500]);
  await assert.rejects(selenite.restore('backups', 'back.db', { identity }), error(selenite.UsageError, /restore: .*back.db/));
  await selenite.restore('backups', 'back.db', { identity, force: true, at: new Date('2099-01-01T00:00:00.5Z') });
});

test('a backup without bad pages is made and is an error', async () => {
  newDatabase(connect, 'app.db', 2000).close();
  flipABit('app.db', 65536 + 4096 * 3 + 100);
  const identity = 'key.txt';
  const nothing = error(selenite.DamagedError, /page/, ({ report }) => assert.equal(report, undefined));
  await assert.rejects(selenite.backup('app.db', 'backups', { identity }), nothing);
  const partial = error(selenite.DamagedError, /the backup is complete except for 1 page/, ({ report }) => {
    assert.deepEqual(report.pagesMissing, [4]);
  });
  await assert.rejects(selenite.backup('app.db', 'others', { identity, skipBad: true }), partial);
});

test('keys and run', async () => {
  newDatabase(connect).close();
  const other = await selenite.keygen('other.txt');
  await selenite.run('keys', ['add', '--label', 'a label', 'app.db', other], { identity: 'key.txt' });
  const found = await selenite.keys('app.db', { identity: 'key.txt' });
  assert.deepEqual([found.slots.map(({ label }) => label), found.origin], [['', 'a label'], 'own']);
  assert.equal((await selenite.keys('app.db')).commitment, null);
  assert.equal(found.databaseId, (await selenite.status('app.db')).superblock.databaseId);
  assert.match(await selenite.run('status', [pathToFileURL('app.db')], { identity: pathToFileURL('key.txt') }), /AES_256/);
});

test('each exit status has a class', async () => {
  newDatabase(connect).close();
  plainDatabase();
  const identity = 'key.txt';
  key('wrong.txt');
  const { CommandError, UsageError, NotEncryptedError, IdentityError, StorageError, BusyError } = selenite;
  const cases = [
    [() => selenite.encrypt('app.db', { identity }), CommandError, 1, /already encrypted/],
    [() => selenite.keygen('key.txt'), UsageError, 2, /File exists .*keys are never overwritten/],
    [() => selenite.run('nonsense'), UsageError, 2, /selenite nonsense: unrecognized subcommand 'nonsense'$/],
    [() => selenite.encrypt('plain.db', { identity, cipher: 'ROT13' }), UsageError, 2, /ROT13/],
    [() => selenite.verify('plain.db', { identity }), NotEncryptedError, 3, /not encrypted/],
    [() => selenite.verify('app.db', { identity: 'wrong.txt' }), IdentityError, 4, /none of the keys/],
    [() => selenite.verify('app.db'), IdentityError, 4, /no key given/],
    [() => selenite.status('none.db'), StorageError, 6, /No such file/],
    [() => selenite.restore('none', 'r.db', { identity }), StorageError, 6, /none/],
  ];
  for (const [call, kind, exitStatus, words] of cases) {
    await assert.rejects(call, error(kind, words, (thrown) => {
      assert.equal(thrown.exitStatus, exitStatus);
      assert.ok(thrown instanceof selenite.SeleniteError && thrown.reason);
    }));
  }
  const db = connect('app.db', { identity });
  db.exec('BEGIN EXCLUSIVE');
  await assert.rejects(selenite.decrypt('app.db', { identity }), error(BusyError, /in use|busy|locked/));
  db.close();
  await assert.rejects(selenite.verify('app.db', { identity: 'age1x' }), error(TypeError, /is a recipient/));
});

test('any file name reaches the command', async () => {
  const identity = 'key.txt';
  for (const name of ['-v', '--help', 'a b?.db', 'ünï.db', 'two\nlines.db']) {
    newDatabase(connect, name).close();
    assert.equal((await selenite.verify(name, { identity })).path, name);
    assert.ok((await selenite.status(pathToFileURL(name))).encrypted);
    assert.equal((await selenite.decrypt(name, { identity, to: `${name} clear` })).path, `${name} clear`);
    if (!name.includes('\n')) {
      await selenite.backup(name, `${name} backups`, { identity });
      await selenite.restore(`${name} backups`, `${name} restored`, { identity });
    }
  }
});

/** Runs code with a stand-in for the command, in an installation of its own. */
function withStandIn(script, body, options) {
  const { platform } = copyInstallation();
  fs.writeFileSync(path.join(platform, 'selenite'), script, { mode: 0o755 });
  const ended = node(`import fs from 'node:fs';\nimport * as selenite from 'selenite-sqlite';\n${body}`, options);
  assert.equal(ended.status, 0, ended.stderr);
  return ended;
}

test('progress and notes are told apart', () => {
  // What a long run prints (crates/cli/src/meter.rs).
  const script = `#!/bin/sh
    printf 'copying 1.2 GiB ...\\ncopying 1.2 GiB: 45 %%\\nchecking integrity ...\\n' >&2
    printf 'waiting for process 7, for 12 s\\nbacking up 512 bytes: 100 %%\\nwarning: a superblock\\na note\\n' >&2
    echo done`;
  const body = `
    const seen = [];
    process.on('warning', (one) => console.error(one.name, one.message));
    const output = await selenite.run('anything', [], { progress: (one) => seen.push(one) });
    console.log(JSON.stringify({ output, seen }));`;
  const ended = withStandIn(script, body, { options: ['--no-warnings'] });
  const { output, seen } = JSON.parse(ended.stdout);
  assert.equal(output, 'done\n');
  assert.deepEqual(seen.map(({ phase, total, percent }) => [phase, total, percent]), [
    ['copying', '1.2 GiB', null],
    ['copying', '1.2 GiB', 45],
    ['checking integrity', null, null],
    ['waiting', null, null],
    ['backing up', '512 bytes', 100],
  ]);
  assert.equal(seen[3].text, 'waiting for process 7, for 12 s');
  assert.equal(ended.stderr, 'SeleniteWarning anything: a superblock\n');
});

test('an exception in the callback, or an abort, ends the command', () => {
  const script = "#!/bin/sh\necho $$ >pid\necho 'copying ...' >&2\nexec tail -f /dev/null\n";
  const body = `
    const gone = () => { try { process.kill(Number(fs.readFileSync('pid', 'utf8')), 0); return false } catch { return true } };
    const told = [];
    const progress = () => { throw new RangeError('enough') };
    await selenite.run('anything', [], { progress }).catch((error) => told.push(error.message, gone()));
    const controller = new AbortController();
    const abort = { signal: controller.signal, progress: () => controller.abort() };
    await selenite.run('anything', [], abort).catch((error) => told.push(error.name, gone()));
    fs.rmSync('pid');
    await selenite.run('anything', [], abort).catch((error) => told.push(error.name, fs.existsSync('pid')));
    console.log(JSON.stringify(told));`;
  assert.deepEqual(JSON.parse(withStandIn(script, body).stdout), ['enough', true, 'AbortError', true, 'AbortError', false]);
});

test('a command that is killed is an error', () => {
  const body = "await selenite.verify('app.db').catch((error) => console.log(error.message, error.exitStatus, error.signal));";
  const ended = withStandIn('#!/bin/sh\nkill -9 $$\n', body);
  assert.equal(ended.stdout, 'selenite verify: was killed by SIGKILL null SIGKILL\n');
});

test('a command of another version is named in one line', () => {
  const body = `
    const calls = [
      () => selenite.keygen('key.txt'), () => selenite.encrypt('app.db'), () => selenite.decrypt('app.db'),
      () => selenite.status('app.db'), () => selenite.verify('app.db'), () => selenite.backup('app.db', 'backups'),
      () => selenite.restore('backups', 'new.db'), () => selenite.keys('app.db'),
    ];
    for (const call of calls) {
      await call().then(() => console.log('no error'), (error) => console.log(error.name, error.message));
    }`;
  for (const output of ['', 'selenite 0.0.9: done', 'null']) {
    const lines = withStandIn(`#!/bin/sh\nprintf '%s' '${output}'\n`, body).stdout.trim().split('\n');
    assert.equal(lines.length, 8, lines);
    for (const line of lines) {
      assert.match(line, /^ExtensionError .*selenite is not of this package's version \(.*\): its answer to/);
    }
  }
  const killed = "await selenite.verify('app.db').catch((error) => console.log(error.message, error.report));";
  const ended = withStandIn("#!/bin/sh\nprintf '{\"rows\":'\nkill -9 $$\n", killed);
  assert.equal(ended.stdout, 'selenite verify: was killed by SIGKILL undefined\n');
});

test('a long encryption reports its progress', async () => {
  const db = new DatabaseSync('large.db');
  db.exec(`CREATE TABLE note(body);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)
    INSERT INTO note SELECT hex(randomblob(200)) FROM n`);
  db.close();
  const seen = [];
  const done = await selenite.encrypt('large.db', { identity: key(), progress: (one) => seen.push(one.phase) });
  assert.equal(done.rows, 250000);
  const phases = ['copying', 'comparing', 'verifying', 'checking integrity', 'sealing', 'finishing', 'checking'];
  assert.ok(seen.every((phase) => phases.includes(phase)), seen.join());
  assert.ok((await selenite.status('large.db')).encrypted);
});
