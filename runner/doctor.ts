// Looks at this machine as a runner would before it registers, and prints what it finds, one line of JSON a check.
// `millrace doctor` starts it.
import { mkdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Check } from '../api/contract/check.ts';
import { codeLanguage } from '../api/contract/grader.ts';
import { findAbilities } from './supervisor/abilities.ts';

/** A snapshot of a small model with its moments, twice: one at work, one on its way. */
const leastFreeGb = 5;

const say = (check: Check): void => console.log(JSON.stringify(check));

async function lookAtScratch(): Promise<void> {
  const folder = resolve(process.env['MILLRACE_SCRATCH'] ?? join(tmpdir(), 'millrace-scratch'));
  try {
    await mkdir(folder, { recursive: true });
    const { bavail, bsize } = await statfs(folder);
    const gb = (bavail * bsize) / 1e9;
    const found = `${gb.toFixed(1)} GB are free in ${folder}`;
    const isEnough = gb >= leastFreeGb;
    const advice = isEnough
      ? ''
      : `free some, or name another folder by MILLRACE_SCRATCH: ${leastFreeGb} GB at least`;
    say({ name: 'scratch', result: isEnough ? 'ok' : 'broken', found, advice });
  } catch (error) {
    const advice = 'name a folder that can be written by MILLRACE_SCRATCH';
    say({ name: 'scratch', result: 'broken', found: (error as Error).message, advice });
  }
}

/** A machine that trains needs no sandbox: what is missing here is told, and breaks nothing. */
async function lookAtSandbox(): Promise<void> {
  const { languages, missing } = await findAbilities(join(import.meta.dirname, 'grader.ts'), process.env);
  for (const language of codeLanguage.options) {
    const name = `sandbox for ${language}`;
    const why = missing[language] ?? missing['code'];
    if (languages.includes(language)) say({ name, result: 'ok', found: 'a program ran in it', advice: '' });
    else
      say({
        name,
        result: 'skipped',
        found: why ?? 'not here',
        advice: 'docs/sandbox.md, if code is to be graded here',
      });
  }
}

await lookAtScratch();
await lookAtSandbox();
