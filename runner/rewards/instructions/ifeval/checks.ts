// IFEval's instruction ids -> their checks.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import type { ChecksFor } from '../check.ts';
import { contentChecks } from './content.ts';
import { formatChecks } from './format.ts';
import { keywordChecks } from './keywords.ts';
import { languageChecks } from './language.ts';
import { lengthChecks } from './length.ts';

export const ifevalChecks = {
  ...keywordChecks,
  ...languageChecks,
  ...lengthChecks,
  ...contentChecks,
  ...formatChecks,
} satisfies ChecksFor<typeof ifevalArguments>;
