// Makes an API key in the database itself, where no key could yet ask for one:
//   DATABASE_URL=… node api/keys.ts --name ci --scopes submit,read [--project default] [--expires-in 90d]
// Prints one JSON line with the key, which is shown this once and kept nowhere.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { connect } from '../db/connect.ts';
import { createKey } from '../db/keys.ts';
import { migrate } from '../db/migrate.ts';
import { ensureProject } from '../db/projects.ts';
import { scope, scopes } from './contract/keys.ts';
import { name } from './contract/names.ts';
import { period, periodMs } from './contract/period.ts';

const wanted = z.object({
  project: name,
  name,
  scopes: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(scope, `comma-separated, of ${scopes.join(', ')}`).min(1)),
  'expires-in': period.optional(),
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      project: { type: 'string', default: 'default' },
      name: { type: 'string', default: 'admin' },
      scopes: { type: 'string', default: 'admin' },
      'expires-in': { type: 'string' },
    },
  });
  const parsed = wanted.safeParse(values);
  if (!parsed.success)
    throw new Error(
      parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const url = process.env['DATABASE_URL'];
  if (url === undefined) throw new Error('DATABASE_URL is not set: name the database that the API uses');
  await migrate(url);
  const { db, close } = connect(url, 1);
  try {
    const projectId = await ensureProject(db, parsed.data.project);
    const { 'expires-in': expiresIn, ...wish } = parsed.data;
    const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + periodMs(expiresIn));
    const { id, secret } = await createKey(db, { ...wish, projectId, expiresAt });
    console.log(JSON.stringify({ id, key: secret, ...wish, expires_at: expiresAt }));
  } finally {
    await close();
  }
}

main().catch((error: unknown) => {
  console.error(`millrace keys: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
