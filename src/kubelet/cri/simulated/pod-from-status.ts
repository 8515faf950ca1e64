import type { core } from '#api';
import { parseTime } from '#machinery';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID } from '../../pods/labels.ts';
import type { ContainerConfig, SandboxConfig } from '../runtime.ts';

export interface RunningPod {
  readonly sandbox: SandboxConfig;
  readonly ips: readonly string[];
  readonly containers: readonly RunningContainer[];
}

export interface RunningContainer {
  readonly id: string;
  readonly image: string;
  readonly config: Omit<ContainerConfig, 'image'>;
  readonly sinceMs: number;
}

/** The running containers according to a pod's status; undefined when there are none. */
export function podFromStatus({ metadata, spec, status }: core.Pod): RunningPod | undefined {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (!statuses.some(({ state }) => state?.running)) return undefined;
  const { name, namespace = '', uid = '', labels = {}, annotations = {} } = metadata;
  const network = spec?.hostNetwork === true ? 'node' : 'pod';
  const namespaceOptions = { network, pid: 'container', ipc: 'pod' } as const;
  const specs = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return {
    sandbox: {
      ...{ metadata: { name, namespace, uid, attempt: 0 }, hostname: name, annotations },
      labels: { ...labels, [POD_NAME]: name, [POD_NAMESPACE]: namespace, [POD_UID]: uid },
      linux: { securityContext: { namespaceOptions } },
    },
    ips: network === 'node' ? [] : (status?.podIPs ?? []).map(({ ip }) => ip),
    containers: statuses.flatMap((before) => {
      const container = specs.find((candidate) => candidate.name === before.name);
      return container === undefined ? [] : runningContainer(container, before, { uid, namespaceOptions });
    }),
  };
}

interface PodFacts {
  readonly uid: string;
  readonly namespaceOptions: SandboxConfig['linux']['securityContext']['namespaceOptions'];
}

function runningContainer(spec: core.Container, before: core.ContainerStatus, { uid, namespaceOptions }: PodFacts): RunningContainer[] {
  const since = before.state?.running?.startedAt;
  const id = before.containerID?.split('://')[1];
  if (!since || id === undefined) return [];
  const { name, restartCount, image } = before;
  const config = {
    ...{ metadata: { name, attempt: restartCount }, command: spec.command ?? [], args: spec.args ?? [] },
    ...{ envs: [], mounts: [], annotations: {}, logPath: '', labels: { [CONTAINER_NAME]: name, [POD_UID]: uid } },
    linux: { resources: {}, securityContext: { namespaceOptions } },
  };
  return [{ id, image, config, sinceMs: parseTime(since) }];
}
