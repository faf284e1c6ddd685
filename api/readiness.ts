// Whether the service can work, found out cheaply: whoever asks within some seconds gets the same answer, and the store is
// written to more rarely than it is read. What is told names the part and the kind of its fault, no host and no user.
import { z } from 'zod';
import type { SchemaState } from '../db/schema-state.ts';
import { schemaState } from '../db/schema-state.ts';
import type { Services } from './context.ts';

export const readiness = z.object({
  ready: z.boolean(),
  database: z.string().describe('ok, or what is wrong'),
  schema: z
    .enum(['ok', 'behind', 'newer', 'unknown'])
    .describe(
      'behind: migrations are missing, nothing works; newer: a later version has migrated, all works',
    ),
  store: z.string().describe('ok, or what is wrong'),
  stopping: z.boolean().describe('the process ends: send it nothing more'),
});
export type Readiness = z.infer<typeof readiness>;

const keptMs = 2_000;
/** A probe must end before the one who asks gives up. */
const probeMs = 3_000;
const probeKey = 'health/readyz';
const probeBody = new TextEncoder().encode('ok\n');

type Probed = Pick<Services, 'db' | 'store' | 'timing' | 'now' | 'stopping'>;

export function readinessProbe(services: Probed): () => Promise<Readiness> {
  const { stopping, now } = services;
  const look = probes(services);
  let kept: { readonly found: Promise<Found>; readonly until: number } | undefined;
  return async () => {
    const at = now().getTime();
    if (kept === undefined || at >= kept.until) kept = { found: look(at), until: at + keptMs };
    const found = await kept.found;
    const works = found.database === 'ok' && found.store === 'ok' && found.schema !== 'behind';
    return { ready: works && !stopping.aborted, ...found, stopping: stopping.aborted };
  };
}

type Found = Omit<Readiness, 'ready' | 'stopping'>;

/** An object that is not there yet, or was removed, is written; so is one whose last write is long ago. */
function probes({ db, store, timing }: Probed): (at: number) => Promise<Found> {
  let writtenAt = -Infinity;
  const reachStore = async (at: number): Promise<void> => {
    const isThere = (await store.head(probeKey)) !== undefined;
    if (isThere && (timing.writeProbeMs === null || at - writtenAt < timing.writeProbeMs)) return;
    await store.put(probeKey, probeBody);
    writtenAt = at;
  };
  return async (at) => {
    let schema: SchemaState | 'unknown' = 'unknown';
    const [database, objects] = await Promise.all([
      probe(async () => void (schema = await schemaState(db))),
      probe(() => reachStore(at)),
    ]);
    return { database, schema, store: objects };
  };
}

async function probe(ask: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>(
    (resolve) => (timer = setTimeout(resolve, probeMs, `no answer within ${probeMs} ms`)),
  );
  const asked = ask().then(
    () => 'ok',
    (error: unknown) => `unavailable${codeOf(error)}`,
  );
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

/** The kind of failure, not its text: messages name hosts and users. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'string') return `: ${code}`;
  }
  return '';
}
