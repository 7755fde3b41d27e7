// TypeORM: entities, relations, trees, queries, transactions and migrations, by its public interface.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { flow, server } from './flow.mjs';

const require = createRequire(import.meta.url);
// Of one kind of module, or it would know nothing of the entities.
const { Between, DataSource, ILike, In, IsNull, LessThan, Like, MoreThan, Not, Raw, Table, TableColumn, TableForeignKey, TableIndex } = require('typeorm');
const { options, entities } = require('./typeorm_entities.cjs');
const { Author, Book, Label, Passport, Closure, Path, Nested, Kind, Setting, Old } = entities;
const folder = process.cwd();

const db = new DataSource({ ...options, entities: Object.values(entities) });
const names = (rows) => rows.map((row) => row.name);
const numberOf = (code) => (error) => {
  assert.equal((error.driverError ?? error).number, code, error.message);
  return true;
};
const rows = (entity) => db.getRepository(entity);

const schema = {
  async 'a data source connects'() {
    await db.initialize();
    assert.deepEqual(await db.query('SELECT @0 AS a, @1 AS b', [1, "it's"]), [{ a: 1, b: "it's" }]);
  },
  async 'synchronize makes tables, keys, indexes and views'() {
    await db.synchronize();
    const listed = await db.query("SELECT name FROM sys.tables WHERE name NOT LIKE 'typeorm%' ORDER BY name");
    assert.deepEqual(names(listed), ['author', 'book', 'book_label', 'closure_node', 'closure_node_closure', 'kind', 'label', 'nested_node', 'passport', 'path_node', 'setting']);
    assert.deepEqual(await rows(Old).find(), []);
  },
  async 'synchronize a second time finds no change'() {
    const { upQueries } = await db.driver.createSchemaBuilder().log();
    assert.deepEqual(upQueries.map((one) => one.query), []);
  },
  async 'a query runner describes tables'() {
    const runner = db.createQueryRunner();
    const table = await runner.getTable('author');
    await runner.release();
    const column = (name) => table.findColumnByName(name);
    assert.deepEqual([column('id').isPrimary, column('id').isGenerated, column('id').generationStrategy], [true, true, 'uuid']);
    assert.deepEqual([column('name').type, column('name').length, column('name').isNullable], ['nvarchar', '40', false]);
    assert.deepEqual([column('age').default, column('email').isUnique], ['18', true]);
    assert.deepEqual(table.checks.map((check) => check.name), ['author_age']);
    assert.deepEqual(table.indices.map((index) => [index.name, index.columnNames, index.isUnique]).sort(), [['author_name', ['name', 'age'], false], ['author_young', ['nick'], false]]);
    const book = await db.createQueryRunner().getTable('book');
    assert.deepEqual(book.foreignKeys.map((key) => [key.columnNames, key.referencedTableName.split('.').pop(), key.onDelete]), [[['author_id'], 'author', 'CASCADE']]);
    assert.deepEqual(book.uniques.map((unique) => [unique.name, unique.columnNames]), [['book_price_pages', ['price', 'pages']]]);
    assert.deepEqual([book.findColumnByName('doubled').generatedType, book.findColumnByName('id').generationStrategy], ['STORED', 'increment']);
  },
  async 'a query runner changes tables'() {
    const runner = db.createQueryRunner();
    try {
      await runner.createTable(new Table({
        name: 'shape',
        columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'increment' }, { name: 'a', type: 'int', default: '1' }],
        indices: [{ name: 'shape_a', columnNames: ['a'] }],
      }), true);
      await runner.query('INSERT INTO shape DEFAULT VALUES');
      await runner.addColumn('shape', new TableColumn({ name: 'b', type: 'nvarchar', length: '10', default: "'q'" }));
      await runner.changeColumn('shape', 'a', new TableColumn({ name: 'a', type: 'bigint', default: '2', isNullable: true }));
      await runner.renameColumn('shape', 'b', 'label');
      await runner.createIndex('shape', new TableIndex({ name: 'shape_label', columnNames: ['label'], isUnique: true }));
      await runner.renameTable('shape', 'form');
      await runner.addColumn('form', new TableColumn({ name: 'author_id', type: 'uniqueidentifier', isNullable: true }));
      await runner.createForeignKey('form', new TableForeignKey({ columnNames: ['author_id'], referencedTableName: 'author', referencedColumnNames: ['id'] }));
      const table = await runner.getTable('form');
      assert.deepEqual(table.columns.map((column) => [column.name, column.type]), [['id', 'int'], ['label', 'nvarchar'], ['a', 'bigint'], ['author_id', 'uniqueidentifier']]);
      // A column of another type is another column, behind the others.
      assert.equal(table.foreignKeys.length, 1);
      assert.deepEqual(await runner.query('SELECT id, label FROM form'), [{ id: 1, label: 'q' }]);
      await runner.dropIndex('form', 'shape_label');
      await runner.dropForeignKey('form', table.foreignKeys[0]);
      // TypeORM makes the name of a default of that of the table, and does not rename it with the table.
      await assert.rejects(runner.dropColumn('form', 'label'), numberOf(3728));
      const [{ name }] = await runner.query("SELECT name FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('form') AND definition = '(''q'')'");
      await runner.query(`ALTER TABLE form DROP CONSTRAINT "${name}"; ALTER TABLE form DROP COLUMN label`);
      assert.equal(await runner.hasColumn('form', 'label'), false);
      await runner.dropTable('form');
      assert.equal(await runner.hasTable('form'), false);
    } finally {
      await runner.release();
    }
  },
  async 'databases and schemas by a query runner'() {
    const runner = db.createQueryRunner();
    try {
      assert.equal(await runner.getCurrentDatabase(), server.database);
      assert.equal(await runner.getCurrentSchema(), 'dbo');
      assert.equal(await runner.hasDatabase('master'), true);
      assert.ok((await runner.getDatabases()).includes(server.database));
      await runner.createSchema('side', true);
      assert.equal(await runner.hasSchema('side'), true);
      await runner.dropSchema('side');
      assert.equal(await runner.hasSchema('side'), false);
      await runner.createDatabase('made_by_typeorm', true);
      assert.equal(await runner.hasDatabase('made_by_typeorm'), true);
      await runner.dropDatabase('made_by_typeorm', true);
      assert.equal(await runner.hasDatabase('made_by_typeorm'), false);
    } finally {
      await runner.release();
    }
  },
};

