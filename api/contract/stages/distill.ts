// On-policy distillation from one frozen teacher a domain (MOPD: Nemotron-Cascade 2, arXiv 2603.19220, section 4.4): the policy answers,
// the teacher of the answer's domain says how likely every token of it would have been to the teacher.
import { z } from 'zod';
import { grader } from '../grader.ts';
import { checkpointId, jobId, name } from '../names.ts';
import { askedOfBatches, batch, common, count, data, optimizer, positive } from './common.ts';
import type { Rule } from './common.ts';
import { temperature } from './phase.ts';

/** `best`: of the job's ends of stages so far the one that its suites say is best in the domain; `stage:NAME`: the end of that stage. */
const ownCheckpoint = z
  .string()
  .regex(/^(best|stage:[A-Za-z0-9][A-Za-z0-9._-]{0,62})$/, '"best", or "stage:" and the name of a stage');

const external = z.strictObject({ uri: z.string().min(1).describe('directory in Hugging Face layout') });

/** As executed. */
export const expandedTeacher = z.union([ownCheckpoint, checkpointId, external]);

export const teacher = z
  .union([
    ...expandedTeacher.options,
    z.strictObject({
      from_job: jobId,
      take: ownCheckpoint.default('best').describe('of the checkpoints of that job'),
    }),
  ])
  .describe(
    'best: the strongest end of a stage so far, by the suites of the domain; stage:NAME: the end of that stage',
  );
export type Teacher = z.infer<typeof teacher>;

export const distilledDomain = z.strictObject({
  domain: name,
  data: data.optional().describe('default: that of the stage before this one that trains the domain'),
  teacher: teacher.default('best'),
  weight: positive.default(1).describe('share of the prompts of every batch, relative to the other domains'),
  mode: askedOfBatches.describe('default: that of the stage before this one that trains the domain'),
  token_budget: count
    .optional()
    .describe(
      'response tokens of the domain that a step learns from, at most: whole answers, in the order of the batch',
    ),
  grader: grader
    .optional()
    .describe('with reward_weight; default: that of the stage before this one that trains the domain'),
});
export type DistilledDomain = z.infer<typeof distilledDomain>;

/** Eq. 2-4: what a sampled token gains is how much likelier it is to the teacher; nothing flows through teacher or ratio. */
const policyGradient = z.strictObject({
  type: z.literal('policy_gradient'),
  ratio: z
    .strictObject({
      lowest: z.number().min(0).max(1).default(0.5),
      highest: z.number().min(1).default(2),
      outside: z
        .enum(['drop', 'clip'])
        .default('drop')
        .describe('drop: the token has no weight (Eq. 3); clip: truncated importance sampling'),
    })
    .prefault({})
    .describe('of a token’s probability in the trainer over that in the sampler'),
  advantage_clip: positive.optional().describe('nats; default: none'),
  reward_weight: z
    .number()
    .min(0)
    .default(0)
    .describe('of the group-normalised reward of the answer, added to the advantage of its tokens'),
});

/** The generalised Jensen-Shannon divergence tends to 0 with it, and float32 has none of 1e-46. */
const nearestBeta = 1e-6;

/** Of whole distributions, at every position of the policy's own answers. */
const divergence = z.strictObject({
  type: z.literal('divergence'),
  beta: z
    .number()
    .min(0)
    .max(1)
    .refine(
      (beta) => beta === 0 || beta === 1 || (beta >= nearestBeta && 1 - beta >= nearestBeta),
      `from ${nearestBeta} to 1 - ${nearestBeta}, or 0 or 1: nearer to an end the divergence is nothing, and at the end itself a KL`,
    )
    .default(1)
    .describe(
      '0: forward KL(teacher || policy); 1: reverse KL(policy || teacher); between: generalised Jensen-Shannon',
    ),
  top_k: count
    .max(4096)
    .optional()
    .describe('words likeliest to the teacher, the rest counted as one; default: the whole vocabulary'),
});

export const distance = z
  .strictObject({
    at_most: positive
      .default(0.15)
      .describe('nats a token: mean of log(policy / teacher) over the answers of the first step'),
    otherwise: z.enum(['warn', 'fail']).default('warn'),
  })
  .prefault({})
  .describe('of policy and teacher at the start: a teacher of another origin unlearns more than it teaches');

/** Of a stage, and of the repair of a gate. */
export const distillFields = {
  ...common,
  lr_schedule: common.lr_schedule.default('constant'),
  lr: positive.default(2e-6),
  warmup_steps: common.warmup_steps.unwrap().default(30),
  prompts_per_step: batch.default(128),
  rollouts: z.number().int().min(1).max(1024).default(4),
  temperature: temperature.default(1).describe('of sampling, and of both distributions that are compared'),
  max_response: count.default(98_304).describe('tokens'),
  overlong: z
    .enum(['keep', 'filter'])
    .default('keep')
    .describe('filter: truncated answers are left out of the loss'),
  loss: z
    .enum(['sequence_mean', 'token_mean'])
    .default('sequence_mean')
    .describe('sequence_mean: every response weighs alike, whatever its length (Eq. 4)'),
  objective: z.discriminatedUnion('type', [policyGradient, divergence]).prefault({ type: 'policy_gradient' }),
  distance,
  optimizer: optimizer(0),
  domains: z
    .array(distilledDomain)
    .min(1)
    .max(100)
    .refine(
      (domains) => new Set(domains.map(({ domain }) => domain)).size === domains.length,
      'a domain stands twice: give each once',
    )
    .optional()
    .describe('default: every domain that stages before this one train by rewards, its teacher the best'),
};

type Domains = { domains?: DistilledDomain[] | undefined; prompts_per_step: number };

export const halvedDomains: Rule<Domains> = [
  ({ domains = [], prompts_per_step }) =>
    prompts_per_step % 2 === 0 || domains.every(({ mode }) => mode !== 'half_half'),
  { error: 'must be even where a domain has mode "half_half"', path: ['prompts_per_step'] },
];

export const distillStage = z
  .strictObject({ kind: z.literal('distill'), ...distillFields, steps: count })
  .refine(...halvedDomains);
export type DistillStage = z.infer<typeof distillStage>;

/** What a gate that distils runs; published runs took 40 to 52 steps for a whole model, a repair is shorter. */
export const repair = z
  .strictObject({
    ...distillFields,
    name: distillFields.name.describe('default: "repair-" and the name of the stage'),
    steps: count.default(20),
    // The papers' 30 would outlast it.
    warmup_steps: common.warmup_steps.unwrap().default(5),
  })
  .refine(...halvedDomains);
