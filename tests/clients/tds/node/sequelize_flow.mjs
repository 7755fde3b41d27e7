// Sequelize: models, associations, queries, transactions and migrations, by its public interface.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DataTypes, Op, QueryTypes, Sequelize, Transaction, col, fn, literal, where } from 'sequelize';
import * as tedious from 'tedious';
import { SequelizeStorage, Umzug } from 'umzug';
import { flow, server } from './flow.mjs';

const folder = process.cwd();
const settings = {
  dialect: 'mssql',
  host: server.host,
  port: server.port,
  database: server.database,
  username: server.user,
  password: server.password,
  dialectOptions: { options: { encrypt: true, trustServerCertificate: true } },
  pool: { max: 4 },
  logging: false,
};
const db = new Sequelize({ ...settings, dialectModule: tedious });
const query = db.getQueryInterface();

const User = db.define('User', {
  name: { type: DataTypes.STRING(40), allowNull: false },
  email: { type: DataTypes.STRING(80) },
  age: { type: DataTypes.INTEGER, defaultValue: 0, validate: { min: 0 } },
  // Of JSON it has no type for this dialect.
  settings: {
    type: DataTypes.TEXT,
    get() {
      return JSON.parse(this.getDataValue('settings') ?? 'null');
    },
    set(value) {
      this.setDataValue('settings', JSON.stringify(value));
    },
  },
}, { indexes: [{ unique: true, fields: ['email'], name: 'users_email', where: { email: { [Op.ne]: null } } }] });
const Post = db.define('Post', {
  id: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true },
  title: { type: DataTypes.STRING, allowNull: false },
  views: DataTypes.BIGINT,
}, { paranoid: true, indexes: [{ fields: ['title'] }, { fields: ['views', 'title'], name: 'post_views' }] });
const Tag = db.define('Tag', { label: { type: DataTypes.STRING(20), primaryKey: true } }, { timestamps: false });
const Profile = db.define('Profile', { bio: DataTypes.TEXT }, { underscored: true });
User.hasMany(Post, { foreignKey: 'authorId', as: 'posts', onDelete: 'CASCADE' });
Post.belongsTo(User, { foreignKey: 'authorId', as: 'author' });
User.hasOne(Profile, { foreignKey: 'userId' });
Profile.belongsTo(User, { foreignKey: 'userId' });
Post.belongsToMany(Tag, { through: 'PostTag', as: 'tags' });
Tag.belongsToMany(Post, { through: 'PostTag', as: 'posts' });

const names = (rows) => rows.map((row) => row.name);
const numberOf = (code) => (error) => {
  assert.equal((error.parent ?? error).number, code, error.message);
  return true;
};
const called = (name) => (error) => {
  assert.equal(error.name, name, error.message);
  return true;
};

