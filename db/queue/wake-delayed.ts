// Jobs whose back-off is over may be claimed again. They are kept out of the index of claimable jobs until then.
import { sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { thisMoment } from './fence.ts';

/** Some at a time: whoever claims next wakes more. Rows that another has locked are skipped. */
export async function wakeDelayed(db: Database): Promise<void> {
  await db.execute(sql`
    update jobs set delayed = false
    where id in (
      select id from jobs where state = 'queued' and delayed and available_at <= ${thisMoment}
      order by available_at limit 100 for no key update skip locked
    )`);
}
