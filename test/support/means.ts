// Means of graders for tests: nothing in them starts before a grader needs it, and nothing keeps the process alive.
import { createMeans } from '../../runner/rewards/means.ts';

export const means = createMeans();
