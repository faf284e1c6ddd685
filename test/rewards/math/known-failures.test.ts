// What other verifiers got wrong, by the issue that reports it, each with its opposite beside it: a wrong verdict of
// either kind fails.
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { valueOf } from './verify.ts';

const raw = String.raw;

describe('false negatives of Math-Verify', () => {
  it.each([
    ['#56 LaTeX without dollars', raw`\frac{14}{3}`, raw`\frac{14}{3}`, raw`\frac{14}{5}`],
    [
      '#56 in a sentence',
      raw`\frac{14}{3}`,
      raw`so we obtain \frac{14}{3}.`,
      raw`so we obtain \frac{3}{14}.`,
    ],
    ['#29 a root', raw`\sqrt{3}`, raw`$\sqrt 3$`, raw`$\sqrt 5$`],
    ['#29 a root alone', raw`\sqrt{3}`, raw`\sqrt{3}`, raw`\sqrt[3]{3}`],
    ['#70 \\dfrac without box', raw`\frac{9}{7}`, raw`\dfrac{9}{7}`, raw`\dfrac{7}{9}`],
    ['#76 bold', '73', 'The total is **73**', 'The total is **37**'],
    ['#64 a root in plain text', raw`\sqrt{\frac{1}{n}}`, 'sqrt(1/n)', 'sqrt(n)'],
    ['#37 text', '13', raw`$\text{13}$`, raw`$\text{31}$`],
  ])('%s', async (_, gold, right, wrong) => {
    expect(await valueOf(gold, right)).toBe(1);
    expect(await valueOf(gold, wrong)).toBe(0);
  });
});

describe('false positives of Math-Verify', () => {
  it.each([
    ['#60 two lines', 'y = 2x + 1', 'y = 2x + 3', 'y = 1 + 2x'],
    ['#60 with zero', '2x - y + 1 = 0', '2x - y + 3 = 0', 'y - 2x - 1 = 0'],
    ['#41 a factor', '4', raw`4\sqrt{2}`, raw`2\sqrt{4}`],
    ['#14 factorials', raw`\frac{1}{2004!}`, raw`\frac{1}{2006!}`, raw`\frac{2005}{2005!}`],
    ['#14 lists', 'n=2,3,4', 'n=1,2,3', 'n=4,3,2'],
    ['#47 a subset', '1331 and 1728', '1728', '1728, 1331'],
    ['#82 a sign', raw`1 - \frac{1}{e}`, raw`1 + \frac{1}{e}`, raw`\frac{e-1}{e}`],
  ])('%s', async (_, gold, wrong, right) => {
    expect(await valueOf(gold, `\\boxed{${wrong}}`)).toBe(0);
    expect(await valueOf(gold, `\\boxed{${right}}`)).toBe(1);
  });
});

it('Math-Verify #50, #55, trl #5281: time limits hold off the main thread too', async () => {
  const module = new URL('../../../runner/rewards/', import.meta.url);
  const source = `
    const { parentPort } = await import('node:worker_threads');
    const { mathVerifier } = await import(${JSON.stringify(new URL('math.ts', module).href)});
    const { MathWorkers } = await import(${JSON.stringify(new URL('math/workers.ts', module).href)});
    const workers = new MathWorkers({ size: 2, limitMs: 1000 });
    const { grade } = mathVerifier(workers);
    const answers = ['9^{9^{9^9}}', '\\\\sqrt{8}', '\\\\sqrt{7}'];
    const rewards = await Promise.all(
      answers.map((answer) => grade({ prompt: 'p', answer: '2\\\\sqrt{2}' }, '\\\\boxed{' + answer + '}')),
    );
    await workers.close();
    parentPort.postMessage(rewards.map(({ status, code, value }) => [status, code ?? value]));`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { execArgv: [] });
  const answer = await new Promise((resolve, reject) => thread.on('message', resolve).on('error', reject));
  expect(answer).toEqual([
    ['invalid', 'timeout'],
    ['scored', 1],
    ['scored', 0],
  ]);
  await thread.terminate();
});
