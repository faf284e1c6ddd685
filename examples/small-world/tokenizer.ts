// The world's one tokenizer: a token for every word (with the blank before it), digit, mark and marker line that occurs in
// the world. Written in Hugging Face layout, so that a checkpoint holds it and any tool loads it.

const startOfTurn = '<|im_start|>';
const endOfTurn = '<|im_end|>';
const unknown = '<|unk|>';

/** Split off before words are looked for. The marks of thinking are ordinary text to a decoder. */
const added = [
  { content: startOfTurn, special: true },
  { content: endOfTurn, special: true },
  { content: unknown, special: true },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
];

/** Lines and openings that are one token each, before what words and marks are. */
const pieces = [
  String.raw`<<<<<<< SEARCH\n`,
  String.raw`\n=======\n`,
  String.raw`\n>>>>>>> REPLACE`,
  String.raw`### calc\.js\n`,
  String.raw`\\boxed\{`,
  String.raw`function f\(x\) \{ return`,
  String.raw` /(?:no_)?think`,
  // A name with what defines it, an operator with its number: quoting a line is then following one token to the next.
  String.raw`[a-z]+ =`,
  String.raw` [-+*>] [0-9]`,
  String.raw` ?[A-Za-z]+`,
  String.raw` ?[0-9]`,
  String.raw` ?[^\sA-Za-z0-9]`,
  String.raw`\s`,
];
const pattern = pieces.join('|');

/** ChatML; a mode is asked for by " /think" and " /no_think", which `thinking_control: "flags"` appends. */
const chatTemplate =
  "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}" +
  '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

/** Contents of `tokenizer.json` and `tokenizer_config.json` for a world of these texts. */
export function tokenizerFiles(texts: Iterable<string>): Record<string, string> {
  const model = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added.map(({ content, special }, id) => ({
      ...{ id, content, special },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
    normalizer: null,
    pre_tokenizer: { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'WordLevel', vocab: vocabularyOf(texts), unk_token: unknown },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: endOfTurn,
    pad_token: unknown,
    unk_token: unknown,
    bos_token: null,
    clean_up_tokenization_spaces: false,
    chat_template: chatTemplate,
  };
  return {
    'tokenizer.json': `${JSON.stringify(model, null, 1)}\n`,
    'tokenizer_config.json': `${JSON.stringify(config, null, 1)}\n`,
  };
}

function vocabularyOf(texts: Iterable<string>): Record<string, number> {
  const words = new Set<string>(['user', 'assistant', '\n', ' /think', ' /no_think']);
  for (const text of texts)
    for (const part of text.split(/<\/?think>/))
      for (const [word] of part.matchAll(new RegExp(pattern, 'g'))) words.add(word);
  const known = added.map(({ content }) => content);
  return Object.fromEntries([...known, ...[...words].sort()].map((word, id) => [word, id]));
}
