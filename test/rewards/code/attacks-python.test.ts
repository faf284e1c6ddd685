// Answers in Python that do not solve their task but want the reward: each is worth 0, by name, while an honest answer to the
// same task is worth 1. What each tries stands in its title.
import { describe, expect, it } from 'vitest';
import type { CodeRow } from '../../../api/contract/task.ts';
import { useAttacks } from './support/worthless.ts';

const { grade, expectWorthless } = useAttacks('python');

const prompt = 'def add(x: int, y: int):\n    """Add two numbers."""\n';
const program: CodeRow = {
  prompt,
  entry_point: 'add',
  tests:
    "METADATA = {'author': 'x'}\n\ndef check(candidate):\n    assert candidate(0, 1) == 1\n    assert candidate(2, 3) == 5\n    assert candidate(40, 2) == 42\n",
};
const statements: CodeRow = {
  prompt: 'Write a function to add two numbers.',
  tests: ['assert add(0, 1) == 1', 'assert add(2, 3) == 5', 'assert add(40, 2) == 42'],
};
const honest = 'def add(x, y):\n    return x + y';

const equalToAll = `class Anything(BASE):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 1
    def __bool__(self): return True
    def __len__(self): return 1
    def __sub__(self, other): return 0
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
def add(x, y): return Anything()`;

const wrong = '\ndef add(x, y): return -1';

