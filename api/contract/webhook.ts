// Webhooks: what is told, to whom, and what became of it. Signed as Standard Webhooks (https://www.standardwebhooks.com) has it.
import { z } from 'zod';
import { failureReason, jobState } from './job.ts';
import { deliveryId, jobId, labels, timestamp, webhookId } from './names.ts';
import { outgoingUrl } from './outgoing.ts';

/** The database tells them by the same names (db/migrations, webhook_event_type). */
export const webhookEvents = [
  'job.started',
  'job.paused',
  'job.succeeded',
  'job.failed',
  'job.cancelled',
  'job.gate_failed',
  'checkpoint.committed',
  'evaluation',
] as const;
export const webhookEvent = z.enum(webhookEvents);
export type WebhookEvent = z.infer<typeof webhookEvent>;

export const webhookTestEvent = 'webhook.test';
/** Of a delivery: `webhook.test` is sent on demand only. */
export const deliveredEvent = z.enum([...webhookEvents, webhookTestEvent]);
export type DeliveredEvent = z.infer<typeof deliveredEvent>;

const filter = {
  url: outgoingUrl.describe('called with POST; redirects are not followed'),
  events: z
    .array(webhookEvent)
    .min(1)
    .max(webhookEvents.length)
    .refine((given) => new Set(given).size === given.length, 'an event stands twice')
    .describe('what is told'),
  labels: labels.describe('a job is told of where it has all of these'),
};

export const webhookRequest = z
  .strictObject({ ...filter, labels: filter.labels.default({}), active: z.boolean().default(true) })
  .meta({ id: 'WebhookRequest' });
export type WebhookInput = z.input<typeof webhookRequest>;

export const webhookChanges = z
  .strictObject({ ...filter, active: z.boolean() })
  .partial()
  .refine((given) => Object.keys(given).length > 0, 'give what is to change')
  .meta({ id: 'WebhookChanges' });
export type WebhookChanges = z.infer<typeof webhookChanges>;

export const webhook = z
  .object({
    id: webhookId,
    url: z.string(),
    events: z.array(webhookEvent),
    labels,
    active: z.boolean(),
    reason: z.string().nullable().describe('why the service switched it off'),
    failing_since: timestamp.nullable().describe('since when every delivery has failed'),
    created_at: timestamp,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhook>;

export const webhookWithSecret = webhook
  .extend({ secret: z.string().describe('begins with whsec_; shown this once') })
  .meta({ id: 'WebhookWithSecret' });

/** The body of a delivery: enough to know what to ask for. `state` and `reason` are as they were when it happened. */
export const webhookPayload = z
  .object({
    id: deliveryId.describe('also the header webhook-id: the same however often it is sent'),
    type: deliveredEvent,
    created_at: timestamp,
    project: z.string(),
    job: z
      .object({
        id: jobId,
        name: z.string().nullable(),
        state: jobState,
        reason: failureReason.nullable(),
        labels,
      })
      .nullable()
      .describe('null: a test'),
    seq: z
      .number()
      .int()
      .nullable()
      .describe('number of the event in the job’s history: by it receivers order what they get'),
  })
  .meta({ id: 'WebhookPayload' });
export type WebhookPayload = z.infer<typeof webhookPayload>;

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export const deliveryState = z.enum(deliveryStates);
export type DeliveryState = z.infer<typeof deliveryState>;

/** Of an answer, kept to be looked at. */
export const keptResponseBytes = 1024;

export const webhookDelivery = z
  .object({
    id: deliveryId,
    type: deliveredEvent,
    job: jobId.nullable(),
    seq: z.number().int().nullable(),
    state: deliveryState,
    attempts: z.number().int().describe('in all'),
    next_attempt_at: timestamp.nullable(),
    last_attempt_at: timestamp.nullable(),
    last_status: z.number().int().nullable().describe('of HTTP; null where there was no answer'),
    last_error: z.string().nullable(),
    last_response: z.string().nullable().describe(`the first ${keptResponseBytes} bytes`),
    created_at: timestamp,
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof webhookDelivery>;
