import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { tableOffset } from '../../../runner/engine/ort/api-table.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';

describe('createRuntime', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('takes the C API by itself', () => {
    const runtime = createRuntime({ threads: 1 });
    expect(runtime.name).toBe('c-api');
    runtime[Symbol.dispose]();
  });

  it('takes the way that the environment forces', () => {
    vi.stubEnv('MILLRACE_ORT_BINDING', 'onnxruntime-node');
    const runtime = createRuntime({ threads: 1 });
    expect(runtime.name).toBe('onnxruntime-node');
    runtime[Symbol.dispose]();
    vi.stubEnv('MILLRACE_ORT_BINDING', 'cuda');
    expect(() => createRuntime()).toThrow('MILLRACE_ORT_BINDING is cuda, it must be');
  });

  it('warns and takes the slow way where koffi cannot load, unless the C API is forced', () => {
    const script = join(import.meta.dirname, 'without-koffi.ts');
    const said = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
    expect(said.name).toBe('onnxruntime-node');
    expect(said.warnings).toEqual([expect.stringMatching(/^koffi cannot load on .* serves instead/)]);
    expect(said.forced).toMatch(/KoffiUnavailable: koffi cannot load/);
  });

  it('refuses a number of threads that is none', () => {
    for (const threads of [0, -1, 1.5, Number.NaN]) {
      expect(() => createRuntime({ threads })).toThrow('threads must be an integer of at least 1');
    }
  });

  it('shares one pool in a process, and pools of different size follow one another', () => {
    const first = createRuntime({ threads: 1, binding: 'c-api' });
    const second = createRuntime({ threads: 1, binding: 'c-api' });
    expect(() => createRuntime({ threads: 2, binding: 'c-api' })).toThrow(
      'a runtime with 1 threads lives in this process, so one with 2 cannot be made',
    );
    first[Symbol.dispose]();
    expect(() => createRuntime({ threads: 2, binding: 'c-api' })).toThrow('a runtime with 1 threads');
    second[Symbol.dispose]();
    createRuntime({ threads: 2, binding: 'c-api' })[Symbol.dispose]();
  });
});

describe('tableOffset', () => {
  it('knows the places that the C header documents by its order', () => {
    expect(tableOffset('CreateStatus')).toBe(0);
    expect(tableOffset('CreateSessionFromArray')).toBe(8 * 8);
    expect(() => tableOffset('RunBackwards')).toThrow('RunBackwards is not in the table');
  });
});
