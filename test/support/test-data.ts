// Where the shared real inputs lie. They are not part of the repository: tests that need them
// skip with a reason when they are absent.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Folder with the shared test data, or undefined when there is none on this machine. */
export const testDataDir: string | undefined = [
  process.env['MILLRACE_TEST_DATA'],
  resolve(root, '../shared/data'),
].find((dir) => dir !== undefined && existsSync(dir));

export const noTestData = 'shared test data is absent: set MILLRACE_TEST_DATA to its folder';

/** Absolute path of a shared input; call it only where `testDataDir` is defined. */
export function testData(path: string): string {
  if (testDataDir === undefined) throw new Error(noTestData);
  return resolve(testDataDir, path);
}
