# The tests' side: runs a row's tests against stand-ins for what the answer defines, and says how they ended. The model's code never
# runs here. Values of the answer arrive as data and are rebuilt as built-in values, so `==` is Python's own.
import ast, builtins, random, symtable, traceback

HIDDEN_FROM_TESTS = ('StopIteration', 'StopAsyncIteration')


class AnswerFault(Exception):
    """The answer raised an exception that is not built in, or one that would end a loop of the tests (StopIteration)."""


class AnswerGone(BaseException):
    """The answer's program has ended, wanted to (SystemExit) or talks nonsense: no test can pass any more."""


class Unparsable(BaseException):
    pass


class Answer:
    """Requests to the other program, one at a time."""

    def __init__(self, channel):
        self.channel = channel
        self.uses = 0
        self.count = 0
        self.gone = None

    def ask(self, op, **request):
        try:
            return self.ask_once(op, request)
        except (AnswerGone, Unparsable) as error:
            self.gone = self.gone or error
            raise

    def ask_once(self, op, request):
        self.count += 1
        try:
            self.channel.send(line_of({'id': self.count, 'op': op, **request}))
            reply = self.channel.receive()
        except (OSError, ValueError, RecursionError) as error:
            raise AnswerGone('no usable reply of the answer: %s' % error) from None
        if type(reply) is not dict or reply.get('id') != self.count:
            raise AnswerGone('the answer’s program ended' if reply is None else 'a reply to nothing that was asked')
        if 'unparsable' in reply:
            raise Unparsable(str(reply['unparsable']))
        try:
            if 'value' in reply:
                return unpack(reply['value'], lambda handle: Remote(self, handle))
            fault = exception_of(reply['raised'])
        except Exception as error:
            raise AnswerGone('a reply that is no value: %s' % error) from None
        raise fault

    def call(self, op, **request):
        self.uses += 1
        return self.ask(op, **request)


def exception_of(fault):
    kind, text = str(fault['kind']), str(fault['text'])[:300]
    if fault['fatal'] is not False:
        return AnswerGone('%s: %s' % (fault['name'], text))
    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception) and kind not in HIDDEN_FROM_TESTS:
        try:
            return found(text)
        except TypeError:
            pass
    return AnswerFault('%s: %s' % (fault['name'], text))


class Remote:
    """Stands for a function, a class or an object of the answer. Equal to nothing but itself."""

    def __init__(self, answer, handle):
        object.__setattr__(self, '_answer', answer)
        object.__setattr__(self, '_handle', int(handle['h']))
        object.__setattr__(self, '_kind', str(handle.get('k')))
        object.__setattr__(self, '_truth', handle.get('b?') is not False)
        object.__setattr__(self, '_handle_is_iterator', handle.get('n?') is True)
        object.__setattr__(self, '_source', None)
        object.__setattr__(self, '_items', [])
        object.__setattr__(self, '_ended', False)

    def __call__(self, *args, **named):
        return self._answer.call(
            'call',
            on=self._handle,
            args=[pack(item, handle_of) for item in args],
            named={name: pack(item, handle_of) for name, item in named.items()},
        )

    def __getattr__(self, name):
        if name.startswith('__') and name not in ('__name__', '__doc__'):
            raise AttributeError(name)
        return self._answer.call('get', on=self._handle, name=name)

    def __setattr__(self, name, value):
        self._answer.call('set', on=self._handle, name=name, value=pack(value, handle_of))

    def __iter__(self):
        """An iterator goes on where it was. What else can be iterated is read once: it must not look different the next time."""
        if self._handle_is_iterator:
            return self
        return self._read_once()

    def _read_once(self):
        if self._source is None:
            object.__setattr__(self, '_source', self._answer.call('iterate', on=self._handle))
        at = 0
        while at < len(self._items) or self._pull(self._source):
            yield self._items[at]
            at += 1

    def __next__(self):
        if not self._pull(self):
            raise StopIteration
        return self._items.pop()

    def _pull(self, source):
        items = [] if self._ended else self._answer.call('next', on=source._handle)
        object.__setattr__(self, '_ended', not items)
        self._items.extend(items[:1])
        return not self._ended

    def __bool__(self):
        return self._truth

    def __eq__(self, other):
        return isinstance(other, Remote) and other._handle == self._handle

    def __hash__(self):
        return self._handle

    def __repr__(self):
        return '<%s of the answer>' % self._kind


def handle_of(value):
    if type(value) is Remote:
        return {'h': value._handle}
    raise TypeError('a value of type %s cannot be passed to the answer' % type(value).__name__)


