// Modes in specs: which a model's thinking control allows, and where one says nothing.
import { describe, expect, it } from 'vitest';
import { issuesOf } from '../../../api/contract/issues.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

interface Parts {
  readonly control?: string;
  readonly init?: object;
  readonly stage?: object;
  readonly suite?: object;
}

function faultsOf({
  control,
  init = { from: 'hf', uri: '/models/a' },
  stage = {},
  suite = {},
}: Parts): string[] {
  const parsed = jobSpec.safeParse({
    type: 'cascade',
    model: {
      init,
      ...(control === undefined ? {} : { thinking_control: control }),
    },
    stages: [{ kind: 'math', data: 'tasks', steps: 1, ...stage }],
    evaluate: { suites: [{ name: 'a', data: 'tasks', grader: { type: 'exact' }, ...suite }] },
  });
  return parsed.success ? [] : issuesOf(parsed.error).map(({ pointer }) => pointer);
}

describe('a mode', () => {
  it.each([undefined, 'template', 'flags'])('may be either under thinking_control %s', (control) => {
    const parts = { stage: { mode: 'thinking' }, suite: { modes: ['thinking', 'non_thinking'] } };
    expect(faultsOf(control === undefined ? parts : { control, ...parts })).toEqual([]);
  });

  it('is non_thinking only where the model has no control', () => {
    const thinking = { mode: 'thinking' };
    expect(faultsOf({ control: 'none', stage: thinking, suite: { modes: ['thinking'] } })).toEqual([
      '/stages/0/mode',
      '/evaluate/suites/0/modes',
    ]);
    expect(faultsOf({ control: 'none', stage: { mode: 'half_half' } })).toEqual(['/stages/0/mode']);
    expect(faultsOf({ control: 'none', stage: { mode: 'non_thinking' } })).toEqual([]);
  });

  it('is non_thinking only, too, of a characters tokenizer, whose template offers no other, where nothing is said', () => {
    const config = { hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 1 };
    const init = { from: 'config', config, tokenizer: { type: 'characters', alphabet: 'ab' } };
    const stage = { mode: 'half_half' };
    expect(faultsOf({ init, stage })).toEqual(['/stages/0/mode']);
    expect(faultsOf({ init, stage: { mode: 'non_thinking' } })).toEqual([]);
    expect(faultsOf({ init, stage, control: 'flags' })).toEqual([]);
    expect(faultsOf({ init: { ...init, tokenizer: { uri: '/models/a' } }, stage })).toEqual([]);
  });

  it('is not asked for in raw text; a suite asks for one of two, each once', () => {
    expect(faultsOf({ stage: { mode: 'thinking', prompt_format: 'raw' } })).toEqual(['/stages/0/mode']);
    expect(faultsOf({ suite: { modes: ['half_half'] } })).toEqual(['/evaluate/suites/0/modes/0']);
    expect(faultsOf({ suite: { modes: ['thinking', 'thinking'] } })).toEqual(['/evaluate/suites/0/modes']);
    expect(faultsOf({ control: 'sometimes' })).toEqual(['/model/thinking_control']);
  });

  it('of an sft job is looked for in its one stage', () => {
    const parsed = jobSpec.safeParse({
      type: 'sft',
      model: { init: { from: 'hf', uri: '/models/a' }, thinking_control: 'none' },
      stage: { kind: 'sft', data: 'rows', mode: 'thinking' },
    });
    expect(issuesOf(parsed.error!).map(({ pointer }) => pointer)).toEqual(['/stage/mode']);
  });
});