const schema = {
  async 'authenticate, and the version'() {
    await db.authenticate();
    assert.match(await query.sequelize.databaseVersion(), /^\d+\.\d+\.\d+/);
  },
  async 'sync makes all tables, twice'() {
    await db.sync();
    await db.sync();
    const tables = (await query.showAllTables()).map((table) => table.tableName).sort();
    assert.deepEqual(tables, ['PostTag', 'Posts', 'Tags', 'Users', 'profiles']);
  },
  async 'sync with force makes them again'() {
    await User.create({ name: 'gone' });
    await db.sync({ force: true });
    assert.equal(await User.count(), 0);
  },
  async 'describeTable'() {
    const found = await query.describeTable('Users');
    assert.deepEqual(Object.keys(found).sort(), ['age', 'createdAt', 'email', 'id', 'name', 'settings', 'updatedAt']);
    assert.deepEqual(found.id, { type: 'INT', allowNull: false, defaultValue: null, primaryKey: true, autoIncrement: true, comment: null });
    assert.deepEqual(found.name, { type: 'NVARCHAR(40)', allowNull: false, defaultValue: null, primaryKey: false, autoIncrement: false, comment: null });
    assert.deepEqual(found.age, { type: 'INT', allowNull: true, defaultValue: '((0))', primaryKey: false, autoIncrement: false, comment: null });
    assert.equal(found.createdAt.type, 'DATETIMEOFFSET');
    const post = await query.describeTable('Posts');
    assert.equal(post.id.type, 'CHAR(36)');
    assert.equal(post.id.primaryKey, true);
  },
  async 'showIndex'() {
    const found = (await query.showIndex('Posts')).map(({ name, primary, unique, fields }) => ({ name, primary, unique, fields: fields.map((field) => field.attribute) }));
    const primary = found.find((index) => index.primary);
    assert.deepEqual(primary.fields, ['id']);
    assert.equal(primary.unique, true);
    assert.deepEqual(found.filter((index) => !index.primary).sort((a, b) => (a.name < b.name ? -1 : 1)), [
      { name: 'post_views', primary: false, unique: false, fields: ['views', 'title'] },
      { name: 'posts_title', primary: false, unique: false, fields: ['title'] },
    ]);
  },
  async 'getForeignKeyReferencesForTable'() {
    const found = await query.getForeignKeyReferencesForTable('Posts');
    assert.equal(found.length, 1);
    const { tableName, columnName, referencedTableName, referencedColumnName } = found[0];
    assert.deepEqual({ tableName, columnName, referencedTableName, referencedColumnName },
      { tableName: 'Posts', columnName: 'authorId', referencedTableName: 'Users', referencedColumnName: 'id' });
  },
  async 'sync with alter changes what differs, and keeps the rows'() {
    const changed = (attributes) => db.define('Changed', attributes, { timestamps: false });
    const Before = changed({ name: { type: DataTypes.STRING(40), allowNull: false }, age: DataTypes.INTEGER });
    await Before.sync();
    await Before.create({ name: 'Kept', age: 3 });
    const After = changed({
      name: { type: DataTypes.STRING(90), allowNull: false },
      age: DataTypes.BIGINT,
      nick: { type: DataTypes.STRING(10), defaultValue: 'n' },
    });
    await After.sync({ alter: true });
    const found = await query.describeTable('Changeds');
    assert.equal(found.name.type, 'NVARCHAR(90)');
    assert.equal(found.age.type, 'BIGINT');
    // What it takes off a default is not the N of its text.
    assert.equal(found.nick.defaultValue, '(Nn');
    assert.deepEqual(await After.findOne({ raw: true }), { id: 1, name: 'Kept', age: '3', nick: null });
    await After.drop();
    db.modelManager.removeModel(After);
  },
  async 'queryInterface adds, changes, renames and removes columns'() {
    await query.createTable('Shape', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, a: DataTypes.INTEGER });
    await query.bulkInsert('Shape', [{ a: 1 }, { a: 2 }]);
    await query.addColumn('Shape', 'b', { type: DataTypes.STRING(5), allowNull: false, defaultValue: 'q' });
    await query.changeColumn('Shape', 'a', { type: DataTypes.BIGINT, allowNull: false });
    await query.renameColumn('Shape', 'a', 'alpha');
    let found = await query.describeTable('Shape');
    assert.deepEqual(Object.keys(found).sort(), ['alpha', 'b', 'id']);
    assert.equal(found.alpha.type, 'BIGINT');
    assert.equal(found.alpha.allowNull, false);
    assert.deepEqual(await query.select(null, 'Shape', { where: { alpha: 2 } }), [{ id: 2, alpha: '2', b: 'q' }]);
    await query.removeColumn('Shape', 'b');
    found = await query.describeTable('Shape');
    assert.deepEqual(Object.keys(found).sort(), ['alpha', 'id']);
    await query.renameTable('Shape', 'Form');
    assert.equal(await query.tableExists('Shape'), false);
    assert.equal(await query.tableExists('Form'), true);
  },
  async 'constraints and indexes are added, shown and removed'() {
    await query.createTable('Parent', { id: { type: DataTypes.INTEGER, primaryKey: true } });
    await query.createTable('Held', { a: { type: DataTypes.INTEGER }, b: { type: DataTypes.STRING(9) }, parent: DataTypes.INTEGER });
    await query.addConstraint('Held', { type: 'check', fields: ['a'], where: { a: { [Op.gt]: 0 } }, name: 'held_check' });
    await query.addConstraint('Held', { type: 'unique', fields: ['a', 'b'], name: 'held_unique' });
    await query.addConstraint('Held', { type: 'default', fields: ['b'], defaultValue: 'd', name: 'held_default' });
    await query.addConstraint('Held', { type: 'foreign key', fields: ['parent'], name: 'held_parent', references: { table: 'Parent', field: 'id' }, onDelete: 'cascade' });
    const shown = (await query.showConstraint('Held')).map((one) => one.constraintName);
    // What a foreign key refers to has a row without a name.
    assert.deepEqual(shown.filter((name) => name !== ' ').sort(), ['held_check', 'held_default', 'held_parent', 'held_unique']);
    await query.bulkInsert('Held', [{ a: 1 }]);
    assert.deepEqual(await query.select(null, 'Held'), [{ a: 1, b: 'd', parent: null }]);
    await assert.rejects(query.bulkInsert('Held', [{ a: 0 }]), numberOf(547));
    await assert.rejects(query.bulkInsert('Held', [{ a: 1 }]), numberOf(2627));
    await assert.rejects(query.bulkInsert('Held', [{ a: 2, parent: 3 }]), called('SequelizeForeignKeyConstraintError'));
    for (const name of ['held_check', 'held_unique', 'held_default', 'held_parent']) {
      await query.removeConstraint('Held', name);
    }
    await query.bulkInsert('Held', [{ a: 0, parent: 3 }]);
    await query.addIndex('Held', ['a'], { name: 'held_a', where: { a: { [Op.ne]: null } } });
    assert.deepEqual((await query.showIndex('Held')).map((index) => index.name), ['held_a']);
    await query.removeIndex('Held', 'held_a');
    assert.deepEqual(await query.showIndex('Held'), []);
  },
  async 'schemas'() {
    await query.createSchema('app');
    assert.ok((await query.showAllSchemas()).includes('app'));
    const Thing = db.define('Thing', { name: DataTypes.STRING }, { schema: 'app', timestamps: false });
    await Thing.sync();
    await Thing.create({ name: 'one' });
    assert.deepEqual(await Thing.findAll({ raw: true }), [{ id: 1, name: 'one' }]);
    await Thing.drop();
    await query.dropSchema('app');
    assert.ok(!(await query.showAllSchemas()).includes('app'));
    db.modelManager.removeModel(Thing);
  },
  async 'comments are kept beside tables and columns'() {
    const Noted = db.define('Noted', { a: { type: DataTypes.INTEGER, comment: "a column's" } }, { timestamps: false });
    await Noted.sync();
    assert.equal((await query.describeTable('Noteds')).a.comment, "a column's");
    await Noted.drop();
    db.modelManager.removeModel(Noted);
  },
};

