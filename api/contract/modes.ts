// Which modes a spec may ask for: a model without thinking control has one mode, and raw text has none to ask for.

type Path = readonly (string | number)[];

interface Asking {
  readonly mode?: 'thinking' | 'non_thinking' | undefined;
  readonly prompt_format: string;
}

export interface AskingSpec {
  readonly model: { readonly thinking_control?: 'template' | 'flags' | 'none' | undefined };
  readonly evaluate: { readonly suites: readonly Asking[] };
}

export interface ModeFault {
  readonly path: Path;
  readonly message: string;
}

/** Faults of the spec's stages, each given with its place, and of its suites. */
export function modeFaults(
  { model, evaluate }: AskingSpec,
  stages: readonly { readonly path: Path; readonly part: Asking }[],
): ModeFault[] {
  const suites = evaluate.suites.map((part, index) => ({ path: ['evaluate', 'suites', index], part }));
  return [...stages, ...suites].flatMap(({ path, part: { mode, prompt_format } }) => {
    const at = [...path, 'mode'];
    if (mode === 'thinking' && model.thinking_control === 'none')
      return [{ path: at, message: 'with thinking_control "none" the only mode is non_thinking' }];
    if (mode !== undefined && prompt_format === 'raw')
      return [
        { path: at, message: 'raw prompts ask for no mode: leave it out, or give another prompt_format' },
      ];
    return [];
  });
}
