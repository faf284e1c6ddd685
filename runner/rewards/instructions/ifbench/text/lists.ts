// Word lists that the constraints name: what is a stop word, a pronoun, a conjunction, and the closed answers of the custom ones.

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** English stop words as NLTK's corpus has them (from Porter's list), contractions as the two runs that they are. */
export const stopWords = set(`
  i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
  itself they them their theirs themselves what which who whom this that these those am is are was were be been being
  have has had having do does did doing a an the and but if or because as until while of at by for with about against
  between into through during before after above below to from up down in out on off over under again further then once
  here there when where why how all any both each few more most other some such no nor not only own same so than too very
  s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn
  shan shouldn wasn weren won wouldn
`);

/** Personal, possessive, reflexive, demonstrative, interrogative, relative and indefinite. */
export const pronouns = set(`
  i me we us you he him she her it they them my mine our ours your yours his hers its their theirs
  myself ourselves yourself yourselves himself herself itself themselves this that these those
  who whom whose which what whoever whomever whatever whichever
  anybody anyone anything everybody everyone everything nobody nothing somebody someone something
  each either neither both all some any none
`);

export const coordinatingConjunctions = set('for and nor but or yet so');

/** Words that a title writes small: articles, conjunctions, and prepositions of up to four letters. */
export const minorWords = set(`
  a an the and but or nor for yet so as at by in of off on out per to up via from into like near onto over past than with
  down if vs
`);

/** Named in the text of the constraint itself. */
export const personNames: readonly string[] = `
  Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin Harper Leo
  Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas
  Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan
`
  .trim()
  .split(/\s+/);

/** Capitals of European countries north of 45 degrees, from north to south: Zagreb lies at 45.8, Belgrade at 44.8. */
export const northernCapitals: readonly string[] = `
  reykjavik helsinki oslo tallinn stockholm riga moscow copenhagen vilnius minsk dublin berlin amsterdam warsaw london
  brussels kyiv prague luxembourg paris vienna bratislava budapest vaduz chisinau bern ljubljana zagreb
`
  .trim()
  .split(/\s+/);

/** The 54 members of the United Nations, each with the names that it goes by, letters and spaces only. */
export const africanCountries: readonly (readonly string[])[] = `
  algeria, angola, benin, botswana, burkina faso, burundi, cabo verde|cape verde, cameroon, central african republic, chad,
  comoros, djibouti, egypt, equatorial guinea, eritrea, eswatini|swaziland|eswatini swaziland, ethiopia, gabon, gambia, ghana,
  guinea, guinea bissau, ivory coast|cote d ivoire|cote divoire|cote d ivoire ivory coast, kenya, lesotho, liberia, libya,
  madagascar, malawi, mali, mauritania, mauritius, morocco, mozambique, namibia, niger, nigeria, rwanda,
  democratic republic of the congo|democratic republic of congo|congo democratic republic of the|dr congo|congo kinshasa|drc,
  republic of the congo|congo|congo republic of the|republic of congo|congo brazzaville,
  sao tome and principe, senegal, seychelles, sierra leone, somalia, south africa, south sudan, sudan, tanzania, togo, tunisia,
  uganda, zambia, zimbabwe
`
  .trim()
  .split(/,\s*/)
  .map((names) => names.split('|'));