const repositories = {
  async 'save writes a graph, and find reads relations'() {
    const ada = await rows(Author).save({
      name: 'Ada', email: 'a@x', age: 36, profile: { theme: ['dark'] }, tags: ['x', 'y'],
      books: [{ title: 'Notes', price: '10.50', pages: '9007199254740993', labels: [{ name: 'math' }, { name: 'code' }] }, { title: 'Engine', pages: '3' }],
    });
    assert.match(ada.id, /^[0-9A-F-]{36}$/i);
    assert.equal(ada.version, 1);
    assert.ok(ada.made instanceof Date);
    await rows(Author).save([{ name: 'Brian', age: 82 }, { name: 'Cleo', age: 20, email: 'c@x' }]);
    await rows(Passport).save({ number: 'P1234567', author: ada });
    const [found] = await rows(Author).find({ where: { name: 'Ada' }, relations: { books: { labels: true }, passport: true }, order: { books: { title: 'ASC' } } });
    assert.deepEqual(found.books.map((book) => [book.title, Number(book.price), book.pages, book.labels.map((label) => label.name).sort()]),
      [['Engine', 0, '3', []], ['Notes', 10.5, '9007199254740993', ['code', 'math']]]);
    assert.deepEqual([found.profile, found.tags, found.nick, found.passport.number], [{ theme: ['dark'] }, ['x', 'y'], 'none', 'P1234567']);
  },
  async 'a generated column is computed'() {
    assert.deepEqual((await rows(Book).findOneBy({ title: 'Engine' })).doubled, '6');
  },
  async 'a view entity is read'() {
    assert.deepEqual((await rows(Old).find()).map(({ name, age }) => [name, age]), [['Brian', 82]]);
  },
  async 'find operators'() {
    const all = async (where) => names(await rows(Author).find({ where, order: { name: 'ASC' } }));
    assert.deepEqual(await all({ age: MoreThan(30) }), ['Ada', 'Brian']);
    assert.deepEqual(await all({ age: Between(20, 40) }), ['Ada', 'Cleo']);
    assert.deepEqual(await all({ name: In(['Ada', 'Cleo']) }), ['Ada', 'Cleo']);
    assert.deepEqual(await all({ name: Like('%r%') }), ['Brian']);
    assert.deepEqual(await all({ name: ILike('aD%') }), ['Ada']);
    assert.deepEqual(await all({ email: IsNull() }), ['Brian']);
    assert.deepEqual(await all([{ email: Not(IsNull()), age: LessThan(30) }, { name: 'Brian' }]), ['Brian', 'Cleo']);
    assert.deepEqual(await all({ name: Raw((alias) => `LEN(${alias}) = :size`, { size: 5 }) }), ['Brian']);
    assert.deepEqual(await all({ books: { title: 'Notes' } }), ['Ada']);
  },
  async 'pages by take and skip'() {
    assert.deepEqual(names(await rows(Author).find({ order: { name: 'ASC' }, take: 1, skip: 1 })), ['Brian']);
    const [page, count] = await rows(Author).findAndCount({ relations: { books: true }, order: { name: 'ASC' }, take: 2 });
    assert.deepEqual([names(page), page[0].books.length, count], [['Ada', 'Brian'], 2, 3]);
    assert.deepEqual(names(await rows(Author).find({ take: 2, order: { age: 'DESC' } })), ['Brian', 'Ada']);
  },
  async 'query builder: joins, groups, having, subqueries, common table expressions'() {
    const counted = await rows(Author).createQueryBuilder('a').leftJoin('a.books', 'b').select('a.name', 'name').addSelect('COUNT(b.id)', 'n')
      .groupBy('a.name').having('COUNT(b.id) >= :n', { n: 0 }).orderBy('n', 'DESC').addOrderBy('name').getRawMany();
    assert.deepEqual(counted, [{ name: 'Ada', n: 2 }, { name: 'Brian', n: 0 }, { name: 'Cleo', n: 0 }]);
    const sub = rows(Author).createQueryBuilder('a');
    sub.where(`a.id IN ${sub.subQuery().select('b.author_id').from('Book', 'b').where('b.title = :title').getQuery()}`).setParameter('title', 'Engine');
    assert.deepEqual(names(await sub.getMany()), ['Ada']);
    const young = db.createQueryBuilder().select('a.name', 'name').from('Author', 'a').where('a.age < 30');
    const common = await db.createQueryBuilder().addCommonTableExpression(young, 'young').select('name').from('young', 'young').getRawMany();
    assert.deepEqual(common, [{ name: 'Cleo' }]);
    const joined = await rows(Author).createQueryBuilder('a').innerJoinAndSelect('a.books', 'b', 'b.pages > :p', { p: 5 }).getMany();
    assert.deepEqual(joined.map((one) => one.books.length), [1]);
    assert.equal(await rows(Author).createQueryBuilder('a').getCount(), 3);
    assert.equal(await rows(Author).createQueryBuilder('a').where('a.age > 80').getExists(), true);
    const locked = await db.transaction((within) => within.createQueryBuilder(Author, 'a').setLock('pessimistic_write').where('a.age > 80').getOne());
    assert.equal(locked.name, 'Brian');
    assert.equal((await rows(Author).createQueryBuilder('a').setLock('dirty_read').getMany()).length, 3);
  },
  async 'query builder inserts, updates and deletes with output'() {
    const made = await db.createQueryBuilder().insert().into(Book).values([{ title: 'One', price: 1 }, { title: 'Two', price: 5 }]).returning(['id', 'title']).execute();
    assert.deepEqual(made.raw.map((row) => row.title), ['One', 'Two']);
    assert.ok(made.identifiers.every((one) => one.id > 0));
    const changed = await db.createQueryBuilder().update(Book).set({ price: () => 'price + 1' }).where('title = :t', { t: 'One' }).output('INSERTED.price').execute();
    assert.deepEqual([changed.affected, Number(changed.raw[0].price)], [1, 2]);
    const gone = await db.createQueryBuilder().delete().from(Book).where('title IN (:...t)', { t: ['One', 'Two'] }).output('DELETED.title').execute();
    assert.deepEqual([gone.affected, gone.raw.map((row) => row.title).sort()], [2, ['One', 'Two']]);
  },
  async 'aggregates of a repository'() {
    assert.deepEqual([await rows(Author).count(), await rows(Author).sum('age'), await rows(Author).maximum('age'), await rows(Author).average('age')], [3, 138, 82, 46]);
    await rows(Author).increment({ name: 'Cleo' }, 'age', 2);
    assert.equal((await rows(Author).findOneBy({ name: 'Cleo' })).age, 22);
    assert.equal(await rows(Author).existsBy({ name: 'Cleo' }), true);
  },
  async 'versions and dates change with a save'() {
    const cleo = await rows(Author).findOneBy({ name: 'Cleo' });
    const before = cleo.version;
    cleo.age = 23;
    await rows(Author).save(cleo);
    const after = await rows(Author).findOneBy({ name: 'Cleo' });
    assert.equal(after.version, before + 1);
    assert.ok(after.changed >= after.made);
  },
  async 'soft delete hides rows, and restore brings them back'() {
    await rows(Author).softDelete({ name: 'Cleo' });
    assert.equal(await rows(Author).count(), 2);
    assert.equal(await rows(Author).count({ withDeleted: true }), 3);
    await rows(Author).restore({ name: 'Cleo' });
    assert.equal(await rows(Author).count(), 3);
    const cleo = await rows(Author).findOneBy({ name: 'Cleo' });
    await rows(Author).softRemove(cleo);
    await rows(Author).recover(cleo);
    assert.equal(await rows(Author).count(), 3);
  },
  async 'upsert is a MERGE'() {
    await rows(Setting).upsert([{ key: 'a', value: '1' }, { key: 'b', value: '2' }], ['key']);
    await rows(Setting).upsert([{ key: 'b', value: '3' }, { key: 'c', value: '4' }], ['key']);
    const found = await rows(Setting).find({ order: { key: 'ASC' } });
    assert.deepEqual(found.map((one) => one.key + one.value), ['a1', 'b3', 'c4']);
  },
  async 'unique, check and foreign keys are the server\'s errors'() {
    await assert.rejects(rows(Author).insert({ name: 'x', email: 'A@X' }), numberOf(2627));
    await assert.rejects(rows(Author).insert({ name: 'x', age: -1 }), numberOf(547));
    await assert.rejects(rows(Book).insert({ title: 'x', price: 77, author: { id: '00000000-0000-0000-0000-000000000001' } }), numberOf(547));
    await assert.rejects(rows(Author).insert({ age: 1 }), numberOf(515));
    assert.equal(await rows(Author).count(), 3);
  },
  async 'rows come as a stream'() {
    const stream = await rows(Author).createQueryBuilder('a').orderBy('a.name').stream();
    const seen = [];
    for await (const row of stream) {
      seen.push(row.a_name);
    }
    assert.deepEqual(seen, ['Ada', 'Brian', 'Cleo']);
  },
  async 'many rows in one save, and clear'() {
    const many = Array.from({ length: 500 }, (_, i) => ({ name: `label ${i}` }));
    await rows(Label).save(many, { chunk: 100 });
    assert.equal(await rows(Label).count(), 502);
    await rows(Label).delete({ name: Like('label %') });
    assert.equal(await rows(Label).count(), 2);
  },
  async 'values of every kind'() {
    const moment = new Date('2024-02-29T12:34:56.780Z');
    const row = {
      small: -5, tiny: 200, flag: false, real: 0.5, float: 1e200, money: 19.5, text: 'plain', fixed: 'abcd', bytes: Buffer.from([0, 255]),
      day: '2024-02-29', moment, exact: moment, zoned: moment, choice: 'two',
    };
    const hour = new Date('1970-01-01T12:34:56.789Z');
    const { id } = await rows(Kind).save({ ...row, hour });
    const found = await rows(Kind).findOneBy({ id });
    for (const [name, value] of Object.entries(row)) {
      assert.deepEqual(found[name], value, name);
    }
    assert.match(found.sequence, /^[0-9A-F-]{36}$/i);
    await assert.rejects(rows(Kind).save({ ...row, hour, choice: 'three' }), numberOf(547));
  },
};

