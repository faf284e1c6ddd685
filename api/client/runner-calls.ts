// The runner protocol as functions. Reports, commits and finishes may be sent again: the service tells a resend by
// its number. A claim may not: an answer that is lost leaves a lease behind, which runs out by itself.
import type { z } from 'zod';
import type { CheckedCall } from '../client.ts';
import type { errandClaimRequest, errandFinishRequest, errandHeartbeatRequest } from '../contract/errand.ts';
import { errandClaimResponse, errandFinishResponse, errandHeartbeatResponse } from '../contract/errand.ts';
import type {
  RegisterRequest,
  checkpointRequest,
  claimRequest,
  finishRequest,
  heartbeatRequest,
  reportRequest,
  stageEndRequest,
} from '../contract/runner.ts';
import {
  checkpointResponse,
  claimResponse,
  finishResponse,
  heartbeatResponse,
  registerResponse,
  reportResponse,
  stageEndResponse,
} from '../contract/runner.ts';

import type { ServeRequest, servingBeat } from '../contract/serving.ts';
import { serveResponse, servingState } from '../contract/serving.ts';

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export function runnerCalls(call: CheckedCall) {
  const post = <T extends z.ZodType>(
    schema: T,
    path: string,
    json: unknown,
    repeatable: boolean,
    options: CallOptions = {},
  ) => call(schema, { method: 'POST', path: `/v1/runner/${path}`, json, repeatable, ...options });
  return {
    register: (body: RegisterRequest, options?: CallOptions) =>
      post(registerResponse, 'register', body, true, options),
    claim: (body: z.input<typeof claimRequest>, options?: CallOptions) =>
      post(claimResponse, 'claim', body, false, options),
    /** Not repeated: the next heartbeat follows soon enough, and a late one says nothing about now. */
    heartbeat: (body: z.input<typeof heartbeatRequest>, options?: CallOptions) =>
      post(heartbeatResponse, 'heartbeat', body, false, options),
    report: (body: z.input<typeof reportRequest>, options?: CallOptions) =>
      post(reportResponse, 'report', body, true, options),
    checkpoint: (body: z.input<typeof checkpointRequest>, options?: CallOptions) =>
      post(checkpointResponse, 'checkpoints', body, true, options),
    stageEnd: (body: z.input<typeof stageEndRequest>, options?: CallOptions) =>
      post(stageEndResponse, 'stage-ends', body, true, options),
    finish: (body: z.input<typeof finishRequest>, options?: CallOptions) =>
      post(finishResponse, 'finish', body, true, options),
    claimErrand: (body: z.input<typeof errandClaimRequest>, options?: CallOptions) =>
      post(errandClaimResponse, 'errands/claim', body, false, options),
    errandHeartbeat: (body: z.input<typeof errandHeartbeatRequest>, options?: CallOptions) =>
      post(errandHeartbeatResponse, 'errands/heartbeat', body, false, options),
    finishErrand: (body: z.input<typeof errandFinishRequest>, options?: CallOptions) =>
      post(errandFinishResponse, 'errands/finish', body, true, options),
    /** Sent again it would register twice; the one that nobody beats for is soon forgotten. */
    serve: (body: ServeRequest, options?: CallOptions) => post(serveResponse, 'serve', body, true, options),
    servingHeartbeat: (body: z.input<typeof servingBeat>, options?: CallOptions) =>
      post(servingState, 'serve/heartbeat', body, false, options),
    stopServing: (body: z.input<typeof servingBeat>, options?: CallOptions) =>
      post(servingState, 'serve/stop', body, false, options),
  };
}
