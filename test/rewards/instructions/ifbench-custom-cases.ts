// Hand-written responses for IFBench's `custom:` constraints, whose whole task is given.
import type { IfbenchId } from '../../../api/contract/instructions/ifbench.ts';
import type { Cases } from './ifbench-cases.ts';

type CustomId = Extract<IfbenchId, `custom:${string}`>;

const rows = (header: string, row: (index: number) => string, count: number): string =>
  [header, ...Array.from({ length: count }, (_, index) => row(index + 1))].join('\n');

const products = (special: string): string =>
  rows(
    'ProductID,Category,Brand,Price,Stock',
    (index) => `${index},Toys,${index === 3 ? special : 'Acme'},9,4`,
    14,
  );

const grades = (cell: (text: string) => string, count = 3): string =>
  rows(
    ['StudentID', 'Subject', 'Grade', 'Semester', 'Score'].map(cell).join('\t'),
    (index) => [String(index), 'Art', 'A', 'Fall', '9'].map(cell).join('\t'),
    count,
  );

const quoted = (text: string): string => `"${text}"`;

const capitals =
  'Reykjavík, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, Amsterdam, Warsaw, ' +
  'London, Brussels, Kyiv, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chișinău, Bern, Ljubljana, Zagreb';

const africa = (
  'Algeria, Angola, Benin, Botswana, Burkina Faso, Burundi, Cabo Verde, Cameroon, Central African Republic, Chad, Comoros, ' +
  'Congo, Côte d’Ivoire, Democratic Republic of the Congo, Djibouti, Egypt, Equatorial Guinea, Eritrea, Eswatini, Ethiopia, ' +
  'Gabon, Gambia, Ghana, Guinea, Guinea-Bissau, Kenya, Lesotho, Liberia, Libya, Madagascar, Malawi, Mali, Mauritania, ' +
  'Mauritius, Morocco, Mozambique, Namibia, Niger, Nigeria, Rwanda, São Tomé and Príncipe, Senegal, Seychelles, ' +
  'Sierra Leone, Somalia, South Africa, South Sudan, Sudan, Tanzania, Togo, Tunisia, Uganda, Zambia, Zimbabwe'
).split(', ');
const reversed = africa.toReversed();

const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

const question = (index: number, options = 'ABCDE', text = 'who'): string =>
  [
    `Question ${index}: ${text}${' painted it'.repeat(index)}?`,
    ...[...options].map((letter) => `${letter}) Someone`),
  ].join('\n');
const questions = (...all: string[]): string => all.join('\n\n');

export const customCases: { readonly [Id in CustomId]: Cases<Id> } = {
  'custom:character_reverse': {
    args: {},
    followed: ['.elgae dlab eht si SU eht fo lobmys lanoitan ehT'],
    broken: ['The bald eagle.', 'eagle bald', 'The bald eagle is elgae dlab.'],
  },
  'custom:csv_city': {
    args: {},
    followed: [
      rows('ID,Country,City,Year,Count', (index) => `${index},France,"Paris, Texas",2020,4`, 7) + '\n',
    ],
    broken: [
      rows('ID,Country,City,Year,Count', (index) => `${index},France,Paris,2020,4`, 6),
      rows('ID,Country,City,Year', (index) => `${index},France,Paris,2020`, 7),
      rows('ID,Country,City,Year,Count', (index) => `${index},France,Paris, Texas,2020,4`, 7),
    ],
  },
  'custom:csv_quotes': {
    args: {},
    followed: [grades(quoted)],
    broken: [
      grades((text) => text),
      grades(quoted, 4),
      grades(quoted).replaceAll('\t', ','),
      grades(quoted).replace('"Art"', 'Art'),
    ],
  },
  'custom:csv_special_character': {
    args: {},
    followed: [products('"Acme, Inc."'), products('"A&B"').replaceAll('\n', '\r\n')],
    broken: [
      products('Acme!'),
      products('"Acme"'),
      products('"A&B"').replace('14,Toys', '14;Toys'),
      'ProductID',
    ],
  },
  'custom:date_format_list': {
    args: {},
    followed: ['1796-04-12, 1805-12-02,1815-06-18', '1796-02-29'],
    broken: [
      '1796-4-12',
      '1796-13-01',
      '1797-02-29',
      '1805-00-10',
      '1914-08-01',
      'Dates: 1796-04-12',
      '1796-04-12 1805-12-02',
    ],
  },
  'custom:european_capitals_sort': {
    args: {},
    // The original's list leaves out Kyiv, which lies at 50.5 degrees.
    followed: [capitals, capitals.replace('Kyiv', 'Kiev')],
    broken: [
      capitals.replace('Kyiv, ', ''),
      capitals.replace('Oslo, Tallinn', 'Tallinn, Oslo'),
      `${capitals}, Rome`,
      'Paris',
    ],
  },
  'custom:mcq_count_length': {
    args: {},
    followed: [
      questions(question(1), question(2), question(3), question(4)),
      questions(question(1), question(2), question(3), question(5)),
    ],
    broken: [
      questions(question(1), question(2), question(3)),
      questions(question(1), question(3), question(2), question(4)),
      questions(question(1), question(2, 'ABCD'), question(3), question(4)),
      `Here they are:\n${questions(question(1), question(2), question(3), question(4))}`,
      `${questions(question(1), question(2), question(3), question(4))}\nThe last answer is E because he did.`,
    ],
  },
  'custom:multiples': {
    args: {},
    followed: ['14, 21, 28, 35, 42, 49', '14\n21\n28\n35\n42\n49', '14,21,28,35,42,49'],
    broken: ['10, 14, 21, 28, 35, 42, 49', '14, 21, 28, 35, 42', '7, 14, 21, 28, 35, 42, 49', 'none'],
  },
  'custom:reverse_newline': {
    args: {},
    followed: [
      reversed.join('\n'),
      `Here they are:\n${reversed.map((name, index) => `${index + 1}. ${name}`).join('\n')}`,
      reversed.filter((name) => name !== 'Seychelles').join('\n'),
    ],
    broken: [
      africa.join('\n'),
      reversed.join(', '),
      reversed.slice(0, 40).join('\n'),
      reversed.join('\n').replace('Kenya', 'Jamaica'),
      reversed.join('\n').replace('Zambia\nUganda', 'Uganda\nZambia'),
    ],
  },
  'custom:sentence_alphabet': {
    args: {},
    followed: [alphabet.map((letter) => `${letter}nd so on.`).join(' ')],
    broken: [
      alphabet
        .slice(1)
        .map((letter) => `${letter}nd so on.`)
        .join(' '),
      alphabet
        .toReversed()
        .map((letter) => `${letter}nd so on.`)
        .join(' '),
      'A story.',
    ],
  },
  'custom:word_reverse': {
    args: {},
    followed: ['eagle bald the is US the of symbol national The.', 'Eagle bald the is animal national The'],
    broken: ['The national symbol is the bald eagle.', 'eagle golden the is It'],
  },
};
