// Embedded Postgres: a real server from the npm package, for one machine with nothing installed.
// Not a substitute for a server of one's own: DATABASE_URL replaces it.
import { serverAccount } from './embedded/account.ts';
import { installBinaries } from './embedded/binaries.ts';
import { serverHome } from './embedded/home.ts';
import { startServer, type RunningServer } from './embedded/server.ts';

/**
 * Starts the server of this data directory, or adopts the one that a former run left, and returns
 * its address. Throws when the platform has no binaries, when initdb fails, or when the server
 * does not answer within 30 s; the message names the log.
 */
export async function startEmbedded(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<RunningServer> {
  const account = serverAccount();
  const home = await serverHome(dataDir, account);
  const binDir = await installBinaries(home);
  return await startServer({ home, binDir, account, settings });
}
