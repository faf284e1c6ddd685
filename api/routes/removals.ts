// Taking away what is no longer wanted, checkpoints and jobs, and pinning what must stay.
import { createRoute, z } from '@hono/zod-openapi';
import { deleteCheckpoint, pinCheckpoint } from '../../db/checkpoints/remove.ts';
import { deleteJob } from '../../db/jobs/delete.ts';
import type { CheckpointRow } from '../../db/schema.ts';
import type { Services } from '../context.ts';
import { checkpoint } from '../contract/checkpoint.ts';
import { checkpointId, jobId } from '../contract/names.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { notFound, ProblemError } from '../problem.ts';
import { checkpointView } from '../views.ts';

const common = { security, middleware: [allow('submit')] };
const ofCheckpoint = {
  ...common,
  tags: ['checkpoints'],
  request: { params: z.object({ id: checkpointId }) },
};

const pin = createRoute({
  ...ofCheckpoint,
  method: 'post',
  path: '/v1/checkpoints/{id}/pin',
  description: 'A pinned checkpoint stays, whatever retention says, until it is unpinned.',
  responses: { 200: json(checkpoint, 'The checkpoint, pinned'), ...problemAnswers('not_found') },
});

const unpin = createRoute({
  ...ofCheckpoint,
  method: 'delete',
  path: '/v1/checkpoints/{id}/pin',
  responses: { 200: json(checkpoint, 'The checkpoint, no longer pinned'), ...problemAnswers('not_found') },
});

const removeCheckpoint = createRoute({
  ...ofCheckpoint,
  method: 'delete',
  path: '/v1/checkpoints/{id}',
  description:
    'It is gone at once, its files soon after. What a job that has not ended needs, a serving runner serves, or a pin holds stays: 409 names who.',
  responses: { 204: { description: 'It is gone' }, ...problemAnswers('not_found', 'conflict') },
});

const removeJob = createRoute({
  ...common,
  tags: ['jobs'],
  method: 'delete',
  path: '/v1/jobs/{id}',
  description:
    'Takes a job that has ended away with its events, results and checkpoints, for good; files go soon after. 409 where it has not ended, or something that lives needs one of its checkpoints.',
  request: { params: z.object({ id: jobId }) },
  responses: { 204: { description: 'It is gone' }, ...problemAnswers('not_found', 'conflict') },
});

export function removalRoutes({ db }: Services) {
  const pinned = async (projectId: string, id: string, is: boolean): Promise<CheckpointRow> => {
    const row = await pinCheckpoint(db, projectId, id, is);
    if (row === undefined) throw notFound('checkpoint', id);
    return row;
  };
  return newRouter()
    .openapi(pin, async (c) => {
      const row = await pinned(c.get('caller').projectId, c.req.valid('param').id, true);
      return c.json(checkpointView(row), 200);
    })
    .openapi(unpin, async (c) => {
      const row = await pinned(c.get('caller').projectId, c.req.valid('param').id, false);
      return c.json(checkpointView(row), 200);
    })
    .openapi(removeCheckpoint, async (c) => {
      const { id } = c.req.valid('param');
      const found = await deleteCheckpoint(db, c.get('caller').projectId, id);
      if (found === undefined) throw notFound('checkpoint', id);
      if ('keptBy' in found) throw kept(`checkpoint ${id}`, found.keptBy);
      return c.body(null, 204);
    })
    .openapi(removeJob, async (c) => {
      const { id } = c.req.valid('param');
      const found = await deleteJob(db, c.get('caller').projectId, id);
      if (found === undefined) throw notFound('job', id);
      if ('live' in found)
        throw new ProblemError(
          'conflict',
          `job ${id} has not ended: its state is ${found.live}; cancel it first`,
        );
      if ('keptBy' in found) throw kept(`job ${id}`, found.keptBy);
      return c.body(null, 204);
    });
}

const kept = (what: string, by: readonly string[]): ProblemError =>
  new ProblemError('conflict', `${what} is kept by ${by.join('; ')}`);
