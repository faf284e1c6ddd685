// `make accept-kills`: a cascade trained twice by a real service: undisturbed, then with its processes (trainer, supervisor, uploader,
// API, grader) killed at random moments in every stage. Both must end with the same bits, matrix and steps. Figures go to
// docs/results/<commit>/accept-kills.json. KILLS (default 32) and SEED (1) say how often and when; SPEC names a spec file to train
// instead of the shortened small world, or is "tiny". What it tells of a difference is where it begins.
import { isDeepStrictEqual } from 'node:util';
import { keepGrading } from '../fault/grading.ts';
import type { FaultRun, Kill } from '../fault/kill-run.ts';
import { runJob } from '../fault/kill-run.ts';
import { paceOf } from '../fault/pace.ts';
import { planBlows, victims } from '../fault/plan.ts';
import { startFaultService } from '../fault/local-service.ts';
import { smallWorld } from '../fault/small-world.ts';
import { tinyWorld, worldOfFile } from '../fault/world.ts';
import type { World } from '../fault/world.ts';
import { digestOf } from '../support/run-record.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeResults } from './results.ts';

const wanted = Number(process.env['KILLS'] ?? 32);
const seed = Number(process.env['SEED'] ?? 1);
const specFile = process.env['SPEC'];
/** A blow may fall when what it is meant for has just ended. */
const spare = Math.ceil(wanted / 10);

function chosenWorld(): World {
  if (specFile === undefined) return smallWorld;
  return specFile === 'tiny' ? tinyWorld : worldOfFile(specFile);
}

/** Kills by stage and process. */
function tableOf(kills: readonly Kill[]): Record<string, Record<string, number>> {
  const count = (stage: string, victim: string): number =>
    kills.filter((kill) => kill.fellIn === stage && kill.victim === victim).length;
  const stages = [...new Set(kills.map(({ fellIn }) => fellIn))];
  return Object.fromEntries(
    stages.map((stage) => [
      stage,
      Object.fromEntries(victims.map((victim) => [victim, count(stage, victim)])),
    ]),
  );
}

/** Where two runs are not the same, by part; none where they are. */
function differences(one: FaultRun, other: FaultRun): string[] {
  return (['checkpoints', 'evaluations', 'steps', 'series'] as const).flatMap((part) => {
    const [a, b] = [Object.entries(one.record[part]), Object.entries(other.record[part])];
    const at = a.findIndex((entry, index) => !isDeepStrictEqual(entry, b[index]));
    if (at < 0 && a.length === b.length) return [];
    const where = at < 0 ? a.length : at;
    return [`${part}: ${JSON.stringify(a[where])} undisturbed, ${JSON.stringify(b[where])} with kills`];
  });
}

async function main(): Promise<number> {
  const dir = await tempDir('accept-kills');
  const service = await startFaultService(dir.path);
  const stopping = new AbortController();
  // Interrupted, it leaves no service behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void service.stop().then(() => process.exit(130)));
  try {
    const posted = await chosenWorld()(service.client);
    const spec = { ...posted, max_attempts: 100 };
    const undisturbed = await runJob(service, spec);
    const pace = paceOf(undisturbed.events);
    console.log(`undisturbed: ${undisturbed.seconds.toFixed(0)} s, ${digestOf(undisturbed.record)}`);
    const grading = keepGrading(service.client, stopping.signal);
    const killed = await runJob(service, spec, { blows: planBlows(pace.stages, wanted + spare, seed), pace });
    stopping.abort();
    const graded = await grading;
    const kills = tableOf(killed.kills);
    console.table(kills);
    const differing = differences(undisturbed, killed);
    const figures = {
      spec,
      seed,
      kills,
      moments: killed.kills.map(
        ({ stage, afterStep, moment, victim }) => `${stage} ${afterStep} ${moment} ${victim}`,
      ),
      total: killed.kills.length,
      attempts: killed.attempts,
      seconds: { undisturbed: undisturbed.seconds, killed: killed.seconds },
      digest: { undisturbed: digestOf(undisturbed.record), killed: digestOf(killed.record) },
      checkpoints: undisturbed.record.checkpoints,
      graded_meanwhile: graded,
    };
    const file = writeResults('accept-kills', figures);
    for (const difference of differing) console.log(difference);
    const { length } = killed.kills;
    const verdict = differing.length === 0 ? 'the same bits, matrix and steps' : 'NOT THE SAME';
    console.log(`${length} kills, ${killed.attempts} attempts, ${killed.seconds.toFixed(0)} s: ${verdict}`);
    console.log(
      `${graded.answered} requests graded, ${graded.wrong} wrong, ${graded.refused.length} refused; figures in ${file}`,
    );
    return differing.length === 0 && length >= wanted && graded.wrong === 0 ? 0 : 1;
  } finally {
    stopping.abort();
    await service.stop();
    await dir.remove();
  }
}

process.exit(await main());
