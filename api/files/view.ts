// Files on the wire.
import type { FileRow } from '../../db/files/table.ts';
import type { File } from '../contract/file.ts';

export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1_000);

export const fileView = ({ id, bytes, createdAt, filename, purpose }: FileRow): File => ({
  id,
  object: 'file',
  bytes,
  created_at: secondsOf(createdAt),
  filename,
  purpose: purpose as File['purpose'],
  status: 'processed',
  expires_at: null,
});
