// The script that makes packages: what it makes, and the binaries that it refuses.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

import { inEmptyFolders } from './fixtures.mjs';

const { SELENITE_TEST_ROOT: ROOT, SELENITE_TEST_EXTENSION: EXTENSION, SELENITE_TEST_COMMAND: COMMAND } = process.env;
const skip = !(EXTENSION && COMMAND) && 'SELENITE_TEST_EXTENSION and SELENITE_TEST_COMMAND name no binaries';
const HERE = os.machine();
const THERE = HERE === 'aarch64' ? 'x86_64' : 'aarch64';

inEmptyFolders();

function build({ extension = EXTENSION, command = COMMAND, output = 'dist', more = [] } = {}) {
  const options = ['--extension', extension, '--command', command, '--output', path.resolve(output), ...more];
  return spawnSync(path.join(ROOT, 'scripts/npm.sh'), options, { encoding: 'utf8' });
}

/** A library of C. */
function compiled(name, ...options) {
  fs.writeFileSync('empty.c', 'int selenite_nothing;\n');
  execFileSync('cc', ['-shared', '-fPIC', '-o', name, 'empty.c', ...options]);
  return path.resolve(name);
}

test('two builds are the same bytes, and strict fails on a missed goal', { skip }, () => {
  const first = build({ output: 'one' });
  assert.equal(first.status, 0, first.stderr);
  const second = build({ output: 'two', more: ['--strict', '--platform', HERE, '--libc', 'glibc'] });
  assert.equal(second.status, first.stdout.includes('missed goals') ? 1 : 0);
  const names = fs.readdirSync('one');
  assert.equal(names.length, 2);
  for (const name of names) {
    assert.ok(fs.readFileSync(path.join('one', name)).equals(fs.readFileSync(path.join('two', name))), name);
  }
});

test('binaries that do not fit are refused in one line', { skip }, () => {
  const other = path.resolve('other');
  const content = fs.readFileSync(COMMAND);
  content.writeUInt16LE(HERE === 'aarch64' ? 62 : 183, 18);
  fs.writeFileSync(other, content, { mode: 0o755 });
  fs.writeFileSync('text', 'no binary');
  compiled('libstrange.so', '-Wl,-soname,libstrange.so');
  const strange = compiled('needy.so', '-L.', '-Wl,--no-as-needed', '-lstrange', '-lc');
  const both = `the extension is of ${HERE}, the command is of ${THERE}: a package is of one platform`;
  for (const [given, words] of [
    [{ command: 'text' }, 'text is not an ELF file'],
    [{ extension: 'none' }, 'none: No such file or directory'],
    [{ command: other }, both],
    [{ more: ['--platform', THERE] }, `a package is of one platform, and ${THERE} was asked for`],
    [{ more: ['--libc', 'musl'] }, 'a package is of one libc, and musl was asked for'],
    [{ extension: strange }, 'the extension needs libstrange.so, which not every system has'],
    [{ more: ['--strip', 'no-such-strip'] }, 'no-such-strip: not found'],
  ]) {
    const ended = build(given);
    assert.deepEqual([ended.status, ended.stdout], [1, ''], ended.stderr);
    assert.ok(ended.stderr.startsWith('build_packages: ') && ended.stderr.includes(words), ended.stderr);
    assert.equal(ended.stderr.trimEnd().split('\n').length, 1);
  }
});

test('a command of another version is refused', { skip }, () => {
  fs.writeFileSync('old.c', '#include <stdio.h>\nint main(void) { return puts("selenite 0.0.9") < 0; }\n');
  execFileSync('cc', ['-o', 'old', 'old.c']);
  const ended = build({ command: path.resolve('old') });
  assert.match(ended.stderr, /^build_packages: .*old is version 0.0.9, and the package is \d+\.\d+\.\d+\n$/);
});

test('binaries of musl get a package of their own', { skip }, () => {
  // Libraries that need musl's libc by its name; nothing runs them.
  compiled('libmusl.so', `-Wl,-soname,libc.musl-${HERE}.so.1`, '-nostdlib');
  const one = compiled('libone.so', '-nostdlib', '-L.', '-Wl,--no-as-needed', '-lmusl');
  const ended = build({ extension: one, command: one, more: ['--libc', 'musl'] });
  assert.equal(ended.status, 0, ended.stderr);
  assert.match(ended.stderr, /^warning: .*libone.so does not run here: its version is not checked/);
  assert.ok(fs.readdirSync('dist').some((name) => /^selenite-sqlite-linux-(x64|arm64)-musl-/.test(name)));
  assert.ok(!ended.stdout.includes('missed goals'));
});
