// Which modes a spec may ask for: a model without thinking control has one mode, and raw text has none to ask for.
import type { Fault, Path } from './fault.ts';

interface Asking {
  readonly mode?: string | undefined;
  readonly modes?: readonly string[] | undefined;
  /** Each asks by itself. */
  readonly domains?: readonly Pick<Asking, 'mode'>[] | undefined;
  readonly prompt_format: string;
}

export interface AskingSpec {
  readonly model: {
    readonly init: { readonly from: string; readonly tokenizer?: object };
    readonly thinking_control?: 'template' | 'flags' | 'none' | undefined;
  };
  readonly evaluate: { readonly suites: readonly Asking[] };
}

/** Faults of the spec's stages, each given with its place, and of its suites. */
export function modeFaults(
  { model, evaluate }: AskingSpec,
  stages: readonly { readonly path: Path; readonly part: Asking }[],
): Fault[] {
  const suites = evaluate.suites.map((part, index) => ({ path: ['evaluate', 'suites', index], part }));
  return [...stages, ...suites].flatMap(({ path, part }) =>
    modesAsked(part).flatMap(({ at, asked }): Fault[] => {
      const fault = (message: string) => [{ path: [...path, ...at], message }];
      const thinks = asked.some((mode) => mode !== 'non_thinking');
      if (model.thinking_control === 'none' && thinks)
        return fault('with thinking_control "none" the only mode is non_thinking');
      if (model.thinking_control === undefined && hasOneMode(model) && thinks)
        return fault(
          'the chat template of a characters tokenizer has no thinking to ask for: say model.thinking_control "flags" or "template"',
        );
      if (part.prompt_format === 'raw')
        return fault('raw prompts ask for no mode: leave it out, or give another prompt_format');
      return [];
    }),
  );
}

/** By itself. Of other models what the chat template offers is seen by the runner. */
const hasOneMode = ({ init: { tokenizer } }: AskingSpec['model']): boolean =>
  tokenizer !== undefined && !('uri' in tokenizer);

/** Every field of a stage or suite that asks for modes, with what it asks for. */
function modesAsked({ mode, modes, domains = [] }: Omit<Asking, 'prompt_format'>) {
  return [
    ...(mode === undefined ? [] : [{ at: ['mode'], asked: [mode] }]),
    ...(modes === undefined ? [] : [{ at: ['modes'], asked: modes }]),
    ...domains.flatMap((source, index) =>
      source.mode === undefined ? [] : [{ at: ['domains', index, 'mode'], asked: [source.mode] }],
    ),
  ];
}
