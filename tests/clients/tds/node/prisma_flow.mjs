// Prisma: its client, through its driver adapter and its query compiler in WebAssembly. Its schema engine, which migrates and
// reads schemas, is a program that it downloads and that no package has: the tables are made here by a script of its form.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flow, server } from './flow.mjs';

const folder = process.cwd();
const require = createRequire(import.meta.url);
const { PrismaMssql } = require('@prisma/adapter-mssql');
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const SCRIPT = `BEGIN TRY

BEGIN TRAN;

CREATE TABLE [dbo].[Author] (
    [id] INT NOT NULL IDENTITY(1,1),
    [name] NVARCHAR(40) NOT NULL,
    [email] NVARCHAR(80),
    [age] INT NOT NULL CONSTRAINT [Author_age_df] DEFAULT 18,
    [made] DATETIME2 NOT NULL CONSTRAINT [Author_made_df] DEFAULT CURRENT_TIMESTAMP,
    [changed] DATETIME2 NOT NULL,
    CONSTRAINT [Author_pkey] PRIMARY KEY CLUSTERED ([id])
);

CREATE TABLE [dbo].[Book] (
    [id] UNIQUEIDENTIFIER NOT NULL,
    [title] NVARCHAR(200) NOT NULL,
    [price] DECIMAL(10,2),
    [pages] BIGINT,
    [authorId] INT,
    CONSTRAINT [Book_pkey] PRIMARY KEY CLUSTERED ([id]),
    CONSTRAINT [Book_title_authorId_key] UNIQUE NONCLUSTERED ([title],[authorId])
);

CREATE TABLE [dbo].[Label] ([name] VARCHAR(20) NOT NULL, CONSTRAINT [Label_pkey] PRIMARY KEY CLUSTERED ([name]));

CREATE TABLE [dbo].[Passport] (
    [number] CHAR(8) NOT NULL,
    [authorId] INT NOT NULL,
    CONSTRAINT [Passport_pkey] PRIMARY KEY CLUSTERED ([number]),
    CONSTRAINT [Passport_authorId_key] UNIQUE NONCLUSTERED ([authorId])
);

CREATE TABLE [dbo].[Kind] (
    [a] INT NOT NULL, [b] INT NOT NULL, [flag] BIT NOT NULL CONSTRAINT [Kind_flag_df] DEFAULT 1,
    [tiny] TINYINT, [small] SMALLINT, [real] REAL, [float] FLOAT(53), [money] MONEY, [bytes] VARBINARY(max), [text] TEXT,
    [long] NVARCHAR(max), [day] DATE, [moment] DATETIME, [exact] DATETIME2, [zoned] DATETIMEOFFSET,
    CONSTRAINT [Kind_pkey] PRIMARY KEY CLUSTERED ([a],[b])
);

CREATE TABLE [dbo].[_BookToLabel] (
    [A] UNIQUEIDENTIFIER NOT NULL,
    [B] VARCHAR(20) NOT NULL,
    CONSTRAINT [_BookToLabel_AB_unique] UNIQUE NONCLUSTERED ([A],[B])
);

CREATE UNIQUE NONCLUSTERED INDEX [Author_email_key] ON [dbo].[Author]([email]) WHERE [email] IS NOT NULL;
CREATE NONCLUSTERED INDEX [Author_name_age_idx] ON [dbo].[Author]([name], [age]);
CREATE NONCLUSTERED INDEX [_BookToLabel_B_index] ON [dbo].[_BookToLabel]([B]);

ALTER TABLE [dbo].[Book] ADD CONSTRAINT [Book_authorId_fkey] FOREIGN KEY ([authorId]) REFERENCES [dbo].[Author]([id]) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE [dbo].[Passport] ADD CONSTRAINT [Passport_authorId_fkey] FOREIGN KEY ([authorId]) REFERENCES [dbo].[Author]([id]) ON DELETE NO ACTION ON UPDATE CASCADE;
ALTER TABLE [dbo].[_BookToLabel] ADD CONSTRAINT [_BookToLabel_A_fkey] FOREIGN KEY ([A]) REFERENCES [dbo].[Book]([id]) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE [dbo].[_BookToLabel] ADD CONSTRAINT [_BookToLabel_B_fkey] FOREIGN KEY ([B]) REFERENCES [dbo].[Label]([name]) ON DELETE CASCADE ON UPDATE CASCADE;

COMMIT TRAN;

END TRY
BEGIN CATCH

IF @@TRANCOUNT > 0
BEGIN
    ROLLBACK TRAN;
END;
THROW

END CATCH`;

