// Small limits, so that an attack is over soon. CPU time is short and the wall far, as it must be on a busy machine; an
// attack that does not compute runs against a near wall.
import type { Limits } from '../../../runner/rewards/sandbox/sandbox.ts';

export const battleLimits: Partial<Limits> = { cpuSeconds: 1, wallSeconds: 30, memoryBytes: 256 * 2 ** 20 };
export const nearWall: Partial<Limits> = { wallSeconds: 2 };
