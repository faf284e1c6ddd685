// Repairs: a short file, an issue that names the line at fault, a search/replace block that mends it.
import type { SweRow } from '../../api/contract/task.ts';
import type { Domain } from './domain.ts';
import type { Draw } from './draw.ts';
import { drawOf } from './draw.ts';

const names =
  'total count price width height speed weight score level depth size rate sum rest cost age'.split(' ');
const operators = ['+', '-', '*'] as const;
const said = { '+': 'plus', '-': 'minus', '*': 'times' } as const;
const path = 'calc.js';
const lineCount = 3;

interface Line {
  readonly name: string;
  readonly from: string;
  readonly operator: (typeof operators)[number];
  readonly number: number;
}

const written = ({ name, from, operator, number }: Line): string => `${name} = ${from} ${operator} ${number}`;

export const swe: Domain<SweRow> = {
  name: 'swe',
  mode: 'thinking',
  flawedShare: 0.6,
  train: 1000,
  supervised: 2400,
  item(n) {
    const draw = drawOf(`swe/${n}`);
    const lines = fileOf(draw);
    const at = draw.below('fault', lineCount);
    const fault = lines[at]!;
    const mended = mend(draw, fault, 'mended');
    const file = `${lines.map(written).join('\n')}\n`;
    const issue = `${written(fault)} must use ${said[mended.operator]} ${mended.number}`;
    return {
      row: {
        prompt: `### ${path}\n${file}${issue}`,
        files: { [path]: file },
        patch: patchOf(lines, at, mended),
      },
      good: { thinking: fault.name, answer: block(fault, mended) },
      flawed: flawed(draw, lines, at, mended),
    };
  },
};

function fileOf(draw: Draw): Line[] {
  const used: string[] = [];
  for (let at = 0; used.length < 2 * lineCount; at += 1) {
    const name = draw.pick(`name ${at}`, names);
    if (!used.includes(name)) used.push(name);
  }
  return Array.from({ length: lineCount }, (_, at) => ({
    name: used[2 * at]!,
    from: used[2 * at + 1]!,
    operator: draw.pick(`operator ${at}`, operators),
    number: draw.between(`number ${at}`, 2, 9),
  }));
}

/** The same line with another operator or another number. */
function mend(draw: Draw, line: Line, name: string): Line {
  const others = operators.filter((operator) => operator !== line.operator);
  return draw.chance(`${name} operator`, 0.5)
    ? { ...line, operator: draw.pick(`${name} which`, others) }
    : { ...line, number: 2 + ((line.number - 2 + draw.between(`${name} by`, 1, 7)) % 8) };
}

/** What goes wrong: the block names no file, another line is changed, or the right one into something else. */
function flawed(draw: Draw, lines: readonly Line[], at: number, mended: Line) {
  const fault = lines[at]!;
  switch (draw.pick('flaw', ['nameless', 'nameless', 'astray', 'wrong'] as const)) {
    case 'nameless':
      return { thinking: fault.name, answer: edit(fault, mended) };
    case 'astray': {
      const other = lines[(at + 1) % lineCount]!;
      return { thinking: other.name, answer: block(other, mend(draw, other, 'astray')) };
    }
    case 'wrong':
      return { thinking: fault.name, answer: block(fault, mend(draw, mended, 'wrong')) };
  }
}

const edit = (search: Line, replace: Line): string =>
  `<<<<<<< SEARCH\n${written(search)}\n=======\n${written(replace)}\n>>>>>>> REPLACE`;

const block = (search: Line, replace: Line): string => `### ${path}\n${edit(search, replace)}`;

function patchOf(lines: readonly Line[], at: number, mended: Line): string {
  const body = lines.map((line, index) =>
    index === at ? `-${written(line)}\n+${written(mended)}\n` : ` ${written(line)}\n`,
  );
  return `--- a/${path}\n+++ b/${path}\n@@ -1,${lineCount} +1,${lineCount} @@\n${body.join('')}`;
}
