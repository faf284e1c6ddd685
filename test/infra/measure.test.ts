// The size report counts what the budget means: code lines of functions, all lines of files.
import { expect, test } from 'vitest';
import { measure } from '../../infra/measure.ts';

const text = `// a comment line
export function outer(): number {

  // only a comment
  const inner = (): number => {
    return 1;
  };
  return inner();
}

class Thing {
  method(): string {
    return \`two
lines\`;
  }
}
const short = (): number => 1;
`;

test('a file counts all its lines, a function those with code', () => {
  expect(measure('a.ts', text)).toEqual({
    file: { name: 'a.ts', lines: 17 },
    functions: [
      { name: 'a.ts:2 outer', lines: 6 },
      { name: 'a.ts:5 inner', lines: 3 },
      { name: 'a.ts:12 method', lines: 4 },
    ],
  });
});

test('describe callbacks and contract suites are lists, the tests in them are functions', () => {
  const suite = "describe('x', () => {\n  test('y', () => {\n    f();\n  });\n});\n";
  expect(measure('b.test.ts', suite).functions).toEqual([{ name: 'b.test.ts:2 (anonymous)', lines: 3 }]);
  const cases = "export function storeCases(): void {\n  test('y', () => {\n    f();\n  });\n}\n";
  expect(measure('cases.ts', cases).functions).toEqual([{ name: 'cases.ts:2 (anonymous)', lines: 3 }]);
});
