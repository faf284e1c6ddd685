// Runners: who they are, what they have, when they were last heard of.
import { and, eq, max, sql } from 'drizzle-orm';
import type { CodeLanguage } from '../api/contract/grader.ts';
import type { Accelerator } from '../api/contract/names.ts';
import type { RegisterRequest } from '../api/contract/runner.ts';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { storableJson } from './json.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from './page.ts';
import { runners, type RunnerRow } from './schema.ts';

/** Id of the runner. A name that registers again (after a restart) keeps its id and gets its new properties. */
export async function registerRunner(
  db: Database,
  projectId: string,
  runner: RegisterRequest,
): Promise<string> {
  const properties = {
    accelerator: runner.accelerator,
    memoryGb: runner.memory_gb,
    labels: runner.labels ?? {},
    grader: runner.grader ?? false,
    languages: runner.languages ?? [],
    missing: runner.missing ?? {},
    version: runner.version,
  };
  const [row] = await db
    .insert(runners)
    .values({ id: newId('run'), projectId, name: runner.name, ...properties })
    .onConflictDoUpdate({
      target: [runners.projectId, runners.name],
      set: { ...properties, registeredAt: sql`now()`, lastSeenAt: sql`now()` },
    })
    .returning({ id: runners.id });
  if (row === undefined) throw new Error(`internal: runner ${runner.name} was neither inserted nor updated`);
  return row.id;
}

/** Notes that the runner is alive; undefined if the project has no such runner. */
export async function touchRunner(
  db: Database,
  projectId: string,
  id: string,
): Promise<RunnerRow | undefined> {
  const [row] = await db
    .update(runners)
    .set({ lastSeenAt: sql`now()` })
    .where(and(eq(runners.projectId, projectId), eq(runners.id, id)))
    .returning();
  return row;
}

/** GB of the largest runner ever registered that has this accelerator and these labels; undefined if there is none. */
export async function largestMemory(
  db: Database,
  projectId: string,
  of: { accelerator: Accelerator; labels: Readonly<Record<string, string>> },
): Promise<number | undefined> {
  const fitting = and(
    eq(runners.projectId, projectId),
    eq(runners.accelerator, of.accelerator),
    sql`${runners.labels} @> ${storableJson(of.labels)}::jsonb`,
  );
  const [row] = await db
    .select({ gb: max(runners.memoryGb) })
    .from(runners)
    .where(fitting);
  return row?.gb ?? undefined;
}

/** Whether a runner is alive that takes errands and has a back end for these languages. */
export async function hasGrader(
  db: Database,
  projectId: string,
  languages: readonly CodeLanguage[],
  leaseMs: number,
): Promise<boolean> {
  const capable = and(
    eq(runners.projectId, projectId),
    eq(runners.grader, true),
    sql`${sql.param([...languages], runners.languages)} <@ ${runners.languages}`,
    sql`${runners.lastSeenAt} > now() - ${leaseMs} * interval '1 millisecond'`,
  );
  const rows = await db.select({ id: runners.id }).from(runners).where(capable).limit(1);
  return rows.length > 0;
}

/** Newest first. */
export async function listRunners(
  db: Database,
  projectId: string,
  query: PageQuery,
): Promise<PageOf<RunnerRow>> {
  const { where, order, take } = pageWindow(runners.id, query);
  const owned = and(eq(runners.projectId, projectId), where);
  return toPage(await db.select().from(runners).where(owned).orderBy(order).limit(take), query);
}
