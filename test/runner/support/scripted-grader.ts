// A grader process that does what the response of its first item says, instead of grading: a real child with the real messages, so
// that the supervisor meets every way in which a grader can behave or end. What happens twice is counted in a file.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import type { FromGrader, GraderOutcome, GraderWork, ToGrader } from '../../../runner/ipc.ts';

const send = (message: FromGrader): void => void process.send?.(message);
const told = process.env['SCRIPT_PIDS']!;

process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToGrader) => {
  if (message.type === 'work' && message.work.kind === 'grade')
    scripts[message.work.items[0]!.response]!(message.work);
});
setInterval(() => send({ type: 'alive', graded: 0 }), 100).unref();

type Grade = Extract<GraderWork, { kind: 'grade' }>;

const ones = ({ items }: Grade): GraderOutcome => ({
  type: 'graded',
  results: items.map((_, index) => ({ index, status: 'scored', value: 1, parts: {} })),
});

/** One line for each start: how often the errand has been tried. */
function started(...children: (number | undefined)[]): number {
  appendFileSync(told, `${JSON.stringify([process.pid, ...children])}\n`);
  return readFileSync(told, 'utf8').trim().split('\n').length;
}

const scripts: Record<string, (work: Grade) => void> = {
  secrets: () => {
    const names = ['STORE_URL', 'MILLRACE_RUNNER_TOKEN', 'AWS_SECRET_ACCESS_KEY'];
    const found = names.filter((name) => process.env[name] !== undefined);
    const message = `sees ${found.join(', ')}`;
    send({ type: 'outcome', outcome: { type: 'failed', reason: 'grader_failed', message } });
  },
  die: () => {
    started();
    process.kill(process.pid, 'SIGKILL');
  },
  die_once: (work) => {
    if (started() === 1) process.exit(7);
    send({ type: 'outcome', outcome: ones(work) });
  },
  /** Alive for the supervisor, and never done. */
  hang: () => void started(),
  /** Never leaves the processor to anything else. */
  busy: () => {
    started();
    for (;;) Math.sqrt(2);
  },
  /** Ignores SIGTERM and has a child that does, too. */
  stubborn: () => {
    process.on('SIGTERM', () => undefined);
    const script = "process.on('SIGTERM',()=>{});setInterval(()=>{},1000);console.log('up')";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => started(child.pid));
  },
  down: () => send({ type: 'outcome', outcome: { type: 'unavailable', message: 'the sandbox is down' } }),
  one: (work) => send({ type: 'outcome', outcome: ones(work) }),
};
