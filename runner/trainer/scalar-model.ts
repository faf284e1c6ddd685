// A language model as the start of a reward model: a scalar head in place of the language head, which is dropped. What already is
// a reward model goes on as it is.
import type { ModelFileName } from '../checkpoint/model-files.ts';
import { hfModelConfig } from '../engine/models/config.ts';
import { headName, scoreName } from '../engine/models/decoder-tensors.ts';
import type { LoadedModel } from '../grader/read-model.ts';

const languageHead = headName({ tieWordEmbeddings: false });

/**
 * The head begins at zero: the untrained model prefers nothing, its loss is log 2 whatever the backbone, and what the first
 * evaluation says is chance and no draw's. The head's own gradient is not zero, so that the backbone learns from the second
 * step on.
 */
export function withScalarHead(model: LoadedModel): LoadedModel {
  if (model.config.scalarHead === true) return model;
  const config = { ...model.config, scalarHead: true };
  const weights = new Map(model.weights);
  weights.delete(languageHead);
  weights.set(scoreName, { shape: [1, config.hiddenSize], data: new Float32Array(config.hiddenSize) });
  return { config, weights, tokenizer: model.tokenizer, files: scalarFiles(model, config) };
}

/** transformers takes the value at the last token that is no padding, and must know which that is. */
function scalarFiles({ files, tokenizer }: LoadedModel, config: LoadedModel['config']): LoadedModel['files'] {
  const given = JSON.parse(files.get('config.json')!) as Record<string, unknown>;
  const { num_labels: _, ...kept } = given;
  const { architectures, id2label, label2id } = hfModelConfig(config, {});
  const pad_token_id = given['pad_token_id'] ?? tokenizer.padId ?? null;
  const text = JSON.stringify({ ...kept, architectures, id2label, label2id, pad_token_id }, null, 2);
  const scalar = new Map<ModelFileName, string>(files).set('config.json', `${text}\n`);
  scalar.delete('generation_config.json');
  return scalar;
}
