// What a fine-tuning job in OpenAI's form may not ask for: refused with status, code and the field's name in that API's form,
// never ignored, and nothing is left behind.
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { useApi } from '../support.ts';
import { chatRow, openAi, sums, tinyModel, upload } from './support.ts';

const api = useApi();
const grader = {
  type: 'string_check',
  name: 'same',
  operation: 'eq',
  input: '{{sample.output_text}}',
  reference: '{{item.answer}}',
};

let chats: string;
let tasks: string;
beforeAll(async () => {
  chats = await upload(openAi(api), [chatRow('1+1=', '2')]);
  tasks = await upload(openAi(api), sums(4));
});

/** Tables of tests are written before there are files: those that name none get one that fits. */
const withFile = (body: object): object => ({
  training_file: JSON.stringify(body).includes('"reinforcement"') ? tasks : chats,
  ...body,
});

async function post(body: object): Promise<{ status: number; error: Record<string, unknown> }> {
  const app = createApp({ db: api.database.db, store: api.store, models: { tiny: tinyModel } });
  const response = await app.request('/v1/fine_tuning/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${api.keys.submit}`, 'content-type': 'application/json' },
    body: JSON.stringify(withFile(body)),
  });
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  return { status: response.status, error };
}

const supervised = (changes: object) => ({ model: 'tiny', ...changes });
const reinforced = (by: object, hyperparameters: object = {}) => ({
  model: 'tiny',
  method: { type: 'reinforcement', reinforcement: { grader: by, hyperparameters } },
});
const method = 'method.reinforcement';

describe('a field', () => {
  test.each([
    [
      'a method that is not here',
      supervised({ method: { type: 'dpo', dpo: {} } }),
      'method.type',
      /reward_model/,
    ],
    ['an integration', supervised({ integrations: [{ type: 'wandb' }] }), 'integrations', /not supported/],
    ['an unknown field', supervised({ epochs: 3 }), 'epochs', /no such field/],
    [
      'hyperparameters twice',
      supervised({
        hyperparameters: {},
        method: { type: 'supervised', supervised: { hyperparameters: {} } },
      }),
      'hyperparameters',
      /already/,
    ],
    [
      'hyperparameters of the wrong method',
      { ...reinforced(grader), hyperparameters: { n_epochs: 1 } },
      'hyperparameters',
      /already/,
    ],
    [
      'an epoch that is none',
      supervised({ hyperparameters: { n_epochs: 0 } }),
      'hyperparameters.n_epochs',
      /./,
    ],
    ['a suffix that is no name', supervised({ suffix: 'a b' }), 'suffix', /letters/],
    ['a seed that is none', supervised({ seed: -1 }), 'seed', /./],
    [
      'too much metadata',
      supervised({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])) }),
      'metadata',
      /16/,
    ],
    [
      'structured answers',
      {
        ...reinforced(grader),
        method: { type: 'reinforcement', reinforcement: { grader, response_format: {} } },
      },
      `${method}.response_format`,
      /not supported/,
    ],
    [
      'reasoning effort',
      reinforced(grader, { reasoning_effort: 'high' }),
      `${method}.hyperparameters.reasoning_effort`,
      /not supported/,
    ],
    [
      'evaluations of nothing',
      reinforced(grader, { eval_samples: 2 }),
      `${method}.hyperparameters.eval_samples`,
      /validation_file/,
    ],
    [
      'answers longer than the context',
      reinforced(grader, { max_response: 1_000 }),
      'hyperparameters.max_response',
      /positions/,
    ],
  ])('%s', async (_what, body, param, message) => {
    expect(await post(body)).toEqual({
      status: 400,
      error: {
        param,
        message: expect.stringMatching(message) as string,
        type: 'invalid_request_error',
        code: 'invalid_spec',
      },
    });
  });
});

