// Instructions: a line or two about an animal, under two constraints that a program can check (IFEval's own).
import type { InstructionRow } from '../../api/contract/task.ts';
import type { Domain } from './domain.ts';
import type { Draw } from './draw.ts';
import { drawOf } from './draw.ts';

const animals = (
  'cat dog horse cow bird frog bear wolf fox goat sheep mouse owl ' +
  'duck snake lion tiger crab whale shark bee ant hen pig deer seal'
).split(' ');
const traits = 'big small old young fast slow quiet loud happy hungry'.split(' ');
const keywords = 'river moon garden bridge forest window mountain market snow island'.split(' ');
const endings = 'amen done over bye finis stop'.split(' ');

/** A text as its parts, before it is written down. */
interface Text {
  readonly clauses: readonly string[];
  readonly joint: ', and ' | ' and ';
  readonly bullets: number;
  readonly quoted: boolean;
  readonly ending: string | undefined;
}

interface Constraint {
  readonly id: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly words: string;
  /** Makes a text keep the constraint, or break it. */
  readonly shape: (text: Text, keep: boolean) => Text;
}

const families: Readonly<Record<string, (draw: Draw, animal: string) => Constraint>> = {
  comma: () => ({
    id: 'punctuation:no_comma',
    kwargs: {},
    words: 'use no comma',
    shape: (text, keep) => ({ ...text, joint: keep ? ' and ' : ', and ' }),
  }),
  keyword: (draw, animal) => {
    const keyword = draw.pick('keyword', keywords);
    const other = draw.pick(
      'other keyword',
      keywords.filter((word) => word !== keyword),
    );
    return {
      id: 'keywords:existence',
      kwargs: { keywords: [keyword] },
      words: `name the ${keyword}`,
      shape: (text, keep) => ({
        ...text,
        clauses: [...text.clauses.slice(0, -1), `the ${animal} sees the ${keep ? keyword : other}`],
      }),
    };
  },
  forbidden: (draw, animal) => {
    const word = draw.pick('forbidden', traits);
    return {
      id: 'keywords:forbidden_words',
      kwargs: { forbidden_words: [word] },
      words: `do not say ${word}`,
      shape: (text, keep) =>
        keep
          ? {
              ...text,
              clauses: text.clauses.map((clause) =>
                clause.replace(` ${word}`, ` ${word === 'old' ? 'young' : 'old'}`),
              ),
            }
          : { ...text, clauses: [`the ${animal} is ${word}`, ...text.clauses.slice(1)] },
    };
  },
  ending: (draw) => {
    const ending = draw.pick('ending', endings);
    const other = draw.pick(
      'other ending',
      endings.filter((word) => word !== ending),
    );
    return {
      id: 'startend:end_checker',
      kwargs: { end_phrase: ending },
      words: `end with ${ending}`,
      shape: (text, keep) => ({ ...text, ending: keep ? ending : other }),
    };
  },
  quoted: () => ({
    id: 'startend:quotation',
    kwargs: {},
    words: 'put quotation marks around it',
    shape: (text, keep) => ({ ...text, quoted: keep }),
  }),
  bullets: (draw) => {
    const bullets = draw.between('bullets', 2, 4);
    const wrong = bullets === 2 ? 3 : bullets - 1;
    return {
      id: 'detectable_format:number_bullet_lists',
      kwargs: { num_bullets: bullets },
      words: `use ${bullets} bullets`,
      shape: (text, keep) => ({ ...text, bullets: keep ? bullets : wrong }),
    };
  },
};

export const instruction: Domain<InstructionRow> = {
  name: 'instruction',
  mode: 'non_thinking',
  flawedShare: 0.6,
  train: 1000,
  supervised: 2000,
  item(n) {
    const draw = drawOf(`instruction/${n}`);
    const animal = draw.pick('animal', animals);
    const kinds = Object.keys(families);
    const first = draw.pick('first', kinds);
    const second = draw.pick(
      'second',
      kinds.filter((kind) => together(kind, first)),
    );
    // Bullets come first: what else is asked for is put into them.
    const constraints = [first, second]
      .sort((one, other) => rank(one) - rank(other))
      .map((kind) => families[kind]!(draw, animal));
    const broken = draw.below('broken', 3);
    const text = plain(draw, animal);
    const shaped = (keeps: (at: number) => boolean) =>
      written(constraints.reduce((made, { shape }, at) => shape(made, keeps(at)), text));
    const asked = draw.chance('order', 0.5) ? constraints : constraints.toReversed();
    return {
      row: {
        prompt: `Write about the ${animal}: ${asked.map(({ words }) => words).join('; ')}.`,
        instruction_id_list: asked.map(({ id }) => id),
        kwargs: asked.map(({ kwargs }) => ({ ...kwargs })),
      },
      good: { thinking: '', answer: shaped(() => true) },
      flawed: { thinking: '', answer: shaped((at) => broken !== 2 && at !== broken) },
    };
  },
};

/** A list's first bullet would stand behind the quotation mark, and its clauses are not joined, so that no comma can be missed. */
const notInLists = ['quoted', 'comma'];
const together = (one: string, other: string): boolean =>
  one !== other &&
  ![one, other].some(
    (kind) => kind === 'bullets' && notInLists.some((each) => each === one || each === other),
  );

const order = ['bullets', 'comma', 'quoted', 'ending', 'keyword', 'forbidden'];
const rank = (kind: string): number => order.indexOf(kind);

function plain(draw: Draw, animal: string): Text {
  return {
    clauses: [1, 2].map((at) => `the ${animal} is ${draw.pick(`trait ${at}`, traits)}`),
    joint: draw.pick('joint', [', and ', ' and ']),
    bullets: 0,
    quoted: false,
    ending: draw.chance('an ending', 0.3) ? draw.pick('any ending', endings) : undefined,
  };
}

function written({ clauses, joint, bullets, quoted, ending }: Text): string {
  const body =
    bullets === 0
      ? clauses.join(joint)
      : Array.from({ length: bullets }, (_, at) => `* ${clauses[Math.min(at, clauses.length - 1)]!}`).join(
          '\n',
        );
  const whole = ending === undefined ? body : `${body} ${ending}`;
  return quoted ? `"${whole}"` : whole;
}
