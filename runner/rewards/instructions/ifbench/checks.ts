// IFBench's instruction ids -> their checks.
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { ChecksFor } from '../check.ts';

export const ifbenchChecks = {} satisfies ChecksFor<typeof ifbenchArguments>;
