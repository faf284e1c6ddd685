// Near misses: an answer with one thing changed, so that it says something else. Every mutation is certain to change the
// value; where it could not be certain it gives nothing.

/** One changed answer, or undefined where the mutation does not apply. */
type Mutation = (answer: string) => string | undefined;

const isNumber = (answer: string): boolean => /^-?\d+(?:\.\d+)?$/.test(answer);
/** An expression to which something may be added: no list, relation, text, unit, base or interval. */
const isPlain = (answer: string): boolean =>
  !/[,=<>;:&%$]|\\(?:in|le|ge|leq|geq|pm|text|mbox|cup|infty|circ|begin)(?![A-Za-z])|_|\d\s*\\frac|^[A-Za-z]{2,}$/.test(
    answer,
  );
const isZero = (answer: string): boolean => Number(answer) === 0;

const replaceOnce = (answer: string, pattern: RegExp, by: (found: string) => string): string | undefined => {
  const changed = answer.replace(pattern, by);
  return changed === answer ? undefined : changed;
};

const nextDigit = (digit: string): string => String((Number(digit) + 1) % 10);

/** The items of a tuple, an interval, a set or a bare list of simple items. */
function itemsOf(answer: string): { open: string; items: string[]; close: string } | undefined {
  const [, open, inner, close] =
    /^(\\left\s*[([]|[([]|\\\{)?(.*?)(\\right\s*[)\]]|[)\]]|\\\})?$/s.exec(answer) ?? [];
  if (
    inner === undefined ||
    (open === undefined) !== (close === undefined) ||
    /[()[\]]|\\!|^\d{1,3}(,\d{3})+$/.test(inner)
  )
    return undefined;
  const items = inner.split(',').map((item) => item.trim());
  return items.length < 2 || new Set(items).size < items.length
    ? undefined
    : { open: open ?? '', items, close: close ?? '' };
}

function withItems(answer: string, change: (items: string[]) => string[] | undefined): string | undefined {
  const found = itemsOf(answer);
  const items = found && change([...found.items]);
  return found && items && `${found.open}${items.join(', ')}${found.close}`;
}

const swapped: Readonly<Record<string, string>> = { '(': '[', '[': '(', ')': ']', ']': ')' };

export const mutations: Readonly<Record<string, Mutation>> = {
  sign: (answer) => (isPlain(answer) && !isZero(answer) ? `-(${answer})` : undefined),
  'sign of a number': (answer) =>
    isNumber(answer) && !isZero(answer) ? answer.replace(/^-?/, (sign) => (sign ? '' : '-')) : undefined,
  'first digit': (answer) => replaceOnce(answer, /\d/, nextDigit),
  'last digit': (answer) => replaceOnce(answer, /\d(?=\D*$)/, nextDigit),
  'a digit more': (answer) =>
    isNumber(answer) && !isZero(answer) ? `${answer.replace(/\.0$/, '')}1` : undefined,
  'a digit less': (answer) => (/^-?\d{2,}$/.test(answer) ? answer.slice(0, -1) : undefined),
  'ten times': (answer) => (/^-?\d+$/.test(answer) && !isZero(answer) ? `${answer}0` : undefined),
  'plus one': (answer) => (isPlain(answer) ? `${answer} + 1` : undefined),
  'plus a little': (answer) => (isPlain(answer) ? `${answer} + 10^{-9}` : undefined),
  double: (answer) => (isPlain(answer) && !isZero(answer) ? `2(${answer})` : undefined),
  'a factor of root two': (answer) =>
    isPlain(answer) && !isZero(answer) ? `(${answer})\\sqrt{2}` : undefined,
  'a variable more': (answer) => (isPlain(answer) && !isZero(answer) ? `(${answer})w` : undefined),
  'a fraction upside down': (answer) => {
    const [whole, over, under] = /^\\frac\{([^{}]+)\}\{([^{}]+)\}$/.exec(answer) ?? [];
    return whole === undefined || over === under ? undefined : `\\frac{${under!}}{${over!}}`;
  },
  'an exponent more': (answer) => replaceOnce(answer, /(?<=[a-z]\^)\d/, nextDigit),
  'a root of the next degree': (answer) => replaceOnce(answer, /\\sqrt(?=\s*\{)/, () => '\\sqrt[3]'),
  'plus for minus': (answer) =>
    /\\pm|^-?\d+ ?-/.test(answer)
      ? undefined
      : replaceOnce(answer, /(?<=[0-9a-z}] )- (?=[0-9a-z\\])/, () => '+ '),
  'a term less': (answer) =>
    isPlain(answer) ? replaceOnce(answer, / [+-] [0-9a-z]+$/, () => '') : undefined,
  'the bracket that opens': (answer) =>
    itemsOf(answer) ? replaceOnce(answer, /[([]/, (bracket) => swapped[bracket]!) : undefined,
  'the bracket that closes': (answer) =>
    itemsOf(answer) ? replaceOnce(answer, /[)\]](?=[^)\]]*$)/, (bracket) => swapped[bracket]!) : undefined,
  subset: (answer) => withItems(answer, (items) => (items.length > 2 ? items.slice(1) : undefined)),
  'one of them': (answer) => itemsOf(answer)?.items[0],
  superset: (answer) => withItems(answer, (items) => [...items, '987']),
  'swapped order': (answer) =>
    /^(?:\\left\s*)?[([]/.test(answer)
      ? withItems(answer, ([a, b, ...rest]) => [b!, a!, ...rest])
      : undefined,
  'another base': (answer) => replaceOnce(answer, /(?<=\d_\{?)\d/, nextDigit),
  'a letter less': (answer) => replaceOnce(answer, /(?<=\\text\{[a-zA-Z]{2,})[a-z](?=\})/, () => ''),
  'another letter': (answer) =>
    replaceOnce(answer, /(?<=^\\text\{\()[A-D](?=\)\}$)/, (letter) =>
      String.fromCharCode(letter.charCodeAt(0) + 1),
    ),
  'another variable': (answer) =>
    isPlain(answer) ? replaceOnce(answer, /(?<![\\A-Za-z])[a-df-hj-z](?![A-Za-z])/, () => 'w') : undefined,
};
