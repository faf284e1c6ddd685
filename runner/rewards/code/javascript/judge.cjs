// The tests' side: runs a row's tests against stand-ins for what the answer defines, and says how they ended. The model's
// code never runs here. Values of the answer arrive as data and are rebuilt as built-in values.

/** The answer's program has ended or talks nonsense: no test can pass any more. */
class AnswerGone extends Error {}

class Answer {
  uses = 0;
  count = 0;
  gone;
  unparsable;

  constructor(channel) {
    this.channel = channel;
  }

  ask(op, request = {}) {
    this.count += 1;
    const reply = this.exchange({ id: this.count, op, ...request });
    let value;
    try {
      if (Object.hasOwn(reply, 'unparsable')) {
        this.unparsable = String(reply.unparsable);
        return this.lost('the answer does not parse');
      }
      if (Object.hasOwn(reply, 'value')) return unpack(reply.value, (handle) => this.remote(handle));
      value = errorOf(reply.raised.name, reply.raised.text);
    } catch (error) {
      return this.lost(`a reply that is no value: ${error.message}`);
    }
    throw value;
  }

  exchange(request) {
    let reply;
    const line = lineOf(request);
    try {
      this.channel.send(line);
      const answered = this.channel.receive();
      reply = answered === undefined ? undefined : JSON.parse(answered);
    } catch (error) {
      return this.lost(`no usable reply of the answer: ${error.message}`);
    }
    if (reply === undefined) return this.lost('the answer’s program ended');
    if (reply === null || reply.id !== request.id) return this.lost('a reply to nothing that was asked');
    return reply;
  }

  lost(why) {
    this.gone ??= new AnswerGone(why);
    throw this.gone;
  }

  call(op, request) {
    this.uses += 1;
    return this.ask(op, request);
  }

  /**
   * A function, a class or an object of the answer. Always of type `function`, so that no comparison of objects takes two of
   * them, or one and an empty object, for equal.
   */
  remote({ h: on, n: isIterator }) {
    const read = { on, isIterator: isIterator === true, source: undefined, items: [], ended: false };
    const arguments_ = (items) => items.map((item) => pack(item, handleOf));
    const proxy = new Proxy(function () {}, {
      apply: (_target, _self, args) => this.call('call', { on, args: arguments_(args) }),
      construct: (_target, args) => Object(this.call('construct', { on, args: arguments_(args) })),
      get: (_target, name) => {
        if (name === Symbol.iterator) return () => this.iterator(read);
        if (typeof name === 'symbol' || hidden.has(name)) return undefined;
        return this.call('get', { on, name });
      },
      set: (_target, name, value) => {
        this.call('set', { on, name, value: pack(value, handleOf) });
        return true;
      },
    });
    remotes.set(proxy, on);
    return proxy;
  }

  /** An iterator goes on where it was. What else can be iterated is read once: it must not look different the next time. */
  *iterator(read) {
    read.source ??= read.isIterator ? read.on : remotes.get(this.call('iterate', { on: read.on }));
    for (let at = read.isIterator ? read.items.length : 0; ; at += 1) {
      if (at === read.items.length && !read.ended) {
        const items = this.call('next', { on: read.source });
        read.ended = items.length === 0;
        read.items.push(...items.slice(0, 1));
      }
      if (at === read.items.length) return;
      yield read.items[at];
    }
  }
}

const remotes = new WeakMap();

const handleOf = (value) => {
  if (typeof value === 'function' && remotes.has(value)) return { h: remotes.get(value) };
  throw new TypeError(`a ${typeof value} cannot be passed to the answer`);
};

