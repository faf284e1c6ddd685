/** The model computes no numbers any more: neither trying again nor going on helps. */
export class Diverged extends Error {
  override readonly name = 'Diverged';
}
