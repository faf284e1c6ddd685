// Code: a function of one number, described in words; its tests call it.
import type { CodeRow } from '../../api/contract/task.ts';
import type { Domain } from './domain.ts';
import type { Draw } from './draw.ts';
import { drawOf } from './draw.ts';

/** A step of a calculation: how it is said, how it is written, what it does. */
interface Step {
  readonly words: string;
  readonly written: (x: string) => string;
  readonly apply: (x: number) => number;
}

type Kind = 'add' | 'subtract' | 'multiply';
const kinds: readonly Kind[] = ['add', 'subtract', 'multiply'];

function step(kind: Kind, n: number): Step {
  switch (kind) {
    case 'add':
      return { words: `add ${n}`, written: (x) => `${x} + ${n}`, apply: (x) => x + n };
    case 'subtract':
      return { words: `subtract ${n}`, written: (x) => `${x} - ${n}`, apply: (x) => x - n };
    case 'multiply':
      return { words: `multiply by ${n}`, written: (x) => `${x} * ${n}`, apply: (x) => x * n };
  }
}

interface Program {
  readonly prompt: string;
  readonly plan: string;
  readonly good: string;
  readonly flawed: string;
  readonly run: (x: number) => number;
  readonly inputs: readonly number[];
}

export const code: Domain<CodeRow> = {
  name: 'code',
  mode: 'thinking',
  flawedShare: 0.55,
  // Every gold program is run in the sandbox before a job may start.
  train: 400,
  supervised: 2600,
  item(n) {
    const draw = drawOf(`code/${n}`);
    const { prompt, plan, good, flawed, run, inputs } = draw.chance('branch', 0.7)
      ? branch(draw)
      : chain(draw);
    return {
      row: {
        prompt,
        entry_point: 'f',
        tests: inputs.map((x) => ({ input: String(x), output: String(run(x)) })),
        solution: functionOf(good),
      },
      good: { thinking: plan, answer: functionOf(good) },
      flawed: { thinking: plan, answer: functionOf(flawed) },
    };
  },
};

const functionOf = (expression: string): string => `function f(x) { return ${expression}; }`;

const anyStep = (draw: Draw, name: string): Step =>
  step(draw.pick(`${name} kind`, kinds), draw.between(`${name} number`, 2, 9));

/** One of two steps, by a bound. Flawed: the two are swapped. */
function branch(draw: Draw): Program {
  const bound = draw.between('bound', 2, 9);
  const above = anyStep(draw, 'above');
  let other = anyStep(draw, 'other');
  if (other.words === above.words) other = step('add', above.words === 'add 3' ? 4 : 3);
  const choice = (yes: Step, no: Step) => `x > ${bound} ? ${yes.written('x')} : ${no.written('x')}`;
  return {
    prompt: `Write f: if x is above ${bound} ${above.words}, else ${other.words}.`,
    plan: `x > ${bound}`,
    good: choice(above, other),
    flawed: choice(other, above),
    run: (x) => (x > bound ? above.apply(x) : other.apply(x)),
    inputs: [bound, bound + 1, 17, -20],
  };
}

/** Two steps in turn. Flawed: in the other order, or without the second. */
function chain(draw: Draw): Program {
  const [first, second] = [anyStep(draw, 'first'), anyStep(draw, 'second')];
  const both = second.written(`(${first.written('x')})`);
  return {
    prompt: `Write f: ${first.words}, then ${second.words}.`,
    plan: first.written('x'),
    good: both,
    flawed: draw.chance('forgets', 0.5) ? first.written('x') : second.written('x'),
    run: (x) => second.apply(first.apply(x)),
    inputs: [2, 5, 17],
  };
}
