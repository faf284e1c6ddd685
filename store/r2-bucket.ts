// What the store uses of a Worker's R2 binding, in the names of Cloudflare's own types (which declare a global scope of
// their own, and so cannot stand beside Node's in one program).

export interface R2Object {
  readonly key: string;
  readonly size: number;
  readonly uploaded: Date;
}

export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream<Uint8Array>;
}

export interface R2PutOptions {
  readonly httpMetadata?: { readonly contentType: string };
  /** Stored only where the condition holds; null is answered otherwise. `*` is any object. */
  readonly onlyIf?: { readonly etagDoesNotMatch: '*' };
}

export interface R2UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
}

export interface R2MultipartUpload {
  uploadPart(partNumber: number, value: Uint8Array): Promise<R2UploadedPart>;
  complete(parts: R2UploadedPart[]): Promise<R2Object>;
  abort(): Promise<void>;
}

export interface R2Bucket {
  head(key: string): Promise<R2Object | null>;
  get(
    key: string,
    options?: { readonly range: { readonly offset: number; readonly length?: number } },
  ): Promise<R2ObjectBody | null>;
  put(key: string, value: Uint8Array, options?: R2PutOptions): Promise<R2Object | null>;
  createMultipartUpload(
    key: string,
    options?: Pick<R2PutOptions, 'httpMetadata'>,
  ): Promise<R2MultipartUpload>;
  list(options: {
    readonly prefix: string;
    readonly cursor?: string;
    readonly delimiter?: string;
    readonly startAfter?: string;
  }): Promise<{
    readonly objects: readonly R2Object[];
    readonly delimitedPrefixes: readonly string[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
  delete(keys: string[]): Promise<void>;
}
