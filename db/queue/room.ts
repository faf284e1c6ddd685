// How many jobs of a project may run at a time. Where there is a limit, claims of that project take turns: else two of them
// could both take its last place. Everywhere else claims never wait for each other.
import { and, count, eq, inArray, isNotNull } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { jobs, projects } from '../schema.ts';
import { heldStates } from '../states.ts';

/** Whether one more job may run; a limit is held on to until the transaction ends. */
export async function hasRoom(tx: Database, projectId: string): Promise<boolean> {
  const [limited] = await limit(tx, projectId).for('no key update');
  return limited === undefined || (await holdsFewer(tx, projectId, limited.maxRunning!));
}

/** The same of a project with a limit, for a runner that has others to turn to: false too while another claim holds on to it. */
export async function hasRoomNow(tx: Database, projectId: string): Promise<boolean> {
  const [limited] = await limit(tx, projectId).for('no key update', { skipLocked: true });
  return limited !== undefined && (await holdsFewer(tx, projectId, limited.maxRunning!));
}

const limit = (tx: Database, projectId: string) =>
  tx
    .select({ maxRunning: projects.maxRunning })
    .from(projects)
    .where(and(eq(projects.id, projectId), isNotNull(projects.maxRunning)));

async function holdsFewer(tx: Database, projectId: string, than: number): Promise<boolean> {
  const [held] = await tx
    .select({ n: count() })
    .from(jobs)
    .where(and(eq(jobs.projectId, projectId), inArray(jobs.state, [...heldStates])));
  return held!.n < than;
}
