// A thread that compares one pair after another with the compute engine. It keeps no state between pairs and sets itself
// no limit: who waits for it ends it.
import { parentPort } from 'node:worker_threads';
import { sameAnswer } from './compare.ts';
import type { Pair } from './pair.ts';
import { readPair } from './pair.ts';
import { symbolicAlgebra } from './symbolic.ts';

/** `ready` once, when the engine is loaded and warm, then a boolean for each pair. */
export type FromWorker = 'ready' | boolean;

const port = parentPort;
if (port === null) throw new Error('this file is a thread of MathWorkers; it cannot be run by itself');

const algebra = symbolicAlgebra();

function same(pair: Pair): boolean {
  const read = readPair(pair);
  return read !== undefined && sameAnswer(read[0], read[1], algebra);
}

port.on('message', (pair: Pair) => port.postMessage(same(pair) satisfies FromWorker));
// The first formula costs ten times the next: it is not on the first pair's clock.
same({ gold: '\\frac{x+\\sqrt{2}}{7}', given: '\\frac{x}{7}+\\frac{\\sqrt{2}}{7}' });
port.postMessage('ready' satisfies FromWorker);
