import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import type { Mount } from '../cri/runtime.ts';
import { podHostname } from '../pods/config/hostname.ts';
import type { ContainerContext, PodContext, PodHook } from '../pods/hooks/pod-hook.ts';
import { hostsFile } from './hosts-file.ts';

export interface PodFilesOptions {
  readonly clusterDomain: string;
  readonly hostIps: readonly string[];
  logDirectory(pod: core.Pod): string;
}

const HOSTS_PATH = '/etc/hosts';

/** Provides containers with /etc/hosts, a termination message file and a log directory. */
export function podFilesHook(options: PodFilesOptions): PodHook {
  return {
    name: 'pod-files',
    prepare: async ({ podDir }) => void (await mkdir(podDir, { recursive: true, mode: 0o750 })),
    preStart: async (context) => {
      await mkdir(join(options.logDirectory(context.pod), context.container.name), { recursive: true, mode: 0o755 });
      return { mounts: [...(await hostsMounts(context, options)), ...(await terminationMounts(context))] };
    },
    cleanUp: async ({ pod, podDir }: PodContext) => {
      await rm(options.logDirectory(pod), { recursive: true, force: true });
      await rm(join(podDir, 'etc-hosts'), { force: true });
      await rm(join(podDir, 'containers'), { recursive: true, force: true });
    },
  };
}

/** Rewritten at each container start. A volume mounted there takes precedence. */
async function hostsMounts(context: ContainerContext, options: PodFilesOptions): Promise<readonly Mount[]> {
  const { pod, podDir, container, podIps } = context;
  const isHost = pod.spec?.hostNetwork === true;
  const isMounted = (container.volumeMounts ?? []).some(({ mountPath }) => mountPath.replace(/\/$/, '') === HOSTS_PATH);
  if (isMounted || (podIps.length === 0 && !isHost)) return [];
  const path = join(podDir, 'etc-hosts');
  const base = isHost ? await readFile(HOSTS_PATH, 'utf8') : undefined;
  const names = podHostname(pod, options.clusterDomain);
  await writeFile(path, hostsFile({ base, podIps, ...names, aliases: pod.spec?.hostAliases ?? [] }));
  await chmod(path, 0o644);
  return [{ containerPath: HOSTS_PATH, hostPath: path, selinuxRelabel: true }];
}

async function terminationMounts({ podDir, container }: ContainerContext): Promise<readonly Mount[]> {
  const { terminationMessagePath = '' } = container;
  if (terminationMessagePath === '') return [];
  const directory = join(podDir, 'containers', container.name);
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const hostPath = join(directory, randomBytes(4).toString('hex'));
  await writeFile(hostPath, '');
  await chmod(hostPath, 0o666);
  const containerPath = terminationMessagePath.startsWith('/') ? terminationMessagePath : `/${terminationMessagePath}`;
  return [{ containerPath, hostPath, selinuxRelabel: true }];
}
