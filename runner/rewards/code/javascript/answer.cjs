// The answer's side: runs the model's code and answers calls to it. It holds no test, no expected value and no verdict, so
// nothing that the model's code does to this program can be worth more than the values it sends back.

const AsyncFunction = (async () => {}).constructor;

/** The scope of the program's top level, as a function that evaluates a name in it; undefined where the text does not parse. */
function scopeOf(text) {
  for (const source of [text, withoutModuleSyntax(text)])
    for (const Type of [Function, AsyncFunction])
      try {
        new Type(source);
        const scope = `{\n${source}\n;return function () { return eval(arguments[0]); }}`;
        return new Type('require', 'module', 'exports', scope);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
  return undefined;
}

/** Imports become calls of `require`, exports lose the word: enough for the modules that answers are. */
const withoutModuleSyntax = (text) =>
  text
    .replace(/^export\s+default\s+(?=(?:async\s+)?function\s*\*?\s*\w|class\s+\w)/gm, '')
    .replace(/^export\s+default\s+/gm, 'module.exports = ')
    .replace(/^export\s+(?=(?:async\s+)?function|class|const|let|var)/gm, '')
    .replace(/^export\s*\{[^}]*\}\s*;?/gm, '')
    .replace(/^import\s+\*\s+as\s+(\w+)\s+from\s*(['"][^'"]+['"])/gm, 'const $1 = require($2)')
    .replace(/^import\s+(\w+)\s+from\s*(['"][^'"]+['"])/gm, 'const $1 = require($2)')
    .replace(
      /^import\s*(\{[^}]*\})\s*from\s*(['"][^'"]+['"])/gm,
      (_all, names, from) => `const ${names.replace(/\s+as\s+/g, ': ')} = require(${from})`,
    );

const javaScriptOf = (text, language) =>
  language === 'typescript' ? require('node:module').stripTypeScriptTypes(text, { mode: 'transform' }) : text;

/** As a whole program, or as what follows the prompt. A prompt that is no program by itself is left out of a whole one. */
function programsOf({ code, prefix, whole, language }) {
  const compiled = (text) => {
    try {
      return scopeOf(javaScriptOf(text, language));
    } catch {
      return undefined;
    }
  };
  if (prefix === '') return compiled(code);
  if (whole) return compiled(`${prefix}\n${code}`) ?? compiled(code);
  return compiled(prefix + code) ?? compiled(code);
}

const faultOf = (error) => {
  try {
    return { name: String(error?.name ?? typeof error), text: String(error?.message ?? error).slice(0, 300) };
  } catch {
    return { name: 'Error', text: '' };
  }
};

function firstFault({ code, language }) {
  try {
    new Function(javaScriptOf(code, language));
    return '';
  } catch (error) {
    return faultOf(error).text;
  }
}

class Answer {
  held = new Map();
  module = { exports: {} };
  fault;
  evaluate;

  async start(config) {
    const program = programsOf(config);
    if (program === undefined) {
      this.fault = { unparsable: firstFault(config) };
      return;
    }
    try {
      const use = typeof require === 'function' ? require : undefined;
      this.evaluate = await program(use, this.module, this.module.exports);
    } catch (error) {
      this.fault = { raised: faultOf(error) };
    }
  }

  async reply(request) {
    if (this.fault !== undefined) return this.fault;
    try {
      const value = this.perform(request);
      if (typeof value?.then !== 'function') return { value: pack(value, this.hold) };
      return { value: await this.settled(value) };
    } catch (error) {
      return { raised: faultOf(error) };
    }
  }

  /** A promise that rejects is a value, too: it is the tests' to await and to catch. */
  async settled(promise) {
    try {
      return { p: pack(await promise, this.hold) };
    } catch (error) {
      return { x: faultOf(error) };
    }
  }

  perform({ op, on, name, args, value }) {
    if (op === 'start') return undefined;
    if (op === 'find') return this.find(name);
    const target = this.held.get(on);
    const objects = (items) => items.map((item) => unpack(item, (handle) => this.held.get(handle.h)));
    if (op === 'call') return target.value.apply(target.owner, objects(args));
    if (op === 'construct') return new target.value(...objects(args));
    if (op === 'get') return owned(target.value, name);
    if (op === 'set') return void (target.value[name] = objects([value])[0]);
    if (op === 'iterate') return target.value[Symbol.iterator]();
    const step = target.value.next();
    return step.done ? [] : [step.value];
  }

  find(name) {
    try {
      return this.evaluate(name);
    } catch (error) {
      const exported = this.module.exports;
      if (typeof exported === 'function' && exported.name === name) return exported;
      if (exported !== null && Object.hasOwn(Object(exported), name)) return exported[name];
      throw error;
    }
  }

  hold = (value) => {
    const [held, owner] = value instanceof Owned ? [value.value, value.owner] : [value, undefined];
    const handle = this.held.size + 1;
    this.held.set(handle, { value: held, owner });
    return { h: handle, n: typeof held?.next === 'function' };
  };
}

/** A method keeps the object that it was read from. */
class Owned {
  constructor(value, owner) {
    this.value = value;
    this.owner = owner;
  }
}
const owned = (owner, name) =>
  typeof owner[name] === 'function' ? new Owned(owner[name], owner) : owner[name];

/** Answers print while they are tried out; nobody reads it. */
const silentConsole = () => new Proxy({}, { get: () => () => undefined });

async function main(config) {
  globalThis.console ??= silentConsole();
  const channel = globalThis.host ? quickJsChannel(globalThis.host) : nodeChannel();
  const { receive, send } = channel;
  const { parse } = JSON;
  const answer = new Answer();
  await answer.start(config);
  for (let line = receive(); line !== undefined; line = receive()) {
    const request = parse(line);
    const reply = await answer.reply(request);
    let text;
    try {
      text = lineOf({ id: request.id, ...reply });
    } catch (error) {
      text = lineOf({ id: request.id, raised: faultOf(error) });
    }
    send(text);
  }
}
