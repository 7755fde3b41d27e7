// Each host writes an encrypted database and reads it again; the file has nothing in clear, and the command verifies it.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import knex from 'knex';
import * as selenite from 'selenite-sqlite';
import { connect, driver } from 'selenite-sqlite/better-sqlite3';
import { SeleniteClient } from 'selenite-sqlite/knex';
import * as nodeSqlite from 'selenite-sqlite/node-sqlite';
import { PrismaSelenite } from 'selenite-sqlite/prisma';
import { DataSource, EntitySchema } from 'typeorm';

const INSTALLATION = path.dirname(fileURLToPath(import.meta.url));
const MARKER = 'a marker in clear';
const require = createRequire(import.meta.url);

let folder;
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(INSTALLATION, 'test-'));
  process.chdir(folder);
  await selenite.keygen('key.txt');
  await selenite.keygen('wrong.txt');
});
afterEach(() => {
  process.chdir(INSTALLATION);
  fs.rmSync(folder, { recursive: true });
});

/** No file of the database has the marker, and the command finds it authentic. */
async function check(name = 'app.db', rows = 1) {
  for (const file of fs.readdirSync('.').filter((one) => one.startsWith(name))) {
    assert.ok(!fs.readFileSync(file).includes(MARKER), file);
  }
  assert.ok((await selenite.verify(name, { identity: 'key.txt' })).authentic);
  const said = await selenite.run('exec', [name, 'SELECT count(*) FROM note'], { identity: 'key.txt' });
  assert.match(said, new RegExp(`\\b${rows}\\b`));
}

const WRONG = /file is not a database: selenite: .*none of the keys given opens this database/;

for (const [name, own] of [
  ['better-sqlite3', connect],
  ['node:sqlite', nodeSqlite.connect],
]) {
  test(`${name}, with a WAL, FTS5, R*Tree, JSON and generated columns`, async () => {
    const db = own('app.db', { identity: 'key.txt' });
    db.exec(`PRAGMA journal_mode = wal;
      CREATE TABLE note(body, size AS (length(body)) STORED);
      CREATE VIRTUAL TABLE word USING fts5(body);
      CREATE VIRTUAL TABLE box USING rtree(id, a, b);
      INSERT INTO note(body) VALUES ('${MARKER}');
      INSERT INTO word VALUES ('${MARKER}');
      INSERT INTO box VALUES (1, 2, 3)`);
    assert.equal(db.prepare("SELECT json_extract('{\"a\": 1}', '$.a') + size AS sum FROM note").get().sum, MARKER.length + 1);
    assert.equal(db.prepare("SELECT count(*) AS count FROM word('marker')").get().count, 1);
    await check();
    db.close();
    await check();
    assert.throws(() => own('app.db', { identity: 'wrong.txt' }), WRONG);
  });
}

