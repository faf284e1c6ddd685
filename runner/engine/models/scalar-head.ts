// The scalar head of a reward model: final norm, then one number a row, as transformers' *ForSequenceClassification have it.

import { gradients } from '../graph/grad.ts';
import { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { accumulate } from '../ops/accumulate.ts';
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { reshape } from '../ops/shape.ts';
import type { DecoderConfig } from './config.ts';
import { gradientOf, previousOf } from './decoder-block.ts';

interface ScalarHead {
  readonly graph: Graph;
  readonly x: Value;
  readonly norm: Value;
  readonly score: Value;
  readonly values: Value;
}

function scalarForward({ hiddenSize: D, rmsNormEps }: DecoderConfig, rows: number): ScalarHead {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [rows, D]);
  const norm = graph.input('norm', 'float32', [D]);
  const score = graph.input('score', 'float32', [1, D]);
  const values = reshape(gemm(rmsNorm(x, norm, rmsNormEps), score, { transB: true }), [rows]);
  graph.output('values', values);
  return { graph, x, norm, score, values };
}

/** x [R,D] before the final norm, norm [D], score [1,D] -> values [R]. */
export const scalarScoringGraph = (config: DecoderConfig, rows: number): Graph =>
  scalarForward(config, rows).graph;

/**
 * The same with cotangents [R]: also d_x [R,D], d_norm, d_score, the gradient of the sum of cotangents * values.
 * With `accumulating`, d_norm and d_score include previous_norm and previous_score.
 */
export function scalarTrainingGraph(config: DecoderConfig, rows: number, accumulating: boolean): Graph {
  const { graph, x, norm, score, values } = scalarForward(config, rows);
  const cotangent = graph.input('cotangents', 'float32', [rows]);
  const [dx, dNorm, dScore] = gradients([{ value: values, cotangent }], [x, norm, score]) as [
    Value,
    Value,
    Value,
  ];
  const total = (role: string, gradient: Value): Value =>
    accumulating ? accumulate(graph.input(previousOf(role), 'float32', gradient.shape), gradient) : gradient;
  graph.output('d_x', dx);
  graph.output(gradientOf('norm'), total('norm', dNorm));
  graph.output(gradientOf('score'), total('score', dScore));
  return graph;
}
