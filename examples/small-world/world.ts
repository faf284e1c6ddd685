// The whole world as data: distinct tasks of every domain, dealt out in one order to held-out, evaluation, development and
// training, and supervised conversations that mix good and flawed responses. No prompt is in two parts.
import { askedText } from '../../api/contract/prompt-text.ts';
import type { SftRow, Task } from '../../api/contract/task.ts';
import { chat } from './chat.ts';
import { code } from './code.ts';
import type { Domain, Item } from './domain.ts';
import { thought } from './domain.ts';
import { drawOf } from './draw.ts';
import { instruction } from './instruction.ts';
import { math } from './math.ts';
import { swe } from './swe.ts';

export const domains: readonly Domain[] = [chat, instruction, math, code, swe];

/** Tasks of every domain that nothing is trained on; they are dealt out first. */
export const measuredSizes = { heldout: 500, eval: 100, dev: 200 } as const;
/** `sft`: prompts of supervised data; `pairs`: of preference pairs, in chat alone. */
export type Part = keyof typeof measuredSizes | 'train' | 'sft' | 'pairs';
const pairCount = 4800;

export type Dealt<Row extends Task> = Readonly<Record<Part, readonly Item<Row>[]>>;

export const createWorld = () => ({
  chat: dealt(chat),
  instruction: dealt(instruction),
  math: dealt(math),
  code: dealt(code),
  swe: dealt(swe),
});
export type World = ReturnType<typeof createWorld>;

function dealt<Row extends Task>(domain: Domain<Row>): Dealt<Row> {
  const items = distinct(domain);
  const sizes = {
    ...measuredSizes,
    train: domain.train,
    sft: domain.supervised,
    pairs: domain.name === 'chat' ? pairCount : 0,
  } satisfies Record<Part, number>;
  return Object.fromEntries(
    Object.entries(sizes).map(([part, size]) => [
      part,
      Array.from({ length: size }, () => items.next().value),
    ]),
  ) as Record<Part, Item<Row>[]>;
}

function* distinct<Row extends Task>(domain: Domain<Row>): Generator<Item<Row>, never> {
  const seen = new Set<string>();
  for (let n = 0; ; n += 1) {
    const item = domain.item(n);
    const prompt = askedText(item.row.prompt);
    if (seen.has(prompt)) continue;
    seen.add(prompt);
    yield item;
  }
}

/** Every text of the world: what the tokenizer must have words for. */
export const textsOf = (world: World): string[] =>
  domains.flatMap(({ name }) =>
    Object.values(world[name])
      .flat()
      .flatMap(({ row, good, flawed }) => [
        askedText(row.prompt),
        ...[good, flawed].flatMap(({ thinking, answer }) => [thinking, answer]),
      ]),
  );

/** Supervised conversations of all domains. Each asks for its mode by its flag. */
export const conversations = (world: World): SftRow[] =>
  domains.flatMap((domain) => world[domain.name].sft.map((item, at) => conversation(domain, item, at)));

function conversation(domain: Domain, { row, good, flawed }: Item, at: number): SftRow {
  const draw = drawOf(`sft/${domain.name}/${at}`);
  const response = draw.chance('flawed', domain.flawedShare) ? flawed : good;
  const thinks = domain.mode === 'half_half' ? at % 2 === 0 : domain.mode === 'thinking';
  return {
    messages: [
      { role: 'user', content: `${askedText(row.prompt)}${thinks ? ' /think' : ' /no_think'}` },
      { role: 'assistant', content: thinks ? thought(response) : response.answer },
    ],
  };
}