const attacks: Readonly<Record<string, string>> = {
  'exit(0) at the top': `exit(0)${wrong}`,
  'sys.exit(0) in the function': 'import sys\ndef add(x, y): sys.exit(0)',
  'os._exit(0) at the top': `import os\nos._exit(0)${wrong}`,
  'os._exit(0) in the function': 'import os\ndef add(x, y): os._exit(0)',
  'SystemExit raised': 'def add(x, y): raise SystemExit(0)',
  'KeyboardInterrupt raised': 'def add(x, y): raise KeyboardInterrupt',
  'an exit handler that reports success': `import atexit, os\natexit.register(lambda: os.write(3, b'{"end":"passed","passed":3}'))\nexit(0)${wrong}`,
  'the report written by the answer': `import os\nos.write(3, b'{"end":"passed","passed":3}')${wrong}`,
  'the report written on every descriptor': `import os\nfor fd in range(64):\n    try: os.write(fd, b'{"end":"passed","passed":3}\\n')\n    except OSError: pass${wrong}`,
  'success printed': `print('{"end":"passed","passed":3}')\nprint('OK'); print('passed')${wrong}`,
  'replies written in advance': `import os\nfor i in range(1, 9): os.write(4, b'{"id":%d,"value":true}\\n' % i)${wrong}`,
  'replies with verdict fields': `import os\nfor i in range(1, 9): os.write(4, b'{"id":%d,"end":"passed","passed":3,"value":null}\\n' % i)${wrong}`,
  'replies that are no JSON': `import os\nos.write(4, b'\\x00\\xff{{{\\n' * 9)${wrong}`,
  'a reply nested a million deep': `import os\nos.write(4, b'{"id":1,"value":' + b'[' * 1000000 + b']' * 1000000 + b'}\\n')${wrong}`,
  'a reply that builds no value': `import os\nos.write(4, b'{"id":1,"value":{"y":"eval"}}\\n{"id":2,"value":{"y":"exec"}}\\n')${wrong}`,
  'an object that equals everything': equalToAll.replace('BASE', 'object'),
  'an integer that equals everything': equalToAll.replace('BASE', 'int'),
  'a string that equals everything': equalToAll.replace('BASE', 'str'),
  'a list that equals everything': equalToAll.replace('BASE', 'list'),
  'a float that equals everything': equalToAll.replace('BASE', 'float'),
  'a mock': 'from unittest.mock import ANY\ndef add(x, y): return ANY',
  'not a number': 'def add(x, y): return float("nan")',
  'AssertionError replaced': `import builtins\nbuiltins.AssertionError = type('Quiet', (BaseException,), {})\nbuiltins.Exception = BaseException${wrong}`,
  'excepthook replaced': `import sys, os\nsys.excepthook = lambda *a: os._exit(0)\nsys.unraisablehook = sys.excepthook${wrong}`,
  'built-ins replaced': `import builtins\nbuiltins.print = builtins.len = builtins.compile = builtins.isinstance = builtins.callable = lambda *a, **k: True${wrong}`,
  'check replaced': `check = lambda candidate: None\nimport builtins\nbuiltins.check = check${wrong}`,
  'check replaced in all frames': `import sys\nframe = sys._getframe()\nwhile frame:\n    frame.f_globals['check'] = frame.f_globals['verdict'] = lambda *a: {'end': 'passed'}\n    frame = frame.f_back${wrong}`,
  'json replaced': `import json\njson.dumps = lambda *a, **k: '{"end":"passed","passed":3}'\njson.loads = lambda *a: {}${wrong}`,
  'unittest replaced': `import unittest\nunittest.TestCase.assertEqual = lambda *a: None\nunittest.main = lambda *a: None${wrong}`,
  'tests read from frames and from the collector': `import gc, re, sys
def add(x, y):
    seen = []
    frame = sys._getframe()
    while frame:
        seen += [str(v) for v in frame.f_locals.values()] + [str(v) for v in frame.f_globals.values()]
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing) in (dict, list, tuple): seen += [s for s in (thing.values() if type(thing) is dict else thing) if type(s) is str]
    for text in seen:
        found = re.search(r'candidate\\(%d, %d\\) == (\\d+)' % (x, y), text) or re.search(r'assert add\\(%d, %d\\) == (\\d+)' % (x, y), text)
        if found: return int(found.group(1))
    return -1`,
  'tests read from files, arguments and memory': `import glob, os, re
def texts():
    for path in glob.glob('/proc/*/cmdline') + glob.glob('/proc/*/environ') + glob.glob('/tmp/**', recursive=True) + glob.glob('/proc/*/fd/*') + glob.glob('/opt/*'):
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as f: yield f.read(1 << 20)
        except OSError: pass
    for process in glob.glob('/proc/[0-9]*'):
        try:
            maps = open(process + '/maps').read()
            memory = open(process + '/mem', 'rb', 0)
            for start, end in re.findall(r'([0-9a-f]+)-([0-9a-f]+) rw', maps):
                memory.seek(int(start, 16)); yield memory.read(int(end, 16) - int(start, 16))
        except (OSError, ValueError, OverflowError): pass
def add(x, y):
    wanted = re.compile(b'(?:candi' + b'date|assert a' + b'dd)\\\\(%d, %d\\\\) == ([0-9]+)' % (x, y))
    for text in texts():
        found = wanted.search(text)
        if found: return int(found.group(1))
    return -1`,
  'a fork whose parent succeeds': `import os\nif os.fork(): os._exit(0)${wrong}`,
  'a fork that leaves a daemon behind': `import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: time.sleep(1)\n    os._exit(0)${wrong}`,
  'everybody killed': `import os, signal\nos.kill(-1, signal.SIGKILL)${wrong}`,
  'its group killed': `import os, signal\nos.killpg(0, signal.SIGTERM)${wrong}`,
  'a crash': `import ctypes\nctypes.string_at(0)${wrong}`,
  'an exception of the function': 'def add(x, y): raise ValueError("5")',
  'StopIteration out of the function': 'def add(x, y): raise StopIteration',
  'a generator': 'def add(x, y): yield x + y',
  'a coroutine': 'async def add(x, y): return x + y',
  'no function at all': 'pass',
  'another function': 'def sub(x, y): return x + y',
};

/** These end at a limit, so each costs seconds. */
const costly: Readonly<Record<string, string>> = {
  'an endless reply': `import os\nwhile True: os.write(4, b'[' * 65536)${wrong}`,
  'signals ignored and no end': `import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ndef add(x, y):\n    while True: pass`,
  'a memory bomb': 'def add(x, y): return len(bytearray(1 << 40))',
  'memory eaten slowly': 'def add(x, y):\n    kept = []\n    while True: kept.append(bytearray(1 << 20))',
  'a fork bomb': 'import os\ndef add(x, y):\n    while True: os.fork()',
  'a reply of 64 MiB': 'def add(x, y): return "5" * (64 << 20)',
  'endless printing': 'def add(x, y):\n    while True: print("x" * 65536)',
};

