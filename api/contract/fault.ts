// What is wrong with a spec beyond its shape: where, and in words. Whoever finds it says so; the schema makes an issue of it.
export type Path = readonly (string | number)[];

export interface Fault {
  readonly path: Path;
  readonly message: string;
}

/** Of a JSON pointer made of names and places in lists. */
export const pathOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