const trees = Object.fromEntries([[Closure, 'closure table'], [Path, 'materialized path'], [Nested, 'nested set']].map(([entity, kind]) => [
  `a tree as ${kind}`,
  async () => {
    const repository = db.manager.getTreeRepository(entity);
    const root = await repository.save({ name: 'root' });
    const left = await repository.save({ name: 'left', parent: root });
    await repository.save({ name: 'right', parent: root });
    const leaf = await repository.save({ name: 'leaf', parent: left });
    const [whole] = await repository.findTrees();
    assert.deepEqual(whole.children.map((child) => [child.name, names(child.children)]).sort(), [['left', ['leaf']], ['right', []]]);
    assert.deepEqual(names(await repository.findDescendants(left)).sort(), ['leaf', 'left']);
    assert.deepEqual(names(await repository.findAncestors(leaf)).sort(), ['leaf', 'left', 'root']);
    assert.equal(await repository.countDescendants(root), 4);
    assert.deepEqual(names(await repository.findRoots()), ['root']);
  },
]));

const transactions = {
  async 'a transaction commits, and rolls back'() {
    await db.transaction((within) => within.getRepository(Label).save({ name: 'kept' }));
    await assert.rejects(db.transaction(async (within) => {
      await within.getRepository(Label).save({ name: 'lost' });
      throw new Error('no');
    }), /no/);
    assert.deepEqual(names(await rows(Label).find({ where: { name: In(['kept', 'lost']) } })), ['kept']);
  },
  async 'nested transactions are savepoints'() {
    await db.transaction(async (outer) => {
      await outer.getRepository(Label).save({ name: 'outer' });
      await outer.transaction(async (inner) => {
        await inner.getRepository(Label).save({ name: 'inner' });
        throw new Error('inner');
      }).catch((error) => assert.equal(error.message, 'inner'));
    });
    assert.deepEqual(names(await rows(Label).find({ where: { name: In(['outer', 'inner']) } })), ['outer']);
  },
  async 'isolation levels are the session\'s'() {
    for (const [level, number] of [['READ COMMITTED', 2], ['REPEATABLE READ', 3], ['SERIALIZABLE', 4]]) {
      const found = await db.transaction(level, (within) => within.query('SELECT transaction_isolation_level AS level FROM sys.dm_exec_sessions WHERE session_id = @@SPID'));
      assert.deepEqual(found, [{ level: number }], level);
    }
  },
  async 'many queries at once'() {
    const found = await Promise.all(Array.from({ length: 20 }, () => rows(Author).count()));
    assert.ok(found.every((count) => count === 3));
  },
};

