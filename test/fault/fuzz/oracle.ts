// What every answer must be, whatever was asked: no fault of ours, declared by its route in status, media type and form, and
// without a trace of another project.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenApi } from '../../api/openapi/document.ts';
import { strictly } from '../../api/openapi/document.ts';
import type { FuzzRequest } from './request.ts';
import type { FuzzAnswer } from './send.ts';

export interface Secrets {
  /** Stands in every text of the other project, and in no request. */
  readonly canary: string;
  /** Ids of the other project; an answer may repeat what was asked for. */
  readonly ids: readonly string[];
}

export type Oracle = (request: FuzzRequest, answer: FuzzAnswer) => string | undefined;

/** About runners that serve models: what they answer is not the service's. */
const documented503 = /"code":"(no_serving_runner|serving_runner_lost)"/;

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** What is wrong with an answer; undefined where nothing is. */
export function oracleOf(document: OpenApi, { canary, ids }: Secrets): Oracle {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(strictly(document), 'api');
  const formFault = (place: readonly string[], text: string): string | undefined => {
    const check = ajv.getSchema(`api#/${place.map(escaped).join('/')}`)!;
    try {
      return check(JSON.parse(text)) === true
        ? undefined
        : `not as declared: ${JSON.stringify(check.errors?.slice(0, 3))}`;
    } catch {
      return 'not JSON';
    }
  };
  const leak = (request: FuzzRequest, { text, headers }: FuzzAnswer): string | undefined => {
    const all = text + headers;
    if (all.includes(canary)) return 'the canary of another project';
    // The audit trail tells a key which ids it has asked for, whosever they are.
    if (request.placed.path === '/v1/audit') return undefined;
    const asked = decodeURIComponentSafely(request.path) + Buffer.from(request.body ?? []).toString('latin1');
    const found = ids.find((id) => all.includes(id) && !asked.includes(id));
    return found === undefined ? undefined : `an id of another project: ${found}`;
  };
  const undeclared = (
    { placed: { method, path, operation } }: FuzzRequest,
    { status, media, text }: FuzzAnswer,
  ) => {
    const declared = operation.responses[String(status)];
    if (declared === undefined) return `status ${status} is not declared`;
    if (declared.content === undefined) return undefined;
    if (!(media in declared.content)) return `media type ${media} is not declared`;
    if (!media.endsWith('json')) return undefined;
    return formFault(['paths', path, method, 'responses', String(status), 'content', media, 'schema'], text);
  };
  return (request, answer) => {
    const { status, text } = answer;
    if (status >= 500 && !(status === 503 && documented503.test(text))) return `status ${status}`;
    const leaked = leak(request, answer);
    if (leaked !== undefined) return leaked;
    // The server itself, before any route.
    if (request.giant && (status === 431 || status === 400)) return undefined;
    const known = request.method === request.placed.method.toUpperCase() && status !== 405;
    if (known && !isElsewhere(request)) return undeclared(request, answer);
    if (status < 400) return undefined;
    // Which route it came to, if any, only the service knows.
    const faults = ['ChatError', 'Problem'].map((form) => formFault(['components', 'schemas', form], text));
    return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
  };
}

/** A path of which a part was replaced may be that of another route, or of none. */
const isElsewhere = ({ path, placed }: FuzzRequest): boolean =>
  !new RegExp(`^${placed.path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`).test(path) ||
  /\/(\.\.|%2e%2e)(\/|\?|$)/.test(path);

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
