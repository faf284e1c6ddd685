// Projects: the owner of everything. A key sees its own project only.
import { eq } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { newId } from './ids.ts';
import { projects } from './schema.ts';

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
