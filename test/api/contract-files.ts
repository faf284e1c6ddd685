// The tests that any API of ours must pass, wherever it runs (MILLRACE_API_TARGET, docs/worker.md). What is left out looks into
// one process, or takes its time, and is run in the process of the tests only (fuzz.test.ts, graders-run.test.ts).
export const contractFiles = [
  'bad-input',
  'bad-specs',
  'dataset-states',
  'datasets',
  'details',
  'events',
  'graders',
  'jobs',
  'memory',
  'published-datasets',
  'runner-protocol',
  'service',
  'stage-ends',
  'teachers',
].map((name) => `test/api/${name}.test.ts`);
