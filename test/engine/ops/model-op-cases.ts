// Cases of the ops that a transformer is made of: products, lookups, softmax, normalisation, rotation, the head.
import type { Value } from '../../../runner/engine/graph/graph.ts';
import {
  gatherElements,
  gatherRows,
  scatterAddElements,
  scatterAddRows,
} from '../../../runner/engine/ops/gather.ts';
import { causalAttention } from '../../../runner/engine/ops/causal-attention.ts';
import { divergence } from '../../../runner/engine/ops/divergence.ts';
import { gemm, matmul, swapLastTwo } from '../../../runner/engine/ops/matmul.ts';
import { rmsNorm } from '../../../runner/engine/ops/rms-norm.ts';
import { rotary } from '../../../runner/engine/ops/rotary.ts';
import { silu, siluMul } from '../../../runner/engine/ops/silu.ts';
import { causalSoftmax, logSoftmax, softmax } from '../../../runner/engine/ops/softmax.ts';
import { entropy, tokenLogProb } from '../../../runner/engine/ops/token-log-prob.ts';
import { around, frozen, get, indices, positive } from './op-case.ts';
import type { InputSpec, OpCase, Size } from './op-case.ts';

export function gemmCase(transA: boolean, transB: boolean, c?: (m: number, n: number) => number[]): OpCase {
  return {
    name: `gemm: ${transA ? 'A^T' : 'A'} ${transB ? 'B^T' : 'B'}${c ? ` + c of rank ${c(1, 1).length}` : ''}`,
    inputs: (size) => {
      const [m, k, n] = size === 'small' ? [3, 4, 5] : [257, 130, 195];
      const inputs: Record<string, InputSpec> = {
        a: around(transA ? [k, m] : [m, k]),
        b: around(transB ? [n, k] : [k, n]),
      };
      return c ? { ...inputs, c: around(c(m, n)) } : inputs;
    },
    build: (values) =>
      gemm(get(values, 'a'), get(values, 'b'), { transA, transB, alpha: 0.5, c: values['c'] }),
  };
}

function matmulCase(name: string, shapes: (size: Size) => [number[], number[]]): OpCase {
  return {
    name: `matmul: ${name}`,
    inputs: (size) => ({ a: around(shapes(size)[0]), b: around(shapes(size)[1]) }),
    build: (values) => matmul(get(values, 'a'), get(values, 'b')),
  };
}

/** Small shapes for the last two axes; the large ones are 40 times that. */
function swapCase(
  name: string,
  build: (a: Value, b: Value) => Value,
  a: readonly number[],
  b: readonly number[],
): OpCase {
  const sized = (shape: readonly number[], size: Size) =>
    around([2, 3, ...shape.map((n) => (size === 'small' ? n : 40 * n))]);
  return {
    name: `matmul: ${name} swapped`,
    inputs: (size) => ({ a: sized(a, size), b: sized(b, size) }),
    build: (values) => build(get(values, 'a'), get(values, 'b')),
  };
}

