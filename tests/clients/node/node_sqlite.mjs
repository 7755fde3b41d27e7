// node:sqlite: part of Node from 22.5 on; it loads extensions from 22.13 and takes URIs from 22.15.
import { DatabaseSync } from 'node:sqlite';
import { serve } from './serve.mjs';

const extension = process.argv[2];
const connections = new Map();
connections.set('memory', new DatabaseSync(':memory:', { allowExtension: true }));
if (extension) {
  connections.get('memory').loadExtension(extension);
}

await serve({
  open({ name, path }) {
    connections.set(name, new DatabaseSync(path, { timeout: 60_000 }));
  },
  run({ name, sql, values }) {
    return connections.get(name).prepare(sql).all(...values).map((row) => Object.values(row));
  },
  close({ name }) {
    connections.get(name).close();
    connections.delete(name);
  },
});
