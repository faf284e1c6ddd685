// The reader of forms: whatever the pieces that a body comes in, and whatever is wrong with it.
import { describe, expect, test } from 'vitest';
import { boundaryOf, readForm } from '../../../api/files/multipart.ts';

const form = [
  'preamble\r\n--b1\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nfine-tune',
  '\r\n--b1  \r\ncontent-type: text/plain\r\ncontent-disposition: form-data; name="file"; filename="a \\"b\\" %22c%22.jsonl"\r\n\r\n',
  '{"a":1}\r\n--b\r\n--b2 is no end\n\r\n--b1--\r\nepilogue',
].join('');

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number, boundary = 'b1'): Promise<unknown[]> {
  const parts = [];
  for await (const { name, filename, body } of readForm(inPieces(text, size), boundary)) {
    const chunks = [];
    for await (const chunk of body) chunks.push(chunk);
    parts.push([name, filename, Buffer.concat(chunks).toString()]);
  }
  return parts;
}

describe('a form', () => {
  test('is read alike in pieces of any size', async () => {
    const whole = [
      ['purpose', undefined, 'fine-tune'],
      ['file', 'a "b" "c".jsonl', '{"a":1}\r\n--b\r\n--b2 is no end\n'],
    ];
    for (let size = 1; size <= form.length; size++) expect(await read(form, size)).toEqual(whole);
  });

  test('is read to its end by who leaves a part unread', async () => {
    const names = [];
    for await (const { name } of readForm(inPieces(form, 7), 'b1')) names.push(name);
    expect(names).toEqual(['purpose', 'file']);
  });

  test.each([
    ['nothing', ''],
    ['no boundary', 'x'.repeat(1_000)],
    ['no end', form.slice(0, -14)],
    ['no end of the head', `--b1\r\n${'x'.repeat(40_000)}`],
    ['a head without name', '--b1\r\n\r\nx\r\n--b1--'],
    ['no form-data', '--b1\r\ncontent-disposition: attachment; name="file"\r\n\r\nx\r\n--b1--'],
    ['something after a boundary', '--b1x\r\n\r\n'],
    ['a line of a boundary without end', `--b1${' '.repeat(40_000)}`],
    ['too many parts', '--b1\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(200)],
  ])('with %s is refused', async (_what, text) => {
    for (const size of [1_000_000, 13])
      await expect(read(text, size)).rejects.toMatchObject({ code: 'invalid_form' });
  });
});

test('its boundary stands in the media type', () => {
  expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
  expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"')).toBe('a b');
  for (const wrong of [
    undefined,
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=',
  ])
    expect(() => boundaryOf(wrong)).toThrow('multipart/form-data');
});
