// Addresses of webhooks that this service must not call. Names are looked up when it calls.
import { addressFault, hostKind } from '../contract/outgoing.ts';
import { ProblemError } from '../problem.ts';

/** @throws ProblemError invalid_spec. */
export function checkAddress(text: string, allowPrivate: boolean): void {
  const url = new URL(text);
  const fault = addressFault(hostKind(url), allowPrivate);
  if (fault === undefined) return;
  const message = `${url.hostname} ${fault}`;
  throw new ProblemError('invalid_spec', `/url: ${message}`, { issues: [{ pointer: '/url', message }] });
}
