import { apps } from '#api';
import { realClock } from '#base';
import { startCluster, type TestCluster } from '#testing';

export const MEASURED_HOURS = 4;
const DAY_HOURS = 24;
export const DAY_NODES = 100;
export const DAY_PODS = 1_000;

/** Seconds to simulate a day of an idle cluster, extrapolated from the measured hours. */
export async function idleDay(): Promise<number> {
  await using cluster = await startCluster({ nodes: DAY_NODES, clock: 'virtual' });
  await cluster.apply(deployment);
  await cluster.waitFor(() => isAvailable(cluster), { within: '30m', what: `${DAY_PODS} pods` });
  return await secondsOfADay(cluster);
}

/** The same with the control plane only. */
export async function emptyDay(): Promise<number> {
  await using cluster = await startCluster({ nodes: 0, clock: 'virtual' });
  return await secondsOfADay(cluster);
}

async function secondsOfADay({ clock }: TestCluster): Promise<number> {
  // Waits until the start of cluster and pods has settled.
  await clock.advance('10m');
  const since = realClock.monotonic();
  await clock.advance(`${MEASURED_HOURS}h`);
  return ((realClock.monotonic() - since) / 1000) * (DAY_HOURS / MEASURED_HOURS);
}

async function isAvailable({ client }: TestCluster): Promise<boolean> {
  const { status } = await client.of(apps.Deployment).get({ namespace: 'default', name: 'idle' });
  return status?.availableReplicas === DAY_PODS;
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: idle, namespace: default }
spec:
  replicas: ${DAY_PODS}
  selector: { matchLabels: { app: idle } }
  template:
    metadata: { labels: { app: idle } }
    spec: { containers: [{ name: main, image: 'idle:1' }] }
`;
