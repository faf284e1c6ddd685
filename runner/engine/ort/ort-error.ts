// Errors of ONNX Runtime: its code and message, the call that failed and what it was working on.

// OrtErrorCode of onnxruntime_c_api.h.
const codes = [
  'OK',
  'FAIL',
  'INVALID_ARGUMENT',
  'NO_SUCHFILE',
  'NO_MODEL',
  'ENGINE_ERROR',
  'RUNTIME_EXCEPTION',
  'INVALID_PROTOBUF',
  'MODEL_LOADED',
  'NOT_IMPLEMENTED',
  'INVALID_GRAPH',
  'EP_FAIL',
] as const;

export class OrtError extends Error {
  override readonly name = 'OrtError';
  /** ONNX Runtime's OrtErrorCode by name, e.g. INVALID_ARGUMENT. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Puts what an ONNX Runtime error is about in front of it; other errors pass as they are. */
export function explain(error: unknown, label: string): unknown {
  return error instanceof OrtError ? new OrtError(error.code, `${label}: ${error.message}`) : error;
}

export function errorCode(code: number): string {
  return codes[code] ?? `code ${code}`;
}