async function filled() {
  await db.drop();
  await db.sync({ force: true });
  const ada = await User.create({
    name: 'Ada', email: 'a@x', age: 36, settings: { theme: 'dark', sizes: [1, 2] },
    posts: [{ title: 'Notes', views: '9007199254740993' }, { title: 'Engine', views: 5 }], Profile: { bio: 'b'.repeat(5000) },
  }, { include: [{ association: 'posts' }, Profile] });
  await User.bulkCreate([{ name: 'Brian', age: 82 }, { name: 'Cleo', email: 'c@x', age: 20 }]);
  await Tag.bulkCreate([{ label: 'math' }, { label: 'code' }]);
  await ada.posts[0].addTags(['math', 'code']);
  return ada;
}

const models = {
  async 'create writes a graph, and include reads it'() {
    await filled();
    const [found] = await User.findAll({
      where: { name: 'Ada' },
      include: [{ association: 'posts', include: ['tags'] }, Profile],
      order: [['posts', 'title', 'ASC'], ['posts', 'tags', 'label', 'ASC']],
    });
    assert.deepEqual(found.posts.map((post) => [post.title, post.views, post.tags.map((tag) => tag.label)]), [
      ['Engine', '5', []],
      ['Notes', '9007199254740993', ['code', 'math']],
    ]);
    assert.equal(found.Profile.bio.length, 5000);
    assert.match(found.posts[0].id, /^[0-9a-f-]{36}$/i);
  },
  async 'JSON goes there and back in a text'() {
    assert.deepEqual((await User.findOne({ where: { name: 'Ada' } })).settings, { theme: 'dark', sizes: [1, 2] });
  },
  async 'finders: where with operators, order, limit, offset, attributes'() {
    const all = (options) => User.findAll({ raw: true, ...options }).then(names);
    assert.deepEqual(await all({ where: { age: { [Op.between]: [30, 90] } }, order: ['age'] }), ['Ada', 'Brian']);
    assert.deepEqual(await all({ where: { name: { [Op.like]: '%a%' } }, order: ['name'] }), ['Ada', 'Brian']);
    assert.deepEqual(await all({ where: { [Op.or]: [{ email: null }, { age: 20 }] }, order: ['name'] }), ['Brian', 'Cleo']);
    assert.deepEqual(await all({ where: { name: { [Op.notIn]: ['Ada'] }, age: { [Op.ne]: null } }, order: ['name'] }), ['Brian', 'Cleo']);
    assert.deepEqual(await all({ where: where(fn('LOWER', col('name')), 'cleo') }), ['Cleo']);
    assert.deepEqual(await all({ order: [['age', 'DESC']], limit: 1, offset: 1 }), ['Ada']);
    assert.deepEqual(await all({ order: [['age', 'DESC']], limit: 2 }), ['Brian', 'Ada']);
    assert.deepEqual(await all({ limit: 1, offset: 2 }), ['Cleo']);
  },
  async 'findAndCountAll with include and limit'() {
    const { count, rows } = await User.findAndCountAll({ include: ['posts'], limit: 2, order: ['id'], distinct: true });
    assert.equal(count, 3);
    assert.deepEqual(rows.map((row) => [row.name, row.posts.length]), [['Ada', 2], ['Brian', 0]]);
  },
  async 'aggregates and groups'() {
    assert.equal(await User.count(), 3);
    assert.equal(await User.max('age'), 82);
    assert.equal(await User.sum('age'), 138);
    const groups = await Post.findAll({ attributes: ['authorId', [fn('COUNT', col('id')), 'n']], group: ['authorId'], raw: true });
    assert.deepEqual(groups, [{ authorId: 1, n: 2 }]);
    const counted = await User.findAll({ attributes: ['name', [literal('(SELECT COUNT(*) FROM [Posts] WHERE [Posts].[authorId] = [User].[id])'), 'posts']], order: ['id'], raw: true });
    assert.deepEqual(counted, [{ name: 'Ada', posts: 2 }, { name: 'Brian', posts: 0 }, { name: 'Cleo', posts: 0 }]);
  },
  async 'bulkCreate, update with returning, increment and destroy'() {
    const made = await User.bulkCreate([{ name: 'D1' }, { name: 'D2', age: 4 }], { returning: true });
    assert.deepEqual(made.map((user) => user.id), [4, 5]);
    const [count] = await User.update({ age: 9 }, { where: { name: { [Op.like]: 'D%' } } });
    assert.equal(count, 2);
    const [, changed] = await User.update({ age: 10 }, { where: { name: 'D1' }, returning: true });
    assert.deepEqual(changed.map((user) => [user.name, user.age]), [['D1', 10]]);
    await made[0].reload();
    await made[0].increment('age', { by: 5 });
    assert.equal((await made[0].reload()).age, 15);
    assert.equal(await User.destroy({ where: { name: { [Op.like]: 'D%' } } }), 2);
    assert.equal(await User.destroy({ where: { id: { [Op.gt]: 0 }, name: 'none' }, limit: 1 }), 0);
  },
  async 'bulkCreate of thousands of rows'() {
    const Big = db.define('Big', { n: DataTypes.INTEGER, t: DataTypes.STRING }, { timestamps: false });
    await Big.sync();
    await Big.bulkCreate(Array.from({ length: 2500 }, (_, n) => ({ n, t: `it's ${n}` })));
    assert.equal(await Big.count(), 2500);
    assert.equal(await Big.sum('n'), 3123750);
    await Big.truncate();
    assert.equal((await Big.create({ n: 1 })).id, 1);
    await Big.drop();
    db.modelManager.removeModel(Big);
  },
  async 'an id that is given is written with IDENTITY_INSERT'() {
    await User.create({ id: 100, name: 'Hundred' });
    assert.equal((await User.create({ name: 'Next' })).id, 101);
    await User.bulkCreate([{ id: 200, name: 'Two' }, { id: 201, name: 'More' }]);
    assert.equal(await User.destroy({ where: { id: { [Op.gte]: 100 } } }), 4);
  },
  async 'findOrCreate and findCreateFind'() {
    const [first, made] = await User.findOrCreate({ where: { email: 'new@x' }, defaults: { name: 'New' } });
    assert.equal(made, true);
    const [second, again] = await User.findOrCreate({ where: { email: 'new@x' }, defaults: { name: 'Other' } });
    assert.deepEqual([again, second.id, second.name], [false, first.id, 'New']);
    const [third, more] = await User.findCreateFind({ where: { email: 'new@x' }, defaults: { name: 'Third' } });
    assert.deepEqual([more, third.id], [false, first.id]);
  },
  async 'upsert is a MERGE'() {
    const [made, created] = await User.upsert({ email: 'up@x', name: 'Up', age: 1 });
    assert.deepEqual([made.name, created], ['Up', true]);
    const [changed, again] = await User.upsert({ email: 'up@x', name: 'Up two', age: 2 });
    assert.deepEqual([changed.name, again], ['Up two', false]);
    assert.deepEqual(await User.findAll({ where: { email: 'up@x' }, attributes: ['name', 'age'], raw: true }), [{ name: 'Up two', age: 2 }]);
    await Tag.upsert({ label: 'math' });
    assert.equal(await Tag.count(), 2);
  },
  async 'unique, foreign key and validation errors'() {
    await assert.rejects(User.create({ name: 'x', email: 'a@x' }), called('SequelizeUniqueConstraintError'));
    await assert.rejects(Post.create({ title: 'x', authorId: 999 }), called('SequelizeForeignKeyConstraintError'));
    await assert.rejects(User.create({ age: 1 }), called('SequelizeValidationError'));
    await assert.rejects(db.query('INSERT INTO Users (createdAt, updatedAt) VALUES (1, 1)'), called('SequelizeDatabaseError'));
  },
  async 'paranoid rows are hidden, restored and destroyed'() {
    const post = await Post.findOne({ where: { title: 'Engine' } });
    await post.destroy();
    assert.equal(await Post.count(), 1);
    assert.equal(await Post.count({ paranoid: false }), 2);
    await post.restore();
    assert.equal(await Post.count(), 2);
    await post.destroy({ force: true });
    assert.equal(await Post.count({ paranoid: false }), 1);
  },
  async 'associations by their own functions'() {
    const ada = await User.findOne({ where: { name: 'Ada' } });
    const post = await ada.createPost({ title: 'Third' });
    assert.equal(await ada.countPosts(), 2);
    await post.setTags(['code']);
    assert.deepEqual((await post.getTags()).map((tag) => tag.label), ['code']);
    assert.equal(await post.hasTag('code'), true);
    await post.removeTag('code');
    assert.equal(await post.countTags(), 0);
    await ada.removePost(post);
    assert.equal((await post.reload()).authorId, null);
    assert.equal((await (await ada.getProfile()).getUser()).id, ada.id);
  },
  async 'required includes and conditions on them'() {
    const found = await User.findAll({ include: [{ association: 'posts', required: true, where: { title: 'Notes' } }] });
    assert.deepEqual(names(found), ['Ada']);
    const nested = await User.findAll({ where: { '$posts.title$': 'Notes' }, include: ['posts'] });
    assert.deepEqual(names(nested), ['Ada']);
    const tagged = await Post.findAll({ include: [{ association: 'tags', where: { label: 'math' } }, 'author'], limit: 1 });
    assert.deepEqual(tagged.map((post) => [post.title, post.author.name]), [['Notes', 'Ada']]);
    const apart = await User.findAll({ include: [{ association: 'posts', separate: true, order: ['title'], limit: 1 }], order: ['id'], limit: 1 });
    assert.deepEqual(apart[0].posts.map((post) => post.title), ['Notes']);
  },
  async 'hooks and scopes'() {
    const heard = [];
    User.addHook('beforeCreate', 'one', (user) => heard.push(`before ${user.name}`));
    User.addHook('afterCreate', 'two', (user) => heard.push(`after ${user.id > 0}`));
    User.addScope('old', { where: { age: { [Op.gt]: 50 } } });
    const made = await User.create({ name: 'Hooked' });
    assert.deepEqual(heard, ['before Hooked', 'after true']);
    assert.deepEqual(names(await User.scope('old').findAll()), ['Brian']);
    await made.destroy();
    User.removeHook('beforeCreate', 'one');
    User.removeHook('afterCreate', 'two');
  },
  async 'values of every kind'() {
    const Kind = db.define('Kind', {
      id: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV1, primaryKey: true },
      big: DataTypes.BIGINT, small: DataTypes.SMALLINT, tiny: DataTypes.TINYINT, real: DataTypes.REAL, double: DataTypes.DOUBLE,
      amount: DataTypes.DECIMAL(12, 3), flag: DataTypes.BOOLEAN, fixed: DataTypes.CHAR(4), text: DataTypes.TEXT('tiny'), long: DataTypes.TEXT,
      bytes: DataTypes.BLOB, few: DataTypes.STRING(16).BINARY, day: DataTypes.DATEONLY, hour: DataTypes.TIME, moment: DataTypes.DATE(3),
      choice: DataTypes.ENUM('one', 'two'),
    }, { timestamps: false });
    await Kind.sync();
    const moment = new Date('2024-02-29T12:34:56.789Z');
    const row = {
      big: '-9007199254740993', small: -5, tiny: 200, real: 0.5, double: 12345.678, amount: 1234.5, flag: false, fixed: 'abcd', text: 'naïve ✓',
      long: 'y'.repeat(10000), bytes: Buffer.from([1, 0, 255]), day: '2024-02-29', moment, choice: 'two',
    };
    const { id } = await Kind.create(row);
    const found = (await Kind.findByPk(id)).get({ plain: true });
    for (const [name, value] of Object.entries(row)) {
      assert.deepEqual(found[name], value, name);
    }
    await assert.rejects(Kind.create({ choice: 'three' }), numberOf(547));
    await Kind.drop();
    db.modelManager.removeModel(Kind);
  },
  async 'raw queries take replacements and bind parameters'() {
    assert.deepEqual(await db.query('SELECT :a AS a, name FROM Users WHERE age > :age ORDER BY id', { replacements: { a: "it's", age: 30 }, type: QueryTypes.SELECT }), [{ a: "it's", name: 'Ada' }, { a: "it's", name: 'Brian' }]);
    assert.deepEqual(await db.query('SELECT $1 AS a, $2 AS b', { bind: [1, 'x'], type: QueryTypes.SELECT }), [{ a: 1, b: 'x' }]);
    const [rows, count] = await db.query("UPDATE Users SET age = 37 WHERE name = 'Ada'");
    assert.deepEqual([rows, count], [[], 1]);
  },
};

