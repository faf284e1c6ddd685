// What this machine has: Node itself, and what processes of ours say that look at it, and at the database and the store.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Check } from '../../api/contract/check.ts';
import { check } from '../../api/contract/check.ts';

const root = resolve(import.meta.dirname, '../..');

export async function* checksHere(interrupt: AbortSignal): AsyncGenerator<Check, void, undefined> {
  yield nodeCheck(process.versions.node, process.features.typescript !== false);
  yield* checksOf('api/doctor.ts', 'database and store', interrupt);
  yield* checksOf('runner/doctor.ts', 'this machine', interrupt);
}

export const nodeCheck = (version: string, runsTypeScript: boolean): Check => ({
  name: 'Node',
  result: runsTypeScript ? 'ok' : 'broken',
  found: `${version}${runsTypeScript ? '' : ' runs no TypeScript'}`,
  advice: runsTypeScript ? '' : 'install Node 22.18 or newer',
});

/** A process that does not come to its end is a check that is broken. */
async function* checksOf(
  entry: string,
  what: string,
  interrupt: AbortSignal,
): AsyncGenerator<Check, void, undefined> {
  const child = spawn(process.execPath, [resolve(root, entry)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: interrupt,
  });
  const ended = new Promise<number | null>((done, fail) => {
    child.once('exit', done);
    child.once('error', fail);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed = check.safeParse(parseJson(line));
    if (parsed.success) yield parsed.data;
  }
  const code = await ended;
  if (code === 0) return;
  const found = `the look at it ended with ${code ?? 'a signal'}`;
  yield { name: what, result: 'broken', found, advice: 'see what it says above' };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
