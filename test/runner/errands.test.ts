// Errands in the supervisor: what the real grader answers, and how a scripted one may end without harming the runner.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ErrandClaim, ErrandOutcome, ErrandPayload } from '../../api/contract/errand.ts';
import type { GradeItem } from '../../api/contract/grade.ts';
import type { Grader } from '../../api/contract/grader.ts';
import { findAbilities } from '../../runner/supervisor/abilities.ts';
import { defaultTiming } from '../../runner/supervisor/settings.ts';
import type { Timing } from '../../runner/supervisor/settings.ts';
import type { Bench } from './support/bench.ts';
import { startBench, until } from './support/bench.ts';
import { claim, datasetId } from './support/claims.ts';
import { problem } from './support/fake-service.ts';
import { childOf, isAlive } from './support/processes.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { storeCheckpoint, writeTinyRewardModel } from '../support/tiny-reward-model.ts';

let bench: Bench;
afterEach(async () => {
  await bench.stop();
  expect(bench.service.violations).toEqual([]);
});

const claimOf = (payload: ErrandPayload, number = 1): ErrandClaim => ({
  errand: `err_${String(number).padStart(20, '0')}`,
  attempt: 1,
  payload,
  reward_model: null,
  lease_ms: 3_000,
});

const grade = (grader: Grader, items: readonly GradeItem[]): ErrandPayload => ({
  kind: 'grade',
  grader,
  items: [...items],
});

async function outcomeOf(given: ErrandClaim): Promise<ErrandOutcome> {
  const before = bench.service.errandOutcomes.length;
  bench.service.errands.push(given);
  await until('the errand has ended', () => bench.service.errandOutcomes.length > before);
  return bench.service.errandOutcomes.at(-1)!;
}

