// Set-up on machines that it cannot serve: it says what is wrong and what to do, and fails. A bare copy of its
// files is sourced with a PATH of only the tools named, so nothing is fetched.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const infra = resolve(import.meta.dirname, '../../infra');
let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'millrace-setup-'));
  cpSync(infra, join(clone, 'infra'), { recursive: true });
  mkdirSync(join(clone, 'bin'));
  for (const tool of [
    'cp',
    'df',
    'awk',
    'id',
    'ldd',
    'grep',
    'ln',
    'mkdir',
    'readlink',
    'rm',
    'sh',
    'sleep',
    'uname',
  ]) {
    symlinkSync(
      spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim(),
      join(clone, 'bin', tool),
    );
  }
});

afterEach(() => rmSync(clone, { recursive: true }));

function standIn(tool: string, script: string): void {
  rmSync(join(clone, 'bin', tool), { force: true });
  writeFileSync(join(clone, 'bin', tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function setUp(): { status: number | null; stderr: string } {
  const env = { HOME: clone, PATH: join(clone, 'bin') };
  const { status, stderr } = spawnSync('/bin/sh', ['-c', '. ./infra/setup.sh'], {
    cwd: clone,
    env,
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('no npm', () => {
  const { status, stderr } = setUp();
  expect(status).toBe(1);
  expect(stderr).toContain('npm is not in PATH. Install Node 20 or newer with npm');
});

test('a platform without packages', () => {
  standIn('uname', 'test "$1" = -s && echo FreeBSD || echo riscv64');
  const { status, stderr } = setUp();
  expect(status).toBe(1);
  expect(stderr).toContain('no packages for FreeBSD riscv64');
});

test('a system with musl', () => {
  standIn('ldd', 'echo "musl libc (x86_64)" >&2; exit 1');
  const { status, stderr } = setUp();
  expect(status).toBe(1);
  expect(stderr).toContain('ONNX Runtime needs glibc');
});

test('npm fails: its message, then the usual causes; the lock is released', () => {
  standIn(
    'npm',
    'test "$1" = config && echo https://registry.example/ || { echo "npm error ENOTFOUND" >&2; exit 1; }',
  );
  for (const attempt of ['first', 'second']) {
    const { status, stderr } = setUp();
    expect(status, attempt).toBe(1);
    expect(stderr).toContain('npm error ENOTFOUND');
    expect(stderr).toContain('fetching Node failed');
    expect(stderr).toContain('https://registry.example/');
    expect(stderr).not.toContain('another set-up runs');
  }
});

test('a second set-up waits for the first', async () => {
  standIn('npm', 'echo "npm runs, set-up is $(readlink lock)" >&2; exit 1');
  mkdirSync(join(clone, '.node'));
  symlinkSync(String(process.pid), join(clone, '.node/lock'));
  const env = { HOME: clone, PATH: join(clone, 'bin') };
  const second = spawn('/bin/sh', ['-c', '. ./infra/setup.sh'], { cwd: clone, env });
  let stderr = '';
  second.stderr.setEncoding('utf8');
  while (!stderr.includes('another set-up runs here'))
    stderr += String((await once(second.stderr, 'data'))[0]);
  expect(stderr).not.toContain('npm runs');
  second.stderr.on('data', (text: string) => (stderr += text));
  unlinkSync(join(clone, '.node/lock'));
  expect((await once(second, 'close'))[0]).toBe(1);
  expect(stderr).toContain(`npm runs, set-up is ${second.pid}\n`);
});
