// One sandbox under attack: what is wrong with how each attack ended and with what is left of the sandbox after it.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { Run, Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';
import { until } from '../../support/until.ts';
import type { Attack, Places } from './attacks-python.ts';
import { nearWall } from './battle-limits.ts';
import { launchers, sandboxProcesses } from './survivors.ts';

const repository = join(import.meta.dirname, '../../..');
const SETTLED_MILLISECONDS = 8_000;

/** A service of ours on this machine; `reached` says what came to it. */
export async function openPlaces(): Promise<{ places: Places; reached: string[]; close(): void }> {
  const reached: string[] = [];
  const server = createServer((socket) => {
    reached.push('tcp');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const udp = createSocket('udp4').on('message', () => reached.push('udp'));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  const paths = [
    '/root',
    '/home',
    '/etc/passwd',
    '/etc/shadow',
    '/var',
    repository,
    process.env.HOME ?? '/root',
    '/sys',
    '/boot',
  ];
  return {
    places: { tcpPort: (server.address() as AddressInfo).port, udpPort: udp.address().port, paths },
    reached,
    close: () => {
      server.close();
      udp.close();
    },
  };
}

/** Fills the stock of started interpreters: as many runs at a time as there are slots. */
export async function warmUp(sandbox: Sandbox, language: CodeLanguage): Promise<void> {
  const canaries = Array.from({ length: sandbox.slots }, () => sandbox.canary(language));
  const complaint = (await Promise.all(canaries)).find((one) => one !== undefined);
  if (complaint !== undefined) throw new Error(complaint);
}

/** Of a full stock that nobody uses: bubblewrap, the first process of the namespace and the interpreter. */
export const stockProcesses = (sandbox: Sandbox, runtimes: number): number => runtimes * sandbox.slots * 3;

const ended = (run: Run): string => (run.status === 'stopped' ? run.by : run.status);

function complaintsAbout({ ends, says }: Attack, run: Run): string[] {
  const complaints: string[] = [];
  if (!(ends as readonly string[]).includes(ended(run)))
    complaints.push(`ended ${JSON.stringify(run).slice(0, 500)}`);
  if (says !== undefined && run.status !== 'down' && run.stdout !== says) {
    complaints.push(`said ${JSON.stringify(run.stdout.slice(0, 500))} ${run.stderr.slice(-500)}`);
  }
  return complaints;
}

/** `processes`: of the whole stock while nothing runs. */
export async function fight(
  sandbox: Sandbox,
  language: CodeLanguage,
  attack: Attack,
  places: Places,
  processes: number,
): Promise<string[]> {
  const stdin = attack.needs === 'places' ? JSON.stringify(places) : '';
  const main = sandbox.backEnd === 'quickjs' ? `host.write(1, '10\\n')` : bystanders[language];
  const bystander = sandbox.run({ language, main });
  const limits = attack.waits ? nearWall : {};
  const complaints = complaintsAbout(
    attack,
    await sandbox.run({ language, main: attack.main, stdin, limits }),
  );
  const beside = await bystander;
  if (beside.status !== 'exited' || beside.stdout !== '10\n')
    complaints.push(`beside it: ${JSON.stringify(beside)}`);
  await warmUp(sandbox, language).catch((error: Error) => complaints.push(error.message));
  const ofSandboxes = async () => sandboxProcesses(await launchers());
  const settled = async () => (await ofSandboxes()).length === processes;
  await until(settled, `${processes} processes`, SETTLED_MILLISECONDS).catch(async () => {
    const left = (await ofSandboxes()).map(
      ({ pid, command }) => `${pid} ${command.replaceAll('\0', ' ').slice(-80)}`,
    );
    complaints.push(`${left.length} processes instead of ${processes}: ${left.join('; ')}`);
  });
  return complaints;
}

/** Programs that need processes or memory of their own while somebody else attacks. */
const bystanders: Readonly<Record<CodeLanguage, string>> = {
  python: `import os
for _ in range(10):
    if os.fork() == 0: os._exit(1)
print(sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(10)))
`,
  javascript: `console.log(Array.from({ length: 10 }, () => require('child_process').spawnSync('true').status + 1).length)`,
  typescript: 'console.log(10 as number)',
};
