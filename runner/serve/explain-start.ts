// Why a model could not be opened, in a line: what the user can mend without a stack, a fault of ours with it.
import { InvalidModel } from '../trainer/load-model.ts';
import { TensorTooLarge } from '../engine/learner/tensor-limit.ts';
import { UnfitWeights } from '../engine/models/parameters.ts';
import { ProviderUnavailable } from '../engine/ort/provider.ts';
import { NoModel } from './model-directory.ts';

type Kind = new (...args: never[]) => Error;

/** `known`: further errors whose message says all. */
export function explainStart(error: unknown, known: readonly Kind[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const said = [InvalidModel, UnfitWeights, NoModel, ProviderUnavailable, TensorTooLarge, ...known].some(
    (kind) => error instanceof kind,
  );
  return said ? error.message : `a fault of millrace itself: ${error.stack ?? error.message}`;
}
