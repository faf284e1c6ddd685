// Many requests on one sampler: who joins a batch at work gets what it would get alone, who draws otherwise waits its turn,
// and who is gone costs nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';
import type { Completion } from '../../runner/engine/sampler/completion.ts';
import { Batch } from '../../runner/serve/batch.ts';
import type { Drawing } from '../../runner/serve/batch.ts';
import type { ChatModel } from '../../runner/serve/model.ts';
import { openChatModel } from '../../runner/serve/model.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tinyEnd, writeTinyDirectory } from '../support/tiny-directory.ts';

const room = { rows: 4, contextTokens: 128 };
const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, logitBias: new Map([[tinyEnd, -100]]) };

let dir: TempDir;
let runtime: Runtime;
let model: ChatModel;
beforeAll(async () => {
  dir = await tempDir('batch');
  await writeTinyDirectory(dir.path);
  runtime = createRuntime();
  model = await openChatModel(runtime, dir.path, room);
});
afterAll(async () => {
  model[Symbol.dispose]();
  runtime[Symbol.dispose]();
  await dir.remove();
});

const newBatch = (): Batch => new Batch(model.sampler, model.endIds, room);

/** A drawing of its own seed, and what becomes of it. */
function drawing(seed: number, changes: Partial<Drawing> = {}) {
  const ended = Promise.withResolvers<Completion>();
  const tokens: number[] = [];
  const asked: Drawing = {
    prompt: Int32Array.from([4 + seed, 5, 6]),
    maxTokens: 20 + 3 * seed,
    sampling,
    draw: drawStream(drawKey(seed, 'test', 0), 0, 0),
    cancelled: () => false,
    onToken: (token) => tokens.push(token) > 0,
    onEnd: ended.resolve,
    onError: ended.reject,
    ...changes,
  };
  return { asked, tokens, ended: ended.promise };
}

async function alone(seed: number): Promise<number[]> {
  const { asked, ended } = drawing(seed);
  newBatch().add([asked]);
  return [...(await ended).tokens];
}

describe('a batch', () => {
  it('gives those that join while it works what they would get alone', async () => {
    const batch = newBatch();
    const late = [1, 2, 3, 4, 5].map((seed) => drawing(seed));
    const waiting = [...late];
    const first = drawing(0, {
      onToken: () => {
        const next = waiting.pop();
        if (next !== undefined) batch.add([next.asked]);
        return true;
      },
    });
    batch.add([first.asked]);
    const completions = await Promise.all(late.map(({ ended }) => ended));
    for (const [i, completion] of completions.entries()) {
      expect([...completion.tokens]).toEqual(await alone(i + 1));
      expect(late[i]!.tokens).toEqual([...completion.tokens]);
    }
  });

  it('joins them before those that are at work have ended', async () => {
    const batch = newBatch();
    const second = drawing(1);
    const order: string[] = [];
    const first = drawing(0, {
      maxTokens: 100,
      onToken: () => {
        if (order.length === 0) batch.add([second.asked]);
        order.push('first');
        return true;
      },
    });
    batch.add([first.asked]);
    await second.ended;
    expect(order.length).toBeLessThan(40);
    await first.ended;
  });

  it('lets nobody pass one that draws otherwise', async () => {
    const batch = newBatch();
    const ends: string[] = [];
    const all = [
      ['a', sampling],
      ['b', { ...sampling, temperature: 0 }],
      ['c', sampling],
    ] as const;
    const given = all.map(([name, how]) => {
      const one = drawing(1, { sampling: how });
      void one.ended.then(() => ends.push(name));
      return one;
    });
    batch.add(given.map(({ asked }) => asked));
    await Promise.all(given.map(({ ended }) => ended));
    await batch.idle();
    expect(ends).toEqual(['a', 'b', 'c']);
  });

  it('does not begin what nobody waits for, and ends it at its next token', async () => {
    const batch = newBatch();
    let heard = 0;
    let gone = false;
    const leaving = drawing(0, {
      maxTokens: 100,
      cancelled: () => gone,
      onToken: () => {
        heard += 1;
        gone = heard === 5;
        return true;
      },
    });
    const never = drawing(1, { cancelled: () => true });
    batch.add([leaving.asked, never.asked]);
    await batch.idle();
    expect(heard).toBe(5);
    expect(never.tokens).toEqual([]);
  });

  it('counts nobody as waiting who is gone', async () => {
    const batch = newBatch();
    let gone = false;
    const other = { ...sampling, temperature: 0.5 };
    const leaving = [1, 2, 3].map((seed) => drawing(seed, { sampling: other, cancelled: () => gone }));
    const waiting: number[] = [];
    const first = drawing(0, {
      maxTokens: 3,
      onToken: () => {
        waiting.push(batch.waiting);
        gone = true;
        return true;
      },
    });
    const staying = drawing(4, { sampling: other });
    batch.add([first.asked, ...leaving.map(({ asked }) => asked), staying.asked]);
    await staying.ended;
    expect(waiting).toEqual([4, 1, 1]);
  });

  it('tells those at work when the engine fails, and goes on with the next', async () => {
    const batch = newBatch();
    const bad = drawing(0, { maxTokens: 1_000 });
    const good = drawing(1, { sampling: { ...sampling, temperature: 0.5 } });
    batch.add([bad.asked, good.asked]);
    await expect(bad.ended).rejects.toThrow('exceed');
    expect((await good.ended).tokens).toHaveLength(23);
  });

  it('tells one that could not even begin, and goes on with the next', async () => {
    const batch = newBatch();
    const bad = drawing(0, { sampling: { ...sampling, temperature: -1 } });
    const good = drawing(1);
    batch.add([bad.asked, good.asked]);
    await expect(bad.ended).rejects.toThrow('temperature');
    expect((await good.ended).tokens).toHaveLength(23);
  });

  it('begins with what comes at the very moment it has run empty', async () => {
    for (let hops = 0; hops < 12; hops += 1) {
      const batch = newBatch();
      const first = drawing(0, { maxTokens: 1 });
      const second = drawing(1, { maxTokens: 1 });
      batch.add([first.asked]);
      await first.ended;
      for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
      batch.add([second.asked]);
      await second.ended;
    }
  });
});
