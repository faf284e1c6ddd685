// Units behind a number or a formula: "5 cm", "18 apples", "36°", "28%", "15 cm^2".

const shortUnits =
  'mm|cm|km|kg|mg|ml|mL|ft|yd|mi|lb|lbs|oz|hr|hrs|min|mins|sec|secs|mph|kph|feet|foot|inch|unit|cent|cup|day|days|hour|week|year|mile|yard|gram|liter|litre|meter|metre|pound|men|women|ways|m(?=\\^[23]$)|(?:m|km|ft|mi)/(?:s|h|hr)';
/** Long words are units of counting ("apples"), unless they name a function, a letter, an operation or a part or multiple. */
const notUnits = new RegExp(
  '^(?:' +
    'alpha|beta|gamma|delta|theta|lambda|sigma|omega|infinity|times|minus|equals?|squared|cubed|fewer|other|where|' +
    'negative|below|short|approximately|roughly|about|wrong|double|triple|percentages?|percentiles?|factorials?|inverse|' +
    'reciprocal|binary|ternary|octal|hexadecimal|' +
    '(?:dozen|score|hundred|thousand|[a-z]+illion|googol|myriad|lakh|crore|grand|gross|pair|third|quarter|fourth|fifth|' +
    'sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|dozenth|[a-z]+teenth|[a-z]+tieth|hundredth|thousandth|' +
    '[a-z]+illionth)s?|halves|(?:thousand|[a-z]+illion)[a-z]+' +
    ')$',
);
const measured = new RegExp(
  `^(.*?[0-9)}π])(%|°|(?:(?:square|cubic|sq) ?)?(?:${shortUnits}|[a-z]{5,20})(?: per [a-z]{3,20})?(?:\\^\\{?[23]\\}?)?)$`,
);

/** The text before the unit and the unit's name without plural; an empty name where there is none. */
export function splitUnit(text: string): { readonly bare: string; readonly unit: string } {
  const [, bare, unit] = measured.exec(text) ?? [];
  if (bare === undefined || unit === undefined || notUnits.test(unit.replace(/ per .*$/, '')))
    return { bare: text, unit: '' };
  // The word of a command ("\theta") is no unit.
  if (/\\[A-Za-z]*$/.test(bare)) return { bare: text, unit: '' };
  return { bare, unit: unitName(unit) };
}

function unitName(unit: string): string {
  if (/^degrees?$/.test(unit)) return '°';
  const [, power, one] = /^(square|cubic|sq) ?([a-zA-Z]+)$/.exec(unit) ?? [];
  const plain = one === undefined ? unit : `${one}^${power === 'cubic' ? 3 : 2}`;
  return plain.replace(/[{}]/g, '').replace(/(?<=[a-z]{3})s(?=$|\^)/, '');
}
