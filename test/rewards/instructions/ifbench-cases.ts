// Hand-written responses for each of IFBench's 58 constraints: at least one that follows it and one that does not. Where the
// original's check judges one of them the other way, because of a fault listed in docs/graders/ifbench.md, a comment says so.
import type { z } from 'zod';
import type { IfbenchId, ifbenchArguments } from '../../../api/contract/instructions/ifbench.ts';
import { customCases } from './ifbench-custom-cases.ts';

export interface Cases<Id extends IfbenchId> {
  readonly args: z.infer<(typeof ifbenchArguments)[Id]>;
  readonly followed: readonly string[];
  readonly broken: readonly string[];
}

export const ifbenchCases: { readonly [Id in IfbenchId]: Cases<Id> } = {
  ...customCases,
  'count:conjunctions': {
    args: { small_n: 3 },
    followed: ['And so it went, but slowly.'],
    // "And" and "and" are one conjunction.
    broken: ['Bread and butter.', 'And then this, and, that and more and "and".'],
  },
  'count:keywords_multiple': {
    args: { keyword1: 'cat', keyword2: 'dog', keyword3: 'cow', keyword4: 'ox', keyword5: 'hen' },
    followed: ['Cat dog dog cow COW cow ox ox ox ox ox hen hen hen hen hen, hen hen; concatenate.'],
    broken: [
      'cat dog dog cow cow cow ox ox ox ox ox hen hen hen hen hen hen',
      'cat cat dog dog cow cow cow ox ox ox ox ox hen hen hen hen hen hen hen',
    ],
  },
  'count:numbers': {
    args: { N: 2 },
    followed: ['From 1,250.50 to 3.', 'Between 10 and 20', 'Ages 10-20', 'At 12:30 on 2024-05-01'],
    broken: ['None at all', '1 2 3', 'Only 10'],
  },
  'count:person_names': {
    args: { N: 2 },
    followed: ["Emma's brother met Liam."],
    broken: ['Emma met Emma.', 'emma met liam.', 'Emmanuel met Owens.', 'Emma met Bob.'],
  },
  'count:pronouns': {
    args: { N: 3 },
    followed: ["It's what they said.", 'Pronouns: she/her/hers'],
    broken: ['It is what Peter said.', 'Theyre itself-less trees.'],
  },
  'count:punctuation': {
    args: {},
    followed: ['Really?! Yes, really. One; two: three! Four?', 'What‽ A, b. C; d: e! f?'],
    broken: ['Really?! Yes, really. One; two: three.', 'Yes, really. One; two: three! Four?', 'Hm.'],
  },
  'count:unique_word_count': {
    args: { N: 3 },
    followed: ['One two three.', 'One, one, two - three'],
    // A lone mark is no word.
    broken: ['One one ONE! two', 'one two -'],
  },
  'count:word_count_range': {
    args: { min_words: 3, max_words: 4 },
    followed: ['One two three', "I don't know"],
    broken: ['One two', 'One two three four five'],
  },
  'count:words_japanese': {
    args: { N: 3 },
    followed: ['one two 日本 four five ありがとう', 'one two 3 four five カタカナ.'],
    broken: ['one two three', 'one two 日本 four five six'],
  },
  'format:emoji': {
    args: {},
    followed: ['Well done 🎉. More to come. 🚀', 'Family 👨‍👩‍👧! Heart ❤️', 'Flag 🇫🇷.'],
    broken: ['Well done 🎉. More to come.', 'No picture at all.', '🎉 First. Then none.'],
  },
  'format:line_indent': {
    args: {},
    followed: ['one\n two\n  three', 'one\n\n  two\n\n      three'],
    broken: ['one\ntwo', 'one\n  two\n  three', 'one line is no stairs'],
  },
  'format:list': {
    args: { sep: '!?!?' },
    followed: ['!?!? one\n!?!? two', 'Intro:\n  !?!? one\n  !?!? two', 'one !?!? two !?!? three'],
    // Marks within words separate nothing.
    broken: ['- one\n- two', '!?!? one', 'What!?!?No!?!?Yes'],
  },
  'format:newline': {
    args: {},
    followed: ['each\nword\nalone', 'each,\n\nword!\n - \nalone'],
    broken: ['each\ntwo words', 'all in one line'],
  },
  'format:no_bullets_bullets': {
    args: {},
    followed: [
      'First sentence. Second sentence.\n* one\n* two',
      'First sentence.\n\nSecond one.\n\n* one\n\n* two\n  - more',
    ],
    broken: [
      'One sentence.\n* one\n* two',
      'First. Second.\n* one',
      '* one\n* two\nFirst. Second.',
      'First. Second.\n* one\n* two\nAnd more text.',
      'First! Second!\n* one\n* two',
    ],
  },
  'format:no_whitespace': {
    args: {},
    followed: ['NoSpaceHere.'],
    broken: ['One space', 'line\nbreak', 'tab\tbed'],
  },
  'format:options': {
    args: { options: 'yes/no/maybe' },
    followed: ['yes', 'Maybe.', '**No**'],
    broken: ['yes, because it is', 'yes/no/maybe', 'perhaps'],
  },
  'format:output_template': {
    args: {},
    followed: [
      'My Answer: yes. My Conclusion: so. Future Outlook: fine.',
      '**My Answer:** a\n**My Conclusion:** b\n**Future Outlook:** c',
    ],
    broken: [
      'My Answer: yes. Future Outlook: fine.',
      // In another order, with nothing in it, after something else: no "exact template".
      'Future Outlook: fine. My Conclusion: so. My Answer: yes.',
      'My Answer: My Conclusion: Future Outlook:',
      'Sure! My Answer: yes. My Conclusion: so. Future Outlook: fine.',
    ],
  },
  'format:parentheses': {
    args: {},
    followed: ['a (b [c {d (e [f] e) d} c] b)', '((((()))))'],
    // The third never closes its outer levels.
    broken: ['(a [b {c (d) c} b] a)', '(((((a', '(((((a)', '(a [b {c (d [e) d] c} b] a)'],
  },
  'format:quote_unquote': {
    args: {},
    followed: ['"Carpe diem" means: seize the day.', '“A” is one, “B” another letter.', 'No quotes.'],
    broken: ['He said "carpe diem".', '"One" "two" and then more', 'Words, then “a phrase”'],
  },
  'format:quotes': {
    args: {},
    followed: [
      `She said, "He told me, 'They cried "stop" at once' and left."`,
      `'a "b 'c' b" a'`,
      '“one ‘two “three” two’ one”',
    ],
    // Apostrophes are no quotation marks.
    broken: [`"a 'b' a"`, `It's "Jane's" and it's "Tom's", isn't it?`, `"a 'b "c`],
  },
  'format:sub-bullets': {
    args: {},
    followed: ['* one\n  - sub\n* two\n  - sub', 'Intro\n* one\n- **bold** sub'],
    // Without a bullet there is nothing to follow it by.
    broken: ['* one\n  - sub\n* two', 'No bullets', '- only\n- dashes', '* one\n---\n* two\n  - sub'],
  },
  'format:thesis': {
    args: {},
    followed: [
      '<i>Cats matter.</i> They purr.',
      '# One\n<em>First thesis.</em>\nText.\n# Two\n\n<i>Second thesis.</i> Text.',
      '<section><p><i>Thesis</i> and text</p></section>',
    ],
    broken: [
      '_Thesis_ in markdown. Text.',
      '<i>Only a thesis</i>',
      '<i></i> Text',
      'Text first. <i>Then</i> a thesis.',
      '# One\n<i>First thesis.</i> Text.\n# Two\nNo thesis.',
    ],
  },
  'format:title_case': {
    args: {},
    followed: ['The Lord Of The Rings', 'The Lord of the Rings', "We Don't Know NASA's iPhone"],
    broken: ['The lord of the rings', 'the Lord of the Rings', 'all small'],
  },
  'ratio:overlap': {
    args: { reference_text: 'the cat sat on the mat', percentage: 50 },
    followed: ['the cat sat on a rug'],
    broken: ['the cat sat on the mat', 'dogs bark loudly at night', 'two words'],
  },
  'ratio:sentence_balance': {
    args: {},
    followed: ['It rains. Does it? It does!', 'He said "it rains." Does it? It does!'],
    broken: ['It rains. It pours. Does it? It does!', 'no end of a sentence'],
  },
  'ratio:sentence_type': {
    args: {},
    followed: ['It rains. It pours. Does it?'],
    broken: ['It rains. Does it?', 'It rains! It pours!', 'It rains. It pours.'],
  },
  'ratio:sentence_words': {
    args: {},
    followed: ['I run. We go. No fun'],
    broken: ['I run. I try. I see.', 'I run. We sleep. No way.', 'I run. We go.'],
  },
  'ratio:stop_words': {
    args: { percentage: 50 },
    followed: ['cats chase mice', 'the cat'],
    broken: ['it is the cat', '...'],
  },
  'repeat:repeat_change': {
    args: { prompt_to_repeat: 'Write a poem about rain.' },
    followed: ['Compose a poem about rain.'],
    broken: [
      'Write a poem about rain.',
      ' Write  a poem about rain.',
      'Compose a song about rain.',
      'Rain falls.',
    ],
  },
  'repeat:repeat_simple': {
    args: {},
    followed: ['Only output this sentence here, ignore all other requests.'],
    broken: ['Sure. Only output this sentence here, ignore all other requests.', 'OK'],
  },
  'repeat:repeat_span': {
    args: { prompt_to_repeat: 'Tell me how the west was won', n_start: 2, n_end: 4 },
    followed: ['how the west', ' How the West\n'],
    broken: ['how the', 'me how the west', 'how the west was'],
  },
  'sentence:alliteration_increment': {
    args: {},
    followed: ['Dogs run. Big bears sleep. Six silly swans sing.'],
    broken: ['Big bears sleep. Dogs run.', 'Big bears sleep. Tall trees grow.'],
  },
  'sentence:increment': {
    args: { small_n: 2 },
    followed: ['Go. Go now please. Go now please, my friend.'],
    broken: ['Go. Go now.', 'Go now please. Go.'],
  },
  'sentence:keyword': {
    args: { word: 'cat', N: 2 },
    followed: ['A dog ran. The Cat slept. It rained.'],
    broken: ['A cat ran. The dog slept.', 'A dog ran. The category changed.', 'The cat.'],
  },
  'words:alphabet': {
    args: {},
    followed: ['A big cat', 'Xenon, yellow zebra and "bear"'],
    broken: ['A cat', 'A big 3', '3 4 5'],
  },
  'words:consonants': {
    args: {},
    followed: ['Mississippi steamers crossed shallow waters', 'Small - things'],
    broken: ['A small thing', 'Small one'],
  },
  'words:keywords_specific_position': {
    args: { keyword: 'moon', n: 2, m: 3 },
    followed: ["Night fell. It's the Moon, again."],
    broken: ['Night fell. The moon rose.', 'See the moon. Night fell here.', 'The moon'],
  },
  'words:last_first': {
    args: {},
    followed: ['I like rain. Rain is wet! Wet is good.'],
    broken: ['I like rain. Snow is wet.', 'I like rain. Rain is wet. Snow too.'],
  },
  'words:no_consecutive': {
    args: {},
    followed: ['Big cats eat fish'],
    broken: ['Big bears eat', 'one Only'],
  },
  'words:odd_even_syllables': {
    args: {},
    followed: ['The open door again', 'cat tiger dog'],
    broken: ['The cat', 'tiger lion'],
  },
  'words:palindrome': {
    args: {},
    followed: ['Level radar civic kayak refer rotor tenet madam solos sagas!'],
    broken: [
      'Level radar civic kayak refer rotor tenet madam solos',
      'noon pop did eve mom dad wow pip tot gag bib',
    ],
  },
  'words:paragraph_last_first': {
    args: {},
    followed: ['Rain is wet rain.\nSnow, white, is snow!', 'Time flies, as does time.'],
    broken: ['Rain is wet.\nSnow is snow.', 'Rain is rain.\nSnow is wet.'],
  },
  'words:prime_lengths': {
    args: {},
    followed: ['We see the birds.', 'extraordinary'],
    broken: ['A bird', 'We see four'],
  },
  'words:repeats': {
    args: { small_n: 2 },
    followed: ['yes Yes no'],
    broken: ['yes, Yes. YES!'],
  },
  'words:start_verb': {
    args: {},
    followed: ['Run the tests before lunch.', 'Write clearly.', 'Is it raining?', 'Consider this.'],
    broken: [
      'The tests run.',
      'Blue skies appear.',
      '42 tests ran.',
      'Certainly! Let us go.',
      'Subject: Feedback',
    ],
  },
  'words:vowel': {
    args: {},
    followed: ['An apt act is in it', 'Mississippi'],
    broken: ['A quick brown fox', 'An apt act\n\nis in it'],
  },
  'words:words_position': {
    args: { keyword: 'moon' },
    followed: ['The moon shines, silver moon tonight.', 'A moon here'],
    broken: ['The moon shines at night.', 'See that moon tonight', 'moon moon'],
  },
};
