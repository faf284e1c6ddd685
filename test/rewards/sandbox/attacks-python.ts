// Attacks on a sandbox, in Python: what a program tries and how its run must end. `says` is all of standard output.
import type { Run } from '../../../runner/rewards/sandbox/sandbox.ts';

export interface Attack {
  readonly name: string;
  readonly main: string;
  /** Ports of ours, paths of ours: given on standard input, so that the program knows what to look for. */
  readonly needs?: 'places';
  readonly ends: readonly (Extract<Run, { status: 'stopped' }>['by'] | 'exited')[];
  readonly says?: string;
  /** It waits for the wall. */
  readonly waits?: true;
}

/** Places of ours that no program must reach, as the attacks read them from standard input. */
export interface Places {
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly paths: readonly string[];
}

const libc = `import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *arguments):
    result = libc.syscall(*arguments)
    if result != -1: print(name, "was allowed")
`;

export const pythonAttacks: readonly Attack[] = [
  {
    name: 'fork bomb',
    main: `import os
while True:
    try: os.fork()
    except OSError: pass
`,
    ends: ['cpu', 'wall'],
    waits: true,
  },
  {
    name: 'fork bomb whose parents exit',
    main: `import os
while True:
    try:
        if os.fork() > 0: os._exit(0)
    except OSError: pass
`,
    ends: ['exited'],
  },
  {
    name: 'thread bomb',
    main: `import threading, time
count = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        count += 1
except RuntimeError: print(count < 64)
`,
    ends: ['exited'],
    says: 'True\n',
  },
  {
    name: 'memory bomb',
    main: `kept = []
try:
    while True: kept.append(bytearray(10**7))
except MemoryError: print(len(kept) * 10**7 < 256 * 2**20)
`,
    ends: ['exited'],
    says: 'True\n',
  },
  {
    name: 'memory bomb of many processes',
    main: `import os, time
for _ in range(30):
    if os.fork() == 0:
        kept = bytearray(60 * 2**20)
        for at in range(0, len(kept), 4096): kept[at] = 1
        time.sleep(100)
time.sleep(100)
`,
    ends: ['memory'],
  },
  {
    name: 'memory that belongs to no process',
    main: `${libc}
refused("memfd_create", 319 if os.uname().machine == "x86_64" else 279, b"x", 0)
refused("shmget", 29 if os.uname().machine == "x86_64" else 194, 0, 10**8, 0o1600)
refused("add_key", 248 if os.uname().machine == "x86_64" else 217, b"user", b"x", b"y", 1, -4)
refused("io_uring_setup", 425, 8, b"\\0" * 120)
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'gigabytes on standard output',
    main: 'while True: print("x" * 10**6)',
    ends: ['output'],
  },
  {
    name: 'gigabytes on standard error',
    main: 'import sys\nwhile True: sys.stderr.write("x" * 10**6)',
    ends: ['output'],
  },
  {
    name: 'gigabytes of report',
    main: 'import os\nwhile True: os.write(3, b"x" * 10**6)',
    ends: ['output'],
  },
  {
    name: 'gigabytes to a peer that is not there',
    main: 'import os\nwhile True: os.write(4, b"x" * 10**6)',
    ends: ['exited'],
  },
  { name: 'endless loop', main: 'while True: pass', ends: ['cpu'] },
  {
    name: 'endless loop that ignores every signal',
    main: `import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
`,
    ends: ['cpu'],
  },
  {
    name: 'raising its own limits',
    main: `import resource
for limit in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(limit)
    except ValueError: pass
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'CPU time of many processes',
    main: `import os
for _ in range(10):
    if os.fork() == 0:
        while True: pass
os.wait()
`,
    ends: ['cpu'],
  },
  { name: 'sleeping', main: 'import time\ntime.sleep(1000)', ends: ['wall'], waits: true },
  {
    name: 'waiting for input that never comes',
    main: 'import os, select\nselect.select([], [], [])',
    ends: ['wall'],
    waits: true,
  },
  {
    name: 'a daemon that outlives it',
    main: `import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1000)
        for number in (1, 2, 3, 13, 14, 15): signal.signal(number, signal.SIG_IGN)
        while True: time.sleep(1)
    os._exit(0)
os.wait()
print("left one behind")
`,
    ends: ['exited'],
    says: 'left one behind\n',
  },
  {
    name: 'killing everybody',
    main: `import os
for pid in (-1, 1, os.getppid()):
    try: os.kill(pid, 9)
    except ProcessLookupError: pass
print("still here")
`,
    ends: ['exited'],
    says: 'still here\n',
  },
  {
    name: 'stopping everybody',
    main: 'import os, signal\nif os.fork() > 0: os.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)',
    ends: ['wall'],
    waits: true,
  },
  { name: 'killing itself', main: 'import os\nos.kill(os.getpid(), 9)', ends: ['signal'] },
  { name: 'a crash', main: 'import ctypes\nctypes.string_at(0)', ends: ['signal'] },
  {
    name: 'reading /proc of others',
    main: `import os
numbers = [name for name in os.listdir("/proc") if name.isdigit()]
print(len(numbers) <= 2)
for number in numbers:
    for name in ("environ", "cmdline"):
        try: text = open(f"/proc/{number}/{name}", "rb").read()
        except OSError: continue
        if any(secret in text for secret in (b"HOME=/root", b"SECRET", b"NODE_", b"vitest")): print(name, text)
for name in os.listdir("/proc/self/fd"):
    try: target = os.readlink("/proc/self/fd/" + name)
    except OSError: continue
    if target.startswith(("/root", "/home")): print(target)
`,
    ends: ['exited'],
    says: 'True\n',
  },
  {
    name: 'reading our files',
    needs: 'places',
    main: `import json, os, sys
for path in json.load(sys.stdin)["paths"]:
    for root in ("", "/proc/1/root", "/proc/self/root/..", "/tmp/../..", "/proc/1/cwd/.."):
        if os.path.exists(root + path): print(root + path)
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'symbolic and hard links out of its folder',
    needs: 'places',
    main: `import json, os, sys
for at, path in enumerate(json.load(sys.stdin)["paths"]):
    os.symlink(path, f"link{at}")
    os.symlink("/proc/1/root" + path, f"root{at}")
    os.symlink("../" * 20 + path.lstrip("/"), f"up{at}")
    for name in (f"link{at}", f"root{at}", f"up{at}"):
        try: os.listdir(name) if os.path.isdir(name) else open(name).read(); print(path)
        except OSError: pass
    try: os.link(path, f"hard{at}"); print("linked", path)
    except OSError: pass
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'changing what it may only read',
    main: `import os
for path in ("/x", "/dev/x", "/usr/x", "/usr/bin/python3", "/opt/boot.py", "/opt/x", "/proc/sys/kernel/hostname", "/dev/fd/0", "/proc/self/fd/0"):
    try:
        with open(path, "r+b" if os.path.exists(path) else "wb"): print(path)
    except OSError: pass
for action in (lambda: os.remove("/opt/boot.py"), lambda: os.mkdir("/y"), lambda: os.chmod("/opt/boot.py", 0o777), lambda: os.write(0, b"x")):
    try: action(); print("changed")
    except OSError: pass
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'network',
    needs: 'places',
    main: `import json, socket, sys
places = json.load(sys.stdin)
def refused(name, action):
    try: action(); print(name, "was allowed")
    except OSError: pass
for host in ("127.0.0.1", "::1"):
    refused(host, lambda: socket.create_connection((host, places["tcpPort"]), 1))
refused("dns", lambda: socket.getaddrinfo("example.com", 80))
refused("out", lambda: socket.create_connection(("1.1.1.1", 53), 1))
refused("udp out", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)))
# Nobody listens in here: it goes nowhere, and the test looks that it did not arrive.
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", places["udpPort"]))
for family in (socket.AF_VSOCK, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_ALG):
    refused(family, lambda: socket.socket(family, socket.SOCK_RAW if family != socket.AF_VSOCK else socket.SOCK_STREAM))
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'namespaces of its own',
    main: `${libc}
import subprocess
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):
    refused(f"unshare {flag:x}", 272 if os.uname().machine == "x86_64" else 97, flag)
    refused(f"clone {flag:x}", 56 if os.uname().machine == "x86_64" else 220, flag | 17, 0, 0, 0, 0)
for command in (["unshare", "-Ur", "true"], ["bwrap", "--ro-bind", "/usr", "/usr", "true"], ["mount", "-t", "tmpfs", "x", "/tmp"], ["nsenter", "-t", "1", "-a", "true"]):
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0: print(command)
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'more rights by programs that give them',
    main: `import os, subprocess
