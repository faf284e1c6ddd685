// Hand-written responses that follow or miss each of IFEval's instructions; an id without examples does not compile.
import type { z } from 'zod';
import type { ifevalArguments } from '../../../api/contract/instructions/ifeval.ts';

type Id = keyof typeof ifevalArguments;
interface Example<Arguments> {
  readonly args: Arguments;
  readonly follows: readonly string[];
  readonly misses: readonly string[];
}
type Examples = {
  readonly [One in Id]: readonly [
    Example<z.infer<(typeof ifevalArguments)[One]>>,
    ...Example<z.infer<(typeof ifevalArguments)[One]>>[],
  ];
};

const german =
  'Der Zug nach Hamburg fährt heute leider später ab, weil es auf der Strecke einen umgestürzten Baum gibt.';
const english =
  'The train to the coast leaves later than usual today because a fallen tree is blocking the line.';

export const ifevalExamples: Examples = {
  'keywords:existence': [
    {
      args: { keywords: ['river', 'Land'] },
      follows: ['The RIVER runs through the land.', 'riverside landing'],
      misses: ['The river runs dry.', 'No such thing here.'],
    },
    // A pattern would match any character at the period; a literal keyword does not.
    { args: { keywords: ['a.b'] }, follows: ['see a.b there'], misses: ['see aXb there'] },
    { args: { keywords: ['c++ ('] }, follows: ['about C++ (the language)'], misses: ['about C'] },
  ],
  'keywords:frequency': [
    {
      args: { keyword: 'knock', frequency: 3, relation: 'at least' },
      follows: ['Knock, knock, KNOCK.', 'knockknockknockknock'],
      misses: ['Knock, knock.', 'silence'],
    },
    {
      args: { keyword: 'knock', frequency: 3, relation: 'less than' },
      follows: ['Knock, knock.', 'silence'],
      misses: ['knock knock knock', 'knock knock knock knock'],
    },
  ],
  'keywords:forbidden_words': [
    {
      args: { forbidden_words: ['can', 'Ride'] },
      follows: ['The candle rides on.', 'canned'],
      misses: ['I CAN go.', 'a ride', 'you can’t', 'can'],
    },
    { args: { forbidden_words: ['नदी'] }, follows: ['नदियाँ'], misses: ['यह नदी है'] },
  ],
  'keywords:letter_frequency': [
    {
      args: { letter: 'Q', let_frequency: 2, let_relation: 'at least' },
      follows: ['Quick quips', 'qqq'],
      misses: ['Quick', 'none'],
    },
    {
      args: { letter: '#', let_frequency: 2, let_relation: 'less than' },
      follows: ['# one', 'none'],
      misses: ['## two', '# # #'],
    },
  ],
  'language:response_language': [
    { args: { language: 'de' }, follows: [german], misses: [english, '12345', 'ok'] },
    { args: { language: 'en' }, follows: [english], misses: [german] },
    {
      args: { language: 'ne' },
      follows: ['म नेपालमा बस्छु र मलाई पहाडहरू धेरै मन पर्छ। हिजो हामी साथीहरूसँग पोखरा गएका थियौं।'],
      misses: ['मैं दिल्ली में रहता हूँ और मुझे किताबें पढ़ना पसंद है।'],
    },
    {
      args: { language: 'sw' },
      follows: [
        'Mpendwa rafiki, natumai u mzima wa afya. Ninakuandikia barua hii kukujulisha habari za nyumbani.',
      ],
      misses: [english],
    },
  ],
  'length_constraints:number_sentences': [
    {
      args: { num_sentences: 3, relation: 'at least' },
      follows: ['One. Two! Three?', 'Dr. Smith left. She ran. He stayed. All slept.'],
      misses: ['One. Two.', 'Dr. Smith met Mr. Jones. They spoke.'],
    },
    {
      args: { num_sentences: 3, relation: 'less than' },
      follows: ['One. Two.', 'no end at all'],
      misses: ['One. Two. Three.', 'One! Two! Three! Four!'],
    },
  ],
  'length_constraints:number_paragraphs': [
    {
      args: { num_paragraphs: 2 },
      follows: ['one\n***\ntwo', '***\none\n***\ntwo\n***'],
      misses: ['one', 'one *** two *** three', 'one\n***\n***\ntwo', 'one\n\ntwo'],
    },
  ],
  'length_constraints:number_words': [
    {
      args: { num_words: 4, relation: 'at least' },
      follows: ["It's four now", 'one two three four five'],
      misses: ['one two three', '... !!! ---'],
    },
    {
      args: { num_words: 4, relation: 'less than' },
      follows: ['one two three', 'नमस्ते दुनिया'],
      misses: ['one two three four', "that's too many words"],
    },
  ],
  'length_constraints:nth_paragraph_first_word': [
    {
      args: { num_paragraphs: 2, nth_paragraph: 2, first_word: 'Elm' },
      follows: ['An oak.\n\nElm, of course.', 'An oak.\n\n\n\n"elm" it is', 'a\n\nELM'],
      misses: ['Elm.\n\nAn oak.', 'An oak.\n\nElms.', 'a\n\nelm\n\nc', 'elm'],
    },
  ],
  'detectable_content:number_placeholders': [
    {
      args: { num_placeholders: 2 },
      follows: ['Dear [name], of [street].', '[a][b]', '[a] [b] [c]'],
      misses: ['Dear [name],', '[] [ ]', '[a\nb] [c]', '[a [b]'],
    },
  ],
  'detectable_content:postscript': [
    {
      args: { postscript_marker: 'P.S.' },
      follows: ['Bye.\nP.S. Write!', 'Bye.\np. s. write', 'Bye.\n\nP.P.S. no: P.S. yes'],
      misses: ['Bye.\nPS: write', 'Bye.'],
    },
    {
      args: { postscript_marker: 'P.P.S' },
      follows: ['Bye.\nP.P.S. Write!', 'P.P.S write'],
      misses: ['Bye.\nP.S. Write!'],
    },
    { args: { postscript_marker: 'By the way:' }, follows: ['by the way: hi'], misses: ['by the way, hi'] },
  ],
  'detectable_format:number_bullet_lists': [
    {
      args: { num_bullets: 2 },
      follows: ['* one\n* two', 'List:\n- one\n  - two', '* one\n** not one\n- two'],
      misses: ['* one', '* one\n* two\n* three', '1. one\n2. two', '** one\n** two'],
    },
  ],
  'detectable_format:constrained_response': [
    {
      args: {},
      follows: ['My answer is yes.', 'Well: My answer is maybe.'],
      misses: ['My answer is yes', 'my answer is no.', 'Maybe.'],
    },
  ],
  'detectable_format:number_highlighted_sections': [
    {
      args: { num_highlights: 2 },
      follows: ['*one* and *two*', '**one** and *two*', '*a* *b* *c*'],
      misses: ['*one*', '** ** * *', '*one\ntwo* three', '* one\n* two'],
    },
  ],
  'detectable_format:multiple_sections': [
    {
      args: { section_spliter: 'Day', num_sections: 2 },
      follows: ['Day 1\nwalk\nDay 2\nrest', 'Day1 a Day2 b Day3 c'],
      misses: ['Day 1\nwalk', 'Day one\nDay two', 'DAY 1\nDAY 2'],
    },
  ],
  'detectable_format:json_format': [
    {
      args: {},
      follows: ['{"a": [1, 2]}', '```json\n{"a": 1}\n```', '```\n[]\n```', ' "text" '],
      misses: ['{a: 1}', 'Here it is: {"a": 1}', '{"a": 1', 'NaN', '```json\n```'],
    },
  ],
  'detectable_format:title': [
    {
      args: {},
      follows: ['<<Ode to Rain>>\nIt rains.', 'It is called <<<Rain>>>.'],
      misses: ['<Ode to Rain>', '<<>>', '<< >>', '<<Ode\nto Rain>>', '>>Ode<<', '<<<>>>'],
    },
  ],
  'combination:two_responses': [
    {
      args: {},
      follows: ['Yes.\n******\nNo.', '******\nYes.\n******\nNo.\n******'],
      misses: [
        'Yes.',
        'Yes.\n******\nYes.',
        'a\n******\nb\n******\nc',
        'a\n******\n\n******\nb',
        'a\n***\nb',
      ],
    },
  ],
  'combination:repeat_prompt': [
    {
      args: { prompt_to_repeat: 'Why is rain wet?' },
      follows: ['Why is rain wet? Because.', '  why is Rain wet?\nBecause.'],
      misses: ['Sure. Why is rain wet? Because.', 'Why is rain so wet? Because.', 'Why is rain'],
    },
  ],
  'startend:end_checker': [
    {
      args: { end_phrase: 'Any other questions? ' },
      follows: ['Done. any other QUESTIONS?', '"Done. Any other questions?"\n'],
      misses: ['Any other questions? No.', 'Done.'],
    },
    { args: { end_phrase: 'He said "Peace!"' }, follows: ['So he said "Peace!"'], misses: ['So: "Peace!"'] },
  ],
  'startend:quotation': [
    {
      args: {},
      follows: ['"All of it."', ' "a" and "b"\n'],
      misses: ['"', 'All "of" it', '"Begun', '“curly”'],
    },
  ],
  'change_case:capital_word_frequency': [
    {
      args: { capital_frequency: 3, capital_relation: 'at least' },
      follows: ['WE WON IT.', "I DON'T", 'A well-known NASA-ESA I', 'U.S. (NATO) EU'],
      misses: ['WE Won it.', 'none', 'NASA-ESA USA'],
    },
    {
      args: { capital_frequency: 3, capital_relation: 'less than' },
      follows: ['WE Won it.', 'none', 'HELLO-WORLD 123'],
      misses: ['WE WON IT.', 'ONE,TWO:THREE'],
    },
  ],
  'change_case:english_capital': [
    {
      args: {},
      follows: [english.toUpperCase()],
      misses: [english, german.toUpperCase(), '123 456', `${english.toUpperCase()} yes`],
    },
  ],
  'change_case:english_lowercase': [
    {
      args: {},
      follows: [english.toLowerCase()],
      misses: [english, german.toLowerCase(), '123 456', `${english.toLowerCase()} I see`],
    },
  ],
  'punctuation:no_comma': [
    { args: {}, follows: ['None of it; at all.', '1.000'], misses: ['Yes, one.', '1,000'] },
  ],
};
