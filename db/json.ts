// Columns for text and JSON that came from outside. Postgres keeps neither NUL nor a lone surrogate
// in text or jsonb, and model-written text has both: they are replaced by U+FFFD, never refused here,
// because a report that cannot be stored would stop a job.
import { customType } from 'drizzle-orm/pg-core';

/** Text as Postgres can keep it. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** JSON as Postgres can keep it. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : cleanKeys(inner),
  );
}

function cleanKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key) => storableText(key) === key)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), inner as unknown]),
  );
}

/** A jsonb column whose content has the type T; what is read back was written by us. */
export const json = <T>(name: string) =>
  customType<{ data: T; driverData: unknown }>({
    dataType: () => 'jsonb',
    toDriver: storableJson,
    fromDriver: (value) => (typeof value === 'string' ? (JSON.parse(value) as T) : (value as T)),
  })(name);

/** A text column for text that we did not write. */
export const foreignText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: storableText,
});
