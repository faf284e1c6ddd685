// Projects: the owner of everything. A key sees its own project only.
import { eq, or } from 'drizzle-orm';
import type { ProjectChange, ProjectRequest } from '../api/contract/project.ts';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from './page.ts';
import { projects, type ProjectRow } from './schema.ts';

/** Id of the project with this name; made if there is none, also when several callers ask at once. */
export async function ensureProject(db: Database, name: string): Promise<string> {
  await db
    .insert(projects)
    .values({ id: newId('proj'), name })
    .onConflictDoNothing({ target: projects.name });
  const [row] = await db.select({ id: projects.id }).from(projects).where(eq(projects.name, name));
  if (row === undefined) throw new Error(`internal: project ${name} vanished while it was made`);
  return row.id;
}

/** undefined if there is a project of this name already. */
export async function insertProject(
  db: Database,
  { name, max_running, weight }: ProjectRequest,
): Promise<ProjectRow | undefined> {
  const [row] = await db
    .insert(projects)
    .values({ id: newId('proj'), name, maxRunning: max_running, weight })
    .onConflictDoNothing({ target: projects.name })
    .returning();
  return row;
}

/** By id or by name: no name looks like an id. */
export async function findProject(db: Database, idOrName: string): Promise<ProjectRow | undefined> {
  const [row] = await db
    .select()
    .from(projects)
    .where(or(eq(projects.id, idOrName), eq(projects.name, idOrName)));
  return row;
}

/** Newest first. */
export async function listProjects(db: Database, query: PageQuery): Promise<PageOf<ProjectRow>> {
  const { where, order, take } = pageWindow(projects.id, query);
  return toPage(await db.select().from(projects).where(where).orderBy(order).limit(take), query);
}

/** What is omitted stays as it is. undefined if there is no such project. */
export async function changeProject(
  db: Database,
  id: string,
  { max_running, weight }: ProjectChange,
): Promise<ProjectRow | undefined> {
  const [row] = await db
    .update(projects)
    .set({ maxRunning: max_running, weight })
    .where(eq(projects.id, id))
    .returning();
  return row;
}