function client() {
  symlinkSync(here('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'schema.prisma'), readFileSync(here('prisma.schema'), 'utf8').replace('"prisma-client-js"', `"prisma-client-js"\n  output = "${folder}/client"`));
  // What migrates is downloaded before anything is generated; the variable keeps it from that.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  execFileSync(process.execPath, [here('node_modules/prisma/build/index.js'), 'generate'], { cwd: folder, env, stdio: 'pipe' });
  return require(join(folder, 'client')).PrismaClient;
}

const Client = client();
const connect = () => new Client({
  adapter: new PrismaMssql({
    server: server.host, port: server.port, user: server.user, password: server.password, database: server.database,
    options: { encrypt: true, trustServerCertificate: true },
  }),
});
const db = connect();
const names = (rows) => rows.map((row) => row.name);
const coded = (code) => (error) => {
  assert.equal(error.code, code, error.message);
  return true;
};

const checks = {
  async 'a script of the form of its migrations makes the tables'() {
    await db.$executeRawUnsafe(SCRIPT);
    const tables = await db.$queryRaw`SELECT name FROM sys.tables ORDER BY name`;
    assert.deepEqual(names(tables), ['_BookToLabel', 'Author', 'Book', 'Kind', 'Label', 'Passport']);
  },
  async 'a script that fails leaves nothing'() {
    const broken = SCRIPT.replaceAll('Author]', 'Other]').replace('CREATE TABLE [dbo].[Book]', 'CREATE TABLE [dbo].[Kind]');
    await assert.rejects(db.$executeRawUnsafe(broken), /already an object named/);
    assert.deepEqual(await db.$queryRaw`SELECT name FROM sys.tables WHERE name = 'Other'`, []);
  },
  async 'create writes a graph, and include reads it'() {
    const ada = await db.author.create({
      data: {
        name: 'Ada', email: 'a@x', age: 36, passport: { create: { number: 'P1234567' } },
        books: { create: [{ title: 'Notes', price: '10.50', pages: 9007199254740993n, labels: { create: [{ name: 'math' }, { name: 'code' }] } }, { title: 'Engine', pages: 3 }] },
      },
      include: { books: { include: { labels: { orderBy: { name: 'asc' } } }, orderBy: { title: 'asc' } }, passport: true },
    });
    assert.deepEqual(ada.books.map((book) => [book.title, book.price?.toString() ?? null, book.pages, names(book.labels)]),
      [['Engine', null, 3n, []], ['Notes', '10.5', 9007199254740993n, ['code', 'math']]]);
    assert.equal(ada.passport.number, 'P1234567');
    assert.match(ada.books[0].id, /^[0-9a-f-]{36}$/i);
    assert.ok(ada.made instanceof Date && Math.abs(ada.made - Date.now()) < 86_400_000);
  },
  async 'createMany gives a count'() {
    assert.deepEqual(await db.author.createMany({ data: [{ name: 'Brian', age: 82 }, { name: 'Cleo', age: 20, email: 'c@x' }] }), { count: 2 });
    assert.equal(await db.author.count(), 3);
  },
  async 'findMany: filters, order, pages and selections'() {
    const all = async (where) => names(await db.author.findMany({ where, orderBy: { name: 'asc' } }));
    assert.deepEqual(await all({ age: { gt: 30 } }), ['Ada', 'Brian']);
    assert.deepEqual(await all({ name: { contains: 'r' } }), ['Brian']);
    assert.deepEqual(await all({ name: { startsWith: 'c' } }), ['Cleo']);
    assert.deepEqual(await all({ name: { in: ['Ada', 'Cleo', 'None'] } }), ['Ada', 'Cleo']);
    assert.deepEqual(await all({ NOT: { email: null } }), ['Ada', 'Cleo']);
    assert.deepEqual(await all({ OR: [{ age: 82 }, { email: 'c@x' }] }), ['Brian', 'Cleo']);
    assert.deepEqual(await all({ books: { some: { labels: { some: { name: 'math' } } } } }), ['Ada']);
    assert.deepEqual(await all({ books: { none: {} } }), ['Brian', 'Cleo']);
    assert.deepEqual(await all({ passport: { isNot: null } }), ['Ada']);
    assert.deepEqual(names(await db.author.findMany({ orderBy: { age: 'desc' }, take: 1, skip: 1 })), ['Ada']);
    assert.deepEqual(names(await db.author.findMany({ orderBy: { id: 'asc' }, cursor: { id: 2 }, take: 2 })), ['Brian', 'Cleo']);
    assert.deepEqual(names(await db.author.findMany({ orderBy: { books: { _count: 'desc' } }, take: 1 })), ['Ada']);
    assert.deepEqual(await db.author.findFirst({ where: { name: 'Ada' }, select: { name: true, _count: { select: { books: true } } } }), { name: 'Ada', _count: { books: 2 } });
    assert.deepEqual((await db.author.findMany({ distinct: ['age'] })).length, 3);
    assert.equal(await db.author.findUnique({ where: { id: 99 } }), null);
    assert.equal((await db.author.findUnique({ where: { email: 'C@X' } })).name, 'Cleo');
  },
  async 'aggregate and groupBy'() {
    const found = await db.author.aggregate({ _avg: { age: true }, _sum: { age: true }, _min: { age: true }, _max: { name: true }, _count: true });
    assert.deepEqual(found, { _avg: { age: 46 }, _sum: { age: 138 }, _min: { age: 20 }, _max: { name: 'Cleo' }, _count: 3 });
    const groups = await db.book.groupBy({ by: ['authorId'], _count: { _all: true }, having: { authorId: { gt: 0 } }, orderBy: { authorId: 'asc' } });
    assert.deepEqual(groups, [{ authorId: 1, _count: { _all: 2 } }]);
  },
  async 'update, updateMany, delete and deleteMany'() {
    const cleo = await db.author.update({ where: { email: 'c@x' }, data: { age: { increment: 3 } } });
    assert.equal(cleo.age, 23);
    assert.deepEqual(await db.author.updateMany({ where: { age: { gt: 30 } }, data: { age: { decrement: 1 } } }), { count: 2 });
    await db.author.createMany({ data: [{ name: 'D1' }, { name: 'D2' }] });
    assert.equal((await db.author.delete({ where: { id: (await db.author.findFirst({ where: { name: 'D1' } })).id } })).name, 'D1');
    assert.deepEqual(await db.author.deleteMany({ where: { name: { startsWith: 'D' } } }), { count: 1 });
    await assert.rejects(db.author.update({ where: { id: 999 }, data: { age: 1 } }), coded('P2025'));
  },
  async 'upsert and connectOrCreate'() {
    const make = (name) => db.author.upsert({ where: { email: 'u@x' }, create: { name, email: 'u@x' }, update: { name } });
    assert.equal((await make('Up')).name, 'Up');
    assert.equal((await make('Up two')).name, 'Up two');
    assert.equal(await db.author.count({ where: { email: 'u@x' } }), 1);
    const book = await db.book.create({ data: { title: 'New', labels: { connectOrCreate: [{ where: { name: 'math' }, create: { name: 'math' } }, { where: { name: 'new' }, create: { name: 'new' } }] } }, include: { labels: true } });
    assert.deepEqual(names(book.labels).sort(), ['math', 'new']);
    const left = await db.book.update({ where: { id: book.id }, data: { labels: { disconnect: { name: 'math' } }, author: { connect: { email: 'u@x' } } }, include: { labels: true, author: true } });
    assert.deepEqual([names(left.labels), left.author.name], [['new'], 'Up two']);
    await db.author.delete({ where: { email: 'u@x' } });
    assert.equal(await db.book.count({ where: { title: 'New' } }), 0);
  },
  async 'unique and foreign keys, null and length are errors of its own'() {
    await assert.rejects(db.author.create({ data: { name: 'x', email: 'a@x' } }), coded('P2002'));
    await assert.rejects(db.book.create({ data: { title: 'x', authorId: 999 } }), coded('P2003'));
    await assert.rejects(db.author.delete({ where: { email: 'a@x' } }), coded('P2003'));
    await assert.rejects(db.author.create({ data: { name: 'x'.repeat(41) } }), coded('P2000'));
    await assert.rejects(db.$queryRaw`SELECT * FROM nothing_of_this_name`, /nothing_of_this_name/);
    assert.equal(await db.author.count(), 3);
  },
  async 'values of every kind'() {
    const moment = new Date('2024-02-29T12:34:56.780Z');
    const row = {
      a: 1, b: 2, flag: false, tiny: 200, small: -5, real: 0.5, float: 1e200, money: 19.99, bytes: Uint8Array.from([0, 255]), text: 'plain',
      long: 'ü'.repeat(9000), day: new Date('2024-02-29'), moment, exact: moment, zoned: moment,
    };
    await db.kind.create({ data: row });
    assert.deepEqual(await db.kind.findUnique({ where: { a_b: { a: 1, b: 2 } } }), row);
    await db.kind.update({ where: { a_b: { a: 1, b: 2 } }, data: Object.fromEntries(Object.keys(row).slice(3).map((name) => [name, null])) });
    assert.equal((await db.kind.findFirst()).zoned, null);
  },
  async 'many rows at once'() {
    const data = Array.from({ length: 3000 }, (_, i) => ({ a: 1000 + i, b: 1, long: `it's ${i}` }));
    assert.deepEqual(await db.kind.createMany({ data }), { count: 3000 });
    assert.equal((await db.kind.findMany({ where: { a: { in: data.map((row) => row.a) } } })).length, 3000);
    assert.deepEqual(await db.kind.deleteMany({ where: { a: { gte: 1000 } } }), { count: 3000 });
  },
  async 'transactions, as lists and by functions'() {
    await db.$transaction([db.label.create({ data: { name: 'one' } }), db.label.create({ data: { name: 'two' } })]);
    await assert.rejects(db.$transaction([db.label.create({ data: { name: 'three' } }), db.label.create({ data: { name: 'one' } })]), coded('P2002'));
    await assert.rejects(db.$transaction(async (within) => {
      await within.label.deleteMany();
      throw new Error('no');
    }), /no/);
    assert.equal(await db.label.count({ where: { name: { in: ['one', 'two', 'three'] } } }), 2);
  },
  async 'isolation levels are the session\'s'() {
    for (const [isolationLevel, level] of [['ReadCommitted', 2], ['RepeatableRead', 3], ['Serializable', 4]]) {
      const found = await db.$transaction((within) => within.$queryRaw`SELECT transaction_isolation_level AS level FROM sys.dm_exec_sessions WHERE session_id = @@SPID`, { isolationLevel });
      assert.deepEqual(found, [{ level }], isolationLevel);
    }
  },
  async 'raw queries'() {
    assert.deepEqual(await db.$queryRaw`SELECT ${1} AS a, ${"it's"} AS b, CAST(${true} AS bit) AS c, ${null} AS d`, [{ a: 1, b: "it's", c: true, d: null }]);
    assert.equal(await db.$executeRaw`UPDATE Author SET age = age WHERE age > ${0}`, 3);
  },
  async 'many queries at once'() {
    const found = await Promise.all(Array.from({ length: 20 }, () => db.author.count()));
    assert.ok(found.every((count) => count === 3));
  },
};

await flow({ ...checks, 'it disconnects': () => db.$disconnect() });