test('Drizzle', async () => {
  const note = sqliteTable('note', { id: integer('id').primaryKey(), body: text('body').notNull() });
  const client = connect('app.db', { identity: 'key.txt' });
  client.exec('CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
  const db = drizzle({ client });
  db.insert(note).values([{ body: MARKER }, { body: 'other' }]).run();
  db.transaction((within) => within.delete(note).where(eq(note.body, 'other')).run());
  assert.deepEqual(await db.select().from(note), [{ id: 1, body: MARKER }]);
  client.close();
  await check();
});

test('drizzle-kit pushes a schema by selenite-sqlite/register', async () => {
  fs.writeFileSync('package.json', '{}');
  fs.writeFileSync(
    'schema.ts',
    `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
    export const note = sqliteTable('note', { id: integer('id').primaryKey(), body: text('body').notNull() });`,
  );
  const config = { dialect: 'sqlite', schema: './schema.ts', dbCredentials: { url: 'app.db' } };
  fs.writeFileSync('drizzle.config.ts', `export default ${JSON.stringify(config)};`);
  const kit = path.join(INSTALLATION, 'node_modules/drizzle-kit/bin.cjs');
  const env = { ...process.env, NODE_OPTIONS: '--require selenite-sqlite/register', SELENITE_IDENTITY: path.resolve('key.txt') };
  delete env.NODE_TEST_CONTEXT;
  const ended = spawnSync(process.execPath, [kit, 'push', '--force'], { env, encoding: 'utf8', timeout: 120_000 });
  assert.equal(ended.status, 0, ended.stdout + ended.stderr);
  const db = connect('app.db', { identity: 'key.txt' });
  db.prepare('INSERT INTO note(body) VALUES (?)').run(MARKER);
  db.close();
  await check();
});

test('Knex', async () => {
  const connection = { filename: 'app.db', identity: 'key.txt', options: { pool_size: '1M', safeIntegers: true } };
  const db = knex({ client: SeleniteClient, connection, useNullAsDefault: true });
  await db.schema.createTable('note', (table) => {
    table.increments('id');
    table.string('body');
  });
  await db.transaction((within) => within('note').insert({ body: MARKER }));
  assert.deepEqual(await db('note').select(), [{ id: 1n, body: MARKER }]);
  await db.destroy();
  await check();
  const log = { warn: () => undefined };
  const wrong = knex({ client: SeleniteClient, connection: { ...connection, identity: 'wrong.txt' }, log, useNullAsDefault: true });
  await assert.rejects(wrong('note').select(), WRONG);
  await wrong.destroy();
});

test('TypeORM', async () => {
  const Note = new EntitySchema({
    name: 'note',
    columns: { id: { type: 'integer', primary: true, generated: true }, body: { type: 'text' } },
  });
  const options = { type: 'better-sqlite3', database: 'app.db', entities: [Note], synchronize: true, enableWAL: true };
  const source = await new DataSource({ ...options, driver: driver({ identity: 'key.txt' }) }).initialize();
  await source.getRepository(Note).save({ body: MARKER });
  await source.transaction((manager) => manager.getRepository(Note).update({ id: 1 }, { body: MARKER.toUpperCase() }));
  assert.deepEqual((await source.getRepository(Note).find()).map(({ body }) => body), [MARKER.toUpperCase()]);
  await check();
  await source.destroy();
  await check();
  const wrong = new DataSource({ ...options, driver: driver({ identity: 'wrong.txt' }) });
  await assert.rejects(wrong.initialize(), WRONG);
});

test('Prisma', async () => {
  // `prisma generate` downloads the schema engine, which it does not run; the variable keeps it from that.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  execFileSync(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], { cwd: INSTALLATION, env, stdio: 'pipe' });
  const { PrismaClient } = require(path.join(INSTALLATION, 'prisma-client'));
  const open = (identity) => new PrismaClient({ adapter: new PrismaSelenite({ url: 'file:app.db', identity }) });
  const prisma = open('key.txt');
  await prisma.$executeRawUnsafe('CREATE TABLE "Note"(id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)');
  await prisma.note.create({ data: { body: MARKER } });
  await prisma.$transaction([prisma.note.create({ data: { body: 'two' } }), prisma.note.deleteMany({ where: { body: 'two' } })]);
  assert.deepEqual(await prisma.note.findMany({ where: { body: { contains: 'marker' } } }), [{ id: 1, body: MARKER }]);
  await prisma.$disconnect();
  await check();
  await assert.rejects(open('wrong.txt').note.count(), /none of the keys given/);
  assert.equal(process.env.SELENITE_IDENTITY, undefined);
});

test('a strict type checker accepts what a user writes for each host', () => {
  fs.writeFileSync(
    'sample.mts',
    `import { drizzle } from 'drizzle-orm/better-sqlite3';
    import knex from 'knex';
    import { connect, driver } from 'selenite-sqlite/better-sqlite3';
    import { SeleniteClient, type SeleniteConnection } from 'selenite-sqlite/knex';
    import { PrismaSelenite } from 'selenite-sqlite/prisma';
    import { DataSource } from 'typeorm';
    import { PrismaClient } from '../prisma-client/index.js';
    export const one = drizzle({ client: connect('app.db', { identity: 'key.txt' }) });
    const connection: SeleniteConnection = { filename: 'app.db', identity: 'key.txt' };
    export const two = knex({ client: SeleniteClient, connection });
    export const three = new DataSource({ type: 'better-sqlite3', database: 'app.db', driver: driver({ identity: 'key.txt' }) });
    export const four = new PrismaClient({ adapter: new PrismaSelenite({ url: 'file:app.db', identity: 'key.txt' }) });`,
  );
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const tsc = path.join(INSTALLATION, 'node_modules/typescript/bin/tsc');
  const ended = spawnSync(process.execPath, [tsc, ...options, '--ignoreConfig', 'sample.mts'], { encoding: 'utf8' });
  assert.equal(ended.status, 0, ended.stdout);
});

test('the versions are those that docs/HOSTS.md names', () => {
  const version = (name) => JSON.parse(fs.readFileSync(path.join(INSTALLATION, 'node_modules', name, 'package.json'))).version;
  const node = fs.readFileSync(process.env.SELENITE_TEST_HOSTS, 'utf8').split('## Node.js')[1];
  for (const found of ['drizzle-orm', 'drizzle-kit', 'knex', 'typeorm', 'prisma'].map(version)) {
    assert.ok(node.includes(` ${found}`), found);
  }
  const [own, builtIn] = [Database, DatabaseSync].map((kind) => {
    const db = new kind(':memory:');
    const found = db.prepare('SELECT sqlite_version() AS version').get().version;
    db.close();
    return found;
  });
  const row = `| ${process.versions.node} | ${version('better-sqlite3')} (SQLite ${own}) | SQLite ${builtIn} |`;
  assert.ok(node.includes(row), row);
});