const productCases: OpCase[] = [
  matmulCase('matrices', (size) =>
    size === 'small'
      ? [
          [3, 4],
          [4, 2],
        ]
      : [
          [257, 130],
          [130, 195],
        ],
  ),
  matmulCase('shared right side', (size) =>
    size === 'small'
      ? [
          [2, 3, 4],
          [4, 2],
        ]
      : [
          [4, 67, 130],
          [130, 195],
        ],
  ),
  matmulCase('grouped heads, keys not repeated', (size) =>
    size === 'small'
      ? [
          [2, 2, 6, 4],
          [2, 2, 4, 3],
        ]
      : [
          [2, 2, 256, 32],
          [2, 2, 32, 128],
        ],
  ),
  matmulCase('broadcast batch', (size) =>
    size === 'small'
      ? [
          [2, 1, 3, 4],
          [3, 4, 2],
        ]
      : [
          [4, 1, 67, 33],
          [8, 33, 65],
        ],
  ),
  swapCase('left', (a, b) => matmul(swapLastTwo(a), b), [5, 3], [5, 4]),
  swapCase('right', (a, b) => matmul(a, swapLastTwo(b)), [3, 5], [4, 5]),
  swapCase('both', (a, b) => matmul(swapLastTwo(a), swapLastTwo(b)), [5, 3], [4, 5]),
  {
    name: 'matmul: shared right side, swapped',
    inputs: (size) =>
      size === 'small'
        ? { a: around([2, 3, 4]), b: around([2, 4]) }
        : { a: around([4, 67, 130]), b: around([195, 130]) },
    build: (values) => matmul(get(values, 'a'), swapLastTwo(get(values, 'b'))),
  },
  gemmCase(false, false),
  gemmCase(true, false),
  gemmCase(false, true),
  gemmCase(true, true, (m, n) => [m, n]),
  gemmCase(false, true, (_m, n) => [n]),
  {
    name: 'gemm: two contributions to one gradient',
    inputs: (size) => {
      const [m, k, n] = size === 'small' ? [3, 4, 5] : [257, 130, 195];
      return { x: around([m, k]), gate: around([n, k]), up: around([n, k]) };
    },
    build: (values) => {
      const [x, gate, up] = [get(values, 'x'), get(values, 'gate'), get(values, 'up')];
      return siluMul(gemm(x, gate, { transB: true }), gemm(x, up, { transB: true }));
    },
  },
];

const lookupCases: OpCase[] = [
  {
    name: 'gather_rows',
    inputs: (size) =>
      size === 'small'
        ? { table: around([5, 3]), at: indices([2, 4], 5) }
        : { table: around([211, 96]), at: indices([8, 512], 211) },
    build: (values) => gatherRows(get(values, 'table'), get(values, 'at')),
  },
  {
    name: 'scatter_add_rows',
    inputs: (size) =>
      size === 'small'
        ? { into: around([5, 3]), at: indices([7], 5), rows: around([7, 3]) }
        : { into: around([211, 96]), at: indices([4096], 211), rows: around([4096, 96]) },
    build: (values) => scatterAddRows(get(values, 'into'), get(values, 'at'), get(values, 'rows')),
  },
  {
    name: 'gather_elements',
    inputs: (size) =>
      size === 'small'
        ? { x: around([4, 6]), at: indices([4, 3], 6) }
        : { x: around([2048, 512]), at: indices([2048, 64], 512) },
    build: (values) => gatherElements(get(values, 'x'), get(values, 'at'), -1),
  },
  {
    name: 'scatter_add_elements',
    inputs: (size) =>
      size === 'small'
        ? { into: around([4, 6]), at: indices([4, 9], 6), updates: around([4, 9]) }
        : { into: around([2048, 64]), at: indices([2048, 128], 64), updates: around([2048, 128]) },
    build: (values) => scatterAddElements(get(values, 'into'), get(values, 'at'), get(values, 'updates'), 1),
  },
];

const scores = (size: Size): InputSpec => around(size === 'small' ? [2, 2, 6, 5] : [4, 4, 256, 128]);

