// Follows a job to its end and shows it: a live line on a terminal, plain lines elsewhere.
import type { Client } from '../../api/client.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import { isTerminal } from '../../api/contract/job.ts';
import type { Screen } from '../screen.ts';
import { evaluationTable } from './evaluations.ts';
import { because, eventLine, statusLine, stepLine } from './lines.ts';
import type { View } from './view.ts';
import { emptyView, withEvent } from './view.ts';

/** Without a live line a step is written at most this often (by the events' own time). */
const stepLineEveryMs = 5000;

/**
 * The job's view after its last event, its evaluations printed as a table; undefined when the interrupt came first (the job goes on).
 * @throws ApiError where there is no such job.
 */
export async function follow(
  client: Client,
  job: string,
  screen: Screen,
  interrupt: AbortSignal,
): Promise<View | undefined> {
  const view = await followEvents(client, job, screen, interrupt);
  const rows = view === undefined ? [] : evaluationTable(view.evaluations);
  for (const line of rows.length > 0 ? ['', ...rows, ''] : []) screen.line(line);
  return view;
}

/** `follow` without the table. */
export async function followEvents(
  client: Client,
  job: string,
  screen: Screen,
  interrupt: AbortSignal,
): Promise<View | undefined> {
  let view = emptyView;
  const writer = writerOn(screen);
  try {
    for await (const event of client.events(job, { signal: interrupt })) {
      view = withEvent(view, event);
      writer.write(event, view);
    }
  } catch (error) {
    if (!interrupt.aborted) throw error;
  } finally {
    screen.clear();
  }
  return isTerminal(view.state) ? view : undefined;
}

/** `job_… succeeded`, `job_… failed (invalid_data): …` */
export const endLine = (job: string, view: View): string =>
  `${job} ${view.state}${because(view.reason, view.message)}`;

function writerOn(screen: Screen) {
  let lastStepLine = -Infinity;
  const isDue = (event: JobEvent, { stage }: View): boolean => {
    if (screen.live || event.body.type !== 'step' || stage === null) return false;
    return stage.step === stage.steps || Date.parse(event.created_at) - lastStepLine >= stepLineEveryMs;
  };
  return {
    write(event: JobEvent, view: View): void {
      const line = eventLine(event);
      if (line !== undefined) screen.line(line);
      if (isDue(event, view)) {
        lastStepLine = Date.parse(event.created_at);
        screen.line(stepLine(view.stage!));
      }
      if (!isTerminal(view.state)) screen.status(statusLine(view, screen.width));
    },
  };
}
