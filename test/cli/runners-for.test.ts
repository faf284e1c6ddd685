// Which runners a job may run on, and what is said where none of them is alive.
import { expect, test } from 'vitest';
import { createClient } from '../../api/client.ts';
import type { CodeLanguage } from '../../api/contract/grader.ts';
import { runnersFor, waitingFor } from '../../cli/runners-for.ts';

const runner = (
  name: string,
  accelerator: string,
  labels: Record<string, string>,
  alive = true,
  languages: readonly CodeLanguage[] = [],
) => ({
  id: 'run_01234567890123456789',
  name,
  accelerator,
  memory_gb: 8,
  labels,
  grader: true,
  languages,
  missing: {},
  version: 'test',
  alive,
  registered_at: '2026-01-01T00:00:00Z',
  last_seen_at: '2026-01-01T00:00:00Z',
});

const registered = [
  runner('here', 'cpu', { site: 'a' }),
  runner('gone', 'cuda', { site: 'a' }, false),
  runner('there', 'cuda', { site: 'b', rack: '1' }, true, ['python']),
];
const client = createClient({
  url: 'http://service.test',
  key: 'key',
  fetch: () =>
    Promise.resolve(Response.json({ data: registered, has_more: false, first_id: null, last_id: null })),
});

interface Case {
  readonly accelerator: 'cpu' | 'cuda' | 'webgpu';
  readonly labels?: Readonly<Record<string, string>>;
  readonly languages?: readonly CodeLanguage[];
  readonly names: readonly string[];
  readonly waits?: string;
}

test.each<Case>([
  { accelerator: 'cpu', names: ['here'] },
  { accelerator: 'cuda', names: ['gone', 'there'] },
  { accelerator: 'cuda', labels: { site: 'b' }, names: ['there'] },
  {
    accelerator: 'cuda',
    labels: { site: 'a' },
    names: ['gone'],
    waits: 'no runner of cuda, site=a is alive',
  },
  { accelerator: 'cuda', languages: ['python'], names: ['there'] },
  {
    accelerator: 'cpu',
    languages: ['python'],
    names: [],
    waits: 'no runner of cpu, a back end for python is alive',
  },
  { accelerator: 'webgpu', names: [], waits: 'no runner of webgpu is alive' },
])('%j', async ({ accelerator, labels = {}, languages = [], names, waits }) => {
  const resources = { accelerator, runner_labels: { ...labels }, min_memory_gb: 0 };
  const runners = await runnersFor(client, { resources, languages });
  expect(runners.map(({ name }) => name)).toEqual(names);
  const said = waitingFor(runners, { resources, languages });
  if (waits === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(waits);
});
