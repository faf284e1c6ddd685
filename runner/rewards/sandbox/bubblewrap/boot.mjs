// What every Node.js sandbox starts with, before its program is known: says that it is there, waits for a program on
// descriptor 3 and becomes it. Nothing here is secret or trusted once the program runs.
import { closeSync, readdirSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import Module, { stripTypeScriptTypes } from 'node:module';

const MAIN = '/tmp/main.js';
const CLOSE_ON_EXEC = 0o2000000;

/** What whoever started the runner had left open to its children (a lock, a pipe) came along. Node's own are closed on exec. */
function closeInherited() {
  for (const descriptor of readdirSync('/proc/self/fd').map(Number)) {
    if (descriptor <= 4) continue;
    try {
      const [, flags] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'));
      if ((Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(descriptor);
    } catch {
      // The listing's own: it is gone.
    }
  }
}

function receive(count) {
  const received = Buffer.alloc(count);
  for (let at = 0; at < count;) {
    const read = readSync(3, received, at, count - at, null);
    if (read === 0) process.exit(0);
    at += read;
  }
  return received;
}

// Else Node.js writes in the background, and a program that prints much and then exits loses the end of it.
for (const stream of [process.stdout, process.stderr]) stream._handle.setBlocking(true);

closeInherited();
writeSync(3, 'R');
const { main, files, typescript } = JSON.parse(receive(receive(4).readUInt32BE()).toString('utf8'));
for (const [name, text] of Object.entries(files)) writeFileSync(`/tmp/${name}`, text);
// `transform`, not `strip`: models write enums and parameter properties too.
writeFileSync(MAIN, typescript ? stripTypeScriptTypes(main, { mode: 'transform' }) : main);
process.argv[1] = MAIN;
Module.runMain(MAIN);