describe('the real grader', () => {
  it('grades a thousand items in their order', async () => {
    bench = await startBench();
    const items = Array.from({ length: 1_000 }, (_, at) => ({
      task: { prompt: `${at}=`, answer: at },
      response: at % 3 === 0 ? `${at}` : at % 3 === 1 ? `\\boxed{${at + 1}}` : '<think>so',
    }));
    const outcome = await outcomeOf(claimOf(grade({ type: 'math' }, items)));
    if (outcome.type !== 'graded') throw new Error(JSON.stringify(outcome));
    expect(outcome.results.map(({ index }) => index)).toEqual(items.map((_, at) => at));
    expect(outcome.results.slice(0, 3)).toMatchObject([
      { index: 0, status: 'scored', value: 1, parts: {} },
      { index: 1, status: 'scored', value: 0, parts: {} },
      { index: 2, status: 'invalid', value: 0, code: 'no_answer' },
    ]);
    expect(outcome.results.filter((one) => one.status === 'scored' && one.value === 1)).toHaveLength(334);
  });

  async function validate(rows: readonly object[], grader: Grader): Promise<ErrandOutcome> {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const key = `datasets/${datasetId}/rows.jsonl`;
    mkdirSync(dirname(join(bench.storeDir, key)), { recursive: true });
    writeFileSync(join(bench.storeDir, key), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const dataset = { id: datasetId, kind: 'math' as const, key, size: Buffer.byteLength(text), sha256 };
    return await outcomeOf(claimOf({ kind: 'validate', grader, dataset }));
  }

  it('names the rows whose gold does not reach the maximum, and those that are worth nothing', async () => {
    bench = await startBench();
    const rows = Array.from({ length: 300 }, (_, at) => ({
      prompt: `${at}`,
      answer: at % 100 === 42 ? '' : `${at}`,
    }));
    expect(await validate(rows, { type: 'math' })).toMatchObject({
      type: 'validated',
      report: { broken: 3, issues: [{ row: 42 }, { row: 142 }, { row: 242 }], unproven: 0 },
    });
    expect(await validate(rows, { type: 'prefix' })).toEqual({
      type: 'validated',
      report: { broken: 0, issues: [], unproven: 0, zero_maximum: { count: 3, rows: [42, 142, 242] } },
    });
    const left = () => readdirSync(bench.scratch).flatMap((own) => readdirSync(join(bench.scratch, own)));
    await until('scratch is empty', () => left().length === 0);
  });

  it('a store without the rows gives the errand back', async () => {
    bench = await startBench();
    const dataset = { id: datasetId, kind: 'math' as const, key: 'none', size: 1, sha256: '0'.repeat(64) };
    const outcome = await outcomeOf(claimOf({ kind: 'validate', grader: { type: 'math' }, dataset }));
    expect(outcome).toMatchObject({ type: 'again', reason: 'store_unavailable' });
  });

  describe('with a reward model', () => {
    const ids = ['1', '2', '3'].map((end) => `ckpt_${end.padStart(20, '0')}`);
    const [one, other, third] = ids as [string, string, string];
    const item: GradeItem = { task: { prompt: '1+1=', chosen: '2', rejected: '3' }, response: '2' };

    /** An errand that scores with the checkpoint, which lies in the store. */
    async function preferring(id: string, write = writeTinyRewardModel): Promise<ErrandClaim> {
      const dir = join(bench.storeDir, '..', id);
      const files = await write(dir);
      const committed = await storeCheckpoint(bench.storeDir, `jobs/${id}/`, dir, files);
      const payload = grade({ type: 'preference', model: id }, [item]);
      return { ...claimOf(payload), reward_model: { id, ...committed } };
    }

    const emptyStore = () => rmSync(join(bench.storeDir, 'jobs'), { recursive: true });

    it('scores answers, and fetches the same one but once', { timeout: 60_000 }, async () => {
      bench = await startBench();
      const first = await preferring(one);
      const scored = await outcomeOf(first);
      expect(scored).toEqual({
        type: 'graded',
        results: [{ index: 0, status: 'scored', value: expect.any(Number) as number, parts: {} }],
      });
      const second = await preferring(other, (dir) => writeTinyRewardModel(dir, 2));
      emptyStore();
      expect(await outcomeOf(first)).toEqual(scored);
      expect(await outcomeOf(second)).toMatchObject({
        type: 'failed',
        message: expect.stringContaining(other),
      });
      const brought = await preferring(other, (dir) => writeTinyRewardModel(dir, 2));
      const others = await outcomeOf(brought);
      expect(others).toMatchObject({ type: 'graded' });
      expect(others).not.toEqual(scored);
      // One is held at a time.
      expect(await outcomeOf(first)).toMatchObject({ type: 'failed', message: expect.stringContaining(one) });
    });

    it('that is none ends the errand, by its name; so does one that is gone', async () => {
      bench = await startBench();
      const language = await preferring(one, (dir) => writeTinyDirectory(dir));
      expect(await outcomeOf(language)).toEqual({
        type: 'failed',
        reason: 'invalid_data',
        message: expect.stringMatching(/^reward model ckpt_0+1: .*language head/) as string,
      });
      const lost = await preferring(other);
      emptyStore();
      expect(await outcomeOf(lost)).toEqual({
        type: 'failed',
        reason: 'invalid_data',
        message: expect.stringMatching(/^reward model ckpt_0+2: its files are not in .*store/) as string,
      });
      expect(await outcomeOf({ ...(await preferring(third)), reward_model: null })).toEqual({
        type: 'failed',
        reason: 'invalid_data',
        message: expect.stringMatching(/^reward model ckpt_0+3: there is no such checkpoint/) as string,
      });
    });

    it('is fetched again for the process that follows one that died', async () => {
      bench = await startBench();
      const given = await preferring(one);
      const scored = await outcomeOf(given);
      const grader = childOf(process.pid, 'runner/grader.ts')!;
      process.kill(grader, 'SIGSTOP');
      const again = outcomeOf(given);
      await until('it has the errand', () => bench.service.errands.length === 0);
      process.kill(grader, 'SIGKILL');
      expect(await again).toEqual(scored);
    });
  });

  it('says what code it can run, each other language with the reason', async () => {
    bench = await startBench();
    const { languages, missing } = await findAbilities(bench.settings.graderEntry, process.env);
    for (const language of ['python', 'javascript', 'typescript'] as const)
      expect([languages.includes(language), missing[language]?.length ?? 0]).toSatisfy(
        ([has, reason]) => has === (reason === 0),
      );
  });
});

describe('a grader that', () => {
  const scripted = (timing: Partial<Timing> = {}) =>
    startBench(() => undefined, {
      graderEntry: join(import.meta.dirname, 'support/scripted-grader.ts'),
      timing: {
        ...defaultTiming,
        claimMs: 30,
        killGraceMs: 200,
        stopMs: 2_000,
        graderSilenceMs: 1_500,
        graderIdleMs: 200,
        ...timing,
      },
    });
  const task = { prompt: 'x', answer: '1' };
  const script = (name: string, number = 1): ErrandClaim =>
    claimOf(grade({ type: 'exact' }, [{ task, response: name }]), number);
  const told = (): number[][] =>
    existsSync(bench.env['SCRIPT_PIDS']!)
      ? readFileSync(bench.env['SCRIPT_PIDS']!, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as number[])
      : [];

  it('dies once is asked again, fresh', async () => {
    bench = await scripted();
    expect(await outcomeOf(script('die_once'))).toMatchObject({ type: 'graded' });
    expect(told()).toHaveLength(2);
  });

  it.each([
    ['dies', 'die', /2 times on it: SIGKILL; then SIGKILL/],
    ['says nothing', 'busy', /no sign of life for 1.5 s/],
    ['finishes nothing', 'hang', /finished no answer for 1 s/],
  ])('%s over and over ends the errand, not the runner', async (_what, name, message) => {
    bench = await scripted({ graderStallMs: name === 'hang' ? 1_000 : 60_000 });
    expect(await outcomeOf(script(name))).toEqual({
      type: 'failed',
      reason: 'grader_crashed',
      message: expect.stringMatching(message),
    });
    expect(told()).toHaveLength(2);
    expect(await outcomeOf(script('one', 2))).toMatchObject({ type: 'graded' });
    expect(told().flat().filter(isAlive)).toEqual([]);
  });

  it('sees no secret of the service', async () => {
    bench = await scripted();
    expect(await outcomeOf(script('secrets'))).toMatchObject({ message: 'sees ' });
  });

  it('has what it needs away gives the errand back', async () => {
    bench = await scripted();
    expect(await outcomeOf(script('down'))).toEqual({
      type: 'again',
      reason: 'reward_unavailable',
      message: 'the sandbox is down',
    });
  });

  it('is ended when there is nothing to do', async () => {
    bench = await scripted();
    expect(await outcomeOf(script('die_once'))).toMatchObject({ type: 'graded' });
    await until('no grader is left', () => !told().flat().some(isAlive));
  });

  it('loses its lease is killed with all that it started; nothing is said', async () => {
    bench = await scripted();
    bench.service.errands.push(script('stubborn'));
    await until('it has begun', () => told().length === 1);
    expect(told().flat().every(isAlive)).toBe(true);
    bench.service.instead = (route) =>
      route === 'errands/heartbeat' ? problem(409, 'lease_lost') : undefined;
    await until('it is gone', () => !told().flat().some(isAlive));
    bench.service.instead = () => undefined;
    expect(await outcomeOf(script('one', 2))).toMatchObject({ type: 'graded' });
    expect(bench.service.errandOutcomes).toHaveLength(1);
  });

  it('works when the runner is stopped gives the errand back, no process left', async () => {
    bench = await scripted();
    bench.service.errands.push(script('stubborn'));
    await until('it has begun', () => told().length === 1);
    const pids = told().flat();
    const start = performance.now();
    await bench.stop();
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(bench.service.errandOutcomes).toEqual([
      expect.objectContaining({ type: 'again', reason: 'runner_stopped' }),
    ]);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('works while a job trains', async () => {
    bench = await scripted();
    bench.service.claims.push(claim('alive'));
    const isTraining = () => bench.service.entries.some(({ type }) => type === 'step');
    await until('the job has begun', isTraining);
    expect(await outcomeOf(script('one'))).toMatchObject({ type: 'graded' });
    expect(bench.service.outcome).toBeUndefined();
  });

  it('has results that the service refuses ends the errand with that', async () => {
    bench = await scripted();
    const refused = 'errands/finish';
    bench.service.instead = (route, body) =>
      route === refused && (body as { outcome: ErrandOutcome }).outcome.type === 'graded'
        ? problem(422, 'invalid_spec')
        : undefined;
    expect(await outcomeOf(script('one'))).toMatchObject({
      type: 'failed',
      reason: 'grader_failed',
      message: expect.stringContaining('invalid_spec'),
    });
  });

  it('has an answer that the service is too busy to hear is heard later', async () => {
    bench = await scripted();
    let refusals = 2;
    bench.service.instead = (route) =>
      route === 'errands/finish' && refusals-- > 0 ? problem(503, 'database_unavailable') : undefined;
    expect(await outcomeOf(script('one'))).toMatchObject({ type: 'graded' });
  });
});
