// Runners that serve a model: who they are, where, and which of them are alive.
import { and, desc, eq, or, sql } from 'drizzle-orm';
import type { ServeRequest } from '../api/contract/serving.ts';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { servingRunners, type ServingRunnerRow } from './serving/table.ts';

/** Registrations of runners that have been gone for a day, of all projects. */
export async function forgetGone(db: Database): Promise<void> {
  await db.delete(servingRunners).where(sql`last_seen_at < now() - interval '1 day'`);
}

/** Id of the registration. */
export async function registerServing(db: Database, projectId: string, given: ServeRequest): Promise<string> {
  const id = newId('srv');
  await db.insert(servingRunners).values({
    id,
    projectId,
    name: given.name,
    checkpointId: given.checkpoint,
    model: given.model,
    url: given.url,
    secret: given.secret,
    version: given.version,
  });
  return id;
}

const one = (projectId: string, id: string) =>
  and(eq(servingRunners.projectId, projectId), eq(servingRunners.id, id));

/** False if the project has no such registration: it must be made again. */
export async function touchServing(db: Database, projectId: string, id: string): Promise<boolean> {
  const rows = await db
    .update(servingRunners)
    .set({ lastSeenAt: sql`now()` })
    .where(one(projectId, id))
    .returning({ id: servingRunners.id });
  return rows.length > 0;
}

export async function endServing(db: Database, projectId: string, id: string): Promise<void> {
  await db.delete(servingRunners).where(one(projectId, id));
}

const heardOf = (leaseMs: number) => sql`last_seen_at > now() - ${leaseMs} * interval '1 millisecond'`;

/** All that are alive, newest first. */
export async function listServing(
  db: Database,
  projectId: string,
  leaseMs: number,
): Promise<ServingRunnerRow[]> {
  return db
    .select()
    .from(servingRunners)
    .where(and(eq(servingRunners.projectId, projectId), heardOf(leaseMs)))
    .orderBy(desc(servingRunners.id));
}

const serves = (projectId: string, model: string) =>
  and(
    eq(servingRunners.projectId, projectId),
    or(eq(servingRunners.checkpointId, model), eq(servingRunners.model, model)),
  );

/** Those that are alive and serve the model, in random order, so that they share the work. */
export async function findServing(
  db: Database,
  projectId: string,
  model: string,
  leaseMs: number,
): Promise<ServingRunnerRow[]> {
  return db
    .select()
    .from(servingRunners)
    .where(and(serves(projectId, model), heardOf(leaseMs)))
    .orderBy(sql`random()`);
}

/** Whether any runner, alive or not, has served the model of late. */
export async function wasServed(db: Database, projectId: string, model: string): Promise<boolean> {
  const rows = await db
    .select({ id: servingRunners.id })
    .from(servingRunners)
    .where(serves(projectId, model))
    .limit(1);
  return rows.length > 0;
}
