// A process with a busy sandbox, to be killed by a test.
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';

const sandbox = await openSandbox({ backEnds: ['bubblewrap'], slots: 2 });
void sandbox.run({ language: 'python', main: 'import time\ntime.sleep(60)' });
await sandbox.run({ language: 'python', main: '' });
process.send?.('busy');
