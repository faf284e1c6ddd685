// Stages of a cascade: one strict schema a kind, each in a file of its own with its defaults and where they come from.
import { z } from 'zod';
import { codeStage } from './stages/code.ts';
import { distillStage } from './stages/distill.ts';
import { instructionStage } from './stages/instruction.ts';
import { mathStage } from './stages/math.ts';
import { mixedStage, multiDomainStage } from './stages/multi-domain.ts';
import { rlhfStage } from './stages/rlhf.ts';
import { sftStage } from './stages/sft.ts';
import { sweStage } from './stages/swe.ts';

export const stage = z.discriminatedUnion('kind', [
  sftStage,
  rlhfStage,
  instructionStage,
  mathStage,
  codeStage,
  sweStage,
  multiDomainStage,
  mixedStage,
  distillStage,
]);
export type Stage = z.infer<typeof stage>;
