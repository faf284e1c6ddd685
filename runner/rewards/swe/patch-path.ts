// Paths as diffs write them: plain, followed by a tab and a time, or in C quotes with octal bytes.

/** `"a/caf\303\251.py"` -> `a/café.py`; `a/x.py<tab>2024-01-01` -> `a/x.py`. */
export function patchPath(written: string): string {
  const path = written.split('\t')[0]!.trimEnd();
  return path.length > 1 && path.startsWith('"') && path.endsWith('"') ? unquoted(path.slice(1, -1)) : path;
}

/** The two paths of a `diff --git` line; with blanks in them only where both halves are the same but for the prefix. */
export function pathsOf(pair: string): { old: string; new: string } | Record<string, never> {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(pair.trimEnd());
  if (quoted !== null) return { old: quoted[1]!, new: quoted[2]! };
  const half = (pair.trimEnd().length - 1) / 2;
  const [old, now] = [pair.slice(0, half), pair.slice(half + 1).trimEnd()];
  return old.slice(2) === now.slice(2) ? { old, new: now } : {};
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '"': '"', '\\': '\\' };

function unquoted(text: string): string {
  const bytes = [...text.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gu)].map(([, octal, escape, plain]) =>
    octal === undefined
      ? Buffer.from(escape === undefined ? plain! : (ESCAPES[escape] ?? escape))
      : Buffer.of(Number.parseInt(octal, 8) & 0xff),
  );
  return Buffer.concat(bytes).toString('utf8');
}
