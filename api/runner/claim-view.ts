// A claimed job as the runner gets it: all that the attempt needs, with object keys.
import type { ClaimedJob } from '../../db/queue/claim.ts';
import type { DatasetRow } from '../../db/schema.ts';
import { proofOf } from '../contract/proof.ts';
import type { Claim } from '../contract/runner.ts';
import { claimedCheckpointView } from '../views.ts';

export const claimView = (
  { job, datasets, init, resume, rewardModels, teachers }: ClaimedJob,
  leaseMs: number,
): Claim => ({
  job: job.id,
  attempt: job.attempt,
  spec: job.expanded,
  datasets: datasets.map(claimedDataset),
  init: init === undefined ? null : claimedCheckpointView(init),
  resume: resume === undefined ? null : claimedCheckpointView(resume),
  reward_models: rewardModels.map(claimedCheckpointView),
  teachers: teachers.map(claimedCheckpointView),
  passed_gates: job.passedGates,
  lease_ms: leaseMs,
});

const claimedDataset = ({ id, kind, key, size, sha256, grader }: DatasetRow): Claim['datasets'][number] => ({
  id,
  kind,
  key,
  size,
  sha256,
  proven_by: proofOf(grader ?? undefined) === 'none' ? null : grader,
});
