// Streams without any hint: polling alone brings every event, and a quiet stream is kept open by comments.
import { beforeAll, expect, test } from 'vitest';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi({ timing: { pollMs: 5, keepAliveMs: 20 } });
beforeAll(() => registerDatasets(api.client()));

test('without hints every event comes, and comments between them', async () => {
  const { id } = await api.client().createJob(spec());
  const response = await api.request('GET', `/v1/jobs/${id}/events`, {
    headers: { accept: 'text/event-stream' },
  });
  const decoder = new TextDecoder();
  let text = '';
  let finished = false;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk);
    if (!finished && text.includes(': still here')) {
      finished = true;
      const { fence } = await claimOne(api.client());
      await api.client().runner.finish({ ...fence, outcome: { type: 'succeeded' } });
    }
  }
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  expect(text).toContain('"to":"succeeded"');
});
