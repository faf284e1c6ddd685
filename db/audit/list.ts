// The audit trail, newest first. Whoever asks must know whose they may see: undefined stands for every project.
import { and, eq, or } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from '../page.ts';
import { auditRows, type AuditRow } from './table.ts';

export interface AuditFilter {
  projectId: string | undefined;
  keyId?: string | undefined;
  /** What was changed, or what was made. */
  thing?: string | undefined;
}

export async function listAudit(
  db: Database,
  { projectId, keyId, thing }: AuditFilter,
  query: PageQuery,
): Promise<PageOf<AuditRow>> {
  const { where, order, take } = pageWindow(auditRows.id, query);
  const chosen = and(
    projectId === undefined ? undefined : eq(auditRows.projectId, projectId),
    keyId === undefined ? undefined : eq(auditRows.keyId, keyId),
    thing === undefined ? undefined : or(eq(auditRows.thing, thing), eq(auditRows.made, thing)),
    where,
  );
  return toPage(await db.select().from(auditRows).where(chosen).orderBy(order).limit(take), query);
}
