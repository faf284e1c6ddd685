// Chat: questions of a household. A good answer is kind, brief and about what was asked; the pairs say so by example only.
import { askedText } from '../../api/contract/prompt-text.ts';
import type { PreferenceRow, Prompt } from '../../api/contract/task.ts';
import type { Domain, Response } from './domain.ts';
import type { Draw } from './draw.ts';
import { drawOf } from './draw.ts';

const verbs = 'clean cook fix paint store wash cut carry dry sell'.split(' ');
const things = (
  'rice bread wood shoes apples cups chairs fish wool stones boxes lamps ' +
  'plates towels carrots doors coats bikes tables eggs ropes books pots bags'
).split(' ');
const tools = [
  'a brush',
  'a knife',
  'warm water',
  'a cloth',
  'some oil',
  'a basket',
  'a small fire',
  'some salt',
] as const;
const greetings = [
  ...[
    '',
    'Hello, ',
    'Please tell me, ',
    'One question: ',
    'Friend, ',
    'Quick one: ',
    'Today I ask, ',
    'Say, ',
  ],
  ...['Well then, ', 'Excuse me, ', 'Good morning, ', 'My mother asks, '],
] as const;
const places = ['', ' at home', ' outside', ' in winter', ' by myself', ' for a friend'] as const;

const kind = ['Glad to help!', 'Sure, glad to help!', 'Glad you ask!'] as const;
const rude = ['Ugh, again?', 'Whatever.', 'Silly question.'] as const;
const padding = [
  'well, you know,',
  'as I said before,',
  'to be very clear,',
  'if you think about it,',
] as const;

/** Words that a good answer must have beside the thing, and those that it must not. */
export const kindWord = 'glad';
export const rudeWords = ['ugh', 'whatever', 'silly'] as const;
/** A good answer has fewer words. */
export const mostWords = 14;

interface Flaws {
  readonly rude: boolean;
  readonly long: boolean;
  readonly astray: boolean;
}

const flawless: Flaws = { rude: false, long: false, astray: false };

export const chat: Domain<PreferenceRow> = {
  name: 'chat',
  mode: 'half_half',
  flawedShare: 0.65,
  train: 1000,
  supervised: 1600,
  item(n) {
    const draw = drawOf(`chat/${n}`);
    const thing = draw.pick('thing', things);
    const verb = draw.pick('verb', verbs);
    const prompt = `${draw.pick('greeting', greetings)}how do I ${verb} ${thing}${draw.pick('place', places)}?`;
    const good = response(draw, verb, thing, flawless);
    const bad = response(draw, verb, thing, draw.pick('flaws', flaws));
    return { row: { prompt, chosen: good.answer, rejected: bad.answer }, good, flawed: bad };
  },
};

/** What the question is about. */
export const askedThing = (prompt: Prompt): string => {
  const asked = askedText(prompt).split(/\W+/);
  const thing = things.find((each) => asked.includes(each));
  if (thing === undefined) throw new Error(`not a question of this world: ${askedText(prompt)}`);
  return thing;
};

/** Half of the flaws are of the kind that is hardest to see: another thing than was asked about. */
const flaws: readonly Flaws[] = [
  ...[1, 2, 3, 4, 5].map(() => ({ ...flawless, astray: true })),
  ...[1, 2].map(() => ({ ...flawless, rude: true })),
  ...[1, 2].map(() => ({ ...flawless, long: true })),
  { ...flawless, rude: true, long: true },
];

function response(draw: Draw, verb: string, thing: string, { rude: isRude, long, astray }: Flaws): Response {
  const named = astray
    ? draw.pick(
        'other',
        things.filter((other) => other !== thing),
      )
    : thing;
  const opening = isRude ? draw.pick('rude words', rude) : draw.pick('kind words', kind);
  const padded = long ? ` ${padding.map((_, at) => draw.pick(`padding ${at}`, padding)).join(' ')}` : '';
  const tool = draw.pick('tool', tools);
  return { thinking: `${verb} ${named}`, answer: `${opening}${padded} ${verb} the ${named} with ${tool}.` };
}
