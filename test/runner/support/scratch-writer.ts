// Writes files into a folder for as long as it lives, as a trainer does that outlives its supervisor.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2]!;
for (let file = 0; ; file += 1) {
  mkdirSync(join(folder, 'work'), { recursive: true });
  try {
    writeFileSync(join(folder, 'work', String(file % 1_000)), 'snapshot');
  } catch {
    // Removed between the two: it is made again.
  }
  if (file === 100) process.send?.('writing');
}