const transactions = {
  async 'a managed transaction commits, and rolls back'() {
    await db.transaction(async (transaction) => {
      await User.create({ name: 'T1' }, { transaction });
    });
    await assert.rejects(db.transaction(async (transaction) => {
      await User.create({ name: 'T2' }, { transaction });
      throw new Error('no');
    }), /no/);
    assert.equal(await User.count({ where: { name: ['T1', 'T2'] } }), 1);
  },
  async 'an unmanaged transaction'() {
    const transaction = await db.transaction();
    await User.destroy({ where: { name: 'T1' }, transaction });
    assert.equal(await User.count({ where: { name: 'T1' }, transaction }), 0);
    await transaction.rollback();
    assert.equal(await User.count({ where: { name: 'T1' } }), 1);
    const other = await db.transaction();
    await User.destroy({ where: { name: 'T1' }, transaction: other });
    await other.commit();
    assert.equal(await User.count({ where: { name: 'T1' } }), 0);
  },
  async 'isolation levels are the session\'s'() {
    // Of the levels with a blank, its name for the driver is none of the driver's, but for the level that sessions have.
    for (const [level, number] of [['READ_COMMITTED', 2], ['SERIALIZABLE', 4]]) {
      const found = await db.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS[level] }, (transaction) => db.query(
        'SELECT transaction_isolation_level AS level FROM sys.dm_exec_sessions WHERE session_id = @@SPID', { transaction, type: QueryTypes.SELECT }));
      assert.deepEqual(found, [{ level: number }], level);
    }
  },
  async 'savepoints nest'() {
    await db.transaction(async (outer) => {
      await User.create({ name: 'Outer' }, { transaction: outer });
      await db.transaction({ transaction: outer }, async (inner) => {
        await User.create({ name: 'Inner' }, { transaction: inner });
        throw new Error('inner');
      }).catch((error) => assert.equal(error.message, 'inner'));
    });
    assert.deepEqual(names(await User.findAll({ where: { name: ['Outer', 'Inner'] } })), ['Outer']);
  },
  async 'locks of rows'() {
    await db.transaction(async (transaction) => {
      assert.equal((await User.findAll({ where: { name: 'Ada' }, lock: transaction.LOCK.UPDATE, transaction })).length, 1);
      assert.equal((await User.findAll({ where: { name: 'Ada' }, lock: true, skipLocked: true, transaction })).length, 1);
    });
  },
  async 'afterCommit runs'() {
    let heard = 0;
    await db.transaction(async (transaction) => {
      transaction.afterCommit(() => heard++);
    });
    assert.equal(heard, 1);
  },
};

