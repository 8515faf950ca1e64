import { realClock } from '#base';
import { ApiDriver, quantile, timed } from './api-driver.ts';
import { loadPod } from './load-pod.ts';
import { startSampan, temporaryDirectory } from './server-process.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const CONNECTIONS = 16;
const NODES = 20;
const PATIENCE_MS = 120_000;

export interface ClaimedPods {
  readonly count: number;
  readonly hasClaims: boolean;
}

/**
 * Seconds from the first create request until every pod runs, on simulated nodes. Claims of the default class are bound and attached by
 * then.
 */
export async function podsOnSimulatedNodes({ count, hasClaims }: ClaimedPods): Promise<number> {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', String(NODES)]);
  using driver = new ApiDriver(server.port, CONNECTIONS);
  const names = new Set<string>();
  let finish = () => {};
  const all = new Promise<void>((resolve) => {
    finish = resolve;
  });
  using _watch = await driver.watch(
    `${PODS}?watch=1&timeoutSeconds=600`,
    eventLines((name, phase) => {
      if (phase === 'Running' && names.add(name).size === count) finish();
    }),
  );
  const since = realClock.monotonic();
  if (hasClaims) await timed(count, CONNECTIONS, (i) => driver.send('POST', CLAIMS, { body: claim(`c-${i}`) }));
  await timed(count, CONNECTIONS, (i) => driver.send('POST', PODS, { body: podWithClaim(i, hasClaims) }));
  await within(all, () => `${names.size} of ${count} pods run`);
  return (realClock.monotonic() - since) / 1000;
}

function claim(name: string): object {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec };
}

function podWithClaim(i: number, hasClaim: boolean): object {
  const pod = loadPod(`p-${i}`);
  if (!hasClaim) return pod;
  const containers = pod.spec.containers.map((container) => ({ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }));
  return { ...pod, spec: { containers, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `c-${i}` } }] } };
}

interface PodEvent {
  readonly object: { readonly metadata: { readonly name: string }; readonly status?: { readonly phase?: string } };
}

function eventLines(take: (name: string, phase: string | undefined) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { object } = JSON.parse(line) as PodEvent;
      take(object.metadata.name, object.status?.phase);
    }
  };
}

async function within(work: Promise<void>, state: () => string): Promise<void> {
  const giveUp = new AbortController();
  const late = realClock.sleep(PATIENCE_MS, giveUp.signal).then(() => Promise.reject(new Error(`only ${state()}`)));
  try {
    await Promise.race([work, late]);
  } finally {
    giveUp.abort();
    late.catch(() => {});
  }
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}
