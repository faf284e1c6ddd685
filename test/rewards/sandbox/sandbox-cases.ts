// What every back end must do, in programs that it understands: one list, run by each back end's test.
import { expect, it } from 'vitest';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';

export interface Dialect {
  readonly language: CodeLanguage;
  readonly echo: string;
  readonly fail: string;
  readonly report: string;
  readonly loop: string;
  /** Asks the other side what 21 doubled is; reports the answer; prints how the stream ends. */
  readonly judge: string;
  readonly candidate: string;
  /** A candidate that answers and then computes for ever. */
  readonly stubborn: string;
}

export function sandboxCases(sandbox: Sandbox, dialect: Dialect): void {
  const { language } = dialect;

  it('gives standard input and takes standard output', async () => {
    const run = await sandbox.run({ language, main: dialect.echo, stdin: 'zwölf\n€\n' });
    expect(run).toMatchObject({ status: 'exited', code: 0, stdout: 'zwölf\n€\n', stderr: '', report: '' });
  });

  it('tells an uncaught error from a good end', async () => {
    const run = await sandbox.run({ language, main: dialect.fail });
    expect(run).toMatchObject({
      status: 'exited',
      code: 1,
      stderr: expect.stringContaining('broken') as string,
    });
  });

  it('tells what does not even parse', async () => {
    expect(await sandbox.run({ language, main: 'this is ( no program' })).toMatchObject({
      status: 'exited',
      code: 1,
    });
  });

  it('keeps the report apart', async () => {
    expect(await sandbox.run({ language, main: dialect.report })).toMatchObject({
      stdout: '',
      report: 'a report',
    });
  });

  it('stops at a limit of one run', async () => {
    const before = sandbox.cpuSeconds();
    const run = await sandbox.run({ language, main: dialect.loop, limits: { cpuSeconds: 1 } });
    expect(run).toMatchObject({ status: 'stopped', by: 'cpu' });
    expect(sandbox.cpuSeconds() - before).toBeGreaterThan(0.7);
    expect(sandbox.cpuSeconds() - before).toBeLessThan(2);
  });

  it('counts what starting an interpreter takes to the runs', async () => {
    const before = sandbox.cpuSeconds();
    await sandbox.run({ language, main: dialect.report });
    const taken = sandbox.cpuSeconds() - before;
    expect(taken).toBeGreaterThan(0.005);
    expect(taken).toBeLessThan(0.5);
  });

  it('lets a judge talk to a candidate and stops the candidate with the judge', async () => {
    const talk = (main: string) =>
      sandbox.converse({ language, main: dialect.judge }, { language, main, limits: { cpuSeconds: 1 } });
    const [quick, stubborn] = await Promise.all([talk(dialect.candidate), talk(dialect.stubborn)]);
    expect(quick.judge).toMatchObject({ status: 'exited', code: 0, report: '42', stdout: 'end' });
    expect(stubborn.judge).toMatchObject({ status: 'exited', report: '42', stdout: 'end' });
    expect(stubborn.candidate).toMatchObject({ status: 'stopped', by: 'cpu' });
  });

  it('takes turns: more runs than slots all end, and a canary passes', async () => {
    const runs = Array.from({ length: 3 * sandbox.slots }, (_, at) =>
      sandbox.run({ language, main: dialect.echo, stdin: `${at}\n` }),
    );
    const outputs = (await Promise.all(runs)).map((run) => (run.status === 'exited' ? run.stdout : run));
    expect(outputs).toEqual(runs.map((_, at) => `${at}\n`));
    expect(await sandbox.canary(language)).toBeUndefined();
  });
}
