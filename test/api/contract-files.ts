// The tests that any API of ours must pass, wherever it runs (MILLRACE_API_TARGET, docs/worker.md). What is left out looks into
// one process, or takes its time: fuzz.test.ts passes everywhere too, in minutes.
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
