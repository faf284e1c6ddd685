// millrace jobs
import type { Job } from '../../api/contract/job.ts';
import { jobState } from '../../api/contract/job.ts';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { table } from '../format.ts';
import { UsageError } from '../user-error.ts';

export const jobsCommand: Command = {
  name: 'jobs',
  summary: 'list the newest jobs',
  arguments: [],
  flags: {
    ...dataDirFlag,
    state: { type: 'string', value: 'STATE', help: `one of ${jobState.options.join(', ')}` },
    limit: { type: 'string', value: 'N', help: 'how many, at most 200 (default 20)' },
  },
  async run(given, interrupt) {
    const state = given.text('state');
    if (state !== undefined && !jobState.safeParse(state).success)
      throw new UsageError(`--state ${state}: states are ${jobState.options.join(', ')}`);
    const limit = given.text('limit') ?? '20';
    if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > 200)
      throw new UsageError(`--limit ${limit}: give a number from 1 to 200`);
    const { data } = await connect(given, interrupt).client.jobs({ limit, state });
    const rows = data.map((job) => [
      job.id,
      job.name ?? '-',
      job.type,
      job.state,
      whereItStands(job),
      job.created_at,
    ]);
    for (const line of table([['job', 'name', 'type', 'state', 'at', 'created'], ...rows])) console.log(line);
    return exitCodes.succeeded;
  },
};

function whereItStands({ reason, progress }: Job): string {
  if (reason !== null) return reason;
  return progress === null ? '-' : `${progress.stage} ${progress.step}/${progress.steps}`;
}
