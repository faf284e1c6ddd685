// Language mixing, both polarities: a miss trains bad habits, a false alarm punishes right answers.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mixesLanguages } from '../../runner/rewards/language-mixing.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';

const question =
  'Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. How many clips did she sell?';
const french =
  'Pour résoudre ce problème, nous devons d’abord calculer le nombre de pinces que Natalia a vendues en mai, puis nous allons ' +
  'ajouter ce nombre à celui du mois d’avril. Elle en a vendu la moitié, donc vingt-quatre pinces, et le total est de ' +
  'soixante-douze pinces vendues pendant les deux mois du printemps, ce qui est la réponse à la question posée.';
const english =
  'To solve this problem we first have to work out how many clips Natalia sold in May, and then we will add this number to ' +
  'the one of April. She sold half as many, so twenty-four clips, and the total is seventy-two clips sold in both months of ' +
  'the spring, which is the answer to the question that was asked here.';

describe('mixed', () => {
  it.each([
    ['Chinese in an English sentence', 'So the 答案 is 72.'],
    ['Chinese in the thinking', '<think>让我们一步一步地思考。</think>The answer is 72.'],
    ['Japanese', 'The answer is 72 です。'],
    ['Korean', 'The answer 정답 is 72.'],
    ['Russian', 'Следовательно, 72.'],
    ['Arabic', 'The answer is 72, والجواب 72'],
    ['Hindi', 'The answer is उत्तर 72.'],
    ['Greek', 'The answer is 72, επομένως done.'],
    ['Thai', 'คำตอบ is 72'],
    ['French', french],
    ['a French paragraph after an English one', `${english}\n\n${french}\n\n${french}`],
    ['beside code', '```\nx = 1\n```\n答案是 72'],
    ['after a fence that is never closed', '```\n答案是 72'],
  ])('%s', (_, response) => {
    expect(mixesLanguages(question, response)).toBe(true);
  });
});

describe('not mixed', () => {
  it.each([
    ['plain English', english],
    ['nothing', ''],
    [
      'Greek symbols',
      'Let α, β and Δ with αβγδ = π, so θ ≤ ∑ λ_i and ε→0; the angle ∠ABC is 2π/3 rad, μ ± σ.',
    ],
    [
      'letters of other scripts as symbols',
      'The group Ш is finite, ℵ₀ < 2^ℵ₀, א is a cardinal, Л is Lobachevsky’s function.',
    ],
    ['one character', 'The character 木 has four strokes.'],
    [
      'names with accents',
      'By Hölder, Erdős, Poincaré and Łukasiewicz, naïve façades: señor Ångström, Đorđe, Nguyễn.',
    ],
    ['mathematical alphabets', '𝒜 ⊂ ℝ, 𝔤 = 𝔰𝔩₂(ℂ), ℓ ≪ ℏ, 𝟙 and full width: 3,4'],
    [
      'LaTeX',
      String.raw`$$\int_0^\infty \frac{\sin x}{x}\,dx = \frac{\pi}{2}$$ and \(\text{gcd}(a, b)\)`.repeat(20),
    ],
    ['code', 'Use `print("答案")` as in\n```python\n# 注释: 这是一个注释\nprint("ответ")\n```\nDone.'],
    ['emoji and boxes', 'Done ✅ 🎉 ┌──┐ ★ → ✓ 👨‍👩‍👧'],
    ['few words of French', 'As they say, c’est la vie, mon ami; je ne sais quoi.'],
    [
      'names in a long English text',
      `${english} Bordeaux, Marseille, Château Lafite, Champs-Élysées, Montmartre. ${english}`,
    ],
  ])('%s', (_, response) => {
    expect(mixesLanguages(question, response)).toBe(false);
  });

  it('what the prompt itself uses, in a string or in messages', () => {
    expect(mixesLanguages('Was ist 2+2? Что больше?', 'Больше 4')).toBe(false);
    expect(
      mixesLanguages(
        [
          { role: 'system', content: '你好' },
          { role: 'user', content: 'Hi' },
        ],
        '答案是 72',
      ),
    ).toBe(false);
    expect(mixesLanguages('この問題', '答えは漢字です')).toBe(false);
    expect(mixesLanguages('求解', 'x = 4, therefore 4')).toBe(false);
  });

  it('beside a prompt of which the language is not sure, one in Latin letters', () => {
    expect(mixesLanguages('2 + 2 =', french)).toBe(false);
  });

  it('hostile responses cost little', () => {
    const start = performance.now();
    for (const part of ['\\(', '\\[', '$$', '`', '```', 'é̀', 'क्', 'ab '])
      mixesLanguages(question, `${english} ${part.repeat(100_000)}`);
    expect(performance.now() - start).toBeLessThan(8000);
  });

  it.skipIf(testDataDir === undefined)(
    `worked solutions of GSM8K and MATH-500: no false alarm [${noTestData}]`,
    () => {
      const rows = (file: string) =>
        readFileSync(testData(file), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, string>);
      const solutions = [
        ...rows('gsm8k/test.jsonl').map((row) => [row['question']!, row['answer']!] as const),
        ...rows('math/math500.jsonl').map((row) => [row['problem']!, row['solution']!] as const),
      ];
      expect(solutions.length).toBeGreaterThan(1500);
      expect(solutions.filter(([prompt, solution]) => mixesLanguages(prompt, solution))).toEqual([]);
    },
  );
});
