import { resolve } from 'node:path';
import { RealNode } from '../e2e/real-node.ts';
import { median } from './storage-claims.ts';

export interface PodStarts {
  /** Milliseconds from the create request of a pod until it runs, without and with a new claim of the default class. */
  readonly plainMs: number;
  readonly claimMs: number;
}

/** Pods on this machine, with and without a claim in turn: the time that provisioning, binding and mounting add to a pod's start. */
export async function realPodStarts(): Promise<PodStarts> {
  await using node = await RealNode.start('--node-name', 'machine');
  const figures: Record<'plain' | 'claim', number[]> = { plain: [], claim: [] };
  const script = SCRIPT.replace('CLIENT', resolve(process.cwd(), 'dist/client.js'));
  for (let turn = 0; turn < TURNS; turn++) {
    const { stdout, stderr, code } = await node.run(process.execPath, [
      '--input-type=module',
      '-e',
      script,
      node.at.path('.kube/config'),
      String(turn),
    ]);
    if (code !== 0) throw new Error(stderr);
    const { plain, claim } = JSON.parse(stdout) as Record<'plain' | 'claim', number>;
    figures.plain.push(plain);
    figures.claim.push(claim);
  }
  return { plainMs: median(figures.plain), claimMs: median(figures.claim) };
}

const TURNS = 9;

/** Runs in the node's network namespace, where its API is. */
const SCRIPT = `
import { createClient, core, realClock, SharedInformer, silentLogger, systemRandom } from 'CLIENT';
const [path, turn] = process.argv.slice(1);
const client = await createClient({ kubeconfig: { path } });
const pods = client.of(core.Pod);
const informer = new SharedInformer(pods, { clock: realClock, random: systemRandom, logger: silentLogger }, { namespace: 'default' });
const seen = new Map();
const check = (event, pod) => seen.get(pod.metadata.name)?.(event, pod);
informer.addHandler({ add: (pod) => check('add', pod), update: (_, pod) => check('update', pod), delete: (pod) => check('delete', pod) });
informer.begin();
await informer.synced;
const until = (name, is) => new Promise((resolve) => seen.set(name, (event, pod) => is(event, pod) && resolve(performance.now())));
async function start(name, hasClaim) {
  const metadata = { name, namespace: 'default' };
  const container = { name: 'main', image: 'busybox:1', command: ['sleep', '1000'] };
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
  const spec = hasClaim
    ? { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }], volumes }
    : { containers: [container] };
  const running = until(name, (_, pod) => pod.status?.phase === 'Running');
  const since = performance.now();
  const claim = { metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  if (hasClaim) await client.of(core.PersistentVolumeClaim).create(claim);
  await pods.create({ metadata, spec: { ...spec, terminationGracePeriodSeconds: 0 } });
  const took = (await running) - since;
  const deleted = until(name, (event) => event === 'delete');
  await pods.delete(metadata, { gracePeriodSeconds: 0 });
  if (hasClaim) await client.of(core.PersistentVolumeClaim).delete(metadata);
  await deleted;
  return took;
}
const figures = {};
for (const kind of Number(turn) % 2 === 0 ? ['plain', 'claim'] : ['claim', 'plain'])
  figures[kind] = await start(kind + '-' + turn, kind === 'claim');
console.log(JSON.stringify(figures));
await informer.stop();
client[Symbol.dispose]?.();
process.exit(0);
`;