const activationCases: OpCase[] = [
  { name: 'softmax', inputs: (size) => ({ x: scores(size) }), build: (v) => softmax(get(v, 'x')) },
  { name: 'log_softmax', inputs: (size) => ({ x: scores(size) }), build: (v) => logSoftmax(get(v, 'x')) },
  {
    name: 'causal_softmax: query heads stacked on rows',
    inputs: (size) => ({ x: around(size === 'small' ? [2, 2, 6, 3] : [4, 4, 256, 128]) }),
    build: (values) => {
      const x = get(values, 'x');
      return causalSoftmax(x, { queries: x.shape[3] as number });
    },
  },
  {
    name: 'causal_softmax: a later query chunk',
    inputs: (size) => ({ x: around(size === 'small' ? [2, 6, 7] : [16, 256, 512]) }),
    build: (values) => {
      const [queries, keys] = get(values, 'x').shape.slice(-2) as [number, number];
      return causalSoftmax(get(values, 'x'), { queries: queries / 2, offset: keys - queries / 2 });
    },
  },
  {
    name: 'causal_softmax: a chunk whose offset is an input',
    inputs: (size) => ({
      x: around(size === 'small' ? [2, 6, 7] : [16, 256, 512]),
      offset: indices([], size === 'small' ? 5 : 385),
    }),
    build: (values) => {
      const x = get(values, 'x');
      return causalSoftmax(x, { queries: (x.shape[1] as number) / 2, offset: get(values, 'offset') });
    },
  },
  {
    name: 'causal_attention: query heads stacked on rows',
    inputs: (size) => {
      const [batch, length, width] = size === 'small' ? [2, 3, 4] : [4, 128, 32];
      return {
        q: around([batch, 2, 2 * length, width]),
        k: around([batch, 2, length, width]),
        v: around([batch, 2, length, width + 1]),
      };
    },
    build: (values) => causalAttention(get(values, 'q'), get(values, 'k'), get(values, 'v')),
  },
  {
    name: 'silu',
    inputs: (size) => ({ x: around(size === 'small' ? [3, 5] : [1031, 517]) }),
    build: (values) => silu(get(values, 'x')),
  },
  {
    name: 'silu_mul',
    inputs: (size) => {
      const shape = size === 'small' ? [3, 5] : [1031, 517];
      return { gate: around(shape), up: around(shape) };
    },
    build: (values) => siluMul(get(values, 'gate'), get(values, 'up')),
  },
  {
    name: 'rms_norm',
    inputs: (size) => {
      const [rows, width] = size === 'small' ? [3, 8] : [1031, 256];
      return { x: around([2, rows, width]), weight: around([width]) };
    },
    build: (values) => rmsNorm(get(values, 'x'), get(values, 'weight'), 1e-5),
  },
  ...[8, 32, 64].map((headSize): OpCase => ({
    name: `rotary: head size ${headSize}`,
    inputs: (size) => {
      const [batch, heads, length] = size === 'small' ? [2, 2, 3] : [4, 8, 256];
      const table = frozen(around([length, headSize / 2]));
      return { x: around([batch, heads, length, headSize]), cos: table, sin: table };
    },
    build: (values) => rotary(get(values, 'x'), get(values, 'cos'), get(values, 'sin')),
  })),
];

const headInputs = (size: Size): Record<string, InputSpec> => {
  const [tokens, words] = size === 'small' ? [5, 7] : [512, 1031];
  return { logits: around([tokens, words]), targets: indices([tokens], words) };
};

const headCases: OpCase[] = [
  {
    name: 'token_log_prob: temperature 1',
    inputs: headInputs,
    build: (values) => tokenLogProb(get(values, 'logits'), get(values, 'targets'), 1),
  },
  {
    name: 'token_log_prob: temperature as input',
    inputs: (size) => ({ ...headInputs(size), scale: frozen(positive([])) }),
    build: (values) => tokenLogProb(get(values, 'logits'), get(values, 'targets'), get(values, 'scale')),
  },
  {
    name: 'entropy',
    inputs: (size) => ({ logits: frozen(headInputs(size)['logits'] as InputSpec) }),
    build: (values) => entropy(get(values, 'logits'), 0.7),
  },
];

/** Each: beta, and the teacher's likeliest words of seven or 1,031. */
const divergenceCases: OpCase[] = [
  [0, undefined],
  [0.3, undefined],
  [1, undefined],
  [0, 2],
  [0.3, 2],
  [1, 2],
].map(([beta, topK]): OpCase => ({
  name: `divergence: beta ${beta}, ${topK === undefined ? 'all words' : `top ${topK}`}`,
  inputs: (size) => {
    const { logits } = headInputs(size) as { logits: InputSpec };
    return { student: logits, teacher: frozen(logits), scale: frozen(positive([])) };
  },
  build: (values) =>
    divergence(get(values, 'student'), get(values, 'teacher'), get(values, 'scale'), { beta: beta!, topK }),
}));

export const modelCases: OpCase[] = [
  ...divergenceCases,
  ...productCases,
  ...lookupCases,
  ...activationCases,
  ...headCases,
];
