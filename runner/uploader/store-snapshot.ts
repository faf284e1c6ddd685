// A snapshot from scratch to the store: every file with its hash verified on the way, the manifest last. What has
// arrived is written down in the snapshot's directory, so that a transfer asked again does not send it again.
import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { manifest as manifestSchema, manifestName } from '../../api/contract/checkpoint.ts';
import type { CheckpointCommit, Manifest } from '../../api/contract/checkpoint.ts';
import type { TransferContext } from './context.ts';
import { retrying } from './retry.ts';

type ListedFile = Manifest['files'][number];

/** Lines `<sha256> <key>` of objects that the store has confirmed; no file of the checkpoint. */
const journalOf = (dir: string): string => join(dir, '.stored');

async function stored(dir: string): Promise<Set<string>> {
  const text = await readFile(journalOf(dir), 'utf8').catch(() => '');
  return new Set(text.split('\n'));
}

async function storeListed(
  context: TransferContext,
  dir: string,
  prefix: string,
  file: ListedFile,
): Promise<void> {
  const { store, patience } = context;
  const key = `${prefix}${file.name}`;
  await retrying(patience, () => store.put(key, { path: join(dir, file.name) }, { sha256: file.sha256 }));
  await appendFile(journalOf(dir), `${file.sha256} ${key}\n`);
}

/** What to commit, once everything lies in the store. Throws StoreError; `corrupt` where scratch has changed. */
export async function storeSnapshot(
  context: TransferContext,
  dir: string,
  prefix: string,
): Promise<CheckpointCommit> {
  const { store, patience } = context;
  const bytes = await readFile(join(dir, manifestName));
  const { stage, stage_index, step, kind, files } = manifestSchema.parse(JSON.parse(bytes.toString('utf8')));
  const confirmed = await stored(dir);
  for (const file of files) {
    const key = `${prefix}${file.name}`;
    const there = confirmed.has(`${file.sha256} ${key}`) && (await retrying(patience, () => store.head(key)));
    if (!there || there.size !== file.size) await storeListed(context, dir, prefix, file);
  }
  const manifest_sha256 = createHash('sha256').update(bytes).digest('hex');
  const put = () =>
    store.put(`${prefix}${manifestName}`, bytes, {
      sha256: manifest_sha256,
      contentType: 'application/json',
    });
  await retrying(patience, put);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return { stage, stage_index, step, kind, prefix, manifest_sha256, size, files };
}
