// IFEval's two relations. The schema knows no third, so nothing can fall through to a pass.
import type { Relation } from '../../../../api/contract/instructions/ifeval.ts';

export const holds = (count: number, relation: Relation, threshold: number): boolean =>
  relation === 'less than' ? count < threshold : count >= threshold;
