import type { core } from '#api';
import type { Draft } from '#client';
import { Quantity } from '#machinery';

type Volume = core.PersistentVolume;

/** How volumes of one plugin are recycled. */
export interface RecyclerOptions {
  /** The source of its first volume is replaced by that of the volume to recycle. Absent: a pod that deletes all files. */
  readonly template?: Draft<core.Pod>;
  readonly minimumTimeoutSeconds: number;
  /** Added for each GiB of the volume. */
  readonly timeoutIncrementSeconds: number;
}

export interface RecyclersOptions {
  readonly hostPath: RecyclerOptions;
  readonly nfs: RecyclerOptions;
}

/** Upstream's defaults. */
export const DEFAULT_RECYCLERS: RecyclersOptions = {
  hostPath: { minimumTimeoutSeconds: 60, timeoutIncrementSeconds: 30 },
  nfs: { minimumTimeoutSeconds: 300, timeoutIncrementSeconds: 30 },
};

const GIB = 2 ** 30;

const DEFAULT_TEMPLATE: Draft<core.Pod> = {
  metadata: { namespace: 'default' },
  spec: {
    restartPolicy: 'Never',
    volumes: [{ name: 'vol' }],
    containers: [
      {
        name: 'pv-recycler',
        image: 'busybox:1',
        // Without -delete, which not every busybox has.
        command: ['/bin/sh', '-c', 'find /scrub -mindepth 1 -maxdepth 1 -exec rm -rf {} + && test -z "$(ls -A /scrub)"'],
        volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
      },
    ],
  },
};

/** Whether upstream has a plugin that recycles it. */
export function isRecyclable({ spec }: Volume): boolean {
  return spec?.hostPath !== undefined || spec?.nfs !== undefined;
}

/** The pod that empties a volume, named as upstream's. */
export function recyclerPod(volume: Volume, options: RecyclersOptions): Draft<core.Pod> {
  const { hostPath, nfs } = volume.spec ?? {};
  const recycler = hostPath === undefined ? options.nfs : options.hostPath;
  const source =
    hostPath === undefined ? { nfs: { server: nfs?.server ?? '', path: nfs?.path ?? '' } } : { hostPath: { path: hostPath.path } };
  const { metadata, spec, ...rest } = recycler.template ?? DEFAULT_TEMPLATE;
  const { generateName: _, ...named } = metadata ?? {};
  const [first, ...others] = spec?.volumes ?? [];
  return {
    ...rest,
    metadata: { ...named, name: `recycler-for-${volume.metadata.name}`, namespace: metadata?.namespace || 'default' },
    spec: {
      ...spec,
      containers: spec?.containers ?? [],
      activeDeadlineSeconds: timeoutSeconds(volume, recycler),
      volumes: [{ name: first?.name ?? 'vol', ...source }, ...others],
    },
  };
}

function timeoutSeconds({ spec }: Volume, { minimumTimeoutSeconds, timeoutIncrementSeconds }: RecyclerOptions): number {
  const gibibytes = Math.floor(Quantity.parse(spec?.capacity?.storage ?? '0').value() / GIB);
  return Math.max(minimumTimeoutSeconds, gibibytes * timeoutIncrementSeconds);
}
