// The import rule is enforced, not only written. The whole matrix (every part importing every other) is linted in
// a made-up tree, since an import that resolves to nothing keeps the rule silent; two cases then go through the
// repository's own configuration and files. What is allowed is written out here again, from the design.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { ESLint } from 'eslint';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importZones } from '../../infra/import-zones.ts';

const rule = 'import-x/no-restricted-paths';
const root = resolve(import.meta.dirname, '../..');

const client = ['api/client.ts', 'api/client/part.ts'];
const contract = 'api/contract/part.ts';
const scored = [
  'runner/rewards/part.ts',
  'runner/data/part.ts',
  'runner/engine/part.ts',
  'runner/checkpoint/part.ts',
];
const runnerParts = [
  ...scored,
  'runner/cascade/part.ts',
  'runner/grader.ts',
  'runner/grader/part.ts',
  'runner/supervisor/part.ts',
  'runner/uploader.ts',
  'runner/uploader/part.ts',
];

/** Importer to all that it may import. */
const allowed: Record<string, string[]> = {
  [contract]: [],
  'api/routes/part.ts': [contract, ...client, 'db/part.ts', 'store/part.ts'],
  'api/client.ts': ['api/client/part.ts', contract],
  'api/client/part.ts': ['api/client.ts', contract],
  'db/part.ts': [contract],
  'store/part.ts': [],
  'cli/part.ts': [...client, contract],
  'runner/ipc.ts': [...client, contract, 'store/part.ts', 'runner/main.ts', ...runnerParts],
  'runner/main.ts': ['runner/ipc.ts', ...client, contract, 'store/part.ts', ...runnerParts],
  'runner/cascade/part.ts': [contract, ...scored],
  'runner/grader.ts': ['runner/grader/part.ts', 'runner/ipc.ts', contract, ...scored],
  'runner/grader/part.ts': ['runner/grader.ts', 'runner/ipc.ts', contract, ...scored],
  'runner/supervisor/part.ts': ['runner/ipc.ts', ...client, contract],
  'runner/uploader.ts': ['runner/uploader/part.ts', 'runner/ipc.ts', ...client, contract, 'store/part.ts'],
  'runner/uploader/part.ts': ['runner/uploader.ts', 'runner/ipc.ts', ...client, contract, 'store/part.ts'],
  'runner/engine/part.ts': [],
  'runner/rewards/part.ts': [contract],
  'runner/data/part.ts': [contract],
  'runner/checkpoint/part.ts': [contract],
};
const everyFile = Object.keys(allowed);

function importLine(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return `import ${JSON.stringify(path.startsWith('.') ? path : `./${path}`)};`;
}

describe('the zones', () => {
  let tree: string;
  let eslint: ESLint;

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), 'millrace-import-rule-'));
    for (const file of everyFile) {
      mkdirSync(join(tree, dirname(file)), { recursive: true });
      writeFileSync(join(tree, file), '');
    }
    eslint = new ESLint({
      cwd: tree,
      overrideConfigFile: true,
      overrideConfig: {
        files: ['**/*.ts'],
        languageOptions: { parser: tseslint.parser as never },
        plugins: { 'import-x': importX as never },
        settings: { 'import-x/resolver-next': [importX.createNodeResolver()] },
        rules: { [rule]: ['error', { basePath: tree, zones: importZones }] },
      },
    });
  });

  afterAll(() => rmSync(tree, { recursive: true }));

  test.each(Object.keys(allowed))('%s reaches what the design allows and nothing else', async (importer) => {
    const others = everyFile.filter((file) => file !== importer);
    const text = others.map((file) => importLine(importer, file)).join('\n');
    const [result] = await eslint.lintText(text, { filePath: join(tree, importer) });
    const forbidden = new Set(result?.messages.map(({ line }) => others[line - 1]));
    expect(others.filter((file) => !forbidden.has(file)).sort()).toEqual(allowed[importer]?.toSorted());
  });
});

describe("the repository's own configuration", () => {
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: [
      { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: false } } },
      tseslint.configs.disableTypeChecked as never,
    ],
  });

  async function messagesFor(text: string): Promise<string[]> {
    const filePath = join(root, 'runner/engine/not-a-file.ts');
    const [result] = await eslint.lintText(text, { filePath });
    return (result?.messages ?? []).filter(({ ruleId }) => ruleId === rule).map(({ message }) => message);
  }

  test('refuses an import of the store in the engine, and says why', async () => {
    const messages = await messagesFor(
      "import { StoreError } from '../../store/error.ts';\nthrow new StoreError();\n",
    );
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain('the engine knows no job, no reward, no store');
  });

  test('refuses a type import as well', async () => {
    expect(await messagesFor("export type { ObjectStore } from '../../store/store.ts';\n")).toHaveLength(1);
  });

  test("lets packages, Node's modules and the engine's own files through", async () => {
    const text = ["import 'zod';", "import 'node:fs';", "import './ort/runtime.ts';"].join('\n');
    expect(await messagesFor(text)).toEqual([]);
  });
});
