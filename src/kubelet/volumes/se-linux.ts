import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import type { SetUpRequest } from './volume-plugin.ts';

/** The SELinux state and policy of the machine whose file system is at `root`. */
export class SeLinux {
  constructor(private readonly root = '/') {}

  isEnabled(): Promise<boolean> {
    return access(join(this.root, 'sys/fs/selinux/enforce')).then(
      () => true,
      () => false,
    );
  }

  /**
   * The label for the mount option `context`, or undefined if the container runtime is to relabel the files. Only ReadWriteOncePod volumes have
   * one, as upstream without the feature gate SELinuxMount.
   */
  async mountLabel({ spec, pod }: SetUpRequest): Promise<string | undefined> {
    const { accessModes = [] } = spec.persistentVolume?.spec ?? {};
    if (accessModes.join() !== 'ReadWriteOncePod' || pod.spec?.securityContext?.seLinuxChangePolicy === 'Recursive') return undefined;
    if (!(await this.isEnabled())) return undefined;
    const base = await this.#containerFileLabel();
    if (base === undefined) return undefined;
    const labels = new Set(processOptions(pod, spec.podVolumeName).map((options) => fileLabel(base, options)));
    if (labels.size > 1) throw new Error(`multiple SELinux labels found: ${[...labels].map((label) => label ?? '').join(',')}`);
    return [...labels][0];
  }

  /** The policy's label for files of containers, such as `system_u:object_r:container_file_t:s0`. */
  async #containerFileLabel(): Promise<string | undefined> {
    const read = (path: string) => readFile(join(this.root, 'etc/selinux', path), 'utf8').catch(() => '');
    const policy = /^SELINUXTYPE=([\w-]+)$/m.exec(await read('config'))?.[1] ?? 'targeted';
    return /^file\s*=\s*"([^"\n]+)"/m.exec(await read(`${policy}/contexts/lxc_contexts`))?.[1];
  }
}

/** The SELinux options of each container that mounts the volume. */
function processOptions({ spec }: core.Pod, volumeName: string): readonly (core.SELinuxOptions | undefined)[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return containers
    .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volumeName) === true)
    .map(({ securityContext }) => securityContext?.seLinuxOptions ?? spec?.securityContext?.seLinuxOptions);
}

/** User and level come from the process, role and type from the policy. Without a level the runtime picks a random one. */
function fileLabel(base: string, options: core.SELinuxOptions | undefined): string | undefined {
  if (!options?.level) return undefined;
  const [user = '', role = '', type = ''] = base.split(':');
  return [options.user || user, role, type, options.level].join(':');
}

/** Quoted, because labels contain commas. */
export function contextOption(label: string | undefined): readonly string[] {
  return label === undefined ? [] : [`context="${label}"`];
}
