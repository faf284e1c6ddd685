// The linter holds what a reader should not have to check: the import rule, the size budgets, promises that
// nobody awaits. Layout is prettier's; types are the compiler's (`npm run typecheck`).
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { importZones } from './infra/import-zones.ts';

const root = import.meta.dirname;

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      '.node/',
      '.millrace/',
      '.test/',
      '.wrangler/',
      '.bundle/',
      'dist/',
      'db/migrations/',
    ],
  },
  ...tseslint.configs.recommended,
  {
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [importX.createNodeResolver()] },
    rules: {
      'import-x/no-restricted-paths': ['error', { basePath: root, zones: importZones }],
      'import-x/no-default-export': 'error',
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'no-param-reassign': 'error',
      'no-var': 'error',
      eqeqeq: 'error',
      'prefer-const': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  // The two borders to untyped libraries: koffi's pointers, protobufjs's reflection.
  {
    files: ['runner/engine/ort/**', 'runner/engine/onnx/**'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  // Hosts that demand a default export.
  { files: ['*.config.{js,ts}', 'api/worker.ts'], rules: { 'import-x/no-default-export': 'off' } },
  // Programs that run in sandboxes: two texts joined, the second calling what the first defines; CommonJS, for its synchronous reads.
  {
    files: ['runner/rewards/code/javascript/*.cjs'],
    rules: { '@typescript-eslint/no-require-imports': 'off', '@typescript-eslint/no-unused-vars': 'off' },
  },
  // A describe callback is a list, not a function; `npm run sizes` still measures the functions inside it.
  { files: ['test/**/*.test.ts', 'test/**/*cases*.ts'], rules: { 'max-lines-per-function': 'off' } },
);
