const answer = { program: process.versions.node };
try {
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(':memory:', { allowExtension: true });
  answer.sqlite = db.prepare('SELECT sqlite_version() AS text').get().text;
  answer.can_load = typeof db.loadExtension === 'function';
  if (answer.can_load && process.argv[1]) {
    db.loadExtension(process.argv[1]);
    answer.loaded = db.prepare('SELECT selenite_version() AS text').get().text;
  }
} catch (error) {
  answer.error = error.message;
}
console.log(JSON.stringify(answer));
