// A spec file becomes a job: checked, its files uploaded, posted.
import type { Client } from '../../api/client.ts';
import type { JobDetail } from '../../api/contract/job.ts';
import type { SpecFile } from './spec-file.ts';
import { readSpecFile, withData } from './spec-file.ts';
import { uploadData } from './upload.ts';

/** @throws UserError for a bad file, ApiError for what only the service can know. */
export const submit = (client: Client, path: string, say: (text: string) => void): Promise<JobDetail> =>
  submitSpec(client, readSpecFile(path), say);

/** The same of a spec that has been read. */
export async function submitSpec(
  client: Client,
  { spec, localData }: SpecFile,
  say: (text: string) => void,
): Promise<JobDetail> {
  const ids = await uploadData(client, localData, say);
  return client.createJob(withData(spec, ids));
}
