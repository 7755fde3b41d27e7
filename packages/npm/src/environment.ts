/**
 * Settings of databases for better-sqlite3, which takes no URI (it is compiled with `SQLITE_USE_URI=0`): the extension
 * reads them from the environment when a database is opened.
 *
 * - for-one-opening: they are in the environment while a database is opened, and no longer.
 * - main-thread: another thread never changes the environment, which all threads of the process share.
 */

import { isMainThread } from 'node:worker_threads';

import { ExtensionError } from './errors';
import { parameters, type SeleniteOptions } from './uri';

/** Puts the settings of a database into the environment; what it answers puts back what was there. */
export function applySettings(own: SeleniteOptions): () => void {
  const wanted = Object.entries(variablesOf(own));
  if (!isMainThread) {
    checkEnvironment(wanted);
    return () => undefined;
  }
  const before = wanted.map(([name]) => [name, process.env[name]] as const);
  for (const [name, value] of wanted) {
    set(name, value);
  }
  return () => {
    for (const [name, value] of before) {
      set(name, value);
    }
  };
}

/** The parameters of a URI that are variables, too: docs/CONFIGURATION.md. */
const VARIABLES: Record<string, string> = {
  selenite_identity: 'SELENITE_IDENTITY',
  page_size: 'SELENITE_PAGE_SIZE',
  cipher: 'SELENITE_CIPHER',
  auto_vacuum: 'SELENITE_AUTO_VACUUM',
  pool_size: 'SELENITE_POOL_SIZE',
  lock_memory: 'SELENITE_LOCK_MEMORY',
  plain: 'SELENITE_PLAIN',
  deprecated: 'SELENITE_DEPRECATED',
  origin: 'SELENITE_ORIGIN',
};

function variablesOf(own: SeleniteOptions): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of parameters(own)) {
    const variable = VARIABLES[name];
    if (variable === undefined) {
      throw new TypeError(
        `${name} is not possible with better-sqlite3, which takes no URI; known are ` +
          `${Object.keys(VARIABLES).slice(1).join(', ')}; use node:sqlite for all others`,
      );
    }
    found[variable] = value;
  }
  return found;
}

function set(name: string, value: string | undefined): void {
  if (process.env[name] === value) {
    return;
  }
  if (value === undefined) {
    delete process.env[name];
  } else {
    process.env[name] = value;
  }
}

/** Refuses settings that the environment of the process, which the extension reads, does not have. */
function checkEnvironment(wanted: [string, string][]): void {
  if (!wanted.length) {
    return;
  }
  // process.env of a worker is a copy.
  const { environmentVariables } = process.report.getReport() as { environmentVariables: Record<string, string> };
  const missing = wanted.filter(([name, value]) => environmentVariables[name] !== value).map(([name]) => name);
  if (missing.length) {
    throw new ExtensionError(
      `better-sqlite3 takes no URI, and a worker thread cannot set ${missing.join(', ')} for itself alone; set it in ` +
        'the environment of the process before the worker starts, or use selenite-sqlite/node-sqlite in worker threads',
    );
  }
}
