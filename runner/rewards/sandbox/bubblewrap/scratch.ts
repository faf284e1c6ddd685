// The folder on our side of the wall: what sandboxes are given to read, and nothing they can write to.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import {
  chmod,
  copyFile,
  mkdtemp,
  open,
  readdir,
  readlink,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemCallFilter } from './system-calls.ts';

export interface Scratch {
  readonly pythonBoot: string;
  readonly nodeBoot: string;
  /** The Node.js that runs us, or a copy where strangers cannot reach it. */
  readonly node: string;
  /** A file that is gone from its folder: `write` for us, `read` for the sandbox, whose descriptor can only read. */
  openInput(): Promise<{ write: FileHandle; read: FileHandle }>;
  openFilter(): Promise<FileHandle>;
  remove(): Promise<void>;
}

const OTHERS_EXECUTE = 0o001;

/** Whether any user may execute this file: its own mode and that of every folder above it. */
async function openToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  if ((mode & OTHERS_EXECUTE) === 0) return false;
  return dirname(path) === path || openToAll(dirname(path));
}

async function reachableNode(folder: string): Promise<string> {
  if (process.getuid?.() !== 0 || (await openToAll(process.execPath))) return process.execPath;
  const copy = join(folder, 'node');
  await copyFile(process.execPath, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o555);
  return copy;
}

/** Copied because sandboxes of root run as users who may not be able to read where we are installed. */
async function boot(folder: string, name: string): Promise<string> {
  const copy = join(folder, name);
  await copyFile(join(import.meta.dirname, name), copy);
  await chmod(copy, 0o444);
  return copy;
}

/**
 * `millrace-sandbox-NAMESPACE-PID-…`: whose folder it is. Numbers of processes mean nothing in another PID namespace, as of a
 * container that shares our temporary folder.
 */
async function folderPrefix(): Promise<string> {
  const namespace = /\d+/.exec(await readlink('/proc/self/ns/pid'))?.[0] ?? '';
  return `millrace-sandbox-${namespace}-`;
}

/** What processes left that were killed: a copy of Node.js is a hundred megabytes. */
async function removeAbandoned(base: string, prefix: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : NaN;
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    // Another user's is his to remove.
    await rm(join(base, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export async function createScratch(): Promise<Scratch> {
  const prefix = await folderPrefix();
  await removeAbandoned(tmpdir(), prefix);
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  await chmod(folder, 0o711);
  const filter = join(folder, 'filter');
  await writeFile(filter, systemCallFilter());
  let inputs = 0;
  return {
    pythonBoot: await boot(folder, 'boot.py'),
    nodeBoot: await boot(folder, 'boot.mjs'),
    node: await reachableNode(folder),
    openInput: async () => {
      const path = join(folder, `input-${inputs++}`);
      const write = await open(path, 'wx', 0o444);
      try {
        await write.chmod(0o444);
        return { write, read: await open(path, 'r') };
      } catch (cause) {
        await write.close();
        throw cause;
      } finally {
        await unlink(path);
      }
    },
    openFilter: () => open(filter, 'r'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
