# Plain values as lines of JSON, and the line channel between the two programs. Stands at the top of both judge.py and
# answer.py. What is not plain (functions, objects of the answer's classes, generators) stays where it is and travels as
# a handle. Nothing that arrives is ever executed: the reader builds built-in values and nothing else.
import builtins, collections, decimal, fractions, json, os, sys

if hasattr(sys, 'set_int_max_str_digits'):
    sys.set_int_max_str_digits(0)

LINE_LIMIT = 16 << 20
SAFE_INTEGER = 1 << 53


class Channel:
    """One JSON value a line on descriptor 4, whose other end the other program has. What is printed goes nowhere."""

    def __init__(self):
        self.reader = os.fdopen(4, 'rb', closefd=False)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)

    def send(self, line):
        while line:
            line = line[os.write(4, line):]

    def receive(self):
        """The next value; None at the end of the other program."""
        line = self.reader.readline(LINE_LIMIT + 1)
        if not line.endswith(b'\n'):
            return None
        return json.loads(line)


def line_of(value):
    line = json.dumps(value).encode() + b'\n'
    if len(line) > LINE_LIMIT:
        raise ValueError('a value of more than %d bytes' % LINE_LIMIT)
    return line


def pack(value, other):
    """`other` packs what is not plain, or raises."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -SAFE_INTEGER < value < SAFE_INTEGER else {'i': hex(value)}
    if kind is float:
        return value if value - value == 0 else {'f': repr(value)}
    if kind is list:
        return [pack(item, other) for item in value]
    if kind in TAGS:
        return {TAGS[kind]: [pack(item, other) for item in value]}
    if kind is dict:
        return {'d': [[pack(key, other), pack(item, other)] for key, item in value.items()]}
    if kind is complex:
        return {'c': [pack(value.real, other), pack(value.imag, other)]}
    if kind is range:
        return {'r': [pack(item, other) for item in (value.start, value.stop, value.step)]}
    if kind is bytes or kind is bytearray:
        return {'b' if kind is bytes else 'a': value.hex()}
    if kind is fractions.Fraction:
        return {'q': [pack(value.numerator, other), pack(value.denominator, other)]}
    if kind is decimal.Decimal:
        return {'n': str(value)}
    if kind is type and getattr(builtins, value.__name__, None) is value:
        return {'y': value.__name__}
    return pack_derived(value, other)


def pack_derived(value, other):
    """Values of derived classes (named tuples, counters, enumerations of integers) travel as their base."""
    for base in (int, float, str, bytes, list, tuple, set, frozenset, dict):
        if isinstance(value, base):
            break
    else:
        return other(value)
    if base is dict:
        return {'d': [[pack(key, other), pack(item, other)] for key, item in dict.items(value)]}
    if base is str:
        return str.__str__(value)
    if base is int:
        return pack(int.__int__(value), other)
    if base is float:
        return pack(float.__float__(value), other)
    return pack(base(base.__iter__(value)), other)


TAGS = {tuple: 't', set: 's', frozenset: 'z', collections.deque: 'Q'}


def unpack(value, handle):
    """`handle` gives what stands for a handle's number."""
    if type(value) is list:
        return [unpack(item, handle) for item in value]
    if type(value) is not dict:
        return value
    (tag, body), = [(key, value[key]) for key in value if key not in ('k', 'b?', 'n?')]
    if tag == 'h':
        return handle(value)
    if tag == 'd':
        return {unpack(key, handle): unpack(item, handle) for key, item in body}
    return BUILDERS[tag]([unpack(item, handle) for item in body] if type(body) is list else body)


BUILDERS = {
    'i': lambda text: int(text, 16),
    'f': lambda text: {'nan': float('nan'), 'inf': float('inf'), '-inf': float('-inf')}[text],
    't': tuple,
    's': set,
    'z': frozenset,
    'Q': collections.deque,
    'c': lambda parts: complex(*parts),
    'r': lambda parts: range(*parts),
    'b': bytes.fromhex,
    'a': bytearray.fromhex,
    'q': lambda parts: fractions.Fraction(*parts),
    'n': decimal.Decimal,
    'y': lambda name: builtin_type(name),
}


def builtin_type(name):
    found = getattr(builtins, name)
    if not isinstance(found, type):
        raise ValueError('no built-in type ' + name)
    return found
