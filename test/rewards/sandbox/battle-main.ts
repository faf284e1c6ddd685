// A process of its own for attacks as another user: fights them all and prints, as JSON, name to complaints.
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import { nodeAttacks } from './attacks-javascript.ts';
import { pythonAttacks } from './attacks-python.ts';
import { fight, openPlaces, stockProcesses, warmUp } from './battle.ts';
import { battleLimits } from './battle-limits.ts';
import { launchers, sandboxProcesses } from './survivors.ts';

const sandbox = await openSandbox({ backEnds: ['bubblewrap'], slots: 2, limits: battleLimits });
const results: Record<string, string[]> = { user: [String(process.getuid?.())], ...missingOf() };
function missingOf(): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(sandbox.missing).map(([language, why]) => [`missing ${language}`, [why]]),
  );
}
if (sandbox.languages.length === 3) {
  const { places, reached, close } = await openPlaces();
  for (const language of ['python', 'javascript'] as const) await warmUp(sandbox, language);
  const processes = stockProcesses(sandbox, 2);
  for (const attack of pythonAttacks) {
    results[`python: ${attack.name}`] = await fight(sandbox, 'python', attack, places, processes);
  }
  for (const attack of nodeAttacks) {
    results[`node: ${attack.name}`] = await fight(sandbox, 'javascript', attack, places, processes);
  }
  results.reached = reached;
  close();
}
const closing = await launchers();
await sandbox.close();
results.left = (await sandboxProcesses(closing)).map(({ command }) => command);
process.stdout.write(JSON.stringify(results));
