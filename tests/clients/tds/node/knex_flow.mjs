// Knex: schemas, migrations, seeds, queries and transactions, by its public interface.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import knex from 'knex';
import { flow, server } from './flow.mjs';

const folder = process.cwd();
const quiet = { warn() {}, error() {}, deprecate() {}, debug() {} };
const db = knex({
  client: 'mssql',
  connection: {
    server: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database: server.database,
    options: { encrypt: true, trustServerCertificate: true },
  },
  pool: { min: 0, max: 4 },
  log: quiet,
  migrations: { directory: join(folder, 'migrations') },
  seeds: { directory: join(folder, 'seeds') },
});

const numberOf = (code) => (error) => {
  assert.equal(error.number, code, error.message);
  return true;
};
const names = (rows) => rows.map((row) => row.name);

async function authors() {
  await db.schema.dropTableIfExists('book');
  await db.schema.dropTableIfExists('author');
  await db.schema.createTable('author', (table) => {
    table.increments('id');
    table.string('name', 40).notNullable();
    table.integer('age');
    table.decimal('fee', 10, 2).defaultTo(1.5);
    table.boolean('known').notNullable().defaultTo(true);
    table.timestamps(true, true);
  });
  await db.schema.createTable('book', (table) => {
    table.increments('id');
    table.integer('author_id').notNullable().references('id').inTable('author').onDelete('CASCADE');
    table.string('title').notNullable();
    table.json('data');
  });
  await db('author').insert([
    { name: 'Ada', age: 36 },
    { name: 'Brian', age: 82 },
    { name: 'Cleo' },
  ]);
  await db('book').insert([
    { author_id: 1, title: 'Notes', data: JSON.stringify({ pages: 20, tags: ['a', 'b'] }) },
    { author_id: 2, title: 'C', data: JSON.stringify({ pages: 228, tags: [] }) },
    { author_id: 2, title: 'AWK' },
  ]);
}

