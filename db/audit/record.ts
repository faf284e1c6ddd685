// What a client is about to do, written down before it is done, and what became of it, written after. So nothing happens
// that left no row: where the row cannot be written the call is refused, and where the process dies in between the row
// stands without a status.
import { eq } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { auditRows, type AuditRow } from './table.ts';

export type Beginning = Pick<
  AuditRow,
  'projectId' | 'keyId' | 'keyName' | 'method' | 'route' | 'thing' | 'requestId'
>;
/** `projectId`: of the project that the call turned out to be about. */
export type Ending = Pick<AuditRow, 'status'> & Partial<Pick<AuditRow, 'projectId' | 'thing' | 'made'>>;

/** Id of the new row. */
export async function beginAudit(db: Database, beginning: Beginning): Promise<string> {
  const id = newId('aud');
  await db.insert(auditRows).values({ id, ...beginning });
  return id;
}

export async function endAudit(db: Database, id: string, ending: Ending): Promise<void> {
  await db.update(auditRows).set(ending).where(eq(auditRows.id, id));
}
