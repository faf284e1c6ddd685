// millrace submit FILE [--watch]
import { neededLanguages } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { screenOn } from '../screen.ts';
import { runnersFor, waitingFor } from '../runners-for.ts';
import { submit } from '../submit/submit.ts';
import { watch } from './watch.ts';

export const submitCommand: Command = {
  name: 'submit',
  summary: 'post a job spec; files that it names are uploaded',
  details:
    '`data` may be `file:PATH`, relative to FILE: the rows are uploaded once, by content. Relative model directories\n' +
    'are made absolute. The first line on standard output is the id of the job.',
  arguments: [{ name: 'FILE', help: 'a job spec, JSON' }],
  flags: { ...dataDirFlag, watch: { type: 'boolean', help: 'follow the job to its end' } },
  async run(given, interrupt) {
    const { client } = connect(given, interrupt);
    const screen = screenOn(process.stdout);
    const job = await submit(client, given.argument('FILE'), (text) => console.error(text));
    screen.line(job.id);
    // The job is posted: that nobody can be asked about runners is no failure of it.
    const { resources } = jobSpec.parse(job.spec);
    const needs = { resources, languages: neededLanguages(job.expanded) };
    const runners = await runnersFor(client, needs).catch(() => undefined);
    const waits = runners && waitingFor(runners, needs);
    if (waits !== undefined) console.error(waits);
    return given.on('watch') ? watch(client, job.id, screen, interrupt) : exitCodes.succeeded;
  },
};