const umzug = () => new Umzug({
  migrations: [
    {
      name: '1_fruit',
      up: ({ context }) => context.createTable('Fruit', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, name: DataTypes.STRING }),
      down: ({ context }) => context.dropTable('Fruit'),
    },
    {
      name: '2_colour',
      up: ({ context }) => context.addColumn('Fruit', 'colour', { type: DataTypes.STRING, defaultValue: 'red' }),
      down: ({ context }) => context.removeColumn('Fruit', 'colour'),
    },
  ],
  context: query,
  storage: new SequelizeStorage({ sequelize: db }),
});

function cliFiles() {
  const write = (name, text) => writeFileSync(join(folder, name), text);
  for (const name of ['migrations', 'seeders', 'config', 'models']) {
    mkdirSync(join(folder, name));
  }
  write('config/config.js', `module.exports = { test: ${JSON.stringify({ ...settings, logging: undefined })} };`);
  write('migrations/20240101000000-city.js', `module.exports = {
    up: async (q, S) => {
      await q.createTable('City', { id: { type: S.INTEGER, primaryKey: true, autoIncrement: true }, name: { type: S.STRING, allowNull: false } });
      await q.addIndex('City', ['name'], { unique: true, name: 'city_name' });
    },
    down: (q) => q.dropTable('City') };`);
  write('migrations/20240102000000-size.js', `module.exports = {
    up: (q, S) => q.sequelize.transaction((transaction) => q.addColumn('City', 'size', { type: S.INTEGER, defaultValue: 1 }, { transaction })),
    down: (q) => q.removeColumn('City', 'size') };`);
  write('seeders/20240101000000-city.js', `module.exports = {
    up: (q) => q.bulkInsert('City', [{ name: 'Bern' }, { name: 'Oslo' }]), down: (q) => q.bulkDelete('City', null) };`);
  // Its own search for the driver begins here.
  write('package.json', '{}');
}