async function cli(...words) {
  const modules = fileURLToPath(new URL('node_modules', import.meta.url));
  const env = { ...process.env, NODE_PATH: modules };
  const { stdout } = await promisify(execFile)(process.execPath, [join(modules, 'typeorm/cli.js'), ...words, '-d', join(folder, 'source.cjs')], { cwd: folder, env });
  return stdout;
}

function sourceFile(more = '') {
  const entitiesFile = fileURLToPath(new URL('typeorm_entities.cjs', import.meta.url));
  writeFileSync(join(folder, 'source.cjs'), `
    const { DataSource, EntitySchema } = require('typeorm');
    const { options, entities } = require(${JSON.stringify(entitiesFile)});
    ${more}
    module.exports = new DataSource({ ...options, entities: Object.values(entities), migrations: [${JSON.stringify(folder)} + '/*-step*.js'] });`);
}

const steps = () => readdirSync(folder).filter((name) => name.includes('-step')).sort();

const migrations = {
  async 'schema:log has nothing to do'() {
    sourceFile();
    assert.match(await cli('schema:log'), /up to date/);
  },
  async 'dropDatabase leaves nothing'() {
    await db.dropDatabase();
    assert.deepEqual(await db.query('SELECT name FROM sys.tables'), []);
    assert.deepEqual(await db.query('SELECT name FROM sys.views'), []);
  },
  async 'migration:generate and migration:run make the schema'() {
    await cli('migration:generate', '--outputJs', join(folder, 'step1'));
    assert.equal(steps().length, 1);
    assert.match(await cli('migration:run'), /has been executed successfully/);
    assert.match(await cli('schema:log'), /up to date/);
    assert.match(await cli('migration:show'), /\[X\]/);
  },
  async 'a changed entity is a second migration'() {
    await rows(Label).save({ name: 'there' });
    sourceFile(`
      entities.Label.options.columns.weight = { type: 'int', default: 5 };
      entities.Label.options.columns.note = { type: 'nvarchar', length: 50, nullable: true };
      entities.Book.options.columns.title.length = '200';
      entities.Author.options.columns.age.default = 21;`);
    await cli('migration:generate', '--outputJs', join(folder, 'step2'));
    assert.match(readFileSync(join(folder, steps()[1]), 'utf8'), /weight/);
    await cli('migration:run');
    assert.match(await cli('schema:log'), /up to date/);
    assert.deepEqual(await db.query('SELECT name, weight, note FROM label'), [{ name: 'there', weight: 5, note: null }]);
  },
  async 'migration:revert undoes the last'() {
    await cli('migration:revert');
    assert.deepEqual(await db.query("SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('label')"), [{ name: 'name' }]);
    assert.equal((await cli('migration:show')).match(/\[X\]/g).length, 1);
    await cli('migration:revert');
    assert.deepEqual(await db.query("SELECT name FROM sys.tables WHERE name IN ('author', 'label', 'book')"), []);
  },
  async 'schema:sync and schema:drop'() {
    sourceFile();
    await cli('schema:sync');
    assert.match(await cli('schema:log'), /up to date/);
    await cli('schema:drop');
    assert.deepEqual(await db.query('SELECT name FROM sys.tables'), []);
  },
};

await flow({ ...schema, ...repositories, ...trees, ...transactions, ...migrations, 'its pool is closed': () => db.destroy() });
