# The answer's side: runs the model's code and answers calls to it. It holds no test, no expected value and no verdict, so
# nothing that the model's code does to this program can be worth more than the values it sends back.
import itertools


def program_of(config):
    """Compiled parts to run in order: the answer as a whole program, or as what follows the prompt. None: neither parses."""
    code, prefix = compiled(config['code']), config['prefix']
    if prefix and not config['whole']:
        joined = compiled(prefix + config['code'])
        return [joined or code] if joined or code else None
    before = compiled(prefix) if prefix else None
    return [part for part in (before, code) if part] if code else None


def compiled(text):
    try:
        return compile(text, '<answer>', 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None


class Answer:
    def __init__(self, channel, config):
        self.channel = channel
        self.config = config
        self.names = {'__name__': 'answer', '__builtins__': __builtins__}
        self.given = {}
        self.held = {}
        self.fault = None

    def start(self):
        parts = program_of(self.config)
        if parts is None:
            self.fault = {'unparsable': first_fault(self.config['code'])}
            return
        setup = compiled(self.config['setup'])
        if setup:
            try:  # A set-up that builds objects of the answer's classes (MBPP) is the tests' alone and fails here.
                exec(setup, self.names)
            except Exception:
                pass
        try:
            for part in parts:
                self.given = dict(self.names)
                exec(part, self.names)
        except BaseException as error:
            self.fault = {'raised': fault_of(error)}

    def serve(self):
        while True:
            request = self.channel.receive()
            if request is None:
                return
            try:
                line = line_of({'id': request['id'], **self.answer(request)})
            except Exception as error:
                line = line_of({'id': request['id'], 'raised': fault_of(error)})
            self.channel.send(line)

    def answer(self, request):
        if self.fault:
            return self.fault
        try:
            return {'value': pack(self.perform(request), self.hold)}
        except BaseException as error:
            return {'raised': fault_of(error)}

    def perform(self, request):
        op, on = request['op'], request.get('on')
        if op == 'start':
            return None
        if op == 'find':
            return self.find(request['name'])
        target = self.held[on]
        if op == 'call':
            positional = [unpack(item, self.object_of) for item in request['args']]
            named = {name: unpack(item, self.object_of) for name, item in request['named'].items()}
            return target(*positional, **named)
        if op == 'get':
            return getattr(target, request['name'])
        if op == 'set':
            return setattr(target, request['name'], unpack(request['value'], self.object_of))
        if op == 'iterate':
            return iter(target)
        if op == 'next':
            return [item for item in itertools.islice(target, 1)]
        raise ValueError('no operation ' + op)

    def find(self, name):
        own = self.names.get(name) is not self.given.get(name)  # not the open function that the prompt left
        if name.isidentifier() and not own and 'Solution' in self.names:
            return getattr(self.names['Solution'](), name)
        return eval(name, self.names)

    def hold(self, value):
        self.held[id(value)] = value
        try:
            truth = bool(value)
        except Exception:
            truth = True
        return {'h': id(value), 'k': type(value).__name__, 'b?': truth, 'n?': hasattr(type(value), '__next__')}

    def object_of(self, handle):
        return self.held[handle['h']]


def first_fault(code):
    try:
        compile(code, '<answer>', 'exec', dont_inherit=True)
    except Exception as error:
        return fault_of(error)['text']


def fault_of(error):
    try:
        text = str(error)[:300]
    except Exception:
        text = ''
    known = [base.__name__ for base in type(error).__mro__ if getattr(builtins, base.__name__, None) is base]
    return {'kind': known[0], 'name': type(error).__name__, 'text': text, 'fatal': not isinstance(error, Exception)}


def main(config):
    answer = Answer(Channel(), config)
    answer.start()
    answer.serve()