async function cli(...words) {
  const program = fileURLToPath(new URL('node_modules/sequelize-cli/lib/sequelize', import.meta.url));
  const env = { ...process.env, NODE_ENV: 'test', NODE_PATH: fileURLToPath(new URL('node_modules', import.meta.url)) };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], { cwd: folder, env });
  return stdout;
}

const migrations = {
  async 'umzug migrates up and down'() {
    assert.deepEqual((await umzug().up()).map((one) => one.name), ['1_fruit', '2_colour']);
    assert.deepEqual((await umzug().pending()), []);
    assert.deepEqual((await umzug().executed()).map((one) => one.name), ['1_fruit', '2_colour']);
    await query.bulkInsert('Fruit', [{ name: 'cherry' }]);
    assert.deepEqual(await query.select(null, 'Fruit'), [{ id: 1, name: 'cherry', colour: 'red' }]);
    assert.deepEqual((await umzug().down()).map((one) => one.name), ['2_colour']);
    assert.deepEqual(Object.keys(await query.describeTable('Fruit')).sort(), ['id', 'name']);
    await umzug().down({ to: 0 });
    assert.equal(await query.tableExists('Fruit'), false);
  },
  async 'sequelize-cli migrates and seeds'() {
    cliFiles();
    await cli('db:migrate');
    await cli('db:migrate');
    await cli('db:seed:all');
    assert.deepEqual(await query.select(null, 'City', { order: ['id'] }), [{ id: 1, name: 'Bern', size: 1 }, { id: 2, name: 'Oslo', size: 1 }]);
    const status = await cli('db:migrate:status');
    assert.equal(status.match(/^up /gm).length, 2);
    await cli('db:seed:undo:all');
    assert.deepEqual(await query.select(null, 'City'), []);
  },
  async 'sequelize-cli undoes migrations'() {
    await cli('db:migrate:undo');
    assert.deepEqual(Object.keys(await query.describeTable('City')).sort(), ['id', 'name']);
    await cli('db:migrate:undo:all');
    assert.equal(await query.tableExists('City'), false);
  },
  async 'sequelize-cli makes and drops a database'() {
    cliDatabase('made_by_cli');
    await cli('db:create');
    assert.deepEqual(await db.query("SELECT name FROM sys.databases WHERE name = 'made_by_cli'", { type: QueryTypes.SELECT }), [{ name: 'made_by_cli' }]);
    await cli('db:drop');
    assert.deepEqual(await db.query("SELECT name FROM sys.databases WHERE name = 'made_by_cli'", { type: QueryTypes.SELECT }), []);
  },
  async 'drop removes all tables'() {
    await query.dropAllTables();
    assert.deepEqual(await query.showAllTables(), []);
  },
};

function cliDatabase(database) {
  writeFileSync(join(folder, 'config/config.js'), `module.exports = { test: ${JSON.stringify({ ...settings, database, logging: undefined })} };`);
}

await flow({ ...schema, ...models, ...transactions, ...migrations, 'its pool is closed': () => db.close() });
