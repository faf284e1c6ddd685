// A service that speaks the runner protocol and remembers what it was told, for the supervisor's own behaviours:
// answers that the real one gives only in bad moments (lease lost, away, cancel) are given on demand.
// Every body is checked against the contract, so a supervisor that breaks it fails its test.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { z } from 'zod';
import type { Entry } from '../../../api/contract/event.ts';
import type { ErrandClaim, ErrandOutcome } from '../../../api/contract/errand.ts';
import {
  errandClaimRequest,
  errandFinishRequest,
  errandHeartbeatRequest,
} from '../../../api/contract/errand.ts';
import type { Claim, ClaimedCheckpoint, HeartbeatAction, Outcome } from '../../../api/contract/runner.ts';
import {
  PROTOCOL_VERSION,
  checkpointRequest,
  claimRequest,
  finishRequest,
  heartbeatRequest,
  registerRequest,
  reportRequest,
  stageEndRequest,
} from '../../../api/contract/runner.ts';

const bodies = {
  register: registerRequest,
  claim: claimRequest,
  heartbeat: heartbeatRequest,
  report: reportRequest,
  checkpoints: checkpointRequest,
  'stage-ends': stageEndRequest,
  finish: finishRequest,
  'errands/claim': errandClaimRequest,
  'errands/heartbeat': errandHeartbeatRequest,
  'errands/finish': errandFinishRequest,
} as const;
type Route = keyof typeof bodies;
export type BodyOf<R extends Route> = z.infer<(typeof bodies)[R]>;

export const runnerId = 'run_00000000000000000001';

const checkpointId = 'ckpt_00000000000000000001';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export const problem = (status: number, code: string): Answer => ({
  status,
  body: { type: 'about:blank', title: code, status, code, detail: `the test answers ${code}` },
});

export class FakeService {
  readonly claims: Claim[] = [];
  readonly errands: ErrandClaim[] = [];
  /** The last that was committed is the end of every stage. */
  get stageEnd(): ClaimedCheckpoint | null {
    const committed = this.bodies('checkpoints').at(-1)?.checkpoint;
    return committed === undefined ? null : { ...committed, id: checkpointId };
  }
  /** Outcomes of errands, in the order in which they were told. */
  readonly errandOutcomes: ErrandOutcome[] = [];
  /** What was said of jobs, in the order of arrival, answered with success or not. */
  readonly received: { route: Route; body: unknown; at: number }[] = [];
  readonly violations: string[] = [];
  /** Answers instead of the usual one, where it returns something. */
  instead: (route: Route, body: unknown) => Answer | undefined = () => undefined;
  /** Does what is asked, then breaks the connection in place of an answer. */
  loseAnswer: (route: Route, body: unknown) => boolean = () => false;
  action: HeartbeatAction = 'continue';
  leaseMs = 3_000;
  heartbeatMs = 50;
  #server: Server | undefined;
  #port = 0;
  readonly #applied = new Set<number>();
  /** Entries as the database would have them: each report applied once. */
  readonly entries: Entry[] = [];
  outcome: Outcome | undefined;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** As an API that was killed: connections break, the port is closed. `start` brings it back. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  bodies<R extends Route>(route: R): BodyOf<R>[] {
    return this.received.filter((call) => call.route === route).map((call) => call.body as BodyOf<R>);
  }

  get log(): string {
    return (
      this.bodies('report')
        .map(({ log }) => log)
        .join('') +
      this.bodies('finish')
        .map(({ log }) => log)
        .join('')
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = request.url?.replace('/v1/runner/', '') as Route;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const parsed = bodies[route].safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    if (!parsed.success) this.violations.push(`${route}: ${parsed.error.message}`);
    const body = parsed.data;
    const { status, body: answer } = parsed.success
      ? (this.instead(route, body) ?? this.#usual(route, body))
      : problem(422, 'invalid_spec');
    if (!route.startsWith('errands/')) this.received.push({ route, body, at: performance.now() });
    if (this.loseAnswer(route, body)) response.destroy();
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #usual(route: Route, body: unknown): Answer {
    const ok = (answer: unknown): Answer => ({ status: 200, body: answer });
    switch (route) {
      case 'register':
        return (body as BodyOf<'register'>).protocol === PROTOCOL_VERSION
          ? ok({ runner: runnerId, heartbeat_ms: this.heartbeatMs, lease_ms: this.leaseMs })
          : problem(426, 'protocol_mismatch');
      case 'claim':
        return ok({ claim: this.claims.shift() ?? null });
      case 'heartbeat':
        return ok({ action: this.action, lease_ms: this.leaseMs });
      case 'report':
        return ok({ applied: this.#apply(body as BodyOf<'report'>) });
      case 'checkpoints':
        return ok({ id: checkpointId });
      case 'stage-ends':
        return ok({ checkpoint: this.stageEnd });
      case 'finish':
        this.outcome = (body as BodyOf<'finish'>).outcome;
        return ok({ state: this.outcome.type });
      case 'errands/claim':
        return ok({ claim: this.#nextErrand(body as BodyOf<'errands/claim'>) });
      case 'errands/heartbeat':
        return ok({ lease_ms: this.leaseMs });
      case 'errands/finish':
        this.errandOutcomes.push((body as BodyOf<'errands/finish'>).outcome);
        return ok({ state: 'succeeded' });
    }
  }

  #nextErrand({ kinds }: BodyOf<'errands/claim'>): ErrandClaim | null {
    const at = this.errands.findIndex(({ payload }) => kinds.includes(payload.kind));
    return at < 0 ? null : this.errands.splice(at, 1)[0]!;
  }

  #apply({ sequence, entries }: BodyOf<'report'>): boolean {
    if (this.#applied.has(sequence)) return false;
    this.#applied.add(sequence);
    this.entries.push(...entries);
    return true;
  }
}
