import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLogger, realClock, runProgram } from '#base';
import { findProgram } from './machine-programs.ts';
import { architectureOf } from './pause-program.ts';
import { cniDirectories, type PrivateContainerd, type PrivateContainerdConfig, startPrivateContainerd } from './private-containerd.ts';

const CNI_PLUGINS = ['/usr/lib/cni', '/opt/cni/bin'].find((directory) => existsSync(path.join(directory, 'bridge')));

/** Why this machine cannot run containers, for skipped tests; undefined when it can. */
export function whyNoContainers(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'containers need Linux and root';
  const has = (name: string) =>
    ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/bin', '/sbin'].some((directory) =>
      existsSync(path.join(directory, name)),
    );
  const missing = ['containerd', 'runc', 'ip', 'nsenter', 'busybox'].filter((name) => !has(name));
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  return CNI_PLUGINS === undefined ? 'not installed: the CNI plugins (Debian: containernetworking-plugins)' : undefined;
}

/** Directories and a network namespace for one private containerd of a test. */
export interface ContainerdSite extends AsyncDisposable {
  readonly config: PrivateContainerdConfig;
  /** The name of its network namespace. */
  readonly netns: string;
  start(): PrivateContainerd;
}

/** containerd runs in its own network namespace, so that bridges and addresses of tests do not collide. */
export async function makeContainerdSite(): Promise<ContainerdSite> {
  const id = randomBytes(4).toString('hex');
  const directory = await mkdtemp(path.join(os.tmpdir(), 'containerd-'));
  const netns = `sampan-${id}`;
  await runProgram('ip', ['netns', 'add', netns]);
  await runProgram('ip', ['-n', netns, 'link', 'set', 'lo', 'up']);
  const containerd = path.join(directory, 'containerd-in-namespace');
  const real = await findProgram('containerd', '');
  await writeFile(containerd, `#!/bin/sh\nexec nsenter --net=/run/netns/${netns} ${real} "$@"\n`, { mode: 0o755 });
  const config: PrivateContainerdConfig = {
    dataDirectory: path.join(directory, 'data'),
    runDirectory: path.join('/run/sampan', id),
    architecture: architectureOf(process.arch)!,
    containerd,
    ociRuntime: (await findProgram('runc', ''))!,
  };
  await writeCni(config, directory);
  const logger = createLogger({
    clock: realClock,
    level: 'error',
    format: 'human',
    write: (line) => void process.stderr.write(`${line}\n`),
  });
  return {
    config,
    netns,
    start: () => startPrivateContainerd(config, { clock: realClock, logger }),
    async [Symbol.asyncDispose]() {
      await runProgram('ip', ['netns', 'delete', netns]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function writeCni(config: PrivateContainerdConfig, directory: string): Promise<void> {
  const { bin, conf } = cniDirectories(config);
  await mkdir(bin, { recursive: true });
  await mkdir(conf, { recursive: true });
  for (const plugin of readdirSync(CNI_PLUGINS!)) await symlink(path.join(CNI_PLUGINS!, plugin), path.join(bin, plugin));
  const bridge = {
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    ipam: { type: 'host-local', dataDir: path.join(directory, 'ipam'), ranges: [[{ subnet: '10.88.0.0/16' }]] },
  };
  await writeFile(path.join(conf, '10-bridge.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'test', plugins: [bridge] }));
}
