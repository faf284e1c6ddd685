// Static shapes: counting, broadcasting, axes. All errors name the op, the shapes and what was expected.
export type Shape = readonly number[];

export const formatShape = (shape: Shape): string => `[${shape.join(',')}]`;

export function elementCount(shape: Shape, where = 'shape'): number {
  let count = 1;
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0) {
      throw new Error(`${where}: shape ${formatShape(shape)} is not static and non-negative`);
    }
    count *= size;
  }
  return count;
}

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((size, axis) => size === b[axis]);

/** NumPy broadcasting of two shapes. */
export function broadcastShapes(a: Shape, b: Shape, where: string): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const fromA = a[axis - rank + a.length] ?? 1;
    const fromB = b[axis - rank + b.length] ?? 1;
    if (fromA !== fromB && fromA !== 1 && fromB !== 1) {
      throw new Error(`${where}: shapes ${formatShape(a)} and ${formatShape(b)} do not broadcast`);
    }
    return fromA === 1 ? fromB : fromA;
  });
}

/** Axes of `to` along which a value of shape `from` was repeated to get there. */
export function broadcastAxes(from: Shape, to: Shape): number[] {
  const offset = to.length - from.length;
  return to.flatMap((size, axis) =>
    axis < offset || (from[axis - offset] === 1 && size !== 1) ? [axis] : [],
  );
}

export function normalAxis(axis: number, rank: number, where: string): number {
  const normal = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || normal < 0 || normal >= rank) {
    throw new Error(`${where}: axis ${axis} is not an axis of a rank-${rank} tensor`);
  }
  return normal;
}

export function normalAxes(axes: readonly number[], rank: number, where: string): number[] {
  const normal = axes.map((axis) => normalAxis(axis, rank, where)).sort((a, b) => a - b);
  if (new Set(normal).size !== normal.length) throw new Error(`${where}: axes ${axes.join(',')} repeat`);
  return normal;
}

/** The size of an axis that is known to exist. */
export function sizeAt(shape: Shape, axis: number): number {
  const size = shape.at(axis);
  if (size === undefined) throw new Error(`internal: shape ${formatShape(shape)} has no axis ${axis}`);
  return size;
}

export const withSize = (shape: Shape, axis: number, size: number): number[] =>
  shape.map((old, index) => (index === axis ? size : old));
