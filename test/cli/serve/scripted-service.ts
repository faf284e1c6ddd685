// A child for the tests of service.ts: `node scripted-service.ts MODE FILE`. It appends its process id to FILE, prints
// its ready line, and then: `stay` ends politely, `stubborn` ignores SIGTERM, `crash` ends at once, `mute` crashes
// before it is ready, `parent` has a stubborn child of its own.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [mode, file] = process.argv.slice(2) as [string, string];
appendFileSync(file, `${process.pid}\n`);

if (mode === 'mute') {
  console.error('the flux is missing');
  process.exit(3);
}
if (mode === 'stubborn') process.on('SIGTERM', () => undefined);
if (mode === 'parent') {
  spawn(process.execPath, [import.meta.filename, 'stubborn', file], { detached: true, stdio: 'ignore' });
}
console.log(`ready at ${process.pid}`);
if (mode === 'crash') setTimeout(() => process.exit(1), 20);
else setInterval(() => undefined, 60_000);
