// Attacks on a sandbox with Node.js in it, and on QuickJS.
import type { Attack } from './attacks-python.ts';

export const nodeAttacks: readonly Attack[] = [
  { name: 'endless loop', main: 'for (;;);', ends: ['cpu'] },
  { name: 'sleeping', main: 'setTimeout(() => {}, 1e6)', ends: ['wall'], waits: true },
  {
    name: 'memory bomb on the heap',
    main: 'const kept = []; for (;;) kept.push(new Array(1e5).fill({}))',
    ends: ['memory', 'cpu'],
  },
  {
    name: 'memory bomb outside the heap',
    main: 'const kept = []; for (;;) kept.push(Buffer.alloc(2 ** 24, 1))',
    ends: ['memory'],
  },
  {
    name: 'gigabytes on standard output',
    main: `for (;;) require('fs').writeSync(1, 'x'.repeat(1e6))`,
    ends: ['output'],
  },
  {
    name: 'process bomb',
    main: `const { spawn } = require('child_process');
for (let i = 0; i < 200; i++) spawn('sleep', ['1000']).on('error', () => {});`,
    ends: ['wall', 'exited', 'signal'],
    waits: true,
  },
  {
    name: 'a daemon that outlives it',
    main: `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref();
console.log('left one behind');`,
    ends: ['exited'],
    says: 'left one behind\n',
  },
  {
    name: 'killing everybody',
    main: `for (const pid of [-1, 1, process.ppid]) try { process.kill(pid, 'SIGKILL') } catch {}
console.log('still here')`,
    ends: ['exited'],
    says: 'still here\n',
  },
  {
    name: 'our environment, files and network',
    needs: 'places',
    main: `const fs = require('fs');
const { paths, tcpPort } = JSON.parse(fs.readFileSync(0, 'utf8'));
console.log(Object.keys(process.env).sort().join());
for (const path of paths) if (fs.existsSync(path)) console.log(path);
require('net').connect(tcpPort, '127.0.0.1').on('connect', () => console.log('connected')).on('error', () => {});`,
    ends: ['exited'],
    says: 'HOME,LANG,PATH,PWD,PYTHONHASHSEED\n',
  },
  { name: 'native crash', main: `process.abort()`, ends: ['signal'] },
];

export const quickJsAttacks: readonly Attack[] = [
  { name: 'endless loop', main: 'for (;;);', ends: ['cpu'] },
  {
    name: 'endless loop of jobs',
    main: 'const again = () => Promise.resolve().then(again); again()',
    ends: ['cpu'],
  },
  { name: 'regular expression that explodes', main: '/(a+)+$/.test("a".repeat(40) + "b")', ends: ['cpu'] },
  {
    name: 'memory bomb',
    main: 'const kept = []; for (;;) kept.push("x".repeat(1e6) + kept.length)',
    ends: ['cpu', 'exited'],
  },
  {
    name: 'memory bomb in one piece',
    main: 'try { new Uint8Array(2 ** 30) } catch (error) { host.write(1, String(error)) }',
    ends: ['exited'],
    says: 'InternalError: out of memory',
  },
  { name: 'deep recursion', main: 'const f = () => f() + 1; f()', ends: ['exited'] },
  {
    name: 'deep recursion of data',
    main: 'let x = []; for (let i = 0; i < 1e5; i++) x = [x]; JSON.stringify(x)',
    ends: ['exited', 'cpu'],
  },
  { name: 'gigabytes of output', main: 'for (;;) host.write(1, "x".repeat(1e5))', ends: ['output'] },
  {
    name: 'gigabytes of report',
    main: 'for (;;) try { host.write(3, "x".repeat(1e5)) } catch {}',
    ends: ['output'],
  },
  {
    name: 'gigabytes in small pieces',
    main: 'for (;;) host.write(1, "x")',
    ends: ['output', 'cpu'],
  },
  {
    name: 'a way out',
    main: `const found = [];
for (const name of ['process', 'require', 'fetch', 'WebAssembly', 'Buffer', 'setTimeout', 'os', 'std', 'SharedArrayBuffer'])
  if (host.write.constructor('return typeof ' + name)() !== 'undefined') found.push(name);
try { import('node:fs').then(() => found.push('import')) } catch {}
host.write(1, found.join());`,
    ends: ['exited'],
    says: 'SharedArrayBuffer',
  },
  {
    name: 'waiting for a peer that is not there',
    main: 'host.write(1, String(host.readLine()))',
    ends: ['exited'],
    says: 'undefined',
  },
];
