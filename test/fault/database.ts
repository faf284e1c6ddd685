// A Postgres of the run's own, which may be stopped as a crash would stop it: `pg_ctl stop -m immediate`, and started again.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { serverAccount } from '../../db/embedded/account.ts';
import { installBinaries } from '../../db/embedded/binaries.ts';
import { serverHome } from '../../db/embedded/home.ts';
import type { RunningServer } from '../../db/embedded/server.ts';
import { startServer } from '../../db/embedded/server.ts';

export interface FaultDatabase {
  readonly url: string;
  /** Everything that was not committed is lost; `work` runs while it is down. */
  crash(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

// The system under it stays up, so what was handed to it survives without fsync; commits still wait for their log.
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '100' };

export async function startDatabase(dir: string): Promise<FaultDatabase> {
  await mkdir(dir, { recursive: true });
  const account = serverAccount();
  const home = await serverHome(dir, account);
  const binDir = await installBinaries(home);
  const start = (): Promise<RunningServer> => startServer({ home, binDir, account, settings });
  let server = await start();
  const { url } = server;
  return {
    url,
    async crash(work) {
      process.kill(server.pid, 'SIGQUIT');
      await server.exited();
      await work();
      server = await start();
      if (server.url !== url)
        throw new Error(`Postgres came back under another address: ${join(dir, 'postgres')}`);
    },
    stop: () => server.stop(),
  };
}
