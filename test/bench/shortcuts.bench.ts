import { core } from '#api';
import { type MaybePromise, mapMaybePromise } from '#base';
import { encodeProtobuf, markRecurring, oncePerValue } from '#machinery';
import { ObjectEncoding } from '../../src/apiserver/watch-cache/object-encoding.ts';
import { DomainMemo } from '../../src/scheduler/framework/domain-memo.ts';
import type { NodeInfo } from '../../src/scheduler/framework/node-info.ts';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

/** Optimized code beside its plain alternative: an optimization without a gain here is removed. */

const STEPS = 20;
const step = (n: number): MaybePromise<number> => n + 1;

/** As in the admission of a write: most steps complete synchronously. */
function passSteps(): MaybePromise<number> {
  let value: MaybePromise<number> = 0;
  for (let i = 0; i < STEPS; i++) value = mapMaybePromise(value, step);
  return value;
}

async function awaitSteps(): Promise<number> {
  let value = 0;
  for (let i = 0; i < STEPS; i++) value = await step(value);
  return value;
}

const validate = () => core.podBehaviour.validate?.(typicalPod as never);
const spec = { ...(typicalPod as unknown as { readonly spec: object }).spec };
markRecurring(spec);
const remembered = oncePerValue((_spec: object) => validate() ?? []);

const recurringPod = { ...typicalPod, spec };

// Created from text: the bundler rewrites spreads that it sees (docs/adr/0009).
const FIELDS = { kind: 'Pod', apiVersion: 'v1', metadata: {}, spec: {} };
const copyOwnShape = new Function('object', 'return { ...object, status: 1 }') as (object: object) => object;
const copySharedShape = new Function('object', 'return { ...undefined, ...object, status: 1 }') as (object: object) => object;

const encoding = new ObjectEncoding('Pod', 'v1');
const { bytes: stored } = encoding.encodeStored(typicalPod as never);
let revision = 1000;
function encodeAtRevision(): Buffer {
  const object = JSON.parse(stored.toString()) as { metadata: object };
  return Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(++revision) } }));
}

const NODES = Array.from({ length: 1000 }, (_, place) => ({ place }) as NodeInfo);
const zones = { values: ['a', 'b', 'c'], domainAt: Int32Array.from(NODES, (_, place) => place % 3) };
const tolerations = Array.from({ length: 8 }, (_, i) => ({ key: `example.com/${i}`, value: 'yes' }));
const checkNode = () => (tolerations.some(({ key, value }) => key === 'none' && value === 'no') ? ({} as never) : undefined);
function checkNodes(): void {
  const memo = new DomainMemo(zones as never);
  for (const node of NODES) memo.check(node, checkNode);
}

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'shortcuts/maybe-promise: 20 steps without a wait',
    baseline: { name: 'await', run: awaitSteps },
    subject: { name: 'mapMaybePromise', run: () => void passSteps() },
  },
  {
    kind: 'micro',
    name: 'shortcuts/recurring-spec: validate a pod of a template',
    baseline: { name: 'validate', run: () => void validate() },
    subject: { name: 'oncePerValue', run: () => void remembered(spec) },
  },
  {
    kind: 'micro',
    name: 'shortcuts/recurring-spec: encode a pod of a template as protobuf',
    baseline: { name: 'encode all', run: () => void encodeProtobuf(core.Pod, typicalPod) },
    subject: { name: 'bytesOnce', run: () => void encodeProtobuf(core.Pod, recurringPod as never) },
  },
  {
    kind: 'micro',
    name: 'shortcuts/shared-shapes: copy an object and add a property',
    baseline: { name: '{ ...a, b }', run: () => void copyOwnShape(FIELDS) },
    subject: { name: '{ ...undefined, ...a, b }', run: () => void copySharedShape(FIELDS) },
  },
  {
    kind: 'micro',
    name: 'shortcuts/stored-json: serve a stored pod at a revision',
    baseline: { name: 'parse and encode', run: () => void encodeAtRevision() },
    subject: { name: 'withRevision', run: () => void encoding.withRevision(stored, ++revision) },
  },
  {
    kind: 'micro',
    name: 'shortcuts/domain-memo: filter 1,000 nodes in three zones',
    baseline: { name: 'each node', run: () => NODES.forEach(checkNode) },
    subject: { name: 'DomainMemo', run: checkNodes },
  },
];
