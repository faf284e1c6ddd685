// Uploads in parts that nobody completes: their parts are no objects, and are paid for. Those of attempts at work stay, however long
// they take.
import { attemptsAtWork } from '../../db/retention/litter.ts';
import { leavePass, takePass } from '../../db/retention/passes.ts';
import type { UnfinishedUpload } from '../../store/store.ts';
import type { CleaningServices } from '../clock-work.ts';

const uploadsOfTurn = 1_000;
const passLeaseMs = 600_000;
const passPauseMs = 3_600_000;

/** How many were ended. */
export async function abortUploads({
  db,
  store,
  keep,
  now,
}: Pick<CleaningServices, 'db' | 'store' | 'keep' | 'now'>): Promise<number> {
  if ((await takePass(db, 'uploads', passLeaseMs)) === undefined) return 0;
  const before = now().getTime() - keep.litterMs;
  const old: UnfinishedUpload[] = [];
  for await (const upload of store.unfinished()) {
    if (upload.begun.getTime() < before) old.push(upload);
    if (old.length === uploadsOfTurn) break;
  }
  const jobs = [...new Set(old.flatMap(({ key }) => placeOf(key)?.job ?? []))];
  const atWork = await attemptsAtWork(db, jobs);
  const dead = old.filter(({ key }) => {
    const place = placeOf(key);
    return place === undefined || !atWork.has(`${place.job}/${place.attempt}`);
  });
  for (const upload of dead) await upload.abort();
  await leavePass(db, 'uploads', { position: null, pauseMs: passPauseMs });
  return dead.length;
}

function placeOf(key: string): { job: string; attempt: string } | undefined {
  const [, job, attempt] = /^jobs\/(job_[0-9a-z]+)\/a(\d+)\//.exec(key) ?? [];
  return job === undefined || attempt === undefined ? undefined : { job, attempt };
}