/** Names that nobody but the answer can define. A global name is the global, whatever the answer calls so. */
const namesOf = (answer, entry) => {
  const found = new Map();
  const find = (name) => {
    if (typeof name === 'symbol' || (name in globalThis && name !== entry) || ours.has(name)) return false;
    if (found.has(name)) return true;
    try {
      const value = answer.ask('find', { name });
      found.set(name, value);
      // A plain value is all of the answer that the tests can use of it; a function must be called.
      if (!remotes.has(value)) answer.uses += 1;
      return true;
    } catch (error) {
      if (error instanceof ReferenceError) return false;
      throw error;
    }
  };
  return new Proxy(Object.create(null), {
    has: (_target, name) => find(name),
    get: (_target, name) => found.get(name),
    // A name that the tests assign is theirs from then on.
    set: (_target, name, value) => {
      found.set(name, value);
      return true;
    },
  });
};
const ours = new Set(['names', 'require', 'module', 'exports', 'passed_']);

const textOf = (config) => [config.setup, ...config.tests.map((test) => `${test}\n;passed_();`)].join('\n');

/** Sloppy on purpose: `with` is what shows the tests the answer's names. */
function compiledTests(tests, language) {
  const text =
    language === 'typescript'
      ? require('node:module').stripTypeScriptTypes(tests, { mode: 'transform' })
      : tests;
  const body = `with (names) {\n${text}\n}`;
  try {
    return new Function(...ours, body);
  } catch {
    return new (async () => {}).constructor(...ours, body);
  }
}

const listed = (value) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item));

function run(config, answer, counts) {
  answer.ask('start');
  const candidate = config.entry === '' ? undefined : answer.ask('find', { name: config.entry });
  if (config.calls !== undefined) return runCalls(config, candidate, counts);
  const passed = () => {
    if (answer.gone !== undefined) throw answer.gone;
    counts.passed += 1;
  };
  const use = typeof require === 'function' ? require : quickJsRequire;
  if (use === quickJsRequire && /\b(?:async|await|Promise)\b/.test(textOf(config)))
    throw new Error('tests that wait need Node.js'); // nothing here would tell when they are done
  const program = compiledTests(textOf(config), config.language);
  return program(namesOf(answer, config.entry), use, { exports: {} }, {}, passed);
}

/** Arguments and result are JSON. */
function runCalls(config, candidate, counts) {
  for (const { args, result } of config.calls) {
    const given = candidate(...args);
    if (!sameJson(given, result)) throw new Error(`${config.entry}(${listed(args)}) gives ${listed(given)}`);
    counts.passed += 1;
  }
}

function sameJson(left, right) {
  if (typeof left === 'bigint') return Number(left) === right;
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null)
    return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}

/** The line of the tests that threw, and what. Two lines of the function that JavaScript makes and one of `with` stand before it. */
function detailOf(failure, config) {
  const line = /<anonymous>:(\d+):\d+\)?$/m.exec(String(failure.stack))?.[1];
  const place =
    config.tests === undefined || line === undefined ? undefined : textOf(config).split('\n')[line - 4];
  const text = `${failure.name}: ${failure.message}`.slice(0, 300);
  return [place?.trim().slice(0, 300), text].filter(Boolean).join(' — ');
}

function main(config) {
  const channel = globalThis.host ? quickJsChannel(globalThis.host) : nodeChannel();
  const answer = new Answer(channel);
  const counts = { passed: 0 };
  let failure;
  const fail = (error) => {
    failure ??= error instanceof Error ? error : new Error(String(error));
  };
  const finish = () => {
    if (failure === undefined && answer.gone !== undefined) fail(answer.gone);
    if (failure === undefined && answer.uses === 0) fail(new Error('the tests never use the answer'));
    const end = failure === undefined ? 'passed' : answer.unparsable === undefined ? 'failed' : 'unparsable';
    const detail = answer.unparsable ?? (failure && detailOf(failure, config));
    channel.report(JSON.stringify({ end, detail, passed: counts.passed }));
    channel.exit(0);
  };
  let pending;
  try {
    pending = run(config, answer, counts);
  } catch (error) {
    fail(error);
  }
  if (typeof process === 'undefined') return finish();
  if (failure !== undefined) return finish();
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.on('exit', (code) => {
    if (code !== 0) fail(new Error(`the tests exited with ${code}`));
    finish();
  });
  return pending;
}
