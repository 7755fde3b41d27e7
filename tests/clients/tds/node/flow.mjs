// What the flows of tools share: the server that they are told of, and checks, each with a result of its own.
import { writeSync } from 'node:fs';

const STDOUT = 1;

/** The server, as test_tools.py names it. */
export const server = {
  host: '127.0.0.1',
  port: Number(process.env.TDS_PORT),
  user: 'sa',
  password: process.env.TDS_PASSWORD,
  database: process.env.TDS_DATABASE,
};

/** Runs checks in their order, and ends the process. One that fails is reported, and does not end the others. */
export async function flow(checks) {
  for (const [name, check] of Object.entries(checks)) {
    let error = null;
    try {
      await check();
    } catch (thrown) {
      error = [thrown?.message, thrown?.sql, thrown?.query].filter(Boolean).join('\n') || String(thrown);
    }
    writeSync(STDOUT, `${JSON.stringify({ check: name, error })}\n`);
  }
  // A pool whose check failed may wait for its connection.
  process.exit(0);
}
