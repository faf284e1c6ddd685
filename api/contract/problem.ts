// Errors on the wire: application/problem+json (RFC 9457) with a stable `code` that programs may switch on.
import { z } from 'zod';

/** Every code with its status and title. A 5xx is only ever about our own state, and documented. */
export const problems = {
  invalid_json: { status: 400, title: 'The body is not JSON' },
  invalid_form: { status: 400, title: 'The form cannot be read' },
  invalid_query: { status: 400, title: 'A query parameter is not valid' },
  invalid_header: { status: 400, title: 'A header is not valid' },
  context_length_exceeded: { status: 400, title: 'The messages and the answer do not fit the context' },
  incomplete_body: { status: 400, title: 'The body ended before its time' },
  unauthorized: { status: 401, title: 'No valid key was given' },
  forbidden: { status: 403, title: 'The key lacks the scope for this' },
  not_found: { status: 404, title: 'There is no such thing' },
  model_not_found: { status: 404, title: 'There is no such model' },
  method_not_allowed: { status: 405, title: 'The route has no such method' },
  lease_lost: { status: 409, title: 'The attempt no longer holds its job' },
  idempotency_conflict: { status: 409, title: 'The Idempotency-Key was used with another body' },
  errand_failed: { status: 409, title: 'The errand ended without results' },
  still_pausing: { status: 409, title: 'The job has not paused yet' },
  conflict: { status: 409, title: 'The state of the thing does not allow this' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body has a media type that this route does not take' },
  range_not_satisfiable: { status: 416, title: 'The range begins beyond the end of the file' },
  invalid_spec: { status: 422, title: 'The body does not have the required form' },
  insufficient_memory: { status: 422, title: 'No registered runner has the memory that the job needs' },
  invalid_dataset: { status: 422, title: 'The dataset cannot be read' },
  invalid_model: { status: 422, title: 'The model cannot be used' },
  protocol_mismatch: { status: 426, title: 'Runner and service speak different protocol versions' },
  rate_limited: { status: 429, title: 'Too many requests' },
  serving_runner_busy: { status: 429, title: 'The runners that serve the model have no room now' },
  internal: { status: 500, title: 'A fault of the service' },
  database_unavailable: { status: 503, title: 'The database cannot be reached' },
  misconfigured: { status: 503, title: 'The service is not set up' },
  no_capable_runner: { status: 503, title: 'No runner that is alive can do this' },
  no_serving_runner: { status: 503, title: 'No runner serves the model now' },
  serving_runner_lost: { status: 503, title: 'The runner went away in the middle of the answer' },
  store_unavailable: { status: 503, title: 'The object store cannot be reached' },
} as const;
export type ProblemCode = keyof typeof problems;

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.enum(Object.keys(problems) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string().describe('what is wrong, where, and what to do'),
    issues: z.array(z.object({ pointer: z.string().describe('RFC 6901'), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;