class Tests:
    def __init__(self, config, answer):
        self.config = config
        self.answer = answer
        self.names = {'__name__': 'tests', '__builtins__': builtins}
        self.passed = 0

    def run(self):
        """Raises at the first test that fails."""
        self.answer.ask('start')
        if self.config['prefix'] and parses(self.config['prefix']):
            exec(compile(self.config['prefix'], '<prompt>', 'exec', optimize=0), self.names)
        entry = self.config['entry']
        candidate = self.answer.ask('find', name=entry) if entry else None
        if entry and entry.isidentifier():
            self.names[entry] = candidate
        if 'calls' in self.config:
            return self.run_calls(candidate)
        self.bind_names()
        self.execute(self.config['setup'], '<setup>')
        for statement in self.config['tests']:
            self.execute(statement)
            check = self.names.get('check')
            if entry and len(self.config['tests']) == 1 and callable(check) and type(check) is not Remote:
                check(candidate)
            if self.answer.gone:  # a bare `except` of the tests hid it
                raise self.answer.gone
            self.passed += 1
        if self.answer.uses == 0:
            raise AssertionError('the tests never use the answer')

    def execute(self, text, name='<tests>'):
        exec(compile(text, name, 'exec', optimize=0), self.names)

    def run_calls(self, candidate):
        """Arguments and result are JSON: a tuple is as good as a list."""
        for call in self.config['calls']:
            given = listed(candidate(*call['args']))
            if given != call['result']:
                raise AssertionError('%s%r gives %r' % (self.config['entry'], tuple(call['args']), given))
            self.passed += 1

    def bind_names(self):
        """What the tests use and nobody but the answer can define. A built-in name is the built-in, whatever the answer calls so."""
        text = '\n'.join([self.config['setup'], *self.config['tests']])
        tree = ast.parse(text)
        for name in free_names(text):
            if name not in self.names and not hasattr(builtins, name):
                self.bind(tree, name)
        if not any(type(value) is Remote for value in self.names.values()):
            for name in shadowed_names(tree):
                self.names[name] = self.answer.ask('find', name=name)

    def bind(self, tree, name):
        if name in sys.stdlib_module_names and used_as_module(tree, name):
            self.names[name] = __import__(name)
        else:
            found = self.answer.ask('find', name=name)
            self.names[name] = found
            # A plain value is all of the answer that the tests can use of it; a function must be called.
            self.answer.uses += type(found) is not Remote


def free_names(text):
    table = symtable.symtable(text, '<tests>', 'exec')
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used, tables = set(), [table]
    while tables:
        scope = tables.pop()
        tables += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and (scope is table or symbol.is_global()):
                used.add(symbol.get_name())
    return sorted(used - bound)


def shadowed_names(tree):
    """Tests that name nothing but built-ins (MBPP 126 tests a `sum` of the answer): what the first call of each statement calls."""
    calls = [[node for node in ast.walk(statement) if isinstance(node, ast.Call)] for statement in tree.body]
    return {first[0].func.id for first in calls if first and isinstance(first[0].func, ast.Name)}


def used_as_module(tree, name):
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
        for node in ast.walk(tree)
    )


def listed(value):
    if isinstance(value, (list, tuple)):
        return [listed(item) for item in value]
    if isinstance(value, dict):
        return {(key if isinstance(key, str) else json.dumps(key)): listed(item) for key, item in value.items()}
    return value


def parses(text):
    try:
        compile(text, '<prompt>', 'exec')
        return True
    except (SyntaxError, ValueError):
        return False


def place_of(error, tests):
    """The line of the tests that raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == '<tests>']
    if not frames:
        return ''
    statement = tests.config['tests'][min(tests.passed, len(tests.config['tests']) - 1)]
    lines = statement.splitlines()
    at = frames[-1].lineno
    return lines[at - 1].strip()[:300] if 0 < at <= len(lines) else ''


def verdict(tests):
    try:
        tests.run()
        return {'end': 'passed'}
    except Unparsable as error:
        return {'end': 'unparsable', 'detail': str(error)}
    except BaseException as error:
        text = '%s: %s' % (type(error).__name__, str(error)[:300])
        return {'end': 'failed', 'detail': ' — '.join(part for part in (place_of(error, tests), text) if part)}


def main(config):
    random.seed(0)
    tests = Tests(config, Answer(Channel()))
    ended = {**verdict(tests), 'passed': tests.passed}
    os.write(3, json.dumps(ended).encode())
    os._exit(0)
