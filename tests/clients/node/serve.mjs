// Answers requests on stdin, one line of JSON each, with one line of JSON on stdout: as ../peer/serve.py does.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const STDOUT = 1;

export async function serve(client) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { action, ...request } = JSON.parse(line);
    let answer;
    try {
      answer = { answer: client[action](request) ?? null };
    } catch (error) {
      answer = { error: error.message, code: error.errcode ?? null };
    }
    writeSync(STDOUT, `${JSON.stringify(answer)}\n`);
  }
}
