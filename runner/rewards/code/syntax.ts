// Whether texts parse, asked of the language itself in a sandbox that does not run them.
import { z } from 'zod';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { driver } from './drivers.ts';

type SyntaxFaults = { readonly of: readonly (string | undefined)[] } | { readonly down: string };

const report = z.array(z.string().nullable());

/** Per text what is wrong with it, undefined where it parses. */
export async function syntaxFaults(
  sandbox: Sandbox,
  language: CodeLanguage,
  texts: readonly string[],
): Promise<SyntaxFaults> {
  const run = await sandbox.run(driver('syntax', language, { texts }));
  if (run.status === 'down') return { down: run.cause };
  // Only a text can end the parser: by its depth.
  if (run.status === 'stopped' || run.code !== 0)
    return { of: texts.map(() => 'too deep or too large to be parsed') };
  return { of: report.parse(JSON.parse(run.report)).map((fault) => fault ?? undefined) };
}
