// Datasets, runners, and lists with their pages.
import { describe, expect, test } from 'vitest';
import { findDatasets, getDataset, insertDataset, listDatasets } from '../../db/datasets.ts';
import { newId } from '../../db/ids.ts';
import { getJob, listJobs } from '../../db/jobs/get.ts';
import { ensureProject } from '../../db/projects.ts';
import { listRunners, registerRunner } from '../../db/runners.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, insertReadyDataset, upTo } from './support.ts';

const pg = useDatabase();

test('ids sort by time and fit the contract', () => {
  expect(newId('job')).toMatch(/^job_[0-9a-z]{26}$/);
  const times = [1, 31, 32, 1024, 1_700_000_000_000, 1_700_000_000_001];
  const ids = times.map((time) => newId('job', time));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(upTo(10_000).map(() => newId('job', 0))).size).toBe(10_000);
});

test('a project made by ten callers at once is one project', async () => {
  const ids = await Promise.all(upTo(10).map(() => ensureProject(pg.db, 'shared')));
  expect(new Set(ids).size).toBe(1);
});

describe('datasets', () => {
  test('a name is taken once in a project, and found by name or id', async () => {
    const projectId = await insertProject(pg.db);
    const id = await insertReadyDataset(pg.db, projectId);
    const row = await getDataset(pg.db, projectId, id);
    if (row === undefined) throw new Error('not there');
    const { id: _id, createdAt: _createdAt, ...rest } = row;
    expect(await insertDataset(pg.db, rest)).toBeUndefined();
    const other = await insertReadyDataset(pg.db, projectId);
    const found = await findDatasets(pg.db, projectId, [row.name, other, 'missing']);
    expect(found.map((dataset) => dataset.id).toSorted()).toEqual([id, other].toSorted());
    expect(await findDatasets(pg.db, await insertProject(pg.db), [row.name, other])).toEqual([]);
    expect(await findDatasets(pg.db, projectId, [])).toEqual([]);
    expect((await listDatasets(pg.db, projectId, { limit: 1 })).hasMore).toBe(true);
  });
});

describe('runners', () => {
  test('a name that registers again keeps its id and takes its new properties', async () => {
    const projectId = await insertProject(pg.db);
    const runner = {
      protocol: 1,
      name: 'gpu-1',
      accelerator: 'cpu',
      memory_gb: 8,
      labels: {},
      version: '1',
    } as const;
    const id = await registerRunner(pg.db, { projectId }, runner);
    expect(
      await registerRunner(pg.db, { projectId }, { ...runner, accelerator: 'cuda', memory_gb: 80 }),
    ).toBe(id);
    const { rows } = await listRunners(pg.db, projectId, { limit: 5 });
    expect(rows).toMatchObject([{ id, accelerator: 'cuda', memoryGb: 80 }]);
    expect(await registerRunner(pg.db, { projectId: await insertProject(pg.db) }, runner)).not.toBe(id);
  });
});

describe('jobs', () => {
  test('pages run from the newest to the oldest, both ways', async () => {
    const projectId = await insertProject(pg.db);
    for (let n = 0; n < 7; n++) await insertJob(pg.db, { projectId });
    const { rows: all } = await listJobs(pg.db, projectId, {}, { limit: 100 });
    const ids = all.map((row) => row.id);
    expect(ids).toEqual(ids.toSorted().reverse());
    const forward = await listJobs(pg.db, projectId, {}, { limit: 3, after: ids[2] });
    expect(forward.rows.map((row) => row.id)).toEqual(ids.slice(3, 6));
    expect(forward.hasMore).toBe(true);
    const back = await listJobs(pg.db, projectId, {}, { limit: 3, before: ids[5] });
    expect(back.rows.map((row) => row.id)).toEqual(ids.slice(2, 5));
    expect(back.hasMore).toBe(true);
    expect((await listJobs(pg.db, projectId, {}, { limit: 3, after: ids[6] })).rows).toEqual([]);
  });

  test('filters by state, type and labels, within the project', async () => {
    const projectId = await insertProject(pg.db);
    const a = await insertJob(pg.db, { projectId, spec: { labels: { team: 'a', run: '1' } } });
    const b = await insertJob(pg.db, { projectId, state: 'cancelled', spec: { labels: { team: 'b' } } });
    const idsOf = async (filter: Parameters<typeof listJobs>[2]) =>
      (await listJobs(pg.db, projectId, filter, { limit: 10 })).rows.map((row) => row.id);
    expect(await idsOf({ states: ['queued', 'running'] })).toEqual([a]);
    expect(await idsOf({ labels: { team: 'b' } })).toEqual([b]);
    expect(await idsOf({ labels: { team: 'a', run: '2' } })).toEqual([]);
    expect(await idsOf({ type: 'cascade' })).toEqual([]);
    expect((await idsOf({ type: 'sft' })).toSorted()).toEqual([a, b].toSorted());
    expect(await getJob(pg.db, await insertProject(pg.db), a)).toBeUndefined();
    expect((await getJob(pg.db, projectId, a))?.id).toBe(a);
  });
});
