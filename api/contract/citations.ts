// Where each default comes from, for `explain`: beside the schemas that hold the values, by JSON pointer. A citation is of everything
// below its pointer, unless a longer one stands here; a test finds the defaults that have none. `*` is any place in a list.
import type { Stage } from './stage.ts';
import type { RewardModelStage } from './stages/reward-model.ts';

export type StageKind = Stage['kind'] | RewardModelStage['kind'];
export type Citations = Readonly<Record<string, string>>;

const ours = 'our choice';
const cascade = (place: string): string => `Nemotron-Cascade, ${place}`;

const ofEveryStage: Citations = {
  '/name': 'the kind',
  '/domain': 'the kind; chat for rlhf',
  '/lr_schedule': ours,
  '/warmup_steps': ours,
  '/optimizer': ours,
  '/optimizer/beta1': cascade('appendix: AdamW of every stage'),
  '/optimizer/beta2': cascade('appendix: AdamW of every stage'),
};

const ofPrompts: Citations = { '/prompt_format': 'the model’s chat template' };

const ofEveryReinforced = (table: string): Citations => ({
  ...ofEveryStage,
  ...ofPrompts,
  '/lr': table,
  '/prompts_per_step': table,
  '/rollouts': table,
  '/temperature': table,
  '/top_k': `${ours}: all words`,
  '/top_p': table,
  '/min_p': `${ours}: all words`,
  '/max_response': table,
  '/overlong': table,
  '/filter': table,
  '/length_control': `${ours}: off unless asked for`,
  '/shaping': cascade('section 6.3: for weak reward models'),
  '/loss': cascade('Eq. 1 and section 6.3'),
  '/kl': cascade('Eq. 1: no KL term'),
});

const ofReinforced = (table: string): Citations => ({
  ...ofEveryReinforced(table),
  '/language_mixing': cascade('sections 4.3-4.6, by the grader'),
  '/grader': `${ours}, of the grader`,
});

const mopd = (place: string): string => `Nemotron-Cascade 2, ${place}`;

const ofDistilled: Citations = {
  ...ofEveryStage,
  ...ofPrompts,
  '/name': 'the kind; of a repair, the stage that it repairs',
  '/steps': `${ours}, of a repair: published runs took 40 to 52 for a whole model`,
  '/lr': mopd('section 4.4'),
  '/warmup_steps': `${mopd('section 4.4')}; fewer in a repair, which is shorter`,
  '/prompts_per_step': mopd('section 4.4'),
  '/rollouts': mopd('section 4.4'),
  '/temperature': mopd('appendix'),
  '/max_response': mopd('appendix'),
  '/overlong': mopd('appendix'),
  '/loss': mopd('Eq. 4'),
  '/objective': mopd('Eq. 2-4'),
  '/objective/beta': `${ours}: reverse KL, of which Eq. 2 is the estimate by sampled tokens`,
  '/objective/reward_weight': `${ours}: no outcome reward, as in the paper`,
  '/distance': `${ours}, between the 0.04 that trained and the 0.19 that collapsed in MOPD-X (arXiv 2606.30406)`,
  '/domains': 'the stages before it',
  '/domains/*/teacher': mopd('section 4.4: the strongest checkpoint of each domain'),
  '/domains/*/weight': `${ours}: domains weigh alike`,
};

const ofDomains: Citations = {
  ...ofEveryReinforced('Nemotron-Cascade 2, section 4.3'),
  '/filter': ours,
  '/domains/*/weight': `${ours}: domains weigh alike`,
  '/domains/*/language_mixing': cascade('sections 4.3-4.6, by the grader'),
  '/domains/*/grader': `${ours}, of the grader`,
};

export const stageCitations: Readonly<Record<StageKind, Citations>> = {
  sft: {
    ...ofEveryStage,
    ...ofPrompts,
    '/lr_schedule': cascade('Table 14'),
    '/lr': cascade('Table 14'),
    '/batch': cascade('Table 14'),
    '/epochs': cascade('section 3: one of each stage'),
    '/max_length': cascade('Table 14, stage 1'),
    '/optimizer/weight_decay': cascade('Table 14'),
  },
  reward_model: {
    ...ofEveryStage,
    '/lr': cascade('section 4.2'),
    '/batch': cascade('section 4.2'),
    '/optimizer/beta1': `${ours}: as in every other stage`,
    '/optimizer/beta2': `${ours}: as in every other stage`,
    '/epochs': cascade('section 4.2: more was worse'),
    '/max_length': ours,
    '/held_out': ours,
  },
  rlhf: { ...ofReinforced(cascade('Table 15')), '/filter': ours },
  instruction: {
    ...ofReinforced(cascade('Table 16')),
    '/top_k': cascade('Table 16'),
    '/filter/most_rounds': ours,
    '/grader/type': cascade('section 4.4'),
  },
  math: {
    ...ofReinforced(cascade('Tables 17-18')),
    '/overlong': cascade('Tables 17-18, after the first phase, which filters'),
    '/filter': cascade('section 4.5'),
    '/grader/type': cascade('section 4.5'),
  },
  code: {
    ...ofReinforced(cascade('Table 19')),
    '/filter': ours,
    '/grader/type': cascade('section 4.6'),
  },
  swe: {
    ...ofReinforced(cascade('Table 20')),
    '/overlong': cascade('Table 20, second stage of the 8B model; its first filters'),
    '/filter': ours,
    '/grader/type': cascade('section 4.7'),
    '/grader/reward': `${ours}: the paper asks a judge`,
  },
  multi_domain: ofDomains,
  mixed: ofDomains,
  distill: ofDistilled,
};

/** Of everything but stages. */
export const envelopeCitations: Citations = {
  '/seed': ours,
  '/model/init': 'as transformers has it',
  '/model/init/config/max_position_embeddings': ours,
  '/model/tuning': ours,
  '/model/tuning/rank': 'a published replication of Nemotron-Cascade 2 by LoRA',
  '/evaluate': ours,
  '/stages': 'none in an evaluation',
  '/gates': `${ours}: none`,
  '/gates/*/require/confidence': ours,
  '/checkpoints': ours,
  '/samples': ours,
  '/resources': ours,
  '/labels': 'none',
  '/priority': ours,
  '/max_attempts': ours,
  '/stall_timeout': ours,
  '/rewards': ours,
};

/** The citation of `pointer`, or of what holds it. */
export function citationAt(citations: Citations, pointer: string): string | undefined {
  const parts = pointer.split('/').map((part) => (/^\d+$/.test(part) ? '*' : part));
  for (let length = parts.length; length > 1; length--) {
    const found = citations[parts.slice(0, length).join('/')];
    if (found !== undefined) return found;
  }
  return undefined;
}
