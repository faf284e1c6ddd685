// pg-boss beside us, on the same server: the parts of it that the bench calls. Undefined where the package is not installed.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

interface Boss {
  on(event: 'error', listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object): Promise<unknown>;
  fetch(name: string): Promise<{ id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
}

interface BossModule {
  readonly PgBoss: new (options: { connectionString: string; max: number; supervise: boolean }) => Boss;
}

export async function startBoss(url: string): Promise<Boss | undefined> {
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve('pg-boss');
  } catch {
    return undefined;
  }
  const { PgBoss } = (await import(pathToFileURL(path).href)) as BossModule;
  const boss = new PgBoss({ connectionString: url, max: 20, supervise: false });
  boss.on('error', (error) => console.error(`pg-boss: ${error.message}`));
  await boss.start();
  return boss;
}
