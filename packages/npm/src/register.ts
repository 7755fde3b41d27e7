/**
 * For programs that open databases themselves, such as command lines: they open encrypted ones.
 *
 *     NODE_OPTIONS='--require selenite-sqlite/register' SELENITE_IDENTITY=key.txt npx drizzle-kit studio
 *
 * It loads the extension into better-sqlite3, as the working directory has it, and into node:sqlite, and makes it the
 * default VFS of both. All databases of the process must be encrypted then, unless SELENITE_PLAIN=allow is set.
 */

import { createRequire } from 'node:module';
import * as path from 'node:path';

import { makeDefault, type ConnectionClass } from './extension';

/** A class of connections, if there is its module, and it can load extensions. */
function classIn(find: () => unknown): ConnectionClass | undefined {
  try {
    const found = find() as ConnectionClass;
    return 'loadExtension' in found.prototype ? found : undefined;
  } catch (error) {
    if (['MODULE_NOT_FOUND', 'ERR_UNKNOWN_BUILTIN_MODULE'].includes((error as { code?: string }).code ?? '')) {
      return undefined;
    }
    throw error;
  }
}

const ofWorkingDirectory = createRequire(path.join(process.cwd(), 'package.json'));
const found = [
  classIn(() => ofWorkingDirectory('better-sqlite3')),
  classIn(() => (require('node:sqlite') as { DatabaseSync: unknown }).DatabaseSync),
];
for (const kind of found) {
  if (kind) {
    makeDefault(kind);
  }
}
