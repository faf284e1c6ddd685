// The system calls that a sandbox refuses, as a classic BPF program for `bwrap --seccomp`. The namespaces already hide
// what is outside; this takes away what they do not cover: memory that no limit counts (memfd, System V segments, keys),
// families of sockets that know no network namespace (vsock), and the parts of the kernel most often broken into.
// Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
import { endianness } from 'node:os';

interface Architecture {
  readonly audit: number;
  readonly numbers: Readonly<Record<Refused | 'clone' | 'clone3' | 'socket', number>>;
}

const refused = [
  'memfd_create',
  'memfd_secret',
  'shmget',
  'semget',
  'msgget',
  'mq_open',
  'add_key',
  'request_key',
  'keyctl',
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'pidfd_getfd',
  'kcmp',
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsmount',
  'open_by_handle_at',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'io_uring_setup',
] as const;
type Refused = (typeof refused)[number];

/** From 424 on all architectures share their numbers. */
const shared = {
  io_uring_setup: 425,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsmount: 432,
  clone3: 435,
  pidfd_getfd: 438,
  memfd_secret: 447,
};

const x64: Architecture = {
  audit: 0xc000003e,
  numbers: {
    ...shared,
    memfd_create: 319,
    shmget: 29,
    semget: 64,
    msgget: 68,
    mq_open: 240,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    ptrace: 101,
    process_vm_readv: 310,
    process_vm_writev: 311,
    kcmp: 312,
    unshare: 272,
    setns: 308,
    mount: 165,
    umount2: 166,
    pivot_root: 155,
    open_by_handle_at: 304,
    bpf: 321,
    perf_event_open: 298,
    userfaultfd: 323,
    clone: 56,
    socket: 41,
  },
};

const arm64: Architecture = {
  audit: 0xc00000b7,
  numbers: {
    ...shared,
    memfd_create: 279,
    shmget: 194,
    semget: 190,
    msgget: 186,
    mq_open: 180,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    ptrace: 117,
    process_vm_readv: 270,
    process_vm_writev: 271,
    kcmp: 272,
    unshare: 97,
    setns: 268,
    mount: 40,
    umount2: 39,
    pivot_root: 41,
    open_by_handle_at: 265,
    bpf: 280,
    perf_event_open: 241,
    userfaultfd: 282,
    clone: 220,
    socket: 198,
  },
};

const architectures: Readonly<Record<string, Architecture>> = { x64, arm64 };

// Offsets in struct seccomp_data.
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERROR = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** New user, mount, cgroup, uts, ipc, pid and net namespace. */
const NEW_NAMESPACES = 0x7e020000;
/** Calls of the x32 interface on x64 have this bit and numbers of their own. */
const X32 = 0x40000000;
/** AF_UNIX, AF_INET, AF_INET6. */
const SOCKET_FAMILIES = [1, 2, 10];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const give = (verdict: number): Instruction => [RETURN, 0, 0, verdict];
/** Gives `verdict` where the comparison holds and goes on where not. */
const when = (comparison: number, operand: number, verdict: number): Instruction[] => [
  [comparison, 0, 1, operand],
  give(verdict),
];

function program({ audit, numbers }: Architecture): Instruction[] {
  const flagsOfClone = [
    load(FIRST_ARGUMENT),
    ...when(JUMP_IF_ANY_BIT, NEW_NAMESPACES, ERROR | EPERM),
    give(ALLOW),
  ];
  const familyOfSocket = [
    load(FIRST_ARGUMENT),
    ...SOCKET_FAMILIES.flatMap((family) => when(JUMP_IF_EQUAL, family, ALLOW)),
    give(ERROR | EAFNOSUPPORT),
  ];
  return [
    load(ARCHITECTURE),
    [JUMP_IF_EQUAL, 1, 0, audit],
    give(KILL_PROCESS),
    load(NUMBER),
    ...(audit === x64.audit ? when(JUMP_IF_AT_LEAST, X32, ERROR | EPERM) : []),
    ...refused.flatMap((name) => when(JUMP_IF_EQUAL, numbers[name], ERROR | EPERM)),
    // Its flags are behind a pointer, where no filter can look; every libc then takes clone.
    ...when(JUMP_IF_EQUAL, numbers.clone3, ERROR | ENOSYS),
    [JUMP_IF_EQUAL, 0, flagsOfClone.length, numbers.clone],
    ...flagsOfClone,
    [JUMP_IF_EQUAL, 0, familyOfSocket.length, numbers.socket],
    ...familyOfSocket,
    give(ALLOW),
  ];
}

/** An array of struct sock_filter. Throws where we know no numbers for this machine's processor. */
export function systemCallFilter(architecture: string = process.arch): Uint8Array {
  const known = architectures[architecture];
  if (known === undefined || endianness() !== 'LE') {
    throw new Error(
      `no list of system calls for processors of the kind ${architecture}, only for x64 and arm64`,
    );
  }
  const instructions = program(known);
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [at, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(ifFalse, at * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, at * 8 + 4);
  }
  return bytes;
}