const schema = {
  async 'createTable makes every kind of column'() {
    await db.schema.createTable('kinds', (table) => {
      table.increments('id');
      table.bigInteger('big');
      table.tinyint('tiny');
      table.smallint('small');
      table.mediumint('medium');
      table.float('floating');
      table.double('double');
      table.decimal('amount', 20, 4);
      table.string('name', 50);
      table.text('body');
      table.boolean('flag');
      table.date('day');
      table.time('hour');
      table.datetime('moment');
      table.timestamp('stamp', { useTz: true });
      table.binary('bytes');
      table.binary('few', 16);
      table.uuid('key').defaultTo(db.fn.uuid());
      table.json('data');
      table.enu('choice', ['one', 'two']);
      table.specificType('price', 'money');
      table.specificType('fixed', 'char(3)');
    });
    const found = await db('kinds').columnInfo();
    const types = Object.fromEntries(Object.entries(found).map(([name, column]) => [name, column.type]));
    assert.deepEqual(types, {
      id: 'int', big: 'bigint', tiny: 'tinyint', small: 'smallint', medium: 'int', floating: 'float', double: 'float',
      amount: 'decimal', name: 'nvarchar', body: 'nvarchar', flag: 'bit', day: 'date', hour: 'time', moment: 'datetime2',
      stamp: 'datetimeoffset', bytes: 'varbinary', few: 'varbinary', key: 'uniqueidentifier', data: 'nvarchar',
      choice: 'nvarchar', price: 'money', fixed: 'char',
    });
    assert.deepEqual(found.name, { defaultValue: null, type: 'nvarchar', maxLength: 50, nullable: true });
    assert.equal(found.body.maxLength, -1);
    assert.equal(found.id.nullable, false);
    assert.equal(found.key.defaultValue, '(newid())');
  },
  async 'values of every kind come back as they went'() {
    // Of the driver's type datetime, whose third digit is 0, 3 or 7.
    const moment = new Date('2024-02-29T12:34:56.790Z');
    const row = {
      big: '9007199254740993', tiny: 255, small: -32768, medium: 7, floating: 1.5, double: -2.25, amount: 12345.6789,
      name: 'naïve ✓', body: 'x'.repeat(9000), flag: true, moment, stamp: moment, bytes: Buffer.from([0, 1, 255]),
      few: Buffer.alloc(16, 7), data: '{"a":1}', choice: 'one', price: 19.99, fixed: 'ab',
    };
    await db('kinds').insert(row);
    const found = await db('kinds').first();
    assert.match(found.key, /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
    for (const [name, value] of Object.entries(row)) {
      assert.deepEqual(found[name], name === 'fixed' ? 'ab ' : value, name);
    }
  },
  async 'hasTable and hasColumn see what is there'() {
    assert.equal(await db.schema.hasTable('kinds'), true);
    assert.equal(await db.schema.hasTable('nothing'), false);
    assert.equal(await db.schema.hasColumn('kinds', 'price'), true);
    assert.equal(await db.schema.hasColumn('kinds', 'nothing'), false);
  },
  async 'columnInfo tells defaults as the server keeps them'() {
    await db.schema.createTable('defaults', (table) => {
      table.integer('number').defaultTo(7).notNullable();
      table.string('text', 10).defaultTo("it's");
      table.boolean('flag').defaultTo(false);
      table.timestamp('made').defaultTo(db.fn.now());
    });
    const found = await db('defaults').columnInfo();
    assert.equal(found.number.defaultValue, "('7')");
    assert.equal(found.text.defaultValue, "('it''s')");
    assert.equal(found.flag.defaultValue, "('0')");
    assert.equal(found.made.defaultValue, '(getdate())');
    await db('defaults').insert({ text: 'x' });
    assert.partialDeepStrictEqual?.(await db('defaults').first(), { number: 7, text: 'x', flag: false });
  },
  async 'createTableIfNotExists and createTableLike'() {
    await db.schema.createTableIfNotExists('defaults', (table) => table.integer('other'));
    assert.equal(await db.schema.hasColumn('defaults', 'other'), false);
    await db.schema.createTableLike('alike', 'defaults', (table) => table.integer('more'));
    assert.deepEqual(Object.keys(await db('alike').columnInfo()), ['number', 'text', 'flag', 'made', 'more']);
    assert.equal((await db('alike')).length, 0);
  },
  async 'alterTable adds, alters, renames and drops columns'() {
    await db.schema.createTable('changing', (table) => {
      table.increments('id');
      table.string('name', 10).defaultTo('none');
      table.integer('gone').defaultTo(4);
    });
    await db('changing').insert({ name: 'first' });
    await db.schema.alterTable('changing', (table) => {
      table.integer('added').notNullable().defaultTo(5);
      table.dropColumn('gone');
    });
    await db.schema.alterTable('changing', (table) => {
      table.string('name', 200).notNullable().defaultTo('other').alter();
    });
    await db.schema.alterTable('changing', (table) => table.renameColumn('name', 'title'));
    assert.deepEqual(await db('changing').first(), { id: 1, title: 'first', added: 5 });
    const found = await db('changing').columnInfo();
    assert.deepEqual(found.title, { defaultValue: "('other')", type: 'nvarchar', maxLength: 200, nullable: false });
    assert.deepEqual(Object.keys(found), ['id', 'title', 'added']);
  },
  async 'setNullable and dropNullable'() {
    await db.schema.alterTable('changing', (table) => table.integer('plain'));
    await db('changing').update({ plain: 1 });
    await db.schema.alterTable('changing', (table) => table.dropNullable('plain'));
    assert.equal((await db('changing').columnInfo('plain')).nullable, false);
    await db.schema.alterTable('changing', (table) => table.setNullable('plain'));
    assert.equal((await db('changing').columnInfo('plain')).nullable, true);
  },
  async 'renameTable'() {
    await db.schema.renameTable('changing', 'changed');
    assert.equal(await db.schema.hasTable('changing'), false);
    assert.equal((await db('changed').first()).title, 'first');
  },
  async 'keys, indexes and checks hold, and are dropped'() {
    await db.schema.createTable('keyed', (table) => {
      table.integer('a').notNullable();
      table.integer('b').notNullable();
      table.string('code', 10);
      table.integer('size').checkPositive('keyed_size_positive');
      table.string('kind', 5).checkIn(['x', 'y'], 'keyed_kind');
      table.primary(['a', 'b']);
      table.unique(['code']);
      table.index(['size', 'kind'], 'keyed_size');
      table.index(['kind'], 'keyed_partial', { predicate: db.whereNotNull('kind') });
    });
    await db('keyed').insert([{ a: 1, b: 1 }, { a: 1, b: 2, code: 'q', size: 1, kind: 'x' }, { a: 2, b: 2 }]);
    await assert.rejects(db('keyed').insert({ a: 1, b: 1 }), numberOf(2627));
    await assert.rejects(db('keyed').insert({ a: 3, b: 1, code: 'Q' }), numberOf(2601));
    await assert.rejects(db('keyed').insert({ a: 3, b: 1, size: 0 }), numberOf(547));
    await assert.rejects(db('keyed').insert({ a: 3, b: 1, kind: 'z' }), numberOf(547));
    const listed = await db('sys.indexes').select('name', 'is_unique', 'has_filter', 'filter_definition')
      .whereRaw("object_id = object_id('keyed')").orderBy('name');
    assert.deepEqual(listed, [
      { name: 'keyed_code_unique', is_unique: true, has_filter: true, filter_definition: '([code] IS NOT NULL)' },
      { name: 'keyed_partial', is_unique: false, has_filter: true, filter_definition: '([kind] IS NOT NULL)' },
      { name: 'keyed_pkey', is_unique: true, has_filter: false, filter_definition: null },
      { name: 'keyed_size', is_unique: false, has_filter: false, filter_definition: null },
    ]);
    await db.schema.alterTable('keyed', (table) => {
      table.dropUnique(['code']);
      table.dropIndex(['size', 'kind'], 'keyed_size');
      table.dropChecks(['keyed_size_positive']);
      table.dropPrimary();
    });
    await db('keyed').insert({ a: 1, b: 1, code: 'q', size: 0 });
    assert.equal((await db('keyed')).length, 4);
  },
  async 'a unique constraint can be referred to'() {
    await db.schema.createTable('parent', (table) => {
      table.string('code', 10).notNullable();
      table.unique('code', { useConstraint: true, indexName: 'parent_code' });
    });
    await db.schema.createTable('child', (table) => {
      table.string('parent_code', 10).references('code').inTable('parent').onUpdate('CASCADE').onDelete('SET NULL')
        .withKeyName('child_parent');
    });
    await db('parent').insert({ code: 'a' });
    await db('child').insert({ parent_code: 'a' });
    await assert.rejects(db('child').insert({ parent_code: 'b' }), numberOf(547));
    await db('parent').update({ code: 'c' });
    assert.deepEqual(await db('child'), [{ parent_code: 'c' }]);
    await db('parent').del();
    assert.deepEqual(await db('child'), [{ parent_code: null }]);
    await db.schema.alterTable('child', (table) => table.dropForeign('parent_code', 'child_parent'));
    await db('child').insert({ parent_code: 'b' });
  },
  async 'comments are extended properties'() {
    await db.schema.createTable('noted', (table) => {
      table.integer('a').comment("a column's");
      table.comment('a table');
    });
    await db.schema.alterTable('noted', (table) => table.comment('another'));
    const listed = await db.raw(`select value from sys.extended_properties where major_id = object_id('noted') order by minor_id`);
    assert.deepEqual(listed, [{ value: 'another' }, { value: "a column's" }]);
  },
  async 'views are made, replaced, renamed and dropped'() {
    await authors();
    await db.schema.createView('adults', (view) => {
      view.columns(['name', 'years']);
      view.as(db('author').select('name', 'age').where('age', '>', 40));
    });
    assert.deepEqual(await db('adults'), [{ name: 'Brian', years: 82 }]);
    await db.schema.createViewOrReplace('adults', (view) => {
      view.columns(['name']);
      view.as(db('author').select('name').where('age', '>', 30));
    });
    assert.deepEqual(names(await db('adults').orderBy('name')), ['Ada', 'Brian']);
    await db.schema.renameView('adults', 'grown');
    assert.equal((await db('grown')).length, 2);
    await db.schema.dropView('grown');
    await db.schema.dropViewIfExists('grown');
    await assert.rejects(db('grown'), numberOf(208));
  },
  async 'schemas are made and used'() {
    await db.schema.createSchema('sales').catch(() => db.raw('CREATE SCHEMA sales'));
    await db.schema.withSchema('sales').createTable('orders', (table) => {
      table.increments('id');
      table.integer('total').defaultTo(3);
    });
    assert.equal(await db.schema.withSchema('sales').hasTable('orders'), true);
    assert.deepEqual(await db.withSchema('sales').insert({ total: 4 }).into('orders').returning('id'), [{ id: 1 }]);
    assert.deepEqual(await db.withSchema('sales').from('orders'), [{ id: 1, total: 4 }]);
    assert.deepEqual(Object.keys(await db('orders').withSchema('sales').columnInfo()), ['id', 'total']);
    await db.schema.withSchema('sales').dropTable('orders');
  },
};

const queries = {
  async 'select with where, joins, groups and order'() {
    await authors();
    const rows = await db('author').leftJoin('book', 'author.id', 'book.author_id').groupBy('author.id', 'author.name')
      .select('author.name').count('book.id as books').having(db.raw('count(book.id) >= 0')).orderBy('books', 'desc').orderBy('name');
    assert.deepEqual(rows, [{ name: 'Brian', books: 2 }, { name: 'Ada', books: 1 }, { name: 'Cleo', books: 0 }]);
    assert.deepEqual(names(await db('author').whereIn('name', ['Ada', 'Cleo']).orderBy('id')), ['Ada', 'Cleo']);
    assert.deepEqual(names(await db('author').whereNull('age')), ['Cleo']);
    assert.deepEqual(names(await db('author').whereBetween('age', [30, 40])), ['Ada']);
    assert.deepEqual(names(await db('author').whereExists(db('book').whereRaw('book.author_id = author.id').where('title', 'C'))), ['Brian']);
    assert.equal(names(await db('author').orderBy('age', 'asc', 'last')).at(-1), 'Cleo');
    assert.equal(names(await db('author').orderBy('age', 'asc', 'first'))[0], 'Cleo');
  },
  async 'whereLike has regard to case, whereILike has none'() {
    assert.deepEqual(names(await db('author').whereLike('name', 'a%')), []);
    assert.deepEqual(names(await db('author').whereLike('name', 'A%')), ['Ada']);
    assert.deepEqual(names(await db('author').whereILike('name', 'a%')), ['Ada']);
  },
  async 'limit and offset'() {
    assert.deepEqual(names(await db('author').orderBy('id').limit(1)), ['Ada']);
    assert.deepEqual(names(await db('author').orderBy('id').limit(1).offset(1)), ['Brian']);
    assert.deepEqual(names(await db('author').orderBy('id').offset(2)), ['Cleo']);
  },
  async 'aggregates, distinct and windows'() {
    assert.deepEqual(await db('author').min('age as low').max('age as high').sum('age as sum').avg('age as mean').first(), { low: 36, high: 82, sum: 118, mean: 59 });
    assert.deepEqual(await db('author').countDistinct('known as n').first(), { n: 1 });
    assert.deepEqual(await db('book').distinct('author_id').orderBy('author_id'), [{ author_id: 1 }, { author_id: 2 }]);
    const ranked = await db('book').select('title').rowNumber('place', { column: 'id', order: 'desc' }, 'author_id').orderBy('id');
    assert.deepEqual(ranked.map((row) => Number(row.place)), [1, 2, 1]);
    assert.equal((await db('book').rank('place', 'title').orderBy('place')).length, 3);
  },
  async 'union, with and recursive with'() {
    const union = await db('author').select('name').where('id', 1).union([db('author').select('name').where('id', 2), db('author').select('name').where('id', 1)]);
    assert.deepEqual(names(union).sort(), ['Ada', 'Brian']);
    const old = db('author').where('age', '>', 40);
    assert.deepEqual(names(await db.with('old', old).select('name').from('old')), ['Brian']);
    const counted = await db.withRecursive('n', ['i'], (part) => {
      part.select(db.raw('1')).from('author').where('id', 1).unionAll((more) => more.select(db.raw('i + 1')).from('n').where('i', '<', 4));
    }).from('n').sum('i as sum');
    assert.deepEqual(counted, [{ sum: 10 }]);
  },
  async 'subqueries in select, from and where'() {
    const books = db('book').count('*').whereRaw('author_id = author.id').as('books');
    assert.deepEqual((await db('author').select('name', books).orderBy('id')).map((row) => row.books), [1, 2, 0]);
    assert.deepEqual(await db(db('book').where('id', '>', 1).as('late')).count('* as n'), [{ n: 2 }]);
    assert.deepEqual(names(await db('author').where('id', db('book').max('author_id'))), ['Brian']);
  },
  async 'JSON functions'() {
    const rows = await db('book').jsonExtract('data', '$.pages', 'pages').orderBy('id');
    assert.deepEqual(rows.map((row) => row.pages), ['20', '228', null]);
    assert.deepEqual((await db('book').whereJsonPath('data', '$.pages', '=', '20')).map((row) => row.title), ['Notes']);
    const [set] = await db('book').jsonSet('data', '$.pages', '21', 'data').where('id', 1);
    assert.deepEqual(JSON.parse(set.data).pages, '21');
    const [removed] = await db('book').jsonRemove('data', '$.pages', 'data').where('id', 1);
    assert.deepEqual(JSON.parse(removed.data), { tags: ['a', 'b'] });
  },
  async 'insert gives what returning names'() {
    assert.deepEqual(await db('author').insert({ name: 'Dan' }, ['id', 'name', 'fee']), [{ id: 4, name: 'Dan', fee: 1.5 }]);
    const many = await db('author').insert([{ name: 'Eve' }, { name: 'Fay', age: 2 }]).returning(['id', 'age']);
    assert.deepEqual(many, [{ id: 5, age: null }, { id: 6, age: 2 }]);
    assert.equal((await db('author').insert({ name: 'Gus' }).returning('*'))[0].known, true);
  },
  async 'insert of defaults alone, and of a select'() {
    await db.schema.createTable('filled', (table) => {
      table.increments('id');
      table.string('name', 40).defaultTo('none');
    });
    await db('filled').insert({});
    await db(db.raw('?? (??)', ['filled', 'name'])).insert(db('author').select('name').where('id', '<', 3));
    assert.deepEqual(names(await db('filled').orderBy('id')), ['none', 'Ada', 'Brian']);
  },
  async 'update and delete give counts, or what returning names'() {
    assert.equal(await db('author').where('id', '>', 4).update({ age: 1 }), 3);
    assert.deepEqual(await db('author').where('id', 4).update({ name: 'Dora' }, ['id', 'name']), [{ id: 4, name: 'Dora' }]);
    assert.equal(await db('author').where('id', 4).increment('age', 2).update({ age: 8 }), 1);
    assert.equal(await db('author').where('id', 4).increment('age', 2), 1);
    assert.equal((await db('author').where('id', 4).first()).age, 10);
    assert.deepEqual(await db('author').where('id', 4).del('name'), [{ name: 'Dora' }]);
    assert.equal(await db('author').where('id', '>', 4).del(), 3);
    assert.equal(await db('book').join('author', 'author.id', 'book.author_id').where('author.name', 'Ada').del(), 1);
    assert.equal((await db('book')).length, 2);
    await db('author').where('id', 2).del();
    assert.equal((await db('book')).length, 0);
  },
  async 'returning from a table with triggers'() {
    await db.schema.createTable('watched', (table) => {
      table.increments('id');
      table.string('name');
    });
    await db.schema.createTable('seen', (table) => table.string('name'));
    await db.raw('CREATE TRIGGER watching ON watched AFTER INSERT, UPDATE, DELETE AS INSERT seen SELECT name FROM inserted');
    const options = { includeTriggerModifications: true };
    await assert.rejects(db('watched').insert({ name: 'x' }).returning('id'), numberOf(334));
    assert.deepEqual(await db('watched').insert({ name: 'a' }, ['id'], options), [{ id: 1 }]);
    assert.deepEqual(await db('watched').update({ name: 'b' }, ['id', 'name'], options), [{ id: 1, name: 'b' }]);
    assert.deepEqual(await db('watched').del(['name'], options), [{ name: 'b' }]);
    assert.deepEqual(names(await db('seen')), ['a', 'b']);
  },
  async 'onConflict is what its dialect does not have'() {
    assert.throws(() => db('author').insert({ id: 1 }).onConflict('id').merge().toString(), /not supported for mssql/);
  },
  async 'an upsert is a MERGE by raw'() {
    await authors();
    const upsert = (id, name) => db.raw(
      `MERGE author WITH (HOLDLOCK) AS t USING (SELECT ? AS id, ? AS name) AS s ON t.id = s.id
       WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (name) VALUES (s.name)
       OUTPUT $action AS action, inserted.id;`, [id, name]);
    assert.deepEqual(await upsert(1, 'Ada L'), [{ action: 'UPDATE', id: 1 }]);
    assert.deepEqual(await upsert(99, 'Zoe'), [{ action: 'INSERT', id: 4 }]);
    assert.deepEqual(names(await db('author').orderBy('id')), ['Ada L', 'Brian', 'Cleo', 'Zoe']);
  },
  async 'batchInsert writes many rows in one transaction'() {
    await db.schema.createTable('many', (table) => {
      table.integer('number').primary();
      table.string('text');
    });
    const rows = Array.from({ length: 1000 }, (_, number) => ({ number, text: `row ${number}` }));
    assert.equal((await db.batchInsert('many', rows, 100).returning('number')).length, 1000);
    assert.deepEqual(await db('many').count('* as n').sum('number as sum'), [{ n: 1000, sum: 499500 }]);
    const clash = [{ number: 5000, text: 'a' }, { number: 5001, text: 'b' }, { number: 1, text: 'c' }];
    await assert.rejects(db.batchInsert('many', clash, 1), numberOf(2627));
    assert.deepEqual(await db('many').count('* as n'), [{ n: 1000 }]);
  },
  async 'rows come as a stream'() {
    let sum = 0;
    await pipeline(db('many').select('number').orderBy('number').stream(), new Writable({
      objectMode: true,
      write(row, _, done) {
        sum += row.number;
        done();
      },
    }));
    assert.equal(sum, 499500);
    let first;
    for await (const row of db('many').orderBy('number').stream()) {
      first = row;
      break;
    }
    assert.deepEqual(first, { number: 0, text: 'row 0' });
    assert.deepEqual(await db('many').count('* as n'), [{ n: 1000 }]);
  },
  async 'raw takes bindings by place and by name'() {
    assert.deepEqual(await db.raw('select ? as a, ? as b, ?? from ?? where ?? = ?', [1, 'x', 'text', 'many', 'number', 3]), [{ a: 1, b: 'x', text: 'row 3' }]);
    assert.deepEqual(await db.raw('select :a as one, :column: from many where number = :a', { a: 2, column: 'text' }), [{ one: 2, text: 'row 2' }]);
    assert.deepEqual(await db.raw('select cast(? as datetime2) as moment, ? as nothing, ? as yes', [new Date(0), null, true]), [{ moment: new Date(0), nothing: null, yes: true }]);
  },
  async 'truncate begins the numbers again'() {
    await db('filled').truncate();
    assert.deepEqual(await db('filled').insert({ name: 'x' }, 'id'), [{ id: 1 }]);
  },
  async 'first, pluck, modify, clone and paginated counts'() {
    assert.deepEqual(await db('author').orderBy('id').pluck('name'), ['Ada L', 'Brian', 'Cleo', 'Zoe']);
    assert.equal(await db('author').where('id', 77).first(), undefined);
    const old = db('author').modify((query) => query.where('age', '>', 40));
    assert.deepEqual(names(await old.clone()), ['Brian']);
    assert.deepEqual(await old.clone().clearSelect().count('* as n').first(), { n: 1 });
  },
};

const transactions = {
  async 'a transaction commits, and rolls back'() {
    await authors();
    await db.transaction(async (trx) => {
      await trx('author').insert({ name: 'In' });
      assert.equal((await trx('author')).length, 4);
    });
    await assert.rejects(db.transaction(async (trx) => {
      await trx('author').del();
      throw new Error('no');
    }), /no/);
    assert.equal((await db('author')).length, 4);
  },
  async 'nested transactions are savepoints'() {
    await db.transaction(async (trx) => {
      await trx('author').insert({ name: 'Outer' });
      await trx.transaction(async (inner) => {
        await inner('author').insert({ name: 'Inner' });
        throw new Error('inner');
      }).catch((error) => assert.equal(error.message, 'inner'));
      await trx.transaction((inner) => inner('author').insert({ name: 'Kept' }));
    });
    const kept = await db('author').whereIn('name', ['Outer', 'Inner', 'Kept']).orderBy('id').pluck('name');
    assert.deepEqual(kept, ['Outer', 'Kept']);
  },
  async 'isolation levels are the session\'s'() {
    for (const [level, number] of [['read committed', 2], ['repeatable read', 3], ['serializable', 4]]) {
      const found = await db.transaction((trx) => trx.raw('select transaction_isolation_level as level from sys.dm_exec_sessions where session_id = @@spid'), { isolationLevel: level });
      assert.deepEqual(found, [{ level: number }]);
    }
  },
  async 'transactionProvider and a transaction by hand'() {
    const provider = db.transactionProvider();
    const trx = await provider();
    assert.equal(await provider(), trx);
    await trx('author').del();
    await trx.rollback().catch(() => {});
    assert.ok((await db('author')).length > 0);
    const other = await db.transaction();
    await other('author').where('name', 'Kept').del();
    await other.commit();
    assert.equal((await db('author').where('name', 'Kept')).length, 0);
  },
  async 'forUpdate and forShare'() {
    await db.transaction(async (trx) => {
      assert.equal((await trx('author').where('id', 1).forUpdate()).length, 1);
      assert.equal((await trx('author').where('id', 1).forShare()).length, 1);
    });
  },
  async 'an error within a transaction leaves it to the caller'() {
    await assert.rejects(db.transaction(async (trx) => {
      await trx('author').insert({ name: 'Lost' });
      await trx('author').insert({ name: null });
    }), numberOf(515));
    assert.equal((await db('author').where('name', 'Lost')).length, 0);
  },
  async 'many queries at once'() {
    const found = await Promise.all(Array.from({ length: 20 }, (_, i) => db('many').where('number', i).first()));
    assert.deepEqual(found.map((row) => row.number), Array.from({ length: 20 }, (_, i) => i));
  },
};

function files() {
  mkdirSync(join(folder, 'migrations'));
  mkdirSync(join(folder, 'seeds'));
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write('package.json', '{"type": "commonjs"}');
  write('migrations/001_users.js', `
    exports.up = (knex) => knex.schema.createTable('users', (t) => { t.increments(); t.string('email').unique(); });
    exports.down = (knex) => knex.schema.dropTable('users');`);
  write('migrations/002_posts.js', `
    exports.up = (knex) => knex.schema.createTable('posts', (t) => {
      t.uuid('id').primary().defaultTo(knex.fn.uuid());
      t.integer('user_id').references('users.id').onDelete('CASCADE').index();
      t.text('body');
    });
    exports.down = (knex) => knex.schema.dropTable('posts');`);
  write('migrations/003_title.js', `
    exports.up = (knex) => knex.schema.alterTable('posts', (t) => { t.string('title', 80).notNullable().defaultTo('-'); });
    exports.down = (knex) => knex.schema.alterTable('posts', (t) => { t.dropColumn('title'); });`);
  write('seeds/01_users.js', `
    exports.seed = async (knex) => { await knex('users').del(); await knex('users').insert([{ email: 'a@x' }, { email: 'b@x' }]); };`);
}

const migrations = {
  async 'migrate.latest runs all'() {
    files();
    const [batch, log] = await db.migrate.latest();
    assert.equal(batch, 1);
    assert.deepEqual(log, ['001_users.js', '002_posts.js', '003_title.js']);
    assert.equal(await db.schema.hasColumn('posts', 'title'), true);
    assert.deepEqual((await db.migrate.latest())[1], []);
  },
  async 'migrate.list, currentVersion and status'() {
    const [done, left] = await db.migrate.list();
    assert.deepEqual(names(done), ['001_users.js', '002_posts.js', '003_title.js']);
    assert.deepEqual(left, []);
    assert.equal(await db.migrate.currentVersion(), '003');
    assert.equal(await db.migrate.status(), 0);
  },
  async 'seed.run fills tables'() {
    await db.seed.run();
    await db.seed.run();
    assert.deepEqual(await db('users').orderBy('id').pluck('email'), ['a@x', 'b@x']);
  },
  async 'migrate.down and migrate.up move by one'() {
    assert.deepEqual((await db.migrate.down())[1], ['003_title.js']);
    assert.equal(await db.schema.hasColumn('posts', 'title'), false);
    assert.deepEqual((await db.migrate.up())[1], ['003_title.js']);
    assert.equal(await db.schema.hasColumn('posts', 'title'), true);
  },
  async 'migrate.rollback undoes batches'() {
    assert.deepEqual((await db.migrate.rollback())[1], ['003_title.js']);
    assert.deepEqual((await db.migrate.rollback(undefined, true))[1], ['002_posts.js', '001_users.js']);
    assert.equal(await db.schema.hasTable('users'), false);
    assert.equal(await db.migrate.currentVersion(), 'none');
  },
  async 'a migration that fails leaves nothing'() {
    writeFileSync(join(folder, 'migrations/004_broken.js'), `
      exports.up = async (knex) => {
        await knex.schema.createTable('half', (t) => t.integer('a'));
        await knex.raw('select * from nothing_of_this_name');
      };
      exports.down = () => {};`);
    await assert.rejects(db.migrate.latest(), numberOf(208));
    assert.equal(await db.schema.hasTable('half'), false);
    assert.equal(await db.schema.hasTable('users'), false);
    assert.equal((await db.migrate.list())[0].length, 0);
  },
  async 'a lock that is held refuses a second migration'() {
    await db('knex_migrations_lock').update({ is_locked: 1 });
    await assert.rejects(db.migrate.latest(), /already locked/);
    await db.migrate.forceFreeMigrationsLock();
    assert.deepEqual(await db('knex_migrations_lock').pluck('is_locked'), [0]);
  },
};

await flow({ ...schema, ...queries, ...transactions, ...migrations, 'its pool is closed': () => db.destroy() });
