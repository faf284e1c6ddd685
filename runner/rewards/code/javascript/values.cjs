// Plain values as lines of JSON, and the line channel between the two programs. Stands at the top of both judge.cjs and
// answer.cjs. What is not plain (functions, instances of classes, iterators) stays where it is and travels as a handle.
// Nothing that arrives is ever executed: the reader builds built-in values and nothing else.
'use strict';

const lineLimit = 16 << 20;

/** One JSON value a line on descriptor 4, whose other end the other program has. What is printed goes nowhere. */
function nodeChannel() {
  const fs = require('node:fs');
  for (const standard of [0, 1, 2]) fs.closeSync(standard);
  for (let opened = 0; opened < 3; opened += 1) fs.openSync('/dev/null', 'r+');
  const { readSync, writeSync } = fs;
  const chunk = Buffer.alloc(1 << 16);
  let parts = [];
  let length = 0;
  let rest = Buffer.alloc(0);
  const take = (bytes) => {
    const end = bytes.indexOf(10);
    const part = end < 0 ? bytes : bytes.subarray(0, end);
    length += part.length;
    if (length > lineLimit) throw new Error('a line that is too long');
    parts.push(part);
    if (end < 0) return undefined;
    const line = Buffer.concat(parts).toString();
    rest = bytes.subarray(end + 1);
    parts = [];
    length = 0;
    return line;
  };
  const receive = () => {
    let line = rest.length > 0 ? take(rest) : undefined;
    while (line === undefined) {
      const read = readSync(4, chunk, 0, chunk.length, null);
      if (read === 0) return undefined;
      rest = Buffer.alloc(0);
      line = take(Buffer.from(chunk.subarray(0, read)));
    }
    return line;
  };
  const send = (line) => {
    let bytes = Buffer.from(line);
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(4, bytes));
  };
  return { receive, send, report: (text) => void writeSync(3, text), exit: process.reallyExit.bind(process) };
}

const quickJsChannel = (host) => ({
  receive: () => host.readLine(),
  send: (line) => host.write(4, line),
  report: (text) => host.write(3, text),
  exit: () => {},
});

const lineOf = (value) => {
  const line = JSON.stringify(value) + '\n';
  if (line.length > lineLimit) throw new Error(`a value of more than ${lineLimit} characters`);
  return line;
};

/** `other` packs what is not plain, or throws. */
function pack(value, other) {
  const all = (items) => items.map((item) => pack(item, other));
  if (value === undefined) return { u: 0 };
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { f: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'bigint') return { i: String(value) };
  if (typeof value !== 'object') return other(value);
  if (Array.isArray(value)) return all(Array.from(value));
  if (value instanceof Map) return { m: all([...value].flat()) };
  if (value instanceof Set) return { s: all([...value]) };
  if (value instanceof Date) return { D: [value.getTime()] };
  if (value instanceof RegExp) return { R: [value.source, value.flags] };
  if (value instanceof Error) return { E: [String(value.name), String(value.message)] };
  if (ArrayBuffer.isView(value) && typeof value.length === 'number')
    return { T: [value.constructor.name, all(Array.from(value))] };
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return other(value);
  return { o: Object.entries(value).map(([key, item]) => [key, pack(item, other)]) };
}

const errorTypes = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const errorOf = (name, message) => {
  const Type = Object.hasOwn(errorTypes, name) ? errorTypes[name] : Error;
  const error = new Type(String(message));
  if (Type === Error && name !== 'Error') error.name = String(name);
  return error;
};

const typedArrays = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
};

const pairsOf = (items) => {
  const pairs = [];
  for (let at = 0; at < items.length; at += 2) pairs.push([items[at], items[at + 1]]);
  return pairs;
};

/** `handle` gives what stands for a handle. */
function unpack(value, handle) {
  if (typeof value !== 'object' || value === null) return value;
  const all = (items) => items.map((item) => unpack(item, handle));
  if (Array.isArray(value)) return all(value);
  const [tag] = Object.keys(value);
  const body = value[tag];
  switch (tag) {
    case 'u':
      return undefined;
    case 'f':
      return Number(body);
    case 'i':
      return BigInt(body);
    case 'm':
      return new Map(pairsOf(all(body)));
    case 's':
      return new Set(all(body));
    case 'D':
      return new Date(Number(body[0] ?? NaN));
    case 'R':
      return new RegExp(String(body[0]), String(body[1]));
    case 'E':
      return errorOf(body[0], body[1]);
    case 'T':
      return typedArrays[Object.keys(typedArrays).find((name) => name === body[0])].from(all(body[1]));
    case 'o':
      return Object.fromEntries(body.map(([key, item]) => property(String(key), unpack(item, handle))));
    case 'p':
      if (globalThis.host) throw new Error('promises need Node.js');
      return Promise.resolve(unpack(body, handle));
    case 'x':
      if (globalThis.host) throw new Error('promises need Node.js');
      return Promise.reject(errorOf(body.name, body.text));
    case 'h':
      return handle(value);
    default:
      throw new Error(`no value with tag ${tag}`);
  }
}

/** What comparisons and conversions look for: nothing of the answer has a say in them. */
const hidden = new Set(['valueOf', 'toString', 'toJSON', 'then', 'constructor', 'prototype', '__proto__']);

const property = (key, value) => {
  if (hidden.has(key) && typeof value === 'function') throw new Error(`an object with its own ${key}()`);
  return [key, value];
};
