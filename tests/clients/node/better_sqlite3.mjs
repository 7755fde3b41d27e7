// better-sqlite3. It takes no URI: the VFS is made the default one, and what a URI would say is said by the environment.
import Database from 'better-sqlite3';
import { serve } from './serve.mjs';

const extension = process.argv[2];
const connections = new Map();
connections.set('memory', new Database(':memory:'));
if (extension) {
  connections.get('memory').loadExtension(extension);
  connections.get('memory').prepare('SELECT selenite_default(1)').get();
}

await serve({
  open({ name, path }) {
    connections.set(name, new Database(path, { timeout: 60_000 }));
  },
  run({ name, sql, values }) {
    const statement = connections.get(name).prepare(sql);
    if (!statement.reader) {
      statement.run(...values);
      return [];
    }
    return statement.raw().all(...values);
  },
  close({ name }) {
    connections.get(name).close();
    connections.delete(name);
  },
});
