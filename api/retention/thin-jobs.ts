// Jobs whose specs keep few checkpoints of steps, thinned so many a turn. The pass goes round: of some jobs more is kept than their specs
// ask for, since somebody refers to it, and these must not hold up the others.
import { leavePass, takePass } from '../../db/retention/passes.ts';
import { jobsToThin, thinCheckpoints } from '../../db/retention/thin.ts';
import type { CleaningServices } from '../clock-work.ts';

const jobsOfTurn = 100;
const passLeaseMs = 600_000;

/** How many checkpoints went. */
export async function thinJobs({ db }: Pick<CleaningServices, 'db'>): Promise<number> {
  const taken = await takePass(db, 'thin', passLeaseMs);
  if (taken === undefined) return 0;
  const jobs = await jobsToThin(db, taken.position, jobsOfTurn);
  let gone = 0;
  for (const job of jobs) gone += await thinCheckpoints(db, job);
  const position = jobs.length < jobsOfTurn ? null : (jobs.at(-1) ?? null);
  await leavePass(db, 'thin', { position, pauseMs: 0 });
  return gone;
}
