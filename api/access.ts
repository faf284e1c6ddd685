// Who may call what, as one table. Each route declares its scopes by `allow` (middleware/auth.ts), the first thing that stands
// before it; the table is read off the app, so that it cannot differ from what is enforced. An app that has a route under
// /v1/ without a rule is not made. The OpenAPI document carries the table as `x-scopes`.
import type { App } from './app.ts';
import type { Scope } from './contract/keys.ts';
import type { Rule } from './middleware/auth.ts';
import { documentedPath } from './openapi.ts';

/** By `METHOD /path`, as the OpenAPI document names paths. */
export type AccessTable = ReadonlyMap<string, readonly Scope[]>;

/** @throws Error naming a route without a rule. */
export function accessTable(app: App): AccessTable {
  const table = new Map<string, readonly Scope[]>();
  for (const { method, path, handler } of app.routes) {
    const route = `${method} ${documentedPath(path)}`;
    if (method === 'ALL' || !path.startsWith('/v1/') || table.has(route)) continue;
    if (!isRule(handler)) throw new Error(`internal: ${route} says not who may call it: begin with allow(…)`);
    table.set(route, handler.admits);
  }
  return table;
}

/** Writes the table into what the OpenAPI document is made of. */
export function documentAccess(app: App): void {
  const table = accessTable(app);
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue;
    const { method, path } = definition.route;
    const admits = table.get(`${method.toUpperCase()} ${path}`);
    if (admits !== undefined) Object.assign(definition.route, { 'x-scopes': admits });
  }
}

const isRule = (handler: object): handler is Rule => 'admits' in handler;
