// What every Node.js sandbox starts with, before its program is known: says that it is there, waits for a program on
// descriptor 3 and becomes it. Nothing here is secret or trusted once the program runs.
import { readSync, writeFileSync, writeSync } from 'node:fs';
import Module, { stripTypeScriptTypes } from 'node:module';

const MAIN = '/tmp/main.js';

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

writeSync(3, 'R');
const { main, files, typescript } = JSON.parse(receive(receive(4).readUInt32BE()).toString('utf8'));
for (const [name, text] of Object.entries(files)) writeFileSync(`/tmp/${name}`, text);
// `transform`, not `strip`: models write enums and parameter properties too.
writeFileSync(MAIN, typescript ? stripTypeScriptTypes(main, { mode: 'transform' }) : main);
process.argv[1] = MAIN;
Module.runMain(MAIN);