print(os.getuid() == 0, os.geteuid() == os.getuid())
for command in (["su", "-c", "true"], ["chroot", "/usr", "true"]):
    try:
        if subprocess.run(command, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode == 0: print(command)
    except OSError: pass
for action in (lambda: os.setuid(0), lambda: os.chroot("/usr"), lambda: os.mknod("disk", 0o60666, os.makedev(254, 0))):
    try: action(); print("allowed")
    except OSError: pass
`,
    ends: ['exited'],
    says: 'False True\n',
  },
  {
    name: 'looking into other processes',
    main: `${libc}
import time
child = os.fork()
if child == 0: time.sleep(100)
refused("ptrace", 101 if os.uname().machine == "x86_64" else 117, 16, child, 0, 0)
refused("process_vm_readv", 310 if os.uname().machine == "x86_64" else 270, child, 0, 0, 0, 0, 0)
refused("pidfd_getfd", 438, 3, 0, 0)
`,
    ends: ['exited'],
    says: '',
  },
  {
    name: 'gigabytes of files',
    main: `import os
written = 0
for folder in ("/tmp", "/dev/shm", "/", "/dev", "/usr"):
    for number in range(400):
        try:
            with open(f"{folder}/big{number}", "wb") as file:
                while True: written += file.write(b"x" * 2**20) if file.tell() < 15 * 2**20 else 1 / 0
        except ZeroDivisionError: pass
        except OSError: break
print(written < 100 * 2**20)
`,
    ends: ['exited'],
    says: 'True\n',
  },
  {
    name: 'one file of gigabytes',
    main: `try:
    with open("big", "wb") as file:
        while True: file.write(b"x" * 2**20)
except OSError as error: print(error.strerror)
`,
    ends: ['exited'],
    says: 'File too large\n',
  },
  {
    name: 'a hundred thousand small files',
    main: `for number in range(100_000):
    with open(f"small{number}", "w") as file: file.write("x")
`,
    ends: ['exited', 'cpu'],
  },
  {
    name: 'huge arguments and environment',
    main: `import os, subprocess
for arguments, environment in ((["x" * 10**7], {}), (["x" * 10**5] * 100, {}), ([], {"x": "y" * 10**7})):
    try: subprocess.run(["true", *arguments], env=environment); print("ran")
    except OSError as error: print(error.strerror)
`,
    ends: ['exited'],
    says: 'Argument list too long\n'.repeat(3),
  },
  {
    name: 'closing every descriptor',
    main: 'import os\nos.closerange(0, 1000)\nwhile True: pass',
    ends: ['cpu'],
  },
  {
    name: 'open files without end',
    main: `kept = []
try:
    while True: kept.append(open("/dev/null"))
except OSError as error: print(len(kept) < 64, error.strerror)
`,
    ends: ['exited'],
    says: 'True Too many open files\n',
  },
  {
    name: 'deep recursion in C',
    main: 'import sys\nsys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\nrepr(x)',
    ends: ['signal', 'exited'],
  },
];
