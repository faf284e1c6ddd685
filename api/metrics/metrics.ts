// What this process counts as it works. Labels have few values: routes by their pattern, reasons, kinds; never an id or a
// name. Counters begin at 0 with the process, as Prometheus expects; what all processes share is asked of the database.
import type { EventBody } from '../contract/event.ts';
import type { Outcome } from '../contract/runner.ts';
import type { ProblemCode } from '../contract/problem.ts';
import { Registry } from './registry.ts';

export interface Metrics {
  answered(route: string, method: string, status: number, seconds: number): void;
  /** A problem that was answered. */
  problem(code: ProblemCode): void;
  attemptEnded(outcome: Outcome): void;
  entries(entries: readonly Pick<EventBody, 'type'>[]): void;
  /** Call what it returns when the stream ends. */
  streamOpened(): () => void;
  tickEnded(failed: boolean): void;
  text(): string;
}

const httpBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const stepBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 150, 300, 900, 3600];

/** Metrics of a step that are times, and the part of the step that they are of. */
const stepParts = { time_sample: 'sample', time_score: 'score', time_train: 'train', time_save: 'save' };

export function createMetrics(): Metrics {
  const registry = new Registry();
  const http = registry.histogram(
    'millrace_http_request_duration_seconds',
    'From a request to the headers of its answer, by the pattern of its route.',
    httpBounds,
  );
  const problems = registry.counter('millrace_problems_total', 'Problems answered, by their code.');
  const attempts = registry.counter(
    'millrace_attempts_ended_total',
    'Attempts that ended, by outcome and, where they failed, reason. With lease_expired: found by this process.',
  );
  const steps = registry.histogram(
    'millrace_step_duration_seconds',
    'Of the parts of optimizer steps, as runners report them.',
    stepBounds,
  );
  const skipped = registry.counter('millrace_steps_skipped_total', 'Steps without a token to learn from.');
  const outages = registry.counter('millrace_reward_outages_total', 'Waits for rewards that have begun.');
  const ticks = registry.counter('millrace_ticks_total', 'Turns of the clock, by result.');
  let streams = 0;
  registry.gauge('millrace_event_streams', 'Event streams that are open here.', () => streams);
  return {
    answered: (route, method, status, seconds) =>
      http.observe(seconds, { route, method, status: String(status) }),
    problem: (code) => problems.add({ code }),
    attemptEnded: (outcome) =>
      attempts.add({ outcome: outcome.type, reason: outcome.type === 'failed' ? outcome.reason : '' }),
    entries(entries) {
      for (const entry of entries as readonly EventBody[]) {
        if (entry.type === 'step')
          for (const [key, part] of Object.entries(stepParts)) {
            const seconds = entry.metrics[key];
            if (typeof seconds === 'number') steps.observe(seconds, { part });
          }
        else if (entry.type === 'step_skipped') skipped.add();
        else if (entry.type === 'reward_waiting') outages.add();
      }
    },
    streamOpened() {
      streams += 1;
      let open = true;
      return () => {
        if (open) streams -= 1;
        open = false;
      };
    },
    tickEnded: (failed) => ticks.add({ result: failed ? 'failed' : 'done' }),
    text: () => registry.text(),
  };
}

/** Of a process that lives for one request: what it counts would only mislead. */
export const unheardMetrics = (): Metrics => ({ ...createMetrics(), text: () => '' });
