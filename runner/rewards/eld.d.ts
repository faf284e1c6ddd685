// The entries of eld with one size of its tables have no types of their own.
declare module 'eld/medium' {
  export { eld } from 'eld';
}