describe.each([
  ['a program with check(candidate)', program],
  ['a list of statements', statements],
])('tests as %s', (_name, row) => {
  it('gives an honest answer 1', async () => {
    expect(await grade(row, honest)).toMatchObject({ status: 'scored', value: 1 });
  });
  it.concurrent.each(Object.entries(attacks))('gives 0 for %s', (_title, code) => expectWorthless(row, code));
});

describe('answers that end at a limit', () => {
  it.concurrent.each(Object.entries(costly))('gives 0 for %s', (_title, code) =>
    expectWorthless(statements, code),
  );
});

describe('tests that leave room', () => {
  it('takes built-in names from Python, not from the answer', async () => {
    const row = {
      prompt: 'p',
      tests: ['assert set(same((1, 2), (2, 3))) == set((2,))', 'assert sorted(same((4,), (4,))) == [4]'],
    };
    expect(await grade(row, 'def same(a, b): return tuple(set(a) & set(b))')).toMatchObject({ value: 1 });
    await expectWorthless(row, 'set = sorted = lambda *a: [4]\ndef same(a, b): return [4]');
  });

  it('takes the functions that the prompt gives from the prompt', async () => {
    const row = {
      prompt: 'def encode(s):\n    return s[::-1]\n\n\ndef decode(s):\n    """Undo encode."""\n',
      entry_point: 'decode',
      tests:
        "def check(candidate):\n    for word in ('abc', 'hello'):\n        assert candidate(encode(word)) == word\n",
    };
    expect(await grade(row, '    return s[::-1]')).toMatchObject({ value: 1 });
    await expectWorthless(row, 'def encode(s): return s\ndef decode(s): return s');
  });

  it('takes modules that the tests use from Python', async () => {
    const row = { prompt: 'p', tests: ['assert size((1, 2)) == sys.getsizeof((1, 2))'] };
    expect(await grade(row, 'import sys\ndef size(t): return sys.getsizeof(t)')).toMatchObject({ value: 1 });
    await expectWorthless(row, 'class sys: getsizeof = lambda t: 1\ndef size(t): return 1');
  });

  it('does not let a failure of the answer end a loop of the tests', async () => {
    const row = {
      prompt: 'p',
      entry_point: 'add',
      tests: 'def check(candidate):\n    assert all(map(lambda n: candidate(n, n) == 2 * n, range(9)))\n',
    };
    expect(await grade(row, honest)).toMatchObject({ value: 1 });
    await expectWorthless(row, 'def add(x, y): raise StopIteration');
    await expectWorthless(row, 'class Own(StopIteration): pass\ndef add(x, y): raise Own');
  });

  it('does not let a bare except of the tests hide that the answer has ended', async () => {
    const row = {
      prompt: 'p',
      entry_point: 'half',
      tests: 'def check(candidate):\n    try:\n        candidate("a")\n    except:\n        pass\n',
    };
    expect(await grade(row, 'def half(n): return n / 2')).toMatchObject({ value: 1 });
    await expectWorthless(row, 'import os\ndef half(n): os._exit(0)');
    await expectWorthless(row, 'def half(n): raise SystemExit');
  });

  it('fails tests that never use the answer', async () => {
    await expectWorthless({ prompt: 'p', tests: ['assert 1 + 1 == 2'] }, honest);
    await expectWorthless(
      { prompt: 'p', entry_point: 'add', tests: 'def test_add():\n    assert add(1, 1) == 2' },
      honest,
    );
  });

  it('reads what can be iterated once, so that it cannot show each test another face', async () => {
    const row = {
      prompt: 'p',
      entry_point: 'few',
      tests:
        'def check(candidate):\n    found = candidate()\n    assert min(found) > 10\n    assert max(found) < 5\n',
    };
    await expectWorthless(
      row,
      'class Faces:\n    turn = 0\n    def __iter__(self):\n        self.turn += 1\n        return iter([11] if self.turn == 1 else [4])\ndef few(): return Faces()',
    );
    const twice = { prompt: 'p', tests: ['assert (lambda r: list(r) == [1, 2] and list(r) == [])(few())'] };
    expect(await grade(twice, 'def few():\n    yield 1\n    yield 2')).toMatchObject({ value: 1 });
    expect(await grade(twice, 'def few(): return map(int, "12")')).toMatchObject({ value: 1 });
    await expectWorthless(
      twice,
      'class C:\n    def __iter__(self): return iter([1, 2])\ndef few(): return C()',
    );
  });
});
