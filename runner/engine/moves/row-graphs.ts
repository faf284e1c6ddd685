// Graphs that pick rows of one tensor, or put rows among those of another. Rows are what the first axis counts.

import { Graph } from '../graph/graph.ts';
import { gatherRows, scatterAddRows } from '../ops/gather.ts';
import { concat } from '../ops/slice.ts';

type Shape = readonly number[];

/** from [N,…], index [R] of int32 -> picked [R,…]. */
export function pickRowsGraph(from: Shape, count: number): Graph {
  const graph = new Graph();
  const index = graph.input('index', 'int32', [count]);
  graph.output('picked', gatherRows(graph.input('from', 'float32', from), index));
  return graph;
}

/**
 * rows [R,…], previous [N,…], index [N] of int32 -> placed [N,…]: row i is row index[i] of the two, one after the other.
 * `placed` may be the buffer of `previous`, which is read as a whole before anything is written.
 */
export function placeRowsGraph(rows: Shape, previous: Shape): Graph {
  const graph = new Graph();
  const both = concat(
    [graph.input('rows', 'float32', rows), graph.input('previous', 'float32', previous)],
    0,
  );
  graph.output('placed', gatherRows(both, graph.input('index', 'int32', [previous[0]!])));
  return graph;
}

/** previous [N,…], index [R] of int32, rows [R,…] -> sum [N,…]: previous with the rows added at the index; repeats add up. */
export function addRowsGraph(previous: Shape, rows: Shape): Graph {
  const graph = new Graph();
  const into = graph.input('previous', 'float32', previous);
  const index = graph.input('index', 'int32', [rows[0]!]);
  graph.output('sum', scatterAddRows(into, index, graph.input('rows', 'float32', rows)));
  return graph;
}
