// millrace chat MODEL
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { chosenDataDir } from '../data-dir.ts';
import { exitCodes } from '../exit-code.ts';
import { runOnTerminal } from '../foreground.ts';
import { localModel } from '../chat/local-model.ts';

const text = (value: string, help: string) => ({ type: 'string', value, help }) as const;

const passed = {
  message: text('TEXT', 'ask this and end; text on standard input does the same'),
  system: text('TEXT', 'system message'),
  'max-tokens': text('N', 'tokens of an answer at most (default: what the context has room for)'),
  temperature: text('T', '0: always the likeliest word (default: what the model says, else 1)'),
  'top-p': text('P', 'the fewest likely words whose share reaches P'),
  'top-k': text('K', 'the K likeliest words; 0: all'),
  'min-p': text('P', 'words at least P times as likely as the likeliest'),
  seed: text('N', 'the same seed and words give the same answer'),
  stop: text('TEXT', 'ends an answer where it would write TEXT'),
  accelerator: text('NAME', 'cpu, webgpu, cuda or auto (default: MILLRACE_ACCELERATOR, else cpu)'),
  context: text(
    'N',
    'tokens of conversation and answer together (default: 8192, at most what the model has)',
  ),
};

const switches = {
  think: { type: 'boolean', help: 'answers begin with thinking (default where the model has it)' },
  'no-think': { type: 'boolean', help: 'answers come without thinking' },
} as const;

export const chatCommand: Command = {
  name: 'chat',
  summary: 'talk to a checkpoint, with the engine on this machine',
  details:
    'MODEL is a checkpoint (ckpt_…), a job (its last one), a directory in Hugging Face layout, or an s3:// URI of one.\n' +
    'On a terminal: a conversation; /help lists what it understands. Speed is told on standard error.',
  arguments: [{ name: 'MODEL', help: 'checkpoint, job, directory or s3:// URI' }],
  flags: { ...dataDirFlag, ...passed, ...switches },
  async run(given, interrupt, hurry) {
    const dir = chosenDataDir(given);
    const connecting = () => connect(given, interrupt);
    const { model } = await localModel(given.argument('MODEL'), dir.models, connecting, interrupt);
    const args = Object.keys(passed).flatMap((flag) => {
      const value = given.text(flag);
      return value === undefined ? [] : [`--${flag}=${value}`];
    });
    const flags = Object.keys(switches).flatMap((flag) => (given.on(flag) ? [`--${flag}`] : []));
    const words = [`--model=${model}`, ...args, ...flags];
    const code = await runOnTerminal('runner/chat.ts', words, process.env, interrupt, hurry);
    if (code === 130) return exitCodes.interrupted;
    return code === 0 ? exitCodes.succeeded : exitCodes.failed;
  },
};