describe('a grader', () => {
  test.each([
    [
      'text_similarity',
      { type: 'text_similarity' },
      'grader.type',
      /there are string_check, exact, .*for exact answers/,
    ],
    ['score_model', { type: 'score_model' }, 'grader.type', /judge/],
    ['python', { type: 'python', source: '' }, 'grader.type', /remote/],
    ['multi', { type: 'multi' }, 'grader.type', /remote/],
    ['one that nobody knows', { type: 'x' }, 'grader.type', /"x" are not supported: there are/],
    ['without a type', {}, 'grader.type', /./],
    ['another operation', { ...grader, operation: 'ilike' }, 'grader.operation', /only the operation "eq"/],
    ['another input', { ...grader, input: '{{sample.output_json.a}}' }, 'grader.input', /output_text/],
    [
      'a reference to the answer',
      { ...grader, reference: '{{sample.output_text}}' },
      'grader.reference',
      /sample/,
    ],
    [
      'a reference to no column',
      { ...grader, reference: '{{item.gold}}' },
      'grader.reference',
      /item\.gold.*answer/,
    ],
    ['an address of ours', { type: 'remote', url: 'http://127.0.0.1/' }, 'grader.url', /loopback/],
    ['a field that it has not', { type: 'exact', name: 'x' }, 'grader.name', /no such field/],
  ])('%s', async (_what, by, param, message) => {
    const { status, error } = await post(reinforced(by));
    expect({ status, param: error['param'] }).toEqual({ status: 400, param: `${method}.${param}` });
    expect(error['message']).toMatch(message);
  });
});

describe('a file', () => {
  const user = { role: 'user', content: 'x' };
  test.each([
    ['of tools', [{ messages: [user, { role: 'assistant', tool_calls: [] }] }], /row 1, \/messages\/1/],
    [
      'of a role that is not here',
      [{ messages: [{ role: 'tool', content: 'x' }, user] }],
      /row 1, \/messages\/0\/role: roles are/,
    ],
    ['that teaches nothing', [chatRow('a', 'b'), { messages: [user, user] }], /row 2, \/messages: no turn/],
    [
      'with a weight of the user',
      [
        {
          messages: [
            { ...user, weight: 1 },
            { role: 'assistant', content: 'y' },
          ],
        },
      ],
      /weight/,
    ],
    [
      'of pictures',
      [
        {
          messages: [
            { role: 'user', content: [{ type: 'image_url' }] },
            { role: 'assistant', content: '' },
          ],
        },
      ],
      /row 1/,
    ],
    ['of another form', [{ prompt: 'a', completion: 'b' }], /row 1, \/messages: must be given/],
    ['with many faults', Array.from({ length: 50 }, () => ({})), /and 19 more/],
    ['with what cannot be kept', [chatRow('a', '\0')], /NUL/],
    [
      'nested too deep',
      [{ messages: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown }],
      /nested/,
    ],
  ])('%s', async (_what, rows, message) => {
    const training_file = await upload(openAi(api), rows);
    const { status, error } = await post(supervised({ training_file }));
    expect({ status, param: error['param'] }).toEqual({ status: 400, param: 'training_file' });
    expect(error['message']).toMatch(message);
  });

  test.each([
    ['without what the grader needs', { type: 'math' }, [{ messages: [user] }], /columns answer/],
    ['that ends with the answer', grader, [{ ...chatRow('a', 'b'), answer: '1' }], /last turn/],
    ['whose later row has no gold', { type: 'exact' }, [...sums(1), { messages: [user] }], /answer/],
  ])('for reinforcement %s', async (_what, by, rows, message) => {
    const training_file = await upload(openAi(api), rows);
    const { status, error } = await post({ ...reinforced(by), training_file });
    expect({ status, param: error['param'] }).toEqual({ status: 400, param: 'training_file' });
    expect(error['message']).toMatch(message);
  });

  test('that there is not, or that is another project’s', async () => {
    const foreign = await upload(openAi(api, api.strangerKey), [chatRow('a', 'b')]);
    for (const id of ['file-abc', foreign]) {
      expect(await post(supervised({ training_file: id }))).toMatchObject({
        status: 400,
        error: { param: 'training_file' },
      });
      expect(await post(supervised({ validation_file: id }))).toMatchObject({
        status: 400,
        error: { param: 'validation_file' },
      });
    }
  });
});

test('a model that there is not', async () => {
  for (const model of ['gpt-4o-mini', `ckpt_${'0'.repeat(26)}`, '__proto__']) {
    const { status, error } = await post(supervised({ model }));
    expect({ status, ...error }).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(error['message']).toContain('tiny');
  }
});

test('nothing of all that has made a job', async () => {
  expect((await api.client().jobs()).data).toEqual([]);
});

test('routes of theirs that are not here say so in their form', async () => {
  for (const path of ['/v1/fine_tuning/alpha/graders/run', '/v1/fine_tuning/checkpoints/x/permissions']) {
    const response = await api.request('POST', path, { json: {} });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  }
});
