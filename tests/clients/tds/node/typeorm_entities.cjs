// The entities of typeorm_flow.mjs, and of its command, which loads them from files of its own.
const { EntitySchema } = require('typeorm');

const options = {
  type: 'mssql',
  host: '127.0.0.1',
  port: Number(process.env.TDS_PORT),
  username: 'sa',
  password: process.env.TDS_PASSWORD,
  database: process.env.TDS_DATABASE,
  options: { encrypt: true, trustServerCertificate: true },
  pool: { max: 4 },
};

const uuid = { type: 'uniqueidentifier', primary: true, generated: 'uuid' };

const Author = new EntitySchema({
  name: 'Author',
  columns: {
    id: uuid,
    name: { type: 'nvarchar', length: 40 },
    email: { type: 'nvarchar', length: 80, nullable: true, unique: true },
    age: { type: 'int', default: 18 },
    nick: { type: 'nvarchar', length: 20, default: 'none' },
    profile: { type: 'simple-json', nullable: true },
    tags: { type: 'simple-array', nullable: true },
    made: { type: 'datetime2', createDate: true },
    changed: { type: 'datetime2', updateDate: true },
    removed: { type: 'datetime2', deleteDate: true },
    version: { type: 'int', version: true },
  },
  checks: [{ name: 'author_age', expression: '"age" >= 0' }],
  indices: [{ name: 'author_name', columns: ['name', 'age'] }, { name: 'author_young', columns: ['nick'], where: '"age" < 30' }],
  relations: {
    books: { type: 'one-to-many', target: 'Book', inverseSide: 'author', cascade: true },
    passport: { type: 'one-to-one', target: 'Passport', inverseSide: 'author' },
  },
});

const Book = new EntitySchema({
  name: 'Book',
  columns: {
    id: { type: 'int', primary: true, generated: 'increment' },
    title: { type: 'nvarchar', length: 'MAX' },
    price: { type: 'decimal', precision: 10, scale: 2, default: 0 },
    pages: { type: 'bigint', nullable: true },
    doubled: { type: 'bigint', asExpression: '"pages" * 2', generatedType: 'STORED', nullable: true, insert: false, update: false },
  },
  uniques: [{ name: 'book_price_pages', columns: ['price', 'pages'] }],
  relations: {
    author: { type: 'many-to-one', target: 'Author', inverseSide: 'books', onDelete: 'CASCADE', nullable: true, joinColumn: { name: 'author_id' } },
    labels: { type: 'many-to-many', target: 'Label', inverseSide: 'books', joinTable: { name: 'book_label' }, cascade: true },
  },
});

const Label = new EntitySchema({
  name: 'Label',
  columns: { name: { type: 'varchar', length: 20, primary: true } },
  relations: { books: { type: 'many-to-many', target: 'Book', inverseSide: 'labels' } },
});

const Passport = new EntitySchema({
  name: 'Passport',
  columns: { id: uuid, number: { type: 'char', length: 8 } },
  relations: { author: { type: 'one-to-one', target: 'Author', inverseSide: 'passport', joinColumn: true } },
});

const tree = (name, type) => new EntitySchema({
  name,
  columns: { id: { type: 'int', primary: true, generated: 'increment' }, name: { type: 'nvarchar', length: 20 } },
  relations: {
    parent: { type: 'many-to-one', target: name, inverseSide: 'children', treeParent: true, nullable: true },
    children: { type: 'one-to-many', target: name, inverseSide: 'parent', treeChildren: true, cascade: true },
  },
  trees: [{ type }],
});
const Closure = tree('ClosureNode', 'closure-table');
const Path = tree('PathNode', 'materialized-path');
const Nested = tree('NestedNode', 'nested-set');

const Kind = new EntitySchema({
  name: 'Kind',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment' },
    small: { type: 'smallint' }, tiny: { type: 'tinyint' }, flag: { type: 'bit', default: true }, real: { type: 'real' },
    float: { type: 'float' }, money: { type: 'money' }, text: { type: 'varchar', length: 30 }, fixed: { type: 'nchar', length: 4 },
    bytes: { type: 'varbinary', length: 'MAX' }, day: { type: 'date' }, hour: { type: 'time', precision: 3 },
    moment: { type: 'datetime' }, exact: { type: 'datetime2', precision: 3, default: () => 'SYSUTCDATETIME()' },
    zoned: { type: 'datetimeoffset', precision: 3 }, sequence: { type: 'uniqueidentifier', default: () => 'NEWID()' },
    choice: { type: 'simple-enum', enum: ['one', 'two'], default: 'one' },
  },
});

const Setting = new EntitySchema({
  name: 'Setting',
  columns: { key: { type: 'nvarchar', length: 20, primary: true }, value: { type: 'nvarchar', length: 20 } },
});

const Old = new EntitySchema({
  name: 'OldAuthor',
  type: 'view',
  expression: 'SELECT "name", "age" FROM "author" WHERE "age" > 50',
  columns: { name: { type: 'nvarchar' }, age: { type: 'int' } },
});

module.exports = { options, entities: { Author, Book, Label, Passport, Closure, Path, Nested, Kind, Setting, Old } };
