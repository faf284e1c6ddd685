// An uploaded file: its form read part by part into a scratch file, its rows looked at, its bytes put into the store, and
// last the row that names them.
import { createReadStream } from 'node:fs';
import { insertFile } from '../../db/files.ts';
import type { FileRow } from '../../db/files/table.ts';
import type { Answer } from '../../db/idempotency.ts';
import { newId } from '../../db/ids.ts';
import type { Services } from '../context.ts';
import { readRows } from '../datasets/rows.ts';
import type { ScratchFile } from '../datasets/scratch.ts';
import { openScratch } from '../datasets/scratch.ts';
import { unpack } from '../datasets/unpack.ts';
import { fileView } from './view.ts';
import { answerOnce } from '../idempotency.ts';
import { decodeUtf8 } from '../json.ts';
import { bodyChunks } from '../middleware/body.ts';
import { ProblemError } from '../problem.ts';
import type { FormPart } from './multipart.ts';
import { boundaryOf, readForm } from './multipart.ts';

interface Upload {
  readonly projectId: string;
  readonly idempotencyKey: string | undefined;
}

/** @throws ProblemError invalid_form, invalid_spec, invalid_dataset, too_large and others. */
export async function receiveFile(services: Services, upload: Upload, request: Request): Promise<Answer> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? undefined);
  const scratch = await openScratch();
  try {
    const { filename } = await readParts(readForm(bodyChunks(request), boundary), scratch, services.limits);
    const { size, sha256 } = await scratch.close();
    await checkRows(scratch, services);
    return await keep(services, upload, { filename, bytes: size, sha256, path: scratch.path });
  } finally {
    await scratch.remove();
  }
}

/** The form's fields, each once; the file's bytes go to the scratch file. */
async function readParts(
  parts: AsyncIterable<FormPart>,
  scratch: ScratchFile,
  limits: Services['limits'],
): Promise<{ filename: string }> {
  let filename: string | undefined;
  let purpose: string | undefined;
  for await (const part of parts) {
    if (part.name === 'file' && filename === undefined) {
      filename = nameOf(part);
      await copy(part, scratch, limits.datasetBytes);
    } else if (part.name === 'purpose' && purpose === undefined) purpose = await textOf(part);
    else throw wrong(part.name, whyNot(part.name));
  }
  if (filename === undefined) throw wrong('file', 'must be given: the part with the rows');
  if (purpose !== 'fine-tune')
    throw wrong(
      'purpose',
      purpose === undefined
        ? 'must be given: fine-tune'
        : `${JSON.stringify(purpose.slice(0, 50))} is not supported: the only purpose is fine-tune`,
    );
  return { filename };
}

function whyNot(name: string): string {
  if (name === 'file' || name === 'purpose') return 'stands twice';
  if (name.startsWith('expires_after')) return 'is not supported: files stay until they are deleted';
  return 'there is no such field';
}

function nameOf({ filename }: FormPart): string {
  if (filename === undefined) throw wrong('file', 'must have a filename');
  const name = filename.replace(/^.*[/\\]/s, '');
  if (name === '' || name.length > 255 || name.includes('\0'))
    throw wrong('file', 'its filename must have 1 to 255 characters, and no NUL');
  return name;
}

async function copy(part: FormPart, scratch: ScratchFile, most: number): Promise<void> {
  let size = 0;
  for await (const chunk of part.body) {
    size += chunk.byteLength;
    if (size > most) throw new ProblemError('too_large', `the file has more than ${most} bytes`);
    await scratch.write(chunk);
  }
}

async function textOf(part: FormPart): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part.body) {
    size += chunk.byteLength;
    if (size > 1_000) throw wrong(part.name, 'has more than 1000 bytes');
    chunks.push(chunk);
  }
  try {
    return decodeUtf8(Buffer.concat(chunks));
  } catch {
    throw wrong(part.name, 'is not UTF-8');
  }
}

/** That they are JSON objects; what else they must be depends on the job. */
async function checkRows(scratch: ScratchFile, { limits }: Services): Promise<void> {
  let count = 0;
  for await (const row of readRows(unpack(createReadStream(scratch.path), undefined, limits), limits)) {
    count += 1;
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw wrong('file', `row ${count} is no JSON object`);
  }
  if (count === 0) throw wrong('file', 'has no rows: send JSONL, one JSON object a line');
}

interface Received extends Pick<FileRow, 'filename' | 'bytes' | 'sha256'> {
  readonly path: string;
}

async function keep(
  { db, store }: Services,
  { projectId, idempotencyKey }: Upload,
  { path, ...received }: Received,
): Promise<Answer> {
  const id = newId('file');
  const key = `files/${id}/rows.jsonl`;
  await store.put(key, { path }, { sha256: received.sha256 });
  const forget = () => store.delete(key).catch(() => undefined);
  const request = ['POST /v1/files', received.filename, received.sha256];
  try {
    const answer = await answerOnce(db, { projectId, key: idempotencyKey, request }, async (tx) => ({
      status: 200,
      body: fileView(await insertFile(tx, { id, projectId, key, purpose: 'fine-tune', ...received })),
    }));
    if ((answer.body as { id: string }).id !== id) await forget();
    return answer;
  } catch (error) {
    // Only a refusal of ours is known to have left no row: a connection that broke may have committed first.
    if (error instanceof ProblemError) await forget();
    throw error;
  }
}

function wrong(name: string, message: string): ProblemError {
  const field = name.slice(0, 100);
  return new ProblemError('invalid_spec', `${field}: ${message}`, {
    issues: [{ pointer: `/${field}`, message }],
  });
}
