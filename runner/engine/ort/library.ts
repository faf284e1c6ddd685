// Loads the libonnxruntime that lies in the onnxruntime-node package and reads its function table.
// The exact version is pinned: the engine's numbers and its exact resume are promised for it only.
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as koffiModule from 'koffi';
import { tableOffset } from './api-table.ts';

type Koffi = typeof koffiModule;

export const ortVersion = '1.30.0';
const apiVersion = 30;

const MiB = 1024 * 1024;
/** koffi's default for asynchronous calls, 128 KiB, overflows in ONNX Runtime's shader compiler (segmentation fault). */
const stackBytes = 16 * MiB;

/** koffi has no native part for this machine. */
export class KoffiUnavailable extends Error {
  override readonly name = 'KoffiUnavailable';
}

export interface OrtLibrary {
  readonly version: string;
  /** Where it lies: the libraries of providers belong beside it. */
  readonly folder: string;
  readonly koffi: Koffi;
  // koffi closes a library when its handle is collected, and functions decoded from pointers do not
  // hold it: the handle lives as long as the process.
  readonly handle: koffiModule.LibraryHandle;
  /** Address of a function of the OrtApi table. */
  pointer(name: string): bigint;
}

let library: OrtLibrary | undefined;

/** The library of this process, loaded at the first call. Throws where it is absent or of another version. */
export function ortLibrary(): OrtLibrary {
  library ??= load(loadKoffi(), libraryPath());
  return library;
}

const require = createRequire(import.meta.url);

// Loaded at need, so that the engine starts where there is no koffi.
function loadKoffi(): Koffi {
  try {
    return require('koffi') as Koffi;
  } catch (cause) {
    throw new KoffiUnavailable(`koffi cannot load on ${process.platform} ${process.arch}`, {
      cause,
    });
  }
}

function load(koffi: Koffi, path: string): OrtLibrary {
  koffi.config({ ...koffi.config(), async_stack_size: stackBytes, sync_stack_size: stackBytes });
  loadVulkan(koffi);
  const handle = koffi.load(path);
  const base = handle.func('OrtGetApiBase', 'void *', [])() as bigint;
  // struct OrtApiBase { GetApi, GetVersionString }
  const [getApi, getVersion] = koffi.decode(base, 'void *', 2) as [bigint, bigint];
  const version = koffi.call(getVersion, koffi.proto('str', [])) as string;
  if (version !== ortVersion) {
    throw new Error(
      `${path} is ONNX Runtime ${version}, this engine needs exactly ${ortVersion}: install onnxruntime-node ${ortVersion}`,
    );
  }
  const table = koffi.call(getApi, koffi.proto('void *', ['uint32_t']), apiVersion) as bigint;
  return {
    version,
    folder: dirname(path),
    koffi,
    handle,
    pointer: (name) => koffi.decode(table, tableOffset(name), 'void *') as bigint,
  };
}

// ONNX Runtime's WebGPU looks for the Vulkan loader by its bare name, which finds what is in the process already.
let vulkan: koffiModule.LibraryHandle | undefined;

function loadVulkan(koffi: Koffi): void {
  const path = process.env['MILLRACE_VULKAN_LOADER'];
  if (path === undefined || path === '') return;
  try {
    vulkan ??= koffi.load(path);
  } catch (cause) {
    throw new Error(`MILLRACE_VULKAN_LOADER is ${path}, which does not load as a library`, { cause });
  }
}

function libraryPath(): string {
  const manifest = require.resolve('onnxruntime-node/package.json');
  const folder = join(dirname(manifest), 'bin/napi-v6', process.platform, process.arch);
  const file = readdirSync(folder).find((name) =>
    /^(libonnxruntime\.so\.\d+|libonnxruntime\..*dylib|onnxruntime\.dll)$/.test(name),
  );
  if (file === undefined) {
    throw new Error(`onnxruntime-node ${ortVersion} holds no library in ${folder}`);
  }
  return join(folder, file);
}
