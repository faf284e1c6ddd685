// The trainer of one attempt as a child: its messages, its output, its end. It computes and never talks to the
// service, so it gets neither the runner's token nor the store's keys.
import { StringDecoder } from 'node:string_decoder';
import type { FromTrainer, ToTrainer } from '../ipc.ts';
import type { Exit } from './child.ts';
import { endChild, exitOf, forkChild } from './child.ts';

export interface TrainerProcess {
  readonly pid: number | undefined;
  send(message: ToTrainer): void;
  /** Ends the trainer and everything it started; resolves when it is gone. */
  end(graceMs: number): Promise<void>;
  readonly exited: Promise<Exit>;
}

export interface TrainerListeners {
  readonly onMessage: (message: FromTrainer) => void;
  readonly onOutput: (text: string) => void;
}

const secret = /^(?:MILLRACE_(?:RUNNER_TOKEN|KEY|URL)|STORE_URL|DATABASE_URL|PG.*|S3_.*|AWS_.*)$/;

/** For children that compute: they talk to no service and to no store. */
export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.test(name)));
}

export function startTrainer(
  entry: string,
  env: NodeJS.ProcessEnv,
  listeners: TrainerListeners,
): TrainerProcess {
  const child = forkChild(entry, { env: withoutSecrets(env), output: 'pipe' });
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream?.on('data', (chunk: Buffer) => listeners.onOutput(decoder.write(chunk)));
  }
  child.on('message', (message) => listeners.onMessage(message as FromTrainer));
  const exited = exitOf(child);
  return {
    pid: child.pid,
    send: (message) => void (child.connected && child.send(message, () => undefined)),
    end: (graceMs) => endChild(child, exited, graceMs),
    exited,
  };
}
