// ONNX node attributes, tagged because JavaScript has one number type where ONNX tells int from float.
export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly ints: readonly number[] }
  | { readonly text: string };

export type Attributes = Readonly<Record<string, Attribute>>;
