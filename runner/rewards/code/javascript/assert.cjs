// What tests use of node:assert, for judges in QuickJS, which has no modules. Stands before judge.cjs there. Comparison as Node.js
// documents it: the loose forms by `==`, the strict ones by Object.is and prototypes; anything else is refused by name.

class AssertionError extends Error {
  name = 'AssertionError';
}

const shown = (value) => {
  try {
    return typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value));
  } catch {
    return Object.prototype.toString.call(value);
  }
};

const isObject = (value) => typeof value === 'object' && value !== null;
const tagOf = (value) => Object.prototype.toString.call(value);
// eslint-disable-next-line eqeqeq -- the loose forms compare by `==`
const loosely = (left, right) => left == right || (left !== left && right !== right);
const samePrimitive = (left, right, strict) => (strict ? Object.is(left, right) : loosely(left, right));

function sameDeep(left, right, strict) {
  if (!isObject(left) || !isObject(right))
    return isObject(left) === isObject(right) && samePrimitive(left, right, strict);
  if (tagOf(left) !== tagOf(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  if (strict && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (left instanceof Date) return Object.is(left.getTime(), right.getTime());
  if (left instanceof RegExp) return String(left) === String(right);
  if (left instanceof Error && (left.name !== right.name || left.message !== right.message)) return false;
  if (left instanceof Map) return sameMaps(left, right, strict);
  if (left instanceof Set) return sameItems([...left], [...right], strict);
  if (Array.isArray(left) && left.length !== right.length) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameDeep(left[key], right[key], strict))
  );
}

const sameMaps = (left, right, strict) => sameItems([...left], [...right], strict);

/** In any order; each item of the one is matched with one of the other. */
function sameItems(left, right, strict) {
  if (left.length !== right.length) return false;
  const open = [...right];
  return left.every((item) => {
    const at = open.findIndex((other) => sameDeep(item, other, strict));
    if (at >= 0) open.splice(at, 1);
    return at >= 0;
  });
}

function assertModule() {
  const demand = (holds, message, otherwise) => {
    if (holds) return;
    throw message instanceof Error ? message : new AssertionError(message ?? otherwise);
  };
  const compare = (same, wanted, word) => (left, right, message) =>
    demand(same(left, right) === wanted, message, `${shown(left)} ${word} ${shown(right)}`);
  const threw = (body) => {
    try {
      body();
    } catch (error) {
      return { error };
    }
    return undefined;
  };
  const deep = (left, right) => sameDeep(left, right, false);
  const strictDeep = (left, right) => sameDeep(left, right, true);
  const assert = (value, message) => demand(value, message, `${shown(value)} does not hold`);
  return Object.assign(assert, {
    ok: assert,
    AssertionError,
    equal: compare(loosely, true, 'should equal'),
    notEqual: compare(loosely, false, 'should not equal'),
    strictEqual: compare(Object.is, true, 'should be'),
    notStrictEqual: compare(Object.is, false, 'should not be'),
    deepEqual: compare(deep, true, 'should equal'),
    notDeepEqual: compare(deep, false, 'should not equal'),
    deepStrictEqual: compare(strictDeep, true, 'should equal'),
    notDeepStrictEqual: compare(strictDeep, false, 'should not equal'),
    fail: (message) => demand(false, message, 'failed'),
    throws: (body, wanted) => {
      const thrown = threw(body);
      demand(thrown !== undefined, undefined, 'nothing was thrown');
      if (wanted instanceof RegExp)
        demand(wanted.test(String(thrown.error)), undefined, `${thrown.error} was thrown`);
      else if (wanted !== undefined && typeof wanted !== 'string')
        demand(
          typeof wanted === 'function' && thrown.error instanceof wanted,
          undefined,
          `${thrown.error} was thrown`,
        );
    },
    doesNotThrow: (body) => demand(threw(body) === undefined, undefined, 'something was thrown'),
  });
}

/** The only module there is. */
function quickJsRequire(name) {
  const plain = String(name).replace(/^node:/, '');
  if (plain === 'assert') return assertModule();
  if (plain === 'assert/strict') {
    const assert = assertModule();
    return Object.assign((value, message) => assert(value, message), assert, {
      equal: assert.strictEqual,
      notEqual: assert.notStrictEqual,
      deepEqual: assert.deepStrictEqual,
      notDeepEqual: assert.notDeepStrictEqual,
    });
  }
  throw new Error(`no module ${name} in QuickJS`);
}
