// A path that exists under another method is 405 and says which methods it has; any other is 404.
import type { App } from '../app.ts';
import { ProblemError } from '../problem.ts';

export function methodNotAllowed(
  app: App,
  request: { method: string; path: string },
): ProblemError | undefined {
  const methods = new Set<string>();
  for (const route of app.routes)
    if (route.method !== 'ALL' && matches(route.path, request.path)) methods.add(route.method);
  if (methods.size === 0) return undefined;
  if (methods.has('GET')) methods.add('HEAD');
  const allow = [...methods].sort().join(', ');
  return new ProblemError('method_not_allowed', `${request.path} takes ${allow}, not ${request.method}`, {
    headers: { allow },
  });
}

/** Route paths are segments, of which `:name` stands for one and `:name{.+}` for the rest. */
function matches(route: string, path: string): boolean {
  const segments = route.split('/').map((segment) => {
    if (segment.endsWith('{.+}')) return '.+';
    return segment.startsWith(':') ? '[^/]+' : segment.replaceAll('.', '\\.');
  });
  return new RegExp(`^${segments.join('/')}$`).test(path);
}
