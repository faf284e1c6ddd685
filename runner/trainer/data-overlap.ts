// What stages and suites of a job share that should share nothing: prompts of one stage in another (the papers keep them
// disjoint), and evaluated prompts in what is trained on. It is reported, never refused: a rerun on one's own test may be meant.
import type { Entry } from '../../api/contract/event.ts';
import { isDistilled, isReinforced } from '../../api/contract/stage-kinds.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { wholeText } from '../../api/contract/prompt-text.ts';
import { sourcesOf } from '../../api/contract/sources.ts';
import type { Datasets } from '../cascade/host.ts';
import type { Overlap } from '../data/overlap.ts';
import { gramOverlap, sameTexts } from '../data/overlap.ts';

type OverlapEntry = Extract<Entry, { type: 'data_overlap' }>;

interface Part {
  readonly name: string;
  readonly data: string;
  /** Of each row. */
  readonly texts: readonly string[];
}

const promptsOf = (datasets: Datasets, data: string): string[] =>
  datasets.tasks(data).map(({ prompt }) => wholeText(prompt));

const conversationsOf = (datasets: Datasets, data: string): string[] =>
  datasets.sft(data).map(({ messages }) => wholeText(messages));

/** A stage of several domains has a part for each. */
function stagesOf(spec: ExpandedSpec, datasets: Datasets): Part[] {
  return spec.stages.flatMap((stage) => {
    if (isReinforced(stage) || isDistilled(stage))
      return (isDistilled(stage) ? stage.domains : sourcesOf(stage)).map(({ data }) => ({
        name: stage.name,
        data,
        texts: promptsOf(datasets, data),
      }));
    const { name, data } = stage;
    const texts = stage.kind === 'sft' ? conversationsOf(datasets, data) : promptsOf(datasets, data);
    return [{ name, data, texts }];
  });
}

const suitesOf = (spec: ExpandedSpec, datasets: Datasets): Part[] =>
  spec.evaluate.suites.map(({ name, data, measure }) => ({
    name,
    data,
    texts: measure === 'loss' ? conversationsOf(datasets, data) : promptsOf(datasets, data),
  }));

/**
 * One entry for each pair that shares rows. Two stages that name one dataset are not reported: that is said in the spec; nor are domains
 * of one stage, which come in the same batches.
 */
export function dataOverlaps(spec: ExpandedSpec, datasets: Datasets): OverlapEntry[] {
  const stages = stagesOf(spec, datasets);
  const suites = suitesOf(spec, datasets);
  return stages.flatMap((stage, index) => [
    ...stages
      .slice(index + 1)
      .filter(({ name, data }) => name !== stage.name && data !== stage.data)
      .flatMap((later) => entryOf(later, stage, 'stage', 'prompt', sameTexts(later.texts, stage.texts))),
    ...suites.flatMap((suite) =>
      entryOf(stage, suite, 'suite', '9-gram', gramOverlap(stage.texts, suite.texts)),
    ),
  ]);
}

const entryOf = (
  { name, texts }: Part,
  other: Part,
  otherIs: OverlapEntry['other_is'],
  shares: OverlapEntry['shares'],
  { rows, examples }: Overlap,
): OverlapEntry[] =>
  rows === 0
    ? []
    : [
        {
          type: 'data_overlap',
          stage: name,
          other: other.name,
          other_is: otherIs,
          shares,
          rows,
          of: texts.length,
          examples: examples.map(([row, otherRow]) => [row, otherRow]),
        },
      ];
