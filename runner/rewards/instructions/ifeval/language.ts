// IFEval's families `language` and `change_case`: what a language detector or the case of letters decides.
// Where the detector is unsure an instruction is not followed; the original lets such a response pass.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import { detectLanguage } from '../../language.ts';
import type { ChecksFor } from '../check.ts';
import { capitalTokens } from '../text/tokens.ts';
import { isLower, isUpper } from '../text/words.ts';
import { holds } from './relation.ts';

type Ids = `language:${string}` | `change_case:${string}`;
type Languages = { [Id in Extract<keyof typeof ifevalArguments, Ids>]: (typeof ifevalArguments)[Id] };

export const languageChecks: ChecksFor<Languages> = {
  'language:response_language': (response, { language }) => detectLanguage(response) === language,
  'change_case:capital_word_frequency': (response, { capital_frequency, capital_relation }) =>
    holds(capitalTokens(response).length, capital_relation, capital_frequency),
  'change_case:english_capital': (response) => isUpper(response) && detectLanguage(response) === 'en',
  'change_case:english_lowercase': (response) => isLower(response) && detectLanguage(response) === 'en',
};
