// The mode under which metrics, evaluations and samples are filed: the one that the stage or suite asks its prompts for.
import type { ThinkingMode } from '../engine/tokenizer/thinking.ts';

/** What asks for none is filed as non_thinking, whatever the template does by itself. */
export const askedMode = (mode: ThinkingMode | undefined): ThinkingMode => mode ?? 'non_thinking';
