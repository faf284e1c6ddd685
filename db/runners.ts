// Runners: who they are, what they have, when they were last heard of.
import { and, eq, max, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { CodeLanguage } from '../api/contract/grader.ts';
import type { Accelerator } from '../api/contract/names.ts';
import type { RegisterRequest } from '../api/contract/runner.ts';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { storableJson } from './json.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from './page.ts';
import { runners, type RunnerRow } from './schema.ts';

/** Whose key a runner's call comes with: that of a project or, `shared`, one for the jobs of every project. */
export interface RunnerKey {
  projectId: string;
  shared?: boolean;
}

/** Whether a call may touch what belongs to `project`: its runner must be its key's, and, unless shared, of that project. */
export const reaches = (
  { projectId, shared = false, runner }: RunnerKey & { runner: string },
  project: PgColumn,
): SQL | undefined =>
  and(
    shared ? undefined : eq(project, projectId),
    sql`exists (select 1 from ${runners} where ${isRunner({ projectId, shared }, runner)})`,
  );

const isRunner = ({ projectId, shared = false }: RunnerKey, id: string): SQL | undefined =>
  and(eq(runners.projectId, projectId), eq(runners.id, id), eq(runners.shared, shared));

/**
 * Id of the runner. A name that registers again (after a restart) keeps its id and gets its new properties; undefined if a runner
 * of the other kind, shared or not, has the name in this project.
 */
export async function registerRunner(
  db: Database,
  { projectId, shared = false }: RunnerKey,
  runner: RegisterRequest,
): Promise<string | undefined> {
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
    .values({ id: newId('run'), projectId, name: runner.name, shared, ...properties })
    .onConflictDoUpdate({
      target: [runners.projectId, runners.name],
      set: { ...properties, registeredAt: sql`now()`, lastSeenAt: sql`now()` },
      setWhere: eq(runners.shared, shared),
    })
    .returning({ id: runners.id });
  return row?.id;
}

/** Notes that the runner is alive; undefined if the key has no such runner. */
export async function touchRunner(db: Database, key: RunnerKey, id: string): Promise<RunnerRow | undefined> {
  const [row] = await db
    .update(runners)
    .set({ lastSeenAt: sql`now()` })
    .where(isRunner(key, id))
    .returning();
  return row;
}

const serves = (projectId: string) => or(eq(runners.projectId, projectId), eq(runners.shared, true));

/** GB of the largest runner ever registered for the project that has this accelerator and these labels; undefined if there is none. */
export async function largestMemory(
  db: Database,
  projectId: string,
  of: { accelerator: Accelerator; labels: Readonly<Record<string, string>> },
): Promise<number | undefined> {
  const fitting = and(
    serves(projectId),
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
    serves(projectId),
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
