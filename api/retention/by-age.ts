// What is forgotten of jobs that ended longer ago than the settings keep it. Each kind has a pass of its own over the ended jobs, in the
// order of their ends; when it is through it begins anew, since what was kept for somebody may be free by then.
import type { Database } from '../../db/connect.ts';
import { forgetCheckpoints, forgetEvents, forgetSamples, jobsEnded } from '../../db/retention/forget.ts';
import { leavePass, takePass } from '../../db/retention/passes.ts';
import type { CleaningServices } from '../clock-work.ts';

const jobsOfTurn = 100;
const rowsOfTurn = 20_000;
const shardsOfTurn = 500;
const passLeaseMs = 600_000;
const passPauseMs = 3_600_000;

interface Kind {
  readonly name: string;
  readonly keepMs: number | undefined;
  /** Of all jobs of a turn together. */
  readonly most: number;
  readonly forget: (db: Database, job: string, limit: number) => Promise<number>;
}

export async function forgetByAge({
  db,
  keep,
  signal,
}: Pick<CleaningServices, 'db' | 'keep' | 'signal'>): Promise<void> {
  const kinds: readonly Kind[] = [
    { name: 'events', keepMs: keep.eventsMs, most: rowsOfTurn, forget: forgetEvents },
    { name: 'samples', keepMs: keep.samplesMs, most: shardsOfTurn, forget: forgetSamples },
    { name: 'checkpoints', keepMs: keep.checkpointsMs, most: jobsOfTurn * 500, forget: forgetCheckpoints },
  ];
  for (const kind of kinds) if (!signal.aborted) await forgetOne(db, kind);
}

async function forgetOne(db: Database, { name, keepMs, most, forget }: Kind): Promise<void> {
  if (keepMs === undefined) return;
  const pass = `forget:${name}`;
  const taken = await takePass(db, pass, passLeaseMs);
  if (taken === undefined) return;
  const jobs = await jobsEnded(db, keepMs, taken.position, jobsOfTurn);
  let { position } = taken;
  let left = most;
  for (const job of jobs) {
    const gone = await forget(db, job.id, left);
    left -= gone;
    // The rest of this job is the next turn's.
    if (left <= 0) break;
    position = job.position;
  }
  const isThrough = left > 0 && jobs.length < jobsOfTurn;
  await leavePass(db, pass, isThrough ? { position: null, pauseMs: passPauseMs } : { position, pauseMs: 0 });
}
