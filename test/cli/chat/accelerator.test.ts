// `millrace chat` computes where it is told to: the same words on WebGPU as on the cpu, and the exit code of a process that
// leaves with a device in use.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TempDir } from '../../support/temp-dir.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { writeTinyDirectory } from '../../support/tiny-directory.ts';
import { noWebgpu } from '../../support/webgpu.ts';
import { runCli } from '../run-cli.ts';

let dir: TempDir;
let model: string;
beforeAll(async () => {
  dir = await tempDir('chat-accelerator');
  model = join(dir.path, 'model');
  await writeTinyDirectory(model);
});
afterAll(() => dir.remove());

const ask = (env: Record<string, string>, ...flags: string[]) =>
  runCli(['chat', model, '--message', '1+1=', '--max-tokens', '6', '--temperature', '0', ...flags], {
    MILLRACE_DATA: join(dir.path, 'data'),
    ...env,
  });
/** What cleanEnv takes away: the driver's loader is ours to name. */
const loader = { MILLRACE_VULKAN_LOADER: process.env['MILLRACE_VULKAN_LOADER'] ?? '' };

describe('the accelerator of a chat', () => {
  it('must be one that there is', async () => {
    const { code, stderr } = await ask({}, '--accelerator', 'tpu');
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--accelerator: .*cpu/),
    });
  });

  it('that this machine has not is refused with what it needs', async () => {
    const nowhere = { VK_DRIVER_FILES: '/nowhere', VK_ICD_FILENAMES: '/nowhere' };
    const { code, stderr } = await ask({ ...nowhere, MILLRACE_ACCELERATOR: 'webgpu' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^millrace chat: the webgpu provider is not available: .*Vulkan/m);
    expect(stderr).not.toContain('fault of millrace');
  });

  it.skipIf(noWebgpu)(
    `webgpu says what the cpu says${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`,
    async () => {
      const [cpu, webgpu] = [await ask({}), await ask(loader, '--accelerator', 'webgpu')];
      expect(webgpu).toMatchObject({ code: 0, stdout: cpu.stdout });
      expect(cpu.stdout).toMatch(/^[0-9,:+= ]*\n$/);
    },
  );
});
