// When set-up takes node_modules for stale: a package missing or of another version, other platforms' apart.
import { expect, test } from 'vitest';
import { disagreements } from '../../infra/installed.ts';

const locked = {
  '': { version: '0.1.0' },
  'node_modules/zod': { version: '4.6.7' },
  'node_modules/only-mac': { version: '1.0.0', optional: true },
};

test('agrees when all that this platform needs is there', () => {
  expect(disagreements(locked, { 'node_modules/zod': { version: '4.6.7' } })).toEqual([]);
});

test('names a missing package', () => {
  expect(disagreements(locked, {})).toEqual(['node_modules/zod']);
});

test('names another version, also of an optional package', () => {
  const installed = {
    'node_modules/zod': { version: '4.6.6' },
    'node_modules/only-mac': { version: '2.0.0' },
  };
  expect(disagreements(locked, installed)).toEqual(['node_modules/zod', 'node_modules/only-mac']);
});
